"""The page of the study of stability: a figure a panel, and every count. Self-contained."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from resolvent.figures.common.numbers import DASH, duration, milli
from resolvent.figures.common.page import inlined_figure, render
from resolvent.figures.stability.runs import COLLAPSED_ERROR, counts, distinct, gap


def write_stability_page(
    output: str | Path,
    *,
    study: pd.DataFrame,
    facts: dict,
    figures: list[str | Path],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Write the page, all at once. `figures` has an SVG or PNG file for each panel, in their order."""
    render(
        "stability.html.j2",
        output,
        root=root,
        breadcrumbs=[("Which trainings collapse", "")],
        figures=[
            inlined_figure(figure, panel, "", folder=Path(output).parent)
            for figure, panel in zip(figures, facts["panels"], strict=True)
        ],
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
