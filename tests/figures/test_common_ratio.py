"""The common ratio of a table and deviations from it: coverage, verdicts, and what is counted in."""

from itertools import product

import numpy as np
import pytest
import scipy
from common_ratio import (
    MARGIN,
    Compared,
    Scatter,
    compare,
    correlation_between,
    group_means,
    verdict_on,
)

from resolvent.figures.common.intervals import Interval

OURS, THEIRS = 0.03, 0.1  # standard deviations of the logarithms of the means over our and their samples
EXACT = Scatter(*(1.96 * spread for spread in (OURS, OURS, THEIRS, THEIRS)))


def tables(number, *, models=8, spread=0.05, correlation=0.8, seeds=3, repeated=4, groups=True):
    """Tables whose logarithms are exactly normal and whose ratios are 1; `groups` of equal correlation."""
    generator = np.random.default_rng(5)

    def effects(size, of_samples):
        common, own = generator.normal(), generator.normal(size=size)
        return of_samples * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)

    for _ in range(number):
        ours, theirs = effects(models, OURS), effects(models, THEIRS) + spread * generator.normal(size=models)
        common = generator.normal(size=400)
        rows = []
        for model in range(models):
            count = seeds if model < repeated else 1
            means = np.exp(ours[model] + spread * generator.normal(size=count))
            own = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * generator.normal(size=400)
            known = np.exp(0.1 * own) if groups else None
            rows.append(Compared("kind", means, count * [EXACT], float(np.exp(theirs[model])), known))
        yield rows


def inside(interval):
    return interval.low <= 1 <= interval.high


# Spread between seeds, whether rows share samples, and how many rows have several seeds.
TABLES = list(product((0.05, 0.15), (True, False), (4, 8)))
QUICK = (0.15, True, 4)
SLOW = [pytest.param(table, marks=pytest.mark.slow) for table in TABLES if table != QUICK]


@pytest.mark.parametrize("table", [QUICK, *SLOW])
def test_the_intervals_of_a_table_hold_together(table):
    spread, groups, repeated = table
    found = [compare(rows) for rows in tables(250, spread=spread, groups=groups, repeated=repeated)]
    assert np.mean([inside(one.common) for one in found]) >= 0.92
    for kind in ("ratio", "deviation"):
        together = [all(inside(getattr(row, kind)) for row in one.rows) for one in found]
        assert np.mean(together) >= 0.92
    assert np.mean([one.verdict == "different" for one in found]) <= 0.02


def test_the_common_ratio_is_a_geometric_mean_and_the_deviations_multiply_to_one():
    (rows,) = tables(1)
    found = compare(rows)
    ratios = np.array([row.ratio.value for row in found.rows])
    assert ratios == pytest.approx([row.means.mean() / row.reported for row in rows])
    assert found.common.value == pytest.approx(scipy.stats.gmean(ratios))
    assert [row.deviation.value for row in found.rows] == pytest.approx(ratios / found.common.value)


def test_a_row_with_one_seed_borrows_the_spread_of_its_kind_or_is_undecided():
    exact = Scatter(1e-4, 1e-4, 1e-4, 1e-4)
    level = {"scatters": [exact], "reported": 1.0}
    rows = [
        Compared("fno", np.array([0.5]), **level),
        *(Compared("transformer", np.array([mean]), **level) for mean in (0.99, 1.0, 1.0, 1.01)),
    ]
    found = compare(rows)
    assert [row.seeds_known for row in found.rows] == 5 * [False]
    assert {row.verdict for row in found.rows} == {"undecided"}
    several = Compared("fno", np.array([0.5, 0.501, 0.499]), 3 * [exact], 1.0)
    found = compare([several, *rows])
    assert [row.seeds_known for row in found.rows] == [True, True, False, False, False, False]
    # The spread of three seeds, and the reported number as one more seed; Šidák for six rows.
    tail = 1 - 0.95 ** (1 / 6)
    distance = -scipy.stats.t.ppf(tail / 2, 2) * np.log([0.5, 0.501, 0.499]).std(ddof=1) * np.sqrt(2)
    assert np.log(found.rows[1].ratio.high / 0.5) == pytest.approx(distance, rel=0.02)


def test_one_row_or_two_have_no_interval_of_a_deviation():
    (rows,) = tables(1, models=2)
    found = compare(rows)
    assert np.isfinite(found.common.low)
    assert [np.isfinite(row.deviation.low) for row in found.rows] == [False, False]
    assert {row.verdict for row in found.rows} == {"undecided"}
    alone = compare(rows[:1])
    assert alone.common == alone.rows[0].ratio
    assert compare([Compared("kind", np.array([1.0]), [EXACT], 1.0)]).verdict == "undecided"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.9, 1.1, "equivalent"),
        (1 / MARGIN, MARGIN, "equivalent"),
        (0.5, 0.8, "different"),
        (1.21, 3, "different"),
        (0.5, 0.9, "undecided"),
        (0.5, 3, "undecided"),
        (np.nan, np.nan, "undecided"),
    ],
)
def test_a_verdict_is_the_place_of_the_interval(low, high, verdict):
    assert verdict_on(Interval(1.0, low, high)) == verdict


def test_the_correlation_is_that_of_means_over_groups_on_the_same_samples():
    generator = np.random.default_rng(3)
    samples = generator.normal(size=(3, 4000))
    errors = np.exp(0.3 * np.array([samples[0] + samples[1], samples[0] + samples[2], samples[0]]))
    rows = [Compared("kind", np.ones(1), [EXACT], 1.0, group_means(of_row)) for of_row in errors]
    assert correlation_between(rows[:2]) == pytest.approx(0.5, abs=0.2)
    elsewhere = Compared("kind", np.ones(1), [EXACT], 1.0, group_means(errors[2][:7]))
    assert correlation_between([*rows[:2], elsewhere]) == correlation_between(rows[:2])
    assert correlation_between(rows[:1]) is None
