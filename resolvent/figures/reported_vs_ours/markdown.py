"""What pages in Markdown have in common, and the tables of "reported and ours"."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING

from resolvent.figures.common.numbers import duration

if TYPE_CHECKING:
    from resolvent.common.records import CostRecord
    from resolvent.figures.reported_vs_ours.rows import Row

TRAINING_COLUMNS = ("best epoch", "training", "per step")


def training_cells(cost: CostRecord | Row) -> tuple[str, str, str]:
    """Return what it took to train, under `TRAINING_COLUMNS`."""
    return (
        f"{cost.best_epoch} of {cost.epochs}",
        duration(cost.train_seconds),
        f"{cost.seconds_per_step * 1e3:.0f} ms",
    )


def table_lines(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table. A cell may have a bar, such as in |k|, which does not end it."""
    cells = ([cell.replace("|", r"\|") for cell in row] for row in (header, *rows))
    head, *body = (f"| {' | '.join(row)} |" for row in cells)
    return [head, "|---" * len(header) + "|", *body]


def paragraph(words: str) -> str:
    """Return a paragraph in lines of at most 118 characters."""
    return fill(words, 118, break_long_words=False, break_on_hyphens=False)


def not_comparable(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Write a sentence for every reason why a reported number cannot be compared, from (label, reason)."""
    labels: dict[str, dict[str, None]] = {}
    for label, reason in reasons:
        labels.setdefault(reason, {})[label] = None
    return [f"{', '.join(of)}: {reason}." for reason, of in labels.items()]
