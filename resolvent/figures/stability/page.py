"""The page of the study of stability: a figure a panel, and every count. Self-contained."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.numbers import DASH, duration, milli
from resolvent.figures.common.page import render
from resolvent.figures.stability.panel import draw_panel
from resolvent.figures.stability.runs import COLLAPSED_ERROR, counts, distinct, gap, read_study


def write_stability_page(
    output: str | Path,
    *,
    tables: Iterable[str | Path],
    facts: dict,
    figures: list[str | Path],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Draw the figures and write the page, all at once.

    tables   what was measured, a file a model, of which those that are there are read.
    figures  an SVG file for each panel, in their order.
    """
    study, drawn = read_study(map(Path, tables), facts["panels"]), []
    for path, panel in zip(figures, facts["panels"], strict=True):
        exhibit = Exhibit(panel, "", draw_panel)
        sources = Sources({}, study=study, panel=panel, facts={})
        exhibit.write(sources, path)
        drawn.append(exhibit.on_page(sources, path, Path(output).parent))
    render(
        "stability.html.j2",
        output,
        root=root,
        breadcrumbs=[("Which trainings collapse", "")],
        figures=drawn,
        heads=[f"{peak:g}" for peak in sorted(study["peak"].unique())],
        collapsed=fraction_rows(study),
        errors=error_rows(study),
        statement=gap_in_words(study),
        threshold=f"{COLLAPSED_ERROR:g}",
        facts=facts,
        runs=len(distinct(study)),
        duration=duration(seconds(study)),
        devices=sorted(study["device"].unique()),
        command=command,
        provenance=provenance,
    )


def fraction_rows(study: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return (panel and words, a cell a peak): collapsed of all, with the interval of the probability."""
    return _rows(study, lambda one: f"{one.collapsed} of {one.runs} [{one.low:.2f}, {one.high:.2f}]")


def error_rows(study: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return (panel and words, a cell a peak): median, least and largest last error of what trained, in
    10⁻³."""
    return _rows(
        study,
        lambda one: (
            DASH
            if one.collapsed == one.runs
            else f"{milli(one.median)} [{milli(one.least)}, {milli(one.largest)}]"
        ),
    )


def gap_in_words(study: pd.DataFrame) -> str:
    """Return the sentence that says how far apart the two kinds of runs are."""
    below, above = gap(study)
    diverged = int((distinct(study)["status"] == "diverged").sum())
    words = f"the largest error of those that trained is {below:.2g}"
    if above == above:
        words += f", the smallest of those that collapsed is {above:.2g}"
    return f"{words}; {diverged} diverged and were stopped"


def _rows(study: pd.DataFrame, cell) -> list[tuple[str, list[str]]]:
    peaks = sorted(study["peak"].unique())
    rows = []
    for (panel, words), group in counts(study).groupby(["panel", "words"], sort=False):
        found = {one.peak: cell(one) for one in group.itertuples()}
        rows.append((f"{panel}: {words}", [found.get(peak, DASH) for peak in peaks]))
    return rows


def seconds(study: pd.DataFrame) -> float:
    """Return the seconds that all trainings took."""
    return float(distinct(study)["seconds"].sum())
