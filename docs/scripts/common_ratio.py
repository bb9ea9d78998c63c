"""Ratios of our errors to a table of reported errors: the ratio common to its rows, and deviations from it.

All reported numbers of a table are means over the same few test samples, and all of ours over the same other
samples. If the paper's samples are harder than ours, every ratio is too low. The rows are therefore not
independent comparisons: one ratio is common to all, and each row deviates from it. The logarithm of a row's
ratio is modelled as the sum of the common logarithm, an effect of the samples that is correlated between
rows, an effect of our seeds and of the paper's one seed, and a deviation of the model.

docs/statistics.md has the measured coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from resolvent.figures.common.intervals import LEVEL, SEED, TAIL, Interval, mean_distances, seed_distance

REPLICATES = 4000
MARGIN = 1.2  # ratios between 1 / MARGIN and MARGIN count as equal
GROUPS = 40  # groups of test samples whose means are recorded for the correlation between rows
Verdict = Literal["equivalent", "different", "undecided"]


@dataclass(frozen=True)
class Scatter:
    """Scatter of means over test samples around the truth, in logarithms, as ends of 95 % intervals."""

    below: float  # lower end for the mean of all samples
    above: float
    few_below: float  # distance of the mean of a few other samples below the true mean
    few_above: float


@dataclass(frozen=True)
class Compared:
    """A row of a paper's table, and our trainings with its setting.

    kind      rows of one kind share the spread between seeds, for example all rows of an architecture.
    means     mean error of each of our seeds, all on the same test samples.
    scatters  scatter of these means, for each seed.
    reported  the paper's mean error over a few other samples, of one seed.
    groups    mean errors of our seeds over fixed groups of the test samples, (groups,); None if unknown.
    """

    kind: str
    means: np.ndarray
    scatters: Sequence[Scatter]
    reported: float
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Row:
    """Results for a row, with simultaneous 95 % intervals over all rows of the table.

    ratio        mean of our errors over the reported error.
    deviation    the ratio over the common ratio; its interval is NaN for fewer than three rows.
    seeds_known  whether the intervals include the spread between seeds. If not, they hold only for the two
                 trained networks, and the verdict is "undecided".
    verdict      on the deviation.
    """

    ratio: Interval
    deviation: Interval
    seeds_known: bool
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """The comparison of a table.

    common       geometric mean of the rows' ratios, with its 95 % interval.
    verdict      on the common ratio.
    correlation  mean correlation between two rows' errors over groups of samples; None if unknown.
    rows         results in the order of the given rows.
    """

    common: Interval
    verdict: Verdict
    correlation: float | None
    rows: list[Row]


def compare(rows: Sequence[Compared]) -> Comparison:
    """Compare all rows of a table that have a reported number and did not collapse; at least one.

    Unknown correlation between rows counts as 1 for the common ratio and as 0 for the deviations, which makes
    both intervals wider. Distances of the ends of intervals are added as squares (Zou and Donner 2008).
    """
    count = len(rows)
    simultaneous = 1 - LEVEL ** (1 / count)  # Šidák 1967
    own = [ratio_to_reported(row.means.mean(keepdims=True), list(row.scatters), row.reported) for row in rows]
    logarithms = np.log([one.value for one in own])
    # Distances from the truth caused by the test samples, as ends of 95 % intervals: (rows, 2).
    by_samples = np.array([[np.log(one.value / one.low), np.log(one.high / one.value)] for one in own])
    correlation = correlation_between(rows)
    normal = scipy.special.ndtri(1 - simultaneous / 2) / scipy.special.ndtri(1 - TAIL)
    by_seeds = np.array([_seed_distance(row, rows, simultaneous) for row in rows])
    seeds_known = np.isfinite(by_seeds)
    by_seeds = np.where(seeds_known, by_seeds, 0.0)[:, None]
    ratios = np.hypot(normal * by_samples, by_seeds)

    shared = by_samples.mean(axis=0) * np.sqrt(1.0 if correlation is None else correlation)
    if count == 1:
        common = _interval(logarithms[0], ratios[0])
        verdict = verdict_on(common) if seeds_known[0] else "undecided"
    else:
        spread = _quantile(count - 1, 1 - LEVEL) * logarithms.std(ddof=1) / np.sqrt(count)
        common = _interval(logarithms.mean(), np.hypot(shared, spread))
        verdict = verdict_on(common)

    alone = np.sqrt(1 - (0.0 if correlation is None else correlation))
    results = []
    for number in range(count):
        others = np.delete(logarithms, number)
        distances = np.full(2, np.nan)
        if count > 2:
            # The spread of the other rows includes their seeds, samples and own deviations.
            of_others = _quantile(count - 2, simultaneous) * others.std(ddof=1) / np.sqrt(count - 1)
            squares = (alone * normal * by_samples[number]) ** 2 + by_seeds[number] ** 2 + of_others**2
            distances = (1 - 1 / count) * np.sqrt(squares)
        deviation = _interval(logarithms[number] - logarithms.mean(), distances)
        known = bool(seeds_known[number])
        row_verdict = verdict_on(deviation) if known else "undecided"
        results.append(Row(_interval(logarithms[number], ratios[number]), deviation, known, row_verdict))
    return Comparison(common, verdict, correlation, results)


def group_means(errors: np.ndarray) -> np.ndarray:
    """Return the means of errors (samples,) over up to `GROUPS` groups of neighbouring samples."""
    groups = np.array_split(errors, min(GROUPS, errors.size))
    return np.array([group.mean() for group in groups])


def verdict_on(ratio: Interval) -> Verdict:
    """Return whether an interval lies inside the margin around 1, outside it, or on its edge."""
    if ratio.low >= 1 / MARGIN and ratio.high <= MARGIN:
        return "equivalent"
    if ratio.high < 1 / MARGIN or ratio.low > MARGIN:
        return "different"
    return "undecided"


def correlation_between(rows: Sequence[Compared]) -> float | None:
    """Return the mean correlation of two rows' means over groups of samples; None without two such rows.

    Rows with another number of groups than the first, which were tested on other samples, are left out.
    """
    known = [row.groups for row in rows if row.groups is not None and row.groups.size > 2]
    known = [groups for groups in known if groups.size == known[0].size]
    if len(known) < 2:
        return None
    matrix = np.corrcoef(np.log(known))
    return float(np.clip(matrix[np.triu_indices(len(known), 1)].mean(), 0, 1))


def _seed_distance(row: Compared, rows: Sequence[Compared], tail: float) -> float:
    """Return the distance of an interval's ends caused by seeds, NaN if the spread of the kind is unknown.

    It is known from three seeds of a row, or two each of two rows: the variance is pooled over the kind. The
    reported number is one more seed.
    """
    repeated = [np.log(one.means) for one in rows if one.kind == row.kind and len(one.means) > 1]
    degrees = sum(len(one) - 1 for one in repeated)
    if degrees < 2:  # Student's t with one degree of freedom would say nothing: factors of hundreds
        return np.nan
    variance = sum(((one - one.mean()) ** 2).sum() for one in repeated) / degrees
    return _quantile(degrees, tail) * float(np.sqrt(variance * (1 + 1 / len(row.means))))


def _quantile(degrees: int, tail: float) -> float:
    """Return the quantile of Student's t for an interval that misses the truth with probability `tail`."""
    return -float(scipy.special.stdtrit(degrees, tail / 2))


