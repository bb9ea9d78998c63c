"""Measure the coverage of a comparison's intervals, and how often an equal model is called worse.

    python -m benchmarks.statistics_coverage [--only one-seed tails seeds ranking reported] \
        [--simulations 2000] [--output docs/statistics.md]

Simulates errors with known distributions, and computes intervals with the functions for comparison.csv
(`resolvent.figures.common.intervals`). Every call uses the same random numbers.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.runner import Part, run, table
from docs.scripts.common_ratio import ratio_to_reported, scatter
from resolvent.figures.common.intervals import (
    Interval,
    mean_interval,
    median_interval,
    paired_ratio,
    ratios_to_best_other,
)

REMAINDER = 0.2  # share of a logarithm's variance due to neither sample nor seed
COMMON = 0.5  # share of a sample's variance common to all models
WORSE = 1.2  # factor of the worse model's errors
SEED = 20210531
OURS, THEIRS = 1000, 100  # test samples of our mean and of a reported mean


def rare(share: float, factor: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Return a distribution with s = 0.5, of whose errors a `share` is `factor` times larger; mean 1."""

    def draw(generator: np.random.Generator, samples: int) -> np.ndarray:
        easy = np.exp(0.5 * generator.standard_normal(samples) - 0.125)
        return easy * np.where(generator.random(samples) < share, factor, 1) / (1 + share * (factor - 1))

    return draw


TAILS = {  # distributions of errors with mean 1
    "exponential": lambda generator, samples: generator.exponential(size=samples),
    "lognormal, s = 1.5": lambda generator, samples: np.exp(1.5 * generator.standard_normal(samples) - 1.125),
    "Pareto, α = 3": lambda generator, samples: (1 + generator.pareto(3, samples)) / 1.5,
    "Pareto, α = 2.5": lambda generator, samples: (1 + generator.pareto(2.5, samples)) * 1.5 / 2.5,
    "20 %, 10 times harder": rare(0.2, 10),
    "5 %, 10 times harder": rare(0.05, 10),
    "1 %, 100 times harder": rare(0.01, 100),
}


@dataclass(frozen=True)
class Errors:
    """A distribution of errors: logarithms are sums of effects of the sample, of the seed, and a remainder.

    skewness  standard deviation of the logarithm over samples: with 1.5, the mean is three times the median.
    spread    standard deviation of the logarithm over seeds, one for each model or one for all.
    samples   number of test samples.
    seeds     number of seeds of each model.
    models    number of models.
    normal    whether sample effects are normal; otherwise they have a one-sided exponential tail.
    """

    skewness: float = 0.5
    spread: float | tuple[float, ...] = 0.0
    samples: int = 64
    seeds: int = 1
    models: int = 1
    normal: bool = True

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        """Return errors (models, seeds, samples) whose median is 1 if the effects are normal."""

        def effect(models: int, share: float) -> np.ndarray:
            shape = (models, 1, self.samples)
            drawn = generator.normal(size=shape) if self.normal else generator.exponential(size=shape) - 1
            return drawn * np.sqrt((1 - REMAINDER) * share)

        sample, own = effect(1, COMMON), effect(self.models, 1 - COMMON)
        remainder = generator.normal(size=(self.models, self.seeds, self.samples)) * np.sqrt(REMAINDER)
        seed = generator.normal(size=(self.models, self.seeds, 1)) * np.reshape(self.spread, (-1, 1, 1))
        return np.exp(self.skewness * (sample + own + remainder) + seed)

    @property
    def mean(self) -> float:
        """Return the mean of normal effects."""
        return float(np.exp((self.skewness**2 + np.square(self.spread)) / 2))


class Coverage(NamedTuple):
    """Fractions of simulations with the truth inside, below or above the interval.

    `width` is the ratio of upper and lower end, as the median over simulations.
    """

    inside: float
    above: float
    below: float
    width: float


def coverage(
    errors: Errors, statistic: Callable[[np.ndarray], Interval], truth: float, simulations: int
) -> Coverage:
    """Return the coverage of the truth by the interval `statistic` of random errors."""
    generator = np.random.default_rng(SEED)
    found = [statistic(errors.draw(generator)) for _ in range(simulations)]
    low, high = np.array([[one.low, one.high] for one in found]).T
    above, below = np.mean(low > truth), np.mean(high < truth)
    return Coverage(float(1 - above - below), float(above), float(below), float(np.median(high / low)))


