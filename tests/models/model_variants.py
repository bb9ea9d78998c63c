"""Every registered architecture, in every variant the papers have, for the tests that all must pass."""

import torch

ATTENTIONS = ("galerkin", "fourier", "softmax", "linear")
LAYER_NORMS = ("projection", "regular")

VARIANTS = [("fno1d", {})] + [
    ("transformer1d", {"attention": attention, "layer_norm": layer_norm})
    for attention in ATTENTIONS
    for layer_norm in LAYER_NORMS
]
NAMES = ["-".join([architecture, *settings.values()]) for architecture, settings in VARIANTS]

# Few parameters, several heads and channels: what the tests of properties, not of counts, build.
SMALL = {
    "fno1d": {"width": 16, "num_layers": 3, "modes": 8, "projection_width": 24},
    "transformer1d": {
        "width": 16,
        "num_layers": 2,
        "num_heads": 2,
        "feedforward_width": 24,
        "decoder_width": 12,
        "modes": 8,
    },
}


def grid(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Periodic grid on [0, 1): shape (n, 1)."""
    return torch.arange(n, dtype=dtype)[:, None] / n


def band_limited(x: torch.Tensor, batch: int, channels: int, seed: int = 0) -> torch.Tensor:
    """The same random functions with four Fourier modes on any grid: shape (batch, n, channels)."""
    generator = torch.Generator().manual_seed(seed)
    amplitudes = torch.randn(2, batch, 1, channels, 4, generator=generator, dtype=torch.float64)
    phases = 2 * torch.pi * x.double()[..., None] * torch.arange(4)  # (n, 1, 4)
    values = (amplitudes[0] * torch.cos(phases) + amplitudes[1] * torch.sin(phases)).sum(-1)
    return values.to(x.dtype)


def relative_error(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()
