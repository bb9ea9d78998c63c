"""From the merged YAML files to a checked configuration, or to the messages for what it may not say."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from resolvent.planning.configuration.checks import faults
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.plain_values import odd_values
from resolvent.planning.configuration.settings import Configuration

LONGEST_LINE = 800
MOST_LINES = 40


class ConfigurationError(Exception):
    """The configuration is not acceptable; one line per fault, each naming the key."""

    def __init__(self, lines: Iterable[str]):
        lines = [_shortened(line) for line in dict.fromkeys(lines)]
        more = len(lines) - MOST_LINES
        super().__init__(
            "\n".join(lines[:MOST_LINES] + ([f"... and {more} more faults"] if more > 0 else []))
        )


def load_configuration(content: dict) -> Configuration:
    """Check `content`, the merged YAML files; an overlay drops a dataset, model or experiment by `null`.

    Raises
    ------
    ConfigurationError
        With one line per fault: where, what, and what is accepted.
    """
    if found := list(odd_values(content)):
        raise ConfigurationError(found)
    try:
        content = {key: _without_dropped(value) for key, value in content.items()}
        configuration = Configuration.model_validate(content)
    except ValidationError as error:
        raise ConfigurationError(explain(Configuration, error, content)) from None
    if found := list(faults(configuration)):
        raise ConfigurationError(found)
    return configuration


def _without_dropped(value: object) -> object:
    """A mapping without its entries that an overlay has set to null."""
    if not isinstance(value, dict):
        return value
    return {name: entry for name, entry in value.items() if entry is not None}


def _shortened(line: str) -> str:
    """The line without its middle, where a long list of the user's would fill the screen."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"
