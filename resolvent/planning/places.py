"""Locate Snakefile, rules and configuration: next to the package in a checkout, inside it when installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from resolvent.common.errors import ResolventError

PACKAGE = Path(__file__).resolve().parents[1]
# The folder of Snakefile, config.yaml, config/ and workflow/.
HOME = PACKAGE if (PACKAGE / "Snakefile").exists() else PACKAGE.parent


def search_working_folder() -> None:
    """Make modules in the working folder importable, after all installed packages."""
    if (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)


def check_folder() -> None:
    """Raise `ResolventError` if the project's path has braces, which Snakemake takes for wildcards."""
    if set(str(HOME)) & set("{}"):
        raise ResolventError(f"the folder {HOME} has braces in its path, wildcards to Snakemake; rename it")
