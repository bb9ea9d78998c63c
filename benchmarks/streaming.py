"""Compare training on samples in the store with training in memory, and reading with a NumPy memmap.

    python -m benchmarks.streaming [--only reading ...] [--points 416] [--samples 64] [--rounds 5]
        [--output docs/performance.md]

Makes stores of smooth random functions on a square, in a temporary folder and on a local server.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np
import tensorstore
import torch
import zarr
from numpy.typing import DTypeLike
from s3fs import S3FileSystem
from torch import Tensor
from tqdm import tqdm

from benchmarks.runner import Part, digits, run, table
from resolvent.datasets.card import finalise
from resolvent.datasets.loading import Members, Samples, Split
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.models.build import build
from resolvent.training.data import AHEAD, READERS, InMemory, Streamed
from resolvent.training.devices import keep_memory
from resolvent.training.fit import Trainer
from resolvent.training.settings import TrainingSettings

CPU = torch.device("cpu")
BATCH = 4
LONG = 0.5  # minimum seconds of a run: shorter runs would seldom be interrupted on a busy machine
SETTINGS = TrainingSettings(batch_size=BATCH, epochs=1, gradient_weight=0.0)
PATCHED = {"patches": 4, "width": 32, "num_layers": 3, "num_heads": 4, "feedforward_width": 32, "modes": 6}
OPERATORS = {
    "FNO": ("fno2d", {"width": 32, "num_layers": 4, "modes": 12}),
    "ViT-NO": ("vit_no", PATCHED | {"smoother_modes": 16}),
}
HEADER = ("what", "streamed, samples/s", "peer, samples/s", "peer", "ratio")
WORDS = """\
{samples} pairs of functions on {points} × {points} points, read in a new order in every round, in batches of
{batch}; {readers} threads read up to {ahead} batches ahead. Samples per second and their ratio are medians of
{rounds} interleaved rounds. {more}"""
Way = Callable[[list[Tensor]], object]  # reads the batches with these sample indices
Ways = tuple[str, str, Way, Way]  # names of task and peer; ours and the peer's
Reader = Callable[[np.ndarray], np.ndarray]  # rows of an array


def streaming(ways: Callable[[Path, Namespace], Iterator[Ways]], more: str, given: Namespace) -> str:
    """Return the table of a part, and a description of the measurement."""
    torch.set_num_threads(1)
    keep_memory(large=False)  # as in training
    with tempfile.TemporaryDirectory() as name:
        rows = [raced(given.samples, given.rounds, *one) for one in ways(Path(name), given)]
    words = WORDS.format(**vars(given), batch=BATCH, readers=READERS, ahead=AHEAD, more=more)
    return f"{words}\n\n{table(HEADER, rows)}"


def made_dataset(folder: Path, given: Namespace, dtype: str = "float64", address: str | None = None) -> Split:
    """Make a dataset of smooth random functions as inputs, and their negatives as targets."""
    points, samples = given.points, given.samples
    frequencies = np.fft.fftfreq(points, 1 / points)
    decay = (1 + frequencies[:, None] ** 2 + frequencies[: points // 2 + 1] ** 2) ** -1.5
    noise = np.random.default_rng(0).standard_normal((samples + 2, points, points))
    functions = np.fft.irfft2(np.fft.rfft2(noise) * decay, (points, points))
    folder.mkdir()
    source = folder / "functions.npz"
    np.savez(source, a=functions, u=-functions)
    content = {
        "equation": "arrays", "source": str(source), "input": "a", "target": "u", "grid": "periodic",
        "axes": ["sample", "y", "x"], "finest": points, "samples_per_shard": samples + 2,
        "samples": {"train": samples, "validation": 1, "test": 1}, "stored_as": dtype,
    }  # fmt: skip
    task = build_task(settings_of(content).with_contents())
    made, card, receipt = folder / "made.zarr", folder / "made.json", folder / "made.shards/0.json"
    generate_shard(task, made, 0, receipt, "benchmark", address)
    finalise(task, made, [receipt], card, "benchmark")
    return Split(card, points, "train", samples)


class Other(Split):
    """The samples of a split, read by other libraries."""

    def __init__(self, split: Split, inputs: Reader, targets: Reader):
        vars(self).update(vars(split))
        self.readers = inputs, targets

    def read(self, members: Members, dtype: DTypeLike | None = None) -> Samples:
        """Read samples by index in the split, which is also the index in the arrays."""
        inputs, targets = (read(np.asarray(members)) for read in self.readers)
        return Samples(self.grid, inputs, targets)


def batches(split: Split) -> Way:
    """Read batches as in training."""
    streamed = Streamed(split, CPU, SETTINGS)
    return lambda members: sum(1 for _ in streamed.batches(members))


def reading(folder: Path, given: Namespace) -> Iterator[Ways]:
    """Compare reading batches with rows of a memmap in single precision, on one and on as many threads."""
    for kind, dtype in (("double", "float64"), ("single", "float32")):
        split = made_dataset(folder / dtype, given, dtype)
        whole, maps = split.all(), []
        for name in ("inputs", "targets"):
            np.save(folder / f"{name}.npy", getattr(whole, name).astype(np.float32))
            maps.append(np.load(folder / f"{name}.npy", mmap_mode="r"))

        def mapped(members: list[Tensor], maps: list[np.memmap] = maps) -> None:
            for some in members:
                for values in maps:
                    torch.from_numpy(values[some.numpy()])

        what = f"a store in {kind} precision"
        yield what, "NumPy memmap", batches(split), mapped
        threads = batches(Other(split, *(one.__getitem__ for one in maps)))
        yield what, "NumPy memmap, same number of threads", batches(split), threads
        for name, library in LIBRARIES.items():
            readers = (library(f"{split.store}/{split.group}/{variable}") for variable in ("a", "u"))
            yield what, name, batches(split), batches(Other(split, *readers))


def by_tensorstore(path: str) -> Reader:
    """Read an array with TensorStore, with the shard indices in a cache."""
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
    cache = tensorstore.Context({"cache_pool": {"total_bytes_limit": 10**6}})
    array = tensorstore.open(spec, context=cache, recheck_cached=False).result()
    return lambda members: array[members].read().result()


def by_zarr(path: str, pipeline: str = "zarr.core.codec_pipeline.BatchedCodecPipeline") -> Reader:
    """Read an array sample by sample, the fastest method in Zarr."""
    with zarr.config.set({"codec_pipeline.path": pipeline}):
        array: Any = zarr.open_array(path, mode="r")
    return lambda members: np.stack([array[member] for member in members.tolist()])


LIBRARIES: dict[str, Callable[[str], Reader]] = {
    "TensorStore": by_tensorstore,
    "Zarr": by_zarr,
    "Zarr with zarrs": partial(by_zarr, pipeline="zarrs.ZarrsCodecPipeline"),
}


def object_store(folder: Path, given: Namespace) -> Iterator[Ways]:
    """Compare reading batches from moto's S3 server with only sending the same requests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
    os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "benchmark"
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            sleep(0.1)
        S3FileSystem().mkdir("benchmark")
        split = made_dataset(folder / "served", given, "float32", "s3://benchmark/made.zarr")
        nothing = np.empty((BATCH, given.points, given.points), np.float32)

        def requested(name: str) -> Reader:
            array = split.stored(f"{split.group}/{name}")
            array.read(range(1))  # reads the index

            def fetch(members: np.ndarray) -> np.ndarray:
                parts = [array._part(member) for member in members.tolist()]
                for _ in array._fetch(parts, [None] * len(parts)):
                    pass
                return nothing

            return fetch

        alone = Other(split, requested("a"), requested("u"))
        yield "a store on a server, single precision", "only the requests", batches(split), batches(alone)
    finally:
        server.terminate()
        server.wait()


