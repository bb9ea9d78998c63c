"""Trainings that collapsed: the rule, the same for reported and own trainings, and shares with intervals.

A collapsed training has no ratio to a reported number: whether a training collapses depends on its seed, so
collapse has a probability, and errors of collapsed and other trainings are two distributions.
"""

from collections.abc import Iterable

from resolvent.figures.common.intervals import share_interval
from resolvent.figures.published.tables import RESULTS, PaperTable, reported_rows

# Cao (2021, section C.2) calls a training divergent if its best epoch is not near the last.
EARLY = 0.8  # share of the epochs; a best epoch in it is early
LARGE = 5.0  # times the lowest error reported for the architecture in the table
NOTHING = 0.1  # a network with a larger error has learned next to nothing
RULE = f"""\
A training *collapsed* if it diverged and was stopped. It also collapsed if its error is above {LARGE:g} times
the lowest error that the table reports for its architecture and noise, and either its best epoch lies in the
first {100 * EARLY:g} % of the epochs, or its error is above {NOTHING:g}."""
SYMBOLS = {"projection_gain": "η = ", "projection_diagonal": "δ = ", "layer_norm": "layer norm "}


def collapsed(error: float, best_epoch: float, epochs: int, lowest: float) -> bool:
    """Return whether a training collapsed by `RULE`, without the part on divergence.

    error    lowest error of the training; for ours, of the epoch with the lowest validation error.
    lowest   lowest error that the table reports for the architecture and noise, in the same unit.
    """
    return error > LARGE * lowest and (best_epoch <= EARLY * epochs or error > NOTHING)


def lowest_reported(table: PaperTable, row: dict[str, str]) -> float:
    """Return the lowest error that a table reports for the architecture and the noise of a row."""
    alike = [one for one in reported_rows(table.file) if _problem(one) == _problem(row)]
    return min(float(one["reported"]) for one in alike) * table.unit


def _problem(row: dict[str, str]) -> tuple[str, str]:
    return row["architecture"], row.get("noise", "")


def reported_collapses(table: PaperTable, epochs: int) -> dict[str, list[bool]]:
    """Return for each group of a table's cells which of the reported trainings collapsed.

    Cells of a group differ only in the resolution and in columns that are no recorded setting, such as ζ in
    Table 8 of Cao (2021). Tables without best epochs have no groups.
    """
    groups: dict[str, list[bool]] = {}
    for row in reported_rows(table.file):
        if row.get("best_epoch"):
            error, lowest = float(row["reported"]) * table.unit, lowest_reported(table, row)
            happened = collapsed(error, float(row["best_epoch"]), epochs, lowest)
            groups.setdefault(group_of(table, row), []).append(happened)
    return groups


def group_of(table: PaperTable, row: dict[str, str]) -> str:
    """Return words for the settings of a row, without its resolution and its columns without a setting."""
    left_out = {*RESULTS, *table.columns, "resolution", "architecture"}
    settings = {name: value for name, value in row.items() if value and name not in left_out}
    words = [f"{SYMBOLS.get(name, '')}{value}" for name, value in settings.items()]
    return ", ".join(words) or row["architecture"]


def share(happened: Iterable[bool]) -> str:
    """Return a count with the exact interval of its probability: "3 of 6 [0.12, 0.88]"."""
    outcomes = list(happened)
    interval = share_interval(sum(outcomes), len(outcomes))
    return f"{sum(outcomes)} of {len(outcomes)} [{interval.low:.2f}, {interval.high:.2f}]"
