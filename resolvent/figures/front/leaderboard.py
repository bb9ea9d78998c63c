"""The leaderboard: every model of every experiment, what the data say of it, and the classical solver.

A matrix has models by problems, each at the finest resolution trained on; the long table has every row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from resolvent.figures.common.comparison import Error
from resolvent.figures.common.numbers import absent, ends, scientific, times
from resolvent.figures.front.results import NOT_RANKED, Results, Row

SEEDS = "Nothing is ranked: that takes three seeds or more of each model."


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale from 10^low to 10^high, drawn 100 units wide."""

    low: int
    high: int

    def at(self, value: float) -> float:
        """Return where a value lies: below 0 and above 100 it is off the scale."""
        return 100 * (math.log10(value) - self.low) / (self.high - self.low)


def scale_of(rows: list[Row]) -> Scale:
    """Return the decades that hold the errors of the models and their intervals."""
    ends = [end for row in rows if row.error for end in _ends(row.error) if end > 0]
    if not ends:
        return Scale(-4, 0)
    low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)))
    return Scale(low, max(high, low + 2))


def strip(row: Row, scale: Scale) -> str:
    """Return an SVG: the error and its interval on the scale, and a grey tick for the classical solver.

    What is below the scale stands as an arrow at its left end.
    """
    marks = []
    if isinstance(row.classical, Error) and row.classical.value > 0:
        at = scale.at(row.classical.value)
        marks.append(
            f'<path class="classical" d="M{min(at, 100):.1f} 1v10"/>'
            if at >= 0
            else '<path class="classical" d="M4 3L1 6l3 3"/>'
        )
    if row.error and row.error.value > 0:
        low, high = (min(100.0, max(0.0, scale.at(end))) if end > 0 else 0.0 for end in _ends(row.error))
        marks.append(f'<path d="M{low:.1f} 6h{max(high - low, 0.1):.1f}"/>')
        marks.append(f'<circle cx="{scale.at(row.error.value):.1f}" cy="6" r="2.6"/>')
    return f'<svg class="strip" viewBox="-3 0 106 12" aria-hidden="true">{"".join(marks)}</svg>'


def interval(error: Error | None) -> str:
    """Return the ends of an interval as `ends` writes them; nothing where there is none."""
    return "" if error is None else ends(error.low, error.high, error.value)


def ratio_in_words(row: Row) -> tuple[str, str]:
    """Return the ratio to the best other model, and its interval."""
    ratio = row.ratio
    if ratio is None:
        return "", ""
    ends = "" if absent(ratio.low) else f"{times(ratio.low)} to {times(ratio.high)}"
    return times(ratio.value), ends


@dataclass(frozen=True)
class Matrix:
    """Errors of models, by label, in experiments."""

    experiments: list[str]
    body: list[tuple[str, list[Row | None]]]  # a label, and what it has in each experiment
    classical: list[Error | str | None]  # or why there is none; None: not compared yet


def not_begun(results: Results) -> list[str]:
    """Return the experiments of which there is no run yet, where there are some of others."""
    begun = {row.experiment for row in results.rows if any(run.state != "missing" for run in row.runs)}
    return [name for name in results.study.experiments if name not in begun] if begun else []


def matrices(results: Results) -> list[Matrix]:
    """Return a matrix for each group of experiments that share models, but for those that have not begun.

    In a matrix come first the models whose errors are on average, in logarithms, the least above the lowest
    of each experiment.
    """
    finest: dict[str, list[Row]] = {}
    waiting = not_begun(results)
    for row in results.rows:
        if (
            row.experiment not in waiting
            and row.planned.resolution == results.study.experiments[row.experiment].finest
        ):
            finest.setdefault(row.experiment, []).append(row)
    models = {name: {row.planned.model for row in rows} for name, rows in finest.items()}
    found = []
    for group in sharing(models) if models else []:
        columns = [{row.planned.label: row for row in finest[name]} for name in group]
        labels = dict.fromkeys(label for column in columns for label in column)
        body = [(label, [column.get(label) for column in columns]) for label in labels]
        body.sort(key=lambda line, columns=columns: _above_lowest(line[1], columns))
        found.append(Matrix(group, body, [finest[name][0].classical for name in group]))
    return found


def sharing(sets: dict[str, set[str]]) -> list[list[str]]:
    """Return names in groups: two are in one if their sets share an element, directly or through others."""
    shared = [[bool(one & other) for other in sets.values()] for one in sets.values()]
    count, numbers = connected_components(np.array(shared), directed=False)
    return [[name for name, its in zip(sets, numbers, strict=True) if its == one] for one in range(count)]


def _above_lowest(cells: list[Row | None], columns: list[dict[str, Row]]) -> float:
    """Return the mean of the logarithms of errors over the lowest of their columns; infinite without any."""
    above = []
    for cell, column in zip(cells, columns, strict=True):
        if cell and cell.error:
            lowest = min(row.error.value for row in column.values() if row.error)
            above.append(math.log(cell.error.value / lowest) if lowest > 0 else 0.0)
    return sum(above) / len(above) if above else math.inf


def best_in_words(rows: list[Row]) -> str:
    """Say who is best, as far as the data allow it."""
    found = sorted((row for row in rows if row.error), key=lambda row: row.error.value)
    if not found:
        return "nothing compared yet"
    if all(row.tested.verdict for row in found):
        return f"no model has learned more than the mean of the targets: {scientific(found[0].error.value)}"
    for row in found:
        if row.verdict == "best":
            value, ends = ratio_in_words(row)
            return f"{row.planned.label} is the best: {value} of the error of the next ({ends})"
    tied = [row.planned.label for row in found if row.verdict == "tied for the best"]
    if tied:
        return f"tied for the best: {', '.join(tied)}"
    first = next(row for row in found if not row.tested.verdict)
    return f"{first.planned.label} has the lowest error, {scientific(first.error.value)}; {NOT_RANKED}"


def as_csv(results: Results) -> str:
    """Return the text of leaderboard.csv."""
    return as_table(results).to_csv(index=False, lineterminator="\n")


def as_table(results: Results) -> pd.DataFrame:
    """Return the long table with plain numbers, as leaderboard.csv has it."""
    rows = []
    for row in results.rows:
        error, ratio = row.error, row.ratio
        rows.append(
            {
                "experiment": row.experiment,
                "problem": row.title,
                "paper": "; ".join(row.papers),
                "model": row.planned.model,
                "label": row.planned.label,
                "recipe": row.planned.recipe,
                "trained_resolution": row.planned.resolution,
                "noise": row.planned.noise,
                "seeds": len(row.runs),
                "finished": sum(run.state == "finished" for run in row.runs),
                "diverged": sum(run.state == "diverged" for run in row.runs),
                "metric": row.tested and row.tested.leads,
                "error": error and error.value,
                "low": error and error.low,
                "high": error and error.high,
                "verdict": row.verdict,
                "ratio_to_best_other": ratio and ratio.value,
                "ratio_low": ratio and ratio.low,
                "ratio_high": ratio and ratio.high,
                "classical_solver": row.classical.value if isinstance(row.classical, Error) else None,
                "train_seconds": row.seconds,
            }
        )
    return pd.DataFrame(rows)


def _ends(error: Error) -> tuple[float, float]:
    """Return the ends of the interval, or the value twice where it has none."""
    if absent(error.low) or absent(error.high):
        return error.value, error.value
    return error.low, error.high
