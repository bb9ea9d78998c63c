"""Small datasets of every equation, and the jobs that make them, without Snakemake."""

from pathlib import Path

from resolvent.datasets.card import finalise
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task, settings_class, settings_of

CODE = "0123456789abcdef"
FEW = {"train": 3, "validation": 1, "test": 2}


def small(equation: str, **changes):
    """Settings of a dataset of `equation` that takes a second or two to make."""
    return settings_of({"equation": equation, **settings_class(equation).example, **changes})


def small_settings(**changes) -> BurgersDataset:
    return small("burgers", **changes)


def make_dataset(
    folder: Path, settings, address: str | None = None, name: str | None = None, kind=build_task
) -> Path:
    """Generate and finalise in `folder`, under `name` or the equation's; returns the card's path.

    `kind` makes the task of the settings.
    """
    task, name = kind(settings), name or settings.equation
    store, card = folder / f"{name}.zarr", folder / f"{name}.json"
    receipts = [folder / f"{name}.shards" / f"{shard}.json" for shard in range(settings.num_shards)]
    for shard, receipt in enumerate(receipts):
        generate_shard(task, store, shard, receipt, CODE, address)
    finalise(task, store, receipts, card, CODE)
    return card
