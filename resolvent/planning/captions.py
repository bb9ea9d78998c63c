"""Titles and captions of figures, from captions.yaml."""

from __future__ import annotations

from pathlib import Path

import yaml

from resolvent.planning.places import HOME

CAPTIONS = HOME / "workflow/report/captions.yaml"


def read_captions() -> dict:
    """Read all captions, by name of figure."""
    return yaml.safe_load(CAPTIONS.read_text(encoding="utf-8"))


def captioned(figures: list[str], facts: dict) -> list[tuple[str, str, str]]:
    """Return path, title and caption of each figure; captions quote `facts`."""
    captions = read_captions()
    words = [captions[Path(path).stem] for path in figures]
    return [
        (path, one["title"], one["caption"].format(**facts)) for path, one in zip(figures, words, strict=True)
    ]
