"""Write the table of FNO trained by both rules of Adam into docs/why-they-differ.md: `make docs` runs this.

Its rows are those of docs/measured/reported_rows.csv, made by the command that the page names.
"""

import pandas as pd
from page_parts import ROOT, table, write_part

RULES = {"FNO, as coded, Adam of torch 1.8": "torch 1.8", "FNO, as coded": "today"}
HEAD = (
    "table", "n", "rule of Adam", "seeds", "reported", "ours: each seed", "ratio of the means",
    "paper's protocol: each seed", "ratio",
)  # fmt: skip


def rows(measured: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return a row for each table, resolution and rule, from the rows of single trainings."""
    cells = []
    fno = measured[measured["model"].isin(RULES) & measured["reported"].notna()]
    for (name, n, model), runs in fno.groupby(["table", "resolution", "model"]):
        unit = runs["unit"].iloc[0]
        reported = float(runs["reported"].iloc[0])
        power = f"{unit:.0e}".lstrip("1").replace("e-0", "e-")
        ours, protocol = runs["mean"] / unit, runs["protocol"] / unit
        cells.append((
            name, str(n), RULES[model], str(len(runs)), f"{reported}{power}",
            ", ".join(f"{value:.3f}{power}" for value in ours), f"{ours.mean() / reported:.2f}",
            ", ".join(f"{value:.3f}{power}" for value in protocol), f"{protocol.mean() / reported:.2f}",
        ))  # fmt: skip
    return sorted(cells, key=lambda row: (row[0], int(row[1]), row[2]))


if __name__ == "__main__":
    measured = pd.read_csv(ROOT / "docs/measured/reported_rows.csv")
    found = rows(measured)
    write_part("docs/why-they-differ.md", table(HEAD, found) if found else None, "both-rules", "make docs")
