"""Training steps of ours and of the public code, in interleaved rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch._inductor.config
from torch import Tensor

from benchmarks.rounds import Times, in_turns
from benchmarks.training.cases import Case, learner
from benchmarks.training.cost import cost
from resolvent.measurements.step_cost import training_step
from resolvent.training.devices import keep_memory
from resolvent.training.operations import counted

CPU = torch.device("cpu")
WARM_UP = 2  # steps: a compiled one compiles


@dataclass(frozen=True)
class Result:
    """Times of ours and of the public code, how far apart their outputs are (relative L2), our operations."""

    case: Case
    ours: Times
    public: Times
    difference: float
    flop: int


def race(cases: list[Case], rounds: int) -> list[Result]:
    """Steps of all cases, ours and the public code's, in turn."""
    torch.compiler.reset()
    torch._inductor.config.compile_threads = 1  # those of this process would not be there in the forked ones
    contestants = [contestant for case in cases for contestant in (case, replace(case, public=True))]
    with torch.no_grad():
        outputs = [one.predict(one.u) for one in (learner(contestant, CPU) for contestant in contestants)]
    times = in_turns([partial(_step, contestant) for contestant in contestants], rounds, warm_up=WARM_UP)
    return [
        Result(
            case,
            times[2 * i],
            times[2 * i + 1],
            relative_difference(*outputs[2 * i : 2 * i + 2]),
            counted(training_step(learner(replace(case, compiled=False), CPU))),
        )
        for i, case in enumerate(cases)
    ]


def _step(case: Case) -> Callable[[], object]:
    """Take a step of a case; ours in a process that keeps its memory, as those of trainings do."""
    if not case.public:
        keep_memory(large=True)
    return training_step(learner(case, CPU))


def relative_difference(ours: Tensor, public: Tensor) -> float:
    return float((ours - public).norm() / public.norm())


def peaks(case: Case) -> tuple[int, int]:
    """Bytes at the peak of a step, ours and the public code's, each in a process of its own."""
    return cost(case).peak_bytes, cost(replace(case, public=True)).peak_bytes
