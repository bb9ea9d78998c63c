"""Measure accuracy and cost of the error estimates for pairs of Kolmogorov flow.

    python -m benchmarks.kolmogorov_errors [--only demo laptop full-resolution] \
        [--output docs/equations/kolmogorov.md]

Makes samples of the dataset `kolmogorov` of a configuration. Their estimates (`Kolmogorov.pair_errors`) are
compared with errors relative to a much finer run over the lead time, with three times the modes and 1/16 of
the step. Seconds are processor time of all cores, after a first batch that compiles.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.runner import Part, digits, run, table
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.kolmogorov import Kolmogorov
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.solvers.common.fourier import observe_2d

OVERLAYS = {"demo": ["config/demo.yaml"], "laptop": [], "full-resolution": ["config/full_resolution.yaml"]}
SAMPLES = {"demo": 4, "laptop": 8, "full-resolution": 2}
HEADER = (
    "setting", "samples", "estimated errors", "estimated / true", "time to make a sample",
    "time of the estimate",
)  # fmt: skip


def pair_errors(name: str, given: Namespace) -> str:
    """Make the first samples of a configuration in batches, as generation does, and measure."""
    configuration = load_configuration(read_configuration(list(map(Path, OVERLAYS[name]))))
    task = Kolmogorov(configuration.datasets["kolmogorov"])
    settings, points = task.settings, max(task.settings.resolutions)
    modes, step = settings.expected_discretisation()
    far = task.integrator("etdrk4", 3 * modes, step / 16)
    task.pair_errors(*task.march(task.draw([("train", 0)])))  # compiles
    errors, truth, making, estimating = [], [], 0.0, 0.0
    for start in range(0, SAMPLES[name], task.batch):
        indices = range(start, min(start + task.batch, SAMPLES[name]))
        clock = process_time()
        coefficients, chosen = task.march(task.draw([task.layout.split_of(index) for index in indices]))
        stored = task.observed(coefficients)
        made = process_time()
        errors.append(task.pair_errors(coefficients, chosen))
        making, estimating = making + made - clock, estimating + process_time() - made
        later = far.solve(coefficients[:, 0], (settings.lead_time,))[:, 0]
        target = stored[f"n{points}/later_vorticity"].astype(task.dtype)
        truth.append(relative_l2(target, observe_2d(later, points)))
    estimated = np.concatenate(errors)
    ratio = estimated / np.concatenate(truth)
    row = [
        f"{name}: {modes} modes, step {step:g}, {points}²",
        str(len(ratio)),
        f"{estimated.min():.1e} to {estimated.max():.1e}",
        f"{ratio.min():.4f} to {ratio.max():.4f}",
        f"{digits(making / len(ratio))} s",
        f"{estimating / making:.1%}",
    ]
    return table(HEADER, [row])


if __name__ == "__main__":
    packages = ("jax", "numpy", "scipy")
    parts = {name: Part("", partial(pair_errors, name), packages) for name in OVERLAYS}
    run("pair-errors", parts, rounds=None)
