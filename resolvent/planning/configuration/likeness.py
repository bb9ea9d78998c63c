"""Resolve the key `like`: entries with a `like:` inherit every setting they do not override but the sweep.

A model without a label only serves as a base for others, and is not a model itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from resolvent.common.outside import unknown
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.messages import shown
from resolvent.planning.configuration.read import merged

SECTIONS = {"datasets": "dataset", "models": "model", "experiments": "experiment"}
ENTRY = re.compile(r"(\w+)\.(\w+)")  # section and entry at the beginning of a message
OTHER = re.compile(r"(?<=\()\w+\.\w+\.\w+(?=\))")  # another key that a message names, in parentheses


def without_like(content: Mapping) -> dict:
    """Return `content` with each `like` replaced by the keys of its base; the entry's own keys win."""
    result = dict(content)
    for section in SECTIONS:
        if isinstance(entries := content.get(section), Mapping):
            result[section] = {name: _resolved(section, entries, name, ()) for name in entries}
    for (section, _), base in likes(content).items():
        if section == "models" and "label" not in (result[section].get(base) or {"label": ""}):
            del result[section][base]
    return result


def likes(content: Mapping) -> dict[tuple[str, str], str]:
    return {
        (section, name): entry["like"]
        for section in SECTIONS
        if isinstance(entries := content.get(section), Mapping)
        for name, entry in entries.items()
        if isinstance(entry, Mapping) and isinstance(entry.get("like"), str)
    }


def said_once(lines: Iterable[str], origins: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the problems without those that a key has from another, which are reported there.

    `origins` maps a key to the other key, and to the key at which its own problems are reported.
    """
    lines, kept = list(lines), []
    for line in lines:
        key = next((key for key in origins if line.startswith((f"{key}:", f"{key}."))), "")
        base, reported_at = origins.get(key, ("", ""))
        if not key or f"{base}{line[len(key) :]}" not in lines:
            kept.append(f"{reported_at}{line[len(key) :]}")
    return kept


def _resolved(section: str, entries: Mapping, name: object, above: tuple) -> object:
    entry = entries[name]
    if not isinstance(entry, Mapping) or "like" not in entry:
        return entry
    at, base = f"{section}.{name}.like", entry["like"]
    if not isinstance(base, str) or base not in entries:
        raise ConfigurationError([f"{at}: {unknown(SECTIONS[section], shown(base), map(str, entries))}"])
    if base in (*above, name):
        circle = " is like ".join(map(str, (*above, name, base)))
        raise ConfigurationError([f"{at}: circular: {circle}; remove one `like`"])
    below = _resolved(section, entries, base, (*above, name))
    if not isinstance(below, Mapping):
        raise ConfigurationError([f"{section}.{base}: expected a mapping of keys, got {shown(below)}"])
    inherited = {key: value for key, value in below.items() if key != "sweep"}
    return merged(inherited, {key: value for key, value in entry.items() if key != "like"})


def placed(error: ConfigurationError, content: Mapping) -> ConfigurationError:
    """Return the error with file and line where each key was last set: of the problem, and of other keys."""
    places = {".".join(map(str, keys)): place for keys, place in getattr(content, "places", {}).items()}
    bases = likes(content)

    def with_place(other: re.Match) -> str:
        key = _set_at(f"{other[0]}:", places, bases)
        return f"{other[0]}, {places[key]}" if key else other[0]

    lines = [(_set_at(line, places, bases), OTHER.sub(with_place, line)) for line in error.lines]
    return ConfigurationError(f"{places[key]}: {line}" if key else line for key, line in lines)


def _set_at(line: str, places: Mapping[str, str], bases: dict[tuple[str, str], str]) -> str:
    """Return the longest known key that the line begins with, in its entry or inherited from its base."""
    own = max((key for key in places if line.startswith((f"{key}:", f"{key}."))), key=len, default="")
    entry = ENTRY.match(line)
    if entry is None or (entry[1], entry[2]) not in bases:
        return own
    others = dict(bases)  # each base is removed when followed, so that circular names end
    base = f"{entry[1]}.{others.pop((entry[1], entry[2]))}"
    inherited = _set_at(base + line[entry.end() :], places, others)
    return inherited if len(inherited) - len(base) > len(own) - len(entry[0]) else own
