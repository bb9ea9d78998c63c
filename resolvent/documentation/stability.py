"""What the study of stability shows: docs/stability.md and its figures, from the tables of its runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from resolvent.documentation.pages import paragraph, planned, table
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
from resolvent.planning.plan import STABILITY

CONFIGURATION = "config/stability.yaml"
COMMAND = f"snakemake stability --cores 2 --configfile {CONFIGURATION}"


def save_svg(figure: Figure, file: Path) -> None:
    """Save a figure as SVG alone."""
    save(figure, file)
    for other in (".png", ".pdf"):
        file.with_suffix(other).unlink()


def stability(root: Path) -> str | None:
    """Draw docs/images/stability1.svg, …, of the models whose runs have ended, and return the page of them.

    Returns None where there are none.
    """
    plan = planned(CONFIGURATION, root=root)
    settings = plan.configuration.stability
    assert settings is not None  # its configuration has it
    tables = {model: root / plan.results / STABILITY / f"{model}.csv" for model in settings.models}
    ended = [table for table in tables.values() if table.exists()]
    if not ended:
        return None
    facts = plan.stability_facts(settings)
    study = read_study(ended, facts["panels"])
    figures = {}
    for number, panel in enumerate(facts["panels"], 1):
        if (study["panel"] == panel).any():
            figures[panel] = f"images/stability{number}.svg"
            save_svg(draw_panel(study, panel), root / "docs" / figures[panel])
    missing = [model for model, table in tables.items() if not table.exists()]
    return stability_page(study, facts, figures, missing)


def stability_page(study: pd.DataFrame, facts: dict, figures: dict[str, str], missing: list[str]) -> str:
    """Return the page in Markdown. `figures` are by panel; `missing` are models not yet trained."""
    runs = distinct(study)
    heads = ["model", *(f"{peak:g}" for peak in sorted(study["peak"].unique()))]
    collapsed, errors = (
        table(heads, [(name, *cells) for name, cells in rows(study)]) for rows in (fraction_rows, error_rows)
    )
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
        collapsed,
        "## Errors of those that trained",
        "Median of the last epoch's errors over the seeds, the least and the largest, in units of 10⁻³.",
        errors,
    ]
    return "\n\n".join(parts) + "\n"
