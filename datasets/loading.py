"""What training and evaluation read: one split of one group, in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr

from datasets.errors import DatasetError
from datasets.layout import grid_from_facts, group_name
from datasets.store import read_array
from solvers.grid import Grid


@dataclass(frozen=True)
class Samples:
    """Paired functions on one grid: `inputs` and `targets` (samples, ...space), in physical units."""

    grid: Grid
    inputs: np.ndarray
    targets: np.ndarray

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


def stored_points(card: dict) -> list[int]:
    """Points along each axis of the grids that hold functions of space."""
    return [group["grid"]["points"] for group in card["groups"].values() if "points" in group["grid"]]


def load_arrays(card_path: Path, group: str, split: str, count: int | None = None) -> dict[str, np.ndarray]:
    """Every variable of `group`, as (samples, ...): the first `count` samples of `split`, or all.

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
    splits = list(card["samples"])
    start = sum(card["samples"][name] for name in splits[: splits.index(split)])
    store, members = Path(card_path).with_suffix(".zarr"), range(start, start + count)
    try:
        _check_belongs(card, card_path, store)
        return {
            name: read_array(store, f"{group}/{name}", members) for name in card["groups"][group]["variables"]
        }
    except DatasetError as error:
        raise DatasetError(f"{error}; make it again with snakemake -R solve_{card['dataset']}") from None


def load_samples(card_path: Path, points: int, split: str, count: int) -> Samples:
    """The first `count` samples of `split` on the grid of `points`: one input, one target.

    Raises
    ------
    DatasetError
        As `load_arrays`; and when the grid is not stored or there are several inputs or targets.
    """
    card = read_card(card_path)
    if points not in stored_points(card):
        raise DatasetError(
            f"{card['dataset']} is not stored at {points} points; it has {stored_points(card)}"
        )
    if len(card["inputs"]) != 1 or len(card["targets"]) != 1:
        raise DatasetError(f"{card['dataset']} maps {card['inputs']} to {card['targets']}, not one to one")
    arrays = load_arrays(card_path, group_name(points), split, count)
    grid = grid_from_facts(card["groups"][group_name(points)]["grid"])
    return Samples(grid, arrays[card["inputs"][0]], arrays[card["targets"][0]])


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
