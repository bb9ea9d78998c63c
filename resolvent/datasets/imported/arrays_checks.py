"""Sanity checks on imported arrays: ranges, constants, duplicated samples, seams, boundaries."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from resolvent.common.counts import counted
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import SMALLEST, UNIT
from resolvent.datasets.imported.series import Channel

JUMP = 4.0  # jump at the seam over the largest inner jump, above which functions are not periodic
SEAMLESS = 1.0  # the same ratio, below which the seam is as smooth as the inside
REPEATED = 1e-7  # difference relative to the range, below which the last value repeats the first
FEWEST_VALUES, UNRELATED = 300, 0.1  # values that show noise, and correlation of neighbours below which it is
# Samples of a split, and share of pairs in which one of two splits is larger.
FEWEST_COMPARED, SORTED = 5, 0.95
FAR = 10.0  # largest |mean| / deviation without normalisation
SIZES = 0.3, 1 / 0.3  # smallest and largest deviation without normalisation
FEWEST_SIDE = 8  # points along the side of a square whose rows were joined
# Distance of neighbouring numbers of a type, in deviations, above which it holds too few digits.
COARSE = 1e-3


def seam(values: np.ndarray, axes: Iterable[int]) -> dict[str, float]:
    """Measure the behaviour of functions (samples, ...space) at the ends of some axes of space.

    seam        jump from the last value to the first, relative to the largest jump between neighbours inside:
                median over samples, maximum over axes.
    both_ends   largest difference of the last value from the first, relative to the range of values.
    at_ends     largest value at the ends, relative to the largest value.
    half_cell   the same, extrapolated half a cell beyond the ends.
    """
    largest, extent = float(np.abs(values).max()) or 1.0, float(np.ptp(values)) or 1.0
    ratios, ends, edges, beyond = [], [], [], []
    for axis in axes:
        along = np.moveaxis(values, axis, -1)
        inside = np.abs(np.diff(along, axis=-1)).reshape(len(values), -1).max(axis=1)
        jump = np.abs(along[..., 0] - along[..., -1]).reshape(len(values), -1).max(axis=1)
        smooth = inside > 0
        ratios.append(float(np.median(jump[smooth] / inside[smooth])) if smooth.any() else 0.0)
        ends.append(float(jump.max()) / extent)
        edges.append(float(np.abs(along[..., [0, -1]]).max()) / largest)
        outside = 1.5 * along[..., [0, -1]] - 0.5 * along[..., [1, -2]]
        beyond.append(float(np.abs(outside).max()) / largest)
    return {"seam": max(ratios), "both_ends": max(ends), "at_ends": max(edges), "half_cell": max(beyond)}


def repeats_ends(values: np.ndarray, axes: Iterable[int]) -> bool:
    """Return whether the last values along all of some axes repeat the first, but the second last do not."""
    ends = [np.moveaxis(values, axis, -1)[..., [0, -2, -1]] for axis in axes]
    least = REPEATED * (np.ptp(values) or 1.0)
    same = all(np.abs(part[..., 0] - part[..., 2]).max() <= least for part in ends)
    return same and all(np.abs(part[..., 1] - part[..., 2]).max() > least for part in ends)


def is_noise(values: np.ndarray, axes: Iterable[int]) -> bool | None:
    """Return whether neighbours along all of some axes of (samples, ...) are unrelated.

    Returns None for too few values, which cannot separate noise from functions on a coarse grid.
    """
    if values.size < FEWEST_VALUES:
        return None
    values = np.clip(values, *np.quantile(values, [0.01, 0.99]))  # without fill values
    centred = values - values.mean(axis=tuple(range(1, values.ndim)), keepdims=True)
    variance = float((centred**2).mean())
    along = [np.moveaxis(centred, axis, -1) for axis in axes]
    products = [abs(float((part[..., 1:] * part[..., :-1]).mean())) for part in along if part.shape[-1] > 1]
    return variance > 0 and max(products, default=variance) < UNRELATED * variance


def flattened(values: np.ndarray) -> int:
    """Return the side of the square that functions (samples, points) seem to be rows of, or 0.

    In a flattened field the values one row apart are as near as neighbours; in a function of one variable
    they are a side apart.
    """
    side = math.isqrt(values.shape[1])
    if side**2 != values.shape[1] or side < FEWEST_SIDE:
        return 0
    rows = values.reshape(len(values), side, side)
    within, across = (np.sqrt(np.mean(np.diff(rows, axis=axis) ** 2)) for axis in (2, 1))
    return side if across < min(3 * within, 0.5 * values.std()) else 0


def larger(train: np.ndarray, test: np.ndarray) -> float:
    """Return the share of pairs in which the test sample is larger; 0.5 if there are few samples."""
    if min(len(train), len(test)) < FEWEST_COMPARED:
        return 0.5
    return float((np.sign(test[:, None] - train).mean() + 1) / 2)


def by_kind(kinds: dict[str, str]) -> dict[str, tuple[str, list[int]]]:
    """Return kind and numbers (from 1) of the axes of each kind, by the suffix for a function's name."""
    found = {}
    for kind in dict.fromkeys(kinds.values()):
        axes = [axis for axis in kinds if kinds[axis] == kind]
        along = f" along {' and '.join(axes)}" if len({*kinds.values()}) > 1 else ""
        found[along] = kind, [1 + [*kinds].index(axis) for axis in axes]
    return found


