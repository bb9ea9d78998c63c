"""Write generated parts of pages in docs/, between two comments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


def write_part(page: str, text: str | None, name: str, command: str = "", root: Path = ROOT) -> None:
    """Write `text` between the comments `name:begin` and `name:end` of a page.

    If `text` is None, its sources are missing: the page is not changed, and `command`, which makes the
    sources, is printed. Raises `ValueError` if the page lacks the comments.
    """
    file, begin, end = root / page, f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text is None:
        print(f"{page}: part '{name}' is unchanged; make its sources with `{command}`")
        return
    before, found, rest = file.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page} lacks the comments {begin} and {end}: add them where the part belongs")
    file.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table. Vertical bars in cells, as in |k|, are escaped."""
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([first, "|---" * len(head) + "|", *others])


def paragraph(words: str) -> str:
    return fill(words, 118, break_long_words=False, break_on_hyphens=False)


def folded(title: str, text: str) -> str:
    """Return Markdown that shows `text` only when a reader opens it."""
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def planned(*overlays: str, root: Path = ROOT) -> Plan:
    """Return the plan of the default configuration with overlays, which are named from `root`."""
    return Plan(load_configuration(read_configuration([root / overlay for overlay in overlays])))
