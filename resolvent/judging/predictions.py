"""Predictions for a task, from files, a user's model, a program or a server."""

from __future__ import annotations

import io
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from resolvent.common.digests import file_digest
from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import DAMAGED_NUMPY
from resolvent.common.outside import LOCATION, find
from resolvent.datasets.errors import in_one_line
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.loading import Samples
from resolvent.judging.give import coordinates_of

PROGRAMS = (".onnx", ".pt2")
LOCAL = ("localhost", "127.0.0.1", "::1")
BATCH = 32  # samples per call
PATIENCE = 600  # seconds to wait for a server

Answer = Callable[[Samples, str], np.ndarray]  # predict on the grid "n512"; targets are not read


@dataclass
class Predictor:
    """A source of predictions.

    kind     "predictions": stored predictions; "program": a program that can predict for further inputs.
    words    description for the record.
    files    their SHA-256.
    answer   returns the predictions of test samples.
    groups   names of the grids with predictions: the first test grid and any others.
    seconds  time per sample by grid name, if measured here.
    """

    kind: str
    words: str
    answer: Answer
    groups: list[str]
    files: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def predict(self, samples: Samples, group: str) -> np.ndarray:
        """Return predictions in the shape of the targets, in double precision.

        Raises `EvaluationError` if the shape differs or the values are not real numbers.
        """
        if self.kind == "predictions":
            found = self.answer(samples, group)
        else:
            every = range(len(samples))
            batches = [every[start : start + BATCH] for start in every[::BATCH]]
            start = time.perf_counter()
            with asked(self.words, group):
                answers = [np.asarray(self.answer(samples.read(some), group)) for some in batches]
                found = np.concatenate(answers)
            # Only the first call counts: later calls are for samples transformed by symmetries.
            self.seconds.setdefault(group, (time.perf_counter() - start) / len(samples))
        shape = samples.targets.shape
        if [size for size in found.shape if size > 1] == [size for size in shape if size > 1]:
            found = found.reshape(shape)  # some programs add a channel axis to one function
        if found.shape != shape:
            words = f"have shape {found.shape}; expected: {shape}, as the targets"
            raise EvaluationError(f"{self.words}: predictions on {group} {words}")
        if found.dtype.kind not in "fiu":
            raise EvaluationError(f"{self.words}: predictions on {group} are {found.dtype}, not real numbers")
        return found.astype(np.float64)


@contextmanager
def asked(words: str, when: str) -> Iterator[None]:
    """Convert any exception of a user's model to a one-line `EvaluationError` with file and line."""
    try:
        yield
    except EvaluationError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = next((one for one in frames if one.filename != __file__), frames[-1])
        raise EvaluationError(
            f"{words} failed on {when}: {type(error).__name__}: {in_one_line(error)[:300]} "
            f"({Path(where.filename).name}, line {where.lineno})"
        ) from None


def predictor(source: str, groups: list[str]) -> Predictor:
    """Return the predictor for `source`: a file, a folder, `module:name`, a program or a local server's URL.

    groups  names of the test grids, such as "n512". Stored predictions need only the first.
    Raises `FileError` if the source does not exist, and `EvaluationError` if it cannot be used.
    """
    path = Path(source)
    if path.suffix in PROGRAMS and path.is_file():
        with asked(source, "opening"):
            run = (_onnx if path.suffix == ".onnx" else _torch)(path)
        return Predictor("program", path.name, run, groups, {path.name: file_digest(path)})
    if path.exists():
        return _stored(path, groups)
    if "://" in source:
        return Predictor("program", source, _server(source), groups)
    if LOCATION.fullmatch(source):
        return Predictor("program", source, _live(source), groups)
    raise FileError(
        f"{source} does not exist; accepted: a file or a folder of predictions, a program "
        f"({', '.join(PROGRAMS)}), module:name, or the URL of a server on this machine"
    )


