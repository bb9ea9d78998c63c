"""Run with `python -m resolvent.figures.front results/demo`; errors print one line."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from resolvent.common.errors import ResolventError
from resolvent.figures.front.terminal import show

if __name__ == "__main__":
    about = "Write the front page of a study from its existing results, and print its leaderboard."
    parser = ArgumentParser(prog="python -m resolvent.figures.front", description=about)
    parser.add_argument("study", type=Path, help="folder of the study, such as results/demo")
    try:
        show(parser.parse_args().study)
    except ResolventError as error:
        sys.exit(str(error))
