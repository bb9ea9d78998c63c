"""Give a trained run away: a folder with its weights, its records and a model card, which loads by itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resolvent.common.errors import FileError
from resolvent.common.files import partial_path, readable_disk_errors, write_json
from resolvent.common.records import RUN_FILES, WEIGHTS, check_file

if TYPE_CHECKING:
    from resolvent.public.runs import TrainedRun

FORMATS = ("torch_export", "onnx")
FILES = {"torch_export": "model.pt2", "onnx": "model.onnx"}


def export_run(
    run: TrainedRun,
    folder: Path,
    *,
    formats: Sequence[str] = (),
    points: int | None = None,
    samples: int = 1,
    licence: str | None = None,
) -> Path:
    """Write a run into a new folder, which `resolvent.load_run` loads, and return the folder.

    It has README.md, the model card; model.safetensors, weights and normalisers; run.json, cost.json and the
    tables and predictions beside them; and dataset.json, the card of its data, where that is at hand.

    Parameters
    ----------
    formats
        Programs that run without this package: "torch_export" writes model.pt2 (`torch.export`), "onnx"
        model.onnx. Both take functions (samples, ...space, channels) and coordinates (...space, dimension),
        both in float32 and in physical units, of fixed sizes: `samples`, and `points` along each axis. They
        are run here, and held to the operator. ONNX has no operators for complex numbers, which rules out
        architectures with Fourier layers.
    points
        By default those of the training grid.
    licence
        Of the weights, as an SPDX name such as "MIT"; none: the model card says that none is stated.

    Raises
    ------
    TrainingError
        When the run has diverged, or the architecture cannot be written in one of `formats`.
    FileError
        When the folder exists and is not empty, or a file of the run is damaged.
    """
    from resolvent.public import model_card, weights
    from resolvent.training.errors import TrainingError

    for name in formats:
        if name not in FORMATS:
            raise TrainingError(f"unknown format '{name}'; accepted: {', '.join(FORMATS)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is there already: choose another folder")
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
            weights.write_weights(checkpoint, place / WEIGHTS)
            if formats:
                from resolvent.public.programs import write_program

                for name in formats:
                    write_program(run.record, operator, name, place / FILES[name], points, samples)
            text = model_card.text(run, sorted(FILES[name] for name in formats), licence)
            (place / "README.md").write_text(text, encoding="utf-8")
            if folder.exists():
                folder.rmdir()
            os.rename(place, folder)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return folder
