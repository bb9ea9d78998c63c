"""Configuration files, read with the place of what is wrong, and merged as Snakemake merges them.

Snakemake reads the files of `--configfile` itself, before the project can say a word: a slip of YAML is
reported there without file and line, and a key given twice not at all. `python -m resolvent.planning.check`
reads them here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.plain_values import odd_values
from resolvent.planning.places import HOME

# What a configuration starts from, in this order; each changes single keys of those before.
DEFAULTS = (
    "config/datasets.yaml",
    "config/models/cao2021.yaml",
    "config/models/calvello2024.yaml",
    "config/models/ours.yaml",
    "config/experiments/cao2021.yaml",
    "config/experiments/calvello2024.yaml",
    "config/experiments/ours.yaml",
    "config.yaml",
)
VALUES = 1_000_000  # in one file, aliases written out: the whole configuration has some thousand
# The reader in C, where PyYAML has it: eight times as fast.
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_configuration(files: Iterable[Path | str]) -> dict:
    """Return the defaults with these overlays.

    Raises
    ------
    ConfigurationError
        With one line per problem: the file, the line, what is wrong.
    """
    content: dict = {}
    for file in [*(HOME / name for name in DEFAULTS), *files]:
        content = merged(content, read_file(Path(file)))
    return content


def with_defaults(overlay: Mapping) -> dict:
    """Return the defaults changed by `overlay`, which Snakemake has read. Raises as `read_configuration`."""
    return merged(read_configuration([]), overlay)


def merged(base: Mapping, changes: Mapping) -> dict:
    """Return `base` with `changes`: mappings are merged key by key, anything else is replaced."""
    result = dict(base)
    for key, value in changes.items():
        below = result.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        result[key] = merged(below, value) if both else value
    return result


def read_file(file: Path) -> dict:
    """Return the content of one file. Raises as `read_configuration`."""
    try:
        text = file.read_text(encoding="utf-8")
        try:
            content, repeated = _parsed(text, FAST)
        except yaml.MarkedYAMLError:
            content, repeated = _parsed(text, yaml.SafeLoader)  # whose words are those of Snakemake
        if repeated:
            raise ConfigurationError(f"{file}, {words}" for words in repeated)
    except OSError as error:
        raise ConfigurationError([f"{file}: {error.strerror.lower()}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError([f"{file}: not text in UTF-8, from byte {error.start + 1}"]) from None
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError([f"{file}, {_place(error.problem_mark)}: {error.problem}"]) from None
    except ConfigurationError:
        raise
    except Exception as error:  # the reader looks up, indexes and converts what wrong tags and dates give it
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigurationError([f"{file}: YAML that cannot be read ({reason})"]) from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise ConfigurationError(
            [f"{file}: keys with values are expected, such as `name: mine`; found {found}"]
        )
    if odd := list(odd_values(content)):
        raise ConfigurationError(f"{file}: {words}" for words in odd)
    return content


def _parsed(text: str, reader: type) -> tuple[object, list[str]]:
    """Return the content, and words on every key that is given twice; there is then no content."""
    loader = reader(text)
    try:
        node = loader.get_single_node()
        if (values := _values(node, {})) > VALUES:
            raise yaml.MarkedYAMLError(
                problem=f"{values:.3g} values, where aliases are written out; accepted: at most {VALUES:,}",
                problem_mark=node.start_mark,
            )
        repeated = list(_repeated(node, set()))
        return None if repeated or node is None else loader.construct_document(node), repeated
    finally:
        loader.dispose()


def _values(node: yaml.Node | None, known: dict[int, int]) -> int:
    """Return how many values a node has with its aliases written out. One within itself counts once."""
    if node is None or isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = 1
        below = node.value if isinstance(node, yaml.SequenceNode) else [one for _, one in node.value]
        known[id(node)] = 1 + sum(_values(one, known) for one in below)
    return known[id(node)]


def _repeated(node: yaml.Node | None, seen: set[int]) -> Iterator[str]:
    """Yield keys that one mapping has twice: YAML keeps the last, without a word."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        known: dict[str, yaml.Mark] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in known:
                    yield f"{_place(key.start_mark)}: {key.value!r} again, after {_place(known[key.value])}"
                known.setdefault(key.value, key.start_mark)
            yield from _repeated(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from _repeated(entry, seen)


def _place(mark: yaml.Mark) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"
