"""What training and evaluation read: one split of one group, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import read_json
from resolvent.datasets.errors import DatasetError, damaged
from resolvent.datasets.gradients import central_differences, gradient
from resolvent.datasets.noise import Noise, pointwise_standard_deviation
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import grid_from_facts, group_name, resolution_of
from resolvent.datasets.storage.store import open_store, read_array
from resolvent.solvers.common.grid import Grid, Nodes

BATCH = 32  # samples on the finest grid at a time


@dataclass(frozen=True)
class Samples:
    """Paired functions: `inputs` on `grid` and `targets`, in physical units.

    Both are (samples, ...space), or (samples, channels, ...space) where they are several functions. Numbers
    beside functions, such as initial values, are constant functions and come last.

    gradients    of the targets, (samples, dimension, ...space), as `resolvent.datasets.gradients` orders
                 them, where they are known better than from the targets on this grid (`target_gradients`).
    target_grid  of the targets; that of the inputs, unless another is given.
    """

    grid: Grid | Nodes
    inputs: np.ndarray
    targets: np.ndarray
    gradients: np.ndarray | None = None
    target_grid: Grid | Nodes = None  # type: ignore[assignment]  # never None after __post_init__

    def __post_init__(self) -> None:
        if self.target_grid is None:
            object.__setattr__(self, "target_grid", self.grid)

    def __len__(self) -> int:
        return len(self.inputs)


def read_card(path: Path) -> dict:
    """Read the dataset card at `path`, and check that it is the card of the store beside it.

    Raises
    ------
    DatasetError
        When there is none: the dataset was never finished, or is being made again. When the content hash of
        the store is another.
    FileError
        When the card is damaged.
    """
    try:
        card = read_json(path, "the dataset card")
    except FileNotFoundError:
        raise DatasetError(
            f"no dataset card at {path}: the dataset is not finished; run snakemake again"
        ) from None
    store = Path(path).with_suffix(".zarr")
    inside = str(open_store(store).attrs.get("content_hash", "none"))
    outside = str(card.get("content_hash", "none"))
    if inside != outside:
        raise damaged(
            located(store),
            f"does not match the card {path}: content hash {inside[:12]} against {outside[:12]}",
        )
    return card


def stored_points(card: dict, name: str) -> list[int]:
    """List the points along each axis of the grids of space that hold the variable `name`."""
    return [
        group["grid"]["points"]
        for group in card["groups"].values()
        if "points" in group["grid"] and name in group["variables"]
    ]


def target_resolution(card: dict, resolution: int | str) -> int | str:
    """Give the resolution of the targets for inputs at `resolution`: a coarser one where grids are paired."""
    if "coarse" not in card["settings"]:
        return resolution
    return dict(zip(card["settings"]["resolutions"], card["settings"]["coarse"], strict=True))[resolution]


def load_arrays(
    card_path: Path, group: str, split: str, count: int | None = None, names: list[str] | None = None
) -> dict[str, np.ndarray]:
    """Load variables of `group`, all or `names`: the first `count` samples of `split`, or all.

    Returns
    -------
    dict
        From the name of a variable to its values, (samples, ...).

    Raises
    ------
    DatasetError
        When the card or the store is missing or damaged, the two do not belong together, there is no such
        group, or `count` is too large.
    """
    return _arrays(card_path, read_card(card_path), group, split, count, names)


def _arrays(
    card_path: Path, card: dict, group: str, split: str, count: int | None, names: list[str] | None
) -> dict[str, np.ndarray]:
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
    resolution: int | str,
    split: str,
    count: int,
    *,
    grids: str = "stored",
    noise: Noise | None = None,
) -> Samples:
    """Load the first `count` samples of `split`, observed at `resolution`.

    Parameters
    ----------
    resolution
        Points along each axis, or the name of a set of times.
    grids
        Of input and target, for a dataset with a fine grid of inputs and a coarse one of targets: `stored` is
        fine to coarse, `fine` and `coarse` are one grid for both. On the coarse one the input is what was
        measured at its nodes.
    noise
        Added to the input at every point of the fine grid; none: the stored values.

    Raises
    ------
    DatasetError
        As `load_arrays`; and when no input is stored at this resolution.
    """
    card = read_card(card_path)
    stored = [name for name, group in card["groups"].items() if card["inputs"][0] in group["variables"]]
    if group_name(resolution) not in stored:
        raise DatasetError(
            f"{card['dataset']} is not stored at {resolution}; it has "
            f"{', '.join(str(resolution_of(name)) for name in stored)}"
        )
    coarse = target_resolution(card, resolution)
    target_group = group_name(resolution if grids == "fine" else coarse)
    grid, target_grid = (
        grid_from_facts(card["groups"][name]["grid"]) for name in (group_name(resolution), target_group)
    )
    inputs = _functions(_arrays(card_path, card, group_name(resolution), split, count, card["inputs"]), grid)
    targets = _functions(_arrays(card_path, card, target_group, split, count, card["targets"]), target_grid)
    if noise is not None:
        inputs = noise.added(inputs, split)
    if grids == "coarse":
        stride = (grid.points - 1) // (target_grid.points - 1)
        grid, inputs = target_grid, inputs[:, ::stride, ::stride].copy()
    return Samples(grid, inputs, targets, target_grid=target_grid)


def _functions(arrays: dict[str, np.ndarray], grid: Grid | Nodes) -> np.ndarray:
    """Stack variables on `grid` as `Samples` has them; numbers of a sample come last, as constants."""
    space = (grid.points,) * grid.dimension
    functions = [values for values in arrays.values() if values.ndim > 1]
    constants = [values for values in arrays.values() if values.ndim == 1]
    channels = [
        *functions,
        *(np.broadcast_to(v.reshape(-1, *[1] * len(space)), (len(v), *space)) for v in constants),
    ]
    return channels[0] if len(channels) == 1 else np.stack(channels, axis=1)


def training_noise(card_path: Path, points: int, count: int, level: float) -> Noise | None:
    """Build the noise of `level` ε on the inputs on a grid of `points`; None at level 0.

    Its unit is the standard deviation, at each point, of the first `count` training inputs.

    Raises
    ------
    DatasetError
        As `load_arrays`.
    """
    if not level:
        return None
    card = read_card(card_path)
    (input,) = card["inputs"]
    train = _arrays(card_path, card, group_name(points), "train", count, [input])[input]
    return Noise(level, pointwise_standard_deviation(train), card["seed"])


def target_gradients(card_path: Path, samples: Samples, split: str, as_coded: bool = False) -> np.ndarray:
    """Differentiate the targets of `samples`, the first ones of `split`: (samples, dimension, ...space).

    On nodes the gradients are second-order differences on the finest stored grid that holds the very same
    values at these nodes, as Cao 2021, section C.1, has them; elsewhere those of the samples' own grid. As in
    the public code (`as_coded`) they are `central_differences`, and on the finest grid on a circle too.

    Raises
    ------
    DatasetError
        As `load_arrays`.
    """
    card, own = read_card(card_path), samples.grid
    if isinstance(own, Nodes):
        raise DatasetError(f"{card['dataset']} has trajectories; gradients are of functions on a grid")
    (target,) = card["targets"]
    differentiate = central_differences if as_coded else gradient
    finest, stored = own.points, stored_points(card, target)
    if own.kind == "nodes":
        finest = max(n for n in stored if (n - 1) % (own.points - 1) == 0)
    elif as_coded and own.kind == "periodic":
        finest = max(n for n in stored if n % own.points == 0)
    if finest == own.points:
        return differentiate(samples.targets, own)
    grid = Grid(own.kind, finest, own.length, own.dimension)
    strided: Any = (..., *[slice(None, None, round(own.spacing / grid.spacing))] * own.dimension)
    parts = []
    for members, values in _batches(card_path, card, f"{group_name(finest)}/{target}", split, len(samples)):
        same = np.array_equal(values[strided], samples.targets[members.start : members.stop])
        if own.kind == "nodes" and not same:
            return differentiate(samples.targets, own)  # solved anew on each grid
        parts.append(differentiate(values, grid)[strided].copy())
    return np.concatenate(parts)


def _batches(
    card_path: Path, card: dict, name: str, split: str, count: int
) -> Iterator[tuple[range, np.ndarray]]:
    """Read the first `count` samples of `split` of the array `name`, "n512/u", a few at a time."""
    for start in range(0, count, BATCH):
        members = range(start, min(start + BATCH, count))
        yield members, _read(card_path, card, name, split, members)


def _read(card_path: Path, card: dict, name: str, split: str, members: range) -> np.ndarray:
    """Read samples `members` of `split` of the array `name`, "n512/u"."""
    splits = list(card["samples"])
    start = sum(card["samples"][one] for one in splits[: splits.index(split)])
    store = Path(card_path).with_suffix(".zarr")
    return read_array(store, name, range(start + members.start, start + members.stop))
