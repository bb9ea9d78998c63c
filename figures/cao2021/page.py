"""The paper's page: every table and figure of Cao 2021 that was made, ours beside the paper's."""

from dataclasses import dataclass, field
from pathlib import Path

from figures.cao2021 import step_costs
from figures.cao2021.items import ITEMS
from figures.page import inlined_figure, render
from figures.results import present, read_runs, read_table
from figures.words import differences_from_paper, summarise


@dataclass(frozen=True)
class Made:
    """An item of the page: its file (HTML of a table, SVG of a figure), its caption, and where it is from.

    runs     folders of the runs behind it; without any, `costs` is the CSV of the costs of a step.
    reports  (title, link) of the pages of its experiments.
    """

    file: str
    caption: str
    runs: list[str] = field(default_factory=list)
    costs: str = ""
    reports: list[tuple[str, str]] = field(default_factory=list)


def write_paper_page(
    output: str | Path, *, made: dict[str, Made], command: str, provenance: dict[str, str]
) -> None:
    """Write the page, all at once; `made` are items by name. Items that are not among them are listed."""
    sections = {"Tables": [], "Figures": []}
    for name, one in made.items():
        sections["Tables" if name.startswith("table") else "Figures"].append(_entry(name, one))
    render(
        "cao2021.html.j2",
        output,
        sections=sections,
        absent=[item.title for name, item in ITEMS.items() if name not in made],
        command=command,
        provenance=provenance,
    )


def _entry(name: str, one: Made) -> dict:
    """What the template shows of an item."""
    title, item = ITEMS[name].title, ITEMS[name]
    number = title.partition(".")[0].split()[-1]
    entry = {"name": name, "number": number, "title": title, "caption": one.caption}
    entry |= {"reports": one.reports, "table": "", "figure": None}
    if name.startswith("table"):
        entry["table"] = present(Path(one.file)).read_text(encoding="utf-8")
    else:
        entry["figure"] = inlined_figure(one.file, title, one.caption)
    if one.runs:
        runs = read_runs(one.runs)
        return entry | {"run": summarise(runs), "differences": differences_from_paper(runs, item.table)}
    costs = read_table(Path(one.costs), ["points", "batch_size", "rounds", "device"])
    first = costs.iloc[0].to_dict()
    told = [*step_costs.differences(first), "the machine (paper: one RTX 3090)"]
    return entry | {"run": _measured(first), "differences": told}


def _measured(case: dict) -> str:
    """What was measured for Table 1."""
    timings = "1 timing" if case["rounds"] == 1 else f"the median of {case['rounds']} timings"
    return (
        f"One forward and backward pass at n = {case['points']:,}, batch {case['batch_size']}, no dropout, "
        f"on {case['device']}; {timings}, each attention in a process of its own."
    )
