"""What the tables of "reported and ours" have in common, in Markdown."""

from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.beside import reported_beside
from resolvent.figures.published.tables import PaperTable

TRAINING_COLUMNS = ("best epoch", "training", "per step")


def training_cells(cost: dict) -> tuple[str, str, str]:
    """Under `TRAINING_COLUMNS`: what it took to train."""
    return (
        f"{cost['best_epoch']} of {cost['epochs']}",
        duration(cost["train_seconds"]),
        f"{cost['seconds_per_step'] * 1e3:.0f} ms",
    )


def table_lines(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table."""
    head, *body = (f"| {' | '.join(row)} |" for row in (header, *rows))
    return [head, "|---" * len(header) + "|", *body]


def not_comparable(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """A paragraph for every reason why a printed number may not stand beside ours, with the models."""
    told: dict[str, list[str]] = {}
    for run in runs:
        beside = reported_beside(run.facts, run.cost, table)
        if beside.printed and beside.value is None:
            told.setdefault(beside.reason, []).append(run.label)
    return [f"\n{', '.join(dict.fromkeys(labels))}: {reason}." for reason, labels in told.items()]
