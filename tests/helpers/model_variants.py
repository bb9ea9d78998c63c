"""Every registered architecture, in every variant the papers have, for the tests that all must pass."""

import torch

from resolvent.models.registry import ARCHITECTURES

ATTENTIONS = ("galerkin", "fourier", "softmax", "linear")
LAYER_NORMS = ("projection", "regular")

VARIANTS = [("fno1d", {}), ("fno2d", {})]
VARIANTS += [
    (architecture, {"attention": attention, "layer_norm": layer_norm})
    for architecture in ("transformer1d", "transformer2d")
    for attention in (*ATTENTIONS, "none")
    for layer_norm in LAYER_NORMS
]
# What differs from transformer2d is outside the attention.
VARIANTS += [
    ("transformer2d_coarse", {"attention": "galerkin", "layer_norm": "projection"}),
    ("transformer2d_coarse", {"attention": "softmax", "layer_norm": "regular"}),
    ("transformer2d_coarse", {"attention": "none", "layer_norm": "regular"}),
]
VARIANTS += [
    ("tno1d", {"quadrature": "trapezoid"}),
    ("tno1d", {"quadrature": "none"}),
    ("tno2d", {"quadrature": "trapezoid"}),
    ("galerkin_encoder2d", {"attention": "fourier", "layer_norm": "projection"}),
    ("galerkin_encoder2d", {"attention": "fourier", "layer_norm": "regular"}),
    ("universal_approximator1d", {}),
    ("universal_approximator2d", {}),
    ("neuraloperator1d", {"model": "FNO"}),
    ("neuraloperator1d", {"model": "UNO"}),
]
VARIANTS += [("neuraloperator2d", {"model": model}) for model in ("FNO", "TFNO", "UNO", "CODANO")]
# The patched transformers with every smoother and on patches extended or not.
VARIANTS += [
    ("vit_no", {"smoother": "learned", "periodic_extension": True}),
    ("vit_no", {"smoother": "none"}),
    ("fano", {"smoother": "learned"}),
    ("fano", {"smoother": "inverse_laplacian", "periodic_extension": True}),
    ("afno", {}),
]
NAMES = ["-".join([architecture, *map(str, settings.values())]) for architecture, settings in VARIANTS]

# Few parameters, several heads and channels: what the tests of properties, not of counts, build.
SMALL_ENCODER = {"width": 16, "num_layers": 2, "num_heads": 2, "feedforward_width": 24}
SMALL = {
    "fno1d": {"width": 16, "num_layers": 3, "modes": 8, "projection_width": 24},
    "fno2d": {"width": 8, "num_layers": 3, "modes": 4, "projection_width": 12},
    "transformer1d": {**SMALL_ENCODER, "decoder_width": 12, "modes": 8},
    "transformer2d": {
        **SMALL_ENCODER,
        "downsampling_factor": 0.7,
        "decoder_width": 8,
        "modes": 4,
        "projection_width": 12,
    },
    "transformer2d_coarse": {**SMALL_ENCODER, "downsampling_factor": 0.7, "decoder_width": 12},
    "tno1d": {**SMALL_ENCODER, "residual_dropout": 0.0},
    "tno2d": {**SMALL_ENCODER, "residual_dropout": 0.0},
    "galerkin_encoder2d": SMALL_ENCODER,
    "universal_approximator1d": {"width": 16, "feedforward_width": 24},
    "universal_approximator2d": {"width": 16, "feedforward_width": 24},
    "neuraloperator1d": {"width": 8, "modes": 8, "num_layers": 3},
    "neuraloperator2d": {"width": 8, "modes": 8, "num_layers": 3},
    "vit_no": {**SMALL_ENCODER, "patches": 2, "modes": 3, "dropout": 0.0, "smoother_modes": 4},
    "fano": {**SMALL_ENCODER, "patches": 2, "modes": 3, "dropout": 0.0, "smoother_modes": 4},
    "afno": {"points": 12, "width": 16, "num_layers": 2, "num_blocks": 2, "feedforward_width": 24},
}
# The package rounds Fourier coefficients to single precision, whatever the functions are in.
SINGLE_PRECISION = {"neuraloperator1d", "neuraloperator2d"}
# Points along the first axis, where not any number will do; the default comes first.
SIDES = {"vit_no": (16, 12, 20), "fano": (16, 12, 20), "afno": (12,)}


def dimension(architecture: str) -> int:
    return ARCHITECTURES[architecture].dimension


def sides(architecture: str) -> tuple[int, ...]:
    """Points along the first axis that `architecture`, as small as in `SMALL`, can take."""
    return SIDES.get(architecture, {1: (32, 17, 45, 128), 2: (18, 17, 32, 45)}[dimension(architecture)])


def grid(n: int, dtype: torch.dtype = torch.float32, dim: int = 1) -> torch.Tensor:
    """Periodic grid on [0, 1)^dim: shape (n, 1) or (n, n, 2)."""
    axis = torch.arange(n, dtype=dtype) / n
    return torch.stack(torch.meshgrid(*[axis] * dim, indexing="ij"), dim=-1)


def points(architecture: str, n: int | None = None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A grid for `architecture`; in two dimensions a rectangle, so that no two axes can be confused."""
    x = grid(n or sides(architecture)[0], dtype, dimension(architecture))
    # Its table of positions is square.
    return x if dimension(architecture) == 1 or architecture == "afno" else x[:, :-2]


def band_limited(x: torch.Tensor, batch: int, channels: int, seed: int = 0) -> torch.Tensor:
    """The same random functions with four Fourier modes on any grid: shape (batch, *grid, channels)."""
    generator = torch.Generator().manual_seed(seed)
    dim = x.shape[-1]
    waves = {1: [[0], [1], [2], [3]], 2: [[0, 0], [1, 0], [1, 2], [-2, 1]]}[dim]
    shape = (2, batch, *[1] * dim, channels, 4)
    amplitudes = torch.randn(shape, generator=generator, dtype=torch.float64)
    phases = 2 * torch.pi * (x.double() @ torch.tensor(waves, dtype=torch.float64).T)[..., None, :]
    values = (amplitudes[0] * torch.cos(phases) + amplitudes[1] * torch.sin(phases)).sum(-1)
    return values.to(x.dtype)


def relative_error(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()
