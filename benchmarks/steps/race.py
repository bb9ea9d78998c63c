"""Training steps of our operators and of the public codes' arithmetic, in interleaved rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
import torch._inductor.config
from tqdm import tqdm

from benchmarks.runner import Times, digits, gemm_rate, in_turns, table
from benchmarks.steps.cases import Case, cost, learner
from resolvent.measurements.step_cost import training_step
from resolvent.training.devices import keep_memory
from resolvent.training.operations import counted

CPU = torch.device("cpu")
WARM_UP = 2  # steps, including compilation
RACE = """\
Rounds: {rounds}. All processes keep freed memory, like trainings with enough memory. The public code is
measured with and without `torch.compile`, ours only without; the speed-up compares our fastest step with the
faster of the two. 2048 × 2048 matrix products run at {gemm} GFLOP/s here."""
HEADER = (
    "operator", "points", "batch", "ours, ms", "public code, ms", "public code compiled, ms", "speed-up",
    "ours, MB", "public code, MB", "less memory", "difference", "our GFLOP/s", "of GEMM",
)  # fmt: skip


class Result(NamedTuple):
    """Times of ours, the peer and the compiled peer."""

    ours: Times
    peer: Times
    compiled: Times


def race(cases: list[Case], rounds: int) -> list[Result]:
    """Time steps of all cases, ours and the peers', in turn."""
    torch.compiler.reset()
    torch._inductor.config.compile_threads = 1  # threads would be missing in forked processes
    makers = []
    for case in cases:
        peer = replace(case, peer=True)
        makers += [partial(_step, way) for way in (case, peer, replace(peer, compiled=True))]
    times = in_turns(makers, rounds, warm_up=WARM_UP)
    return [Result(*times[i : i + 3]) for i in range(0, len(times), 3)]


def _step(case: Case) -> Callable[[], object]:
    """Return the step of a case, in a process that keeps its memory, as in training."""
    keep_memory(large=True)
    return training_step(learner(case, CPU))


def raced(heats: list[list[Case]], rounds: int) -> str:
    """Race the cases of each heat in turn; return the table."""
    torch.set_num_threads(1)
    rows, gemm = [], gemm_rate()
    for heat in tqdm(heats, leave=False):
        for case, (ours, peer, compiled) in zip(heat, race(heat, rounds), strict=True):
            both = (case, replace(case, peer=True))
            with torch.no_grad():
                mine, theirs = (one.predict(one.u) for one in (learner(way, CPU) for way in both))
            difference = float((mine - theirs).norm() / theirs.norm())
            rate = counted(training_step(learner(case, CPU))) / (1e-3 * ours.fastest)
            ours_bytes, peer_bytes = (cost(way).peak_bytes for way in both)
            speed = min(peer.fastest, compiled.fastest) / ours.fastest
            memory = (ours_bytes / 1e6, peer_bytes / 1e6, peer_bytes / ours_bytes)
            rows.append(
                (
                    case.name, case.grid, str(case.batch), str(ours), str(peer), str(compiled),
                    *map(digits, (speed, *memory)), f"{difference:.0e}", digits(rate / 1e9),
                    f"{rate / gemm:.0%}",
                )
            )  # fmt: skip
    return f"{RACE.format(rounds=rounds, gemm=digits(gemm / 1e9))}\n\n{table(HEADER, rows)}"
