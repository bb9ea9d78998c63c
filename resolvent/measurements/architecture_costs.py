"""Parameters and operations of the architectures of Calvello et al. 2024, counted and by its formulas.

For Tables 2, 4 and 5 of the paper (arXiv:2406.06486). No dataset is needed, and counting computes nothing: a
forward pass runs on tensors that have shapes and no numbers, so that the paper's sizes fit on a laptop.
"""

from __future__ import annotations

from statistics import median

import pandas
import torch
from torch import Tensor

from resolvent.common.progress import progress_bar
from resolvent.measurements.architecture_formulas import MEASURED, cases
from resolvent.measurements.settings import ArchitectureCostSettings
from resolvent.measurements.step_cost import seconds
from resolvent.models.build import build, parameter_counts
from resolvent.training.devices import choose_device, device_name
from resolvent.training.operations import forward_operations

COLUMNS = [
    "model", "architecture", "width", "points", "parameters", "parameters_complex_once", "forward_flop",
    "seconds", "formula_parameters", "formula_products", "formula_transforms",
]  # fmt: skip


def architecture_costs(gpus: int, **settings) -> pandas.DataFrame:
    """Return a row for each architecture, width and grid; `settings` are `ArchitectureCostSettings`'.

    Timings are on CUDA if there is a GPU among `gpus`, else on one CPU thread.

    `points` are those of a side, `forward_flop` of one sample, `seconds` of that pass, where it has at most
    `timed_flop` operations. In `parameters` a complex one is counted twice. Formulas are empty where the
    paper has none. The same in every row are the settings that are no list, and the `device` of the timings.
    """
    checked = ArchitectureCostSettings.model_validate(settings)
    device, rows = choose_device(gpus), []
    torch.set_num_threads(1)
    counted = list(cases(checked))
    with progress_bar(len(counted), "architectures", "cases") as bar:
        for name, width, points in counted:
            architecture, case = MEASURED[name].architecture, MEASURED[name].case(checked, width, points)
            once, twice, flop = counted_costs(architecture, case.settings, points)
            taken = None
            if flop <= checked.timed_flop:
                taken = forward_seconds(architecture, case.settings, points, checked.rounds, device)
            formulas = (case.parameters, case.products, case.transforms)
            rows.append((name, architecture, width, points, twice, once, flop, taken, *formulas))
            bar.update()
    common = checked.model_dump(exclude={"points", "widths"}) | {"device": device_name(device)}
    return pandas.DataFrame(rows, columns=COLUMNS).assign(**common)


def counted_costs(architecture: str, settings: dict, points: int) -> tuple[int, int, int]:
    """Return parameters with a complex one once and twice, and operations of a sample on points x points.

    Nothing is computed.
    """
    with torch.device("meta"):
        operator = build(architecture, settings, seed=0)
        flop = forward_operations(operator, *_function(points, torch.device("meta")))
    return *parameter_counts(operator), flop


def forward_seconds(
    architecture: str, settings: dict, points: int, rounds: int, device: torch.device
) -> float:
    """Return the median time of an output for one sample, after one that is not timed."""
    operator = build(architecture, settings, seed=0).to(device).eval()
    u, x = _function(points, device)
    with torch.no_grad():
        operator(u, x)
        return median(seconds(lambda: operator(u, x), device) for _ in range(rounds))


def _function(points: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return a constant on the square, and the points of its grid."""
    axis = torch.linspace(0, 1, points, device=device)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    return torch.ones(1, points, points, 1, device=device), grid
