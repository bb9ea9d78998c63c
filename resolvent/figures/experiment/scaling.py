"""Scaling of errors with training samples and time, and how to divide a budget between data and training."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, product
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.counts import settings_in_words
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import TAIL, mean_interval, resampled_means
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
    "exponent": "b",
    "exponent_low": "lower end of its 95 % interval, over test samples and seeds",
    "exponent_high": "upper end",
    "floor": "error that remains for any number of samples or seconds; empty with fewer than four sizes, "
    "where it is set to 0",
    "floor_low": "lower end of its 95 % interval",
    "floor_high": "upper end",
    "misfit": "root mean square of log(error / curve): 0.1 is about 10 %",
}
FOR_A_FLOOR = 4  # sizes: three parameters fitted to three sizes leave no misfit
CANDIDATES, PASSES = 20, 4  # floors tried per pass, and number of refinements
BUDGETS = (1, 10)  # multiples of the most expensive size
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


@dataclass(frozen=True)
class Curve:
    """error = floor + coefficient · x^-exponent: arrays of values for the errors, then for each replicate."""

    coefficient: np.ndarray
    exponent: np.ndarray
    floor: np.ndarray

    def __call__(self, x: float) -> np.ndarray:
        return self.floor + self.coefficient * np.power(x, -self.exponent)

    def misfit(self, sizes: list[Size], x: list[float]) -> float:
        """Return the root mean square of log(error / curve) over the sizes at x."""
        apart = [np.log(one.errors[0] / self(at)[0]) for one, at in zip(sizes, x, strict=True)]
        return float(np.sqrt(np.mean(np.square(apart))))


def fit(x: np.ndarray, errors: np.ndarray, *, with_floor: bool) -> Curve:
    """Fit a curve to errors (replicates, sizes) at x (sizes,), by least squares of logarithms."""
    logarithms = np.log(x)
    centred, lowest = logarithms - logarithms.mean(), errors.min(axis=1)

    def lines(floors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return slope, mean and misfit (replicates, floors) of the errors above these floors."""
        above = np.log(errors[:, None, :] - floors[:, :, None])
        slope, mean = above @ centred / (centred @ centred), above.mean(axis=2)
        misfit = ((above - mean[:, :, None] - slope[:, :, None] * centred) ** 2).sum(axis=2)
        return slope, mean, misfit

    low, high = np.zeros(len(errors)), np.full(len(errors), 0.999 if with_floor else 0.0)
    for _ in range(PASSES if with_floor else 0):
        shares = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, CANDIDATES)
        best = lines(lowest[:, None] * shares)[2].argmin(axis=1)
        low, high = (
            np.take_along_axis(shares, np.clip(best + step, 0, CANDIDATES - 1)[:, None], axis=1)[:, 0]
            for step in (-1, 1)
        )
    floor = lowest * (low + high) / 2
    slope, mean, _ = lines(floor[:, None])
    return Curve(np.exp(mean[:, 0] - slope[:, 0] * logarithms.mean()), -slope[:, 0], floor)


@dataclass(frozen=True)
class Size:
    """A model at one size: `errors` has the mean error, then the mean of each replicate."""

    model: str
    samples: int
    width: int | None
    matrix: np.ndarray
    errors: np.ndarray
    train_seconds: float
    data_seconds: float

    @property
    def seconds(self) -> float:
        return self.train_seconds + self.data_seconds


Family = dict[tuple[str, int | str], list[Size]]  # by label and resolution


def sizes_of(runs: list[Run], inference: pd.DataFrame) -> Family:
    """Return the trained sizes by family, from finished seeds. Imported samples cost nothing."""
    made = inference.set_index("key")["data_seconds"].dropna()
    found: Family = {}
    for number, group in enumerate(grouped(runs)):
        finished, record = [run for run in group if not run.diverged], group[0].record
        matrix = error_matrix([run.errors for run in finished], record.resolution, record.noise).to_numpy()
        if not matrix.size:
            continue
        samples = record.training["train_samples"]
        sized = [("train_samples", samples), ("width", record.settings.get("width"))]
        endings = {f", {settings_in_words(sized)}": sized[1][1], f", {settings_in_words(sized[:1])}": None}
        ending, width = next(one for one in endings.items() if record.label.endswith(one[0]))
        each, costs = samples + record.training["validation_samples"], made[made.index == record.model]
        size = Size(
            record.model, samples, width, matrix, resampled_means(matrix, number),
            float(np.mean([run.cost.train_seconds for run in finished])),
            samples * float(costs.iloc[0]) / each if len(costs) else 0.0,
        )  # fmt: skip
        found.setdefault((record.label.removesuffix(ending), record.resolution), []).append(size)
    return found


