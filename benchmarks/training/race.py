"""Training steps of ours and of the public code, in interleaved rounds of one process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

from benchmarks.tables import digits
from benchmarks.training.cases import Case, learner
from benchmarks.training.cost import cost
from training.step_cost import training_step

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Times:
    """Milliseconds of a step: median and range over the rounds."""

    middle: float
    fastest: float
    slowest: float


@dataclass(frozen=True)
class Result:
    """Ours and the public code's times of a case, and how far apart their outputs are (relative L2)."""

    case: Case
    ours: Times
    public: Times
    difference: float


def race(cases: list[Case], rounds: int) -> list[Result]:
    """Every step twice to warm up (a compiled one compiles), then `rounds` rounds of all of them in turn."""
    torch.compiler.reset()
    contestants = [contestant for case in cases for contestant in (case, replace(case, public=True))]
    learners = [learner(contestant, CPU) for contestant in contestants]
    outputs = [learner.predict(learner.u).detach() for learner in learners]
    times = timed([training_step(learner) for learner in learners], rounds)
    return [
        Result(case, times[2 * i], times[2 * i + 1], relative_difference(*outputs[2 * i : 2 * i + 2]))
        for i, case in enumerate(cases)
    ]


def timed(steps: list[Callable[[], object]], rounds: int) -> list[Times]:
    milliseconds: list[list[float]] = [[] for _ in steps]
    for round_ in range(-2, rounds):
        for step, measured in zip(steps, milliseconds, strict=True):
            start = perf_counter()
            step()
            if round_ >= 0:
                measured.append(1e3 * (perf_counter() - start))
    return [Times(median(values), min(values), max(values)) for values in milliseconds]


def span(times: Times) -> str:
    """Median and range."""
    return f"{digits(times.middle)} ({digits(times.fastest)}–{digits(times.slowest)})"


def relative_difference(ours: Tensor, public: Tensor) -> float:
    return float((ours - public).norm() / public.norm())


def peaks(case: Case) -> tuple[int, int]:
    """Bytes at the peak of a step, ours and the public code's, each in a process of its own."""
    return cost(case).peak_bytes, cost(replace(case, public=True)).peak_bytes
