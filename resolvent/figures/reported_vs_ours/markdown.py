"""What pages in Markdown have in common, and the tables of "reported and ours"."""

from textwrap import fill

from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.beside import reported_beside
from resolvent.figures.published.tables import PaperTable

TRAINING_COLUMNS = ("best epoch", "training", "per step")


def training_cells(cost: dict) -> tuple[str, str, str]:
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


def not_comparable(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """Write a paragraph for every reason why a reported number cannot be compared, with the models."""
    reasons: dict[str, list[str]] = {}
    for run in runs:
        beside = reported_beside(run.record, run.cost, table)
        if beside.digits and beside.value is None:
            reasons.setdefault(beside.reason, []).append(run.label)
    return [f"\n{', '.join(dict.fromkeys(labels))}: {reason}." for reason, labels in reasons.items()]
