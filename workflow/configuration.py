"""From the merged YAML files to a checked configuration, or to the messages for what it may not say."""

from __future__ import annotations

from pydantic import ValidationError

from workflow.faults import faults
from workflow.messages import explain
from workflow.settings import Configuration


class ConfigurationError(Exception):
    """The configuration is not acceptable; one line per fault, each naming the key."""


def load_configuration(content: dict) -> Configuration:
    """Check `content`, the merged YAML files; an overlay drops a dataset, model or experiment by `null`.

    Raises
    ------
    ConfigurationError
        With one line per fault: where, what, and what is accepted.
    """
    try:
        configuration = Configuration.model_validate({key: _without_dropped(v) for key, v in content.items()})
    except ValidationError as error:
        raise ConfigurationError("\n".join(explain(Configuration, error))) from None
    found = list(dict.fromkeys(faults(configuration)))
    if found:
        raise ConfigurationError("\n".join(found))
    return configuration


def _without_dropped(value: object) -> object:
    """A mapping without its entries that an overlay has set to null."""
    if not isinstance(value, dict):
        return value
    return {name: entry for name, entry in value.items() if entry is not None}
