"""Memory and time of the statistics of a large store: `python benchmarks/statistics_memory.py`.

Makes a store of 10,000 samples on 416 × 416 points in a temporary folder (about 7 GB before compression),
then measures `resolvent.datasets.storage.card` in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from resolvent.datasets.storage.card import statistics
from resolvent.datasets.storage.layout import Layout, Variable, space_group
from resolvent.datasets.storage.store import create_store, write_shard
from resolvent.solvers.common.grid import Grid

SAMPLES_PER_SHARD = 100


def make_store(store: Path, samples: int, points: int) -> None:
    """A store of one variable; every shard holds the same random values, coarse so that they compress."""
    group = space_group(Grid("periodic", points, dimension=2), Variable("vorticity", "vorticity"))
    layout = Layout((group,), {"train": samples}, SAMPLES_PER_SHARD, "float32")
    create_store(store, layout)
    generator = np.random.default_rng(0)
    values = generator.integers(-8, 8, (SAMPLES_PER_SHARD, points, points)).astype("float32")
    for shard in range(layout.num_shards):
        write_shard(store, layout, shard, [(f"n{points}/vorticity", values)])


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory and time of the statistics of a large store.")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=416)
    parser.add_argument("--store", type=Path, help="measure this store, in this process")
    arguments = parser.parse_args()
    if arguments.store:
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
        statistics(arguments.store)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"{perf_counter() - start:.0f} s; peak memory {peak / 2**20:.2f} GB ({before / 2**20:.2f} before)"
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "large.zarr"
        make_store(store, arguments.samples, arguments.points)
        subprocess.run([sys.executable, __file__, "--store", store], check=True)


if __name__ == "__main__":
    main()
