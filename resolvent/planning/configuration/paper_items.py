"""What experiments say they show of the papers, checked."""

from __future__ import annotations

from collections.abc import Iterator

from resolvent.figures.papers.registry import PAPERS
from resolvent.models.outside import unknown

# What `shows` may name, by paper; with it, whether several experiments may name it.
SHOWN = {
    key: {name: item.several for name, item in paper.items.items() if item.shown_by_experiments}
    for key, paper in PAPERS.items()
}


def shown_problems(experiments: dict) -> Iterator[str]:
    """Report papers and items that do not exist, and items that two experiments give where one can."""
    given: dict[tuple[str, str], str] = {}
    for name, experiment in experiments.items():
        at = f"experiments.{name}.shows"
        for paper, items in experiment.shows.items():
            if paper not in SHOWN:
                yield f"{at}: {unknown('paper', paper, SHOWN)}"
                continue
            for item in dict.fromkeys(items):
                if item not in SHOWN[paper]:
                    yield f"{at}.{paper}: {unknown('item', item, SHOWN[paper])}"
                elif not SHOWN[paper][item] and (paper, item) in given:
                    yield f"{at}.{paper}: {item} is of one experiment, and '{given[paper, item]}' shows it"
                else:
                    given[paper, item] = name
