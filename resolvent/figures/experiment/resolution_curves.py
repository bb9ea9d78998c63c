"""Error against test resolution: trained on one grid, tested unchanged on others, on the same samples."""

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import errors_of, leading, mean_error, read_comparison
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import read_runs, resolution_in_words, with_training_noise
from resolvent.figures.common.style import (
    BASELINE,
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_outside,
    new_figure,
    resolution_axis,
    save,
    say_no_errors,
    title,
)


def draw_resolution_curves(comparison: str | Path, runs: list[str | Path], output: str | Path) -> list[Path]:
    """Draw a panel for each training resolution: a line a model, a band its interval, dashes a baseline.

    A baseline is on the training grid on every grid, so its line is the same in every panel. Noise is that
    of training.
    """
    comparison = read_comparison(comparison)
    table = with_training_noise(errors_of(comparison, leading(comparison), "mean"))
    looks = appearances(read_runs(runs))
    models, baselines = (table[table["kind"] == kind] for kind in ("model", "baseline"))
    trained, tested = sorted(models["trained_resolution"].unique()), models["test_resolution"].unique()
    baselines = baselines[baselines["test_resolution"].isin(tested) & np.isfinite(baselines["value"])]
    figure, axes = new_figure(len(trained), 1, size=(8.6, 0.4 + 3.6 * len(trained)), sharex=True, sharey=True)
    for resolution, panel in zip(trained, axes[:, 0], strict=True):
        places = resolution_axis(panel, tested)
        limits = error_limits(panel, models["value"], margin=4)
        title(panel, f"trained on {resolution_in_words(resolution)}")
        panel.set_ylabel(mean_error(comparison))
        grid_lines(panel)
        panel.axvline(places[resolution], color=MUTED, lw=0.6, ls=":")
        here = models[models["trained_resolution"] == resolution]
        labels = []
        for key, rows in here.groupby("key", sort=False):
            labels += _draw_model(panel, _placed(rows, places), places[resolution], looks[key])
        outside = []
        for _, rows in baselines.groupby("key", sort=False):
            labels += _draw_baseline(panel, _placed(rows, places), limits, outside)
        label_right(panel, labels)
        name_outside(panel, outside)
        if not np.isfinite(here["value"]).any():
            say_no_errors(panel)
    named = any(isinstance(one, str) for one in tested)
    axes[-1, 0].set_xlabel("times of the test observations" if named else "test resolution (points)")
    return save(figure, output)


def _placed(rows: pd.DataFrame, places: dict) -> pd.DataFrame:
    """Return the rows from left to right, with the place of each on the axis."""
    return rows.assign(place=rows["test_resolution"].map(places)).sort_values("place")


def _draw_model(panel, rows: pd.DataFrame, trained: float, look) -> list[tuple[float, str, str]]:
    rows = rows[np.isfinite(rows["value"])]
    if rows.empty:
        return []
    x, mean = rows["place"], rows["value"]
    panel.plot(x, mean, color=look.colour, linestyle=look.dashes, lw=1.5, zorder=3)
    if len(rows) == 1:
        panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.2)
    panel.fill_between(x, rows["low"], rows["high"], color=look.colour, alpha=0.14, lw=0)
    own = rows[rows["place"] == trained]
    panel.plot(own["place"], own["value"], ls="", ms=6.5, zorder=4, **look.marks())
    return [(float(mean.iloc[-1]), str(rows["label"].iloc[0]), look.colour)]


def _draw_baseline(
    panel, rows: pd.DataFrame, limits: tuple[float, float], outside: list[tuple[str, float]]
) -> list[tuple[float, str, str]]:
    x, mean, label = rows["place"], rows["value"], str(rows["label"].iloc[0])
    if not ((mean > limits[0]) & (mean < limits[1])).any():
        outside.append((label, float(mean.median())))
        return []
    panel.plot(x, mean, color=BASELINE, ls=(0, (5, 3)), lw=1.1)
    if len(rows) == 1:
        panel.plot(x, mean, "_", color=BASELINE, ms=12, mew=1.3)
    end = float(np.clip(mean.iloc[-1], *limits))
    return [(end, label, BASELINE)]
