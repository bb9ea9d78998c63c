"""Run folders of the inverse problem with noise: trained at one level, evaluated at several."""

import numpy as np
import pandas as pd
from run_files import one_level, replace_errors, square, write_same_predictions

FINE, COARSE = 21, 9
SAMPLES = 12


def write_noisy_run(
    make_run, noise, levels, *, samples=(2, 5, 7), diverged_epoch=None, resolution=FINE, **options
):
    """A run whose errors are `expected_error`, into what `make_run` has made."""
    directory = make_run(
        f"noise{noise:g}", architecture="transformer2d_coarse", resolution=resolution, dimension=2,
        diverged_epoch=diverged_epoch, training={"noise": noise}, **options,
    )  # fmt: skip
    rows = []
    for level in levels:
        for realisation in range(2 if level else 1):
            for sample in range(SAMPLES):
                error = (
                    expected_error(noise, level, realisation, sample) if diverged_epoch is None else np.nan
                )
                rows.append((resolution, level, realisation, sample, error, 3 * error))
    columns = ["resolution", "noise", "realisation", "sample", "relative_l2", "relative_h1"]
    diverged = diverged_epoch is not None
    write_same_predictions(directory, _fields, noise, tuple(levels), samples, diverged, resolution)
    return replace_errors(directory, pd.DataFrame(rows[::-1], columns=columns))


def expected_error(noise, level, realisation, sample):
    """Return 0.02 plus ten times the distance from the trained level, more by realisation and sample."""
    return (0.02 + 10 * abs(level - noise)) * (1 + 0.3 * realisation + 0.02 * sample)


def coefficient(sample, points=COARSE):
    x = np.linspace(0, 1, points)
    return np.where(np.sin(3 * x + sample) * np.cos(4 * x[:, None] - sample) > 0, 12.0, 3.0)


def _fields(noise, levels, samples, diverged, resolution):
    x = np.linspace(0, 1, resolution)
    random = np.random.default_rng(3)
    target = np.stack([coefficient(sample) for sample in samples])
    clean = 0.02 * np.stack([np.sin(np.pi * x) * np.sin(np.pi * x[:, None]) ** (1 + s % 2) for s in samples])
    stored, coarse = [], square(np.linspace(0, 1, COARSE))
    for level in levels:
        wrong = 40 * abs(level - noise) + 0.3
        given = clean + 0.006 * level * random.normal(size=clean.shape)
        prediction = target + wrong * random.normal(size=target.shape)
        prediction = prediction * (np.nan if diverged else 1)
        stored.append(
            one_level(level, square(x), given, target, prediction, samples=samples, target_axes=coarse)
        )
    return {resolution: stored}
