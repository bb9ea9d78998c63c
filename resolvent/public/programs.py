"""A trained operator as a program that needs none of this package: by `torch.export`, or in ONNX."""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from resolvent.common.records import RunRecord
from resolvent.datasets.storage.layout import grid_from_facts
from resolvent.models.registry import resolve
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError
from resolvent.training.tensors import coordinate_tensor

TOLERANCE = 1e-4  # largest difference from the operator, relative to the largest output
NEEDED = ("onnx", "onnxscript", "onnxruntime")


def write_program(
    record: RunRecord, operator: nn.Module, form: str, path: Path, points: int | None, samples: int
) -> None:
    """Write `operator`, from physical units to physical units, to `path`, and hold the program to it.

    Raises
    ------
    TrainingError
        When the architecture cannot be written in this form, or the program computes something else.
    """
    example = _example(record, points, samples)
    with torch.no_grad():
        expected = operator(*example)
    computed = (_torch_export if form == "torch_export" else _onnx)(record, operator, example, path)
    difference = (computed - expected).abs().max() / expected.abs().max()
    if not difference <= TOLERANCE:
        raise TrainingError(
            f"{record.architecture} as {form} differs from the operator by {difference:.1e} of the largest "
            "output: not written"
        )


def _example(record: RunRecord, points: int | None, samples: int) -> tuple[Tensor, Tensor]:
    """Return functions and coordinates of the sizes that the program takes."""
    grid = grid_from_facts(record.grid)
    if points is not None and isinstance(grid, Grid):
        try:
            grid = Grid(grid.kind, points, grid.length, grid.dimension)
            resolve(record.architecture, record.settings).check_grid(points)
        except ValueError as error:
            raise TrainingError(f"{record.model} cannot be asked on {points} points: {error}") from None
    elif points is not None and isinstance(grid, Nodes) and points != grid.points:
        raise TrainingError(f"trajectories are exported at the {grid.points} times of training; got {points}")
    channels = resolve(record.architecture, record.settings).in_channels
    shape = (samples, *[grid.points] * grid.dimension, channels)
    draws = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    return 1 + draws, coordinate_tensor(grid)


def _torch_export(record: RunRecord, operator: nn.Module, example: tuple, path: Path) -> Tensor:
    try:
        with _quiet():
            torch.export.save(torch.export.export(operator, example), path)
    except Exception as error:  # whatever the tracer meets in an architecture
        raise TrainingError(
            f"{record.architecture} cannot be written by torch.export: {_line(error)}"
        ) from None
    with torch.no_grad():
        return torch.export.load(path).module()(*example)


def _onnx(record: RunRecord, operator: nn.Module, example: tuple, path: Path) -> Tensor:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise TrainingError(f"ONNX needs {', '.join(missing)}: pip install 'resolvent[export]'")
    if _is_complex(operator, example):
        raise TrainingError(
            f"{record.architecture} computes with complex Fourier coefficients, for which ONNX has no "
            "operators: use torch_export"
        )
    import onnxruntime

    names = ("functions", "coordinates")
    try:
        with _quiet():
            program: Any = torch.onnx.export(
                operator, example, input_names=names, output_names=["prediction"], dynamo=True, verbose=False
            )
            program.save(path)
    except Exception as error:  # whatever the converter meets in an architecture
        raise TrainingError(f"{record.architecture} cannot be written in ONNX: {_line(error)}") from None
    session = onnxruntime.InferenceSession(path)
    taken = {one.name for one in session.get_inputs()}  # an operator may ignore coordinates
    given = {name: one.numpy() for name, one in zip(names, example, strict=True) if name in taken}
    return torch.from_numpy(session.run(None, given)[0])


def _is_complex(operator: nn.Module, example: tuple) -> bool:
    """Say whether the operator computes with complex numbers anywhere."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            found.extend(one for one in tree_leaves(result) if isinstance(one, Tensor) and one.is_complex())
            return result

    with torch.no_grad(), Watch():
        operator(*example)
    return bool(found)


@contextmanager
def _quiet():
    """Keep what exporters print out of the terminal; what fails is raised."""
    logging_was, silence = logging.root.manager.disable, io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(silence), redirect_stderr(silence):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging_was)


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"
