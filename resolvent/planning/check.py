"""Check configuration files: `python -m resolvent.planning.check config/mine.yaml` says what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import placed
from resolvent.planning.configuration.load import load_configuration, remarks, with_contents
from resolvent.planning.configuration.read import read_configuration


def main(arguments: list[str]) -> int:
    """Print what is wrong, or that nothing is, and warnings; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m resolvent.planning.check",
        description="Check overlays of config.yaml as `snakemake --configfile FILE ...` would read them: "
        "what is wrong is reported by file, line and key. Nothing runs.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="overlays, the last one wins; default: none")
    content: Mapping = {}
    try:
        content = read_configuration(parser.parse_args(arguments).files)
        configuration = with_contents(load_configuration(content))
    except ConfigurationError as error:
        print(placed(error, content))
        return 1
    built = ", ".join(configuration.experiments) or "none"
    print(f"the configuration '{configuration.name}' is valid; experiments: {built}")
    for words in remarks(configuration):
        print(f"warning: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
