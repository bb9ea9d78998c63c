"""The error of a configuration that is not acceptable."""

from __future__ import annotations

from collections.abc import Iterable

from resolvent.common.errors import ResolventError, Words, printable

LONGEST_LINE = 800
MOST_LINES = 40


class ConfigurationError(ResolventError):
    """The configuration is not acceptable; one line per problem, each naming the key.

    `lines` has all of them, of which the message has the first 40.
    """

    def __init__(self, lines: Iterable[str]):
        self.lines = list(dict.fromkeys(lines))
        super().__init__(self.lines)

    def __str__(self) -> Words:
        more = len(self.lines) - MOST_LINES
        half = LONGEST_LINE // 2  # the middle of a longer line is a list of the user's
        shown = [
            line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"
            for line in map(printable, self.lines[:MOST_LINES])
        ]
        return "\n".join(shown + ([f"... and {more} more problems"] if more > 0 else []))
