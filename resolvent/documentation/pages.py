"""Parts of pages of docs/ that a command writes: whole files, and tables between two comments of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Part:
    """A part of a page.

    page     the file, from the root of the project.
    content  gives its text; None: what it is made from is not here, and the page is left as it is.
    name     between the comments `name:begin` and `name:end`; "": the whole file.
    command  makes what it is made from.
    """

    page: str
    content: Callable[[], str | None]
    name: str = ""
    command: str = ""

    def write(self, root: Path = ROOT) -> None:
        """Write it, or print which command it needs first.

        Raises
        ------
        ValueError
            When the page has no such comments.
        """
        text, file = self.content(), root / self.page
        if text is None:
            place = f"{self.page}, {self.name}," if self.name else self.page
            print(f"{place} is left as it is: make what it is made from with `{self.command}`")
            return
        if self.name:
            begin, end = f"<!-- {self.name}:begin -->", f"<!-- {self.name}:end -->"
            before, found, rest = file.read_text(encoding="utf-8").partition(begin)
            _, closed, after = rest.partition(end)
            if not (found and closed):
                raise ValueError(f"{self.page}: put {begin} and {end} where the part belongs")
            text = f"{before}{begin}\n{text}\n{end}{after}"
        file.write_text(text, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """Return a table in Markdown. A cell may have a bar, such as in |k|, which does not end it."""
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([first, f"|{rule}" * len(head) + "|", *others])


def paragraph(words: str) -> str:
    """Return a paragraph in lines of at most 118 characters."""
    return fill(words, 118, break_long_words=False, break_on_hyphens=False)
