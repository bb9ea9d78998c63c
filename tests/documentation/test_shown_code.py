"""Pages are not older than the code that they show: its commands, options and files are there."""

import re
from itertools import pairwise

import typer
from page_parts import ROOT

from resolvent.__main__ import app

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)|^(?: {4}|\$ )?((?:resolvent|python -m|snakemake) .*)$", re.MULTILINE)
COMMAND = re.compile(r"(?:resolvent|python -m ((?:resolvent|benchmarks)[\w.]*)) ([^#|>&;]+)")
PLACE = re.compile(
    r"\b(?:benchmarks|docs/scripts|config|containers|profiles|resolvent|tests|workflow)/[\w./]*\w"
)


def missing(shown: str) -> set[str]:
    """Return what a piece of code names that is not there."""
    found = {place for place in PLACE.findall(shown) if not (ROOT / place).exists()}
    if not (command := COMMAND.match(shown)):
        return found
    module, words = command[1], command[2].split()
    options = {word for word in words if re.match("--?[a-z]", word)}
    if not module:
        every = typer.main.get_command(app)
        asked = every if words[0] in options else every.commands.get(words[0])
        if asked is None:
            return found | {words[0]}
        known = {option for one in asked.params for option in one.opts}
        return found | (set() if "ignore_unknown_options" in asked.context_settings else options - known)
    place = ROOT / module.replace(".", "/")
    files = [*place.parent.glob(f"{place.name}.py"), *place.glob("*.py")]
    text = "".join(one.read_text() for one in [*files, ROOT / "benchmarks/runner.py"])
    parts = {f'"{part}"' for only, part in pairwise(words) if only == "--only"}
    names = {one: re.compile(rf"\b{one.strip('-').replace('-', '[-_]')}\b") for one in options}
    unknown = {one for one, name in names.items() if not name.search(text)}
    return found | unknown | {part for part in parts if part not in text} if files else found | {module}


def test_pages_show_what_is_there():
    shown = {
        (page.name, " ".join("".join(one).split()))
        for page in PAGES
        for one in CODE.findall(page.read_text())
    }
    assert sum(bool(COMMAND.match(code)) for _, code in shown) > 50
    assert {(*one, *missing(one[1])) for one in shown if missing(one[1])} == set()
    old = {
        "resolvent leaderboard given": "leaderboard",
        "resolvent check mine.yaml --fast": "--fast",
        "python -m benchmarks.speed --only all": "benchmarks.speed",
        "python -m benchmarks.solvers --only heat": '"heat"',
        "python -m benchmarks.solvers --quickly": "--quickly",
        "snakemake --configfile config/nothing.yaml": "config/nothing.yaml",
    }
    assert {code: missing(code) for code in old} == {code: {name} for code, name in old.items()}
