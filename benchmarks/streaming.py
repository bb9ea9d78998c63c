"""Training on samples that stay in the store against training in memory, and reading against a NumPy memmap.

    python -m benchmarks.streaming [--only reading ...] [--points 416] [--samples 16] [--rounds 3]
        [--output docs/performance.md]

Makes a store of smooth random functions on a square in a temporary folder.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from benchmarks.runner import Part, digits, run, table
from resolvent.datasets.card import finalise
from resolvent.datasets.loading import Split
from resolvent.datasets.storage import store
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.models.build import build
from resolvent.training.data import AHEAD, READERS, InMemory, Streamed
from resolvent.training.fit import Trainer
from resolvent.training.settings import TrainingSettings

CPU = torch.device("cpu")
BATCH = 4
SETTINGS = TrainingSettings(batch_size=BATCH, epochs=1, gradient_weight=0.0)
PATCHED = {"patches": 4, "width": 32, "num_layers": 3, "num_heads": 4, "feedforward_width": 32, "modes": 6}
OPERATORS = {
    "FNO": ("fno2d", {"width": 32, "num_layers": 4, "modes": 12}),
    "ViT-NO": ("vit_no", PATCHED | {"smoother_modes": 16}),
}
HEADER = ("what", "streamed, samples/s", "peer, samples/s", "peer", "ratio")
WORDS = """\
{samples} pairs of functions on {points} × {points} points, in double precision in the store, in a new order
in every round, batches of {batch}; {readers} threads read up to {ahead} batches ahead. Samples a second,
and their ratio: medians of {rounds} interleaved rounds. {more}"""
Way = Callable[[list[Tensor]], object]  # goes through the batches of these numbers of samples
Ways = tuple[str, str, Way, Way]  # what, the peer, ours and the peer's


def streaming(ways: Callable[[Split, Path], Iterator[Ways]], more: str, given: Namespace) -> str:
    """Return the table of a part, and what was measured how."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        split = Split(
            made_dataset(Path(name), given.points, given.samples), given.points, "train", given.samples
        )
        rows = [raced(len(split), given.rounds, *one) for one in ways(split, Path(name))]
    words = WORDS.format(**vars(given), batch=BATCH, readers=READERS, ahead=AHEAD, more=more)
    return f"{words}\n\n{table(HEADER, rows)}"


def made_dataset(folder: Path, points: int, samples: int) -> Path:
    """Return the card of a dataset of smooth random functions: inputs, and as targets their negatives."""
    frequencies = np.fft.fftfreq(points, 1 / points)
    decay = (1 + frequencies[:, None] ** 2 + frequencies[: points // 2 + 1] ** 2) ** -1.5
    noise = np.random.default_rng(0).standard_normal((samples + 2, points, points))
    functions = np.fft.irfft2(np.fft.rfft2(noise) * decay, (points, points))
    source = folder / "functions.npz"
    np.savez(source, a=functions, u=-functions)
    content = {
        "equation": "arrays", "source": str(source), "input": "a", "target": "u", "grid": "periodic",
        "axes": ["sample", "y", "x"], "finest": points, "samples_per_shard": samples + 2,
        "samples": {"train": samples, "validation": 1, "test": 1},
    }  # fmt: skip
    task = build_task(settings_of(content).with_contents())
    made, card, receipt = folder / "made.zarr", folder / "made.json", folder / "receipt.json"
    generate_shard(task, made, 0, receipt, "benchmark")
    finalise(task, made, [receipt], card, "benchmark")
    return card


def reading(split: Split, folder: Path) -> Iterator[Ways]:
    """Read batches against rows of a memmap in single precision, copied to tensors; and without checksums."""
    whole, maps = split.all(), []
    for name in ("inputs", "targets"):
        np.save(folder / f"{name}.npy", getattr(whole, name).astype(np.float32))
        maps.append(np.load(folder / f"{name}.npy", mmap_mode="r"))
    streamed = Streamed(split, CPU, SETTINGS)

    def mapped(members: list[Tensor]) -> None:
        for some in members:
            for values in maps:
                torch.from_numpy(values[some.numpy()])

    def read(members: list[Tensor]) -> None:
        for some in members:
            split.read(some.numpy())

    def trusted(members: list[Tensor]) -> None:
        with patch.object(store, "_check_numbers"):
            read(members)

    yield "reading batches", "NumPy memmap", lambda members: sum(1 for _ in streamed.batches(members)), mapped
    yield "reading and checking samples", "without checks", read, trusted


def training(split: Split, folder: Path) -> Iterator[Ways]:
    """Train every operator, against the same samples in memory."""
    whole = split.all()
    for label, (architecture, settings) in tqdm(OPERATORS.items()):
        trainer = Trainer(
            build(architecture, settings, 0), whole, whole, SETTINGS,
            seed=0, device=CPU, identity="benchmark", directory=folder,
        )  # fmt: skip

        def train(source: InMemory | Streamed, members: list[Tensor], trainer: Trainer = trainer) -> None:
            for batch in source.batches(members):
                trainer._gradients(batch)
                trainer.optimizer.step()

        sources = Streamed(split, CPU, SETTINGS), InMemory(whole, CPU, SETTINGS)
        yield f"training {label}", "in memory", *(partial(train, source) for source in sources)


def raced(samples: int, rounds: int, what: str, peer: str, ours: Way, theirs: Way) -> list[str]:
    """Return the row of two ways to go through the batches of a random order."""
    rates: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        members = list(torch.from_numpy(np.random.default_rng(number).permutation(samples)).split(BATCH))
        for rate, way in zip(rates, (ours, theirs), strict=True):
            start = perf_counter()
            way(members)
            rate.append(samples / (perf_counter() - start))
    first, second = (rate[1:] for rate in rates)  # the first round warms up
    ratio = median(a / b for a, b in zip(first, second, strict=True))
    return [what, digits(median(first)), digits(median(second)), peer, digits(ratio)]


PACKAGES = ("torch", "zarr")
IN_CACHE = "Batches end as tensors in single precision. Files are in the system's cache."
ONE_THREAD = "A step is one of Adam, on one thread."
PARTS = {
    "reading": Part("", partial(streaming, reading, IN_CACHE), PACKAGES),
    "training-streamed": Part("", partial(streaming, training, ONE_THREAD), PACKAGES),
}


if __name__ == "__main__":
    sizes = {"points": {"type": int, "default": 416}, "samples": {"type": int, "default": 16}}
    run("streaming", PARTS, **sizes)
