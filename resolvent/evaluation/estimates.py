"""Errors of trained runs and their estimates without labels, also on shifted distributions.

Sample k of a shift uses the random numbers of sample k of the test split, so that the same draws are
compared. Its label is as accurate as the test labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import torch

from resolvent.common.norms import relative_l2
from resolvent.common.records import ESTIMATE_COLUMNS, UNSHIFTED, CostRecord, RunRecord, read_record
from resolvent.common.runs import save_table
from resolvent.datasets.loading import FreshSplit, Samples, read_card, training_noise
from resolvent.datasets.tasks.registry import settings_on
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.evaluation.conditions import first_tested, predict
from resolvent.evaluation.without_labels import Predict, known_of
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.devices import choose_device

VERSION = 2  # raised whenever the numbers change (docs/jobs.md)


def measure_estimates(
    card: Path,
    test_card: Path,
    runs: list[Path],
    output: Path,
    *,
    shifts: list[tuple[str, float]],
    samples: int,
    counts: dict[str, int],
    threads: int,
    gpus: int,
) -> None:
    """Write errors and estimates of the finished `runs` on their home grids to the table `output`.

    Uses the first `samples` test samples of `test_card`, and as many for every shift of this dataset, both
    with the noise of each run. `card` is of the training data, `counts` is the number of samples of each
    split. Raises `SolverError` if samples of a shift cannot be solved to the accuracy of the dataset.
    """
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    tested = read_card(test_card)
    finished = [run for run in runs if read_record(run / "cost.json", CostRecord).status == "finished"]
    records = {run: read_record(run / "run.json", RunRecord) for run in finished}
    tables = []
    for shift, factor in [(UNSHIFTED, 1.0), *shifts]:
        settings = settings_on(tested)
        if shift != UNSHIFTED:
            settings = settings.shifted(shift, factor)
        # The dataset's layout, with new samples in place of the test split.
        layout = tested | {
            "samples": tested["samples"] | {"test": 0},
            "settings": settings.model_dump(mode="json"),
        }
        drawn: dict[tuple, Samples] = {}
        for run, record in records.items():
            key = record.resolution, record.grids, record.noise
            if key not in drawn and shift == UNSHIFTED:
                drawn[key] = first_tested(test_card, record, counts, samples)
            elif key not in drawn:
                noise = training_noise(card, record.home, counts["train"], record.noise)
                how: dict[str, Any] = {"grids": record.grids, "noise": noise, "card": layout}
                drawn[key] = FreshSplit("", record.home, "test", 0, **how).read(range(samples))
            operator = trained_operator(checkpoints.load(run / "checkpoint.pt"))
            assert operator is not None  # the run is finished
            operator = operator.to(device)

            def answer(inputs: np.ndarray, operator=operator, of: Samples = drawn[key]) -> np.ndarray:
                return predict(operator, Samples(of.grid, inputs, of.targets, None, of.target_grid), device)

            row = {name: getattr(record, name) for name in ("model", "label", "architecture", "resolution")}
            row |= {"equation": settings.equation, "seed": record.seed, "shift": shift, "factor": factor}
            tables.append(
                pandas.DataFrame(row | errors_beside(settings, answer, drawn[key], not record.noise))
            )
    table = pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame()
    save_table(table.reindex(columns=list(ESTIMATE_COLUMNS)), output)


def errors_beside(
    equation: DatasetSettings, answer: Predict, samples: Samples, clean: bool = True
) -> dict[str, Any]:
    """Return the errors of an operator's predictions and their estimates, (samples,) by column.

    clean  whether the inputs are without noise; with noise, there are no estimates.
    """
    prediction, grid = answer(samples.inputs), samples.target_grid
    columns: dict[str, Any] = {
        "sample": np.arange(len(samples)),
        "relative_l2": relative_l2(prediction, samples.targets, grid.weights),
    }
    if not clean:
        return columns
    estimates = known_of(equation, samples.inputs, prediction, grid)
    if "to_solver" in estimates:
        columns["to_solver"] = estimates["to_solver"].values
    if "energy_error" in estimates:
        bounds = dict(zip(("energy_lower", "energy_upper"), estimates["energy_error"].values.T, strict=True))
        inputs = samples.inputs.astype(np.float64)
        columns |= bounds | {"energy_error": equation.energy_error(inputs, prediction, samples.targets)}
    return columns
