"""The board: evaluations of `resolvent evaluate` on each test, the lowest error first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from resolvent.common.errors import FileError
from resolvent.common.records import read_record
from resolvent.judging.report import RECORD, Evaluation

ORDER = ["test", "grid", "relative_l2"]


def board(folders: Sequence[Path]) -> pd.DataFrame:
    """Return a row for each evaluation in `folders` and each grid, ordered by test, grid and error.

    Tests have the same name only if they have the same test samples. Raises `FileError` if a folder has no
    evaluation, or a damaged one.
    """
    return pd.DataFrame([row for folder in folders for row in _rows(folder)]).sort_values(
        ORDER, ignore_index=True
    )


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / RECORD
    if not path.exists() and (folder / "judged.json").exists():
        raise FileError(f"{folder} has judged.json, the record of version 1.0: evaluate again")
    if not path.exists():
        raise FileError(f"{folder} has no {RECORD}: make it with `resolvent evaluate … --out {folder}`")
    record = read_record(path, Evaluation, remedy="evaluate again")
    rows = [row for row in record["rows"] if row["who"] == record["label"]]
    rows = [row for row in rows if row["metric"] == "relative_l2"]
    if not rows:
        raise FileError(f"{path}: 'rows' has no relative_l2 of 'label': evaluate again")
    recorded = record.get("recorded", [])
    confirmed = "confirmed" if all(row["confirmed"] is not False for row in recorded) else "not confirmed"
    for row in rows:
        yield {
            "test": record["task"],
            "grid": row["grid"],
            "model": record["label"],
            "relative_l2": float(row["mean"]),
            "samples": row["samples"],
            "evaluated": record["kind"],
            "recorded_errors": confirmed if recorded else "",
            "date": record["date"],
            "versions": " ".join(f"{name} {number}" for name, number in record["versions"].items()),
            "folder": str(folder),
        }


def print_board(table: pd.DataFrame, console: Console) -> None:
    """Print the board, one table for each test."""
    for test, part in table.groupby("test", sort=False):
        printed = Table(title=str(test), title_justify="left")
        for head in ("grid", "model", "error", "samples", "what was evaluated", "date"):
            narrow = head in ("error", "samples", "date")
            printed.add_column(head, overflow="fold", no_wrap=narrow)
        for row in part.to_dict("records"):
            evaluated = row["evaluated"]
            if row["recorded_errors"]:
                evaluated += f", recorded errors {row['recorded_errors']}"
            error, samples = f"{row['relative_l2']:.3e}", str(row["samples"])
            printed.add_row(row["grid"], row["model"], error, samples, evaluated, row["date"])
        console.print(printed)


def write_board(table: pd.DataFrame, file: Path) -> None:
    """Write the board as CSV. Text that begins like a formula is quoted, so spreadsheets do not run it."""
    formula = ("=", "+", "-", "@", "\t", "\r")

    def quoted(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and value.startswith(formula) else value

    table.map(quoted).to_csv(file, index=False)
