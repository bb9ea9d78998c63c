"""Parts of docs/reported-vs-ours.md on numbers of parameters and costs of training steps."""

from pathlib import Path

from resolvent.documentation.pages import table
from resolvent.figures.common.results import read_table
from resolvent.figures.papers.items import imported
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.published.reported_numbers import EXAMPLES
from resolvent.figures.published.tables import reported_rows
from resolvent.models.build import build, parameter_counts
from resolvent.models.registry import settings_class

COSTS = "results/{paper}/{paper}/cost.csv"  # as measured at the paper's sizes
MORE = "Parameters of the default settings, which are the paper's; a complex parameter counts as "
HEADS = ("architecture", "reported", "ours", "ours / reported")


def size_sections(costs: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Return sections by paper and title: tables of numbers of parameters, and items on costs.

    costs  existing files of measured costs, by the paper's folder.
    """
    sections: dict[str, dict[str, str]] = {}
    sources = {one.file.parent: example.source for example in EXAMPLES for one in example.tables}
    for folder, source in sources.items():
        of_paper = sections.setdefault(source.name, {})
        for file in sorted(folder.glob("table?.csv")):
            rows = reported_rows(file)
            if {"architecture", "parameters"} <= rows[0].keys():
                counted = "one" if source.counted == "parameters_complex_once" else "two"
                lines = table(HEADS, [_sizes(row, counted) for row in rows])
                title = f"{file.stem.replace('table', 'Table ')}, parameters"
                of_paper[title] = f"{lines}\n\n{MORE}{counted}."
        paper = folder.parent.name
        if paper not in costs:
            continue
        made = COSTS.format(paper=paper)
        command = f"snakemake {made} --cores 2 --resources gpu=0 --configfile config/{paper}.yaml"
        for item in PAPERS[paper].items.values():
            if item.remark:  # derived from measured costs
                drawn = item.exhibit.draw(costs[paper])
                run, others = imported(item.remark)(read_table(costs[paper], ()).iloc[0].to_dict())
                cells = [[cell.text for cell in row] for row in drawn.rows]
                lines = table([column.name for column in drawn.columns], cells)
                remark = f"{run} Differences from the paper: {'; '.join(others)}. Made with\n\n    {command}"
                of_paper[item.title.partition(".")[0]] = f"{lines}\n\n{remark}"
    return sections


def _sizes(row: dict[str, str], counted: str) -> tuple[str, ...]:
    name = row["architecture"]
    chosen = {key: row[key] for key in ("model", "attention") if row.get(key)}
    known = settings_class(name).model_fields
    settings = {key: value for key, value in chosen.items() if key in known}
    once, twice = parameter_counts(build(name, settings, seed=0))
    ours = once if counted == "one" else twice
    # "550k", "2.37m" or "5.98e5"; for a range, the upper end
    reported = float(row["parameters"].rpartition("-")[2].replace("k", "e3").replace("m", "e6"))
    words = " ".join([f"`{name}`", *chosen.values()])
    return words, row["parameters"], f"{ours:,}", f"{ours / reported:.3f}"
