"""Trajectories as in Figures 6, 8 and 9 of Calvello et al. 2024: the median test sample and the worst."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from resolvent.common.predictions import condition
from resolvent.figures.common.results import Run
from resolvent.figures.common.style import (
    BASELINE,
    INK,
    MUTED,
    appearances,
    grid_lines,
    new_figure,
    title,
)

COLUMNS = ("median", "worst")
FLOOR = 1e-12  # of an error on a logarithmic axis


@dataclass(frozen=True)
class Trajectories:
    """Trajectories of two samples: observed (2, times), targets and predictions (2, components, times)."""

    samples: list[int]
    times: np.ndarray
    observed: np.ndarray
    targets: np.ndarray
    predictions: np.ndarray

    @classmethod
    def of(cls, run: Run, where: str) -> "Trajectories":
        stored = condition(run.predictions, where, run.noise).sel(extreme=list(COLUMNS))
        observed, targets, predictions = (
            stored[f"extreme_{name}"].values for name in ("input", "target", "prediction")
        )
        samples = [int(sample) for sample in stored["extreme_sample"].values]
        # Initial values, the other inputs, are constants.
        return cls(samples, stored["time"].values, observed[:, 0], targets, predictions)

    @property
    def components(self) -> int:
        return self.targets.shape[1]

    @property
    def largest_error(self) -> np.ndarray:
        """Return the largest error over the components at every time: (2, times)."""
        return np.maximum(np.abs(self.predictions - self.targets).max(axis=1), FLOOR)

    @property
    def rows(self) -> list[np.ndarray]:
        """Everything that a row of panels draws."""
        pairs = np.concatenate([self.targets, self.predictions])
        return [self.observed, *(pairs[:, one] for one in range(self.components)), self.largest_error]


def draw_sample_trajectories(
    run: Run, *, where: str | None = None, beside: Iterable[Run] = (), note: str = ""
):
    """Draw what is observed, every component of target and prediction, and the error; a column a sample.

    where   names the times of the test observations; default: those of training.
    beside  runs whose figures shall have the same axes: their values fit into them too.
    note    a line below the panels.
    """
    where = run.resolution if where is None else where
    found = Trajectories.of(run, where)
    look, errors = appearances([run])[run.model], _errors(run, where)
    figure, axes = new_figure(
        found.components + 2, 2, size=(8.6, 2.2 + 1.6 * found.components), sharex=True, sharey="row",
        height_ratios=[1] * (found.components + 1) + [0.8],
    )  # fmt: skip
    for column, sample in enumerate(found.samples):
        panels = axes[:, column]
        title(panels[0], _heading(COLUMNS[column], sample, errors.get(sample, np.nan)))
        panels[0].plot(found.times, found.observed[column], color=BASELINE, lw=1.1)
        for component, panel in enumerate(panels[1:-1]):
            panel.plot(found.times, found.targets[column, component], color=INK, lw=1.8, label="target")
            guess = found.predictions[column, component]
            panel.plot(found.times, guess, color=look.colour, lw=1.4, ls=(0, (2.5, 2)), label="prediction")
        panels[-1].semilogy(found.times, found.largest_error[column], color=look.colour, lw=1)
        panels[-1].set_xlabel("time")
        for panel in panels:
            grid_lines(panel)
    names = ["observed", *_names(found.components), "largest |error|"]
    for panel, name in zip(axes[:, 0], names, strict=True):
        panel.set_ylabel(name)
    if beside := list(beside):
        _set_common_limits(axes[:, 0], [found, *(Trajectories.of(other, where) for other in beside)])
    named = axes[1, 0].get_legend_handles_labels()
    figure.legend(*named, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    if note:
        figure.supxlabel(note, fontsize=8.5, color=MUTED)
    return figure


def _set_common_limits(panels, all_found: list[Trajectories]) -> None:
    """Set the same limits whichever of these is drawn; the last panel is logarithmic."""
    rows = list(zip(*(found.rows for found in all_found), strict=True))
    for panel, values in zip(panels, rows, strict=True):
        values = np.concatenate([one.ravel() for one in values])
        values = values[np.isfinite(values)]
        if not values.size:
            continue
        low, high = float(values.min()), float(values.max())
        if panel is panels[-1]:
            panel.set_ylim(low / 1.5, high * 1.5)
        else:
            margin = 0.05 * (high - low) or 1.0
            panel.set_ylim(low - margin, high + margin)


def _names(components: int) -> list[str]:
    return ["recovered"] if components == 1 else [f"recovered {index + 1}" for index in range(components)]


def _errors(run: Run, where: str):
    errors = run.errors
    return errors[errors["resolution"] == where].set_index("sample")["relative_l2"]


def _heading(which: str, sample: int, relative: float) -> str:
    words = f"relative L² error {relative:.2e}" if np.isfinite(relative) else "diverged"
    return f"{which} (test sample {sample}): {words}"
