"""The page of a paper: all its reproduced tables and figures, with the paper's numbers."""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pandas as pd

from resolvent.common.counts import counted
from resolvent.figures.common.commands import making
from resolvent.figures.common.comparison import MODELS_COLUMNS
from resolvent.figures.common.exhibit import Section, Sources
from resolvent.figures.common.numbers import DASH, times
from resolvent.figures.common.page import RUN_PAGE, relative, render
from resolvent.figures.common.results import Run, read_runs, read_table
from resolvent.figures.papers.items import Item, imported
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.papers.sources import READERS
from resolvent.figures.published.reported_numbers import (
    differences_from_paper,
    differences_of_recipes,
    summarise,
)


@dataclass(frozen=True)
class Made:
    """An item of the page: its file (HTML of a table, SVG of a figure) and its origin.

    given    its sources (`resolvent.figures.papers.sources.READERS`).
    reports  (title, link) of the pages of its experiments.
    models   models.csv of its experiments, if it compares errors with reported errors.
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
    """Write the page of the paper `key` atomically; `made` are items by name. Other items are only listed."""
    paper = PAPERS[key]
    shown: dict[str, list[dict]] = {"tables": [], "figures": []}
    for name, made_item in made.items():
        item = paper.items[name]
        shown[f"{item.kind}s"].append(_entry(name, item, made_item, Path(output).parent))
    sections = [Section("glance", "At a glance")]
    for name, entries in shown.items():
        parts = {entry["name"]: entry["short"] for entry in entries}
        sections += [Section(name, name.title(), parts=parts)] if entries else []
    sections += [Section("provenance", "Provenance"), Section("cite", "Cite", heading="How to cite")]
    render(
        "paper.html.j2",
        output,
        root=root,
        breadcrumbs=[("Papers", "index.html#papers"), (paper.name, "")],
        key=key,
        paper=paper,
        **shown,
        absent=[item.title for name, item in paper.items.items() if name not in made],
        command=making(command, Path(output).as_posix()),
        provenance=provenance,
        sections=sections,
    )


def _entry(name: str, item: Item, made: Made, folder: Path) -> dict:
    """Return the template's values for an item: the item, its runs, and the comparison with the paper."""
    sources = Sources(READERS, **made.given)
    runs: list[Run] = []
    if item.remark:
        first = read_table(Path(made.given["cost_file"]), ["device"]).iloc[0].to_dict()
        summary, differences = imported(item.remark)(first)
        recipes, trained = [], "measured, no training"
    else:
        if item.shows_one_run:
            shown = [chosen.run for chosen in sources["each_shown"]]
        else:
            shown = list(chain.from_iterable(sources["experiments"]))
        runs = read_runs(dict.fromkeys(run.directory for run in shown))
        summary, differences = summarise(runs), differences_from_paper(runs, item.table)
        recipes = differences_of_recipes(runs, item.table)
        lost = sum(run.diverged for run in runs)
        trained = counted(len(runs), "run") + (f", {lost} diverged" if lost else "")
    differing = f"differs from the paper in {counted(len(differences), 'point')}"
    pages = [(run.name, run.directory / RUN_PAGE) for run in runs]
    return {
        "name": name,
        # "2a" or "spectra".
        "short": name.removeprefix("table").removeprefix("figure_").removeprefix("figure"),
        "title": item.title,
        "reports": made.reports,
        "shown": item.exhibit.on_page(sources, made.file, folder),
        "run": summary,
        "pages": [(run, relative(page, folder)) for run, page in pages if page.is_file()],
        "differences": differences,
        "recipes": recipes,
        "setting": differing if differences else "the paper's",
        "runs": trained,
        "numbers": _compared(made.models, item),
    }


def _compared(models: list[str], item: Item) -> str:
    """Return a sentence with the number of rows that have a reported number, and the range of the ratios."""
    if not models or item.table is None:
        return DASH
    models_of_item = pd.concat([read_table(Path(path), list(MODELS_COLUMNS)) for path in models])
    models_of_item = models_of_item[models_of_item["kind"] == "model"]
    of_table = models_of_item["reported_note"].fillna("").str.endswith(item.table.name)
    ratios = models_of_item.loc[of_table, "ratio_to_reported"].dropna()
    words = f"{len(ratios)} of {len(models_of_item)}"
    if len(ratios):
        least, most = times(ratios.min()), times(ratios.max())
        words += f": ours {least}" + (f" to {most}" if most != least else "") + " times the reported number"
    if other := int(models_of_item["reported_of_other_recipe"].notna().sum()):
        words += f"; {other} more reported for another recipe"
    return words
