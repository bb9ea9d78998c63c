"""How wrong the data of each equation are, for README.md and docs/index.md, as docs/datasets.md has it."""

from __future__ import annotations

from pathlib import Path

# The row of docs/datasets.md that stands for an equation: dataset, check; and how the table calls the two.
ROWS = {
    ("burgers", "against cole hopf"): ("[Burgers' equation](equations/burgers.md)", "the closed form"),
    ("darcy_cao", "against direct solve"): (
        "[Darcy flow](equations/darcy.md), on its grid",
        "a sparse direct solver",
    ),
    ("darcy_cao", "discretisation error"): (
        "[Darcy flow](equations/darcy.md), the grid itself",
        "a grid four times finer",
    ),
    ("lorenz63_yz", "against diffrax dopri8"): (
        "[Lorenz-63](equations/lorenz63.md)",
        "an adaptive integrator of another library",
    ),
    ("controlled_ode", "against scipy dop853"): (
        "[Controlled ODE](equations/controlled_ode.md)",
        "an adaptive integrator of another library",
    ),
    ("kolmogorov", "against refined run"): (
        "[Kolmogorov flow](equations/kolmogorov.md)",
        "a run with more modes and shorter steps",
    ),
}


def accuracy_table(datasets_page: Path) -> str:
    """Return the table, in Markdown, of the numbers that docs/datasets.md has.

    Raises
    ------
    KeyError
        When a row of `ROWS` is not there.
    """
    measured = {}
    for line in datasets_page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and line.startswith("| `"):
            measured[cells[0].strip("`"), cells[1]] = cells[2:]
    lines = ["| data | compared with | samples | median error | largest |", "|---|---|---|---|---|"]
    for row, (equation, words) in ROWS.items():
        samples, median, largest = measured[row]
        lines.append(f"| {equation} | {words} | {samples} | {median} | {largest} |")
    return "\n".join(lines)
