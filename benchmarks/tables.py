"""Tables of measurements in a Markdown page: each between markers, so that commands share a page."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.metadata import version

import torch

from training.devices import device_name


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
    if begin not in page or end not in page:
        raise ValueError(f"the page has no section {section!r}: put {begin} and {end} where it belongs")
    return page.partition(begin)[0] + enclosed(section, body) + page.partition(end)[2]


def replaced_part(page: str, section: str, introduction: str, parts: list[str], part: str, body: str) -> str:
    """The page with another body of one part of a section, whose other parts stay, in the order of `parts`.

    Raises `ValueError` as `replaced` does.
    """
    present = contents(page, section) or ""
    bodies = {name: contents(present, name) for name in parts} | {part: body}
    written = [enclosed(name, text) for name, text in bodies.items() if text]
    return replaced(page, section, "\n\n".join([introduction.strip(), *written]))


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
