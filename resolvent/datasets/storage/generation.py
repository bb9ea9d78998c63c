"""Run one generation job: a shard of samples, resumable batch by batch."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.errors import FileError
from resolvent.common.files import DAMAGED_NUMPY, readable_disk_errors, write_arrays, write_json
from resolvent.common.locks import sole_writer
from resolvent.common.progress import progress_bar
from resolvent.common.settings import settings_hash
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import card_beside, link
from resolvent.datasets.storage.object_store import remove
from resolvent.datasets.storage.store import create_store, write_shard

ESTIMATED = "estimated_errors/"  # prefix of error estimates in the file of a batch


def generate_shard(
    task, store: Path, shard: int, receipt: Path, code_versions: dict, address: str | None = None
) -> dict[str, float]:
    """Compute shard `shard` of `task` into `store`, and write the JSON file `receipt` last.

    With an `address`, the shard is stored there, `store` becomes a pointer to it, and all other files stay
    local. The receipt has the digest of each array, and for each sample the checksums of its numbers and the
    errors that the task estimates. Returns the cost without imports and compilation (the first batch):
    samples, wall-clock seconds, and seconds of all cores.

    Batches of a killed job are reused: each is saved atomically under `<store>.parts`, in a folder named by
    a hash of `code_versions`, so that another version starts from scratch. The result does not depend on
    them.

    Raises `FileError` if another job is writing this shard or the disk cannot be written, `DatasetError` for
    the object store, and `SolverError` if a sample cannot be solved.
    """
    store = Path(store)
    members = task.layout.shard_range(shard)
    lock, place = store.with_suffix(".parts") / f"shard-{shard:04d}.lock", address or store
    with sole_writer(lock, f"shard {shard} of {place}"):
        store.with_suffix(".json").unlink(missing_ok=True)  # unfinished stores have no card
        if address is not None:
            remove(card_beside(address))
            link(store, address)
        create_store(store, task.layout)
        parts = store.with_suffix(".parts") / settings_hash(code_versions) / f"shard-{shard:04d}"
        with readable_disk_errors(parts):
            parts.mkdir(parents=True, exist_ok=True)
        saved, cost = _compute_parts(task, members, parts, f"{store.parent.name} shard {shard}")
        # A generator, so that only one array of the shard is in memory at a time.
        arrays = ((name, _joined(saved, name)) for name in task.layout.arrays)
        digests, sums = write_shard(store, task.layout, shard, arrays)
        with _opened(saved[0]) as content:
            estimated = [name for name in content.files if name.startswith(ESTIMATED)]
        errors = {name.removeprefix(ESTIMATED): _joined(saved, name).tolist() for name in estimated}
        facts = {"shard": shard, "code_versions": code_versions, "digests": digests, "checksums": sums}
        write_json(receipt, facts | {"errors": errors})
    return cost


def _compute_parts(task, members: range, parts: Path, what: str) -> tuple[list[Path], dict[str, float]]:
    """Compute the missing batches; return the files of all batches, in order, and the cost."""
    saved, cost, compiled = [], {"samples": 0, "seconds": 0.0, "core_seconds": 0.0}, False
    with progress_bar(len(members), what, "samples") as bar:
        for start in range(members.start, members.stop, task.batch):
            batch = range(start, min(start + task.batch, members.stop))
            part = parts / f"from-{start:06d}.npz"
            if not part.exists():
                clock, core = time.perf_counter(), time.process_time()
                names = [task.layout.split_of(position) for position in batch]
                arrays, errors = task.compute_with_errors(names)
                stored = {name: values.astype(task.layout.dtype) for name, values in arrays.items()}
                write_arrays(part, stored | {ESTIMATED + name: values for name, values in errors.items()})
                if compiled:
                    cost["samples"] += len(batch)
                    cost["seconds"] += time.perf_counter() - clock
                    cost["core_seconds"] += time.process_time() - core
                compiled = True
            saved.append(part)
            bar.update(len(batch))
    return saved, cost


@contextmanager
def _opened(part: Path) -> Iterator[Any]:
    try:
        with np.load(part) as content:
            yield content
    except DAMAGED_NUMPY as error:
        raise DatasetError(f"the batch {part} is damaged ({error}); delete it and run snakemake") from None


def _joined(parts: list[Path], name: str) -> np.ndarray:
    batches = []
    for part in parts:
        with _opened(part) as content:
            batches.append(content[name])
    return np.concatenate(batches)


def remove_parts(store: Path) -> None:
    """Remove the batches of `store`, except the batches of shards that other jobs are writing."""
    parts = store.with_suffix(".parts")
    for shard in {path.stem for path in [*parts.glob("shard-*.lock"), *parts.glob("*/shard-*")]}:
        with suppress(FileError), sole_writer(parts / f"{shard}.lock", shard):
            for folder in parts.glob(f"*/{shard}"):
                shutil.rmtree(folder)
    for folder in (*parts.glob("*"), parts):
        with suppress(OSError):  # not empty
            folder.rmdir()
