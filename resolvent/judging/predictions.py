"""Predictions for a task, from files, a user's model or a program of `torch.export`."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from resolvent.common.digests import file_digest
from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.outside import LOCATION, find
from resolvent.datasets.errors import in_one_line
from resolvent.datasets.imported.arrays_checks import unmasked
from resolvent.datasets.imported.axes import axis_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.formats import ARRAY, TENSOR
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import ENDINGS, content_digest
from resolvent.datasets.loading import Samples
from resolvent.judging.give import coordinates_of

PROGRAM = ".pt2"
BATCH = 32  # samples per call
UNNAMED = ("predictions", "prediction", "data", ARRAY, TENSOR)  # names of arrays that name no grid

Answer = Callable[[Samples, str], np.ndarray]  # predict on the grid "n512"; targets are not read


@dataclass
class Predictor:
    """A source of predictions.

    kind     "predictions": stored predictions; "program" or "run": a model that predicts when it is asked.
    words    description for the record.
    files    their SHA-256.
    answer   returns the predictions of test samples.
    groups   names of the grids to judge: of stored predictions those that are there, of a model all.
    remarks  oddities in the files read so far, without duplicates.
    seconds  time per sample by grid name, if measured here: the median over batches.
    """

    kind: str
    words: str
    answer: Answer
    groups: list[str]
    files: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def predict(self, samples: Samples, group: str) -> np.ndarray:
        """Return predictions in the shape of the targets, in double precision.

        Raises `EvaluationError` if the shape differs or the values are not real numbers.
        """
        if self.kind == "predictions":
            predictions = self.answer(samples, group)
        else:
            every = range(len(samples))
            batches = [samples.read(every[start : start + BATCH]) for start in every[::BATCH]]
            answers, seconds = [], []
            with asked(self.words, group):
                if group not in self.seconds:
                    self.answer(batches[0], group)  # compile before timing
                for batch in batches:
                    start = time.perf_counter()
                    answers.append(np.array(self.answer(batch, group)))  # a copy: programs may reuse memory
                    seconds.append((time.perf_counter() - start) / len(batch))
                predictions = np.concatenate(answers)
            # Only the first call on a grid counts; later calls have other noise on the inputs.
            self.seconds.setdefault(group, float(np.median(seconds)))
        shape = samples.targets.shape
        predictions = _reshaped(predictions, shape)  # some models add a channel axis to one function
        if predictions.shape != shape:
            words = f"have shape {predictions.shape}; expected: {shape}, as the targets"
            raise EvaluationError(f"{self.words}: predictions on {group} {words}")
        if predictions.dtype.kind not in "fiu":
            kind = predictions.dtype
            raise EvaluationError(f"{self.words}: predictions on {group} are {kind}, not real numbers")
        return predictions.astype(np.float64)


def _reshaped(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array in this shape if its own differs only in axes of size 1; otherwise unchanged."""
    same = [size for size in values.shape if size > 1] == [size for size in shape if size > 1]
    return values.reshape(shape) if same else values


@contextmanager
def asked(words: str, when: str) -> Iterator[None]:
    """Convert any exception of a user's model to a one-line `EvaluationError` with file and line."""
    try:
        yield
    except EvaluationError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = next((frame for frame in frames if frame.filename != __file__), frames[-1])
        raise EvaluationError(
            f"{words} failed on {when}: {type(error).__name__}: {in_one_line(error)[:300]} "
            f"({Path(where.filename).name}, line {where.lineno})"
        ) from None


def predictor(source: str, groups: list[str]) -> Predictor:
    """Return the predictor for `source`: a file, a folder, `module:name` or a program.

    groups  names of the test grids, such as "n512". Stored predictions need only the first.
    Raises `FileError` if the source does not exist, and `EvaluationError` if it cannot be used.
    """
    path = Path(source)
    if path.suffix == PROGRAM and path.is_file():
        with asked(source, "opening"):
            run = _program(path)
        return Predictor("program", path.name, run, groups, {path.name: file_digest(path)})
    if path.exists():
        return _stored(path, groups)
    if LOCATION.fullmatch(source):
        return Predictor("program", source, _live(source), groups)
    raise FileError(
        f"{source} does not exist; accepted: a file or a folder of predictions, a program ({PROGRAM}), or "
        "module:name"
    )