def training(folder: Path, given: Namespace) -> Iterator[Ways]:
    """Compare training every operator on stored samples and on samples in memory."""
    split = made_dataset(folder / "made", given)
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
    """Return the row of two methods to read the batches in random order."""
    rates: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        members = list(torch.from_numpy(np.random.default_rng(number).permutation(samples)).split(BATCH))
        for rate, way in zip(rates, (ours, theirs), strict=True):
            start, passes = perf_counter(), 0
            while passes == 0 or perf_counter() - start < LONG:
                way(members)
                passes += 1
            rate.append(passes * samples / (perf_counter() - start))
    first, second = (rate[1:] for rate in rates)  # the first round warms up
    ratio = median(a / b for a, b in zip(first, second, strict=True))
    return [what, digits(median(first)), digits(median(second)), peer, digits(ratio)]


IN_CACHE = "Batches become tensors in single precision. The files are in the system's cache."
SERVED = "The server is moto on this machine; all requests of a batch are sent together."
ONE_THREAD = "Training steps use Adam on one thread. The store is in double precision."
LIBRARY_VERSIONS = ("torch", "numcodecs", "tensorstore", "zarr", "zarrs")
PARTS = {
    "reading": Part("", partial(streaming, reading, IN_CACHE), LIBRARY_VERSIONS),
    "object-store": Part("", partial(streaming, object_store, SERVED), ("s3fs", "moto")),
    "training-streamed": Part("", partial(streaming, training, ONE_THREAD), ("torch", "numcodecs")),
}


if __name__ == "__main__":
    sizes = {"points": {"type": int, "default": 416}, "samples": {"type": int, "default": 64}}
    run("streaming", PARTS, rounds=5, **sizes)
