"""Check configuration files: `python -m resolvent.planning.configuration.check config/mine.yaml` says what
is wrong, and where.

Snakemake reads the files itself, before the project can say a word: a slip of YAML is told there without file
and line, and a key given twice not at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from snakemake.utils import update_config

from resolvent.planning.configuration.load import ConfigurationError, load_configuration
from resolvent.planning.configuration.plain_values import odd_values

ROOT = Path(__file__).resolve().parents[3]


def read_configuration(files: list[Path]) -> dict:
    """The content of config.yaml with these overlays, as Snakemake merges them.

    Raises
    ------
    ConfigurationError
        With one line per fault: the file, the line, what is wrong.
    """
    content: dict = {}
    for file in [ROOT / "config.yaml", *files]:
        update_config(content, read_file(Path(file)))
    return content


def read_file(file: Path) -> dict:
    """The content of one file. Raises as `read_configuration`."""
    try:
        text = file.read_text(encoding="utf-8")
        if repeated := list(_repeated(yaml.compose(text, Loader=yaml.SafeLoader), set())):
            raise ConfigurationError(f"{file}, {words}" for words in repeated)
        content = yaml.safe_load(text)
    except OSError as error:
        raise ConfigurationError([f"{file}: {error.strerror.lower()}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError([f"{file}: no text in UTF-8, from byte {error.start + 1}"]) from None
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError([f"{file}, {_place(error.problem_mark)}: {error.problem}"]) from None
    except ConfigurationError:
        raise
    except Exception as error:  # the reader looks up, indexes and converts what wrong tags and dates give it
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigurationError([f"{file}: no YAML that can be read ({reason})"]) from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise ConfigurationError(
            [f"{file}: keys with values are expected, such as `name: mine`; found {found}"]
        )
    if odd := list(odd_values(content)):
        raise ConfigurationError(f"{file}: {words}" for words in odd)
    return content


def _repeated(node: yaml.Node | None, seen: set[int]) -> Iterator[str]:
    """Keys that one mapping has twice: YAML keeps the last, without a word."""
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


def main(files: list[str]) -> int:
    """Print what is wrong, or that nothing is; returns the exit status."""
    try:
        configuration = load_configuration(read_configuration([Path(file) for file in files]))
    except ConfigurationError as error:
        print(error)
        return 1
    experiments = ", ".join(configuration.experiments)
    print(f"the configuration '{configuration.name}' is valid; experiments: {experiments}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
