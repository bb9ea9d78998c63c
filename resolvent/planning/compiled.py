"""What JAX has compiled, kept for later jobs: every shard of a dataset would compile the same again."""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path

FOLDER = Path(".snakemake/compiled")
SECONDS = 0.1  # of compiling, from which on a function is kept
BYTES = 2**30  # of all that is kept; what was not used for longest goes first


def keep_compiled() -> None:
    """Set the variables by which JAX keeps what it compiles, unless they are set; before JAX is imported.

    The folder is of this kind of processor: the nodes of a cluster may differ, and share their files.
    """
    kind = hashlib.sha256(_processor().encode()).hexdigest()[:12]
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str((FOLDER / kind).absolute()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(SECONDS))
    # A bound also has the folder locked, so that no job reads half of a file.
    os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(BYTES))


def _processor() -> str:
    """Return what is known of the processor: its name, and the instructions that it has."""
    known = [platform.machine(), platform.processor()]
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "flags", "Features"):
                known.append(value)
    return "\n".join(known)
