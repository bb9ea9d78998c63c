"""What the study of stability shows: docs/stability.md and its figures, from the tables of its runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from resolvent.documentation.pages import paragraph, table
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.style import save
from resolvent.figures.stability.page import (
    COLLAPSED_ERROR,
    distinct,
    draw_panel,
    error_rows,
    fraction_rows,
    gap_in_words,
    read_study,
)
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import STABILITY, Plan

CONFIGURATION = "config/stability.yaml"
COMMAND = f"snakemake stability --cores 2 --configfile {CONFIGURATION}"


def stability(root: Path) -> str | None:
    """Draw docs/images/stability1.svg, …, of the models whose runs have ended, and return the page of them.

    Returns None where there are none.
    """
    plan = Plan(load_configuration(read_configuration([root / CONFIGURATION])))
    models = plan.configuration.stability.models
    tables = {model: root / plan.results / STABILITY / f"{model}.csv" for model in models}
    ended = [table for table in tables.values() if table.exists()]
    if not ended:
        return None
    facts = plan.stability_facts(plan.configuration.stability)
    study = read_study(ended, facts["panels"])
    missing = [model for model, table in tables.items() if not table.exists()]
    figures = {}
    for number, panel in enumerate(facts["panels"], 1):
        if (study["panel"] == panel).any():
            figures[panel] = f"images/stability{number}.svg"
            save(draw_panel(study, panel), root / "docs" / figures[panel])
            for other in (".png", ".pdf"):
                (root / "docs" / figures[panel]).with_suffix(other).unlink()
    return stability_page(study, facts, figures, missing)


def stability_page(study: pd.DataFrame, facts: dict, figures: dict[str, str], missing: list[str]) -> str:
    """Return the page in Markdown. `figures` are by panel; `missing` are models not yet trained."""
    runs = distinct(study)
    about = [
        f"Written by `make docs` from the runs of `{COMMAND}`; do not edit. What the models are is said in "
        f"`{CONFIGURATION}`.",
        f"Burgers' equation on {facts['resolution']} points, {facts['train']:,} training samples, "
        f"{facts['epochs']} epochs, batches of {facts['batch_size']}: {len(runs):,} trainings, which differ "
        f"in the model, the peak of the learning rate and the seed. They took "
        f"{duration(runs['seconds'].sum())} on one thread of {', '.join(sorted(runs['device'].unique()))}.",
        "A run counts as collapsed if it diverged, or if its mean relative L² error on the "
        f"{facts['validation']} validation samples is above {COLLAPSED_ERROR:g} in its last epoch. Of these "
        f"runs {gap_in_words(study)}: any threshold between gives the same counts. These samples choose no "
        "epoch.",
    ]
    if missing:
        about.append(f"Not trained yet, and so without rows: {', '.join(f'`{one}`' for one in missing)}.")
    pictures = [
        f"![{panel}: fractions collapsed and last errors by peak of the learning rate]({figure})"
        for panel, figure in figures.items()
    ]
    parts = [
        "# Which trainings collapse",
        *map(paragraph, about),
        *pictures,
        "Above: the fraction of runs that collapsed, with exact binomial 95 % intervals of the probability. "
        "Below: the\nerror of every run in its last epoch; a cross is a run that collapsed, at the top edge "
        "one off the scale or diverged.",
        "## How many collapsed",
        "Collapsed of all runs, and the exact binomial 95 % interval of the probability, by peak of the "
        "learning rate.",
        _table(study, fraction_rows(study)),
        "## Errors of those that trained",
        "Median of the last epoch's errors over the seeds, the least and the largest, in units of 10⁻³.",
        _table(study, error_rows(study)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(study: pd.DataFrame, rows: list[tuple[str, list[str]]]) -> str:
    heads = ["model", *(f"{peak:g}" for peak in sorted(study["peak"].unique()))]
    return table(heads, [(name, *cells) for name, cells in rows], rule=" --- ")
