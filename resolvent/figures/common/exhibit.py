"""Exhibits of pages: figures, tables and films with their captions and sources.

An exhibit is defined in the module that draws it, and listed only by its page.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolvent.common.digests import check_digest, check_present
from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.film import Film, write_film
from resolvent.figures.common.page import relative
from resolvent.figures.common.style import FORMATS, save
from resolvent.figures.common.table import Table, write_table

SUFFIXES = {"figure": tuple(FORMATS), "table": (".html", ".csv", ".tex"), "film": (".mp4", ".png")}


@dataclass(frozen=True)
class Exhibit:
    """A figure, a table or a film.

    title    heading on the page.
    caption  text below; {braces} are filled from the facts of the page: {model}, {test}, {epochs}, …
    draw     function that returns a matplotlib Figure, a `Table` or a `Film`. Its parameters are names of
             sources, such as `runs`, `comparison` or `baselines` for an experiment (docs/extending.md).
    chart    function that returns the same data as an interactive plotly figure, or None.
    kind     "figure", "table" or "film"; determines the files.
    """

    title: str
    caption: str
    draw: Callable[..., Any]
    chart: Callable[..., Any] | None = None
    kind: str = "figure"

    @property
    def needs(self) -> set[str]:
        drawn = (one for one in (self.draw, self.chart) if one)
        return {name for one in drawn for name in inspect.signature(one).parameters}

    def files(self, stem: str) -> list[str]:
        """Return the names of its files; the page shows the first."""
        return [stem + suffix for suffix in SUFFIXES[self.kind]]

    def write(self, sources: Sources, output: str | Path) -> None:
        """Draw the exhibit, and write `output` and its other files."""
        drawn, output = sources.call(self.draw), Path(output)
        if isinstance(drawn, Film):
            write_film(output, drawn)
        elif isinstance(drawn, Table):
            write_table(drawn, map(output.with_suffix, SUFFIXES["table"]))
        else:
            save(drawn, output)

    def shown(self, sources: Sources, path: str | Path, folder: str | Path) -> dict:
        """Write the exhibit, and return its values for the template of a page in `folder`."""
        self.write(sources, path)
        return self.on_page(sources, path, folder)

    def on_page(self, sources: Sources, path: str | Path, folder: str | Path) -> dict:
        """Return the values for the template of a page in `folder` that shows the file `path`."""
        caption = self.caption.format(**sources["facts"]) if "{" in self.caption else self.caption
        shown: dict[str, Any] = {"title": self.title, "caption": caption}
        if self.kind == "table":
            return shown | {"table": check_digest(path).read_text(encoding="utf-8")}
        path = check_present(path)
        shown["name"] = path.stem
        if self.kind == "film":
            from matplotlib.image import imread

            poster = check_present(path.with_suffix(".png"))
            height, width = imread(poster).shape[:2]
            shown |= {"source": relative(path, folder), "poster": relative(poster, folder)}
            return shown | {"width": width, "height": height}
        chart = self.chart and sources.call(self.chart)
        data = base64.b64encode(path.read_bytes()).decode()
        files = [path.with_suffix(suffix) for suffix in (".svg", ".pdf", ".png", ".csv")]
        return shown | {
            "source": f"data:image/svg+xml;base64,{data}",
            "files": [(file.suffix[1:].upper(), relative(file, folder)) for file in files if file.exists()],
            "interactive": chart and plotly_chart(chart),
        }


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
