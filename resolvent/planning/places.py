"""Where Snakefile, rules and configuration are: beside the package in a checkout, in it when installed."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# The folder of Snakefile, config.yaml, config/ and workflow/.
HOME = PACKAGE if (PACKAGE / "Snakefile").exists() else PACKAGE.parent
