"""What is remarked on in arrays of others: ranges, constants, samples in two splits, seams, boundaries."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from resolvent.common.counts import counted
from resolvent.common.errors import Words
from resolvent.common.moments import Moments
from resolvent.datasets.imported.channels import Name, read_rows

if TYPE_CHECKING:
    from resolvent.datasets.imported.channels import Channel
    from resolvent.datasets.imported.readers.arrays_file import ArraysFile

JUMP = 4.0  # of a periodic function at the seam, over the largest jump inside, from which on it has none
SEAMLESS = 1.0  # below it the seam is as smooth as the inside
REPEATED = 1e-7  # of the largest value: below it the last value is the first one
LEVELS = 8  # at most so many different values: piecewise constant, of which a seam says nothing
VANISHES = 0.02  # of the mean size: a mean over samples below it at an end is a boundary value of zero
FAR, SIZES = 10.0, (1e-2, 1e2)  # deviations that a mean is off zero, and deviations, that models learn from


def seam(values: np.ndarray, dimension: int) -> dict[str, float]:
    """Measure along the axes of space how functions (samples, ...space) go on at their ends.

    seam        the median over samples of the jump from the last value to the first, over the largest jump
                between neighbours inside, the largest over the axes.
    both_ends   largest difference of the last value from the first, over the largest value.
    at_ends     largest value at the ends, over the largest value.
    half_cell   the same, extrapolated half a cell beyond the ends.
    """
    largest = float(np.abs(values).max()) or 1.0
    ratios, ends, edges, beyond = [], [], [], []
    for axis in range(1, 1 + dimension):
        along = np.moveaxis(values, axis, -1)
        inside = np.abs(np.diff(along, axis=-1)).reshape(len(values), -1).max(axis=1)
        jump = np.abs(along[..., 0] - along[..., -1]).reshape(len(values), -1).max(axis=1)
        smooth = inside > 0
        ratios.append(float(np.median(jump[smooth] / inside[smooth])) if smooth.any() else 0.0)
        ends.append(float(jump.max()) / largest)
        edges.append(float(np.abs(along[..., [0, -1]]).max()) / largest)
        outside = 1.5 * along[..., [0, -1]] - 0.5 * along[..., [1, -2]]
        beyond.append(float(np.abs(outside).max()) / largest)
    return {"seam": max(ratios), "both_ends": max(ends), "at_ends": max(edges), "half_cell": max(beyond)}


def ends_of(file: ArraysFile, name: str, axes: tuple[str, ...], most_samples: int) -> dict[str, Any] | None:
    """Measure how the first functions of a variable go on at their ends, as `seam` does.

    Also whether they vanish at an end and have a kink there, were they periodic. None where they have few
    values, whose jumps say nothing.
    """
    entry = Name(name, name, 0 if "channel" in axes else None, axes)
    rows = dict(zip(axes, file.shapes[name], strict=True)).get("sample", 1)
    values = read_rows(file, entry, 0, range(min(most_samples, rows)))
    if len(np.unique(values)) <= LEVELS:
        return None
    size, vanishes = np.abs(values).mean(), False
    for number in range(1, values.ndim):
        along = np.moveaxis(values, number, -1)
        at = along[..., [0, -1]]
        beyond = at + (at - along[..., [1, -2]]) / 2  # half a cell, where cell centres have the boundary
        edges = np.minimum(*(np.abs(one).reshape(-1, 2).mean(axis=0) for one in (at, beyond)))
        around, inside = (
            np.abs(np.diff(part, 2, axis=-1)).reshape(len(part), -1).max(axis=1, initial=0.0)
            for part in (along[..., [-2, -1, 0, 1]], along)
        )
        vanishes |= bool(edges.min() < VANISHES * size and np.median(around - inside) > 0)
    return {**seam(values, values.ndim - 1), "vanishes": vanishes}


class Checks:
    """Gathers what is said of the samples of a dataset, batch by batch, on the finest grid."""

    def __init__(self, channels: list[Channel], dimension: int):
        self.channels, self.dimension = channels, dimension
        self.ranges: dict[str, list[float]] = {one.stored: [np.inf, -np.inf] for one in channels}
        self.constant = dict.fromkeys(self.ranges, 0)
        self.seams: dict[str, list[dict[str, float]]] = {one.stored: [] for one in channels if one.space}
        self.moments = {one.stored: Moments() for one in channels}
        self.seen: dict[str, set[bytes]] = {}
        self.same = self.looked_at = 0

    def add(self, names: list[tuple[str, int]], drawn: np.ndarray) -> None:
        """Look at samples, (samples, channels, ...space), of these splits and indices."""
        self.looked_at += len(names)
        inputs = [number for number, one in enumerate(self.channels) if one.role == "input"]
        targets = [number for number, one in enumerate(self.channels) if one.role == "target"]
        for (split, _), sample in zip(names, drawn, strict=True):
            given = np.ascontiguousarray(sample[inputs])
            self.seen.setdefault(split, set()).add(hashlib.blake2b(given.tobytes(), digest_size=16).digest())
        if len(inputs) == len(targets):
            self.same += int(
                (drawn[:, inputs] == drawn[:, targets]).reshape(len(drawn), -1).all(axis=1).sum()
            )
        for number, channel in enumerate(self.channels):
            values = drawn[:, number]
            low, high = self.ranges[channel.stored]
            self.ranges[channel.stored] = [min(low, float(values.min())), max(high, float(values.max()))]
            self.moments[channel.stored].add(len(values), values.mean(), values.var())
            flat = values.reshape(len(values), -1)
            self.constant[channel.stored] += int((flat == flat[:, :1]).all(axis=1).sum())
            if channel.space:
                self.seams[channel.stored].append(seam(values, self.dimension))

    def findings(self) -> dict[str, Any]:
        """Return what was found, for the card."""
        shared = {
            f"{one} and {other}": len(self.seen[one] & self.seen[other])
            for number, one in enumerate(self.seen)
            for other in list(self.seen)[number + 1 :]
        }
        return {
            "range": {name: f"{low:.6g} to {high:.6g}" for name, (low, high) in self.ranges.items()},
            "mean_and_standard_deviation": {
                name: [float(f"{one.mean:.6g}"), float(f"{one.variance**0.5:.6g}")]
                for name, one in self.moments.items()
            },
            "constant_samples": {one.stored: self.constant[one.stored] for one in self.channels if one.space},
            "inputs_in_two_splits": shared,
            "targets_equal_to_their_input": self.same,
            "at_the_ends": {
                name: {key: _over(key, [one[key] for one in found]) for key in found[0]}
                for name, found in self.seams.items()
                if found
            },
            "samples_looked_at": self.looked_at,
        }

    @staticmethod
    def warnings(findings: dict, grid: str) -> list[Words]:
        """Say in a sentence each what is odd in functions on a grid of this kind."""
        words = unscaled(findings["mean_and_standard_deviation"])
        total = findings["samples_looked_at"]
        for name, count in findings["constant_samples"].items():
            if count:
                words.append(f"'{name}' is constant in {count} of {counted(total, 'sample')}.")
        for pair, count in findings["inputs_in_two_splits"].items():
            if count:
                words.append(
                    f"{counted(count, 'input is', 'inputs are')} in {pair} alike: errors on the latter say "
                    "less than they seem."
                )
        if same := findings["targets_equal_to_their_input"]:
            words.append(f"The target is its input in {counted(same, 'sample')}.")
        for name, found in findings["at_the_ends"].items():
            words += grid_warnings(name, found, grid)
        return words


def unscaled(moments: dict[str, tuple[float, float]]) -> list[Words]:
    """Say which functions, of these means and deviations, are far from 0 and 1, and what to do."""
    return [
        f"'{name}' has the mean {mean:.4g} and the standard deviation {deviation:.4g}: train with "
        "normalisation: scalar, or a model that learned nothing may have a small error."
        for name, (mean, deviation) in moments.items()
        if deviation and (abs(mean) > FAR * deviation or not SIZES[0] <= deviation <= SIZES[1])
    ]


def grid_warnings(name: str, found: dict[str, float], kind: str) -> list[str]:
    """Say where functions are not smooth as those on a grid of `kind` are."""
    words = []
    if kind == "periodic" and found["both_ends"] <= REPEATED and found["seam"] < SEAMLESS:
        words.append(
            f"'{name}': the last value repeats the first one; on a periodic grid the right end is left out. "
            "Leave the last point out, or state grid: nodes."
        )
    elif kind == "periodic" and found["seam"] > JUMP:
        words.append(
            f"'{name}' jumps at the seam of the periodic grid, {found['seam']:.3g} times as far as between "
            "any neighbours inside (median over samples): it does not look periodic. State grid: nodes or "
            "cell_centres."
        )
    if kind == "nodes" and found["at_ends"] > 1e-3 and found["half_cell"] < 0.1 * found["at_ends"]:
        words.append(
            f"'{name}' vanishes half a cell beyond its ends, not at them: it looks like one on cell_centres."
        )
    if kind == "cell_centres" and found["at_ends"] <= REPEATED < found["half_cell"]:
        words.append(f"'{name}' vanishes at its first and last points: it looks like one on nodes.")
    return words


def _over(key: str, values: list[float]) -> float:
    """Summarise what was measured of several batches, to three digits."""
    return float(f"{np.median(values) if key == 'seam' else max(values):.3g}")
