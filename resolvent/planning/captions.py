"""Titles and captions of figures, from captions.yaml."""

from __future__ import annotations

from pathlib import Path

import yaml

CAPTIONS = Path(__file__).resolve().parents[2] / "workflow/report/captions.yaml"


def read_captions() -> dict:
    """All of them, by name of figure, and those of a paper by its key."""
    return yaml.safe_load(CAPTIONS.read_text(encoding="utf-8"))


def captioned(figures: list[str], facts: dict) -> list[tuple[str, str, str]]:
    """Path, title and caption of each figure; captions quote `facts`."""
    captions = read_captions()
    words = [captions[Path(path).stem] for path in figures]
    return [
        (path, one["title"], one["caption"].format(**facts)) for path, one in zip(figures, words, strict=True)
    ]
