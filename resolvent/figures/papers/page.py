"""The page of a paper: every table and figure of it that was made, ours beside the paper's."""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from resolvent.figures.common.page import inlined_figure, render
from resolvent.figures.common.results import present, read_runs, read_table
from resolvent.figures.common.shown import choose_shown
from resolvent.figures.common.words import differences_from_paper, differences_of_recipes, summarise
from resolvent.figures.papers.items import Item, loaded
from resolvent.figures.papers.registry import PAPERS


@dataclass(frozen=True)
class Made:
    """An item of the page: its file (HTML of a table, SVG of a figure), and where it is from.

    facts    what its caption quotes.
    runs     folders of the runs of each experiment behind it, the configured one first where one is shown;
             without any, `costs` is the CSV of measured costs.
    reports  (title, link) of the pages of its experiments.
    """

    file: str
    facts: dict = field(default_factory=dict)
    runs: list[list[str]] = field(default_factory=list)
    costs: str = ""
    reports: list[tuple[str, str]] = field(default_factory=list)


def write_paper_page(
    key: str,
    output: str | Path,
    *,
    made: dict[str, Made],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Write the page of the paper `key`, all at once; `made` are items by name. Others of it are listed."""
    paper = PAPERS[key]
    sections = {"Tables": [], "Figures": []}
    for name, one in made.items():
        sections["Tables" if name.startswith("table") else "Figures"].append(
            _entry(name, paper.items[name], one, Path(output).parent)
        )
    render(
        "paper.html.j2",
        output,
        root=root,
        breadcrumbs=[("Papers", "index.html#papers"), (paper.name, "")],
        key=key,
        paper=paper,
        sections=sections,
        absent=[item.title for name, item in paper.items.items() if name not in made],
        command=command,
        provenance=provenance,
    )


def _entry(name: str, item: Item, one: Made, folder: Path) -> dict:
    """Return what the template shows of an item."""
    chosen = [choose_shown(folders) for folders in one.runs] if item.shows_one_run else []
    shown = "; ".join(dict.fromkeys(run.words for run in chosen))
    caption = item.caption.format(**one.facts, shown=shown)
    short = name.removeprefix("table").removeprefix("figure_").removeprefix("figure")  # "2a", or "spectra"
    entry = {"name": name, "short": short, "title": item.title, "caption": caption}
    entry |= {"reports": one.reports, "table": "", "figure": None}
    if name.startswith("table"):
        entry["table"] = present(Path(one.file)).read_text(encoding="utf-8")
    else:
        entry["figure"] = inlined_figure(one.file, item.title, caption, folder=folder)
    if one.runs:
        folders = [run.run.directory for run in chosen] or chain.from_iterable(one.runs)
        runs = read_runs(dict.fromkeys(folders))
        return entry | {
            "run": summarise(runs),
            "differences": differences_from_paper(runs, item.table),
            "recipes": differences_of_recipes(runs, item.table),
        }
    first = read_table(Path(one.costs), ["device"]).iloc[0].to_dict()
    run, differences = loaded(item.remark)(first)
    return entry | {"run": run, "differences": differences, "recipes": []}
