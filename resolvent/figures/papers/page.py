"""The page of a paper: every table and figure of it that was made, ours beside the paper's."""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pandas as pd

from resolvent.common.counts import counted
from resolvent.figures.common.comparison import MODELS_COLUMNS
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.numbers import DASH, times
from resolvent.figures.common.page import RUN_PAGE, relative, render
from resolvent.figures.common.results import Run, read_runs, read_table
from resolvent.figures.papers.items import READERS, Item
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.published.tables import PaperTable
from resolvent.figures.published.words import differences_from_paper, differences_of_recipes, summarise


@dataclass(frozen=True)
class Made:
    """An item of the page: its file (HTML of a table, SVG of a figure), and where it is from.

    given    what it was made from (`resolvent.figures.papers.items.READERS`).
    reports  (title, link) of the pages of its experiments.
    models   models.csv of its experiments, where it compares errors with reported ones.
    """

    file: str
    given: dict
    reports: list[tuple[str, str]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)


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
        sections["Tables" if paper.items[name].kind == "table" else "Figures"].append(
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
        glance=[entry["glance"] for entries in sections.values() for entry in entries],
        absent=[item.title for name, item in paper.items.items() if name not in made],
        command=command,
        provenance=provenance,
    )


def _entry(name: str, item: Item, one: Made, folder: Path) -> dict:
    """Return what the template shows of an item."""
    sources = Sources(READERS, **one.given)
    short = name.removeprefix("table").removeprefix("figure_").removeprefix("figure")  # "2a", or "spectra"
    shown = item.on_page(sources, one.file, folder)
    entry = {"name": name, "short": short, "reports": one.reports, "title": item.title, "shown": shown}
    if item.of_costs:
        runs: list[Run] = []
        first = read_table(Path(one.given["cost_file"]), ["device"]).iloc[0].to_dict()
        run, differences = item.remark(first)
        entry |= {"run": run, "pages": [], "differences": differences, "recipes": []}
    else:
        runs = (
            [chosen.run for chosen in sources["each_shown"]]
            if item.shows_one_run
            else list(chain.from_iterable(sources["experiments"]))
        )
        runs = read_runs(dict.fromkeys(run.directory for run in runs))
        entry |= {
            "run": summarise(runs),
            "pages": pages_of(runs, folder),
            "differences": differences_from_paper(runs, item.table),
            "recipes": differences_of_recipes(runs, item.table),
        }
    return entry | {"glance": _glance(entry, runs, compared(one.models, item.table))}


def pages_of(runs: list[Run], folder: Path) -> list[tuple[str, str]]:
    """Return name and link of the page of each run that has one, for a page in `folder`."""
    return [
        (f"{run.label}, {run.where}, seed {run.seed}", relative(run.directory / RUN_PAGE, folder))
        for run in runs
        if (run.directory / RUN_PAGE).is_file()
    ]


@dataclass(frozen=True)
class Compared:
    """How many rows an item has, and their ratios to the reported numbers of its table.

    `other_recipe` counts the rows beside which a number of another recipe stands; it is not compared.
    """

    rows: int
    ratios: list[float]
    other_recipe: int


def compared(models: list[str], table: PaperTable | None) -> Compared | None:
    """Read what the models.csv of an item's experiments compare with that table; None without any."""
    if not models or table is None:
        return None
    found = pd.concat([read_table(Path(path), list(MODELS_COLUMNS)) for path in models])
    found = found[found["kind"] == "model"]
    of_table = found["reported_note"].fillna("").str.endswith(table.name)
    ratios = found.loc[of_table, "ratio_to_reported"].dropna()
    return Compared(
        len(found), list(map(float, ratios)), int(found["reported_of_other_recipe"].notna().sum())
    )


def _glance(entry: dict, runs: list[Run], found: Compared | None) -> dict:
    """Return a row of the table at the top: the item, what was run, and what it says beside the paper."""
    lost = sum(run.diverged for run in runs)
    trained = counted(len(runs), "run") if runs else "measured, nothing trained"
    differ = len(entry["differences"])
    setting = f"differs from the paper in {counted(differ, 'point')}" if differ else "the paper's"
    numbers = DASH
    if found:
        numbers = f"{len(found.ratios)} of {found.rows}"
        if found.ratios:
            least, most = times(min(found.ratios)), times(max(found.ratios))
            numbers += f": ours {least}" + (f" to {most}" if most != least else "") + " times the reported"
        if found.other_recipe:
            numbers += f"; {found.other_recipe} more reported by another recipe"
    return {
        "name": entry["name"],
        "title": entry["title"],
        "runs": trained + (f", {lost} diverged" if lost else ""),
        "setting": setting,
        "numbers": numbers,
    }
