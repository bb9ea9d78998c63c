"""Which run a figure shows, where it shows one of several.

That is the run that the configuration names, if it names one and that finished; otherwise the best that did.
Only after training is it known which runs diverged, so the choice is made whenever something is drawn or
written about it, from the same candidates each time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resolvent.figures.common.results import Run, error_matrix, read_runs


@dataclass(frozen=True)
class Shown:
    """The run that is shown, and the one that the configuration names, if it names one.

    others  whether there were other runs to choose from.
    """

    run: Run
    configured: Run | None
    others: bool = True

    @property
    def replaces(self) -> bool:
        """Whether it stands in place of the configured run."""
        return self.configured is not None and self.run.directory != self.configured.directory

    @property
    def words(self) -> str:
        """Return the label of the run; of one that was chosen, which run this is, and why it."""
        if self.configured is None and self.others:
            return f"{_named(self.run)}, the run with the lowest median error"
        if not self.replaces:
            return self.run.label
        return f"{_named(self.run)}, shown because the configured run, {_named(self.configured)}, diverged"


def choose_shown(candidates: Iterable[str | Path], named: bool = True) -> Shown:
    """Choose among run folders, the configured one first; not `named`: the configuration names none.

    The best is that of the lowest median error over the test samples, on its grid and with its noise of
    training; a run on the first run's grid comes before any other. Where no run finished, the first one is
    shown.
    """
    first, *others = [run for folder in candidates for run in read_runs([folder])]
    if named and np.isfinite(_median_error(first)):
        return Shown(first, first)
    ranked = [(run.resolution != first.resolution, _median_error(run), run) for run in (first, *others)]
    finished = [one for one in ranked if np.isfinite(one[1])]
    best = min(finished, key=lambda one: one[:2])[2] if finished else first
    return Shown(best, first if named else None, bool(others))


def _median_error(run: Run) -> float:
    """Return the median error over the test samples, NaN for a run that diverged."""
    errors = error_matrix([run.errors], run.resolution, run.noise)
    return np.nan if run.diverged or errors.empty else float(errors.median(axis=1).iloc[0])


def _named(run: Run) -> str:
    return f"{run.label} ({run.where}, seed {run.seed})"
