"""Tables 2a, 2b and 3 of Cao 2021: models by resolution, and by noise, in the units of the paper."""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.table import write_table
from resolvent.figures.experiment.error_table import headline
from resolvent.figures.papers.cao2021.printed import TABLE_2A, TABLE_2B, TABLE_3
from resolvent.figures.published.beside import record


def write_burgers(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Table 2a, from the comparison of its experiment."""
    _write(comparisons, runs, outputs, TABLE_2A.unit)


def write_darcy(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Table 2b, from the comparison of its experiment."""
    _write(comparisons, runs, outputs, TABLE_2B.unit)


def write_inverse(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Table 3, from the comparisons of its experiments, which differ in the noise of training."""
    _write(comparisons, runs, outputs, TABLE_3.unit)


def _write(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path], unit: float) -> None:
    rows = pd.concat(map(read_comparison, comparisons), ignore_index=True)
    write_table(headline(rows, unit, pairs([folder for folders in runs for folder in folders])), outputs)


def pairs(folders: list[str]) -> dict[int, str]:
    """Headings "n = 141 (43)": points a side, and in brackets those of the coarse grid where one is used."""
    found: dict[int, set[int]] = {}
    for run in read_runs(folders):
        coarse = record(run.facts)["coarse_points"]
        if coarse is not None:
            found.setdefault(run.resolution, set()).add(coarse)
    return {
        points: f"n = {points} ({', '.join(map(str, sorted(coarse)))})" for points, coarse in found.items()
    }