def of_mean(errors: Errors, simulations: int) -> Coverage:
    """Return the coverage of the mean of one model."""
    return coverage(errors, lambda drawn: mean_interval(drawn[0]), errors.mean, simulations)


def of_median(errors: Errors, simulations: int) -> Coverage:
    """Return the coverage of the median of one model."""
    return coverage(errors, lambda drawn: median_interval(drawn[0]), 1.0, simulations)


def of_ratio(errors: Errors, simulations: int) -> Coverage:
    """Return the coverage of the ratio of two equal models."""
    return coverage(replace(errors, models=2), lambda drawn: paired_ratio(*drawn), 1.0, simulations)


def called_worse(errors: Errors, simulations: int) -> tuple[float, float]:
    """Return the fractions of simulations with an equal model called worse, and a worse model recognised.

    For the first, all models are equal. For the second, the last model's errors are `WORSE` times the
    others'.
    """
    generator = np.random.default_rng(SEED)
    equal = worse = 0
    for _ in range(simulations):
        drawn = errors.draw(generator)
        equal += any(one.low > 1 for one in ratios_to_best_other(list(drawn)))
        drawn[-1] *= WORSE
        worse += ratios_to_best_other(list(drawn))[-1].low > 1
    return equal / simulations, worse / simulations


def one_seed(given: Namespace) -> str:
    """Tabulate skewed errors of one seed."""
    rows = []
    for skewness, samples in product((0.5, 1.0, 1.5), (64, 100)):
        errors = Errors(skewness, samples=samples)
        mean, median, ratio = (of(errors, given.simulations) for of in (of_mean, of_median, of_ratio))
        numbers = (mean.inside, mean.above, mean.below, median.inside, ratio.inside)
        rows.append((f"{skewness:g}", f"{samples}", *map(percent, numbers)))
    words = """\
How many of 100 intervals contain the truth. s is the standard deviation of the logarithm of the errors;
with s = 1.5 their mean is three times their median."""
    header = ("s", "samples", "mean", "whole interval above", "below", "median", "ratio of two models")
    return f"{words}\n\n{table(header, rows)}"


def tails(given: Namespace) -> str:
    """Tabulate distributions with heavy tails, of one seed."""
    rows = []
    for (name, distribution), samples in product(TAILS.items(), (30, 64, 256, 1024, 4096)):
        generator = np.random.default_rng(SEED)
        intervals = [mean_interval(distribution(generator, samples)) for _ in range(given.simulations)]
        low, high = np.array([[interval.low, interval.high] for interval in intervals]).T
        shares = (
            percent(np.mean((low <= 1) & (high >= 1))),
            percent(np.mean(low > 1)),
            percent(np.mean(high < 1)),
        )
        widths = (f"{np.quantile(high / low, share):.2f}" for share in (0.5, 1))
        rows.append((name, f"{samples}", *shares, *widths))
    words = """\
How many of 100 intervals of a mean contain the truth, and the ratio of their ends ("width"): the median and
the largest of all simulations. The last three distributions are lognormal with s = 0.5, but a share of the
samples is harder."""
    header = ("distribution", "samples", "mean", "whole interval above", "below", "width", "largest width")
    return f"{words}\n\n{table(header, rows)}"


def seeds(given: Namespace) -> str:
    """Tabulate errors with a spread between seeds."""
    rows = []
    kinds = ((True, 0.5), (True, 1.0), (False, 0.5))
    for (normal, skewness), spread, number in product(kinds, (0.0, 0.05, 0.2), (1, 2, 3, 5, 10)):
        errors = Errors(skewness, spread, seeds=number, normal=normal)
        row = [f"{skewness:g}" + ", skewed" * (not normal), f"{100 * spread:g} %", f"{number}"]
        for of in (of_mean, of_median, of_ratio):
            if normal or of is of_ratio:
                found = of(errors, given.simulations)
                row += [percent(found.inside), f"{found.width:.2f}"]
            else:
                row += ["", ""]
        rows.append(row)
    words = """\
How many of 100 intervals contain the truth, for 64 samples and several spreads between seeds. The spread is
the standard deviation of the logarithm of a seed's error. Width is the upper end divided by the lower end,
the median of the simulations. One seed does not show the spread, so its intervals describe the trained
network. "Skewed": the effects of samples are exponential instead of normal."""
    header = ("s", "spread", "seeds", "mean", "width", "median", "width", "ratio of two models", "width")
    return f"{words}\n\n{table(header, rows)}"


