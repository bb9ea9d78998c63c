"""The exception for invalid configurations."""

from __future__ import annotations

from collections.abc import Iterable

from resolvent.common.errors import ResolventError, printable

LONGEST_LINE, MOST_LINES = 800, 40


class ConfigurationError(ResolventError):
    """The configuration is invalid: `lines` has one line for each problem, starting with the key."""

    def __init__(self, lines: Iterable[str]):
        self.lines = list(dict.fromkeys(lines))
        super().__init__(self.lines)

    def __str__(self) -> str:
        more = len(self.lines) - MOST_LINES
        shown = [printable(line)[:LONGEST_LINE] for line in self.lines[:MOST_LINES]]
        return "\n".join(shown + ([f"... and {more} more problems"] if more > 0 else []))
