"""Read and check the files of a finished run, for the figures and `resolvent.load_run`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas
from pandas.api.types import is_numeric_dtype

from resolvent.common.digests import check_digest, check_present, write_digest
from resolvent.common.errors import FileError
from resolvent.common.files import write_text
from resolvent.common.predictions import condition, node_name, read_predictions
from resolvent.common.records import (
    CONDITION_COLUMNS,
    ERROR_COLUMNS,
    HISTORY_COLUMNS,
    WEIGHTS,
    BaselinesRecord,
    CostRecord,
    RunRecord,
    check_file,
    check_same_run,
    identity_of,
    read_record,
)

if TYPE_CHECKING:
    import xarray

# End of the path of a run that the pipeline made: experiment, model, resolution and seed.
PLACE = re.compile(r"(?:^|/)([^/]+)/([^/]+)/([^/]+)/(seed\d+)$")

# Columns of names and hashes, which are text: "None", "8" or "1234e5678901".
NAMES = dict.fromkeys(("key", "label", "model", "baseline", "config_hash", "code_versions"), str)


@dataclass(frozen=True)
class Run:
    """One trained model. Files other than the two records are read, and checked, on first use."""

    directory: Path
    record: RunRecord
    cost: CostRecord

    @property
    def diverged(self) -> bool:
        """Return whether training ended without an operator."""
        return self.cost.status == "diverged"

    @cached_property
    def errors(self) -> pandas.DataFrame:
        """Return errors of all test samples: one row per resolution, noise level, realisation and sample."""
        path = check_file(self.directory / "errors.csv", self.record)
        return _numbers(path, parse_table(path, ERROR_COLUMNS))

    @cached_property
    def history(self) -> pandas.DataFrame:
        """Return losses and errors by epoch. Empty for some runs that diverged in the first epoch."""
        path = check_file(self.directory / "history.csv", self.record)
        return _numbers(path, parse_table(path, HISTORY_COLUMNS, may_be_empty=self.diverged))

    @cached_property
    def predictions(self) -> xarray.DataTree:
        """Some test samples with predictions, as described in `resolvent.common.predictions`."""
        return read_predictions(check_file(self.directory / "predictions.nc", self.record))

    def predictions_at(self, noise: float | None = None) -> xarray.Dataset:
        """Return predictions on the home grid at noise level `noise`; default: as in training."""
        noise = self.record.noise if noise is None else noise
        return condition(self.predictions, self.record.home, noise)


def read_run(directory: Path | str, kind: type[Run] = Run) -> Run:
    """Read the records of the run in `directory` into an instance of `kind`.

    A run must be in the folders that its record names, unless it was exported. Raises `FileError` if a record
    is missing, damaged or of another run.
    """
    directory = Path(directory)
    record = read_record(directory / "run.json", RunRecord)
    place = PLACE.search(Path(os.path.abspath(directory)).as_posix())
    if place and not (directory / WEIGHTS).exists():
        named = (record.experiment, record.model, node_name(record.resolution), f"seed{record.seed}")
        if place.groups() != named:
            own, there = "/".join(named), "/".join(place.groups())
            raise FileError(
                f"{directory}/run.json is of the run {own}, not of {there}, the run of its folder: delete "
                "this folder and run snakemake"
            )
    cost = read_record(directory / "cost.json", CostRecord)
    check_same_run(directory / "cost.json", identity_of(cost), identity_of(record))
    return kind(directory, record, cost)


def read_baselines_table(directory: Path | str) -> tuple[BaselinesRecord, pandas.DataFrame]:
    """Read record and errors of the baselines in `directory`. Raises `FileError` as `read_run`."""
    directory = Path(directory)
    record = read_record(directory / "cost.json", BaselinesRecord)
    experiment = Path(os.path.abspath(directory)).parent.name
    if directory.name == "baselines" and record.experiment != experiment:
        raise FileError(
            f"{directory}/cost.json is of the experiment {record.experiment}, not of {experiment}, the "
            "experiment of its folder: delete this folder and run snakemake"
        )
    path = check_file(directory / "errors.csv", record)
    # There are no rows if no test grid has training samples.
    return record, _numbers(path, parse_table(path, ("baseline", *ERROR_COLUMNS), may_be_empty=True))


def save_table(table: pandas.DataFrame, path: Path | str) -> None:
    """Write a CSV file and its digest, each atomically. Numbers keep full precision."""
    write_text(Path(path), table.to_csv(index=False, lineterminator="\n"))
    write_digest(path)


def read_table(path: Path, columns: Iterable[str], *, may_be_empty: bool = False) -> pandas.DataFrame:
    """Read a CSV file written by `save_table`.

    Raises `FileError` if the file is missing or altered, lacks one of `columns`, or has no rows and
    `may_be_empty` is false.
    """
    return parse_table(check_digest(path), columns, may_be_empty=may_be_empty)


def parse_table(path: Path, columns: Iterable[str], *, may_be_empty: bool = False) -> pandas.DataFrame:
    """Read a CSV file like `read_table`, without checking a digest in a sidecar."""
    remedy = "delete it and run snakemake"
    check_present(path)
    try:
        table = pandas.read_csv(path, dtype=NAMES, keep_default_na=False, na_values=["", "nan"])
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is not a table ({error}): {remedy}") from error
    absent = [column for column in columns if column not in table]
    if absent:
        raise FileError(f"{path} has no column {', '.join(absent)}: {remedy}")
    if table.empty and not may_be_empty:
        raise FileError(f"{path} has no rows: {remedy}")
    return table


def metric_columns(errors: pandas.DataFrame) -> list[str]:
    """Return the metric columns of an errors.csv: all but the columns of the test condition."""
    return [name for name in map(str, errors) if name not in (*CONDITION_COLUMNS, "baseline")]


def _numbers(path: Path, table: pandas.DataFrame) -> pandas.DataFrame:
    """Return `table` if all columns but the names of resolutions and baselines contain numbers."""
    for column in table.columns.difference(["resolution", "baseline"]):
        if len(table) and not is_numeric_dtype(table[column]):
            raise FileError(f"{path} has text in the column {column}: delete it and run snakemake")
    return table
