"""What a public test cannot show of a model: errors on new samples, on shifted ones, and how sure it can be.

Labels of any sample can be solved, so a test need not be hidden: the seed of the new samples is made from the
model, or from a commitment to it, and nobody can have trained on them before the model existed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import scipy

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import FreshSplit, Samples
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.evaluation.conformal import calibrated
from resolvent.figures.common.intervals import UNKNOWN, mean_interval
from resolvent.judging.report import LEAKED, NO_LEAK, Calibrated, FreshTest, MadeFrom, ShiftedTest

FRESH = "fresh_"  # before the name of a grid: new test samples, or predictions for them
FRESH_SAMPLES = 256
PERMUTATIONS = 9_999
FALSE_ALARMS = 0.05  # largest p-value that is called a leak
SMALLEST = 1e-15  # errors below are equal: their logarithms are of rounding
SHIFTED_SAMPLES = 64
FACTORS = (0.5, 2.0)  # of every shift that an equation has
LEVEL, CALIBRATION_SAMPLES = 0.9, 200
SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def seed_of(digest: str) -> int:
    """Return the seed that belongs to a SHA-256. Raises `EvaluationError` if it is none."""
    if not SHA256.fullmatch(digest):
        raise EvaluationError(f"'{digest:.80}' is no SHA-256; expected: 64 digits and letters a to f")
    return int(digest, 16) % 2**63


def fresh_samples(settings: DatasetSettings, resolution: int | str, digest: str) -> FreshSplit:
    """Return new test samples of a dataset, whose seed is made from a SHA-256."""
    settings = settings.model_copy(update={"seed": seed_of(digest)})
    return FreshSplit.of(settings, resolution, "test", FRESH_SAMPLES)


def shifted_samples(
    settings: DatasetSettings, resolution: int | str, remarks: dict[str, None]
) -> Iterator[tuple[str, float, FreshSplit]]:
    """Yield the first test samples with every shift of their equation, where it can be solved."""
    count = min(SHIFTED_SAMPLES, settings.samples.test)
    for shift in settings.shifts:
        for factor in FACTORS:
            try:
                changed = settings.shifted(shift, factor)
            except ValueError as error:
                remarks[f"not tested with {shift} times {factor:g}: {error}"] = None
                continue
            sizes = settings.samples.model_copy(update={"test": 0})
            changed = changed.model_copy(update={"samples": sizes})
            yield shift, factor, FreshSplit.of(changed, resolution, "test", count)


def calibration_samples(settings: DatasetSettings, resolution: int | str) -> FreshSplit:
    """Return samples that follow the validation samples."""
    return FreshSplit.of(settings, resolution, "validation", CALIBRATION_SAMPLES)


def finite(value: float) -> float | None:
    """Return a number for JSON, or None for NaN and infinity."""
    return float(value) if np.isfinite(value) else None


def errors_of(prediction: np.ndarray, samples: Samples) -> np.ndarray:
    """Return the relative L² errors of predictions, (samples,)."""
    return relative_l2(prediction, samples.targets, samples.target_grid.weights)


def p_value(public: np.ndarray, new: np.ndarray) -> float:
    """Return the p-value of errors as small as the public ones, if both are equally distributed.

    A permutation test of the difference of the mean logarithms, one-sided. Logarithms, because samples that
    were trained on have errors that are smaller by a factor, and hard samples must not outweigh them.
    """
    samples = [np.log(np.maximum(errors, SMALLEST)) for errors in (public, new)]

    def difference(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        return first.mean(axis) - second.mean(axis)

    test = scipy.stats.permutation_test(
        samples, difference, alternative="less", n_resamples=PERMUTATIONS, vectorized=True, batch=1000, rng=0
    )
    return float(test.pvalue)


def fresh_test(grid: str, digest: str, of: MadeFrom, public: np.ndarray, new: np.ndarray) -> FreshTest:
    """Return the record of errors (samples,) on the public and on new samples; see `FreshTest`."""
    interval, p = mean_interval(new), p_value(public, new)
    return {
        "grid": grid,
        "made_from": digest,
        "of": of,
        "seed": seed_of(digest),
        "samples": len(new),
        "public": float(public.mean()),
        "new": interval.value,
        "low": finite(interval.low),
        "high": finite(interval.high),
        "p_value": p,
        "verdict": LEAKED if p <= FALSE_ALARMS else NO_LEAK,
    }


def shifted_test(grid: str, shift: str, factor: float, errors: np.ndarray, public: np.ndarray) -> ShiftedTest:
    """Return the record of errors (samples,) under a shift; `public` are those of all test samples."""
    interval = mean_interval(errors) if np.isfinite(errors).all() else UNKNOWN
    return {
        "grid": grid,
        "shift": shift,
        "factor": factor,
        "samples": len(errors),
        "mean": finite(interval.value),
        "low": finite(interval.low),
        "high": finite(interval.high),
        "unshifted": float(public[: len(errors)].mean()),
    }


def calibration(grid: str, new: tuple[np.ndarray, Samples], public: tuple[np.ndarray, Samples]) -> Calibrated:
    """Return the ball that predictions for new samples give, and its coverage on the public samples."""
    prediction, samples = new
    ball = calibrated(prediction, samples.targets, samples.target_grid, LEVEL)
    answers, tested = public
    sizes = relative_l2(tested.targets, answers, tested.target_grid.weights)
    return {
        "grid": grid,
        "level": LEVEL,
        "samples": len(prediction),
        "radius": finite(ball.radius),
        "covered": float((sizes <= ball.radius).mean()),
    }
