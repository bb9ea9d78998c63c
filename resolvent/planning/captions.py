"""Titles and captions of figures, from captions.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from resolvent.common.counts import counted
from resolvent.planning.places import HOME

if TYPE_CHECKING:
    from resolvent.planning.plan import Plan

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


def caption_facts(plan: Plan, experiment: str) -> dict:
    """Return the words and numbers that captions of an experiment quote."""
    e, dataset = plan.experiment(experiment), plan.dataset_of(experiment).settings
    tested = ", ".join(map(str, plan.tested(experiment)))
    in_time = dataset.grid_kind == "explicit"
    paper, compare = COMPARE[in_time]
    counts = plan.sample_counts(experiment)
    return {
        **counts,
        "epochs": e.training.epochs,
        "batch_size": e.training.batch_size,
        "seeds": counted(len(e.seeds), "seed"),
        "tested": tested if in_time else f"{tested} points",
        "chosen": CHOSEN[in_time].format(compare=compare if e.shows.get(paper) else "", **counts),
        "located": LOCATED[in_time],
        **dict(zip(("input", "target"), dataset.quantities, strict=True)),
        "model": plan.configuration.models[e.shown_model].label,
    }
