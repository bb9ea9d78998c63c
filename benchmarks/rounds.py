"""Runs in interleaved rounds: a busy machine slows them alike, so that their ratios hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

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
    """`warm_up` rounds that are not timed, then `rounds` of all runs in turn; `clock` gives seconds."""
    milliseconds: list[list[float]] = [[] for _ in runs]
    for round_ in range(-warm_up, rounds):
        for run, measured in zip(runs, milliseconds, strict=True):
            start = clock()
            run()
            if round_ >= 0:
                measured.append(1e3 * (clock() - start))
    return [Times(median(values), min(values), max(values)) for values in milliseconds]
