"""Measure the error of the exact pressure on every k-th cell centre with its outermost values set to zero.

    python -m benchmarks.darcy_ring [--output docs/equations/darcy.md]

The networks of Cao 2021 set these values to zero, so no network does better, whatever it has learned. Solves
the first test samples of `darcy_cao` with 421 cell centres along each side.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from benchmarks.runner import Part, run, table
from resolvent.common.norms import relative_l2
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration

POINTS, SAMPLES = (85, 141, 211), 32


def floors(_: Namespace) -> str:
    """Tabulate the relative L² errors, all points weighted equally as in the paper."""
    task: Any = load_configuration(read_configuration([])).datasets["darcy_cao"].task()
    errors = {points: [] for points in POINTS}
    for start in range(0, SAMPLES, task.batch):
        drawn = task.draw([("test", index) for index in range(start, start + task.batch)])
        finest = task.solver.solve(task.coefficient(drawn, task.settings.finest))
        for points in POINTS:
            pressure = task.restricted(finest, points)
            ringed = np.zeros_like(pressure)
            ringed[:, 1:-1, 1:-1] = pressure[:, 1:-1, 1:-1]
            errors[points].append(relative_l2(ringed, pressure))
    rows = [
        (f"{points}²", str(SAMPLES), f"{np.mean(found):.2e}", f"{np.min(found):.2e}", f"{np.max(found):.2e}")
        for points, found in ((points, np.concatenate(errors[points])) for points in POINTS)
    ]
    return table(("points", "samples", "mean error", "least", "largest"), rows)


if __name__ == "__main__":
    run("ring", {"floors": Part("", floors, ("numpy", "scipy"))}, rounds=None)
