"""Scaling of errors with training samples and time, and how to divide a budget between data and training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, product
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.counts import counted, settings_in_words
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import SEED, SEEDS_TO_RANK, TAIL, mean_interval
from resolvent.figures.common.numbers import DASH, duration, ends, scientific
from resolvent.figures.common.results import Run, error_matrix, resolution_in_words
from resolvent.figures.common.table import Cell, Column, Table
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.experiment.cost import time_axis

SCALING_COLUMNS = {
    "label": "name of the model in tables and figures",
    "resolution": "training resolution, and that of the test samples",
    "against": "x of the curve: `samples`, the number of training samples, or `seconds`, the time for "
    "generating the samples and training on them, only of sizes that no cheaper size beats",
    "width": "setting `width`; empty if it was not varied, or if the curve covers several widths",
    "sizes": "number of sizes in the fit",
    "coefficient": "a of the curve, error = floor + a x^-b",
    "exponent": "b; empty if it would mean little",
    "exponent_low": "lower end of its 95 % interval, over test samples and seeds",
    "exponent_high": "upper end",
    "no_exponent": "why there is no exponent",
    "floor": "error that remains for any number of samples or seconds; empty with fewer than four sizes, "
    "where it is set to 0",
    "misfit": "root mean square of log(error / curve): 0.1 is about 10 %",
}
FOR_A_FLOOR = 4  # sizes: three parameters fitted to three sizes leave no misfit
CANDIDATES = 20  # floors tried before the search
REPLICATES = 200
BUDGETS = (1, 10)  # multiples of the most expensive size
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


@dataclass(frozen=True, eq=False)
class Size:
    """A model at one size: its errors (seeds, samples), and the seconds that it takes."""

    model: str
    samples: int
    width: int | None
    errors: np.ndarray
    train_seconds: float
    data_seconds: float

    @property
    def seconds(self) -> float:
        return self.train_seconds + self.data_seconds

    @property
    def mean(self) -> float:
        return float(self.errors.mean())


Family = dict[tuple[str, int | str], list[Size]]  # by label and resolution


def fit(x: np.ndarray, errors: np.ndarray) -> tuple[float, float, float]:
    """Return coefficient, exponent and floor of the curve through `errors`, by least squares of logarithms.

    The floor is 0 with fewer than four sizes, otherwise from 0 to 0.999 times the lowest error.
    """
    log_x, lowest = np.log(x), errors.min()

    def line(share: float) -> tuple[float, float, float]:
        """Return misfit, slope and intercept of the logarithms of the errors above this share of the lowest.

        A relative change of an error changes the logarithm by 1 / √weights times as much.
        """
        above, weights = np.log(errors - share * lowest), (1 - share * lowest / errors) ** 2
        centre, mean = weights @ log_x / weights.sum(), weights @ above / weights.sum()
        centred = weights * (log_x - centre)
        slope = centred @ above / (centred @ log_x)
        return weights @ (above - mean - slope * (log_x - centre)) ** 2, slope, mean - slope * centre

    share = 0.0
    if len(x) >= FOR_A_FLOOR:
        from scipy.optimize import minimize_scalar  # here, since the import takes longer than a figure

        # The misfit may have several minima, so the search starts at the best of a grid.
        shares = np.linspace(0, 0.999, CANDIDATES)
        start = int(np.argmin([line(share)[0] for share in shares]))
        bounds = shares[max(start - 1, 0)], shares[min(start + 1, CANDIDATES - 1)]
        best = minimize_scalar(lambda share: line(share)[0], bounds=bounds, method="bounded")
        share = best.x if best.fun < line(0.0)[0] else 0.0
    _, slope, intercept = line(share)
    return np.exp(intercept), -slope, share * lowest


@dataclass(frozen=True)
class Curve:
    """error = floor + coefficient · x^-exponent, fitted to the mean errors of `sizes` at x.

    `fits` has coefficient, exponent and floor of the curve, then those for other random samples and seeds if
    there are enough sizes and seeds. `no_exponent` says why the exponent means little, or is empty.
    """

    width: int | None
    sizes: list[Size]
    x: np.ndarray
    fits: np.ndarray
    no_exponent: str = ""

    @classmethod
    def through(cls, width: int | None, sizes: list[Size], x: np.ndarray) -> Curve:
        """Fit a curve to the sizes."""
        first = fit(x, np.array([size.mean for size in sizes]))
        seeds = min(len(size.errors) for size in sizes)
        for number, name, least in ((len(sizes), "size", FOR_A_FLOOR), (seeds, "seed", SEEDS_TO_RANK)):
            if number < least:
                why = f"{counted(number, name)}, and an exponent needs {least}"
                return cls(width, sizes, x, np.array([first]), why)
        fits = np.array([first, *refits(x, sizes)])
        level = f"the error levels off at about {scientific(first[2], 2)}"
        return cls(width, sizes, x, fits, level if quantiles(fits[1:, 2])[0] > 0 else "")

    def __call__(self, x: float) -> np.ndarray:
        coefficient, exponent, floor = self.fits.T
        return floor + coefficient * x**-exponent

    @property
    def misfit(self) -> float:
        """Return the root mean square of log(error / curve) over the sizes."""
        means = np.array([size.mean for size in self.sizes])
        return float(np.sqrt(np.mean(np.log(means / [self(x)[0] for x in self.x]) ** 2)))


def quantiles(replicates: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of replicates; NaN without any."""
    return tuple(np.quantile(replicates, [TAIL, 1 - TAIL])) if len(replicates) else (np.nan, np.nan)


