"""Predictions for a task: stored in files, or of a model that is asked for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from resolvent.common.errors import EvaluationError, FileError
from resolvent.datasets.imported.axes import axis_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.formats import ARRAY, TENSOR
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import ENDINGS, content_digest
from resolvent.datasets.loading import Samples
from resolvent.datasets.storage.layout import coordinates_of, resolution_of
from resolvent.judging.beyond import FRESH
from resolvent.judging.child import Child
from resolvent.judging.models import PROGRAM, in_batches, is_model, live, reshaped
from resolvent.judging.report import MadeFrom

UNNAMED = ("predictions", "prediction", "data", ARRAY, TENSOR)  # names of arrays that name no grid
NUMBERS = ("ids", "id", "index", "indices", "sample")  # names of arrays that number the samples


@dataclass
class Predictor:
    """A source of predictions.

    kind     "predictions": stored predictions; "program" or "run": a model that predicts when it is asked.
    words    description for the record.
    ask      returns the predictions of test samples, and of a model the seconds per sample.
    groups   names of the grids to judge: of stored predictions those that are there, of a model all.
    files    their SHA-256; of a model, those that it has read so far.
    remarks  oddities in the files read so far, without duplicates.
    seconds  time per sample by grid name, if measured here: the median over batches.
    child    the process of a model, unless it runs in this one.
    """

    kind: str
    words: str
    ask: Callable[[Samples, str], tuple[np.ndarray, float | None]]
    groups: list[str]
    files: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    child: Child | None = None

    @property
    def identified(self) -> bool:
        """Return whether `files` are all that the predictions were made from."""
        return bool(self.files) and (self.child is None or self.child.identified)

    def fingerprint(self, predictions: np.ndarray) -> tuple[str, MadeFrom]:
        """Return a SHA-256 of a model, and of what it is: its files or, if not all are known, `predictions`.

        Files that a model reads later make it not identified.
        """
        if self.child is not None:
            digest = self.child.fingerprint()
        else:
            digest = hashlib.sha256("".join(sorted(self.files.values())).encode()).hexdigest()
        if self.identified:
            return digest, "files"
        return hashlib.sha256(np.ascontiguousarray(predictions).tobytes()).hexdigest(), "predictions"

    def predict(self, samples: Samples, group: str) -> np.ndarray:
        """Return predictions in the shape of the targets, in double precision; targets are not read.

        Raises `EvaluationError` if the shape differs or the values are not real numbers.
        """
        predictions, seconds = self.ask(samples, group)
        if seconds is not None:  # only the first call on a grid counts: later ones have other inputs
            self.seconds.setdefault(group, seconds)
        shape = samples.targets.shape
        predictions = reshaped(predictions, shape)  # some models add a channel axis to one function
        if predictions.shape != shape:
            words = f"have shape {predictions.shape}; expected: {shape}, as the targets"
            raise EvaluationError(f"{self.words}: predictions on {group} {words}")
        if predictions.dtype.kind not in "fiu":
            kind = predictions.dtype
            raise EvaluationError(f"{self.words}: predictions on {group} are {kind}, not real numbers")
        return predictions.astype(np.float64)


@contextmanager
def predictor(source: object, groups: list[str], **limits: float) -> Iterator[Predictor]:
    """Yield the predictor for `source`: a file, a folder, `module:name`, a program or a model object.

    A module or program runs in a process of its own, which ends with the context; an object runs here.

    groups  names of the test grids, such as "n512". Stored predictions need only the first.
    limits  as of `Child`.
    Raises `FileError` if the source does not exist, and `EvaluationError` if it cannot be used.
    """
    if not isinstance(source, str | Path):
        words = type(source).__name__
        answer = live(source, words)
        yield Predictor("program", words, partial(in_batches, answer, words), groups)
        return
    path = Path(source)
    if is_model(str(source)):
        words = path.name if path.suffix == PROGRAM else str(source)
        with Child(str(source), **limits) as child:
            yield Predictor("program", words, child.predict, groups, child.files, child=child)
    elif path.exists():
        yield _stored(path, groups)
    else:
        raise FileError(
            f"{source} does not exist; accepted: a file or a folder of predictions, a program ({PROGRAM}), "
            "or module:name"
        )


def _stored(path: Path, groups: list[str]) -> Predictor:
    """Read predictions from a file with one grid, a file with an array per grid, or a folder of files."""
    files = [path]
    if path.is_dir() and path.suffix != ".zarr":
        inside = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        files = [each for each in inside if each.suffix.lower() in ENDINGS] or inside
    opened = [(each, open_source(each)) for each in files]
    variables: dict[str, tuple[ArraysFile, str]] = {}
    known = [*groups, *(FRESH + group for group in groups)]
    for path_of_file, file in opened:
        for name, variable in file.variables.items():
            if variable.kind is not None or len(variable.shape) < 2:
                continue
            named = (name.partition("/")[0], path_of_file.stem)
            group = next((place for place in named if place in known), None)
            if group is None and name in UNNAMED:
                ends = [place for place in groups if path_of_file.stem.endswith(f"_{place}")]
                points = [place for place in groups if resolution_of(place) == variable.shape[-1]]
                group = next(iter(ends or groups[: len(groups) == 1] or points), None)
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

    def read(samples: Samples, group: str) -> tuple[np.ndarray, None]:
        if group not in variables:
            raise EvaluationError(f"{path} has no predictions on {group}")
        file, name = variables[group]
        order = _order_of(file, name, samples)
        values = file.read(name, (slice(None),) * len(file.shape(name)))
        remarks.update(dict.fromkeys(file.notes))
        return (values if order is None else values[order]), None

    with_predictions = [group for group in groups if group in variables]
    digests = {file.name: content_digest(file) for file in files}
    words = path.name or path.resolve().name
    return Predictor("predictions", words, read, with_predictions, digests, remarks)


def _order_of(file: ArraysFile, name: str, samples: Samples) -> np.ndarray | None:
    """Return the positions of the task's samples in a variable by the numbers in its file, if it has them.

    Raises `EvaluationError` if axes, coordinates or samples are not in the task's order. Only what the file
    names can be checked: arrays of equal sides have the same shape in any order.
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
    folder, positions = name.rpartition("/")[0], None
    for line, other in file.variables.items():
        place, _, leaf = line.rpartition("/")
        points = coordinates.get(leaf.removesuffix("_target"))
        lengths = (len(samples),) if points is None else points.shape
        counts = points is not None or leaf in (*NUMBERS, *dims[:1])
        if not counts or other.kind is not None or other.shape != lengths or place not in ("", folder):
            continue
        values = file.read(line, ())
        if points is None and not (np.diff(values) > 0).all():
            positions = np.argsort(values)
            if not np.array_equal(values[positions], np.arange(len(values))):
                raise EvaluationError(
                    f"{file.path}: '{leaf}' neither increases nor has every number from 0 to "
                    f"{len(values) - 1} once; expected: samples in the order of the inputs"
                )
        if points is not None and not np.allclose(values, points, rtol=1e-6, atol=1e-7):
            raise EvaluationError(
                f"{file.path}: the coordinate '{leaf}' goes from {values[0]:g} to {values[-1]:g}; expected: "
                f"as in the task, from {points[0]:g} to {points[-1]:g}: reorder '{name}', or correct it"
            )
    return positions
