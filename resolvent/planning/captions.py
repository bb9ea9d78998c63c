"""Titles and captions of figures, from captions.yaml."""

from __future__ import annotations

from pathlib import Path

import yaml

from resolvent.planning.places import HOME

CAPTIONS = HOME / "workflow/report/captions.yaml"

CHOSEN = {  # which test samples the pages show: of functions of space, of trajectories
    False: "The same four of the {test} test samples for every model{compare}.",
    True: "Of the {test} test samples that of median error and the worst one{compare}.",
}
LOCATED = {  # where errors are drawn: of functions of space, of trajectories
    False: "The root mean power of targets and errors by wavenumber: a model whose error reaches "
    "the target's line knows nothing of waves beyond. Then the root mean square error at each point over the "
    "root mean square of the targets.",
    True: "The root mean square error at each time over the root mean square of the targets.",
}
COMPARE = {  # the paper with such a figure; an experiment that shows nothing of the paper does not cite it
    False: ("cao2021", " (compare Cao 2021, Figs. 9 and 10)"),
    True: ("calvello2024", " (compare Calvello et al. 2024, Fig. 6)"),
}


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


def words_of_figures(in_time: bool, shows: dict[str, list[str]], samples: dict[str, int]) -> dict[str, str]:
    """Return what captions quote of an experiment on trajectories or on functions of space.

    `shows` is what it shows of each paper, `samples` how many it has of each split.
    """
    paper, compare = COMPARE[in_time]
    chosen = CHOSEN[in_time].format(compare=compare if shows.get(paper) else "", **samples)
    return {"chosen": chosen, "located": LOCATED[in_time]}
