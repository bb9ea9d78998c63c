"""Exported runs as models to evaluate, on a task or on their own test samples, which are made again.

Own test samples show whether the weights have the recorded errors, but not whether these samples were used in
training.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.errors import FileError
from resolvent.common.records import WEIGHTS, file_digests
from resolvent.common.settings import settings_hash
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Samples
from resolvent.datasets.storage.layout import coordinates_of, group_name
from resolvent.judging.models import in_batches
from resolvent.judging.predictions import Predictor
from resolvent.judging.tasks import NamedTask, made
from resolvent.public.consent import Allowed, addresses_in, check_allowed
from resolvent.public.runs import CARD, RECORD, TrainedRun, load_run

FILES = (RECORD, WEIGHTS, CARD, "errors.csv")
RELATIVE = 1e-3  # tolerance of a mean error, for rounding in labels and in the float32 operator


def is_exported_run(source: str) -> bool:
    """Return whether `source` is the folder of a run."""
    return (Path(source) / RECORD).is_file()


def open_exported_run(folder: Path, allow: Allowed, *, own_samples: bool) -> TrainedRun:
    """Load an exported run with its weights; run no code in it and contact no address unless allowed.

    own_samples  whether its own test samples will be made: from code of an equation, files or addresses.
    Raises `ResolventError` if files are missing, damaged, of different runs or not allowed.
    """
    for name in FILES:
        if not (folder / name).is_file():
            raise FileError(f"{folder} has no {name}: it is not an exported run (`resolvent export-run`)")
    run = load_run(folder, allow=allow)
    code, addresses = [run.record.architecture], list[str]()
    if own_samples:
        settings = run.card.get("settings", {})
        code.append(str(settings.get("equation")))
        addresses = list(addresses_in(settings.get("source")))
    check_allowed(folder, code, allow, addresses)
    _ = run.operator, run.errors  # report faults before samples are made or requested
    return run


def predictor_of(run: TrainedRun, groups: list[str]) -> Predictor:
    """Return the predictor of an exported run; warnings about its inputs become remarks."""
    record, remarks = run.record, dict[str, None]()

    def answer(samples: Samples, group: str) -> np.ndarray:
        *_, positions = coordinates_of(samples.grid).values()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prediction = run.predict(samples.inputs, positions)
        remarks.update(dict.fromkeys(f"{group}: {warning.message}" for warning in caught))
        return prediction

    # A label is the authors' choice, an architecture is that of the weights.
    words = f"{record.label} ({record.architecture}), trained on {record.resolution}, seed {record.seed}"
    ask = partial(in_batches, answer, words)
    return Predictor("run", words, ask, groups, file_digests(run.directory, FILES), remarks)


def own_task(run: TrainedRun) -> tuple[str, NamedTask]:
    """Return the name of the run's own test, and the test as a task.

    The name has a hash of all settings of the dataset that determine its test samples; the numbers of samples
    and of jobs do not.
    """
    settings = run.equation.identity({})["settings"].items()
    digest = settings_hash({key: value for key, value in settings if not key.startswith("samples")})
    fine = ", fine targets" if run.record.grids == "fine" else ""
    given, asked = run.equation.quantities
    task = NamedTask.model_construct(
        title=f"Test samples of the dataset {run.card['dataset']}, made again",
        given=given,
        asked=asked,
        tested=run.record.test_resolutions,
        dataset=run.equation,
    )
    return f"{run.card['dataset']}, test set {digest}{fine}", task


def own_labels(run: TrainedRun, place: Path, cores: int) -> Path:
    """Make the run's test samples again below `place`, from the settings on its card; return their card.

    Computed training samples are only made if they are the unit of noise in the test.
    """
    settings, name = run.equation, run.card["dataset"]
    if not name or name.startswith(".") or "/" in name or "\0" in name:  # it names a folder
        raise FileError(f"{run.directory / CARD}: invalid dataset name {name!r}: download the run again")
    sizes = settings.samples.model_dump()
    if hasattr(settings, "source"):
        _check_sources(run, settings)
    elif not any(run.record.test_noise):
        sizes = {"train": 1, "validation": 1, "test": run.record.training["test_samples"]}
    # One folder deeper than datasets, so that it is not found as one of them.
    return made(settings, place / "evaluated", name, cores=cores, **sizes)


def _check_sources(run: TrainedRun, settings: Any) -> None:
    """Raise `DatasetError` if the source files of imported samples are missing or changed.

    They are checked before any reader opens them, because an HDF5 file may link to other files of this
    machine.
    """
    from resolvent.datasets.imported.readers.source import is_remote
    from resolvent.datasets.imported.sources import check_digests, content_digest, paths_of

    paths, files = paths_of(settings.source), run.card.get("imported", {}).get("files", [])
    if not settings.sha256:
        words = f"has no SHA-256 of {', '.join(paths)}: download the run again"
        raise DatasetError(f"{run.directory / CARD} {words}")
    try:
        # Readers report missing files and devices; a device has no end and cannot be hashed.
        there = [path for path in paths if is_remote(path) or Path(path).is_file() or Path(path).is_dir()]
        known = dict(zip(paths, settings.sha256, strict=False))
        expected = [known.get(path, "none") for path in there]
        check_digests(expected, there, [content_digest(path) for path in there], "get it from the authors")
        settings.with_contents()
    except DatasetError as error:
        whole = ", ".join(f"{file['file']} with the SHA-256 {file['sha256']}" for file in files)
        remedy = "which an exported run does not contain: get it from the authors"
        raise DatasetError(f"{error}; the test samples are read from {whole}, {remedy}") from None


def condition_name(group: str, noise: float) -> str:
    """Return the name of a test grid with the level of the noise, such as "n64, noise 0.1"."""
    return group + (f", noise {noise:g}" if noise else "")


def recorded_and_measured(run: TrainedRun, measured: pd.DataFrame, accuracy: float) -> Iterator[dict]:
    """Yield the mean of every metric on every grid, as recorded and as measured again.

    A mean is confirmed if both agree to within a thousandth of it plus `accuracy`, that of the labels.
    Metrics that the authors defined are not measured again.
    """
    conditions = run.errors[["resolution", "noise"]].itertuples(index=False)
    recorded = run.errors.assign(
        grid=[condition_name(group_name(resolution), noise) for resolution, noise in conditions]
    )
    if set(recorded["grid"]) != set(measured["grid"]):
        raise FileError(
            f"{run.directory / 'errors.csv'} has other resolutions or levels of noise than {RECORD}: "
            "download the run again"
        )
    for grid, rows in measured.groupby("grid", sort=False):
        before = recorded[recorded["grid"] == grid]
        same_samples = set(before["sample"]) == set(rows["sample"])
        for metric in run.record.metrics:
            then, now, confirmed = float(before[metric].mean()), None, None
            if metric in measured.columns:
                now = float(rows[metric].mean())
                confirmed = same_samples and abs(then - now) <= RELATIVE * then + accuracy
            yield {"grid": grid, "metric": metric, "recorded": then, "measured": now, "confirmed": confirmed}
