"""Compare training steps of the transformers of Calvello et al. 2024 with the public code's arithmetic.

    python -m benchmarks.attention [--only trajectories ...] [--rounds 3] [--output docs/performance.md]

Needs a C++ compiler, 24 GB of memory and an idle machine; takes about half an hour.
"""

from __future__ import annotations

from argparse import Namespace

import torch
from tqdm import tqdm

from benchmarks.runner import Part, digits, run, table
from benchmarks.steps.cases import Case, cost, learner
from benchmarks.steps.race import raced
from resolvent.measurements.step_cost import seconds, training_step
from resolvent.training.devices import device_name

PACKAGES = ("torch", "numpy")
FULL = """\
One training step of our operators at the paper's sizes on {device}: peak memory minus weights and data, and
time of the second step in seconds."""
LEARNED = {"patches": 13}
RECOMPUTED = {**LEARNED, "checkpointing": True}
TRAJECTORIES = [Case("tno1d", 200, 64, {})]
SQUARE = [Case("tno2d", 64, 1, {"quadrature": "none"}), Case("tno2d", 64, 1, {})]
PATCHES = [
    Case("vit_no", 208, 1, {**LEARNED, "modes": 8}),
    Case("fano", 208, 1, {**LEARNED, "modes": 8, "width": 64}),
]
FULL_SIZE = [
    Case("tno1d", 200, 64, {}),
    Case("tno2d", 64, 2, {}),
    Case("galerkin_encoder2d", 64, 2, {}),
    Case("afno", 416, 1, {"points": 416}),
    Case("neuraloperator2d", 416, 1, {}),
    *(Case(name, 416, 1, settings) for name in ("vit_no", "fano") for settings in (LEARNED, RECOMPUTED)),
]


def one_by_one(cases: list[Case], given: Namespace) -> str:
    """Race each case separately: the processes of all cases together need too much memory."""
    return raced([[case] for case in cases], given.rounds)


def full_size(given: Namespace) -> str:
    """Measure on the GPU if there is one; the number of rounds is ignored."""
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = []
    for case in tqdm(FULL_SIZE, leave=False):
        step = training_step(learner(case, device))
        seconds(step, device)
        numbers = cost(case, device=device.type).peak_bytes / 1e9, seconds(step, device)
        rows.append((case.name, case.grid, str(case.batch), *map(digits, numbers)))
    header = ("operator", "points", "batch", "peak, GB", "seconds")
    return f"{FULL.format(device=device_name(device))}\n\n{table(header, rows)}"


PARTS = {
    "trajectories": Part("Trajectories (Lorenz-63)", lambda given: one_by_one(TRAJECTORIES, given), PACKAGES),
    "square": Part("The square, 64 × 64", lambda given: one_by_one(SQUARE, given), PACKAGES),
    "patches": Part("Patches", lambda given: one_by_one(PATCHES, given), PACKAGES),
    "full-size": Part("One step at the paper's sizes", full_size, PACKAGES),
}


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    run("attention", PARTS)
