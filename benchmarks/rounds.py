"""Runs in interleaved rounds: a busy machine slows them alike, so that their ratios hold."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from statistics import median
from time import perf_counter, process_time

import torch

from benchmarks.tables import digits


@dataclass(frozen=True)
class Times:
    """Milliseconds of a run: median and range over the rounds."""

    middle: float
    fastest: float
    slowest: float

    def divided(self, samples: int) -> Times:
        """Return the times of one sample, where a run takes several."""
        return Times(self.middle / samples, self.fastest / samples, self.slowest / samples)

    def __str__(self) -> str:
        return f"{digits(self.middle)} ({digits(self.fastest)}–{digits(self.slowest)})"


def interleaved(
    runs: list[Callable[[], object]],
    rounds: int,
    *,
    warm_up: int = 0,
    clock: Callable[[], float] = perf_counter,
) -> list[Times]:
    """`warm_up` rounds that are not timed, then `rounds` of all runs in turn.

    The `clock` `time.process_time` counts what the processor did for this process alone: for runs in it.
    """
    milliseconds: list[list[float]] = [[] for _ in runs]
    for round_ in range(-warm_up, rounds):
        for run, measured in zip(runs, milliseconds, strict=True):
            start = clock()
            run()
            if round_ >= 0:
                measured.append(1e3 * (clock() - start))
    return [Times(median(values), min(values), max(values)) for values in milliseconds]


def in_turns(
    makers: list[Callable[[], Callable[[], object]]], rounds: int, *, warm_up: int = 0
) -> list[Times]:
    """Do as `interleaved`, with a process for each run, made there, and with the processor's time.

    So each run has an allocator of its own, and what one leaves behind is not in the way of another.

    Raises
    ------
    RuntimeError
        When a process ends early, for example because the machine is out of memory.
    """
    context = multiprocessing.get_context("fork")
    waiting: list[tuple[ForkProcess, Connection]] = []

    def asked(process: ForkProcess, connection: Connection) -> float:
        connection.send("run")
        try:
            return 1e3 * connection.recv()
        except EOFError:
            process.join()
            raise RuntimeError(
                f"a run ended with exit code {process.exitcode} (-9: probably out of memory)"
            ) from None

    try:
        for maker in makers:
            mine, its = context.Pipe()
            process = context.Process(target=_answer, args=(maker, its), daemon=True)
            process.start()
            its.close()  # so that a process that ends is noticed
            waiting.append((process, mine))
        found = [[asked(*one) for one in waiting] for _ in range(warm_up + rounds)][warm_up:]
    finally:
        for process, _ in waiting:
            process.terminate()
            process.join()
    return [Times(median(values), min(values), max(values)) for values in zip(*found, strict=True)]


def _answer(maker: Callable[[], Callable[[], object]], connection: Connection) -> None:
    """Run once for each request, and answer with the seconds of the processor; until it is ended."""
    run = maker()
    while connection.recv():
        start = process_time()
        run()
        connection.send(process_time() - start)


def gemm_rate(rounds: int = 5) -> float:
    """Return the most operations a second in products of 2048 × 2048 matrices, float32, torch's threads."""
    one, other = torch.randn(2, 2048, 2048, generator=torch.Generator().manual_seed(0))
    (times,) = interleaved([lambda: one @ other], rounds, warm_up=1, clock=process_time)
    return 2 * 2048**3 / (1e-3 * times.fastest)
