"""Scaling of errors with training samples and time, and how to divide a budget between data and training."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
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
    "resolution": "training resolution; the errors are those on the home grid",
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


@dataclass(frozen=True)
class Size:
    """A model at one size: its errors (seeds, samples), and the seconds that it takes."""

    label: str  # without the size
    model: str
    resolution: int | str
    samples: int
    width: int | None
    errors: np.ndarray
    train_seconds: float
    data_seconds: float

    @property
    def family(self) -> tuple[str, int | str]:
        return self.label, self.resolution

    @property
    def seconds(self) -> float:
        return self.train_seconds + self.data_seconds

    @property
    def mean(self) -> float:
        return float(self.errors.mean())


@dataclass(frozen=True)
class Curve:
    """error = floor + coefficient · x^-exponent, fitted to the mean errors of `sizes` at x.

    against       "samples", for sizes of one width, or "seconds".
    fits          (fits, 3): coefficient, exponent and floor of the curve, then those for other random samples
                  and seeds if there are enough sizes and seeds.
    no_exponent   why the exponent means little, or empty.
    """

    against: str
    sizes: list[Size]
    x: np.ndarray
    fits: np.ndarray
    no_exponent: str

    @property
    def width(self) -> int | None:
        return self.sizes[0].width if self.against == "samples" else None

    def __call__(self, x: float) -> np.ndarray:
        coefficient, exponent, floor = self.fits.T
        return floor + coefficient * x**-exponent

    def bought(self, seconds: float) -> tuple[float, float]:
        """Return the number of samples for so many seconds, and the share of the time to make them."""
        to_make = np.array([size.data_seconds for size in self.sizes]) @ self.x / (self.x @ self.x)
        to_train = np.array([size.train_seconds for size in self.sizes]) @ self.x / (self.x @ self.x)
        return float(seconds / (to_make + to_train)), float(to_make / (to_make + to_train))

    @property
    def misfit(self) -> float:
        """Return the root mean square of log(error / curve) over the sizes."""
        means = np.array([size.mean for size in self.sizes])
        return float(np.sqrt(np.mean(np.log(means / [self(x)[0] for x in self.x]) ** 2)))


def sizes_of(runs: list[Run], inference: pd.DataFrame) -> list[Size]:
    """Return the trained sizes, with the errors of finished seeds. Imported samples cost nothing."""
    seconds_to_make = inference.set_index("key")["data_seconds"].dropna()
    sizes = []
    for group in grouped(runs):
        finished, record = [run for run in group if not run.diverged], group[0].record
        errors = error_matrix([run.errors for run in finished], record.home, record.noise).to_numpy()
        if not errors.size:
            continue
        samples, width = record.training["train_samples"], record.settings.get("width")
        sized = [("train_samples", samples), ("width", width)]
        label = record.label.removesuffix(f", {settings_in_words(sized)}")
        if label == record.label:  # the width was not varied
            label, width = record.label.removesuffix(f", {settings_in_words(sized[:1])}"), None
        costs = seconds_to_make[seconds_to_make.index == record.model]
        made = samples + record.training["validation_samples"]
        data_seconds = samples * float(costs.iloc[0]) / made if len(costs) else 0.0
        train_seconds = float(np.mean([run.cost.train_seconds for run in finished]))
        of_size = record.model, record.resolution, samples, width, errors
        sizes.append(Size(label, *of_size, train_seconds, data_seconds))
    return sizes


def curves_of(sizes: list[Size]) -> list[Curve]:
    """Fit curves for each label and resolution: against samples for each width, and against seconds.

    Against seconds, only sizes that no cheaper size surpasses are fitted. A curve has two sizes or more.
    """
    curves: list[tuple[str, list[Size]]] = []
    for family in by_family(sizes).values():
        for width in dict.fromkeys(size.width for size in family):
            of_width = [size for size in family if size.width == width]
            curves.append(("samples", sorted(of_width, key=lambda size: size.samples)))
        unsurpassed: list[Size] = []
        for size in sorted(family, key=lambda size: size.seconds):
            if not unsurpassed or size.mean < unsurpassed[-1].mean:
                unsurpassed.append(size)
        curves.append(("seconds", unsurpassed))
    return [curve_through(fitted, against) for against, fitted in curves if len(fitted) > 1]


def by_family(sizes: list[Size]) -> dict[tuple, list[Size]]:
    """Group sizes by label and resolution, in the given order."""
    families: dict[tuple, list[Size]] = {}
    for size in sizes:
        families.setdefault(size.family, []).append(size)
    return families


def curve_through(sizes: list[Size], against: str) -> Curve:
    """Fit a curve to the sizes, and to resampled test samples with other seeds.

    The test samples are the same for all sizes. The spread between seeds is pooled over the sizes, and its
    uncertainty is that of Student's t.
    """
    x = np.array([float(getattr(size, against)) for size in sizes])
    by_seed = [np.log(size.errors.mean(axis=1)) for size in sizes]
    seeds = np.array(list(map(len, by_seed)))
    fits = [fit(x, np.array([size.mean for size in sizes]))]
    for number, name, least in ((len(sizes), "size", FOR_A_FLOOR), (seeds.min(), "seed", SEEDS_TO_RANK)):
        if number < least:
            why = f"{counted(number, name)}, and an exponent needs {least}"
            return Curve(against, sizes, x, np.array(fits), why)
    generator, samples = np.random.default_rng(SEED), sizes[0].errors.shape[1]
    squares = sum(((logarithms - logarithms.mean()) ** 2).sum() for logarithms in by_seed)
    for _ in range(REPLICATES):
        drawn = generator.integers(samples, size=samples)
        means = np.array([size.errors[:, drawn].mean() for size in sizes])
        spread = np.sqrt(squares / generator.chisquare((seeds - 1).sum()) / seeds)
        fits.append(fit(x, means * np.exp(spread * generator.standard_normal(len(sizes)))))
    lowest_floor = np.quantile([floor for *_, floor in fits[1:]], TAIL)
    level = f"the error levels off at about {scientific(fits[0][2], 2)}" if lowest_floor > 0 else ""
    return Curve(against, sizes, x, np.array(fits), level)


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


def scaling_table(curves: list[Curve]) -> pd.DataFrame:
    """Return the rows of scaling.csv."""
    rows = []
    for curve in curves:
        first, (coefficient, exponent, floor) = curve.sizes[0], curve.fits[0]
        row: dict[str, object] = {"label": first.label, "resolution": first.resolution}
        row |= {"against": curve.against, "width": curve.width, "sizes": len(curve.sizes)}
        row |= {"coefficient": coefficient, "no_exponent": curve.no_exponent, "misfit": curve.misfit}
        if len(curve.sizes) >= FOR_A_FLOOR:
            row["floor"] = floor
        if not curve.no_exponent:
            low, high = np.quantile(curve.fits[1:, 1], [TAIL, 1 - TAIL])
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


def budget_table(sizes: list[Size], curves: list[Curve]) -> Table:
    """Return the width and number of samples with the lowest error on the curves, for budgets in seconds."""
    rows = []
    for family, of_family in by_family(sizes).items():
        against_samples = [
            curve for curve in curves if curve.against == "samples" and curve.sizes[0].family == family
        ]
        for times in BUDGETS if against_samples else ():
            budget = times * max(size.seconds for size in of_family)
            curve = min(against_samples, key=lambda curve: curve(curve.bought(budget)[0])[0])
            samples, share = curve.bought(budget)
            error, *others = curve(samples)
            beyond = "beyond the tested range" if samples > 1.05 * curve.x.max() else ""
            low, high = np.quantile(others, [TAIL, 1 - TAIL]) if others else (None, None)
            rows.append([
                Cell(family[0]),
                Cell(resolution_in_words(family[1]), prose=True),
                Cell(duration(budget), value=budget),
                Cell(f"{samples:,.0f}", warning=beyond, value=samples),
                Cell(str(curve.width) if curve.width else DASH),
                Cell(f"{share:.0%}", value=share),
                Cell(scientific(error), ends(low, high, error), value=error),
                Cell(f"{curve.misfit:.0%}", value=curve.misfit),
            ])  # fmt: skip
    heads = ("model", "grid", "budget", "samples", "width", "share for samples", "predicted error", "misfit")
    return Table(list(map(Column, heads)), rows)


def draw_scaling(sizes: list[Size], curves: list[Curve], looks: Looks):
    """Draw errors at the finest resolution against training samples and against seconds, with the curves."""
    finest = max((size.resolution for size in sizes), default=None)
    sizes = [size for size in sizes if size.resolution == finest]
    figure, (panels,) = style.new_figure(1, 2, size=(8.6, 3.8), sharey=True)
    panel, in_time = panels
    lines: list[Any] = []
    for family, of_family in by_family(sizes).items():
        look = looks[of_family[0].model]
        marks = {"ls": "", "ms": 6, "zorder": 4, **look.marks()}
        several = len({size.width for size in of_family}) > 1
        points = zip(*((size.seconds, size.mean) for size in of_family), strict=True)
        in_time.plot(*points, **marks | {"ms": 4})
        dashes = cycle(DASHES)
        for curve in (curve for curve in curves if curve.sizes[0].family == family):
            dense = np.geomspace(curve.x[0], curve.x[-1], 50)
            drawn = [curve(x)[0] for x in dense]
            if curve.against == "seconds":
                in_time.plot(dense, drawn, color=look.colour, lw=1.5)
                continue
            intervals = [mean_interval(size.errors) for size in curve.sizes]
            low, high = ([getattr(interval, end) for interval in intervals] for end in ("low", "high"))
            panel.vlines(curve.x, low, high, color=look.colour)
            panel.plot(curve.x, [interval.value for interval in intervals], **marks)
            name = f"{family[0]}, width {curve.width}" if several else family[0]
            lines += panel.plot(dense, drawn, color=look.colour, ls=next(dashes), lw=1.5, label=name)
    counts = sorted({size.samples for size in sizes})
    panel.set_xscale("log")
    panel.set_xticks(counts, list(map(str, counts)))
    panel.minorticks_off()
    panel.set_ylabel("mean relative L² error")
    time_axis(in_time, pd.Series([size.seconds for size in sizes], dtype=float), 1 / 2, 2, most=6)
    for panel, label in zip(panels, ("training samples", "time for training and its samples"), strict=True):
        panel.set_xlabel(label)
        style.error_limits(panel, [size.mean for size in sizes], margin=2)
        style.grid_lines(panel, "both")
        if not sizes:
            style.say_no_errors(panel)
    style.name_all(figure, lines, place="lower")
    return figure


SCALING = Exhibit(
    "Error by number of samples and by time",
    "Mean relative L² error of the test samples, on {home}, against the number of training samples, with "
    "95 % intervals, and against the time for training and its samples, on the machines named below. Lines "
    "are fitted power laws, with a floor if there are at least four sizes. Against time, only sizes that no "
    "cheaper size beats are fitted.",
    draw_scaling,
)
