"""Training steps of the transformers against the public code's, and Table 1 of Cao (2021).

    python -m benchmarks.training [--only one-dimension ...] [--rounds 3] [--output docs/performance.md]

Needs the extra `bench`, 16 GB of memory, and a machine with nothing else to do: about half an hour.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

import torch
from tqdm import tqdm

from benchmarks.runner import Part, digits, run, table
from benchmarks.steps.cases import AS_PUBLIC_CODE, Case
from benchmarks.steps.race import race, raced
from benchmarks.steps.table1 import paper_table

PACKAGES = ("galerkin-transformer", "torch", "numpy")
BATCH = 4
ATTENTIONS = ("galerkin", "linear", "fourier", "softmax")
LINEAR_COST = ("galerkin", "linear")  # of the public code too
COMPILED = """\
The same with both compiled by `torch.compile`, and both not, in the same rounds. Trainings are not compiled,
although every architecture can be: the kernels, and with them the last bits of every weight, depend on the
C++ compiler and the vector unit of the machine, so that a run resumed on another one would no longer end with
the same bytes; and compilation takes each job longer than many small trainings last."""
COMPILED_HEADER = (
    "n", "attention", "ours, ms", "ours compiled, ms", "public code, ms", "public code compiled, ms",
    "speed-up, both compiled", "ours compiled over public code",
)  # fmt: skip


def case_of(
    architecture: str, attention: str, points: int, batch: int = BATCH, contraction: str = "linear"
) -> Case:
    """Return the case of an attention, with the scaling of the public code."""
    settings = {"attention": attention, "contraction": contraction, **AS_PUBLIC_CODE}
    return Case(architecture, points, batch, settings)


def one_dimension(given: Namespace) -> str:
    heats = []
    for n in given.points:
        small = n <= 2048  # of four samples at 8192 the public code's matrices would take 13 GB
        heats.append([case_of("transformer1d", one, n) for one in (ATTENTIONS if small else LINEAR_COST)])
        if small:
            heats[-1].append(case_of("transformer1d", "fourier", n, contraction="quadratic"))
        else:
            heats.append([case_of("transformer1d", "fourier", n, batch=1)])
    return raced(heats, given.rounds)


def two_dimensions(given: Namespace) -> str:
    heats = [[case_of("transformer2d", one, side)] for side in given.sides for one in ATTENTIONS]
    return raced(heats, given.rounds)


def compiled(given: Namespace) -> str:
    torch.set_num_threads(1)
    try:
        torch.compile(lambda x: 2 * x)(torch.ones(1))
    except RuntimeError as error:
        return f"Not measured: torch.compile does not work here ({str(error).splitlines()[0]})."
    rows = []
    for attention in tqdm(ATTENTIONS, desc="compiled", leave=False):
        eager = case_of("transformer1d", attention, 2048)
        plain, fast = race([eager, replace(eager, compiled=True)], given.rounds)
        ours, ours_fast, peer, peer_fast = (
            times.middle for times in (plain.ours, fast.ours, plain.peer, fast.peer)
        )
        numbers = (ours, ours_fast, peer, peer_fast, peer_fast / ours_fast, peer / ours_fast)
        rows.append((str(eager.points), attention, *map(digits, numbers)))
    return f"{COMPILED}\n\n{table(COMPILED_HEADER, rows)}"


PARTS = {
    "one-dimension": Part("One dimension (Example 1)", one_dimension, PACKAGES),
    "compiled": Part("Compiled", compiled, PACKAGES),
    "two-dimensions": Part("Two dimensions (Example 2)", two_dimensions, PACKAGES),
    "table1": Part("Table 1 of the paper", paper_table, PACKAGES),
}


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    run(
        "training",
        PARTS,
        points={"type": int, "nargs": "+", "default": [512, 2048, 8192]},
        sides={"type": int, "nargs": "+", "default": [85, 141], "help": "points a side in 2-D"},
        table1_points={"type": int, "default": 8192},
    )
