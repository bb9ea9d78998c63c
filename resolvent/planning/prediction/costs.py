"""What jobs take, predicted from their sizes; and what the rules ask for, which is more.

A prediction (`Need`) is for one core of the processor that the constants were measured on, a shared Xeon at
2.5 GHz, quiet, or for a GPU. They are fitted by hand to what runs left behind and to the tables of
docs/performance.md and docs/datasets.md, and good to a factor of two or three.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.models.cost import Cost

MEGABYTE = 1e6

# Of any job: imports of jax or torch, and compilation.
START_SECONDS = 6.0
START_BYTES = 500e6

# Of operators in training, on one core.
FLOP_PER_SECOND = 3e10  # float32: the transformers of docs/performance.md at 512 to 8192 points
STEP_SECONDS = 0.01  # of a step, however small
VALUE_SECONDS = 3e-8  # of a value of a hidden function, both ways: transforms, activations, norms
# Of a GPU no run was measured: guesses on the safe side. Too little time is no loss, for the next attempt
# goes on from the last epoch.
GPU_SPEED = 100.0
GPU_STEP_SECONDS = 0.03
GPU_BYTES = 3e9  # of main memory, for the libraries
BACKWARD = 3.0  # forward and backward over forward
KEPT_VALUES = 20  # numbers kept for the gradient, for each channel of each layer at each point
SAMPLER_BYTES = 8e3  # the same for each point of the fine grid of an operator that works on a coarse one
STATE_BYTES = 32  # of a weight: value, gradient, Adam's averages, the best epoch, what is saved
SAMPLE_BYTES = 12  # of a value of the samples that a training run holds
EVALUATED_BYTES = 32  # the same of samples with predictions, errors and spectra

READ_BYTES_PER_SECOND = 2e7  # of a store: read, decompressed, digested, statistics
COPIES = 4  # of a shard in a job that makes or reads it

# What is asked for beyond the prediction; beyond what was measured it is less (`measured`).
TIME_FACTOR = 3.0  # a busy machine was seen to take three times as long as a quiet one
MEMORY_FACTOR = 1.5
LEAST_MINUTES = 10
SNAKEMAKE_BYTES = 500e6  # the two processes of Snakemake that a job on a cluster runs in


@dataclass(frozen=True)
class Need:
    """What a job is predicted to take: seconds by the clock, and bytes of main memory at its peak.

    `disk` are the bytes that it leaves, of jobs that leave much. The factors are what is asked for beyond it.
    """

    seconds: float
    bytes: float
    disk: float = 0.0
    time_factor: float = TIME_FACTOR
    memory_factor: float = MEMORY_FACTOR


def minutes_requested(need: Need, attempt: int, longest: int | None = None) -> int:
    """Return the wall time to ask for, at most `longest`, which is what a cluster allows."""
    minutes = max(LEAST_MINUTES, math.ceil(need.time_factor * need.seconds / 60)) * 2 ** (attempt - 1)
    return minutes if longest is None else min(minutes, longest)


def megabytes_requested(need: Need, attempt: int) -> int:
    return math.ceil((need.memory_factor * need.bytes + SNAKEMAKE_BYTES) / MEGABYTE) * 2 ** (attempt - 1)


def request(need: Need | Callable[..., Need], longest: int | None) -> dict[str, Callable[..., int]]:
    """Return the resources `mem_mb` and `runtime` of a rule; `need` may be a function of the job's wildcards.

    `runtime` keeps this function as its attribute `need`, for the forecast.
    """

    def of(wildcards) -> Need:
        return need(wildcards) if callable(need) else need

    def runtime(wildcards, attempt: int) -> int:
        return minutes_requested(of(wildcards), attempt, longest)

    runtime.need = of  # type: ignore[attr-defined]
    return {
        "mem_mb": lambda wildcards, attempt: megabytes_requested(of(wildcards), attempt),
        "runtime": runtime,
    }


def solving(dataset: DatasetSettings, address: str | None = None) -> Need:
    """Predict a generation job: one shard; nothing of it lies on the disk if the store has an address."""
    samples = min(dataset.samples_per_shard, dataset.samples.total)
    shard_bytes = samples * dataset.largest_array * 8
    return Need(
        2 * START_SECONDS + samples * dataset.seconds_per_sample(),
        START_BYTES + COPIES * shard_bytes + dataset.bytes_of_solving(),
        disk=0.0 if address else store_bytes(dataset) / dataset.num_shards,
    )


def finalising(dataset: DatasetSettings) -> Need:
    """Predict verifying every shard, measuring the errors of some samples, the card."""
    seconds = START_SECONDS + store_bytes(dataset) / READ_BYTES_PER_SECOND + dataset.seconds_of_checks()
    shard_bytes = min(dataset.samples_per_shard, dataset.samples.total) * dataset.largest_array * 8
    return Need(seconds, START_BYTES + COPIES * shard_bytes + dataset.bytes_of_checks())


def store_bytes(dataset: DatasetSettings) -> float:
    """Predict the size of a store before compression, roughly: input and target on every grid."""
    functions = dataset.in_channels + dataset.out_channels
    points = sum(map(dataset.num_points, dataset.resolutions))
    return (4.0 if dataset.dimension == 2 else 8.0) * functions * points * dataset.samples.total


def training(
    operator: Cost,
    *,
    samples: int,
    channels: int,
    epochs: int,
    batch_size: int,
    tested: int,
    gpu: bool,
    processes: int = 1,
    nodes: int = 1,
    most: float = math.inf,
) -> Need:
    """Predict a training run.

    `tested` samples follow every epoch; each sample has as many functions as `channels`, and all take at most
    `most` bytes. Each process has all samples in its memory. The memory is that of each of the `nodes`.
    """
    work = operator.forward_flop / FLOP_PER_SECOND
    part, tested_part = math.ceil(batch_size / processes), math.ceil(tested / processes)
    step = part * (BACKWARD * work + VALUE_SECONDS * operator.hidden_values)
    steps = samples // batch_size
    if gpu:
        epoch = steps * GPU_STEP_SECONDS + (steps * step + tested_part * work) / GPU_SPEED
    else:
        epoch = steps * (STEP_SECONDS + step) + tested_part * work
    data = min(SAMPLE_BYTES * channels * operator.points * (samples + tested), most)
    kept = 4 * KEPT_VALUES * operator.hidden_values + SAMPLER_BYTES * operator.resampled_points  # of a sample
    held = STATE_BYTES * operator.weights + data + (GPU_BYTES if gpu else part * kept)
    size = processes // nodes * (START_BYTES + held) + (START_BYTES if processes > 1 else 0)
    return Need(START_SECONDS + epochs * epoch, size, disk=4 * operator.weights)


def evaluating(
    operators: list[Cost], *, samples: int, channels: int, gpu: bool, most: float = math.inf
) -> Need:
    """Predict outputs for test samples, their errors and spectra: `operators` has one for each grid tested
    on.

    `samples` are counted with every level and draw of noise; those at hand take at most `most` bytes.
    """
    flop = sum(operator.forward_flop for operator in operators)
    values = sum(operator.points for operator in operators) * channels
    largest = max(operator.points for operator in operators)
    batch = 4 * KEPT_VALUES * 2**16 * operators[0].width  # resolvent.evaluation.conditions.BATCH_VALUES
    outputs = flop / FLOP_PER_SECOND / (GPU_SPEED if gpu else 1)
    seconds = samples * (outputs + 10 * VALUE_SECONDS * values)
    held = min(EVALUATED_BYTES * channels * largest * samples, most) + (GPU_BYTES if gpu else batch)
    return Need(START_SECONDS + seconds, START_BYTES + STATE_BYTES * operators[0].weights + held)


def drawing(files: int) -> Need:
    return Need(START_SECONDS / 2 + 0.05 * files, START_BYTES + 2 * MEGABYTE * files)
