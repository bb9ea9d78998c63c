"""Where Snakefile, rules and configuration are: beside the package in a checkout, in it when installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# The folder of Snakefile, config.yaml, config/ and workflow/.
HOME = PACKAGE if (PACKAGE / "Snakefile").exists() else PACKAGE.parent


def search_working_folder() -> None:
    """Let modules of a user's own in the working folder be found, behind all that is installed."""
    if (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)
