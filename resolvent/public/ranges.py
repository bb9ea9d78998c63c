"""The values that a run has met in training: what is known of them, and a warning outside of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MARGIN = 0.01  # of the range: other grids see slightly larger extremes of the same functions
DEVIATIONS = 4  # of the noise that was added to the inputs in training


class OutsideTraining(UserWarning):
    """Inputs have values that the training samples' distribution does not, or nobody knows whether."""


@dataclass(frozen=True)
class Quantity:
    """One function that an operator takes or gives.

    name, long_name, units  as the dataset card has them.
    low, high               the smallest and the largest value in the dataset, over all samples and grids.
    """

    name: str
    long_name: str
    units: str
    low: float
    high: float


def quantities(card: dict, which: str, noise: float = 0.0) -> tuple[Quantity, ...]:
    """Return the inputs or the targets (`which`) of a dataset, in the order of the channels.

    Ranges are those of the card's statistics, which are over all samples of the dataset, and wider by
    `DEVIATIONS` standard deviations of the noise, where inputs were noisy in training.
    """
    found = []
    for name in card[which]:
        statistics = [one for key, one in card["statistics"].items() if key.partition("/")[2] == name]
        words = next(
            group["variables"][name] for group in card["groups"].values() if name in group["variables"]
        )
        more = DEVIATIONS * noise * max(one["std"] for one in statistics)
        found.append(
            Quantity(
                name,
                words["long_name"],
                words["units"],
                min(one["min"] for one in statistics) - more,
                max(one["max"] for one in statistics) + more,
            )
        )
    return tuple(found)


def warn_outside(values: np.ndarray, known: Sequence[Quantity], dimension: int, model: str) -> None:
    """Warn of values (samples, [channels,] ...space) outside of the ranges, naming range and value."""
    channels = values.reshape(len(values), len(known), *values.shape[-dimension:])
    for channel, quantity in enumerate(known):
        part = channels[:, channel]
        margin = MARGIN * (quantity.high - quantity.low)
        if not part.size or (part.min() >= quantity.low - margin and part.max() <= quantity.high + margin):
            continue
        worst = part.max() if part.max() - quantity.high > quantity.low - part.min() else part.min()
        outside = ((part < quantity.low - margin) | (part > quantity.high + margin)).reshape(len(part), -1)
        _warn(
            f"{quantity.name} has the value {worst:.4g}, outside of the range [{quantity.low:.4g}, "
            f"{quantity.high:.4g}] of the data that {model} was trained on, in {outside.any(1).sum()} of "
            f"{len(part)} samples: its error there is not known"
        )


def warn_unknown(dataset: str, content_hash: str) -> None:
    """Warn that the range of the training data is not known here."""
    _warn(
        f"the card of the dataset {dataset} (content hash {content_hash[:12]}) is not here, so that inputs "
        "are not held to the range of the training data: give load_run(…, data=<folder of the datasets>)"
    )


def _warn(message: str) -> None:
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("resolvent.public."):
        level += 1
    warnings.warn(message, OutsideTraining, stacklevel=level + 1)  # it is of the line that asked
