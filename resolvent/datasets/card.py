"""The dataset card: contents, origin and errors of a store; a store without it is not finished."""

from __future__ import annotations

import hashlib
import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray
import zarr

from resolvent.common.cards import WHOLE_CARD, Receipt
from resolvent.common.files import text_with_digest, write_json
from resolvent.common.machine import DASK_SCHEDULER
from resolvent.common.norms import square_norm
from resolvent.common.records import checked, read_record
from resolvent.common.settings import settings_hash
from resolvent.datasets.errors import DatasetError, damaged
from resolvent.datasets.storage.addresses import card_beside, located
from resolvent.datasets.storage.generation import remove_parts
from resolvent.datasets.storage.layout import group_facts
from resolvent.datasets.storage.object_store import opened, put
from resolvent.datasets.storage.reading import StoredArray
from resolvent.datasets.storage.store import Stored, digest
from resolvent.datasets.tasks.task import Task

LIBRARIES = ("diffrax", "h5py", "jax", "numba", "numpy", "scipy", "zarr")
BLOCK_BYTES = 2**26  # size of the blocks in which arrays are read, about 64 MB


def finalise(task: Task, store: Path, receipts: list[Path], card: Path, code_versions: dict) -> dict:
    """Verify every shard of `store` against its receipt, measure the error budget, write the card.

    The card is written to the store's attributes, next to the store if it is in an object store, and last to
    `card`. It has neither time nor host, so that equal data have byte-identical cards. Raises `DatasetError`
    if a shard is missing, damaged or of another version, a target is zero everywhere, or the data miss the
    accuracy.
    """
    for left in store.glob("zarr.*.partial"):  # left by a killed job
        left.unlink()
    place = located(store)
    shards = [read_record(path, Receipt) for path in receipts]
    content = verified_digest(task, store, dict(zip(receipts, shards, strict=True)), code_versions)
    estimated = {
        name: np.concatenate([receipt["errors"][name] for receipt in shards]) for name in shards[0]["errors"]
    }
    budget = task.error_budget(Stored(store, task.layout, task.settings.seed, estimated))
    more = task.hold_to_accuracy(budget, place)
    identity = task.settings.identity(code_versions)
    facts = {
        "dataset": store.parent.name,
        "settings_hash": settings_hash(identity),
        "content_hash": content,
        **task.description(),
        **more,
        "inputs": list(task.inputs),
        "targets": list(task.targets),
        "groups": {group.name: group_facts(group) for group in task.layout.groups},
        "samples": task.layout.samples,
        "seed": task.settings.seed,
        "precision": task.precision,
        "stated_accuracy": task.settings.accuracy,
        "error_budget": budget,
        "statistics": statistics(store),
        "settings": task.settings.model_dump(mode="json"),
        "identity": identity,
        "library_versions": {name: version(name) for name in LIBRARIES},
    }
    made = f"the card of {place}, described by {type(task).__name__}"
    checked(WHOLE_CARD, facts, made, remedy="correct the description and run snakemake")
    zarr.open_group(opened(place), mode="r+", zarr_format=3).attrs.put(facts)
    if isinstance(place, str):
        put(card_beside(place), text_with_digest(facts).encode())
    write_json(card, facts)
    remove_parts(store)
    return facts


def verified_digest(task: Task, store: Path, receipts: dict[Path, Receipt], code_versions: dict) -> str:
    """Check all numbers against the receipts; reject NaN, infinity and zero targets; return the digest.

    Raises `DatasetError` if a shard is damaged, of another version, or has such numbers.
    """
    content, place, targets = hashlib.sha256(), located(store), " and ".join(task.targets)
    stored = cache(partial(StoredArray, store))
    for shard, (path, receipt) in enumerate(receipts.items()):
        members = task.layout.shard_range(shard)
        if receipt["shard"] != shard or receipt["code_versions"] != code_versions:
            raise DatasetError(
                f"{path} is not a receipt of shard {shard} of this version: delete it and run snakemake"
            )
        norms: dict[str, np.ndarray] = {}
        for name, expected in sorted(receipt["digests"].items()):
            values = stored(name).read(members)
            if digest(values) != expected:
                raise damaged(place, f"is damaged: shard {shard} of '{name}' is not what was written")
            infinite = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
            if infinite.any():
                where = _samples(task, members, infinite)
                raise DatasetError(
                    f"{place} is not finalised: '{name}' is not finite in {where}; correct the solver, or "
                    "remove these samples"
                )
            content.update(expected.encode())
            group, _, variable = name.partition("/")
            if variable in task.targets:
                norms[group] = norms.get(group, 0) + square_norm(values)
        for group, squares in norms.items():
            if (squares == 0).any():
                where, verb = _samples(task, members, squares == 0), "are" if " and " in targets else "is"
                raise DatasetError(
                    f"{place} is not finalised: {targets} on {group} {verb} zero everywhere in {where}, but "
                    "relative errors and losses divide by the norm of the target; remove these samples"
                )
    return content.hexdigest()


def _samples(task: Task, members: range, faulty: np.ndarray) -> str:
    """Return the first faulty sample of a shard, and their number, in words."""
    split, index = task.layout.split_of(members[int(faulty.argmax())])
    return f"{split} sample {index}, counted from 0 ({faulty.sum()} such samples in its shard)"


def statistics(store: Path) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation, minimum and maximum of every array.

    Blocks are read by this process, or by the workers of the dask.distributed scheduler at
    RESOLVENT_DASK_SCHEDULER. Raises `DatasetError` if no scheduler answers there.
    """
    place: Any = opened(located(store))
    tree = xarray.open_datatree(place, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    groups = sorted(tree.children.values(), key=lambda group: str(group.name))  # unordered on disk
    with _scheduler() as scheduler:
        return {
            f"{group.name}/{name}": _statistics(values, scheduler)
            for group in groups
            for name, values in sorted(group.data_vars.items())
        }


def _statistics(values: xarray.DataArray, scheduler: Any) -> dict[str, float]:
    per_sample = values.dtype.itemsize * int(np.prod(values.shape[1:]))
    blocks = values.chunk(sample=max(1, BLOCK_BYTES // per_sample)).astype("float64")
    lazy = {key: getattr(blocks, key)() for key in ("mean", "std", "min", "max")}
    computed = xarray.Dataset(lazy).compute(scheduler=scheduler)
    numbers = {key: float(computed[key]) for key in lazy}
    # Six decimals of the largest magnitude, or of a smaller range around a large mean, do not depend on the
    # order of summation; + 0.0 removes -0.0.
    size = max(abs(numbers["min"]), abs(numbers["max"]), 1e-300)
    spread = numbers["max"] - numbers["min"]
    unit = min(size, spread) if spread > 0 else size
    decimals = 6 - int(np.ceil(np.log10(unit)))
    return {key: round(number, decimals) + 0.0 for key, number in numbers.items()}


def _scheduler() -> AbstractContextManager[Any]:
    """Return a context with the scheduler for dask."""
    address = os.environ.get(DASK_SCHEDULER)
    if not address:
        return nullcontext("synchronous")
    try:
        from distributed import Client

        return Client(address, set_as_default=False)
    except ImportError:
        raise DatasetError(f"{DASK_SCHEDULER} needs a package: pip install 'resolvent[dask]'") from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{DASK_SCHEDULER}: no scheduler answers at '{address}'") from error
