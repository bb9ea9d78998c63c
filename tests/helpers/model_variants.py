"""Every registered architecture, in every variant the papers have; and what is known of each."""

import torch

from resolvent.models.registry import settings_class

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
    ("cross_attention2d_coarse", {}),
    ("codomain_attention2d", {}),
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
# Of other works, without variants.
VARIANTS += [(f"{name}{dim}d", {}) for name in ("deeponet", "unet", "transolver") for dim in (1, 2)]
NAMES = ["-".join([architecture, *map(str, settings.values())]) for architecture, settings in VARIANTS]

# Few parameters, several heads and channels: what the tests of properties, not of counts, build.
SMALL_ENCODER = {"width": 16, "num_layers": 2, "num_heads": 2, "feedforward_width": 24}
SMALL_DEEPONET = {"width": 16, "num_layers": 3, "basis": 12}
SMALL_TRANSOLVER = {**SMALL_ENCODER, "slices": 6}
SMALL = {
    "deeponet1d": {**SMALL_DEEPONET, "sensors": 20},  # beside the points of every grid
    "deeponet2d": {**SMALL_DEEPONET, "sensors": 6, "boundary": "periodic"},
    "unet1d": {"width": 8, "num_levels": 3},
    "unet2d": {"width": 8, "num_levels": 3},
    "transolver1d": SMALL_TRANSOLVER,
    "transolver2d": SMALL_TRANSOLVER,
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
    "cross_attention2d_coarse": {**SMALL_ENCODER, "downsampling_factor": 0.7},
    "codomain_attention2d": {
        "width": 8,
        "num_layers": 2,
        "features": 3,
        "modes": 4,
        "feedforward_width": 12,
    },
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
    return settings_class(architecture).dimension


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


# What is counted for the prediction of cost: architecture, settings, points along each axis.
COUNTED = [
    ("fno1d", {}, 512),
    ("fno2d", {}, 43),
    ("transformer1d", {"attention": "galerkin"}, 512),
    ("transformer1d", {"attention": "softmax"}, 512),
    ("transformer1d", {"attention": "none"}, 128),
    ("transformer2d", {"attention": "softmax", "downsampling_factor": 0.7}, 43),
    ("transformer2d_coarse", {"attention": "galerkin", "downsampling_factor": 0.6}, 43),
    ("tno1d", {}, 200),
    ("tno2d", {}, 24),
    ("cross_attention2d_coarse", {"downsampling_factor": 0.6}, 43),
    ("codomain_attention2d", {}, 32),
    ("galerkin_encoder2d", {}, 32),
    ("universal_approximator1d", {}, 64),
    ("universal_approximator2d", {}, 8),
    ("neuraloperator1d", {}, 128),
    ("neuraloperator2d", {}, 32),
    ("vit_no", {"patches": 4, "smoother_modes": 8}, 32),
    ("fano", {"patches": 4, "smoother_modes": 8, "modes": 4}, 32),
    ("afno", {"points": 32}, 32),
    ("deeponet1d", {}, 512),
    ("deeponet2d", {}, 43),
    ("unet1d", {}, 128),
    ("unet2d", {}, 32),
    ("transolver1d", {}, 256),
    ("transolver2d", {}, 24),
]


MODES_1D = (13, "8 modes need at least 14 points; got n=13")
MODES_2D = (7, "4 modes need at least 8 x 6 points; got 7 x 5")
ONE_NODE = "the trapezoidal rule needs at least 2 nodes along an axis; got 1"
TOO_FEW = {
    "fno1d": MODES_1D,
    "fno2d": MODES_2D,
    "transformer1d": MODES_1D,
    "transformer2d": MODES_2D,
    "transformer2d_coarse": (3, "downsampling_factor 0.7 leaves 1 of 3 points a side; at least 2 needed"),
    "cross_attention2d_coarse": (3, "downsampling_factor 0.7 leaves 1 of 3 points a side; at least 2 needed"),
    "codomain_attention2d": MODES_2D,
    "tno1d": (1, ONE_NODE),
    "tno2d": (3, ONE_NODE),
    "universal_approximator1d": (1, ONE_NODE),
    "universal_approximator2d": (3, ONE_NODE),
    "neuraloperator1d": (7, "8 modes need at least 8 points along an axis; got 7"),
    "neuraloperator2d": (9, "8 modes need at least 8 points along an axis; got 9 x 7"),
    "vit_no": (7, "2 x 2 patches need sides that 2 divides, such as 8 x 4; got 7 x 5"),
    "fano": (7, "2 x 2 patches need sides that 2 divides, such as 8 x 4; got 7 x 5"),
    "afno": (7, "the table of positions is for 12 x 12 points (setting points); got 7 x 7"),
    "unet1d": (7, "3 levels need at least 8 points along an axis; got 7"),
    "unet2d": (9, "3 levels need at least 8 points along an axis; got 9 x 7"),
}
ANY_NUMBER = {"galerkin_encoder2d", "deeponet1d", "deeponet2d", "transolver1d", "transolver2d"}


def fno_count(s, dim):
    spectral_layer = s.width**2 + s.width + 2 * (2 * s.modes) ** (dim - 1) * s.modes * s.width**2
    lifting = (s.in_channels + dim) * s.width + s.width
    projection = (s.width + 1) * s.projection_width + (s.projection_width + 1) * s.out_channels
    return lifting + s.num_layers * spectral_layer + projection


def encoder_count(s, dim):
    d, f = s.width, s.feedforward_width
    layer = 2 * d * f + f + d
    if s.attention != "none":
        layer += 3 * (d**2 + d) + (d + s.num_heads * dim) * d + d + 4 * d
    elif s.layer_norm == "regular":
        layer += 2 * d
    return s.num_layers * layer


def transformer1d_count(s):
    d, c = s.width, s.decoder_width
    spectral = sum(a * c + c + 2 * s.modes * a * c for a in [d] + [c] * (s.decoder_layers - 1))
    lifting = (s.in_channels + s.input_coordinates) * d + d
    return lifting + encoder_count(s, 1) + spectral + (c + 1) * c + (c + 1) * s.out_channels


def coarse_count(s):
    """Samplers, encoder and the map that takes the coordinates in."""
    d, third = s.width, s.width // 3
    downsampler = 9 * (s.in_channels * d + d * third + third**2 + third * (d - 2 * third))
    return downsampler + encoder_count(s, 2) + 9 * d**2 + (d + 3) * s.decoder_width


def transformer2d_count(s):
    c, p = s.decoder_width, s.projection_width
    spectral = s.decoder_layers * (c**2 + c + 4 * s.modes**2 * c**2)
    return coarse_count(s) + spectral + (c + 1) * p + (p + 1) * s.out_channels


def transformer2d_coarse_count(s):
    c = s.decoder_width
    return coarse_count(s) + s.decoder_layers * (c**2 + c) + (c + 1) * s.out_channels


def patched_count(s, lifting, projections):
    """Lifting, encoder with these maps to Q, K, V, affine to the output, and the smoother."""
    d, f = s.width, s.feedforward_width
    layer = projections + d**2 + d + 2 * d * f + f + d + 4 * d
    smoother = 4 * s.smoother_modes**2 * s.out_channels**2 if s.smoother == "learned" else 0
    return lifting + s.num_layers * layer + (d + 1) * s.out_channels + smoother


def vit_no_count(s):
    d = s.width
    return patched_count(s, 4 * s.modes**2 * (s.in_channels + 2) * d, 3 * (d**2 + d))


def fano_count(s):
    d = s.width
    return patched_count(s, (s.in_channels + 3) * d, 4 * s.modes**2 * 3 * d**2)


def afno_count(s):
    d, f = s.width, s.feedforward_width
    layer = 4 * d + 4 * (d**2 // s.num_blocks + d) + 2 * d * f + f + d
    return (s.in_channels + 3) * d + s.points**2 * d + s.num_layers * layer + d * s.out_channels


def tno_count(s, dim):
    d, f = s.width, s.feedforward_width
    layer = 4 * (d**2 + d) + 2 * d * f + f + d + 4 * d
    return (s.in_channels + dim + 1) * d + s.num_layers * layer + (d + 1) * s.out_channels


def cross_attention_count(s):
    d, f = s.width, s.feedforward_width
    layer = 4 * (d**2 + d) + 2 * d * f + f + d + 4 * d
    lifting = (s.in_channels + 3) * f + (f + 1) * d
    return lifting + 3 * d + s.num_layers * layer + (d + 1) * s.out_channels


def codomain_attention_count(s):
    d, f = s.width, s.feedforward_width
    layer = 4 * s.modes**2 * (2 * s.features + 1) + 2 * d * f + f + d + 4 * d
    return (s.in_channels + 3) * d + s.num_layers * layer + (d + 1) * s.out_channels


def galerkin_encoder_count(s):
    return (s.in_channels + 3) * s.width + encoder_count(s, 2) + (s.width + 1) * s.out_channels


def universal_approximator_count(s, dim):
    d, f = s.width, s.feedforward_width
    networks = [(s.in_channels + dim, d), (d, d), (d + dim, s.out_channels)]
    return 5 * d**2 + sum((a + 1) * f + (f + 1) * b for a, b in networks)


def neuraloperator_count(s, dim):
    """Count FNO's parameters; inside, lifting and projection are twice as wide, channel networks half."""
    d = s.width
    lifting = (s.in_channels + dim + 1) * 2 * d + (2 * d + 1) * d
    spectral = 2 * d**2 * s.modes ** (dim - 1) * (s.modes // 2 + 1) + d + d**2
    channel_network = (d + 1) * (d // 2) + (d // 2 + 1) * d + d
    projection = (d + 1) * 2 * d + (2 * d + 1) * s.out_channels
    return lifting + s.num_layers * (spectral + channel_network) + projection


def deeponet_count(s, dim):
    d, functions = s.width, s.basis * s.out_channels
    inside = (s.num_layers - 2) * (d**2 + d) + (d + 1) * functions
    return (s.in_channels * s.sensors**dim + 1) * d + (dim + 1) * d + 2 * inside + s.out_channels


def unet_count(s, dim):
    def block(given, gained):
        return 3**dim * (given + gained) * gained + 6 * gained

    widths = [s.width * 2**level for level in range(s.num_levels + 1)]
    down = sum(block(w // 2, w) for w in widths[1:]) + block(s.in_channels, s.width)
    up = sum(2**dim * 2 * w * w + w + block(2 * w, w) for w in widths[:-1])
    return down + up + (s.width + 1) * s.out_channels


def transolver_count(s, dim):
    d, f, features = s.width, s.feedforward_width, s.width // s.num_heads
    attention = 3 * (d**2 + d) + (features + 1) * s.slices + 3 * features**2 + s.num_heads
    layer = attention + 4 * d + 2 * d * f + f + d
    lifting = (s.in_channels + dim + 1) * 2 * d + (2 * d + 1) * d
    return lifting + s.num_layers * layer + 2 * d + (d + 1) * s.out_channels


FORMULAS = {
    "deeponet1d": lambda s: deeponet_count(s, 1),
    "deeponet2d": lambda s: deeponet_count(s, 2),
    "unet1d": lambda s: unet_count(s, 1),
    "unet2d": lambda s: unet_count(s, 2),
    "transolver1d": lambda s: transolver_count(s, 1),
    "transolver2d": lambda s: transolver_count(s, 2),
    "fno1d": lambda s: fno_count(s, 1),
    "fno2d": lambda s: fno_count(s, 2),
    "transformer1d": transformer1d_count,
    "transformer2d": transformer2d_count,
    "transformer2d_coarse": transformer2d_coarse_count,
    "tno1d": lambda s: tno_count(s, 1),
    "tno2d": lambda s: tno_count(s, 2),
    "cross_attention2d_coarse": cross_attention_count,
    "codomain_attention2d": codomain_attention_count,
    "galerkin_encoder2d": galerkin_encoder_count,
    "universal_approximator1d": lambda s: universal_approximator_count(s, 1),
    "universal_approximator2d": lambda s: universal_approximator_count(s, 2),
    "neuraloperator1d": lambda s: neuraloperator_count(s, 1),
    "neuraloperator2d": lambda s: neuraloperator_count(s, 2),
    "vit_no": vit_no_count,
    "fano": fano_count,
    "afno": afno_count,
}
# Cao 2021, table 5: 550k, 2.37m, 530k, 2.22m, 2.38m, whatever the attention and the norm. Calvello et al.
# 2024, table 1: 5.98e5, 6.04e5 and, a complex parameter counted once, 5.70e6.
PAPER = {
    "fno1d": 549_569,
    "fno2d": 2_368_001,
    "transformer1d": 530_305,
    "transformer2d": 2_220_829,
    "transformer2d_coarse": 2_383_873,
    "tno2d": 598_145,
    "galerkin_encoder2d": 604_289,
    "neuraloperator2d": 5_705_089,
    # At width 128, with the learned smoother.
    "vit_no": 716_417,
    "fano": 48_084_865,
    "afno": 1_088_640,
}
SMOOTHER = 2 * 64**2  # complex weights
COMPLEX_ONCE = {"neuraloperator2d", "vit_no", "fano"}
NO_PAPER = {
    "tno1d",
    "cross_attention2d_coarse",
    "codomain_attention2d",
    "universal_approximator1d",
    "universal_approximator2d",
    "neuraloperator1d",
    *(f"{name}{dim}d" for name in ("deeponet", "unet", "transolver") for dim in (1, 2)),
}
