"""Predict time and memory of each job from its sizes, and the resources requested for it, with a margin.

A prediction (`Need`) is for one core of an otherwise idle Xeon at 2.5 GHz, on which the constants were
measured, or for a GPU. The constants are fitted by hand to records of runs and to the tables of
docs/performance.md and docs/datasets.md, and are accurate to a factor of two or three.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.planning.wildcards import of_wildcards

MEGABYTE = 1e6

# Every job: imports of jax or torch, and compilation.
START_SECONDS = 6.0
START_BYTES = 500e6

# Training operators on one core.
FLOP_PER_SECOND = 3e10  # float32: the transformers of docs/performance.md at 512 to 8192 points
STEP_SECONDS = 0.01  # overhead of a step
VALUE_SECONDS = 3e-8  # for each value of a hidden function, both passes: transforms, activations, norms
# Recorded steps on one H200 are 84 to 215 times as fast as on a core; slower GPUs were not measured. Models
# elsewhere launch each kernel, up to 0.05 s a step. A job that runs out of time loses little, since the next
# attempt resumes from the last epoch.
GPU_SPEED = 100.0
GPU_STEP_SECONDS = 0.01
GPU_BYTES = 3e9  # of main memory, for the libraries
BACKWARD = 3.0  # forward and backward over forward
KEPT_VALUES = 20  # numbers kept for the gradient, for each channel of each layer at each point
SAMPLER_BYTES = 8e3  # bytes for each fine-grid point of an operator that works on a coarse grid
STATE_BYTES = 32  # bytes for each weight: value, gradient, Adam's averages, best epoch, checkpoint
SAMPLE_BYTES = 12  # bytes for each value of the samples in training
EVALUATED_BYTES = 32  # bytes for each value of the samples in evaluation: predictions, errors, spectra

READ_BYTES_PER_SECOND = 2e7  # reading a store: decompression, digests, statistics
COPIES = 4  # of a shard in a job that writes or reads it

# Margin requested beyond the prediction; the margin beyond a measurement is smaller (`measured`).
TIME_FACTOR = 3.0  # jobs took up to three times as long on a busy machine as on an idle one
MEMORY_FACTOR = 1.5
LEAST_MINUTES = 10
SNAKEMAKE_BYTES = 500e6  # the two processes of Snakemake around a job on a cluster


@dataclass(frozen=True)
class Need:
    """Predicted resources of a job: wall-clock seconds, and peak main memory in bytes.

    `disk` is the size in bytes of its output, if it is large. The factors are the requested margins.
    """

    seconds: float
    bytes: float
    disk: float = 0.0
    time_factor: float = TIME_FACTOR
    memory_factor: float = MEMORY_FACTOR


def minutes_requested(need: Need, attempt: int, longest: int | None = None) -> int:
    minutes = max(LEAST_MINUTES, math.ceil(need.time_factor * need.seconds / 60)) * 2 ** (attempt - 1)
    return minutes if longest is None else min(minutes, longest)


def megabytes_requested(need: Need, attempt: int) -> int:
    return math.ceil((need.memory_factor * need.bytes + SNAKEMAKE_BYTES) / MEGABYTE) * 2 ** (attempt - 1)


def request(need: Need | Callable[..., Need], longest: int | None) -> dict[str, Callable[..., int]]:
    """Return the resources `mem_mb` and `runtime` of a rule; the forecast reads `runtime.need`.

    A function as `need` gets the wildcards that its parameters name.
    """
    of_job = of_wildcards(need if callable(need) else lambda: need)

    def mem_mb(wildcards, attempt: int) -> int:
        return megabytes_requested(of_job(wildcards), attempt)

    def runtime(wildcards, attempt: int) -> int:
        return minutes_requested(of_job(wildcards), attempt, longest)

    runtime.need = of_job  # type: ignore[attr-defined]
    return {"mem_mb": mem_mb, "runtime": runtime}


def solving(dataset: DatasetSettings, address: str | None = None) -> Need:
    """Predict a generation job for one shard; it needs no disk space if the store has an `address`."""
    samples = min(dataset.samples_per_shard, dataset.samples.total)
    shard_bytes = samples * dataset.largest_array * 8
    seconds = 2 * START_SECONDS + samples * dataset.seconds_per_sample()
    disk = 0.0 if address else store_bytes(dataset) / dataset.num_shards
    return Need(seconds, START_BYTES + COPIES * shard_bytes + dataset.bytes_of_solving(), disk)


def finalising(dataset: DatasetSettings) -> Need:
    """Predict finalising a dataset: verify all shards, measure errors of some samples, write the card."""
    seconds = START_SECONDS + store_bytes(dataset) / READ_BYTES_PER_SECOND + dataset.seconds_of_checks()
    shard_bytes = min(dataset.samples_per_shard, dataset.samples.total) * dataset.largest_array * 8
    return Need(seconds, START_BYTES + COPIES * shard_bytes + dataset.bytes_of_checks())


def store_bytes(dataset: DatasetSettings) -> float:
    """Return the approximate uncompressed size of a store in bytes: input and target on every grid."""
    functions = dataset.in_channels + dataset.out_channels
    points = sum(map(dataset.num_points, dataset.resolutions))
    return (4.0 if dataset.dimension == 2 else 8.0) * functions * points * dataset.samples.total


def drawing(files: int) -> Need:
    return Need(START_SECONDS / 2 + 0.05 * files, START_BYTES + 2 * MEGABYTE * files)
