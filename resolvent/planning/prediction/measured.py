"""Replace predictions by measurements of finished jobs of the same kind in the study.

The measurements are cost.json of each run, and Snakemake's benchmark file of each shard.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.records import CostRecord, read_record
from resolvent.planning.plan import Training
from resolvent.planning.prediction.costs import START_BYTES, START_SECONDS, Need

TIME_FACTOR, MEMORY_FACTOR = 2.0, 1.25  # margins beyond the largest measurement
SHARDS = 8  # number of shards of a dataset whose benchmarks are read, from the first


def of_trainings(
    predicted: Need,
    folders: Iterable[str],
    run: Training,
    *,
    gpu: bool,
    processes: int,
    nodes: int,
    threads: int,
) -> Need:
    """Return the resources of a training, measured in finished runs that differ only in the seed.

    Only runs on the same kind of device and number of processes and threads count. On a GPU main memory
    stays predicted, since such runs record the memory of the GPU.
    """
    alike = []
    for file in (f"{folder}/cost.json" for folder in folders):
        if not os.path.exists(file):  # faster than a failed read for each run of a new study
            continue
        with suppress(FileError):
            cost = read_record(file, CostRecord)
            computed = cost.status, cost.config_hash, cost.processes, cost.threads
            on_gpu = not cost.device.endswith("(CPU)")
            if computed == ("finished", run.config_hash, processes, threads) and on_gpu == gpu:
                alike.append(cost)
    seconds = [START_SECONDS + cost.train_seconds for cost in alike]
    held = [processes // nodes * cost.peak_memory_bytes + START_BYTES * (processes > 1) for cost in alike]
    return _with(predicted, seconds, [] if gpu else held)


def of_shards(predicted: Need, benchmark: str, shards: int) -> Need:
    """Return the resources of a shard, measured for finished shards; `benchmark` is their file pattern."""
    seconds, held = [], []
    for shard in range(min(shards, SHARDS) if os.path.exists(os.path.dirname(benchmark)) else 0):
        with suppress(OSError, ValueError, KeyError):
            names, values = Path(benchmark.format(shard=shard)).read_text().splitlines()[:2]
            row = dict(zip(names.split("\t"), values.split("\t"), strict=True))
            seconds.append(float(row["s"]))
            held.append(float(row["max_rss"]) * 2**20)
    return _with(predicted, seconds, held)


def _with(predicted: Need, seconds: list[float], held: list[float]) -> Need:
    """Replace predictions by the largest measurements, if these are positive and finite."""
    changes: dict[str, float] = {}
    if 0 < max(seconds, default=0) < math.inf:
        changes |= {"seconds": max(seconds), "time_factor": TIME_FACTOR}
    if 0 < max(held, default=0) < math.inf:
        changes |= {"bytes": max(held), "memory_factor": MEMORY_FACTOR}
    return replace(predicted, **changes)