def ranking(given: Namespace) -> str:
    """Tabulate the fractions of models called worse."""
    rows = []
    for models in (2, 4, 8, 12):
        spreads = (0.0, 0.05, 0.2, tuple(np.geomspace(0.05, 0.2, models)))
        for number in (2, 3, 5, 10):
            found = [
                called_worse(Errors(0.5, spread, seeds=number, models=models), given.simulations)
                for spread in spreads
            ]
            rows.append((f"{models}", f"{number}", *map(percent, sum(zip(*found, strict=True), ()))))
    names = ("0", "5 %", "20 %", "5 to 20 %")
    shares = (f"{what}, {one}" for what in ("equal", "worse") for one in names)
    header = ("models", "seeds", *shares)
    words = f"""\
How many of 100 comparisons call a model worse. "Equal": they call any of several equal models worse, which
is an error. "Worse": they call the one model worse whose errors are {WORSE:g} times all others', which is
right. The second half of a heading is the spread between seeds; in "5 to 20 %" each model has another
spread. The samples are 64, s = 0.5. With two seeds, tables of results do not rank; these rows are for
comparison."""
    return f"{words}\n\n{table(header, rows)}"


def reported(given: Namespace) -> str:
    """Tabulate ratios to a reported mean."""
    rows = []
    for skewness, spread, number in product((0.5, 1.0), (0.0, 0.05, 0.2), (1, 3)):
        ours, theirs = Errors(skewness, spread, OURS, number), Errors(skewness, spread, THEIRS)
        generator = np.random.default_rng(SEED)
        found = []
        for _ in range(given.simulations):
            drawn = ours.draw(generator)[0]
            scatters = [scatter(of_seed, THEIRS) for of_seed in drawn]
            number_reported = theirs.draw(generator).mean()
            found.append(ratio_to_reported(drawn.mean(axis=1), scatters, number_reported))
        low, high = np.array([[one.low, one.high] for one in found]).T
        called = [np.mean((low * factor > 1) | (high * factor < 1)) for factor in (1.0, 1.2, 1.5)]
        inside, width = percent(1 - called[0]), f"{np.median(high / low):.2f}"
        names = (f"{skewness:g}", f"{100 * spread:g} %", f"{number}")
        rows.append((*names, inside, width, *map(percent, called[1:])))
    words = f"""\
Our errors are on {OURS:,} samples. The reported number is the mean over {THEIRS} other samples of one
network with the same distribution of errors, so the true ratio is 1. How many of 100 intervals contain 1,
and how many exclude 1 if our errors are 1.2 and 1.5 times as large. Width is the upper end divided by the
lower end."""
    excluded = ("exclude 1, 1.2 times", "exclude 1, 1.5 times")
    header = ("s", "spread", "seeds", "contain 1", "width", *excluded)
    return f"{words}\n\n{table(header, rows)}"


def percent(share: float) -> str:
    """Format 0.953 as 95.3."""
    return f"{100 * share:.1f}"


PACKAGES = ("numpy", "scipy")
PARTS = {
    "one-seed": Part("One seed", one_seed, PACKAGES),
    "tails": Part("Heavy tails", tails, PACKAGES),
    "seeds": Part("Seeds that spread", seeds, PACKAGES),
    "ranking": Part("Choosing the best", ranking, PACKAGES),
    "reported": Part("Ratios to reported numbers", reported, PACKAGES),
}


if __name__ == "__main__":
    simulations = {"type": int, "default": 2000}
    run("coverage", PARTS, rounds=None, simulations=simulations)
