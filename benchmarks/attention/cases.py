"""What is measured: the transformers of Calvello et al. 2024, ours and as the paper prints them.

    python -m benchmarks.attention.cases '[{"case": {...}, "rounds": 0, "device": "cpu"}]'

prints the peak memory of a training step of each as JSON, measured in a process of its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor

from benchmarks.attention.plain import PlainPatchedNeuralOperator, PlainTransformerNeuralOperator
from resolvent.measurements.step_cost import Cost, Learner, answer, in_new_processes, measured
from resolvent.models.build import build
from resolvent.models.registry import settings_class

# Channels of the Lorenz problem: x, y(0) and z(0) to y and z.
CHANNELS = {"tno1d": {"in_channels": 3, "initial_channels": 2, "out_channels": 2}}
FEW_MODES = {"modes": 2, "smoother_modes": 8}
# Of a small step before, which fills what libraries keep for themselves: points, and settings for so few.
WARM_UP = {
    "tno1d": (16, {}),
    "tno2d": (8, {}),
    "galerkin_encoder2d": (16, {}),
    "neuraloperator2d": (64, {}),
    "afno": (64, {"points": 64}),
    "vit_no": (52, FEW_MODES),
    "fano": (52, FEW_MODES),
}


@dataclass(frozen=True)
class Case:
    """An operator at the paper's width with dropout off, and its input.

    `points` are those of a sample, or of a side in two dimensions; `settings` more of the architecture's.
    """

    architecture: str
    points: int
    batch: int
    settings: dict
    plain: bool = False


def learner(case: Case, device: torch.device) -> Learner:
    """The operator of a case, with weights and data that depend on its sizes alone."""
    known = settings_class(case.architecture).model_fields
    rates = {name: 0.0 for name in ("residual_dropout", "dropout") if name in known}
    channels = CHANNELS.get(case.architecture, {})
    operator = build(case.architecture, {**channels, **rates, **case.settings}, seed=0)
    if case.plain:
        patched = case.architecture in ("vit_no", "fano")
        operator = (PlainPatchedNeuralOperator if patched else PlainTransformerNeuralOperator)(operator)
    operator = operator.to(device).train()
    u, x, target = (values.to(device) for values in _data(case, channels))
    return Learner(operator, lambda u: operator(u, x), u, target)


def _data(case: Case, channels: dict) -> tuple[Tensor, Tensor, Tensor]:
    dimension = settings_class(case.architecture).dimension
    axis = torch.linspace(0, 1, case.points)
    x = torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
    generator = torch.Generator().manual_seed(0)
    u, target = (
        torch.randn(case.batch, *x.shape[:-1], channels.get(name, 1), generator=generator)
        for name in ("in_channels", "out_channels")
    )
    return u, x, target


def peak_bytes(case: Case, device: str = "cpu") -> int:
    """Memory of a training step beyond weights and data, in a new process with one thread.

    Raises `RuntimeError` with the process's message where it fails, such as for want of memory.
    """
    request = {"case": asdict(case), "rounds": 0, "device": device}
    (answered,) = in_new_processes("benchmarks.attention.cases", [request])
    return Cost(**answered).peak_bytes


def _measure(request: dict, device: torch.device) -> Cost:
    case = Case(**request["case"])
    few, settings = WARM_UP[case.architecture]
    small = replace(case, settings={**case.settings, **settings})
    return measured(
        lambda points, batch: learner(
            replace(small if points == few else case, points=points, batch=batch), device
        ),
        case.points,
        case.batch,
        request["rounds"],
        device,
        few,
    )


if __name__ == "__main__":
    answer(_measure)
