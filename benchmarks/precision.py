"""Measure errors of outputs and gradients of a training step in TF32 and bfloat16, on a CPU.

    python -m benchmarks.precision [--rounds 3] [--output docs/performance.md]

TF32 is emulated: operands of products and convolutions are rounded to a 10-bit mantissa, as in the tensor
cores of NVIDIA GPUs, and products are summed in float32. bfloat16 is torch's autocast. The reference is the
same step in float64.
"""

from __future__ import annotations

from argparse import Namespace
from contextlib import nullcontext
from statistics import median

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only
from tqdm import tqdm

from benchmarks.runner import Part, run, table
from resolvent.models.build import build
from resolvent.models.registry import settings_class
from resolvent.training.devices import forward_precision

CPU = torch.device("cpu")
BATCH = 2
CASES = [  # architecture, settings, points per axis: the papers' widths on coarse grids
    ("fno1d", {}, 512),
    ("fno2d", {}, 43),
    ("transformer1d", {"attention": "galerkin"}, 512),
    ("transformer1d", {"attention": "fourier"}, 512),
    ("transformer1d", {"attention": "softmax"}, 512),
    ("transformer2d", {"downsampling_factor": 0.7}, 43),
    ("tno1d", {"residual_dropout": 0.0}, 200),
    ("tno2d", {"residual_dropout": 0.0}, 24),
    ("neuraloperator2d", {}, 43),
    ("vit_no", {"patches": 4, "modes": 4, "smoother_modes": 8, "dropout": 0.0}, 32),
    ("fano", {"patches": 4, "modes": 4, "width": 64, "smoother_modes": 8, "dropout": 0.0}, 32),
    ("afno", {"points": 32}, 32),
]
PRODUCTS = {
    getattr(torch.ops.aten, name).default
    for name in ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward")
}
ERRORS = """\
Relative L² errors of outputs and gradients compared with the same step in float64, for initial weights,
random waves as inputs and batches of {batch}: medians of {rounds} seeds. TF32 is emulated by rounding the
operands of products and convolutions to 10 bits, as in tensor cores. The speed-up can only be measured on a
GPU."""
PRECISIONS = ("float32", "TF32", "bfloat16")
HEADER = ("architecture", "points", *(f"{of}, {one}" for of in ("output", "gradient") for one in PRECISIONS))


class RoundedProducts(TorchDispatchMode):
    """Round the float32 operands of products to TF32."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function in PRODUCTS:
            args = tree_map_only(Tensor, rounded_to_tf32, args)
        return function(*args, **(kwargs or {}))


def rounded_to_tf32(values: Tensor) -> Tensor:
    """Round to a 10-bit mantissa, ties away from zero."""
    if values.is_complex():
        return torch.view_as_complex(rounded_to_tf32(torch.view_as_real(values.resolve_conj())))
    if values.dtype != torch.float32:
        return values
    return ((values.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def errors(given: Namespace) -> str:
    rows = []
    for architecture, settings, points in tqdm(CASES, leave=False):
        found = []
        for seed in range(given.rounds):
            exact, *others = (
                outcome(architecture, settings, points, seed, one) for one in ("float64", *PRECISIONS)
            )
            found.append(
                [float((one[i] - exact[i]).norm() / exact[i].norm()) for i in (0, 1) for one in others]
            )
        middle = [f"{median(values):.0e}" for values in zip(*found, strict=True)]
        kind = f", {settings['attention']}" if "attention" in settings else ""
        side = str(points) if settings_class(architecture).dimension == 1 else f"{points}²"
        rows.append((f"`{architecture}`{kind}", side, *middle))
    return f"{ERRORS.format(batch=BATCH, rounds=given.rounds)}\n\n{table(HEADER, rows)}"


def outcome(
    architecture: str, settings: dict, points: int, seed: int, precision: str
) -> tuple[Tensor, Tensor]:
    """Return the output and the gradient of its mean square error, in double precision."""
    dtype = torch.float64 if precision == "float64" else torch.float32
    operator = build(architecture, settings, seed).to(dtype)
    dimension = settings_class(architecture).dimension
    axis = torch.arange(points, dtype=dtype) / points
    x = torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
    u, target = (waves(x, seed + shift).to(dtype) for shift in (0, 100))
    rounding = RoundedProducts() if precision == "TF32" else nullcontext()
    autocast = forward_precision(CPU, "bfloat16") if precision == "bfloat16" else nullcontext()
    # The products inside fused attention could not be rounded; the unfused kernel computes the same sums.
    with rounding, sdpa_kernel(SDPBackend.MATH):
        with autocast:
            v = operator(u, x)
        (v.to(dtype) - target).square().mean().backward()
    gradient = torch.cat([one.grad.double().flatten() for one in operator.parameters()])
    return v.detach().double(), gradient


def waves(x: Tensor, seed: int) -> Tensor:
    """Draw random functions with a few Fourier modes, (batch, ...grid, 1)."""
    generator = torch.Generator().manual_seed(seed)
    k = torch.randint(-3, 4, (x.shape[-1], 8), generator=generator)
    amplitude, phase = torch.randn(2, BATCH, *[1] * x.shape[-1], 8, generator=generator)
    angle = 2 * torch.pi * (x.double() @ k.double())
    return (amplitude * torch.cos(angle + phase)).sum(-1, keepdim=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    run("precision", {"errors": Part("Errors", errors, ("torch",))})
