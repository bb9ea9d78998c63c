"""Provenance of a report: command, git revision, machine, library versions."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from resolvent.planning.places import HOME, PACKAGE

LIBRARIES = ("jax", "numpy", "scipy", "snakemake", "torch", "xarray", "zarr")
COMMAND_VARIABLE = "RESOLVENT_COMMAND"  # jobs do not see the command line that planned them


def record_command() -> None:
    """Store the command line of this process in the environment, which jobs inherit."""
    name = Path(sys.argv[0]).name
    words = ["snakemake" if name == "__main__.py" else name, *sys.argv[1:]]
    os.environ.setdefault(COMMAND_VARIABLE, shlex.join(words))


def command() -> str:
    return os.environ[COMMAND_VARIABLE]


def provenance() -> dict[str, str]:
    return {
        "git revision": git_revision(),
        "machine": machine(),
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPU cores"


def git_revision() -> str:
    """Return the commit of the checkout, with "-dirty" if the working tree differs, or why there is none."""
    if HOME == PACKAGE:
        return f"none: resolvent {version('resolvent')}, installed"
    try:
        words = ["git", "-C", str(HOME), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown (no git checkout)"
