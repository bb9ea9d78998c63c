"""Run folders of the experiments of Calvello et al. 2024: trajectories, and fields on the square."""

import numpy as np
import pandas as pd
from run_files import one_level, replace_errors, set_resolution, square, write_same_predictions

OBSERVATIONS = {
    "dt0.01": {"kind": "uniform", "step": 0.01},
    "dt0.005": {"step": 0.005},
    "dt0.02": {"kind": "uniform", "step": 0.02},
    "two_rates": {"kind": "two_rates", "step": 0.01},
    "random": {"kind": "random", "count": 50},
}
LORENZ = {"equation": "lorenz63", "targets": "y", "observations": OBSERVATIONS}
FLOW = {"equation": "kolmogorov", "frames": 3}
SAMPLES, POINTS, PATCHES = 6, 16, 4


def write_trajectory_run(
    make_run, model, quadrature, *, wrong=0.02, diverged_epoch=None, components=1, **options
):
    """A run at the times dt0.01; errors of sample s are `expected_error`, of standardised functions twice."""
    directory = make_run(
        model, architecture="tno1d", attention=None, settings={"quadrature": quadrature, "width": 64},
        dimension=2, resolution=3, diverged_epoch=diverged_epoch,
        **{"label": model, "experiment": "lorenz63_y", "dataset": LORENZ, **options},
    )  # fmt: skip
    set_resolution(directory, "dt0.01")
    lost = np.nan if diverged_epoch is not None else 1.0
    rows = [
        (name, 0.0, 0, sample, error * lost, 1.0, 2 * error * lost)
        for name in OBSERVATIONS
        for sample, error in enumerate(expected_error(wrong, name, sample) for sample in range(SAMPLES))
    ]
    write_same_predictions(directory, _trajectories, wrong, components, diverged_epoch is not None)
    _write_errors(directory, rows)
    return directory


def _trajectories(wrong, components, diverged):
    stored, lost = {}, np.nan if diverged else 1.0
    for name in OBSERVATIONS:
        times = np.linspace(0, 2, 21) ** (1.2 if name in ("two_rates", "random") else 1.0)
        observed = np.sin(3 * times) * np.ones((3, 1))
        target = np.stack([one * np.cos(3 * times) for one in (1.0, 1.5, 1.2)])[:, None].repeat(
            components, axis=1
        )
        prediction = (target + 10 * wrong * np.sin(9 * times)) * lost
        given = observed if components == 1 else np.stack([observed] * 3, axis=1)
        stored[name] = [one_level(0.0, {"time": times}, given, target, prediction, samples=(0, 1))]
    return stored


def expected_error(wrong, name, sample):
    """Larger at other times than those of training, and a little by sample."""
    return wrong * (1 + 0.5 * list(OBSERVATIONS).index(name)) * (1 + 0.1 * sample)


def write_flow_run(
    make_run, model, architecture, *, tested=(16, 24, 32), away=0.01, jump=0.0, seed=1, diverged_epoch=None,
    settings=None, standardised=True, **options,
):  # fmt: skip
    """A run on 16 points a side of a periodic square.

    Its error grows by `away` from each tested grid to the next; its predictions have steps of height `jump`
    at the edges of 4 × 4 patches.
    """
    options = {"label": model, "experiment": "kolmogorov", "dataset": FLOW, **options}
    directory = make_run(
        model, architecture=architecture, attention=None, settings=settings, dimension=2, resolution=POINTS,
        seed=seed, diverged_epoch=diverged_epoch, **options,
    )  # fmt: skip
    lost = np.nan if diverged_epoch is not None else 1.0
    rows = [
        (points, 0.0, 0, sample, (0.02 + number * away) * (1 + 0.1 * sample) * lost, 1.0)
        for number, points in enumerate(tested)
        for sample in range(SAMPLES)
    ]
    if standardised:
        rows = [(*row, 1.5 * row[4]) for row in rows]
    write_same_predictions(directory, _flow_fields, jump, seed, diverged_epoch is not None)
    _write_errors(directory, rows)
    return directory


def _flow_fields(jump, seed, diverged):
    fields, lost = flow(3), np.nan if diverged else 1.0
    answer = np.roll(fields, 1, axis=2)
    steps = jump * (np.arange(POINTS) // (POINTS // PATCHES) % 2)
    prediction = (answer * 1.01 + steps + steps[:, None]) * lost
    power = np.where(np.arange(12) > 0, 10.0 ** -np.arange(12.0), 0.0)
    powers = {"target": power, "prediction": power * (0.5 + 0.1 * seed) * lost, "error": 0.1 * power * lost}
    level = one_level(
        0.0, square(np.arange(POINTS) / POINTS), fields, answer, prediction, samples=(0, 1),
        extremes=(3, 5, 1), power={"wavenumber": np.arange(12), **powers},
    )  # fmt: skip
    return {POINTS: [level]}


def flow(count):
    """Smooth periodic fields (count, 16, 16) without a wave that fits the patches."""
    x = 2 * np.pi * np.arange(POINTS) / POINTS
    phases = 0.3 + np.arange(count)[:, None, None]
    return np.sin(x + phases) + 0.5 * np.cos(x[:, None] - 2 * phases)


def _write_errors(directory, rows):
    columns = ["resolution", "noise", "realisation", "sample", "relative_l2", "relative_h1"]
    columns += ["standardised_relative_l2"] * (len(rows[0]) - len(columns))
    replace_errors(directory, pd.DataFrame(rows, columns=columns))
