"""Measure memory and time of the statistics of a large store: `python -m benchmarks.statistics_memory`.

Makes a store of 10,000 samples on 416 × 416 points in a temporary folder (about 7 GB before compression),
then measures `resolvent.datasets.card` in a separate process.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from resolvent.datasets.card import statistics
from resolvent.datasets.storage.layout import Layout, Variable, space_group
from resolvent.datasets.storage.store import create_store, write_shard
from resolvent.solvers.common.grid import Grid

SAMPLES, SAMPLES_PER_SHARD, POINTS = 10_000, 100, 416


def make_store(store: Path) -> None:
    """Make a store of one variable, with the same random values in all shards, coarse to be compressible."""
    group = space_group(Grid("periodic", POINTS, dimension=2), Variable("vorticity", "vorticity"))
    layout = Layout((group,), {"train": SAMPLES}, SAMPLES_PER_SHARD, "float32")
    create_store(store, layout)
    generator = np.random.default_rng(0)
    values = generator.integers(-8, 8, (SAMPLES_PER_SHARD, POINTS, POINTS)).astype("float32")
    for shard in range(layout.num_shards):
        write_shard(store, layout, shard, [(f"n{POINTS}/vorticity", values)])


def measure(store: Path) -> None:
    """Print time and memory of the statistics in this process."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
    statistics(store)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{perf_counter() - start:.0f} s; peak memory {peak / 2**20:.2f} GB ({before / 2**20:.2f} before)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make_store(Path(folder) / "large.zarr")
        process = multiprocessing.get_context("spawn").Process(
            target=measure, args=(Path(folder) / "large.zarr",)
        )
        process.start()
        process.join()
