"""Every registered architecture, small, in the variants that are tested; grids and functions for them."""

from itertools import product

import pytest
import torch

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class

ATTENTIONS = ("galerkin", "fourier", "softmax", "linear")
LAYER_NORMS = ("projection", "regular")

# Few parameters, several heads and channels.
SMALL = {architecture: settings_class(architecture).example for architecture in ARCHITECTURES}
# One architecture of each module: the others differ from it in layers that a module of these also has.
_BY_MODULE = {settings_class(name).operator.partition(":")[0]: name for name in ARCHITECTURES}
OF_EACH_MODULE = list(_BY_MODULE.values())
# Of these, one of each way to mix points; the others are `slow`.
_FAMILIES = ("fno3d", "transformer1d", "tno2d", "fano", "unet2d", "deeponet2d", "transolver2d")
OF_EACH_FAMILY = [
    name if name in _FAMILIES else pytest.param(name, marks=pytest.mark.slow) for name in OF_EACH_MODULE
]
VARIANTS = [(name, changes) for name in ARCHITECTURES for changes in settings_class(name).variants.values()]
# Of one encoder every attention with either norm; around the others is little else than this encoder.
VARIANTS += [
    ("transformer1d", {"attention": attention, "layer_norm": norm})
    for attention, norm in product((*ATTENTIONS, "none"), LAYER_NORMS)
    if (attention, norm) != ("galerkin", "projection")
]
VARIANTS += [
    ("transformer2d", {"attention": "fourier", "layer_norm": "regular"}),
    ("transformer2d", {"attention": "none", "layer_norm": "projection"}),
    ("transformer2d_coarse", {"attention": "softmax", "layer_norm": "regular"}),
    ("transformer2d_coarse", {"attention": "none", "layer_norm": "regular"}),
    ("galerkin_encoder2d", {"layer_norm": "regular"}),
    ("vit_no", {"smoother": "none", "periodic_extension": True}),
    ("fano", {"smoother": "inverse_laplacian", "periodic_extension": True}),
]
NAMES = ["-".join([architecture, *map(str, settings.values())]) for architecture, settings in VARIANTS]
# The package rounds Fourier coefficients to single precision, whatever the functions are in.
SINGLE_PRECISION = {"neuraloperator1d", "neuraloperator2d"}


def dimension(architecture: str) -> int:
    return settings_class(architecture).dimension


def refused(call, *arguments) -> str:
    """The message with which a call refuses its arguments; none where it takes them."""
    try:
        call(*arguments)
    except ValueError as error:
        return str(error)
    return ""


def sides(architecture: str) -> tuple[int, ...]:
    """Points along the first axis that `architecture`, as small as in `SMALL`, can take."""
    settings = resolve(architecture, SMALL[architecture])
    if settings.one_grid:
        return (settings.points,)
    some = {1: (32, 17, 45, 128), 2: (18, 17, 32, 45), 3: (14, 11, 16)}[settings.dimension]
    return tuple(
        n for n in some if not refused(settings.check_grid, tuple(points(architecture, n).shape[:-1]))
    )


def grid(n: int, dtype: torch.dtype = torch.float32, dim: int = 1) -> torch.Tensor:
    """Periodic grid on [0, 1)^dim: shape (n, 1) or (n, n, 2)."""
    axis = torch.arange(n, dtype=dtype) / n
    return torch.stack(torch.meshgrid(*[axis] * dim, indexing="ij"), dim=-1)


def points(architecture: str, n: int | None = None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A grid for `architecture`; but on a line a rectangle, so that no two axes can be confused."""
    known = settings_class(architecture)
    x = grid(n or sides(architecture)[0], dtype, known.dimension)
    return x if known.dimension == 1 or known.one_grid else x[:, :-2]


def band_limited(x: torch.Tensor, batch: int, channels: int, seed: int = 0) -> torch.Tensor:
    """The same random functions with four Fourier modes on any grid: shape (batch, *grid, channels)."""
    generator = torch.Generator().manual_seed(seed)
    dim = x.shape[-1]
    waves = {1: [[0], [1], [2], [3]], 2: [[0, 0], [1, 0], [1, 2], [-2, 1]]}.get(
        dim, [[0, 0, 0], [1, 0, 1], [1, 2, 0], [-2, 1, 1]]
    )
    shape = (2, batch, *[1] * dim, channels, 4)
    amplitudes = torch.randn(shape, generator=generator, dtype=torch.float64)
    phases = 2 * torch.pi * (x.double() @ torch.tensor(waves, dtype=torch.float64).T)[..., None, :]
    values = (amplitudes[0] * torch.cos(phases) + amplitudes[1] * torch.sin(phases)).sum(-1)
    return values.to(x.dtype)


def scrambled(architecture: str, strength: float = 0.1, **settings) -> torch.nn.Module:
    """A small operator in double precision, for evaluation, off the initial weights, with which attention
    is a small perturbation."""
    operator = build(architecture, SMALL[architecture] | settings, seed=0).double().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in operator.parameters():
        parameter.data += strength * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return operator


def relative_error(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()


def assert_dropout_on_a_branch(layer, silent: torch.nn.Linear, y: torch.Tensor, *places) -> None:
    """Silence the other branch, without norms of the sums: y + 2Z where it is kept and y where it is not."""
    layer.attention_norm = layer.feedforward_norm = torch.nn.Identity()
    torch.nn.init.zeros_(silent.weight)
    torch.nn.init.zeros_(silent.bias)
    torch.manual_seed(0)
    with torch.no_grad():
        z = layer.eval()(y, *places) - y
        dropped = layer.train()(y, *places) - y
    kept = torch.isclose(dropped, 2 * z)
    assert torch.equal(kept, ~(dropped == 0))
    assert 0.4 < kept.double().mean() < 0.6
