"""Tables of measurements in a Markdown page: each between markers, so that commands share a page."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import torch
from tqdm import tqdm

from resolvent.training.devices import device_name


def enclosed(section: str, body: str) -> str:
    """The body between the markers of a section: comments, which Markdown does not show."""
    begin, end = _markers(section)
    return f"{begin}\n\n{body.strip()}\n\n{end}"


def contents(page: str, section: str) -> str | None:
    """What stands between the markers of a section, without blank lines around; None where it is absent."""
    begin, end = _markers(section)
    _, found, rest = page.partition(begin)
    return rest.partition(end)[0].strip() if found else None


def replaced(page: str, section: str, body: str) -> str:
    """The page with another body between the markers of a section.

    Raises
    ------
    ValueError
        Where the page has no such markers.
    """
    begin, end = _markers(section)
    _require(page, section)
    return page.partition(begin)[0] + enclosed(section, body) + page.partition(end)[2]


def measure_parts(
    section: str, introduction: str, parts: dict[str, Callable[[], str]], only: list[str], page: Path | None
) -> None:
    """Print the bodies of the parts `only`; with a page, write each into its section there.

    The other parts of the section stay, in the order of `parts`. Raises `ValueError` as `replaced` does,
    before anything is measured.
    """
    if page:
        _require(page.read_text(), section)
    for part in tqdm(only, desc=section):
        body = parts[part]()
        tqdm.write(body)
        if page:  # after every part: one that fails loses none before it
            text = page.read_text()
            present = contents(text, section) or ""
            bodies = {name: contents(present, name) for name in parts} | {part: body}
            written = [enclosed(name, body) for name, body in bodies.items() if body]
            page.write_text(replaced(text, section, "\n\n".join([introduction.strip(), *written])))


def arguments(description: str, parts: Iterable[str], rounds: int) -> argparse.ArgumentParser:
    """What every race can be asked for: some of its parts, the number of rounds, a page."""
    parser = argparse.ArgumentParser(description=description)
    parts = list(parts)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="PART")
    parser.add_argument("--rounds", type=int, default=rounds, help="interleaved rounds of each race")
    parser.add_argument("--output", type=Path, help="write the tables into this Markdown page")
    return parser


def _require(page: str, section: str) -> None:
    begin, end = _markers(section)
    if begin not in page or end not in page:
        raise ValueError(f"the page has no section {section!r}: put {begin} and {end} where it belongs")


def _markers(section: str) -> tuple[str, str]:
    return f"<!-- {section}:begin -->", f"<!-- {section}:end -->"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def digits(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def machine() -> str:
    """Cores that this process may use, and their name."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} core{'s' * (cores > 1)} of {device_name(torch.device('cpu'))}"


def versions(packages: Iterable[str]) -> str:
    """Installed versions, comma-separated."""
    return ", ".join(f"{package} {version(package)}" for package in packages)