def refits(x: np.ndarray, sizes: list[Size]) -> list[tuple[float, float, float]]:
    """Return fits to the mean errors of resampled test samples, with other seeds.

    The test samples are the same for all sizes. The spread between seeds is pooled over the sizes, and its
    uncertainty is that of Student's t.
    """
    generator, samples = np.random.default_rng(SEED), sizes[0].errors.shape[1]
    by_seed = [np.log(size.errors.mean(axis=1)) for size in sizes]
    seeds = np.array(list(map(len, by_seed)))
    squares = sum(((logarithms - logarithms.mean()) ** 2).sum() for logarithms in by_seed)
    fits = []
    for _ in range(REPLICATES):
        drawn = generator.integers(samples, size=samples)
        means = np.array([size.errors[:, drawn].mean() for size in sizes])
        spread = np.sqrt(squares / generator.chisquare((seeds - 1).sum()) / seeds)
        fits.append(fit(x, means * np.exp(spread * generator.standard_normal(len(sizes)))))
    return fits


def sizes_of(runs: list[Run], inference: pd.DataFrame) -> Family:
    """Return the trained sizes by family, from finished seeds. Imported samples cost nothing."""
    made = inference.set_index("key")["data_seconds"].dropna()
    family: Family = {}
    for group in grouped(runs):
        finished, record = [run for run in group if not run.diverged], group[0].record
        errors = error_matrix([run.errors for run in finished], record.resolution, record.noise).to_numpy()
        if not errors.size:
            continue
        samples = record.training["train_samples"]
        sized = [("train_samples", samples), ("width", record.settings.get("width"))]
        endings = {f", {settings_in_words(sized)}": sized[1][1], f", {settings_in_words(sized[:1])}": None}
        ending, width = next(pair for pair in endings.items() if record.label.endswith(pair[0]))
        each, costs = samples + record.training["validation_samples"], made[made.index == record.model]
        train_seconds = float(np.mean([run.cost.train_seconds for run in finished]))
        data_seconds = samples * float(costs.iloc[0]) / each if len(costs) else 0.0
        size = Size(record.model, samples, width, errors, train_seconds, data_seconds)
        family.setdefault((record.label.removesuffix(ending), record.resolution), []).append(size)
    return family


@lru_cache  # scaling.csv, the figure and the table of budgets show the same curves, each fitted 200 times
def curves_of(sizes: tuple[Size, ...], against: str) -> list[Curve]:
    """Return the curves against `samples`, for each width, or against `seconds`, for all sizes.

    Against seconds, only sizes that no cheaper size surpasses are fitted.
    """
    groups: dict[int | None, list[Size]] = {
        size.width if against == "samples" else None: [] for size in sizes
    }
    for size in sorted(sizes, key=attrgetter(against)):
        group = groups[size.width if against == "samples" else None]
        if against == "samples" or not group or size.mean < group[-1].mean:
            group.append(size)
    return [
        Curve.through(width, group, np.array([float(getattr(size, against)) for size in group]))
        for width, group in groups.items()
        if len(group) > 1
    ]


def scaling_curves(family: Family) -> pd.DataFrame:
    """Return the rows of scaling.csv."""
    rows = []
    for ((label, resolution), sizes), against in product(family.items(), ("samples", "seconds")):
        for curve in curves_of(tuple(sizes), against):
            coefficient, exponent, floor = curve.fits[0]
            row: dict[str, object] = {"label": label, "resolution": resolution, "against": against}
            row |= {"width": curve.width, "sizes": len(curve.sizes), "coefficient": coefficient}
            row |= {"no_exponent": curve.no_exponent, "misfit": curve.misfit}
            if len(curve.sizes) >= FOR_A_FLOOR:
                row["floor"] = floor
            if not curve.no_exponent:
                low, high = quantiles(curve.fits[1:, 1])
                row |= {"exponent": exponent, "exponent_low": low, "exponent_high": high}
            rows.append(row)
    return pd.DataFrame(rows, columns=list(SCALING_COLUMNS)).astype({"width": "Int64"})


