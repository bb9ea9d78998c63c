"""The error of a configuration that is not acceptable."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_LINE = 800
MOST_LINES = 40


class ConfigurationError(Exception):
    """The configuration is not acceptable; one line per problem, each naming the key."""

    def __init__(self, lines: Iterable[str]):
        lines = [_shortened(line) for line in dict.fromkeys(lines)]
        more = len(lines) - MOST_LINES
        super().__init__(
            "\n".join(lines[:MOST_LINES] + ([f"... and {more} more problems"] if more > 0 else []))
        )


def _shortened(line: str) -> str:
    """Return the line without its middle, where a long list of the user's would fill the screen."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"
