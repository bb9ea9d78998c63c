"""What the pages have in common: templates, inlined figures, and writing all at once.

A page loads nothing: figures are inlined as data, style and script are part of it. It can be mailed, archived
and printed.
"""

import base64
from pathlib import Path

import jinja2

from resolvent.common.files import write_text
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import duration, milli
from resolvent.figures.common.results import present

TEMPLATES = Path(__file__).parents[1] / "templates"
MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def render(template: str, output: str | Path, **content) -> None:
    """Fill the template and write the page, atomically."""
    page = _environment().get_template(template).render(**content)
    write_text(Path(output), page)


def inlined_figure(path: str | Path, title: str, caption: str) -> dict[str, str]:
    """A figure as a template takes it: its title, its caption, and its file as data."""
    path = present(Path(path))
    if path.suffix not in MEDIA_TYPES:
        raise ResultError(f"{path} is no {' or '.join(MEDIA_TYPES)} file: give the page one of these")
    data = base64.b64encode(path.read_bytes()).decode()
    return {"title": title, "caption": caption, "source": f"data:{MEDIA_TYPES[path.suffix]};base64,{data}"}


def split_card(card: dict, file: str) -> dict:
    """A dataset card with its error budget taken to the front."""
    rest = {key: value for key, value in card.items() if key != "error_budget"}
    return {"name": card.get("dataset", file), "error_budget": card.get("error_budget"), "rest": rest}


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"milli": milli, "duration": duration, "words": _words, "value": _value}
    return environment


def _words(key: str) -> str:
    return str(key).replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "—" if value is None else str(value)
