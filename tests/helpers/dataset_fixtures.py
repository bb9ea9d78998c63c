"""Small datasets of every equation, and the jobs that make them, without Snakemake."""

import os
import shutil
from pathlib import Path

from filelock import FileLock

from resolvent.common.settings import settings_hash
from resolvent.datasets.card import finalise
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task, settings_class, settings_of

CODE = {"small": 1}  # versions of what computes
FEW = {"train": 3, "validation": 1, "test": 2}


def small(equation: str, **changes):
    """Settings of a dataset of `equation` that takes a second or two to make."""
    return settings_of({"equation": equation, **settings_class(equation).example, **changes})


def small_settings(**changes) -> BurgersDataset:
    """Return settings of Burgers data that are made in half a second, not to their usual accuracy."""
    return small("burgers", **{"accuracy": 1e-4} | changes)


def computed_arrays(settings, samples: list[tuple[str, int]]) -> dict:
    """Compute samples, and return all their stored arrays in the precision of the store."""
    task = build_task(settings)
    return {name: values.astype(task.layout.dtype) for name, values in task.compute(samples).items()}


def common_folder(tmp_path_factory) -> Path:
    """Return the folder of what is made once for all processes of one run of the tests."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(tmp_path_factory, equation: str, **changes) -> Path:
    """Return the card of a small dataset of an equation, alone in its folder, which nobody changes."""
    settings = small(equation, **changes)
    folder = common_folder(tmp_path_factory) / f"made-{settings_hash(settings)}" / equation
    folder.mkdir(parents=True, exist_ok=True)
    card = folder / f"{equation}.json"  # written last
    with FileLock(folder.with_suffix(".lock")):
        return card if card.exists() else make_dataset(folder, settings)


def copied_once(tmp_path_factory, equation: str, folder: Path) -> Path:
    """Return the card of a copy of such a dataset, in a new `folder`."""
    return shutil.copytree(made_once(tmp_path_factory, equation).parent, folder) / f"{equation}.json"


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
