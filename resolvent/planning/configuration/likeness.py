"""Entries that are `like` another one: they take from it all that they do not say themselves.

A model without a label is there for others to be like it, and is no model itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from resolvent.common.outside import unknown
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.messages import shown
from resolvent.planning.configuration.read import merged

SECTIONS = {"datasets": "dataset", "models": "model", "experiments": "experiment"}


def without_like(content: Mapping) -> dict:
    """Return `content` with the entry that a `like` names in its place, changed by the entry's own keys.

    Raises
    ------
    ConfigurationError
        Where a `like` names no entry of its section, or leads back to where it started.
    """
    result, problems = dict(content), []
    for section in SECTIONS:
        if not isinstance(entries := content.get(section), Mapping):
            continue
        result[section] = {}
        for name in entries:
            try:
                result[section][name] = _resolved(section, entries, name, ())
            except ConfigurationError as error:
                problems.append(str(error))
    if problems:
        raise ConfigurationError(problems)
    for (section, _), base in likes(content).items():
        if section == "models" and "label" not in (result[section].get(base) or {"label": ""}):
            del result[section][base]
    return result


def likes(content: Mapping) -> dict[tuple[str, str], str]:
    """Return the name in each `like`, by section and name of the entry that has it."""
    return {
        (section, name): entry["like"]
        for section in SECTIONS
        if isinstance(entries := content.get(section), Mapping)
        for name, entry in entries.items()
        if isinstance(entry, Mapping) and isinstance(entry.get("like"), str)
    }


def said_once(lines: Iterable[str], content: Mapping, resolved: Mapping) -> list[str]:
    """Return the problems without those that an entry has only because it is like another one that has them.

    `resolved` is `content` without `like`. Where the other one is not a model, and so not checked, it is
    named in place of those like it.
    """
    lines, bases, result = list(dict.fromkeys(lines)), likes(content), []
    for line in lines:
        for (section, name), base in bases.items():
            if not line.startswith((f"{section}.{name}.", f"{section}.{name}:")):
                continue
            rest = line.removeprefix(f"{section}.{name}")
            siblings = (n for (s, n), b in bases.items() if (s, b) == (section, base))
            repeated = sum(f"{section}.{one}{rest}" in lines for one in siblings) > 1
            if f"{section}.{base}{rest}" in lines or (repeated and base not in resolved[section]):
                line = f"{section}.{base}{rest}"
        result.append(line)
    result = list(dict.fromkeys(result))
    return result if result == lines else said_once(result, content, resolved)


def _resolved(section: str, entries: Mapping, name: object, above: tuple) -> object:
    entry = entries[name]
    if not isinstance(entry, Mapping) or "like" not in entry:
        return entry
    at, base = f"{section}.{name}.like", entry["like"]
    if not isinstance(base, str):
        raise ConfigurationError(
            [f"{at}: the name of another {SECTIONS[section]} belongs here, got {shown(base)}"]
        )
    if base not in entries:
        raise ConfigurationError([f"{at}: {unknown(SECTIONS[section], base, list(map(str, entries)))}"])
    if base in (*above, name):
        circle = " is like ".join(map(str, (*above, name, base)))
        raise ConfigurationError([f"{at}: leads back to where it started: {circle}"])
    own = {key: value for key, value in entry.items() if key != "like"}
    below = _resolved(section, entries, base, (*above, name))
    if not isinstance(below, Mapping):
        raise ConfigurationError([f"{section}.{base}: a mapping of keys belongs here, got {shown(below)}"])
    return merged(below, own)


def placed(error: ConfigurationError, content: Mapping) -> ConfigurationError:
    """Return the error with file and line before each problem: where the key was set last.

    `content` is what the reader returned (`resolvent.planning.configuration.read`). A line on an entry as
    a whole, "num_modes 99 is above ...", has the place of the key in it that the first two words name.
    """
    places = {".".join(map(str, keys)): place for keys, place in getattr(content, "places", {}).items()}
    for (section, name), base in _bases_first(likes(content)):
        start, own = f"{section}.{base}.", f"{section}.{name}."
        inherited = {own + at.removeprefix(start): one for at, one in places.items() if at.startswith(start)}
        places = inherited | places
    return ConfigurationError(_placed(line, places) for line in error.lines)


def _placed(line: str, places: Mapping[str, str]) -> str:
    at = max((one for one in places if line.startswith((f"{one}:", f"{one}."))), key=len, default=None)
    if at is None:
        return line
    words = re.findall(r"\w+", line[len(at) :])[:2]
    below = [one for one in places if one.startswith(f"{at}.") and one.rpartition(".")[2] in words]
    if line.startswith(f"{at}:") and below:
        at = min(below, key=lambda one: (words.index(one.rpartition(".")[2]), one.count(".")))
    return f"{places[at]}: {line}"


def _bases_first(bases: Mapping[tuple[str, str], str]) -> list[tuple[tuple[str, str], str]]:
    """Return each entry and what it is like, after what that one is like itself."""

    def depth(entry: tuple, seen: tuple = ()) -> int:
        base = (entry[0], bases.get(entry))
        return 0 if entry not in bases or entry in seen else 1 + depth(base, (*seen, entry))

    return sorted(bases.items(), key=lambda one: depth(one[0]))
