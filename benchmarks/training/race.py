"""Training steps of ours and of the public code, in interleaved rounds of one process."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.rounds import Times, interleaved
from benchmarks.training.cases import Case, learner
from benchmarks.training.cost import cost
from resolvent.measurements.step_cost import training_step

CPU = torch.device("cpu")
WARM_UP = 2  # steps: a compiled one compiles


@dataclass(frozen=True)
class Result:
    """Ours and the public code's times of a case, and how far apart their outputs are (relative L2)."""

    case: Case
    ours: Times
    public: Times
    difference: float


def race(cases: list[Case], rounds: int) -> list[Result]:
    """Steps of all cases, ours and the public code's, in turn."""
    torch.compiler.reset()
    contestants = [contestant for case in cases for contestant in (case, replace(case, public=True))]
    learners = [learner(contestant, CPU) for contestant in contestants]
    outputs = [learner.predict(learner.u).detach() for learner in learners]
    times = interleaved([training_step(learner) for learner in learners], rounds, warm_up=WARM_UP)
    return [
        Result(case, times[2 * i], times[2 * i + 1], relative_difference(*outputs[2 * i : 2 * i + 2]))
        for i, case in enumerate(cases)
    ]


def relative_difference(ours: Tensor, public: Tensor) -> float:
    return float((ours - public).norm() / public.norm())


def peaks(case: Case) -> tuple[int, int]:
    """Bytes at the peak of a step, ours and the public code's, each in a process of its own."""
    return cost(case).peak_bytes, cost(replace(case, public=True)).peak_bytes
