"""Export a trained run to a self-contained folder with weights, records and a model card.

A run can also be exported as a program that does not need this package, with `torch.export`.
"""

from __future__ import annotations

import io
import logging
import os
import shutil
import warnings
from collections.abc import Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from resolvent.common.errors import FileError
from resolvent.common.files import partial_path, readable_disk_errors, write_json
from resolvent.common.records import RUN_FILES, WEIGHTS, RunRecord, check_file
from resolvent.datasets.storage.layout import grid_from_facts
from resolvent.models.registry import resolve
from resolvent.public import model_card
from resolvent.public.inputs import regridded
from resolvent.public.weights import write_weights
from resolvent.solvers.common.grid import Grid, Nodes, Product
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import NormalisedOperator
from resolvent.training.tensors import coordinate_tensor

if TYPE_CHECKING:
    from resolvent.public.runs import TrainedRun

FILES = {"torch_export": "model.pt2"}  # by format
TOLERANCE = 1e-4  # maximum difference between program and operator, relative to the range of the outputs


def export_run(
    run: TrainedRun,
    folder: Path,
    *,
    formats: Sequence[str] = (),
    points: int | None = None,
    samples: int = 1,
    licence: str | None = None,
) -> Path:
    """Write a run into a new folder that `resolvent.load_run` can load, and return the folder.

    The folder has README.md (the model card), model.safetensors (weights and normalisers), run.json,
    cost.json, the tables and predictions of the run, and, if available, dataset.json (the card of the data).

    Parameters
    ----------
    formats
        Programs that run without this package: "torch_export" writes model.pt2 (`torch.export`). It takes
        functions (samples, ...space, channels) and coordinates (...space, dimension) in float32 and physical
        units, with fixed sizes: `samples`, and `points` along each axis. Functions are in float64 if
        float32 would round away their variation around a large mean. Its outputs are compared with the
        operator's.
    points
        By default as in the training grid.
    samples
        Batch size of the programs.
    licence
        Licence of the weights, as an SPDX name such as "MIT"; None: the model card states that there is none.

    Raises
    ------
    TrainingError
        If the run diverged, or the architecture cannot be exported to one of `formats`.
    FileError
        If the folder exists and is not empty, or a file of the run is damaged.
    """
    for name in formats:
        if name not in FILES:
            raise TrainingError(f"unknown format '{name}'; accepted: {', '.join(FILES)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} exists already: choose another folder")
    checkpoint, operator = run.checkpoint, run.operator
    with readable_disk_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = partial_path(folder)
        place.mkdir()
        try:
            for name in RUN_FILES:
                shutil.copyfile(check_file(run.directory / name, run.record), place / name)
            for name in ("run.json", "cost.json"):
                shutil.copyfile(run.directory / name, place / name)
            if run.card is not None:
                write_json(place / "dataset.json", run.card)
            write_weights(checkpoint, place / WEIGHTS)
            for name in formats:
                write_program(run.record, operator, place / FILES[name], points, samples)
            text = model_card.text(run, sorted(FILES[name] for name in formats), licence)
            (place / "README.md").write_text(text, encoding="utf-8")
            if folder.exists():
                folder.rmdir()
            os.rename(place, folder)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return folder


def write_program(
    record: RunRecord, operator: nn.Module, path: Path, points: int | None, samples: int
) -> None:
    """Export `operator`, with inputs and outputs in physical units, to `path`, and check the outputs.

    Raises `TrainingError` if the architecture cannot be exported, or the program's output differs.
    """
    draws, coordinates = _example(record, points, samples)
    if isinstance(operator, NormalisedOperator) and operator.input is not None:
        draws = operator.input.restore(draws.to(operator.dtype))
    example = (draws, coordinates)
    try:
        with _quiet():
            torch.export.save(torch.export.export(operator, example), path)
    except Exception as error:  # the tracer may raise anything
        reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"
        raise TrainingError(f"{record.architecture} cannot be exported: {reason}") from None
    with torch.no_grad():
        expected, computed = operator(*example), torch.export.load(path).module()(*example)
    difference = (computed - expected).abs().max() / (expected.max() - expected.min())
    if not difference <= TOLERANCE:
        by = f"{difference:.1e} of the range of its outputs"
        words = f"the program of {record.architecture} differs from the operator by {by}"
        raise TrainingError(f"{words}: not written")


def _example(record: RunRecord, points: int | None, samples: int) -> tuple[Tensor, Tensor]:
    """Return functions of size 1 and coordinates with the sizes of the program's inputs."""
    grid = grid_from_facts(record.grid)
    if isinstance(grid, Product) and points not in (None, grid.points):
        raise TrainingError(f"points: accepted for this grid: {grid.points}, as in training; got {points}")
    if points is not None and isinstance(grid, Grid):
        try:
            grid = regridded(grid, (points,) * grid.dimension)
            resolve(record.architecture, record.settings).check_grid(grid.shape)
        except ValueError as error:
            raise TrainingError(f"{record.model} cannot predict on {points} points: {error}") from None
    elif points is not None and isinstance(grid, Nodes) and points != grid.points:
        raise TrainingError(f"points: accepted for trajectories: {grid.points}, as in training; got {points}")
    channels = resolve(record.architecture, record.settings).in_channels
    shape = (samples, *grid.shape, channels)
    draws = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    return 1 + draws, coordinate_tensor(grid)


@contextmanager
def _quiet():
    """Suppress the output of exporters; exceptions pass."""
    logging_was, silence = logging.root.manager.disable, io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(silence), redirect_stderr(silence):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging_was)
