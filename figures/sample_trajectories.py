"""Trajectories as in Figures 6, 8 and 9 of Calvello et al. 2024: the median test sample and the worst."""

from pathlib import Path

import numpy as np

from figures.results import Run, read_runs
from figures.style import INK, YARDSTICK, appearances, grid_lines, new_figure, save, title

COLUMNS = ("median", "worst")


def draw_sample_trajectories(run: str | Path, output: str | Path, *, where: str | None = None) -> list[Path]:
    """What is observed, then every component of target and prediction, then the error; a column a sample.

    `where` names the times of the test observations; default: those of training.
    """
    (run,) = read_runs([run])
    where = run.resolution if where is None else where
    stored = run.predictions
    times = stored[f"x_{where}"]
    observed = _channels(stored[f"extreme_input_{where}"])[:, :1]  # initial values are constants
    targets, predictions = (_channels(stored[f"extreme_{name}_{where}"]) for name in ("target", "prediction"))
    components = targets.shape[1]
    look = appearances([run])[run.model]
    figure, axes = new_figure(
        components + 2, 2, size=(8.6, 2.2 + 1.6 * components), sharex=True, sharey="row",
        height_ratios=[1] * (components + 1) + [0.8],
    )  # fmt: skip
    errors = _errors(run, where)
    for column, sample in enumerate(stored[f"extremes_{where}"]):
        panels = axes[:, column]
        title(panels[0], _heading(COLUMNS[column], int(sample), errors.get(sample, np.nan)))
        panels[0].plot(times, observed[column, 0], color=YARDSTICK, lw=1.1)
        for component, panel in enumerate(panels[1:-1]):
            panel.plot(times, targets[column, component], color=INK, lw=1.8, label="target")
            guess = predictions[column, component]
            panel.plot(times, guess, color=look.colour, lw=1.4, ls=(0, (2.5, 2)), label="prediction")
        wrong = np.abs(predictions[column] - targets[column]).max(axis=0)
        panels[-1].semilogy(times, np.maximum(wrong, 1e-12), color=look.colour, lw=1)
        panels[-1].set_xlabel("time")
        for panel in panels:
            grid_lines(panel)
    for panel, name in zip(axes[:, 0], ["observed", *_names(components), "largest |error|"], strict=True):
        panel.set_ylabel(name)
    named = axes[1, 0].get_legend_handles_labels()
    figure.legend(*named, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return save(figure, output)


def _channels(values: np.ndarray) -> np.ndarray:
    """(samples, channels, times), whatever the number of channels."""
    return values[:, None] if values.ndim == 2 else values


def _names(components: int) -> list[str]:
    return ["recovered"] if components == 1 else [f"recovered {index + 1}" for index in range(components)]


def _errors(run: Run, where: str):
    errors = run.errors
    return errors[errors["resolution"] == where].set_index("sample")["relative_l2"]


def _heading(which: str, sample: int, relative: float) -> str:
    told = f"relative L² error {relative:.2e}" if np.isfinite(relative) else "diverged"
    return f"{which} (test sample {sample}): {told}"
