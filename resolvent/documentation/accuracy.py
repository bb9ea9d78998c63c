"""How wrong the data of each equation are, for README.md and docs/index.md, as docs/datasets.md has it."""

from __future__ import annotations

from pathlib import Path

from resolvent.datasets.tasks.registry import EQUATIONS, settings_class


def accuracy_table(datasets_page: Path) -> str:
    """Return the table, in Markdown, of the numbers that docs/datasets.md has.

    Raises
    ------
    KeyError
        When a row of an equation's `accuracy_rows` is not there.
    """
    measured = {}
    for line in datasets_page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and line.startswith("| `"):
            measured[cells[0].strip("`"), cells[1]] = cells[2:]
    lines = ["| data | compared with | samples | median error | largest |", "|---|---|---|---|---|"]
    for equation in EQUATIONS:
        for row, (data, reference) in settings_class(equation).accuracy_rows.items():
            samples, median, largest = measured[row]
            lines.append(f"| {data} | {reference} | {samples} | {median} | {largest} |")
    return "\n".join(lines)
