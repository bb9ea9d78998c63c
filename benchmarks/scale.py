"""Measure stores with many samples and shards: making, opening, training, verifying and evaluating.

    python -m benchmarks.scale [--samples 100000] [--shards 100 20000] [--output docs/performance.md]

Makes a store for each number of shards in a temporary folder, with a dummy solver. Takes 45 minutes on two
busy cores.
"""

from __future__ import annotations

import multiprocessing
import re
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

import resolvent.datasets.loading
from benchmarks.runner import Part, digits, run, table
from resolvent.common.files import write_json
from resolvent.datasets.card import finalise
from resolvent.datasets.loading import Split
from resolvent.datasets.storage.store import create_store, write_shard
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.datasets.verify import faults_of_dataset
from resolvent.evaluation.conditions import Condition, evaluate
from resolvent.figures.common.intervals import mean_interval, median_interval
from resolvent.models.build import build
from resolvent.training.data import Streamed
from resolvent.training.fit import Trainer
from resolvent.training.settings import TrainingSettings

POINTS, BATCH, CODE = 64, 8, {"benchmark": 1}
CPU = torch.device("cpu")
OPERATOR = {"width": 16, "num_layers": 2, "modes": 8}
TRAINED = 2048  # samples
BLOCK_VALUES = 2**18  # values per block of an evaluation; the default is 256 times larger
HEADER = ("shards", "step", "seconds", "peak memory, MB")
WORDS = """\
{samples:,} pairs of functions on {points} points, read from a file instead of computed by a solver. Every
step runs in its own process; its peak memory includes the libraries. Shards are written one after the other
in one process. Training samples are drawn from the whole store. Evaluations read {block:,} numbers at a time
and keep the error of every sample, for the intervals."""


def settings(folder: Path, samples: int, shards: int):
    """Return the settings of a dataset from a file's rows: 50 % for training, 40 % for the test."""
    counts = {"train": samples // 2, "validation": samples // 10, "test": samples * 2 // 5}
    content = {
        "equation": "arrays", "source": str(folder / "rows.npz"), "input": "a", "target": "u",
        "grid": "periodic", "axes": ["sample", "x"], "finest": POINTS, "samples": counts,
        "samples_per_shard": samples // shards, "stored_as": "float32",
    }  # fmt: skip
    return settings_of(content).with_contents()


def made(folder: Path, samples: int, shards: int) -> None:
    """Create a store, and write every shard with its receipt."""
    task, store = build_task(settings(folder, samples, shards)), folder / f"{shards}.zarr"
    create_store(store, task.layout)
    for shard in range(task.layout.num_shards):
        names = [task.layout.split_of(place) for place in task.layout.shard_range(shard)]
        arrays = {name: values.astype("float32") for name, values in task.compute(names).items()}
        digests, sums = write_shard(store, task.layout, shard, arrays.items())
        facts = {"shard": shard, "code_versions": CODE, "digests": digests, "checksums": sums, "errors": {}}
        write_json(folder / f"{shards}.shards/{shard}.json", facts)


def finalised(folder: Path, samples: int, shards: int) -> None:
    """Check every shard against its receipt, and write the card."""
    task = build_task(settings(folder, samples, shards))
    receipts = [folder / f"{shards}.shards/{shard}.json" for shard in range(task.layout.num_shards)]
    finalise(task, folder / f"{shards}.zarr", receipts, folder / f"{shards}.json", CODE)


def verified(card: Path) -> None:
    """Read all values. Raises `RuntimeError` if there is a fault."""
    if faults := faults_of_dataset(card):
        raise RuntimeError(faults[0])


def opened(card: Path, samples: int) -> None:
    """Open a store, and read one batch."""
    Split(card, POINTS, "train", samples // 2).read(np.arange(BATCH))


def trained(card: Path, samples: int) -> None:
    """Train on a random subset of the samples."""
    torch.set_num_threads(1)
    split = Split(card, POINTS, "train", samples // 2)
    few = Split(card, POINTS, "train", BATCH).all()
    chosen = TrainingSettings(batch_size=BATCH, epochs=1, gradient_weight=0.0)
    operator = build("fno1d", OPERATOR, 0)
    with tempfile.TemporaryDirectory() as name:
        trainer = Trainer(
            operator, few, few, chosen, seed=0, device=CPU, identity="benchmark", directory=Path(name)
        )
        order = torch.from_numpy(np.random.default_rng(0).permutation(samples // 2)[:TRAINED])
        for batch in Streamed(split, CPU, chosen).batches(list(order.split(BATCH))):
            trainer._gradients(batch)
            trainer.optimizer.step()


def evaluated(card: Path, count: int) -> None:
    """Evaluate on `count` test samples in blocks, and compute the intervals of the errors."""
    torch.set_num_threads(1)
    resolvent.datasets.loading.BLOCK_VALUES = BLOCK_VALUES
    split = Split(card, POINTS, "test", count)
    errors, _ = evaluate(build("fno1d", OPERATOR, 0), [(Condition(POINTS), split)], CPU, np.arange(4))
    for interval in (mean_interval, median_interval):
        interval(errors["relative_l2"].to_numpy())


def alone(step: Callable[[], None]) -> tuple[float, float]:
    """Run a step in this process; return seconds, and the peak memory of the process in MB."""
    start = perf_counter()
    step()
    seconds = perf_counter() - start
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None
    return seconds, int(found[1]) / 1e3


def steps(folder: Path, samples: int, shards: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield name and function of each step for a store with `shards` shards."""
    card, test = folder / f"{shards}.json", samples * 2 // 5
    yield "created", partial(made, folder, samples, shards)
    yield "finalised: all numbers read, statistics computed", partial(finalised, folder, samples, shards)
    yield "verified: all numbers read", partial(verified, card)
    yield "opened, one batch read", partial(opened, card, samples)
    yield f"trained on {TRAINED:,} samples", partial(trained, card, samples)
    for count in (test // 4, test):
        yield f"evaluated on {count:,} samples", partial(evaluated, card, count)


def scale(given: Namespace) -> str:
    """Return the table of all steps of each store."""
    rows, context = [], multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        values = np.random.default_rng(0).standard_normal((given.samples, POINTS), np.float32)
        np.savez(Path(name) / "rows.npz", a=values, u=-values)
        del values
        for shards in given.shards:
            for what, step in steps(Path(name), given.samples, shards):
                with ProcessPoolExecutor(1, mp_context=context) as process:
                    seconds, memory = process.submit(alone, step).result()
                rows.append((f"{shards:,}", what, digits(seconds), digits(memory)))
    words = WORDS.format(samples=given.samples, points=POINTS, block=BLOCK_VALUES)
    return f"{words}\n\n{table(HEADER, rows)}"


if __name__ == "__main__":
    sizes = {"samples": {"type": int, "default": 100_000}}
    shards = {"shards": {"type": int, "nargs": "+", "default": [100, 20_000]}}
    run("scale", {"stores": Part("", scale, ("torch", "zarr"))}, rounds=None, **sizes | shards)
