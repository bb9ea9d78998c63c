"""Measure the coverage of the common ratio to a table of reported errors, and how often verdicts are wrong.

    python -m benchmarks.common_ratio_coverage [--simulations 400] [--output docs/statistics.md]

Simulates tables of eight models with known ratios, and compares them with `common_ratio.compare`, as
docs/reported-vs-ours.md does. Every call uses the same random numbers.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from itertools import product

import numpy as np

from benchmarks.runner import Part, run, table
from docs.scripts.common_ratio import MARGIN, Comparison, compare, group_means, scatter
from docs.scripts.common_ratio import Compared as Row

SEED = 20210531
MODELS = 8
REPEATED = 4  # models with `SEEDS` seeds; the others have one
SEEDS = 3
OURS, THEIRS = 1000, 100  # test samples of our means and of the reported means
# Shares of the variance over samples: common to all models, to all seeds of a model, and of one seed.
SHARED, OWN, REMAINDER = 0.7, 0.2, 0.1
FACTOR = 1.5  # of the errors of a worse model, and of all models
TAILS = {"normal, s = 0.5": (0.5, True), "normal, s = 1": (1.0, True), "skewed, s = 0.5": (0.5, False)}


def draw(generator: np.random.Generator, shape: tuple, skewness: float, spread: float, normal: bool):
    """Return errors of shape (models, seeds, samples); all models have the same distribution."""
    models, seeds, samples = shape

    def effect(size: tuple, share: float) -> np.ndarray:
        drawn = generator.normal(size=size) if normal else generator.exponential(size=size) - 1
        return np.sqrt(share) * drawn

    of_samples = effect((1, 1, samples), SHARED) + effect((models, 1, samples), OWN)
    of_samples = of_samples + np.sqrt(REMAINDER) * generator.normal(size=shape)
    return np.exp(skewness * of_samples + spread * generator.normal(size=(models, seeds, 1)))


def simulated_tables(skewness: float, spread: float, normal: bool, simulations: int) -> list[list[Row]]:
    """Return tables whose first models have several seeds, with groups of samples for all rows."""
    generator, tables = np.random.default_rng(SEED), []
    for _ in range(simulations):
        ours = draw(generator, (MODELS, SEEDS, OURS), skewness, spread, normal)
        theirs = draw(generator, (MODELS, 1, THEIRS), skewness, spread, normal).mean(axis=(1, 2))
        rows = []
        for number, errors in enumerate(ours):
            errors = errors if number < REPEATED else errors[:1]
            scatters = [scatter(of_seed, THEIRS) for of_seed in errors]
            groups = group_means(errors.mean(axis=0))
            rows.append(Row("model", errors.mean(axis=1), scatters, theirs[number], groups))
        tables.append(rows)
    return tables


def one_seed_each(rows: list[Row]) -> list[Row]:
    return [replace(row, means=row.means[:1], scatters=row.scatters[:1]) for row in rows]


def without_groups(rows: list[Row]) -> list[Row]:
    return [replace(row, groups=None) for row in rows]


def worse(rows: list[Row]) -> list[Row]:
    """Return a table whose first model's errors are `FACTOR` times as large."""
    return [replace(rows[0], means=FACTOR * rows[0].means), *rows[1:]]


def summary(tables: list[list[Row]]) -> list[str]:
    """Return the cells of a line: coverage, widths and shares of verdicts."""
    equal = [compare(rows) for rows in tables]
    edges = [(one.common.low, one.common.high) for one in equal]
    low, high = np.array(edges).T
    cells = [percent((low <= 1) & (high >= 1)), f"{np.median(high / low):.2f}"]
    # The ends are proportional to the errors, so a common factor moves the interval.
    cells += [percent((low >= 1 / MARGIN) & (high <= MARGIN)), percent(FACTOR * low > MARGIN)]
    if not equal[0].rows[0].seeds_known:
        return [*cells, *[""] * 5]
    changed = [compare(worse(rows)).rows[0].verdict == "different" for rows in tables]
    wrong = [any(row.verdict == "different" for row in one.rows) for one in equal]
    right = [row.verdict == "equivalent" for one in equal for row in one.rows]
    widths = [one.rows[0].deviation.high / one.rows[0].deviation.low for one in equal]
    inside = [percent([_all_inside(one, kind) for one in equal]) for kind in ("ratio", "deviation")]
    verdicts = [f"{percent(wrong)} / {percent(right)}", percent(changed)]
    return [*cells, *inside, f"{np.median(widths):.2f}", *verdicts]


def _all_inside(comparison: Comparison, kind: str) -> bool:
    intervals = [getattr(row, kind) for row in comparison.rows]
    return all(interval.low <= 1 <= interval.high for interval in intervals)


def common_ratio(given: Namespace) -> str:
    """Tabulate coverage by tails, spread of seeds, numbers of seeds and knowledge of the correlation."""
    lines = []
    for (name, (skewness, normal)), spread in product(TAILS.items(), (0.05, 0.15)):
        tables = simulated_tables(skewness, spread, normal, given.simulations)
        kinds = {
            ("1", "unknown"): [without_groups(one_seed_each(rows)) for rows in tables],
            ("3 or 1", "unknown"): [without_groups(rows) for rows in tables],
            ("3 or 1", "known"): tables,
        }
        for (seeds, correlation), of_kind in kinds.items():
            lines.append((name, f"{100 * spread:g} %", seeds, correlation, *summary(of_kind)))
    words = f"""\
Tables of {MODELS} models with the same distribution of errors, so all true ratios are 1. Our errors are on
{OURS:,} samples, the reported numbers are means over {THEIRS} others; {100 * SHARED:g} % of the variance
over samples is common to all models. Seeds "1": one seed of each model; "3 or 1": three seeds of {REPEATED}
models, one of the others. "Skewed": the effects of samples are exponential. Widths are the upper end
divided by the lower end. Each number says how many of 100 tables have the property (for the second
"equivalent", how many of 100 rows):

- "common ratio": its interval contains 1;
- "equivalent", "different": the common ratio is called equivalent; it is called different if all our errors
  are {FACTOR:g} times as large;
- "all ratios", "all deviations": the intervals of all of them contain 1;
- "wrongly different / equivalent": some deviation is called different; a row's deviation is called
  equivalent;
- "found": a model with {FACTOR:g} times larger errors is called different."""
    header = (
        "effects of samples", "seeds spread", "seeds", "correlation", "common ratio", "width", "equivalent",
        "different", "all ratios", "all deviations", "width", "wrongly different / equivalent", "found",
    )  # fmt: skip
    return f"{words}\n\n{table(header, lines)}"


def percent(happened) -> str:
    """Format the share of true values as a number per 100."""
    return f"{100 * np.mean(happened):.1f}"


if __name__ == "__main__":
    part = Part("Common ratio of a table", common_ratio, ("numpy", "scipy"))
    run("common-ratio", {"tables": part}, rounds=None, simulations={"type": int, "default": 400})
