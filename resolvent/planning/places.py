"""Where Snakefile, rules and configuration are: beside the package in a checkout, in it when installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from resolvent.common.errors import ResolventError

PACKAGE = Path(__file__).resolve().parents[1]
# The folder of Snakefile, config.yaml, config/ and workflow/.
HOME = PACKAGE if (PACKAGE / "Snakefile").exists() else PACKAGE.parent


def search_working_folder() -> None:
    """Let modules of a user's own in the working folder be found, behind all that is installed."""
    if (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)


def check_folder() -> None:
    """Raise a ResolventError where the project is in a folder whose path Snakemake takes for a pattern."""
    if set(str(HOME)) & set("{}"):
        raise ResolventError(f"the folder {HOME} has braces in its path, which Snakemake replaces; rename it")
