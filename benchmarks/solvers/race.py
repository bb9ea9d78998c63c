"""Races: contestants solve the same problem on the same machine, their runs interleaved.

A busy machine then slows all contestants equally, so ratios are meaningful. Every contestant's error is
measured against a separate reference; some references use a contestant's package with finer settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.runner import digits, interleaved, table
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import (
    NeumannGaussianField,
    PeriodicGaussianField,
    PeriodicGaussianField2d,
)

HEADER = (
    "solver (ours in bold)", "setting", "samples", "ms per sample: median (fastest–slowest)",
    "largest error", "our speed-up", "limit, ms (its share of our time)",
)  # fmt: skip
Field = PeriodicGaussianField | NeumannGaussianField | PeriodicGaussianField2d


@dataclass(frozen=True)
class Contestant:
    """A solver of the problem: `run()` solves the first `samples` samples, and returns the solutions.

    `ours` marks Resolvent's solvers. `note` describes the setting briefly. If `run` draws its own samples,
    `checked` returns the solutions for measuring the error. `limit`, only for ours, does only the unavoidable
    work of the method for as many samples: see the topic's remark.
    """

    name: str
    run: Callable[[], np.ndarray]
    samples: int
    note: str = ""
    ours: bool = False
    checked: Callable[[], np.ndarray] | None = None
    limit: Callable[[], object] | None = None


@dataclass(frozen=True)
class Race:
    """A problem: `error(solutions)` is the largest relative L2 error of a contestant's solutions.

    The first contestant is ours, and speed-ups are relative to it. `missing` lists peers that did not run
    here, with the reason. `most_rounds` limits the rounds of a long race.
    """

    title: str
    contestants: list[Contestant]
    error: Callable[[np.ndarray], float]
    missing: tuple[str, ...] = ()
    most_rounds: int | None = None


def raced(race: Race, rounds: int, clock: Callable[[], float] = perf_counter) -> str:
    """Run every contestant once to warm up and to measure its error, then `rounds` interleaved rounds."""
    contestants = race.contestants
    errors = [race.error((contestant.checked or contestant.run)()) for contestant in contestants]
    limits = [contestant.limit for contestant in contestants if contestant.limit]
    for limit in limits:
        limit()
    runs = [contestant.run for contestant in contestants] + limits
    times = interleaved(runs, min(rounds, race.most_rounds or rounds), clock=clock)
    of_limits, rows = iter(times[len(contestants) :]), []
    ours = times[0].fastest / contestants[0].samples
    for contestant, whole, error in zip(contestants, times, errors, strict=False):
        one, share = whole.divided(contestant.samples), ""
        if contestant.limit:
            least = next(of_limits)
            share = f"{digits(least.fastest / contestant.samples)} ({least.fastest / whole.fastest:.0%})"
        name = f"**{contestant.name}**" if contestant.ours else contestant.name
        cells = (f"{contestant.samples:,}", str(one), f"{error:.1e}", digits(one.fastest / ours), share)
        rows.append((name, contestant.note, *cells))
    return table(HEADER, rows)


def field_of(name: str, **options: int) -> Field:
    """Return the random field of a named distribution; `options` are further options, such as `num_modes`."""
    named = DISTRIBUTIONS[name]
    parameters = (named.sigma, named.tau, named.gamma)
    if named.domain == "circle":
        return PeriodicGaussianField(*parameters, **{"num_modes": named.num_modes} | options)
    if named.domain == "square":
        return NeumannGaussianField(*parameters, **options)
    on_torus = {"orthonormal": named.orthonormal, "half_spectrum": named.half_spectrum} | options
    return PeriodicGaussianField2d(*parameters, **on_torus)


def error_against(reference: np.ndarray) -> Callable[[np.ndarray], float]:
    """Return a function for the largest relative L2 error of the samples in both arrays."""

    def error(solutions: np.ndarray) -> float:
        samples = min(len(solutions), len(reference))
        truth = reference[:samples].reshape(samples, -1)
        distance = np.linalg.norm(solutions[:samples].reshape(samples, -1) - truth, axis=1)
        return float((distance / np.linalg.norm(truth, axis=1)).max())

    return error


def one_thread(run: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
    """Return the same run with one thread for the linear algebra in NumPy, SciPy and peers in C."""

    from threadpoolctl import threadpool_limits  # of the extra `bench`

    def limited() -> np.ndarray:
        with threadpool_limits(1):
            return run()

    return limited


def traffic(values: int, dtype: type, times: float) -> Callable[[], object]:
    """Return a function that reads and writes `values` values, `times` times, by copying NumPy arrays."""
    source, target = np.ones(values, dtype), np.empty(values, dtype)

    def run() -> None:
        for _ in range(round(times)):
            np.copyto(target, source)

    return run
