"""The leaderboard: all models of all experiments, with verdicts and the classical solver.

A matrix has one row per model and one column per problem, each at the finest training resolution; another has
the errors of an experiment by training and test resolution; the long table has all rows.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from resolvent.figures.common.comparison import by_condition, read_comparison
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.numbers import ends, ratio_in_words, scientific
from resolvent.figures.common.results import with_training_noise
from resolvent.figures.common.table import Table
from resolvent.figures.experiment.error_table import by_grids
from resolvent.figures.front.results import NOT_RANKED, Results, Row

COLUMNS = [
    "experiment", "problem", "paper", "model", "label", "recipe", "trained_resolution", "test_resolution",
    "noise", "seeds", "finished", "diverged", "metric", "error", "low", "high", "verdict",
    "ratio_to_best_other", "ratio_low", "ratio_high", "classical_solver", "train_seconds",
    "break_even_queries", "break_even_solver", "timed_on",
]  # fmt: skip
SEEDS = "No ranking: it needs two models with at least three seeds each."


def with_interval(error: Interval) -> str:
    """Return an error with its interval and a common exponent: "2.02 (1.56 to 2.91) × 10⁻²"."""
    shown = ends(error.low, error.high, error.value)
    return f"{scientific(error.value).removesuffix(shown.rpartition(')')[2])} {shown}".rstrip()


def pays_in_words(row: Row) -> tuple[str, str]:
    """Return the break-even in functions, or `never`; and the solver and device."""
    if not (pays := row.pays):
        return "", ""
    words = f"{pays['queries']:,.0f}" if math.isfinite(pays["queries"]) else "never"
    return words, f"compared with {pays['solver']}; {pays['timed_on']}"


def why_not_ranked(results: Results) -> str:
    """Return why no model is ranked; an empty text if some are, or if there is nothing to rank."""
    return "" if results.is_ranked or not any(row.error for row in results.rows) else SEEDS


def matrices(results: Results) -> list[dict]:
    """Return one matrix per group of started experiments that share models.

    It has the names of the `experiments`, and their `grids` in words; a `body` of labels with their rows,
    ordered by the mean logarithm of the ratio to each experiment's lowest error; and the error of the
    `classical` solver, or why it has none.
    """
    finest: dict[str, dict[tuple[str, int], Row]] = {}
    for row in results.rows:
        planned = results.study.experiments[row.experiment]
        if row.experiment not in results.not_begun and row.planned.resolution == planned.finest:
            column = finest.setdefault(row.experiment, {})
            label = row.planned.label  # of several models, if they have the same
            column[label, sum(label == other for other, _ in column)] = row
    models = {name: {row.planned.model for row in column.values()} for name, column in finest.items()}
    tables = []
    for group in sharing(models):
        columns = [finest[name] for name in group]
        errors = ([row.error.value for row in column.values() if row.error] for column in columns)
        lowest = [min(values, default=0.0) for values in errors]
        lines = []
        for place in dict.fromkeys(place for column in columns for place in column):
            cells = [column.get(place) for column in columns]
            above = [
                math.log(row.error.value / least) if least > 0 else 0.0
                for row, least in zip(cells, lowest, strict=True)
                if row and row.error
            ]
            lines.append((sum(above) / len(above) if above else math.inf, place[0], cells))
        lines.sort(key=lambda line: line[0])
        tables.append({
            "experiments": group,
            "grids": [max(column.values(), key=lambda row: bool(row.tested)).grids for column in columns],
            "body": [line[1:] for line in lines],
            "classical": [next(iter(column.values())).classical for column in columns],
        })  # fmt: skip
    return tables


def grid_tables(results: Results) -> list[Table]:
    """Return a table of errors on all test grids for each experiment with several."""
    tables = []
    for name, experiment in results.study.experiments.items():
        known = {(row.planned.model, str(row.planned.resolution)) for row in results.of(name) if row.tested}
        if not known:
            continue
        compared = with_training_noise(read_comparison(results.folder / name / "comparison.csv"))
        own = zip(compared["key"], compared["trained_resolution"].map(str), strict=True)
        compared = compared[[place in known for place in own]]
        if compared["test_resolution"].nunique() > 1:
            tables.append(replace(by_grids(by_condition(compared)), title=experiment.title))
    return tables


def sharing(sets: dict[str, set[str]]) -> list[list[str]]:
    """Group names whose sets share an element, directly or through other sets."""
    if not sets:
        return []
    shared = [[bool(elements & other) for other in sets.values()] for elements in sets.values()]
    count, numbers = connected_components(np.array(shared), directed=False)
    return [[name for name, its in zip(sets, numbers, strict=True) if its == group] for group in range(count)]


def best_in_words(rows: list[Row]) -> str:
    """Return the best model, as far as the data show it."""
    compared = sorted((row for row in rows if row.error), key=by_error)
    if not compared:
        return "nothing compared yet"
    learned = [row for row in compared if row.tested and not row.tested.verdict]
    if not learned:
        lowest = scientific(by_error(compared[0]))
        return f"no model is clearly better than predicting the mean of the targets: {lowest}"
    for row in learned:
        if row.verdict == "best":
            value, between = ratio_in_words(row.ratio)
            return f"{row.planned.label} is the best, with {value} times the error of the next ({between})"
    tied = [row.planned.label for row in learned if row.verdict == "tied for the best"]
    if tied:
        return f"tied for the best: {', '.join(tied)}"
    first = learned[0]
    return f"{first.planned.label} has the lowest error, {scientific(by_error(first))}; {NOT_RANKED}"


def by_error(row: Row) -> float:
    return row.error.value if row.error else math.inf


def by_experiment(results: Results) -> list[Row]:
    """Return all rows by experiment, lowest error first; experiments not begun come last."""
    order = sorted(results.study.experiments, key=lambda name: name in results.not_begun)
    return sorted(results.rows, key=lambda row: (order.index(row.experiment), by_error(row)))


def as_table(results: Results) -> pd.DataFrame:
    """Return the content of leaderboard.csv: the long table with plain numbers."""
    rows = []
    for row in results.rows:
        planned, error, ratio, pays = row.planned, row.error, row.ratio, row.pays
        states = Counter(run.state for run in row.runs)
        rows.append({
            "experiment": row.experiment, "problem": row.title, "paper": "; ".join(row.papers),
            "model": planned.model, "label": planned.label, "recipe": planned.recipe,
            "trained_resolution": planned.resolution,
            "test_resolution": str(row.home) if row.tested else None, "noise": planned.noise,
            "seeds": len(row.runs), "finished": states["finished"], "diverged": states["diverged"],
            "metric": row.tested and row.tested.leads,
            "error": error and error.value, "low": error and error.low, "high": error and error.high,
            "verdict": row.verdict,
            "ratio_to_best_other": ratio and ratio.value,
            "ratio_low": ratio and ratio.low, "ratio_high": ratio and ratio.high,
            "classical_solver": row.classical.value if isinstance(row.classical, Interval) else None,
            "train_seconds": row.seconds,
            "break_even_queries": pays_in_words(row)[0].replace(",", "") or None,
            "break_even_solver": pays and pays["solver"], "timed_on": pays and pays["timed_on"],
        })  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