def _fits(sizes: list[Size], against: str) -> list[tuple[int | None, list[Size], list[float], Curve]]:
    """Return the curves against `samples`, for each width, or against `seconds`, for all sizes.

    A curve has the width, the fitted sizes, their numbers of samples or seconds, and the fit. Against
    seconds, only sizes that no cheaper size surpasses are fitted.
    """
    groups: dict[int | None, list[Size]] = {one.width if against == "samples" else None: [] for one in sizes}
    for one in sorted(sizes, key=attrgetter(against)):
        here = groups[one.width if against == "samples" else None]
        if against == "samples" or not here or one.errors[0] < here[-1].errors[0]:
            here.append(one)
    found = []
    for width, here in groups.items():
        if len(here) > 1:
            x = [float(getattr(one, against)) for one in here]
            errors = np.stack([one.errors for one in here], axis=1)
            found.append((width, here, x, fit(np.array(x), errors, with_floor=len(here) >= FOR_A_FLOOR)))
    return found


def scaling_curves(family: Family) -> pd.DataFrame:
    """Return the rows of scaling.csv."""
    rows = []
    for ((label, resolution), sizes), against in product(family.items(), ("samples", "seconds")):
        for width, here, x, curve in _fits(sizes, against):
            row: dict[str, object] = {"label": label, "resolution": resolution, "against": against}
            row |= {"width": width, "sizes": len(here), "coefficient": curve.coefficient[0]}
            row["misfit"] = curve.misfit(here, x)
            for name in ("exponent", "floor"):
                values = getattr(curve, name)
                if name == "exponent" or len(here) >= FOR_A_FLOOR:
                    low, high = np.quantile(values[1:], [TAIL, 1 - TAIL])
                    row |= {name: values[0], f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
    return pd.DataFrame(rows, columns=list(SCALING_COLUMNS)).astype({"width": "Int64"})


def budget_table(family: Family) -> Table:
    """Return the width and number of samples with the lowest error on the curves, for budgets in seconds."""
    rows = []
    for (label, resolution), sizes in family.items():
        curves = _fits(sizes, "samples")
        for times in BUDGETS if curves else ():
            budget, options = times * max(one.seconds for one in sizes), {}
            for width, here, x, curve in curves:
                counts = np.array(x)
                data, train = (
                    float(np.array([getattr(one, name) for one in here]) @ counts / (counts @ counts))
                    for name in ("data_seconds", "train_seconds")  # per sample
                )
                samples = budget / (data + train)
                beyond, misfit = samples > 1.05 * counts.max(), curve.misfit(here, x)
                options[width] = curve(samples), samples, data / (data + train), beyond, misfit
            errors = np.stack([one[0] for one in options.values()])
            width, (error, samples, share, beyond, misfit) = list(options.items())[errors[:, 0].argmin()]
            often = (errors.argmin(axis=0)[1:] == errors[:, 0].argmin()).mean()
            low, high = np.quantile(error[1:], [TAIL, 1 - TAIL])
            rows.append([
                Cell(label), Cell(resolution_in_words(resolution), prose=True),
                Cell(duration(budget), value=budget),
                Cell(f"{samples:,.0f}", warning="beyond the tested range" if beyond else "", value=samples),
                Cell(str(width) if width else DASH, f"in {often:.0%} of the replicates" if width else ""),
                Cell(f"{share:.0%}", value=share),
                Cell(scientific(error[0]), ends(low, high, error[0]), value=error[0]),
                Cell(f"{misfit:.0%}", value=misfit),
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
        several = len({one.width for one in sizes}) > 1
        for (width, here, x, curve), dashes in zip(_fits(sizes, "samples"), cycle(DASHES), strict=False):
            found = [mean_interval(one.matrix) for one in here]
            panel.vlines(x, [one.low for one in found], [one.high for one in found], color=look.colour)
            panel.plot(x, [one.value for one in found], **marks)
            dense = np.geomspace(x[0], x[-1], 50)
            drawn = [curve(one)[0] for one in dense]
            name = f"{label}, width {width}" if several else label
            lines += panel.plot(dense, drawn, color=look.colour, ls=dashes, lw=1.5, label=name)
        in_time.plot([one.seconds for one in sizes], [one.errors[0] for one in sizes], **marks | {"ms": 4})
        for _, _, x, curve in _fits(sizes, "seconds"):
            dense = np.geomspace(x[0], x[-1], 50)
            in_time.plot(dense, [curve(one)[0] for one in dense], color=look.colour, lw=1.5)
    every = [one for sizes in shown.values() for one in sizes]
    counts = sorted({one.samples for one in every})
    panel.set_xscale("log")
    panel.set_xticks(counts, list(map(str, counts)))
    panel.minorticks_off()
    panel.set_ylabel("mean relative L² error")
    time_axis(in_time, pd.Series([one.seconds for one in every], dtype=float), 1 / 2, 2, most=6)
    for panel, words in zip(panels, ("training samples", "time for training and its samples"), strict=True):
        panel.set_xlabel(words)
        style.error_limits(panel, [one.errors[0] for one in every], margin=2)
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
