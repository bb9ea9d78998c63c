"""Digests of scripts, kept from one plan to the next.

To work them out, the syntax trees of the whole project are read, which takes a fifth of a dry run. They
depend on files alone, so they are kept beside what Python has compiled of this module, together with the hash
of all of these files: those of the last state of the files, and none where Python writes no compiled modules.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import write_json

KEPT = Path(cache_from_source(__file__)).with_suffix(".json")


def state_of(folders: Iterable[Path], *names: object) -> str:
    """Return the hash of all files below `folders`, but for compiled ones, and of `names`."""
    content = hashlib.sha256(repr(names).encode())
    for folder in folders:
        for where, inner, files in os.walk(folder, followlinks=True):
            inner[:] = sorted(set(inner) - {"__pycache__"})
            for name in sorted(files):
                file = Path(where, name)
                with suppress(OSError):  # the link that an editor leaves beside an open file leads nowhere
                    found = file.read_bytes()
                    content.update(f"{file.relative_to(folder)}\0{len(found)}\0".encode() + found)
    return content.hexdigest()


def read_kept(state: str) -> dict:
    """Return what was kept for this state of the files: `libraries` and `digests`, empty if there is none."""
    with suppress(OSError, ValueError):
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.get("state") == state:
            return kept
    return {"state": state, "libraries": [], "digests": {}}


def keep(kept: dict) -> None:
    """Replace the file with `kept`, where that is possible: it only saves time."""
    if sys.dont_write_bytecode:
        return
    with suppress(OSError, FileError):
        write_json(KEPT, kept)
