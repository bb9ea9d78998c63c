"""Measure one sample of Kolmogorov flow on one core and on several.

    python -m benchmarks.kolmogorov_threads [--rounds 9] [--output docs/performance.md]

Measures wall time in interleaved rounds, so it needs an idle machine.
"""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial

import numpy as np

from benchmarks.runner import Part, digits, interleaved, run, table
from benchmarks.solvers.race import field_of
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4

MODES = (42, 71, 138)
STEPS, STEP = 50, 0.004


def shared(given: Namespace) -> str:
    cores = len(os.sched_getaffinity(0))
    counts = [threads for threads in (1, 2, 4, 8) if threads <= cores]
    initial, rows = field_of("calvello_kolmogorov").coefficients(0, 0, 0)[None], []
    for modes in MODES:
        runs = [partial(solve, initial, modes, threads) for threads in counts]
        found = interleaved(runs, given.rounds, warm_up=1)
        for threads, times in zip(counts, found, strict=True):
            ratio = found[0].fastest / times.fastest
            rows.append([str(modes), str(threads), str(times.divided(STEPS)), digits(ratio)])
    return table(["modes", "threads", "ms per step", "speed-up"], rows)


def solve(initial: np.ndarray, modes: int, threads: int) -> np.ndarray:
    """Advance the field by `STEPS` steps on several threads."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    return KolmogorovEtdrk4(num_modes=modes, step=STEP).march(initial, (STEPS * STEP,))


if __name__ == "__main__":
    parts = {"threads": Part("Steps", shared, ("numba", "numpy"))}
    run("kolmogorov-threads", parts, rounds=9)
