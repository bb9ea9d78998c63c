"""What training and evaluation read: one split of one group, in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr

from datasets.errors import DatasetError
from datasets.gradients import gradient
from datasets.layout import grid_from_facts, group_name
from datasets.noise import Noise, pointwise_deviation
from datasets.store import read_array
from solvers.grid import Grid

BATCH = 32  # samples on the finest grid at a time


@dataclass(frozen=True)
class Samples:
    """Paired functions: `inputs` on `grid` and `targets` (samples, ...space), in physical units.

    gradients    of the targets, (samples, dimension, ...space), as `datasets.gradients` orders them, where
                 they are known better than from the targets on this grid (`target_gradients`).
    target_grid  of the targets; that of the inputs, unless another is given.
    """

    grid: Grid
    inputs: np.ndarray
    targets: np.ndarray
    gradients: np.ndarray | None = None
    target_grid: Grid | None = None

    def __post_init__(self):
        if self.target_grid is None:
            object.__setattr__(self, "target_grid", self.grid)

    def __len__(self) -> int:
        return len(self.inputs)


def read_card(path: Path) -> dict:
    """The dataset card at `path`.

    Raises
    ------
    DatasetError
        When there is none: the dataset was never finished, or is being made again.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DatasetError(
            f"no dataset card at {path}: the dataset is not finished; run snakemake again"
        ) from None
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"the dataset card {path} is damaged ({error}); delete it and run snakemake"
        ) from None


def stored_points(card: dict, name: str | None = None) -> list[int]:
    """Points along each axis of the grids that hold functions of space; or of those that hold `name`."""
    return [
        group["grid"]["points"]
        for group in card["groups"].values()
        if "points" in group["grid"] and (name is None or name in group["variables"])
    ]


def target_points(card: dict, points: int) -> int:
    """Points of the grid that an operator from the grid of `points` goes to: a coarser one where paired."""
    resolutions = card["settings"]["resolutions"]
    return dict(zip(resolutions, card["settings"].get("coarse", resolutions), strict=True))[points]


def load_arrays(
    card_path: Path, group: str, split: str, count: int | None = None, names: list[str] | None = None
) -> dict[str, np.ndarray]:
    """Variables of `group`, all or `names`, as (samples, ...): the first `count` samples of `split`, or all.

    Raises
    ------
    DatasetError
        When the card or store is missing, damaged or another's, there is no such group, or `count` is too
        large.
    """
    card = read_card(card_path)
    if group not in card["groups"]:
        raise DatasetError(f"{card['dataset']} has no group '{group}'; it has {', '.join(card['groups'])}")
    available = card["samples"][split]
    count = available if count is None else count
    if count > available:
        raise DatasetError(f"{count} {split} samples asked for; {card['dataset']} has {available}")
    names = card["groups"][group]["variables"] if names is None else names
    return {name: _read(card_path, card, f"{group}/{name}", split, range(count)) for name in names}


def load_samples(
    card_path: Path,
    points: int,
    split: str,
    count: int,
    *,
    grids: str = "stored",
    noise: Noise | None = None,
) -> Samples:
    """The first `count` samples of `split`, measured on the grid of `points`: one input, one target.

    Parameters
    ----------
    grids
        Of input and target, for a dataset with a fine grid of inputs and a coarse one of targets: `stored` is
        fine to coarse, `fine` and `coarse` are one grid for both. On the coarse one the input is what was
        measured at its nodes.
    noise
        Added to the input at every point of the fine grid; none: the stored values.

    Raises
    ------
    DatasetError
        As `load_arrays`; and when the grid is not stored or there are several inputs or targets.
    """
    card = read_card(card_path)
    if len(card["inputs"]) != 1 or len(card["targets"]) != 1:
        raise DatasetError(f"{card['dataset']} maps {card['inputs']} to {card['targets']}, not one to one")
    (input,), (target,) = card["inputs"], card["targets"]
    if points not in stored_points(card, input):
        raise DatasetError(
            f"{card['dataset']} is not stored at {points} points; it has {stored_points(card, input)}"
        )
    inputs = load_arrays(card_path, group_name(points), split, count, [input])[input]
    if noise is not None:
        inputs = noise.added(inputs, split)
    coarse = target_points(card, points)
    to_points = points if grids == "fine" else coarse
    targets = load_arrays(card_path, group_name(to_points), split, count, [target])[target]
    grid, target_grid = (grid_from_facts(card["groups"][group_name(n)]["grid"]) for n in (points, to_points))
    if grids == "coarse":
        stride = (points - 1) // (coarse - 1)
        grid, inputs = target_grid, inputs[:, ::stride, ::stride].copy()
    return Samples(grid, inputs, targets, target_grid=target_grid)


def training_noise(card_path: Path, points: int, count: int, level: float) -> Noise | None:
    """Noise in units of the deviation of the first `count` training inputs on `points`; None at level 0.

    Raises
    ------
    DatasetError
        As `load_arrays`.
    """
    if not level:
        return None
    card = read_card(card_path)
    (input,) = card["inputs"]
    train = load_arrays(card_path, group_name(points), "train", count, [input])[input]
    return Noise(level, pointwise_deviation(train), card["seed"])


def target_gradients(card_path: Path, samples: Samples, split: str) -> np.ndarray:
    """Gradients of the targets of `samples`, the first ones of `split`: (samples, dimension, ...space).

    On nodes they are second-order differences on the finest stored grid that holds the very same values at
    these nodes, as Cao 2021, section C.1, has them; elsewhere the derivative of the samples' own grid.

    Raises
    ------
    DatasetError
        As `load_arrays`.
    """
    card, own = read_card(card_path), samples.grid
    (target,) = card["targets"]
    finest = own.points
    if own.kind == "nodes":
        finest = max(n for n in stored_points(card, target) if (n - 1) % (own.points - 1) == 0)
    if finest == own.points:
        return gradient(samples.targets, own)
    grid = grid_from_facts(card["groups"][group_name(finest)]["grid"])
    strided = (..., *[slice(None, None, (finest - 1) // (own.points - 1))] * own.dimension)
    parts = []
    for start in range(0, len(samples), BATCH):
        members = range(start, min(start + BATCH, len(samples)))
        values = _read(card_path, card, f"{group_name(finest)}/{target}", split, members)
        if not np.array_equal(values[strided], samples.targets[members.start : members.stop]):
            return gradient(samples.targets, own)  # solved anew on each grid
        parts.append(gradient(values, grid)[strided].copy())
    return np.concatenate(parts)


def _read(card_path: Path, card: dict, name: str, split: str, members: range) -> np.ndarray:
    """Samples `members` of `split` of the array `name`, "n512/u"."""
    splits = list(card["samples"])
    start = sum(card["samples"][one] for one in splits[: splits.index(split)])
    store = Path(card_path).with_suffix(".zarr")
    try:
        _check_belongs(card, card_path, store)
        return read_array(store, name, range(start + members.start, start + members.stop))
    except DatasetError as error:
        raise DatasetError(f"{error}; make it again with snakemake -R solve_{card['dataset']}") from None


def _check_belongs(card: dict, card_path: Path, store: Path) -> None:
    """The store carries its own card: another's would make every number a lie."""
    if not store.exists():
        return  # reading says so
    inside = zarr.open_group(store, mode="r").attrs.get("content_hash")
    if inside != card["content_hash"]:
        raise DatasetError(
            f"the card {card_path} does not match its store: content hash {card['content_hash'][:12]} "
            f"against {inside[:12] if inside else 'none'} in the store"
        )
