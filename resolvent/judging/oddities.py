"""Remarks on predictions that look like labels, or like right answers in another order, sign or unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import Samples
from resolvent.figures.common.numbers import scientific

SINGLE = float(np.finfo(np.float32).eps)  # a network in float32 has no smaller error
FAR_BETTER = 0.5  # share of the error that a change must leave to be remarked on
OF_A_FACTOR = 0.02  # largest relative distance of a unit from a power of ten
MOST_SHOWN = 5


def remarks_on(prediction: np.ndarray, samples: Samples, grid: str, accuracy: float) -> Iterator[str]:
    """Yield remarks on predictions on a grid, whose labels are accurate to `accuracy`."""
    weights, labels = samples.target_grid.weights, samples.targets

    def error(values: np.ndarray) -> float:
        return float(relative_l2(values, labels, weights).mean())

    own = error(prediction)
    if own <= max(2 * accuracy, SINGLE):
        yield (
            f"the predictions on {grid} are as accurate as the labels ({scientific(own)}, labels "
            f"{scientific(accuracy)}): were they computed by a solver, or are they the labels?"
        )
        return
    changes = {"with the other sign": -prediction}
    size = float((prediction**2).sum())
    factor = float((prediction * labels).sum()) / size if size else 0.0
    power = 10.0 ** round(np.log10(factor)) if factor > 0 else 1.0
    if power != 1 and abs(factor / power - 1) <= OF_A_FACTOR:
        changes[f"times {power:g}, as if they had another unit"] = power * prediction
    axes = ("x", "y", "z")[: samples.target_grid.dimension]
    for number, axis in enumerate(axes, start=1):
        changes[f"mirrored in {axis}"] = np.flip(prediction, -number)
    if len(axes) == 2 and prediction.shape[-1] == prediction.shape[-2]:
        changes["with x and y exchanged"] = prediction.swapaxes(-1, -2)
    for words, values in changes.items():
        if (other := error(values)) < FAR_BETTER * own:
            order = ": the task's order of axes is y, x" if "exchanged" in words else ""
            yield (
                f"the predictions on {grid} are closer to the labels {words} ({scientific(other)} instead of "
                f"{scientific(own)}){order}"
            )
    nearest = _nearest(prediction, labels)
    moved = np.flatnonzero(nearest != np.arange(len(labels)))
    one_to_one = len(np.unique(nearest)) == len(labels)
    if len(moved) and one_to_one and error(prediction[np.argsort(nearest)]) < FAR_BETTER * own:
        few = ", ".join(f"{sample} to label {nearest[sample]}" for sample in moved[:MOST_SHOWN])
        yield (
            f"{len(moved)} predictions on {grid} are closest to the labels of other samples ({few}): are "
            "they in the order of the inputs?"
        )


def _nearest(prediction: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the index of the label closest to each prediction, relative to the label's size."""
    ours, theirs = (values.reshape(len(values), -1) for values in (prediction, labels))
    squares = (theirs**2).sum(1)
    distances = (ours**2).sum(1)[:, None] - 2 * ours @ theirs.T + squares
    return np.argmin(distances / squares, axis=1)