def findings_of(
    channels: list[Channel],
    kinds: dict[str, str],
    batches: Iterable[tuple[list[tuple[str, int]], np.ndarray]],
) -> dict[str, Any]:
    """Return the findings about samples on the finest grid, for the card.

    kinds    kinds of the axes of space, in stored order.
    batches  pairs of [(split, index), …] and samples (samples, channels, ...space).

    Raises `DatasetError` for a function or scalar whose values are all too small for single precision.
    """
    roles, stored = np.array([one.role for one in channels]), [one.stored for one in channels]
    functions = {one.stored: number for number, one in enumerate(channels) if one.space}
    ends: dict[str, list[dict[str, float]]] = {}
    splits, digests, rows = list[str](), list[tuple[bytes, bytes]](), list[np.ndarray]()
    single = np.ones(len(channels), bool)  # whether all numbers of a channel fit into single precision
    for names, drawn in batches:
        splits += [split for split, _ in names]
        digests += [
            (_digest(sample[roles == "input"]), _digest(sample[roles == "target"])) for sample in drawn
        ]
        flat = drawn.reshape(*drawn.shape[:2], -1)
        single &= (flat == flat.astype(np.float32)).all(axis=(0, 2))
        size = np.sqrt((flat**2).mean(2))
        rows.append(np.stack([flat.min(2), flat.max(2), flat.mean(2), flat.var(2), size]))
        for name, number in functions.items():
            for along, (_, axes) in by_kind(kinds).items():
                ends.setdefault(name + along, []).append(seam(drawn[:, number], axes))
    low, high, means, variances, sizes = np.concatenate(rows, axis=1)  # each (samples, channels)
    largest = np.maximum(np.abs(low), np.abs(high)).max(axis=0)
    for channel, size in zip(channels, largest, strict=True):
        if 0 < size < SMALLEST:
            raise DatasetError(f"'{channel.words}' has values up to {size:.2g}; expected: {UNIT}")
    pairs_of: dict[str, set[tuple[bytes, bytes]]] = {}
    for split, pair in zip(splits, digests, strict=True):
        pairs_of.setdefault(split, set()).add(pair)
    shared = {
        f"{one} and {other}": len({of_input for of_input, _ in pairs_of[one] & pairs_of[other]})
        for one, other in combinations(pairs_of, 2)
    }
    targets_of = Counter(of_input for of_input, _ in {*digests})
    train, test = (sizes[np.array(splits) == split] for split in ("train", "test"))
    at_the_ends: dict[str, dict[str, float]] = {}
    for name, of_batches in ends.items():
        found = {key: max(one[key] for one in of_batches) for key in of_batches[0]}
        found["seam"] = float(np.median([one["seam"] for one in of_batches]))
        at_the_ends[name] = {key: float(f"{value:.3g}") for key, value in found.items()}
    deviations = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
    spacings = np.where(single, np.spacing(largest.astype(np.float32)), np.spacing(largest))
    return {
        "mean_and_standard_deviation": {
            name: [float(f"{mean:.6g}"), float(f"{deviation:.6g}")]
            for name, mean, deviation in zip(stored, means.mean(axis=0), deviations, strict=True)
        },
        "spacing_of_numbers": {
            name: float(f"{spacing:.3g}")
            for name, spacing, deviation in zip(stored, spacings, deviations, strict=True)
            if spacing > COARSE * deviation > 0
        },
        "constant_samples": {name: int((low == high)[:, number].sum()) for name, number in functions.items()},
        "inputs_in_two_splits": shared,
        "inputs_with_two_targets": sum(count > 1 for count in targets_of.values()),
        "share_of_pairs_in_which_test_is_larger": {
            name: float(f"{larger(train[:, number], test[:, number]):.3g}")
            for name, number in functions.items()
            if len(train) and len(test)
        },
        "targets_equal_to_their_input": sum(of_input == of_target for of_input, of_target in digests),
        "at_the_ends": at_the_ends,
        "samples_looked_at": len(splits),
    }


