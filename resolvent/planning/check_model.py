"""Check a model on the grids of a dataset that need not exist, for `resolvent check-model`."""

from __future__ import annotations

import json
import math
import timeit
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from resolvent.common.errors import ResolventError
from resolvent.datasets.loading import FreshSplit, Samples, stacked
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.models.build import build
from resolvent.models.registry import settings_class
from resolvent.planning.configuration.settings import given_by_data
from resolvent.training.check_model import check_output, findings
from resolvent.training.errors import TrainingError
from resolvent.training.operations import forward_operations
from resolvent.training.tensors import coordinate_tensor, function_tensor

SAMPLES = 3  # for each grid


def check_for_dataset(
    architecture: str, stated: list[str], dataset: DatasetSettings, sizes: Mapping[str, float]
) -> tuple[list[str], str]:
    """Return findings about a model and a line with its cost, on the first three grids of a dataset.

    stated  settings of the model, "width=32".
    sizes   root mean square of the input functions by array, "n512/vorticity".
    Raises `ResolventError` if the settings or the dimension do not fit, or the model cannot be trained.
    """
    if wrong := [word for word in stated if not word.partition("=")[2]]:
        raise ResolventError(f"'{wrong[0]}' is no setting; expected: name=value, such as width=32")
    try:
        known = settings_class(architecture)
        if known.dimension != dataset.dimension:
            raise ResolventError(
                f"{architecture} takes functions of {known.dimension} variable(s), and the task has "
                f"{dataset.dimension}: choose another task"
            )
        grids = sorted(dataset.resolutions, key=dataset.num_points)[: 1 if known.one_grid else 3]
        settings = given_by_data(architecture, grids[0], dataset) | dict(map(_setting, stated))
        samples = {group_name(grid): _samples(dataset, grid, sizes) for grid in grids}
        lines, cost = _on_grids(architecture, settings, samples)
        first = samples[group_name(grids[0])]
        u, x = function_tensor(first.inputs, first.grid), coordinate_tensor(first.grid)
        return [*findings(build(architecture, settings, seed=0), u, x), *lines], cost
    except ValueError as error:
        raise ResolventError(" ".join(str(error).split())) from None


def _on_grids(architecture: str, settings: dict, samples: Mapping[str, Samples]) -> tuple[list[str], str]:
    """Return a line for each grid that a model does not accept, and its cost; it must accept the first."""
    operator = build(architecture, settings, seed=0)
    lines: list[str] = []
    operations: dict[int, int] = {}
    costs: list[str] = []
    for name, functions in samples.items():
        try:
            check_output(operator, functions, architecture)
        except TrainingError as error:
            if not costs:
                raise
            fault = str(error).removeprefix(f"model {architecture}: ")
            lines.append(f"on {name}, {fault}; accept every grid of the test, or set `one_grid`")
            continue
        u, x = function_tensor(functions.inputs[:1], functions.grid), coordinate_tensor(functions.grid)
        operations[functions.grid.size] = count = forward_operations(operator, u, x)
        with torch.no_grad():
            seconds = min(timeit.repeat(partial(operator, u, x), number=1, repeat=5))
        costs.append(f"{count:.2g} operations, {1e3 * seconds:.2g} ms on {name}")
    cost = f"cost of a sample: {'; '.join(costs)}"
    (few, least), (many, most) = min(operations.items()), max(operations.items())
    if least and many > few:
        exponent = math.log(most / least) / math.log(many / few)
        cost += f"; operations grow like points^{exponent:.1f}"
    return lines, cost


def _setting(stated: str) -> tuple[str, Any]:
    """Return name and value of "name=value"; the value is JSON, such as 32 or [8, 4], or else text."""
    name, _, value = stated.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _samples(dataset: DatasetSettings, resolution: int | str, sizes: Mapping[str, float]) -> Samples:
    """Return input functions of a dataset, or noise of their size if only the solver has them; no targets."""
    split = FreshSplit.of(dataset, resolution, "train", SAMPLES)
    if split.task.drawn_inputs(split.task.draw_first(1)) is not None:
        return split.unlabelled()
    random, shapes = np.random.default_rng(0), split.task.layout.arrays
    names = [f"{split.group}/{name}" for name in split.task.inputs]
    noise = {name: sizes[name] * random.standard_normal((SAMPLES, *shapes[name])) for name in names}
    channels = (dataset.out_channels,) if dataset.out_channels > 1 else ()
    targets = np.full((SAMPLES, *channels, *split.target_grid.shape), np.nan)
    return Samples(split.grid, stacked(noise, split.grid), targets, target_grid=split.target_grid)
