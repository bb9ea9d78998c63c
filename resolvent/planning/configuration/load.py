"""Turn the merged YAML files into a checked configuration of what is built, or a line for each problem."""

from __future__ import annotations

from collections.abc import Container, Mapping

from pydantic import ValidationError

from resolvent.planning.configuration.build import build_problems, entries_not_built
from resolvent.planning.configuration.checks import problems
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import said_once, without_like
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.old_spellings import old_spellings
from resolvent.planning.configuration.plain_values import odd_values
from resolvent.planning.configuration.recipes import recipe_problems, with_recipes
from resolvent.planning.configuration.settings import Configuration


def load_configuration(content: dict) -> Configuration:
    """Check `content`, the merged YAML files; return what its `build` asks for.

    Raises
    ------
    ConfigurationError
        With one line per problem: where, what, and what is accepted.
    """
    for check in (odd_values, old_spellings):
        if found := list(check(content)):
            raise ConfigurationError(found)
    resolved = without_like(content)
    if found := list(build_problems(resolved)):
        raise ConfigurationError(found)
    unbuilt = set(entries_not_built(resolved))
    try:
        Configuration.model_validate(resolved)
    except ValidationError as error:
        # Sizes of what is not built need not fit each other.
        found = [
            one for one in error.errors() if one["type"] != "value_error" or one["loc"][:2] not in unbuilt
        ]
        if found:
            raise ConfigurationError(
                said_once(explain(Configuration, found, resolved), content, resolved)
            ) from None
    configuration = Configuration.model_validate(_without(resolved, unbuilt))
    if found := list(recipe_problems(configuration)):
        raise ConfigurationError(said_once(found, content, resolved))
    configuration = with_recipes(configuration)
    if found := list(problems(configuration)):
        raise ConfigurationError(said_once(found, content, resolved))
    return configuration


def _without(content: Mapping, entries: Container[tuple[str, str]]) -> dict:
    """Return `content` without these entries of its sections."""
    return {
        section: {name: one for name, one in value.items() if (section, name) not in entries}
        if isinstance(value, Mapping)
        else value
        for section, value in content.items()
    }
