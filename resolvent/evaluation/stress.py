"""Trained runs on distributions that they were not trained on, with labels as exact as those of training.

Sample k of a shift has the random numbers of sample k of the test split: what is compared are the same draws.
Beside every error stands what symmetries say of it without the label.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import torch

from resolvent.common.norms import relative_l2
from resolvent.common.records import STRESS_COLUMNS, UNSHIFTED, CostRecord, RunRecord, read_record
from resolvent.common.runs import save_table
from resolvent.datasets.loading import FreshSplit, Samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.evaluation.conditions import predict
from resolvent.evaluation.without_labels import under_symmetries
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.devices import choose_device


def measure_stress(
    card: Path,
    runs: list[Path],
    output: Path,
    *,
    shifts: list[tuple[str, float]],
    samples: int,
    threads: int,
    gpus: int,
) -> None:
    """Write the errors of runs on the test samples of every shift of the dataset at `card` to `output`.

    Raises `SolverError` when the samples of a shift cannot be solved to the accuracy of the dataset.
    """
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    facts = read_card(card)
    settings = settings_of(facts["settings"])
    finished = [run for run in runs if read_record(run / "cost.json", CostRecord).status == "finished"]
    records = {run: read_record(run / "run.json", RunRecord) for run in finished}
    tables = []
    for shift, factor in [(UNSHIFTED, 1.0), *shifts]:
        shifted = settings if shift == UNSHIFTED else settings.shifted(shift, factor)
        drawn: dict[tuple, Samples] = {}
        for run, record in records.items():
            key = record.resolution, record.grids
            if key not in drawn:
                drawn[key] = _solved(shifted, facts, samples, *key)
            asked = drawn[key]
            operator = trained_operator(checkpoints.load(run / "checkpoint.pt"))
            assert operator is not None  # the run is finished
            operator = operator.to(device)

            def answer(inputs: np.ndarray, operator=operator, asked: Samples = asked) -> np.ndarray:
                return predict(
                    operator, Samples(asked.grid, inputs, asked.targets, None, asked.target_grid), device
                )

            symmetries = shifted.symmetries()
            prediction = answer(asked.inputs)
            _, scatter = under_symmetries(answer, asked.inputs, prediction, asked.target_grid, symmetries)
            errors = relative_l2(prediction, asked.targets, asked.target_grid.weights)
            table: dict[str, Any] = {
                "model": record.model,
                "label": record.label,
                "resolution": record.resolution,
            }
            table |= {"seed": record.seed, "shift": shift, "factor": factor, "sample": np.arange(samples)}
            tables.append(pandas.DataFrame(table | {"relative_l2": errors, "scatter": scatter}))
    empty = pandas.DataFrame(columns=list(STRESS_COLUMNS))
    save_table(pandas.concat(tables, ignore_index=True) if tables else empty, output)


def _solved(settings: DatasetSettings, facts: dict, count: int, resolution: int | str, grids: str) -> Samples:
    """Draw and solve the first test samples of a dataset, which is laid out as the card `facts` has it."""
    card = facts | {"samples": facts["samples"] | {"test": 0}, "settings": settings.model_dump(mode="json")}
    return FreshSplit("", resolution, "test", 0, grids=grids, card=card).read(range(count))
