"""Compare the speed of our solvers and their peers, and write docs/performance.md.

    python -m benchmarks.solvers [--only burgers darcy ...] [--rounds 3] [--processor-time]

Needs the extra `bench` and an idle machine. Takes about ten minutes on two cores.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from importlib import import_module
from time import perf_counter, process_time

import jax
from tqdm import tqdm

from benchmarks.runner import Part, run
from benchmarks.solvers.race import raced
from resolvent.training.devices import keep_memory

TOPICS = {  # titles and packages; only requested topics are imported
    "burgers": ("Burgers", ("ducc0", "exponax", "jax", "numpy", "scipy")),
    "darcy": ("Darcy", ("cvxopt", "jax", "mkl", "numba", "numpy", "pyamg", "pypardiso", "scipy")),
    "ode": (
        "Ordinary differential equations",
        ("diffrax", "jax", "numba", "numpy", "scipy", "torch", "torchdiffeq"),
    ),
    "kolmogorov": ("Kolmogorov flow", ("ducc0", "exponax", "jax", "jax-cfd", "numpy", "scipy")),
    "fields": ("Random fields", ("ducc0", "numpy", "scipy")),
}


def races_of(topic: str, given: Namespace) -> str:
    """Return a topic's remark, and a table for each race."""
    module = import_module(f"benchmarks.solvers.{topic}")
    clock, parts = process_time if given.processor_time else perf_counter, [module.REMARK]
    for race in tqdm(module.races(), desc=topic, unit="race", leave=False):
        parts += [f"#### {race.title}", raced(race, given.rounds, clock)]
        parts += [f"Rounds: {race.most_rounds}."] if race.most_rounds else []
        parts += [f"Not measured: {peer}." for peer in race.missing]
    return "\n\n".join(parts)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # our solvers set it themselves, peers do not
    keep_memory(large=True)  # for all contestants
    parts = {
        topic: Part(title, partial(races_of, topic), packages) for topic, (title, packages) in TOPICS.items()
    }
    run(
        "solvers",
        parts,
        processor_time={
            "action": "store_true",
            "help": "measure processor time, summed over threads, instead of wall time: for a busy machine",
        },
    )
