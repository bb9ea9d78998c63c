"""Read configuration files with the line of every key, and merge them as Snakemake does.

Snakemake would read YAML 1.1. Values that YAML 1.1 misreads are refused, such as 010 (8), 1:30 (90), no
(false).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.places import HOME

# Default files; later files override single keys of earlier files. Sorting by the year at the end of the name
# puts the papers' models and experiments in the order of publication.
DEFAULTS = (
    "config/datasets.yaml",
    *(
        f"config/{folder}/{name}"
        for folder in ("models", "experiments")
        for name in sorted(os.listdir(HOME / "config" / folder), key=lambda name: name[-9:])
        if name.endswith(".yaml") and name[0] != "."  # and no file of an editor
    ),
    "config.yaml",
)
CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf")},
    **dict.fromkeys((".nan", ".NaN"), math.nan),
}
VALUES = 1_000_000  # limit for one file with its aliases expanded: the defaults have a few thousand
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,999})")  # Python reads no integer of more than 4,300 digits
FLOAT = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]+)?")
YAML_1_1 = yaml.resolver.Resolver()
TEXT, LIST, MAPPING, MERGE = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map", "merge"))
UNQUOTED = "unquoted"
# Leaves scalars without quotes and tags unresolved; `_scalar` decides on their types.
RESOLVERS = {None: [(UNQUOTED, re.compile(""))]}
# Characters that the C reader treats differently: tabs after a colon, byte order marks, tags.
READ_OTHERWISE = "\t\ufeff!"
# The usual cause of the parser's "expected <block end>, but found ...".
INDENTED = (
    "; usually this line's indentation matches no line above it: give keys of one level the same spaces"
)
LONGEST_TEXT = 500
LARGEST = 2**63


class _Reader(yaml.SafeLoader):
    yaml_implicit_resolvers = RESOLVERS


class _FastReader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The C reader, if PyYAML was built with it: eight times as fast."""

    yaml_implicit_resolvers = RESOLVERS


class Read(dict):
    """Content of configuration files.

    places      file and line where each key was last set, by its path of keys.
    problems    one line for each value or key that was refused, and left out.
    """

    def __init__(self, content: Mapping, places: dict[tuple, str], problems: Iterable[str] = ()):
        super().__init__(content)
        self.places, self.problems = places, list(problems)


def read_configuration(files: Iterable[Path | str]) -> Read:
    """Return the defaults, changed by these overlays. Raises as `read_overlays`."""
    return with_defaults(read_overlays(files))


def with_defaults(overlay: Mapping) -> Read:
    return _merged_with_places([*(read_file(HOME / name) for name in DEFAULTS), overlay])


def read_overlays(files: Iterable[Path | str], given: Mapping | None = None) -> Read:
    """Return the merged files; the later win, `given` over all; `ConfigurationError` if one is unreadable."""
    contents = [read_file(Path(file)) for file in files]
    return _merged_with_places([*contents, Read(given or {}, dict(_places_given(given or {}, ())))])


def read_again(config: Mapping, settings: Any) -> Mapping:
    """Read again the files and values that Snakemake has read as `config`, by its `config_settings`."""
    if config != settings.overwrite_config:  # built by a workflow that imports this one
        return config
    return read_overlays(settings.configfiles, settings.config)


def merged(base: Mapping, changes: Mapping) -> dict:
    """Return `base` with `changes`: mappings are merged key by key, anything else is replaced."""
    result = dict(base)
    for key, value in changes.items():
        below: Any = result.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        result[key] = merged(below, value) if both else value
    return result


