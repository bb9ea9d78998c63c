"""Training steps of ours and of the public codes' arithmetic, in interleaved rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch._inductor.config
from tqdm import tqdm

from benchmarks.runner import Times, digits, gemm_rate, in_turns, table
from benchmarks.steps.cases import Case, cost, learner
from resolvent.measurements.step_cost import training_step
from resolvent.training.devices import keep_memory
from resolvent.training.operations import counted

CPU = torch.device("cpu")
WARM_UP = 2  # steps: a compiled one compiles
RACE = """\
A step is forward, backward, clipping of the gradient and Adam: processor time on one thread, median
(fastest–slowest) of {rounds} interleaved rounds, each code in a process of its own; the speed-up is that of
the fastest. Memory is the peak of a step beyond weights and data, in a process that gives freed memory back;
on small grids it is mostly buffers of libraries. "Difference" is that of the outputs, relative L² in float32.
Our timed process keeps freed memory, as trainings do where they have enough of it
(`resolvent/training/devices.py`); the public code's does not, and "with memory kept" is the speed-up where it
does. GFLOP/s are our products (torch's `FlopCounterMode`) over our fastest step; matrices of 2048² multiply
at {gemm} GFLOP/s here."""
HEADER = (
    "operator", "points", "batch", "ours, ms", "public code, ms", "speed-up", "with memory kept", "ours, MB",
    "public code, MB", "less memory", "difference", "our GFLOP/s", "of GEMM",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """Times of ours and of the peer, which gives freed memory back or keeps it.

    `difference` is how far apart their outputs are, relative L2; `flop` are our operations.
    """

    case: Case
    ours: Times
    peer: Times
    kept: Times
    difference: float
    flop: int


def race(cases: list[Case], rounds: int) -> list[Result]:
    """Take steps of all cases, ours and the peers', in turn."""
    torch.compiler.reset()
    torch._inductor.config.compile_threads = 1  # those of this process would not be there in the forked ones
    pairs = [(case, replace(case, peer=True)) for case in cases]
    ways = [way for ours, peer in pairs for way in ((ours, True), (peer, False), (peer, True))]
    differences = []
    with torch.no_grad():
        for pair in pairs:
            mine, theirs = (one.predict(one.u) for one in (learner(case, CPU) for case in pair))
            differences.append(float((mine - theirs).norm() / theirs.norm()))
    times = in_turns([partial(_step, *way) for way in ways], rounds, warm_up=WARM_UP)
    return [
        Result(
            case,
            *times[3 * i : 3 * i + 3],
            differences[i],
            counted(training_step(learner(replace(case, compiled=False), CPU))),
        )
        for i, case in enumerate(cases)
    ]


def _step(case: Case, keeps: bool) -> Callable[[], object]:
    """Take a step of a case, in a process that keeps its memory, as those of trainings do, or does not."""
    if keeps:
        keep_memory(large=True)
    return training_step(learner(case, CPU))


def raced(heats: list[list[Case]], rounds: int) -> str:
    """Race the cases of each heat in turns; return the table."""
    torch.set_num_threads(1)
    rows, gemm = [], gemm_rate()
    for heat in tqdm(heats, leave=False):
        for found in race(heat, rounds):
            case, rate = found.case, found.flop / (1e-3 * found.ours.fastest)
            ours, peer = (cost(replace(case, peer=one)).peak_bytes for one in (False, True))
            ratios = (found.peer.fastest / found.ours.fastest, found.kept.fastest / found.ours.fastest)
            rows.append(
                (
                    case.name, case.grid, str(case.batch), str(found.ours), str(found.peer),
                    *map(digits, (*ratios, ours / 1e6, peer / 1e6, peer / ours)), f"{found.difference:.0e}",
                    digits(rate / 1e9), f"{rate / gemm:.0%}",
                )
            )  # fmt: skip
    return f"{RACE.format(rounds=rounds, gemm=digits(gemm / 1e9))}\n\n{table(HEADER, rows)}"
