"""Which run a figure shows, where it shows one of several.

That is the run that the configuration names, if it finished; otherwise the best that did. Only after training
is it known which runs diverged, so the choice is made whenever something is drawn or written about it, from
the same candidates each time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resolvent.figures.common.results import Run, error_matrix, read_runs


@dataclass(frozen=True)
class Shown:
    """The run that is shown, and the one that the configuration names."""

    run: Run
    configured: Run

    @property
    def replaces(self) -> bool:
        """Whether it stands in place of the configured run."""
        return self.run.directory != self.configured.directory

    @property
    def words(self) -> str:
        """The label of the run; in place of a diverged one, which run this is, and which one that was."""
        if not self.replaces:
            return self.run.label
        return f"{_named(self.run)}, shown because the configured run, {_named(self.configured)}, diverged"


def choose_shown(candidates: Iterable[str | Path]) -> Shown:
    """Choose among run folders, the configured one first.

    The best is that of the lowest median error over the test samples, on its grid and with its noise of
    training; a run on the configured run's grid comes before any other. Where no run finished, the configured
    one is shown.
    """
    runs = [run for folder in candidates for run in read_runs([folder])]
    configured = runs[0]
    if np.isfinite(_median_error(configured)):
        return Shown(configured, configured)
    others = [(run.resolution != configured.resolution, _median_error(run), run) for run in runs[1:]]
    finished = [one for one in others if np.isfinite(one[1])]
    best = min(finished, key=lambda one: one[:2])[2] if finished else configured
    return Shown(best, configured)


def _median_error(run: Run) -> float:
    """Return the median error over the test samples, NaN for a run that diverged."""
    errors = error_matrix([run.errors], run.resolution, run.noise)
    return np.nan if run.diverged or errors.empty else float(errors.median(axis=1).iloc[0])


def _named(run: Run) -> str:
    return f"{run.label} ({run.where}, seed {run.seed})"