def exponents_in_words(curves: pd.DataFrame) -> list[str]:
    """Return a line for each exponent in scaling.csv, and one for each reason why others have none."""
    lines, missing = [], dict[str, list[str]]()
    for row in curves.to_dict("records"):
        name = f"{row['label']}, {resolution_in_words(row['resolution'])}"
        name += f", width {row['width']}" if pd.notna(row["width"]) else ""
        if row["no_exponent"]:
            missing.setdefault(row["no_exponent"], []).append(f"{name}, against {row['against']}")
        else:
            interval = f"{row['exponent_low']:.2f} to {row['exponent_high']:.2f}"
            lines.append(f"{name}: error falls as {row['against']}^-{row['exponent']:.2f} ({interval})")
    for why, names in missing.items():
        which = "All curves" if len(names) == len(curves) else "; ".join(names)
        lines.append(f"{which}: no exponent ({why})")
    return lines


def budget_table(family: Family) -> Table:
    """Return the width and number of samples with the lowest error on the curves, for budgets in seconds."""
    rows = []
    for (label, resolution), sizes in family.items():
        curves = curves_of(tuple(sizes), "samples")
        for times in BUDGETS if curves else ():
            budget, options = times * max(size.seconds for size in sizes), []
            for curve in curves:
                squares = curve.x @ curve.x
                data = np.array([size.data_seconds for size in curve.sizes]) @ curve.x / squares  # per sample
                train = np.array([size.train_seconds for size in curve.sizes]) @ curve.x / squares
                samples = float(budget / (data + train))
                options.append((curve(samples), samples, float(data / (data + train)), curve))
            (error, *others), samples, share, curve = min(options, key=lambda option: option[0][0])
            beyond = "beyond the tested range" if samples > 1.05 * curve.x.max() else ""
            rows.append([
                Cell(label), Cell(resolution_in_words(resolution), prose=True),
                Cell(duration(budget), value=budget),
                Cell(f"{samples:,.0f}", warning=beyond, value=samples),
                Cell(str(curve.width) if curve.width else DASH),
                Cell(f"{share:.0%}", value=share),
                Cell(scientific(error), ends(*quantiles(np.array(others)), error), value=error),
                Cell(f"{curve.misfit:.0%}", value=curve.misfit),
            ])  # fmt: skip
    heads = ("model", "grid", "budget", "samples", "width", "share for samples", "predicted error", "misfit")
    return Table(list(map(Column, heads)), rows)


def draw_scaling(family: Family, looks: Looks):
    """Draw errors at the finest resolution against training samples and against seconds, with the curves."""
    finest = max((resolution for _, resolution in family), default=None)
    figure, (panels,) = style.new_figure(1, 2, size=(8.6, 3.8), sharey=True)
    panel, in_time = panels
    lines: list[Any] = []
    shown = {label: sizes for (label, resolution), sizes in family.items() if resolution == finest}
    for label, sizes in shown.items():
        look = looks[sizes[0].model]
        marks = {"ls": "", "ms": 6, "zorder": 4, **look.marks()}
        several = len({size.width for size in sizes}) > 1
        for curve, dashes in zip(curves_of(tuple(sizes), "samples"), cycle(DASHES), strict=False):
            intervals = [mean_interval(size.errors) for size in curve.sizes]
            low, high = ([getattr(interval, end) for interval in intervals] for end in ("low", "high"))
            panel.vlines(curve.x, low, high, color=look.colour)
            panel.plot(curve.x, [interval.value for interval in intervals], **marks)
            dense = np.geomspace(curve.x[0], curve.x[-1], 50)
            drawn = [curve(x)[0] for x in dense]
            name = f"{label}, width {curve.width}" if several else label
            lines += panel.plot(dense, drawn, color=look.colour, ls=dashes, lw=1.5, label=name)
        in_time.plot([size.seconds for size in sizes], [size.mean for size in sizes], **marks | {"ms": 4})
        for curve in curves_of(tuple(sizes), "seconds"):
            dense = np.geomspace(curve.x[0], curve.x[-1], 50)
            in_time.plot(dense, [curve(x)[0] for x in dense], color=look.colour, lw=1.5)
    every = [size for sizes in shown.values() for size in sizes]
    counts = sorted({size.samples for size in every})
    panel.set_xscale("log")
    panel.set_xticks(counts, list(map(str, counts)))
    panel.minorticks_off()
    panel.set_ylabel("mean relative L² error")
    time_axis(in_time, pd.Series([size.seconds for size in every], dtype=float), 1 / 2, 2, most=6)
    for panel, words in zip(panels, ("training samples", "time for training and its samples"), strict=True):
        panel.set_xlabel(words)
        style.error_limits(panel, [size.mean for size in every], margin=2)
        style.grid_lines(panel, "both")
        if not shown:
            style.say_no_errors(panel)
    style.name_all(figure, lines, place="lower")
    return figure


SCALING = Exhibit(
    "Error by number of samples and by time",
    "Mean relative L² error of the test samples against the number of training samples, with 95 % intervals, "
    "and against the time for training and its samples, on the machines named below. Lines are fitted "
    "power laws, with a floor if there are at least four sizes. Against time, only sizes that no cheaper "
    "size beats are fitted.",
    draw_scaling,
)
