"""Exhibits of pages: figures, tables and films with their captions and sources, in sections.

An exhibit is defined in the module that draws it, and listed only in a section of its page.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from resolvent.common.digests import check_digest, check_present
from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.film import Film, write_film
from resolvent.figures.common.page import RUN_DATA, relative
from resolvent.figures.common.style import FORMATS, save
from resolvent.figures.common.table import Table, write_table

SUFFIXES = {"figure": tuple(FORMATS), "table": (".html", ".csv", ".tex"), "film": (".mp4", ".png")}
VIEWERS = ("samples", "spread")  # drawn by samples.js from the data files of runs


@dataclass(frozen=True)
class Exhibit:
    """A figure, a table, a film, or an interactive view of runs.

    title    heading on the page.
    caption  text below; {braces} are filled from the facts of the page: {model}, {test}, {epochs}, …
    draw     function that returns a matplotlib Figure, a `Table` or a `Film`. Its parameters are names of
             sources, such as `runs`, `comparison` or `baselines` for an experiment (docs/extending.md).
    chart    function that returns the same data as an interactive plotly figure, or None.
    kind     "figure", "table" or "film"; determines the files. "samples", "spread": the page draws samples of
             the runs in the source `viewed`, or their errors by point.
    only_if  name of a source: if it is empty or false, the page does not have the exhibit.
    still    figure in such a view, for print; the page shows it alone if there is no run to view.
    """

    title: str
    caption: str
    draw: Callable[..., Any] | None = None
    chart: Callable[..., Any] | None = None
    kind: str = "figure"
    only_if: str = ""
    still: Exhibit | None = None

    @property
    def needs(self) -> set[str]:
        drawn = (function for function in (self.draw, self.chart) if function)
        return {name for function in drawn for name in inspect.signature(function).parameters}

    def files(self, stem: str) -> list[str]:
        """Return the names of its files; the page shows the first."""
        drawn = self.still or self
        return [stem + suffix for suffix in SUFFIXES[drawn.kind]] if drawn.draw else []

    def write(self, sources: Sources, output: str | Path) -> None:
        """Draw the exhibit, and write `output` and its other files."""
        draw = (self.still or self).draw
        if draw is None:
            return
        drawn, output = sources.call(draw), Path(output)
        if isinstance(drawn, Film):
            write_film(output, drawn)
        elif isinstance(drawn, Table):
            write_table(drawn, map(output.with_suffix, SUFFIXES["table"]))
        else:
            save(drawn, output)

    def on_page(self, sources: Sources, path: str | Path, folder: Path, linked: bool = False) -> dict | None:
        """Return the values for the template of a page in `folder` that shows the file `path`.

        `linked` figures are links to their files, others are part of the page. Returns None if there is
        nothing to show: no data for a chart, or no run to view.
        """
        caption = self.caption.format(**sources["facts"]) if "{" in self.caption else self.caption
        shown: dict[str, Any] = {"kind": self.kind, "title": self.title, "caption": caption}
        path, shown["name"] = Path(path), Path(path).stem
        if self.kind == "table":
            return shown | {"table": check_digest(path).read_text(encoding="utf-8")}
        if self.kind in VIEWERS:
            still = self.still.on_page(sources, path, folder, linked) if self.still else None
            runs = [(relative(run.directory / RUN_DATA, folder), run.name) for run in sources["viewed"]]
            return shown | {"runs": runs, "still": still} if runs else still
        if self.kind == "film":
            from matplotlib.image import imread

            poster = check_present(check_present(path).with_suffix(".png"))
            height, width = imread(poster).shape[:2]
            shown |= {"source": relative(path, folder), "poster": relative(poster, folder)}
            return shown | {"width": width, "height": height}
        chart = self.chart and sources.call(self.chart)
        shown |= {"interactive": chart and plotly_chart(chart), "source": "", "files": []}
        if self.draw is None:
            return shown if chart else None
        data = base64.b64encode(check_present(path).read_bytes()).decode()
        files = [path.with_suffix(suffix) for suffix in (".svg", ".pdf", ".png", ".csv")]
        return shown | {
            "source": relative(path, folder) if linked else f"data:image/svg+xml;base64,{data}",
            "files": [(file.suffix[1:].upper(), relative(file, folder)) for file in files if file.exists()],
        }


@dataclass(frozen=True)
class Section:
    """A section of a page: exhibits, with the texts that the page's template has around them.

    name       anchor, and the template's block above the exhibits; `<name>_below` is the block below them.
    title      title in the page's menu.
    exhibits   by the name of their files, in the order of the page; once drawn, values for the template.
    heading    default: the title; with fields, as in captions.
    parts      titles of its parts in the menu, by anchor.
    otherwise  HTML in place of exhibits that have nothing to show.
    only_if    as of an exhibit.
    """

    name: str
    title: str
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    heading: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""
    only_if: str = ""


def draw_sections(
    sections: Iterable[Section], sources: Sources, page: Path, figures: str = "figures", linked: bool = False
) -> list[Section]:
    """Draw the exhibits into the folder `figures` next to the page, and return its sections for the template.

    `linked` is as in `Exhibit.on_page`.
    """
    shown = []
    for section in sections:
        if section.only_if and not sources[section.only_if]:
            continue
        exhibits = {}
        for name, exhibit in section.exhibits.items():
            if not exhibit.only_if or sources[exhibit.only_if]:
                path = page.parent / figures / [*exhibit.files(name), name][0]
                exhibit.write(sources, path)
                exhibits[name] = exhibit.on_page(sources, path, page.parent, linked)
        exhibits = {name: values for name, values in exhibits.items() if values}
        shown.append(replace(section, exhibits=exhibits, heading=section.heading.format(**sources["facts"])))
    return shown


class Sources:
    """Sources of a page's exhibits by name, read on first use.

    given    given values: paths, texts, numbers.
    readers  functions that compute other sources; their parameters are names of sources.
    """

    def __init__(self, readers: Mapping[str, Callable[..., Any]], **given: Any):
        self.readers, self.found = readers, given

    def __getitem__(self, name: str) -> Any:
        if name not in self.found:
            if name not in self.readers:
                known = ", ".join(sorted({*self.readers, *self.found}))
                raise ResultError(
                    f"a figure on this page has no source '{name}'; accepted parameters: {known}"
                )
            self.found[name] = self.call(self.readers[name])
        return self.found[name]

    def call(self, function: Callable[..., Any]) -> Any:
        return function(**{name: self[name] for name in inspect.signature(function).parameters})
