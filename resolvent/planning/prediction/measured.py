"""Take what ended jobs of the study took in place of what others of their kind are predicted to take.

The records are those that jobs leave anyway: cost.json of a run, Snakemake's benchmark of a shard.
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

TIME_FACTOR, MEMORY_FACTOR = 2.0, 1.25  # what is asked for beyond the most that was measured
SHARDS = 8  # of a dataset that are looked at, the first ones


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
    """Return what a training takes by those of the same run from other seeds, computed in the same way.

    Of runs on a GPU the memory of the GPU is recorded; main memory stays predicted.
    """
    alike = []
    for file in (f"{folder}/cost.json" for folder in folders):
        if not os.path.exists(file):  # as in a study that begins: to read it would take longer
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
    """Return what a shard takes by those that have ended; `benchmark` is the pattern of their files."""
    seconds, held = [], []
    for shard in range(min(shards, SHARDS) if os.path.exists(os.path.dirname(benchmark)) else 0):
        with suppress(OSError, ValueError, KeyError):
            names, values = Path(benchmark.format(shard=shard)).read_text().splitlines()[:2]
            row = dict(zip(names.split("\t"), values.split("\t"), strict=True))
            seconds.append(float(row["s"]))
            held.append(float(row["max_rss"]) * 2**20)
    return _with(predicted, seconds, held)


def _with(predicted: Need, seconds: list[float], held: list[float]) -> Need:
    """Replace what was measured, where it is a number that a job can have taken."""
    changes: dict[str, float] = {}
    if 0 < max(seconds, default=0) < math.inf:
        changes |= {"seconds": max(seconds), "time_factor": TIME_FACTOR}
    if 0 < max(held, default=0) < math.inf:
        changes |= {"bytes": max(held), "memory_factor": MEMORY_FACTOR}
    return replace(predicted, **changes)
