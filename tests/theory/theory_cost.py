"""Cost of attention for increasing numbers of points: counted operations and measured time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from timeit import Timer

import numpy as np
import pandas
import torch
from torch import Tensor

from resolvent.models.layers import attention
from resolvent.training.devices import device_name
from resolvent.training.operations import counted

# Function, and the power of n in its number of operations.
ATTENTIONS: dict[str, tuple[Callable[..., Tensor], int]] = {
    "galerkin": (attention.galerkin, 1),
    "linear": (attention.linear, 1),
    "fourier_linear": (attention.fourier, 1),
    "fourier_quadratic": (partial(attention.fourier, contraction="quadratic"), 2),
    "softmax": (attention.softmax, 2),
}
VISIT = 0.02  # minimum duration of a timing in seconds, reached by repeated calls


@torch.no_grad()
def costs(points: list[int], features: int, repetitions: int, seed: int) -> pandas.DataFrame:
    """Measure the forward pass of one head with batch size one in float32 on one CPU thread.

    Every repetition cycles through all attentions and sizes, so slow phases of the machine affect all of
    them. A visit calls a fast attention several times, because the clock cannot resolve one call. `flops`
    counts matrix products, with a multiplication and an addition as two; `seconds` is the median of the
    processor's time, in which other processes matter little.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = {n: [torch.randn(1, 1, n, features, generator=generator) for _ in "QKV"] for n in points}
    jobs = {(name, n): partial(ATTENTIONS[name][0], *inputs[n]) for n in points for name in ATTENTIONS}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for attend in jobs.values():  # the first call of a size also allocates memory
            attend()
        timers = {job: Timer(attend, timer=time.process_time) for job, attend in jobs.items()}
        calls = {job: math.ceil(VISIT / max(timer.timeit(1), 1e-6)) for job, timer in timers.items()}
        seconds: dict[tuple[str, int], list[float]] = {job: [] for job in jobs}
        for _ in range(repetitions):
            for job, timer in timers.items():
                seconds[job].append(timer.timeit(calls[job]) / calls[job])
    finally:
        torch.set_num_threads(threads)
    rows = [
        (name, n, features, counted(attend), float(np.median(seconds[name, n])), repetitions)
        for (name, n), attend in jobs.items()
    ]
    columns = ["attention", "points", "features", "flops", "seconds", "repetitions"]
    return pandas.DataFrame(rows, columns=columns).assign(device=device_name(torch.device("cpu")))
