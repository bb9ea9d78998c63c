"""Tables 2a, 2b and 3 of Cao 2021: models by resolution, and by noise, in the units of the paper."""

from pathlib import Path

from resolvent.figures.common.results import read_runs
from resolvent.figures.papers.cao2021.reported import TABLE_2A, TABLE_2B, TABLE_3
from resolvent.figures.papers.cao2021.side_by_side import write_side_by_side
from resolvent.figures.published.beside import record


def write_burgers(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write Table 2a, from the comparison of its experiment."""
    write_side_by_side(comparisons, runs, outputs, TABLE_2A)


def write_darcy(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write Table 2b, from the comparison of its experiment."""
    write_side_by_side(comparisons, runs, outputs, TABLE_2B, headings=pairs(runs))


def write_inverse(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write Table 3, from the comparisons of its experiments, which differ in the noise of training."""
    write_side_by_side(comparisons, runs, outputs, TABLE_3, headings=pairs(runs))


def pairs(runs: list[list[str]]) -> dict[int, str]:
    """Return headings "n = 141 (43)": points a side, and in brackets those of the coarse grid, if any."""
    found: dict[int, set[int]] = {}
    for run in (run for folders in runs for run in read_runs(folders)):
        coarse = record(run.record)["coarse_points"]
        if coarse is not None:
            found.setdefault(run.resolution, set()).add(coarse)
    return {
        points: f"n = {points} ({', '.join(map(str, sorted(coarse)))})" for points, coarse in found.items()
    }
