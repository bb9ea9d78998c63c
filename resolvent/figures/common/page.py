"""Common parts of pages: template, navigation in a study, figures, and atomic writing.

A page loads style and script from the folder `assets` of its study, and nothing from the network. Figures are
inlined as images, for print and for browsers without JavaScript; interactive charts are JSON in the page.
"""

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.figures.common.numbers import duration, ends, power, scientific
from resolvent.figures.common.results import resolution_in_words

TEMPLATES = Path(__file__).parents[1] / "templates"
RUN_PAGE, RUN_DATA = "run.html", "run.js"  # in the folder of a run
EXPONENT = re.compile(r"\b(\d+(?:\.\d+)?)e([-+]\d+)\b")


@dataclass(frozen=True)
class StudyPage:
    """A page on all results of a study, which a job writes once runs, comparisons and timings are finished.

    file    in the study's folder.
    title   in the navigation of all pages.
    write   "module:function", called with the study's folder; reads the results that exist.
    """

    file: str
    title: str
    write: str


# Read by the rules, the navigation, and the plan of the study (study.json); keys are names of rules.
STUDY_PAGES = {
    "front_page": StudyPage("index.html", "Front page", "resolvent.figures.front.page:write_front_page"),
}


def other_pages() -> dict[str, str]:
    """Return the titles of `STUDY_PAGES`, except the front page, by file."""
    return {page.file: page.title for name, page in STUDY_PAGES.items() if name != "front_page"}


def render(
    template: str, output: str | Path, *, root: str | Path, breadcrumbs: list[tuple[str, str]], **content
) -> None:
    """Fill the template and write the page atomically.

    `root` is the study's folder, with the front page and `assets`; `breadcrumbs` are titles and paths
    (relative to `root`) of the pages from the front page to this page, which has an empty path. `content` may
    have `study_pages`, the files and titles in the navigation.
    """
    place = {"root": relative(root, Path(output).parent), "study": Path(root).resolve().name}
    shown = {"study_pages": other_pages(), "breadcrumbs": breadcrumbs, **content}
    page = _environment().get_template(template).render(**place, **shown)
    write_text(Path(output), page)


@cache
def _environment() -> jinja2.Environment:
    """Return the environment of all pages: a template is compiled once for all pages of a job."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined,
        autoescape=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "duration": duration,
        "scientific": scientific,
        "words": lambda key: str(key).replace("_", " ").replace("relative l2", "relative L²"),
        "value": _value,
        "place": resolution_in_words,
        "counted": counted,
    }
    environment.tests["table"] = _is_table
    environment.globals["ends"] = ends
    return environment


def relative(path: str | Path, folder: str | Path) -> str:
    """Return the link from a page in `folder` to `path`."""
    return Path(os.path.relpath(path, folder)).as_posix()


def without_budget(card: dict) -> dict:
    """Return a dataset card without its error budget, which has its own place on the page."""
    return {key: value for key, value in card.items() if key != "error_budget"}


def _value(value: object) -> str:
    """Format a value of a card or record, with "3 × 10⁻⁷" for 3e-07 in any text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.6g}" if isinstance(value, float) else "—" if value is None else str(value)

    def raised(found: re.Match) -> str:
        return f"{found[1]} × {power(10.0 ** int(found[2]))}" if float(found[1]) else "0"

    return EXPONENT.sub(raised, text)


def _is_table(value: object) -> bool:
    """Return whether a mapping is a table: all values are mappings with the same keys to plain values."""
    rows = list(value.values()) if isinstance(value, dict) else []
    return (
        len(rows) > 1
        and all(isinstance(row, dict) and list(row) == list(rows[0]) for row in rows)
        and not any(isinstance(entry, dict | list) for row in rows for entry in row.values())
    )
