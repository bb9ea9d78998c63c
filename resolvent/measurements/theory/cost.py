"""What the attentions cost: operations counted, time measured, as the number of points grows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas
import torch
from torch import Tensor

from resolvent.models.layers import attention
from resolvent.training.devices import device_name
from resolvent.training.operations import counted

ATTENTIONS: dict[
    str, tuple[Callable[..., Tensor], int]
] = {  # with the power of n in the number of operations
    "galerkin": (attention.galerkin, 1),
    "linear": (attention.linear, 1),
    "fourier_linear": (attention.fourier, 1),
    "fourier_quadratic": (partial(attention.fourier, contraction="quadratic"), 2),
    "softmax": (attention.softmax, 2),
}
VISIT = 0.02  # seconds that one timing should last at least, by repeated calls


@torch.no_grad()
def costs(points: list[int], features: int, repetitions: int, seed: int) -> pandas.DataFrame:
    """Measure one head's forward pass, batch of one, float32, on one CPU thread.

    Every repetition visits every attention and size in turn, so that a slow moment of the machine hits all
    alike. A visit calls a fast attention several times: a clock cannot resolve how long one call took.

    Columns: `attention`, `points`, `features`, `flops` (of the matrix products, two for a multiplication with
    its addition), `seconds` (the median), `repetitions`, `device`.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = {n: [torch.randn(1, 1, n, features, generator=generator) for _ in "QKV"] for n in points}
    jobs = [(name, n) for n in points for name in ATTENTIONS]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name, n in jobs:  # the first call of a size also fetches its memory
            ATTENTIONS[name][0](*inputs[n])
        calls = {(name, n): math.ceil(VISIT / timed(ATTENTIONS[name][0], inputs[n], 1)) for name, n in jobs}
        seconds = {job: [] for job in jobs}
        for _ in range(repetitions):
            for name, n in jobs:
                seconds[name, n].append(timed(ATTENTIONS[name][0], inputs[n], calls[name, n]))
    finally:
        torch.set_num_threads(threads)
    return pandas.DataFrame(
        {
            "attention": name,
            "points": n,
            "features": features,
            "flops": counted(partial(ATTENTIONS[name][0], *inputs[n])),
            "seconds": float(np.median(seconds[name, n])),
            "repetitions": repetitions,
            "device": device_name(torch.device("cpu")),
        }
        for name, n in jobs
    )


def timed(function: Callable[..., Tensor], inputs: list[Tensor], calls: int) -> float:
    """Return the seconds of one call, the mean of `calls`."""
    begin = time.perf_counter()
    for _ in range(calls):
        function(*inputs)
    return (time.perf_counter() - begin) / calls
