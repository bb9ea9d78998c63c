"""One generation job: a shard of samples, resumable batch by batch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from datasets.files import readable_disk_errors, write_atomically, write_json
from datasets.progress import progress_bar
from datasets.store import create_store, write_shard

BATCH = 32  # samples computed between two saves


def generate_shard(task, store: Path, shard: int, receipt: Path, code_digest: str) -> None:
    """Compute shard `shard` of `task` into `store` and leave `receipt`, a JSON file written last.

    Batches already computed by a killed job are reused: each is saved whole under `<store>.parts`, in a
    folder named by the code that computed it, so that code which has changed since starts afresh; sealing
    removes them. The result depends neither on the batches nor on where a kill fell.
    """
    store = Path(store)
    store.with_suffix(".json").unlink(missing_ok=True)  # a store that is being written has no card
    create_store(store, task.layout)
    parts = store.with_suffix(".parts") / code_digest / f"shard-{shard:04d}"
    with readable_disk_errors(parts):
        parts.mkdir(parents=True, exist_ok=True)
    members = task.layout.shard_range(shard)
    batches = [members[start : start + BATCH] for start in range(0, len(members), BATCH)]
    with progress_bar(len(members), f"{store.parent.name} shard {shard}", "samples") as bar:
        for batch in batches:
            part = parts / f"from-{batch.start:06d}.npz"
            if not part.exists():
                arrays = task.compute([task.layout.split_of(position) for position in batch])
                write_atomically(part, lambda path, arrays=arrays: _save(path, arrays))
            bar.update(len(batch))
    saved = [dict(np.load(parts / f"from-{batch.start:06d}.npz")) for batch in batches]
    arrays = {name: np.concatenate([part[name] for part in saved]) for name in saved[0]}
    digests = write_shard(store, task.layout, shard, arrays)
    write_json(receipt, {"shard": shard, "code_digest": code_digest, "digests": digests})


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def read_receipt(path: Path) -> dict:
    """The receipt that a finished generation job left."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