def _digest(values: np.ndarray) -> bytes:
    return hashlib.blake2b(values.tobytes(), digest_size=16).digest()


def warnings_of(findings: dict, kinds: dict[str, str]) -> list[str]:
    """Return a sentence for each oddity in `findings`, for a grid with axes of these kinds."""
    moments = findings["mean_and_standard_deviation"]
    words = unscaled(moments)
    for name, spacing in findings["spacing_of_numbers"].items():
        mean, deviation = moments[name]
        words.append(
            f"'{name}' is stored with too few digits: its numbers near {mean:.4g} are {spacing:.2g} apart, "
            f"and its standard deviation is {deviation:.2g}. Use double precision, or subtract the mean."
        )
    total = counted(findings["samples_looked_at"], "sample")
    for name, count in findings["constant_samples"].items():
        words += [f"'{name}' is constant in {count} of {total}."] if count else []
    for pair, count in findings["inputs_in_two_splits"].items():
        if count:
            words.append(
                f"{counted(count, 'input is', 'inputs are')} in both {pair}: errors on the latter are too "
                "optimistic."
            )
    if conflicts := findings["inputs_with_two_targets"]:
        words.append(
            f"{counted(conflicts, 'input has', 'inputs have')} different targets in different samples: no "
            "function of the input gives both. Add the input that distinguishes them."
        )
    for name, share in findings["share_of_pairs_in_which_test_is_larger"].items():
        words += sorted_warnings(name, share)
    if same := findings["targets_equal_to_their_input"]:
        words.append(f"Input and target are equal in {counted(same, 'sample')}.")
    for name, found in findings["at_the_ends"].items():
        kind = next(kind for along, (kind, _) in by_kind(kinds).items() if name.endswith(along))
        words += grid_warnings(name, found, kind)
    return words


def sorted_warnings(name: str, share: float) -> list[str]:
    """Return a warning if test samples are larger than training samples in a `share` of pairs, or smaller."""
    if 1 - SORTED < share < SORTED:
        return []
    how = "larger" if share > 0.5 else "smaller"
    return [
        f"Test samples of '{name}' are {how} than training samples, as if the samples were sorted by size: "
        "to draw the splits at random, set order: random."
    ]


def unscaled(moments: dict[str, tuple[float, float]]) -> list[str]:
    """Return warnings for functions with mean and deviation far from 0 and 1, with the remedy."""
    found: list[str] = []
    for name, (mean, deviation) in moments.items():
        far, (low, high) = abs(mean) > FAR * deviation, SIZES
        if deviation and (far or not low <= deviation <= high):
            remedy, why = "normalisation: scalar", "the training may diverge or be slow"
            if far:
                remedy += " and loss_units: standardised"
                why = "a model that learned nothing may have a small loss"
            found.append(
                f"'{name}' has the mean {mean:.4g} and the standard deviation {deviation:.4g}: train with "
                f"{remedy}, since otherwise {why}."
            )
    return found


def grid_warnings(name: str, found: dict[str, float], kind: str) -> list[str]:
    words = []
    if kind == "periodic" and found["both_ends"] <= REPEATED and found["seam"] < SEAMLESS:
        words.append(
            f"'{name}': the last value repeats the first one, but a periodic grid excludes the right end. "
            "Drop the last point, or set grid: nodes."
        )
    elif kind == "periodic" and found["seam"] > JUMP:
        words.append(
            f"'{name}' does not look periodic: it jumps at the seam of the grid, {found['seam']:.3g} times "
            "as far as between neighbours inside (median over samples). Set grid: nodes or cell_centres."
        )
    if kind == "nodes" and found["at_ends"] > 1e-3 and found["half_cell"] < 0.1 * found["at_ends"]:
        words.append(
            f"'{name}' vanishes half a cell beyond its ends, not at them: it looks like grid: cell_centres."
        )
    if kind == "cell_centres" and found["at_ends"] <= REPEATED < found["half_cell"]:
        words.append(f"'{name}' vanishes at its first and last points: it looks like grid: nodes.")
    return words


def unmasked(values: Any) -> Any:
    """Return a masked array with NaN for its masked values, which `np.asarray` would reveal; others as is."""
    if not np.ma.is_masked(values):
        return values
    return (values.astype(np.float64) if values.dtype.kind in "iu" else values).filled(np.nan)
