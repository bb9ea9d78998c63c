"""File and line of each problem of a configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import likes


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

    def depth(entry: tuple[str, str], seen: tuple = ()) -> int:
        base = (entry[0], bases.get(entry))
        return 0 if entry not in bases or entry in seen else 1 + depth(base, (*seen, entry))

    return sorted(bases.items(), key=lambda one: depth(one[0]))
