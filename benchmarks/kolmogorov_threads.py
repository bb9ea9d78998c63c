"""One sample of Kolmogorov flow on one core, and shared among several.

    python -m benchmarks.kolmogorov_threads [--rounds 9] [--output docs/performance.md]

Times are by the clock, in interleaved rounds: run it where nothing else computes.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rounds import interleaved
from benchmarks.tables import digits, machine, measure_parts, table, versions
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d

MODES = (42, 71, 138)
STEPS, STEP = 50, 0.004
INTRODUCTION = """
### Kolmogorov flow, a sample shared among threads

One sample, alone on the machine, with `OMP_NUM_THREADS` of 1 and more: every thread has its share of the
columns and rows, and the bits are the same. Milliseconds of a step by the clock: median (fastest–slowest).
The speed-up is that of the fastest.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, help="write the table into this Markdown page")
    given = parser.parse_args()
    parts = {"threads": partial(body, given.rounds)}
    measure_parts("kolmogorov-threads", INTRODUCTION, parts, list(parts), given.output)


def body(rounds: int) -> str:
    """Return the table, and what made it."""
    cores = len(os.sched_getaffinity(0))
    counts = [threads for threads in (1, 2, 4, 8) if threads <= cores]
    initial, rows = initial_field(), []
    for modes in MODES:
        runs = [partial(solve, initial, modes, threads) for threads in counts]
        found = interleaved(runs, rounds, warm_up=1)
        for threads, times in zip(counts, found, strict=True):
            ratio = found[0].fastest / times.fastest
            rows.append([str(modes), str(threads), str(times.divided(STEPS)), digits(ratio)])
    command = "`python -m benchmarks.kolmogorov_threads`"
    found = table(["modes", "threads", "ms a step", "speed-up"], rows)
    return f"{found}\n\n{command} on {machine()}; {versions(['numba', 'numpy'])}. Rounds: {rounds}."


def initial_field() -> np.ndarray:
    """Return the coefficients of a field of the default distribution, (1, 2K + 1, K + 1)."""
    distribution = DISTRIBUTIONS["calvello_kolmogorov"]
    field = PeriodicGaussianField2d(
        distribution.sigma, distribution.tau, distribution.gamma, orthonormal=distribution.orthonormal
    )
    return field.coefficients(0, 0, 0)[None]


def solve(initial: np.ndarray, modes: int, threads: int) -> np.ndarray:
    """Advance the field by `STEPS`, shared among the threads."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    return KolmogorovEtdrk4(num_modes=modes, step=STEP).march(initial, (STEPS * STEP,))


if __name__ == "__main__":
    main()