def _interval(logarithm: float, distances: np.ndarray) -> Interval:
    below, above = distances
    return Interval(*(float(np.exp(logarithm + step)) for step in (0.0, -below, above)))


def scatter(errors: np.ndarray, few: int) -> Scatter:
    """Return the scatter of the mean of one network's errors (samples,), and of the mean of `few` errors.

    The few errors are drawn from `errors` with replacement.
    """
    mean = errors.mean()
    drawn = np.random.default_rng(SEED).choice(errors / mean, size=(REPLICATES, few)).mean(axis=1)
    low, high = np.quantile(np.log(drawn), [TAIL, 1 - TAIL])
    return Scatter(*mean_distances(errors / mean), few_below=float(-low), few_above=float(high))


def ratio_to_reported(means: np.ndarray, scatters: list[Scatter], reported: float) -> Interval:
    """Return the ratio of our mean error to a reported mean error with unknown test samples and seed.

    means, scatters  of each of our seeds, tested on the same samples; `few` was the number of test samples of
                     the reported number.
    The reported number is assumed to scatter as ours: over its few test samples and, if we have several
    seeds, over seeds, as one more seed (hence 1 + 1/seeds). With one seed, the interval applies to the two
    networks only. Squares of distances are added (Zou and Donner 2008). docs/statistics.md has the coverage.
    """
    value = float(np.mean(means)) / reported
    spread = seed_distance(means, more=1)
    parts = np.array([[each.below, each.few_below, each.above, each.few_above] for each in scatters])
    below, few_below, above, few_above = parts.mean(axis=0)
    low = np.sqrt(below**2 + few_below**2 + spread**2)
    high = np.sqrt(above**2 + few_above**2 + spread**2)
    return Interval(value, float(value * np.exp(-low)), float(value * np.exp(high)))
