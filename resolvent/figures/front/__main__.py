"""Write the front page of a study from what is there, and print its leaderboard.

`python -m resolvent.figures.front results/demo`; also while the study runs, or after it has failed.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

from resolvent.common.errors import ResolventError
from resolvent.figures.front.page import PAGE, write_front_page
from resolvent.figures.front.terminal import print_leaderboard


def main() -> None:
    """Read the arguments and do it; end with one line where that cannot be."""
    parser = ArgumentParser(prog="python -m resolvent.figures.front", description=__doc__.partition("\n")[0])
    parser.add_argument("study", type=Path, help="the folder of the study, such as results/demo")
    folder = parser.parse_args().study
    try:
        show(folder)
    except ResolventError as error:
        sys.exit(str(error))


def show(folder: Path) -> None:
    """Write the front page of the study in `folder`, print its leaderboard, and the address of the page."""
    print_leaderboard(write_front_page(folder))
    print(f"The front page: {(folder / PAGE).resolve().as_uri()}")


if __name__ == "__main__":
    main()
