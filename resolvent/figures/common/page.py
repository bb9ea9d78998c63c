"""What the pages have in common: the template, the place in a study, figures, and writing all at once.

A page loads its style and script from the folder `assets` of its study and nothing from a network. Figures
are inlined as images, for print and without script; a chart that script draws lies in the page as JSON.
"""

import base64
import os
import re
from pathlib import Path

import jinja2

from resolvent.common.counts import counted
from resolvent.common.digests import check_present
from resolvent.common.files import write_text
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import duration, ends, milli, power, scientific, short_duration
from resolvent.figures.common.results import resolution_in_words

TEMPLATES = Path(__file__).parents[1] / "templates"
MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
RUN_PAGE = "run.html"  # in the folder of a run
EXPONENT = re.compile(r"\b(\d+(?:\.\d+)?)e([-+]\d+)\b")
FILES = (".svg", ".pdf", ".png", ".csv")  # offered beside a figure, where they are


def render(
    template: str,
    output: str | Path,
    *,
    root: str | Path,
    breadcrumbs: list[tuple[str, str]],
    **content,
) -> None:
    """Fill the template and write the page, atomically.

    `root` is the folder of the study, with the front page and `assets`; `breadcrumbs` are title and path,
    from `root`, of the pages between the front page and this one, then this one's title and an empty path.
    The front page itself has none.
    """
    folder = Path(output).parent
    page = (
        _environment()
        .get_template(template)
        .render(
            root=relative(root, folder), study=Path(root).resolve().name, breadcrumbs=breadcrumbs, **content
        )
    )
    write_text(Path(output), page)


def relative(path: str | Path, folder: str | Path) -> str:
    """Return the link from a page in `folder` to `path`."""
    return Path(os.path.relpath(path, folder)).as_posix()


def inlined_figure(
    path: str | Path,
    title: str,
    caption: str,
    *,
    folder: str | Path | None = None,
    interactive: dict | None = None,
) -> dict:
    """Return a figure as the macro `chart` takes it.

    `path` is an SVG or PNG file, put into the page. `folder` is that of the page, to link the file and others
    of its name. `interactive` is a chart of plotly as `plotly_chart` returns it.
    """
    path = check_present(path)
    if path.suffix not in MEDIA_TYPES:
        raise ResultError(f"{path} is no {' or '.join(MEDIA_TYPES)} file: give the page one of these")
    data = base64.b64encode(path.read_bytes()).decode()
    beside = [path.with_suffix(suffix) for suffix in FILES] if folder is not None else []
    return {
        "name": path.stem,
        "title": title,
        "caption": caption,
        "source": f"data:{MEDIA_TYPES[path.suffix]};base64,{data}",
        "files": [(file.suffix[1:].upper(), relative(file, folder)) for file in beside if file.exists()],
        "interactive": interactive,
    }


def without_budget(card: dict) -> dict:
    """Return a dataset card without its error budget, which a page shows elsewhere."""
    return {key: value for key, value in card.items() if key != "error_budget"}


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "milli": milli,
        "duration": duration,
        "short_duration": short_duration,
        "scientific": scientific,
        "words": _words,
        "value": _value,
        "place": resolution_in_words,
        "counted": counted,
    }
    environment.tests["table"] = _is_table
    environment.globals["ends"] = ends
    return environment


def _words(key: str) -> str:
    return str(key).replace("_", " ").replace("relative l2", "relative L²")


def _value(value: object) -> str:
    """Return a value of a card or a record as a person writes it, with "3 × 10⁻⁷" for 3e-07 in any text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.6g}" if isinstance(value, float) else "—" if value is None else str(value)
    return EXPONENT.sub(_raised, text)


def _raised(found: re.Match) -> str:
    """Return a number like 3.0e-07 with a raised exponent; 0.0e+00 is 0."""
    return f"{found[1]} × {power(10.0 ** int(found[2]))}" if float(found[1]) else "0"


def _is_table(value: object) -> bool:
    """Say whether a mapping is of mappings to plain values, all with the same keys: rows of a table."""
    rows = list(value.values()) if isinstance(value, dict) else []
    return (
        len(rows) > 1
        and all(isinstance(row, dict) and list(row) == list(rows[0]) for row in rows)
        and not any(isinstance(one, dict | list) for row in rows for one in row.values())
    )
