"""Measured cases: operators of both papers at their widths, ours and with the public codes' arithmetic.

    python -m benchmarks.steps.cases '[{"case": {...}, "rounds": 0, "device": "cpu"}]'

prints a list of `Cost` as JSON: the cost of a training step of each case, in a separate process.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import torch

from benchmarks.steps.plain import PlainPatchedNeuralOperator, PlainTransformerNeuralOperator
from resolvent.measurements import step_cost
from resolvent.measurements.step_cost import ENCODER_ONLY, Cost, Learner, answer, in_new_processes, measured
from resolvent.models.build import build
from resolvent.models.registry import settings_class

# For Cao's transformers and their public code. Projections have the size of y, so differences between the
# attentions are visible in the outputs.
AS_PUBLIC_CODE = {"public_code_scaling": True, "projection_gain": 1.0, "projection_diagonal": 0.0}
PLAIN = {
    "tno1d": PlainTransformerNeuralOperator,
    "tno2d": PlainTransformerNeuralOperator,
    "vit_no": PlainPatchedNeuralOperator,
    "fano": PlainPatchedNeuralOperator,
}
# Channels of the Lorenz problem: from x, y(0) and z(0) to y and z.
CHANNELS = {"tno1d": {"in_channels": 3, "initial_channels": 2, "out_channels": 2}}
FEW_MODES = {"modes": 2, "smoother_modes": 8}
# Points and settings of a small first step, which allocates the libraries' own memory.
WARM_UP: dict[str, tuple[int, dict]] = {
    "transformer1d": (64, {}),
    "transformer2d": (49, {}),
    "encoder": (64, {}),
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

    `architecture` may also be "encoder": four layers of width 128 with one head on points in the plane, as
    profiled in the public code for Table 1 of Cao (2021). `points` is the number of points, per side in two
    dimensions; `settings` are further settings of the architecture. A `peer` has the same weights with the
    arithmetic of the papers' public code.
    """

    architecture: str
    points: int
    batch: int
    settings: dict
    peer: bool = False
    compiled: bool = False

    @property
    def name(self) -> str:
        """Name of the architecture with its relevant settings."""
        said = {**self.settings}
        if said.get("attention") != "fourier":  # only "fourier" has an order of products
            said.pop("contraction", None)
        hidden = ("patches", "points", *AS_PUBLIC_CODE)
        words = [
            value if key == "attention" else f"{value} order" if key == "contraction" else f"{key} {value}"
            for key, value in said.items()
            if key not in hidden
        ]
        return ", ".join([f"`{self.architecture}`", *words])

    @property
    def grid(self) -> str:
        """Grid as shown in tables."""
        line = self.architecture in ("transformer1d", "tno1d", "encoder")
        return f"{self.points:,}" if line else f"{self.points}²"


def learner(case: Case, device: torch.device) -> Learner:
    """Return the operator of a case, with weights and data that depend only on its sizes."""
    if case.architecture == "encoder":
        module, x = step_cost.encoder(case.settings, case.points)
        channels = dict.fromkeys(("in_channels", "out_channels"), ENCODER_ONLY["width"])
    else:
        known, channels = settings_class(case.architecture), CHANNELS.get(case.architecture, {})
        rates = {name: 0.0 for name in ("residual_dropout", "dropout") if name in known.model_fields}
        module = build(case.architecture, {**channels, **rates, **case.settings}, seed=0)
        periodic = case.architecture == "transformer1d"
        axis = torch.arange(case.points) / (case.points - (not periodic))
        x = torch.stack(torch.meshgrid(*[axis] * known.dimension, indexing="ij"), dim=-1)
    generator = torch.Generator().manual_seed(0)
    u, target = (
        torch.randn(case.batch, *x.shape[:-1], channels.get(name, 1), generator=generator).to(device)
        for name in ("in_channels", "out_channels")
    )
    x = x.to(device)
    if case.peer and case.architecture in PLAIN:
        module = PLAIN[case.architecture](module)
    elif case.peer:
        from benchmarks.steps import public_code  # needs the extra `bench`

        attention = case.settings["attention"]
        network, predict = public_code.peer(case.architecture, module, attention, x, case.batch)
        network = _prepared(network, case, device)
        return Learner(network, lambda u: predict(network, u), u, target)
    operator = _prepared(module, case, device)
    return Learner(operator, lambda u: operator(u, x), u, target)


def _prepared(module: torch.nn.Module, case: Case, device: torch.device) -> torch.nn.Module:
    module = module.to(device).train()
    return torch.compile(module, dynamic=False) if case.compiled else module


def cost(case: Case, *, rounds: int = 0, device: str = "cpu") -> Cost:
    """Measure the cost of a case in a new process with one thread; with `rounds` = 0 only the peak memory.

    Raises `RuntimeError` with the process's error output if it fails, for example for lack of memory.
    """
    request = {"case": asdict(case), "rounds": rounds, "device": device}
    (answered,) = in_new_processes("benchmarks.steps.cases", [request])
    return Cost(**answered)


def _measure(request: dict, device: torch.device) -> Cost:
    case = Case(**request["case"])
    few, settings = WARM_UP[case.architecture]
    small = replace(case, settings={**case.settings, **settings})

    def of_size(points: int, batch: int) -> Learner:
        return learner(replace(small if points == few else case, points=points, batch=batch), device)

    return measured(of_size, case.points, case.batch, request["rounds"], device, few)


if __name__ == "__main__":
    answer(_measure)
