"""The dataset card: what a store holds, how it was made, and how wrong it is. Written last.

A store without its card does not exist to the rest of the pipeline.
"""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray
import zarr

from datasets.errors import DatasetError
from datasets.files import write_json
from datasets.generation import read_receipt
from datasets.settings import settings_hash
from datasets.store import digest, group_name, read_array

BUDGET_SAMPLES = 64  # size of the random subset that is solved again
LIBRARIES = ("jax", "numpy", "zarr")


def seal(task, store: Path, receipts: list[Path], card: Path, code_digest: str) -> dict:
    """Verify every shard of `store` against its receipt, measure the truth budget, write the card.

    The card goes into the store's attributes and, last and atomically, to `card`. It holds no time and no
    host, so that equal data have equal cards, byte for byte.

    Raises
    ------
    DatasetError
        When a shard is missing, damaged, from other code, or the data miss the stated accuracy.
    """
    content = _verified_digest(task.layout, store, receipts, code_digest)
    budget = _truth_budget(task, store)
    worst = max(
        entry["largest_relative_l2"]
        for entry in budget.values()
        if isinstance(entry, dict) and "largest_relative_l2" in entry
    )
    if not worst <= task.settings.accuracy:
        raise DatasetError(
            f"{store} is not sealed: its relative L2 error is {worst:.1e}, above the stated accuracy "
            f"{task.settings.accuracy:.1e}; raise num_steps or num_modes"
        )
    facts = {
        "dataset": store.parent.name,
        "settings_hash": settings_hash(task.settings),
        "content_hash": content,
        **task.description(),
        "input_variable": task.input_variable,
        "target_variable": task.target_variable,
        "samples": task.layout.samples,
        "seed": task.settings.seed,
        "truth_budget": budget,
        "statistics": statistics(store),
        "settings": task.settings.model_dump(mode="json"),
        "code_digest": code_digest,
        "library_versions": {name: version(name) for name in LIBRARIES},
    }
    zarr.open_group(store, mode="r+").attrs.put(facts)
    write_json(card, facts)
    shutil.rmtree(store.with_suffix(".parts"), ignore_errors=True)
    return facts


def _verified_digest(layout, store: Path, receipts: list[Path], code_digest: str) -> str:
    content = hashlib.sha256()
    for shard, path in enumerate(receipts):
        receipt = read_receipt(path)
        if receipt["shard"] != shard or receipt["code_digest"] != code_digest:
            raise DatasetError(
                f"{path} does not belong to shard {shard} of this code; delete it and run again"
            )
        for name, expected in sorted(receipt["digests"].items()):
            if digest(read_array(store, name, layout.shard_range(shard))) != expected:
                raise DatasetError(
                    f"the store {store} is damaged: shard {shard} of '{name}' is not what was written"
                )
            content.update(expected.encode())
    return content.hexdigest()


def _truth_budget(task, store: Path) -> dict:
    """Errors of a random subset of the stored solutions on the finest stored grid."""
    layout = task.layout
    points = max(grid.points for grid in layout.grids)
    rng = np.random.default_rng(task.settings.seed)
    size = min(BUDGET_SAMPLES, layout.num_samples)
    positions = sorted(int(p) for p in rng.choice(layout.num_samples, size, replace=False))
    name = f"{group_name(points)}/{task.target_variable}"
    stored = np.concatenate([read_array(store, name, range(p, p + 1)) for p in positions])
    return task.truth_budget([layout.split_of(p) for p in positions], stored)


def statistics(store: Path) -> dict[str, dict[str, float]]:
    """Mean, standard deviation, least and largest value of every array, by dask in bounded memory.

    Rounded to six decimals of the largest magnitude, far above what the order of summation changes (adding
    0.0 turns -0.0 into 0.0).
    """
    result = {}
    tree = xarray.open_datatree(store, engine="zarr", chunks={}, consolidated=False)
    for group in sorted(tree.children.values(), key=lambda group: group.name):  # on disk they have no order
        for name, values in sorted(group.data_vars.items()):
            lazy = {"mean": values.mean(), "std": values.std(), "min": values.min(), "max": values.max()}
            computed = xarray.Dataset(lazy).compute(scheduler="synchronous")
            numbers = {key: float(computed[key]) for key in lazy}
            unit = 10.0 ** np.ceil(np.log10(max(abs(numbers["min"]), abs(numbers["max"]), 1e-300)))
            rounded = {
                key: float(f"{round(number / unit, 6) * unit + 0.0:.6g}") for key, number in numbers.items()
            }
            result[f"{group.name}/{name}"] = rounded
    return result
