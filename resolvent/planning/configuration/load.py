"""Turn the merged YAML files into a checked configuration of what is built, or a line for each problem."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from pydantic import ValidationError

from resolvent.planning.configuration.build import build_problems, entries_not_built
from resolvent.planning.configuration.checks import problems
from resolvent.planning.configuration.contents import with_contents
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import SECTIONS, said_once, without_like
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.old_spellings import old_spellings
from resolvent.planning.configuration.plain_values import odd_key, odd_values
from resolvent.planning.configuration.recipes import recipe_problems, with_recipes
from resolvent.planning.configuration.settings import Configuration

EMPTY = {"name": "unnamed", "datasets": {}, "models": {}, "experiments": {}}  # what there must be


def load_configuration(content: Mapping) -> Configuration:
    """Check `content`, the merged YAML files; return what its `build` asks for.

    Problems are reported all at once: an entry that has one is left out while the others are checked.

    Raises
    ------
    ConfigurationError
        With one line per problem: where, what, and what is accepted.
    """
    found: list[str] = list(getattr(content, "problems", ()))  # of the reader
    sound: Mapping = content
    for check in (odd_values, old_spellings):
        found += check(sound)
        sound = _without_those_of(found, sound)
    while True:
        try:
            resolved = without_like(sound)
            break
        except ConfigurationError as error:
            found += error.lines
            sound = _without_those_of(error.lines, sound)
    unbuilt = set(entries_not_built(resolved))
    wrong = list(explain(Configuration, _errors(resolved, unbuilt), resolved))
    sound = {**EMPTY, **_without_those_of(wrong, _without(resolved, unbuilt))}
    configuration = Configuration.model_validate(sound)
    # Without `build`, recipes or a whole section it is not known what else to check.
    whole = any(line.startswith(tuple(f"{section}:" for section in SECTIONS)) for line in [*found, *wrong])
    if not whole and not _name_one_of([*found, *wrong], ("build", "recipes")):
        if of_recipes := list(recipe_problems(configuration)):
            wrong += of_recipes
            configuration = Configuration.model_validate(_without_those_of(of_recipes, sound))
        if not _name_one_of(wrong, ["recipes"]):
            configuration = with_recipes(configuration)
            wrong += problems(configuration, _names(content, "datasets"))
    known = [*found, *wrong]
    found += build_problems(content)
    found += said_once(wrong, content, resolved)
    if found := [line for line in found if not _says_unknown(line, content, known)]:
        try:
            with_contents(configuration)
        except ConfigurationError as error:
            found += error.lines
        raise ConfigurationError(found)
    return configuration


def _errors(resolved: Mapping, unbuilt: Container[tuple]) -> list[dict]:
    """Return what pydantic finds; sizes of what is not built need not fit each other."""
    try:
        Configuration.model_validate(resolved)
    except ValidationError as error:
        return [
            one for one in error.errors() if one["type"] != "value_error" or one["loc"][:2] not in unbuilt
        ]
    return []


def _name_one_of(lines: Iterable[str], places: Iterable[str]) -> bool:
    return any(line.startswith((f"{place}:", f"{place}.")) for line in lines for place in places)


def _without_those_of(lines: list[str], content: Mapping) -> dict:
    """Return `content` without the entries, and keys at its top, that the lines name."""
    result = {}
    for key, value in content.items():
        if key in (*SECTIONS, "recipes") and isinstance(value, Mapping):
            result[key] = {
                name: one
                for name, one in value.items()
                if not odd_key(name) and not _name_one_of(lines, [f"{key}.{name}"])
            }
        elif not odd_key(key) and not _name_one_of(lines, [key]):
            result[key] = value
        elif key in EMPTY:
            result[key] = EMPTY[key]
    return result


def _says_unknown(line: str, content: Mapping, known: list[str]) -> bool:
    """Say whether a line calls an entry unknown that was left out for a problem that is known."""
    return any(
        f"unknown {kind} {name!r};" in line and _name_one_of(known, [f"{section}.{name}"])
        for section, kind in SECTIONS.items()
        for name in _names(content, section)
    )


def _names(content: Mapping, section: str) -> list[str]:
    entries = content.get(section)
    return [str(name) for name in entries] if isinstance(entries, Mapping) else []


def _without(content: Mapping, entries: Container[tuple[str, str]]) -> dict:
    """Return `content` without these entries of its sections."""
    return {
        section: {name: one for name, one in value.items() if (section, name) not in entries}
        if isinstance(value, Mapping)
        else value
        for section, value in content.items()
    }
