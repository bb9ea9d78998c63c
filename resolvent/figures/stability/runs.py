"""The runs of the study of stability: which of them collapsed, and what that leaves to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import read_table

# Error of the last epoch above which a run counts as collapsed. Any number in the gap between the two kinds
# of runs gives the same counts: `gap` returns its ends, and the page states them.
COLLAPSED_ERROR = 0.1
LEVEL = 0.95  # of the intervals
COLUMNS = ["model", "peak", "seed", "status", "seconds", "device", "epoch", "validation_relative_l2"]


def read_study(tables: Iterable[Path], panels: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return a row a run: panel, words, model, peak, seed, status, error in the last epoch, collapsed.

    `tables` are what the jobs have written, one for each model; a model of `panels` without one has no rows,
    so that a study can be looked at before it has ended.

    Raises
    ------
    ResultError
        When there is not one run.
    FileError
        When a table is missing or damaged.
    """
    found = [read_table(table, COLUMNS) for table in tables]
    if not found:
        raise ResultError("no run of the study of stability has ended yet")
    epochs = pd.concat(found, ignore_index=True)
    runs = epochs.sort_values("epoch").groupby(["model", "peak", "seed"], sort=False).tail(1)
    places = pd.DataFrame(
        [(panel, words, model) for panel, of in panels.items() for words, model in of.items()],
        columns=["panel", "words", "model"],
    )
    study = places.merge(runs, on="model").rename(columns={"validation_relative_l2": "error"})
    study["error"] = study["error"].astype(float)
    study["collapsed"] = (study["status"] == "diverged") | ~(study["error"] <= COLLAPSED_ERROR)
    study["order"] = study["words"].map({words: place for place, words in enumerate(all_words(panels))})
    return study


def all_words(panels: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the words for the models, each once: the same words have the same colour in every panel."""
    return list(dict.fromkeys(words for of in panels.values() for words in of))


def distinct(study: pd.DataFrame) -> pd.DataFrame:
    """Return every run once, though its model may be in several panels."""
    return study.drop_duplicates(["model", "peak", "seed"])


def gap(study: pd.DataFrame) -> tuple[float, float]:
    """Return the largest error of a run that did not collapse and the smallest of one that did; NaN if none.

    Runs that diverged are left out: they ended with predictions ten times too large.
    """
    ended = study[study["status"] != "diverged"]
    return (
        float(ended.loc[~ended["collapsed"], "error"].max()),
        float(ended.loc[ended["collapsed"], "error"].min()),
    )


def interval(collapsed: int, runs: int) -> tuple[float, float]:
    """Return the exact binomial interval (Clopper and Pearson 1934) of the probability to collapse."""
    found = binomtest(collapsed, runs).proportion_ci(LEVEL, method="exact")
    return float(found.low), float(found.high)


def counts(study: pd.DataFrame) -> pd.DataFrame:
    """Return, by panel, words and peak, how many runs there are and collapsed, with intervals and errors.

    `median`, `least` and `largest` are of the last errors of the runs that did not collapse, else NaN.
    """
    rows = []
    for (panel, words, peak), group in study.groupby(["panel", "words", "peak"], sort=False):
        collapsed, runs = int(group["collapsed"].sum()), len(group)
        errors = group.loc[~group["collapsed"], "error"]
        rows.append(
            {
                "panel": panel,
                "words": words,
                "peak": peak,
                "order": group["order"].iloc[0],
                "runs": runs,
                "collapsed": collapsed,
                **dict(zip(("low", "high"), interval(collapsed, runs), strict=True)),
                "median": errors.median() if len(errors) else np.nan,
                "least": errors.min(),
                "largest": errors.max(),
            }
        )
    return pd.DataFrame(rows)