def _stored(path: Path, groups: list[str]) -> Predictor:
    """Read predictions from a file with one grid, a file with an array per grid, or a folder of files."""
    files = [path]
    if path.is_dir() and path.suffix != ".zarr":
        files = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    found: dict[str, tuple[Any, str]] = {}
    for one in files:
        file = open_source(one)
        for name in file.shapes:
            if file.variables[name].kind is not None or len(file.shapes[name]) < 2:
                continue
            where = [group for group in groups if group in (name, one.stem, name.partition("/")[0])]
            if not where and name in ("predictions", "prediction", "data", "array"):
                where = [group for group in groups if one.stem.endswith(f"_{group}")]
                where = where or groups[: len(groups) == 1]
            for group in where:
                if group in found:
                    both = f"{found[group][1]} and {name} of {one.name}"
                    raise EvaluationError(f"{path} has two arrays for {group}, {both}: remove one")
                found[group] = file, name
    first, *others = groups
    if first not in found:
        also = f"; also accepted: {', '.join(others)}" if others else ""
        raise EvaluationError(
            f"{path} has no predictions on {first}; expected: a file {first}.npz (.npy, .nc, .zarr, .mat, "
            f".h5, .pt), or an array {first}, (samples, ...space){also}"
        )
    digests = {one.name: file_digest(one) for one in files if one.is_file()}

    def answer(samples: Samples, group: str) -> np.ndarray:
        file, name = found[group]
        return file.read(name, (slice(None),) * len(file.shape(name)))

    given = [group for group in groups if group in found]
    return Predictor("predictions", path.name, answer, given, digests)


def _live(location: str) -> Answer:
    """Return a function that calls a user's `predict(inputs, coordinates)`, after `load()`, if defined.

    Inputs are as in the files of the task; `coordinates` are the positions along each axis by name.
    """
    try:
        model = find(location)
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    with asked(location, "construction"):
        model = model() if isinstance(model, type) else model
    if not callable(getattr(model, "predict", None)):
        words = "has no predict(inputs, coordinates); expected: an object or class with this method"
        raise EvaluationError(f"{location} {words}")
    if callable(load := getattr(model, "load", None)):
        with asked(location, "load()"):
            load()
    return lambda samples, group: np.asarray(model.predict(samples.inputs, coordinates_of(samples.grid)))


def _as_exported(
    samples: Samples, count: int, size: Any, call: Callable[[list[np.ndarray]], np.ndarray]
) -> np.ndarray:
    """Call a program with functions (samples, ...space, channels) and, if it takes them, coordinates.

    `size` is the program's batch size, if fixed.
    """
    from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

    functions = function_tensor(samples.inputs, samples.grid).numpy()
    more = [coordinate_tensor(samples.grid).numpy()] if count == 2 else []
    size = size if isinstance(size, int) else len(functions)
    found = []
    for start in range(0, len(functions), size):
        part = functions[start : start + size]
        filled = np.concatenate([part, np.repeat(part[-1:], size - len(part), axis=0)])
        found.append(call([filled, *more])[: len(part)])
    import torch

    return as_samples(torch.from_numpy(np.concatenate(found))).numpy()


def _onnx(path: Path) -> Answer:
    try:
        import onnxruntime
    except ImportError:
        raise EvaluationError(f"{path} needs onnxruntime: pip install 'resolvent[export]'") from None
    session = onnxruntime.InferenceSession(path)
    taken = session.get_inputs()

    def call(values: list[np.ndarray]) -> np.ndarray:
        return session.run(None, {one.name: value for one, value in zip(taken, values, strict=True)})[0]

    return lambda samples, group: _as_exported(samples, len(taken), taken[0].shape[0], call)


def _torch(path: Path) -> Answer:
    import torch

    program = torch.export.load(path)
    module, names = program.module(), program.graph_signature.user_inputs
    taken = [node.meta["val"] for node in program.graph.nodes if node.name in names]

    def call(values: list[np.ndarray]) -> np.ndarray:
        with torch.no_grad():
            return module(*map(torch.from_numpy, values)).numpy()

    return lambda samples, group: _as_exported(samples, len(taken), taken[0].shape[0], call)


def _server(address: str) -> Answer:
    """Return a function that sends inputs and coordinates as .npz to a server, and receives an .npy."""
    if urlsplit(address).hostname not in LOCAL or urlsplit(address).scheme != "http":
        raise EvaluationError(f"{address} is not on this machine; accepted: http://localhost:<port>/<path>")

    def answer(samples: Samples, group: str) -> np.ndarray:
        sent = io.BytesIO()
        np.savez(sent, inputs=samples.inputs, **coordinates_of(samples.grid))  # type: ignore[arg-type]
        head = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(address, sent.getvalue(), head)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=PATIENCE) as found:
                return np.load(io.BytesIO(found.read()), allow_pickle=False)
        except (OSError, *DAMAGED_NUMPY) as error:
            raise EvaluationError(f"{address} returned no predictions on {group} ({error})") from None

    return answer