def read_file(file: Path) -> Read:
    """Return the content of one file. Raises as `read_overlays`."""
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    reading = _Reading(str(shown))
    try:
        node = _composed(file.read_text(encoding="utf-8"))
        if (values := _values(node, {})) > VALUES:
            words = f"{values:.3g} values with aliases expanded; accepted: at most {VALUES:,}"
            raise ConfigurationError([f"{shown}: {words}"])
        content = reading.value(node, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        hint = INDENTED if (error.problem or "").endswith(("mapping start>'", "sequence start>'")) else ""
        words = f"{shown}, line {mark.line + 1}, column {mark.column + 1}: {error.problem}{hint}"
        raise ConfigurationError([words]) from None
    except (OSError, UnicodeError, yaml.reader.ReaderError, RecursionError) as error:
        words = f"cannot be read: {' '.join(str(error).split())}"
        if isinstance(error, FileNotFoundError) and not file.suffix:
            words = "there is no such configuration; what is to be built is written before --configfile"
        if isinstance(error, UnicodeDecodeError) and error.object.startswith((b"\xff\xfe", b"\xfe\xff")):
            words = f"is UTF-16; save it as UTF-8: iconv -f UTF-16 -t UTF-8 {shown} > utf8.yaml"
        raise ConfigurationError([f"{shown}: {words}"]) from None
    if not isinstance(content, dict):
        content_kind = "nothing" if content is None else f"a {type(content).__name__}"
        raise ConfigurationError(
            [f"{shown}: expected keys with values, such as `name: mine`; found {content_kind}"]
        )
    return Read(content, reading.places, reading.problems)


def _composed(text: str) -> yaml.Node | None:
    """Parse a text into nodes; for invalid YAML raise the error of the Python reader, which is clearer."""
    if set(text).isdisjoint(READ_OTHERWISE):
        try:
            return yaml.compose(text, _FastReader)
        except yaml.YAMLError:
            pass
    return yaml.compose(text, _Reader)


def _values(node: yaml.Node | None, known: dict[int, int]) -> int:
    """Return the number of values of a node with aliases expanded; a node inside itself counts once."""
    if node is None or isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = 1
        below = node.value if isinstance(node, yaml.SequenceNode) else [child for _, child in node.value]
        known[id(node)] = 1 + sum(_values(child, known) for child in below)
    return known[id(node)]


class _Reading:
    """Construct the values of one file; collect `problems`, and `places` by key."""

    def __init__(self, file: str):
        self.file = file
        self.problems: list[str] = []
        self.places: dict[tuple, str] = {}
        self.merges = yaml.constructor.SafeConstructor()  # for the key `<<`
        self.seen: set[int] = set()

    def value(self, node: yaml.Node | None, at: tuple, above: tuple) -> Any:
        """Return the value of a node at the keys `at`, within the nodes `above`."""
        if node is None:
            return None
        if at:
            self.places.setdefault(at, f"{self.file}, line {node.start_mark.line + 1}")
        if id(node) in above:
            self._refuse(at, "contains itself")
        elif isinstance(node, yaml.ScalarNode):
            value, words = _scalar(node)
            if not words:
                return value
            self._refuse(at, words)
        elif node.tag not in (LIST, MAPPING):
            self._refuse(at, _of_tag(node))
        elif isinstance(node, yaml.SequenceNode):
            return [self.value(child, (*at, i), (*above, id(node))) for i, child in enumerate(node.value)]
        else:
            return self._mapping(node, at, (*above, id(node)))
        return None

    def _mapping(self, node: yaml.MappingNode, at: tuple, above: tuple) -> dict:
        if id(node) not in self.seen:  # an alias leads to the same node again
            self.seen.add(id(node))
            self._report_repeated(node, at)
            self.merges.flatten_mapping(node)
        content = {}
        for key_node, value_node in node.value:
            key, words = _scalar(key_node)
            if words := words or odd_key(key):
                key = key_node.value if isinstance(key_node, yaml.ScalarNode) else "?"
            elif not at and key == "__use_yte__":
                words = "Snakemake would execute the expressions of this file; write the values themselves"
            self.places[*at, key] = f"{self.file}, line {key_node.start_mark.line + 1}"
            if words:
                self._refuse((*at, key), words)
            else:
                content[key] = self.value(value_node, (*at, key), above)
        return content

    def _report_repeated(self, node: yaml.MappingNode, at: tuple) -> None:
        known: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value == "<<" and key.tag == UNQUOTED:
                key.tag = MERGE
            elif key.value in known:
                self._refuse((*at, key.value), f"duplicate of the key in line {known[key.value]}; keep one")
            known.setdefault(key.value, key.start_mark.line + 1)

    def _refuse(self, at: tuple, words: str) -> None:
        self.problems.append(f"{'.'.join(map(str, at)) or 'top level'}: {words}")


def _scalar(node: yaml.Node) -> tuple[Any, str | None]:
    """Return the value of a scalar (null, boolean, decimal number or text), and its problem if it has one."""
    text = node.value
    if node.tag == TEXT:
        return text, None
    if node.tag != UNQUOTED:
        return None, _of_tag(node)
    if text in CONSTANTS:
        return CONSTANTS[text], None
    if INTEGER.fullmatch(text):
        return int(text), None
    if FLOAT.fullmatch(text):
        return float(text), None
    kind = YAML_1_1.resolve(yaml.ScalarNode, text, (True, False)).rpartition(":")[2]
    if kind == "str" and not re.fullmatch(r"[+-]?0[0-9]+", text):
        return text, None
    remedy = "write true, false or decimal digits, or put it in quotes"
    return text, f"{text!r} is ambiguous (YAML 1.1 reads it as {kind}); {remedy}"


def _of_tag(node: yaml.Node) -> str:
    if node.tag in (LIST, MAPPING):
        return "keys must be text, not a list or a mapping"
    return f"YAML tag {node.tag.replace('tag:yaml.org,2002:', '!!'):.40}; write the value without the tag"


def _merged_with_places(contents: Iterable[Mapping]) -> Read:
    result: dict = {}
    places: dict[tuple, str] = {}
    problems: list[str] = []
    for content in contents:
        result = merged(result, content)
        places |= getattr(content, "places", {})
        problems += getattr(content, "problems", [])
    return Read(result, places, problems)


def _places_given(content: Mapping, at: tuple) -> Iterator[tuple[tuple, str]]:
    for key, value in content.items():
        yield (*at, key), "--config"
        if isinstance(value, Mapping):
            yield from _places_given(value, (*at, key))


def odd_values(value: object, at: str = "") -> Iterator[str]:
    """Yield one line for each value or key below `at` that is not text, a number, list or mapping.

    Accepted values have a short `repr`, and can be hashed, written as JSON and put into a file name.
    """
    if isinstance(value, dict):
        for key, entry in value.items():
            if words := odd_key(key):
                yield f"{at or 'top level'}: {words}"
            else:
                yield from odd_values(entry, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from odd_values(entry, f"{at}.{position}")
    elif words := _odd_scalar(value):
        yield f"{at}: {words}"


def odd_key(key: object) -> str | None:
    """Return why a key is not accepted in a configuration, or None."""
    if isinstance(key, bool | float) or key is None:
        return f"keys must be text, got {key}; put it in quotes"
    words = _odd_scalar(key)
    return f"invalid key: {words}" if words else None


def _odd_scalar(value: object) -> str | None:
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            return f"text of {len(value)} characters, {value[:20]!r}...; accepted: at most {LONGEST_TEXT}"
        if not value.isprintable():
            return f"a line break or another unprintable character in {value[:60]!r}; remove it"
    elif isinstance(value, int) and not -LARGEST < value < LARGEST:
        return "an integer of more than 64 bits"
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a finite number"
    elif value is not None and not isinstance(value, int | float):
        return f"a {type(value).__name__}; accepted: text, numbers, lists and mappings (put it in quotes)"
    return None