def _stored(path: Path, groups: list[str]) -> Predictor:
    """Read predictions from a file with one grid, a file with an array per grid, or a folder of files."""
    files = [path]
    if path.is_dir() and path.suffix != ".zarr":
        inside = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        files = [each for each in inside if each.suffix.lower() in ENDINGS] or inside
    opened = [(each, open_source(each)) for each in files]
    variables: dict[str, tuple[ArraysFile, str]] = {}
    for path_of_file, file in opened:
        for name, variable in file.variables.items():
            if variable.kind is not None or len(variable.shape) < 2:
                continue
            named = (name.partition("/")[0], path_of_file.stem)
            group = next((place for place in named if place in groups), None)
            if group is None and name in UNNAMED:
                ends = [place for place in groups if path_of_file.stem.endswith(f"_{place}")]
                group = next(iter(ends or groups[: len(groups) == 1]), None)
            if group in variables:
                both = f"{variables[group][1]} and {name} of {path_of_file.name}"
                raise EvaluationError(f"{path} has two arrays for {group}, {both}: remove one")
            if group is not None:
                variables[group] = file, name
    first, *others = groups
    if first not in variables:
        for _, file in opened:
            file.require_real()
        also = f"; also accepted: {', '.join(others)}" if others else ""
        raise EvaluationError(
            f"{path} has no predictions on {first}; expected: a file {first}.npz (.npy, .nc, .zarr, .mat, "
            f".h5, .pt), or an array {first}, (samples, ...space){also}"
        )
    remarks: dict[str, None] = {}

    def answer(samples: Samples, group: str) -> np.ndarray:
        file, name = variables[group]
        _check_orders(file, name, samples)
        values = file.read(name, (slice(None),) * len(file.shape(name)))
        remarks.update(dict.fromkeys(file.notes))
        return values

    with_predictions = [group for group in groups if group in variables]
    digests = {file.name: content_digest(file) for file in files}
    words = path.name or path.resolve().name
    return Predictor("predictions", words, answer, with_predictions, digests, remarks)


def _check_orders(file: ArraysFile, name: str, samples: Samples) -> None:
    """Raise `EvaluationError` if axes, coordinates or samples of a variable are not in the task's order.

    Only what the file names can be checked: arrays of equal sides have the same shape in any order.
    """
    coordinates = coordinates_of(samples.target_grid)
    order = ("sample", "channel", *coordinates)
    variable = file.variables[name]
    dims = tuple(axis.removesuffix("_target") for axis in variable.dims() or ())
    long = [axis for axis, size in zip(dims, variable.shape, strict=False) if size > 1]
    named = [axis for axis in long if axis_of(axis) in order]
    pdebench = not dims and any(variable_name.endswith("x-coordinate") for variable_name in file.variables)
    if pdebench:  # its arrays have x before y
        named = list(reversed(coordinates))
    expected = sorted(named, key=lambda axis: order.index(axis_of(axis)))
    if named != expected:
        order_in_file = ", ".join(named) + (", as in PDEBench" if pdebench else "")
        raise EvaluationError(
            f"{file.path}: '{name}' has the axes {order_in_file}; expected: {', '.join(expected)}: transpose "
            "it, or correct the names"
        )
    folder = name.rpartition("/")[0]
    for line, other in file.variables.items():
        place, _, leaf = line.rpartition("/")
        points = coordinates.get(leaf.removesuffix("_target"))
        lengths = (len(samples),) if points is None else points.shape
        counts = points is not None or leaf in ("sample", *dims[:1])
        if not counts or other.kind is not None or other.shape != lengths or place not in ("", folder):
            continue
        values = file.read(line, ())
        if points is None and not (np.diff(values) > 0).all():
            raise EvaluationError(
                f"{file.path}: '{leaf}' does not increase; expected: samples in the order of the inputs"
            )
        if points is not None and not np.allclose(values, points, rtol=1e-6, atol=1e-7):
            raise EvaluationError(
                f"{file.path}: the coordinate '{leaf}' goes from {values[0]:g} to {values[-1]:g}; expected: "
                f"as in the task, from {points[0]:g} to {points[-1]:g}: reorder '{name}', or correct it"
            )


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

    def answer(samples: Samples, group: str) -> np.ndarray:
        # A copy: a model may change its inputs, which classical solvers receive too.
        returned = model.predict(samples.inputs.copy(), coordinates_of(samples.grid))
        try:
            values = np.asarray(unmasked(returned))
        except ValueError:  # lists of unequal lengths
            values = np.empty(0, object)
        if values.dtype.kind in "OUS" or values.ndim == 0:
            shape = samples.targets.shape
            raise EvaluationError(
                f"{location}: predict() returned {type(returned).__name__} on {group}, no array of numbers; "
                f"expected: the shape {shape}, as the targets"
            )
        return values

    return answer


def _program(path: Path) -> Answer:
    """Return a function that calls a program of `torch.export`.

    The program takes functions (samples, ...space, channels) and, if it has a second input, coordinates.
    """
    import torch

    from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

    program = torch.export.load(path)
    module, names = program.module(), program.graph_signature.user_inputs
    taken = [node.meta["val"] for node in program.graph.nodes if node.name in names]
    batch_size = taken[0].shape[0]  # a symbol, unless it is fixed

    @torch.no_grad()
    def answer(samples: Samples, group: str) -> np.ndarray:
        functions = function_tensor(samples.inputs, samples.grid, taken[0].dtype)
        coordinates = [coordinate_tensor(samples.grid)] if len(taken) == 2 else []
        size = batch_size if isinstance(batch_size, int) else len(functions)
        answers = []
        for part in functions.split(size):
            filled = torch.cat([part, part[-1:].expand(size - len(part), *part.shape[1:])])
            answers.append(module(filled, *coordinates)[: len(part)])
        space, targets = samples.target_grid.shape, samples.targets.shape
        channels = targets[1 : len(targets) - len(space)] or (1,)
        # Without or before the axis of channels, the last axis of space would be taken for it.
        shaped = _reshaped(torch.cat(answers).numpy(), (len(functions), *space, *channels))
        return as_samples(torch.from_numpy(shaped)).numpy()

    return answer
