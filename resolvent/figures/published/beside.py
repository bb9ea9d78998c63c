"""The numbers of the papers as printed, and whether they may stand beside ours.

A printed number is a measurement of one setting. It stands beside a run only if the facts of the run are the
paper's; otherwise the comparison is refused and says what differs.

One difference always remains and is told wherever these numbers are shown: which epoch is tested, and which
statistic of the test samples is printed (`resolvent.figures.published.tables.Source`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from resolvent.common.records import CostRecord, RunRecord
from resolvent.figures.papers.calvello2024 import printed as calvello2024
from resolvent.figures.papers.cao2021 import printed as cao2021
from resolvent.figures.published.tables import Example, PaperTable

# The first whose marks a run has: Darcy problems with the distribution of Calvello et al. are theirs, others
# Cao's.
EXAMPLES: tuple[Example, ...] = (*calvello2024.EXAMPLES, *cao2021.EXAMPLES)


@dataclass(frozen=True)
class Reported:
    """A printed number; `value` is None where it may not stand beside ours, and `reason` says why."""

    value: float | None
    printed: str
    reason: str
    best_epoch: str = ""  # where the paper tells it


def record(facts: RunRecord) -> dict:
    """All that a run.json has recorded of its setting, by its inner name alone."""
    recorded = {**facts.settings, **_leaves(facts.dataset_settings), **facts.training}
    recorded |= {"architecture": facts.architecture, "resolution": facts.resolution}
    recorded |= {"noise": recorded.get("noise", 0.0), "grids": facts.grids}
    return recorded | {"coarse_points": facts.coarse_points}


def example_of(facts: RunRecord) -> Example | None:
    """The paper's example that a run is of, whatever its sizes; None for an equation of no paper."""
    recorded = record(facts)
    return next((one for one in EXAMPLES if not any(_told(recorded, one.marks))), None)


def tables_of(facts: RunRecord) -> tuple[PaperTable, ...]:
    """The tables of errors that have runs of this example."""
    example = example_of(facts)
    return example.tables if example else ()


def differences(facts: RunRecord, cost: CostRecord, table: PaperTable | None = None) -> list[str]:
    """What the run `facts` (a run.json) and `cost` (its cost.json) has that the setting of `table` has not.

    Without a table: of that with such a row from which it differs least, or of the example alone.
    """
    example = example_of(facts)
    if example is None:
        return [f"equation {facts.dataset_settings.get('equation')}, which the paper has not"]
    recorded = record(facts)
    if table is None:
        having = (one for one in example.tables if one.row(recorded) is not None)
        least = min((_differences(example, recorded, cost, one) for one in having), key=len, default=None)
        return _differences(example, recorded, cost, None) if least is None else least
    return _differences(example, recorded, cost, table)


def _differences(example: Example, recorded: dict, cost: CostRecord, table: PaperTable | None) -> list[str]:
    expected = dict(example.setting)
    for condition, more in (*example.where, *(table.where if table else ())):
        if all(recorded.get(name) == value for name, value in condition.items()):
            expected |= more
    told = list(_told(recorded, expected))
    low, high = example.source.parameters(recorded, table) or (0, math.inf)
    count = getattr(cost, example.source.counted)
    if count is None:
        told.append("parameters not recorded as the paper counts them")
    elif not low <= count <= high:
        told.append(f"{count:,} parameters (paper {low:,} to {high:,})")
    return told


def reported_beside(facts: RunRecord, cost: CostRecord, table: PaperTable | None = None) -> Reported:
    """The paper's number for this run, or the reason why there is none.

    Without a table: of the tables of its example, that from which it differs least, the first of equals.
    """
    example = example_of(facts)
    source = example.source.citation if example else "the paper"
    rows = [(one, one.row(record(facts))) for one in ((table,) if table else tables_of(facts))]
    having = [(differences(facts, cost, one), one, row) for one, row in rows if row is not None]
    if not having:
        where = f"{source}, {table.name}" if table else source
        return Reported(None, "", f"{where} has no such row")
    told, closest, row = min(having, key=lambda one: len(one[0]))
    printed, best_epoch = row["printed"], row.get("best_epoch", "")
    if told:
        return Reported(None, printed, "not comparable: " + "; ".join(told), best_epoch)
    return Reported(float(printed) * closest.unit, printed, f"{source}, {closest.name}", best_epoch)


def _told(recorded: dict, expected: dict) -> Iterator[str]:
    for name, paper in expected.items():
        accepted = paper if isinstance(paper, tuple) else (paper,)
        ours, words = recorded.get(name), name.replace("_", " ")
        of_paper = f"(paper {' or '.join(_shown(one) for one in accepted)})"
        if ours is None:
            yield f"{words} not recorded {of_paper}"
        elif not any(_same(ours, one) for one in accepted):
            yield f"{words} {_shown(ours)} {of_paper}"


def _leaves(settings: dict) -> dict:
    """Nested settings with their inner names alone: `initial_distribution: {sigma: 25}` is `sigma: 25`."""
    flat = {}
    for name, value in settings.items():
        flat |= _leaves(value) if isinstance(value, dict) else {name: value}
    return flat


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _same(ours: object, paper: object) -> bool:
    if isinstance(ours, int | float) and isinstance(paper, int | float):
        return math.isclose(ours, paper, rel_tol=1e-4)
    return ours == paper
