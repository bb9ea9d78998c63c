"""Compare training steps of the transformers with the public code, and measure Table 1 of Cao (2021).

    python -m benchmarks.training [--only one-dimension ...] [--rounds 3] [--output docs/performance.md]

Needs the extra `bench`, a C++ compiler, 16 GB of memory and an idle machine; takes about half an hour.
"""

from __future__ import annotations

from argparse import Namespace

import torch
from torch.nn import functional

from benchmarks.runner import Part, interleaved, run, table
from benchmarks.steps.cases import AS_PUBLIC_CODE, Case
from benchmarks.steps.race import raced
from benchmarks.steps.table1 import paper_table
from resolvent.models.layers.dot_product_attention import dot_product_attention
from resolvent.models.layers.dropout import drop
from resolvent.training.devices import keep_memory

PACKAGES = ("galerkin-transformer", "torch", "numpy")
BATCH = 4
ATTENTIONS = ("galerkin", "linear", "fourier", "softmax")
LINEAR_COST = ("galerkin", "linear")  # also in the public code


def case_of(
    architecture: str, attention: str, points: int, batch: int = BATCH, contraction: str = "linear"
) -> Case:
    """Return the case of an attention, with the scaling of the public code."""
    settings = {"attention": attention, "contraction": contraction, **AS_PUBLIC_CODE}
    return Case(architecture, points, batch, settings)


def one_dimension(given: Namespace) -> str:
    heats = []
    for n in given.points:
        small = n <= 2048  # four samples at 8192 would need 13 GB for the public code's matrices
        heats.append([case_of("transformer1d", one, n) for one in (ATTENTIONS if small else LINEAR_COST)])
        if small:
            heats[-1].append(case_of("transformer1d", "fourier", n, contraction="quadratic"))
        else:
            heats.append([case_of("transformer1d", "fourier", n, batch=1)])
    return raced(heats, given.rounds)


def two_dimensions(given: Namespace) -> str:
    heats = [[case_of("transformer2d", one, side)] for side in given.sides for one in ATTENTIONS]
    return raced(heats, given.rounds)


def dropout(given: Namespace) -> str:
    """Time dropout of an attention matrix, and softmax attention with it, by our functions and by torch."""
    torch.set_num_threads(1)
    keep_memory(large=True)
    points, batch, features, rate = 512, 8, 97, 0.1
    matrix = torch.randn(batch, 1, points, points, requires_grad=True)
    q, k, v = (torch.randn(batch, 1, points, features, requires_grad=True) for _ in "qkv")
    races = {
        "dropout of an n × n matrix": (
            lambda: drop(matrix, rate),
            lambda: functional.dropout(matrix, rate),
        ),
        "softmax attention with dropout": (
            lambda: dot_product_attention(q, k, v, rate=rate),
            lambda: functional.scaled_dot_product_attention(q, k, v, dropout_p=rate),
        ),
    }
    rows = []
    for name, racers in races.items():
        steps = [lambda racer=racer: racer().sum().backward() for racer in racers]
        ours, theirs = interleaved(steps, 5 * given.rounds, warm_up=2)
        rows.append((name, str(ours), str(theirs), f"{theirs.fastest / ours.fastest:.2f}"))
    lead = f"Forward and backward pass: {points} points, {batch} samples, {features} features, one thread."
    return f"{lead}\n\n{table(('part', 'ours, ms', 'torch, ms', 'speed-up'), rows)}"


PARTS = {
    "one-dimension": Part("One dimension (Example 1)", one_dimension, PACKAGES),
    "two-dimensions": Part("Two dimensions (Example 2)", two_dimensions, PACKAGES),
    "table1": Part("Table 1 of the paper", paper_table, PACKAGES),
    "dropout": Part("Dropout on a CPU", dropout, ("torch",)),
}


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    run(
        "training",
        PARTS,
        points={"type": int, "nargs": "+", "default": [512, 2048, 8192]},
        sides={"type": int, "nargs": "+", "default": [85, 141], "help": "points per side in 2-D"},
        table1_points={"type": int, "default": 8192},
    )
