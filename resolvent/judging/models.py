"""Models of others as functions from test inputs to predictions: `module:name`, and programs, `.pt2`."""

from __future__ import annotations

import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from resolvent.common.errors import EvaluationError
from resolvent.common.outside import LOCATION, find
from resolvent.datasets.errors import in_one_line
from resolvent.datasets.imported.arrays_checks import unmasked
from resolvent.datasets.loading import Samples
from resolvent.datasets.storage.layout import coordinates_of

PROGRAM = ".pt2"
BATCH = 32  # samples per call
COMPILED = "aotinductor"  # folder of machine code in a program

Answer = Callable[[Samples, str], np.ndarray]  # predict on the grid "n512"; targets are not read


def is_model(source: str) -> bool:
    """Return whether `source` is a program or `module:name`."""
    path = Path(source)
    return (path.suffix == PROGRAM and path.is_file()) or (
        not path.exists() and LOCATION.fullmatch(source) is not None
    )


def loaded(source: str) -> Answer:
    """Return the model at `source`, ready to predict. Raises `EvaluationError` if it cannot be loaded."""
    if LOCATION.fullmatch(source) is None:
        with asked(source, "opening"):
            return _program(Path(source))
    try:
        model = find(source)
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    return live(model, source)


def live(model: object, words: str) -> Answer:
    """Return a function that calls a model's `predict(inputs, coordinates)`, after `load()`, if defined.

    Inputs are as in the files of the task; `coordinates` are the positions along each axis by name.
    """
    with asked(words, "construction"):
        model = model() if isinstance(model, type) else model
    predict = getattr(model, "predict", None)
    if not callable(predict):
        raise EvaluationError(
            f"{words} has no predict(inputs, coordinates); expected: an object or class with this method"
        )
    if callable(load := getattr(model, "load", None)):
        with asked(words, "load()"):
            load()

    def answer(samples: Samples, group: str) -> np.ndarray:
        # A copy: a model may change its inputs, which classical solvers receive too.
        returned = predict(samples.inputs.copy(), coordinates_of(samples.grid))
        try:
            values = np.asarray(unmasked(returned))
        except ValueError:  # lists of unequal lengths
            values = np.empty(0, object)
        if values.dtype.kind in "OUS" or values.ndim == 0:
            shape = samples.targets.shape
            raise EvaluationError(
                f"{words}: predict() returned {type(returned).__name__} on {group}, no array of numbers; "
                f"expected: the shape {shape}, as the targets"
            )
        return values

    return answer


def in_batches(answer: Answer, words: str, samples: Samples, group: str) -> tuple[np.ndarray, float]:
    """Return the predictions of a model, and its seconds per sample: the median over batches.

    The first call, which may compile, is not timed. Raises `EvaluationError` in one line whatever the model
    raises, and if a batch has not as many numbers as its targets.
    """
    every = range(len(samples))
    batches = [samples.read(every[start : start + BATCH]) for start in every[::BATCH]]
    answers, seconds = [], []
    with asked(words, group):
        answer(batches[0], group)
        for batch in batches:
            start = time.perf_counter()
            values = answer(batch, group)
            seconds.append((time.perf_counter() - start) / len(batch))
            if values.size != batch.targets.size:  # before a copy, which may not fit into memory
                expected = f"expected: {batch.targets.shape}, as the targets"
                raise EvaluationError(
                    f"{words}: predictions on {group} have shape {values.shape} for {len(batch)} samples; "
                    f"{expected}"
                )
            answers.append(np.array(values))  # a copy: programs may reuse memory
    return np.concatenate(answers), float(np.median(seconds))


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


def _program(path: Path) -> Answer:
    """Return a function that calls a program of `torch.export`.

    The program takes functions (samples, ...space, channels) and, if it has a second input, coordinates.
    Its pickles are only read as weights if TORCH_FORCE_WEIGHTS_ONLY_LOAD is set.
    """
    with zipfile.ZipFile(path) as archive:
        if any(COMPILED in name for name in archive.namelist()):
            raise EvaluationError(f"{path} has machine code: save the program by torch.export.save")
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
        shaped = reshaped(torch.cat(answers).numpy(), (len(functions), *space, *channels))
        return as_samples(torch.from_numpy(shaped)).numpy()

    return answer


def reshaped(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array in this shape if its own differs only in axes of size 1; otherwise unchanged."""
    same = [size for size in values.shape if size > 1] == [size for size in shape if size > 1]
    return values.reshape(shape) if same else values
