"""Keep the measurements of each training beside a reported number in a small table that outlives its run.

A training at a paper's size takes hours, and its folder is not committed. A row has all that the page of
reported and own numbers says of it.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.figures.common.intervals import Scatter, scatter
from resolvent.figures.common.results import Run, error_matrix
from resolvent.figures.published.beside import record, reported_beside
from resolvent.figures.published.tables import PaperTable, reported_rows

REPORTED_SAMPLES = 100  # test samples behind every reported mean (Cao 2021, section 5)
SETTING = ("model", "recipe", "resolution", "noise")  # what the seeds of a row have in common
KEY = ("table", *SETTING, "seed")


@dataclass(frozen=True)
class Row:
    """A training, and the number that a paper reports for its setting.

    place          of the reported row in the paper's table.
    unit           of the numbers in that table.
    reported       as printed, "" where the paper has no such row; `reported_epoch` where it names one.
    reason         why the two cannot be compared; "" where they can.
    mean           relative L2 error over the test samples, at the epoch that the validation samples chose;
                   NaN for a training that diverged, in the epoch `diverged`.
    below to few_above  its `Scatter`.
    protocol       the lowest mean error of an epoch on the first test samples, as many as there are for
                   validation, and its epoch.
    """

    table: str
    place: int
    unit: float
    model: str
    recipe: str
    resolution: int
    noise: float
    seed: int
    reported: str
    reported_epoch: str
    reason: str
    mean: float
    below: float
    above: float
    few_below: float
    few_above: float
    diverged: int
    protocol: float
    protocol_epoch: int
    best_epoch: int
    epochs: int
    train_samples: int
    validation_samples: int
    test_samples: int
    batch_size: int
    train_seconds: float
    seconds_per_step: float
    machine: str
    command: str

    @property
    def has_no_reported_row(self) -> bool:
        return self.reason.endswith("no such row")

    @property
    def settled(self) -> bool:
        """Return whether every setting is that of the reported number."""
        return bool(self.reported) and not self.reason

    @property
    def compared(self) -> bool:
        return self.settled and math.isfinite(self.mean)

    @property
    def scatter(self) -> Scatter:
        return Scatter(self.below, self.above, self.few_below, self.few_above)


def measured_row(run: Run, table: PaperTable, command: str) -> Row:
    """Return the row of a run in a paper's table."""
    cost, training = run.cost, run.record.training
    beside = reported_beside(run.record, cost, table)
    mean, found = math.nan, Scatter(*4 * [math.nan])
    errors = error_matrix([run.errors], run.resolution, run.noise).to_numpy().ravel()
    if not run.diverged and errors.size:
        mean, found = float(errors.mean()), scatter(errors, REPORTED_SAMPLES)
    names = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
    row = table.row(record(run.record))
    return Row(
        table=table.name,
        place=reported_rows(table.file).index(row) if row else len(reported_rows(table.file)),
        unit=table.unit,
        model=run.label,
        recipe=run.record.recipe or "",
        resolution=run.resolution,
        noise=run.noise,
        seed=run.seed,
        reported=beside.digits,
        reported_epoch=beside.best_epoch,
        reason="" if beside.value is not None else beside.reason,
        mean=mean,
        **asdict(found),
        diverged=cost.diverged_epoch or 0,
        protocol=cost.best_test_relative_l2 or math.nan,
        protocol_epoch=cost.best_test_epoch or 0,
        best_epoch=cost.best_epoch,
        **{name: training[name] for name in names},
        train_seconds=cost.train_seconds,
        seconds_per_step=cost.seconds_per_step,
        machine=f"{cost.device}, {counted(cost.threads, 'thread')} a run",
        command=command,
    )


def kept_rows(file: Path, new: list[Row]) -> list[Row]:
    """Put new rows into the file, in place of older ones of the same key; return all in the papers' order.

    A row that can be compared stays where the new one cannot: a shorter training does not replace it.
    """
    rows: dict[tuple, Row] = {}
    for row in [*_read(file), *new]:
        key = tuple(getattr(row, name) for name in KEY)
        if not (key in rows and rows[key].settled and not row.settled):
            rows[key] = row
    order = ("table", "place", *SETTING, "seed")
    ordered = sorted(rows.values(), key=lambda row: [getattr(row, name) for name in order])
    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _shown(value) for name, value in asdict(row).items()} for row in ordered)
    write_text(file, text.getvalue())
    return ordered


def _read(file: Path) -> list[Row]:
    if not file.exists():
        return []
    kinds = {one.name: {"int": int, "float": float, "str": str}[str(one.type)] for one in fields(Row)}
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            Row(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(lines)
        ]


def _shown(value: object) -> object:
    return f"{value:.9g}" if isinstance(value, float) else value
