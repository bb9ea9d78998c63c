"""Parameters and operations of the architectures of Calvello et al. 2024, counted and from formulas.

For Tables 2, 4 and 5 of the paper (arXiv:2406.06486). No dataset is needed. Operations are counted in a
forward pass on tensors with shapes but no values, so the paper's sizes fit on a laptop.
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

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
COLUMNS = [
    "model", "architecture", "width", "points", "parameters", "parameters_complex_once", "forward_flop",
    "seconds", "formula_parameters", "formula_products", "formula_transforms",
]  # fmt: skip


def architecture_costs(gpus: int, **settings) -> pandas.DataFrame:
    """Return one row per architecture, width and grid; `settings` are keys of `ArchitectureCostSettings`.

    Timings run on CUDA if `gpus` > 0, else on one CPU thread. `points` is the number of points per side;
    `forward_flop` and `seconds` are of a forward pass for one sample, timed if it has at most `timed_flop`
    operations. `parameters` counts a complex parameter twice. Formulas are empty if the paper has none.
    Scalar settings and the `device` of the timings are the same in all rows.
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
    """Return numbers of parameters, with complex ones counted once and twice, and operations per sample.

    The grid has points x points points. No values are computed.
    """
    with torch.device("meta"):
        operator = build(architecture, settings, seed=0)
        flop = forward_operations(operator, *_function(points, torch.device("meta")))
    return *parameter_counts(operator), flop


def forward_seconds(
    architecture: str, settings: dict, points: int, rounds: int, device: torch.device
) -> float:
    """Return the median time of a forward pass for one sample, after an untimed pass."""
    operator = build(architecture, settings, seed=0).to(device).eval()
    u, x = _function(points, device)
    with torch.no_grad():
        operator(u, x)
        return median(seconds(lambda: operator(u, x), device) for _ in range(rounds))


def _function(points: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return a constant function on the square and its grid points."""
    axis = torch.linspace(0, 1, points, device=device)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    return torch.ones(1, points, points, 1, device=device), grid
