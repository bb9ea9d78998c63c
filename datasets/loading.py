"""What training and evaluation read: one split at one resolution, in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets.errors import DatasetError
from datasets.store import group_name, read_array
from solvers.grid import Grid


@dataclass(frozen=True)
class Samples:
    """Paired functions on one grid: `inputs` and `targets` (samples, points), float64, physical units."""

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


def load_samples(card_path: Path, points: int, split: str, count: int) -> Samples:
    """The first `count` samples of `split` on the grid of `points`.

    Raises
    ------
    DatasetError
        When the card or store is missing or damaged, the grid is not stored, or `count` is too large.
    """
    card = read_card(card_path)
    if points not in card["grids"]["points"]:
        raise DatasetError(
            f"{card['dataset']} is not stored at {points} points; it has {card['grids']['points']}"
        )
    available = card["samples"][split]
    if count > available:
        raise DatasetError(f"{count} {split} samples asked for; {card['dataset']} has {available}")
    splits = list(card["samples"])
    start = sum(card["samples"][name] for name in splits[: splits.index(split)])
    store, members = Path(card_path).with_suffix(".zarr"), range(start, start + count)
    try:
        inputs, targets = (
            read_array(store, f"{group_name(points)}/{card[key]}", members)
            for key in ("input_variable", "target_variable")
        )
    except DatasetError as error:
        raise DatasetError(f"{error}; make it again with snakemake -R solve_{card['dataset']}") from None
    return Samples(Grid("periodic", points), inputs, targets)
