"""The architectures of Calvello et al. 2024 whose costs are counted, and the paper's formulas for them.

Calvello, Kovachki, Levine and Stuart (2024, arXiv:2406.06486), appendix C: Tables 4 and 5. The paper leaves
out biases, norms, activations, the softmax, skip connections and the parameters of the final convolution.
A product of a matrix with r·r' entries and a vector is 2rr' operations, complex ones like real ones, and an
FFT of r numbers is 5 r log₂ r (section C.2; the base is what is usual).

Symbols: d_u, d_z input and output channels (1 here), D = 2 the dimension of the domain, d the width, N the
points of the grid, P the patches of all sides together, k the Fourier modes of all axes together, k' those of
the final convolution, b the blocks of AFNO, d_F = 128 the hidden channels of FNO's lifting and projection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2, sqrt

from resolvent.measurements.settings import ArchitectureCostSettings

CHANNELS = 1  # d_u and d_z
POINTWISE_INPUTS = CHANNELS + 2  # d_u + D
FNO_HIDDEN = 128
FNO_LAYERS, AFNO_LAYERS, ENCODER_LAYERS = 4, 4, 6


@dataclass(frozen=True)
class Size:
    """What the formulas are functions of."""

    width: int
    points: int  # N, of the whole grid
    modes: int = 0  # k
    patches: int = 1  # P
    smoother_modes: int = 0  # k'
    blocks: int = 1  # b


@dataclass(frozen=True)
class Operations:
    """The operations of matrix products, and of Fourier transforms."""

    products: float
    transforms: float = 0.0

    @property
    def total(self) -> float:
        return self.products + self.transforms


def fno_parameters(s: Size) -> int:
    """Count by Table 4: (d_u + D) d_F + 2 d_F d + d_F d_z + 4 (d² k + d²)."""
    lifting = POINTWISE_INPUTS * FNO_HIDDEN + 2 * FNO_HIDDEN * s.width + FNO_HIDDEN * CHANNELS
    return lifting + FNO_LAYERS * (s.width**2 * s.modes + s.width**2)


def afno_parameters(s: Size) -> int:
    """Count by Table 4: (d_u + D) d + N d + d d_z + 4 (8 + 4/b) d²."""
    outside = (POINTWISE_INPUTS + s.points + CHANNELS) * s.width
    return outside + AFNO_LAYERS * (8 * s.width**2 + 4 * s.width**2 // s.blocks)


def tno_parameters(s: Size) -> int:
    """Count by Table 4: (d_u + D) d + d d_z + 6 (6 d² + 2 d)."""
    return (POINTWISE_INPUTS + CHANNELS) * s.width + ENCODER_LAYERS * (6 * s.width**2 + 2 * s.width)


def vit_parameters(s: Size) -> int:
    """Count by Table 4: (d_u + D) d k + d d_z + 6 (6 d² + 2 d)."""
    outside = (POINTWISE_INPUTS * s.modes + CHANNELS) * s.width
    return outside + ENCODER_LAYERS * (6 * s.width**2 + 2 * s.width)


def fano_parameters(s: Size) -> int:
    """Count by Table 4: (d_u + D) d + d d_z + 6 (3 d² k + 3 d² + 2 d)."""
    layer = 3 * s.width**2 * s.modes + 3 * s.width**2 + 2 * s.width
    return (POINTWISE_INPUTS + CHANNELS) * s.width + ENCODER_LAYERS * layer


def fno_operations(s: Size) -> Operations:
    """Count by Table 5: 2N (d_u + D + 2d) d_F + 2N d_F d_z + 4 (15 d N log √N + k (2d² - d) + 2N d²)."""
    lifting = 2 * s.points * FNO_HIDDEN * (POINTWISE_INPUTS + 2 * s.width + CHANNELS)
    layer = s.modes * (2 * s.width**2 - s.width) + 2 * s.points * s.width**2
    return Operations(lifting + FNO_LAYERS * layer, FNO_LAYERS * 2 * _transform(s.width, s.points))


def afno_operations(s: Size) -> Operations:
    """Count by the rules of section C.2, as its row in Table 5 (journal version) was not legible to us.

    2N (d_u + D) d + 2N d d_z + 4 (15 d N log √N + 2N d²/b + 16N d²): a layer has two block-diagonal products
    at N/2 Fourier coefficients and a feed-forward network of 4d hidden channels.
    """
    outside = 2 * s.points * s.width * (POINTWISE_INPUTS + CHANNELS)
    layer = 2 * s.points * s.width**2 / s.blocks + 16 * s.points * s.width**2
    return Operations(outside + AFNO_LAYERS * layer, AFNO_LAYERS * 2 * _transform(s.width, s.points))


def tno_operations(s: Size) -> Operations:
    """Count by Table 5: 2N (d_u + D) d + 2N d d_z + 6 (8 d² N + 2N² d + 4 d² N)."""
    outside = 2 * s.points * s.width * (POINTWISE_INPUTS + CHANNELS)
    layer = 12 * s.width**2 * s.points + 2 * s.points**2 * s.width
    return Operations(outside + ENCODER_LAYERS * layer)


def vit_operations(s: Size) -> Operations:
    """Count by Table 5: (d_u + D + d) 15N log √(N/P) / 2 + P k d (2 (d_u + D) - 1) + 2N d d_z
    + 6 (8 d² N + 2 d N P + 4 d² N) + the final convolution."""
    lifting = s.patches * s.modes * s.width * (2 * POINTWISE_INPUTS - 1)
    layer = 12 * s.width**2 * s.points + 2 * s.width * s.points * s.patches
    final = _final_convolution(s)
    return Operations(
        lifting + 2 * s.points * s.width * CHANNELS + ENCODER_LAYERS * layer + final.products,
        s.patches * _transform(POINTWISE_INPUTS + s.width, s.points / s.patches) + final.transforms,
    )


def fano_operations(s: Size) -> Operations:
    """Count by Table 5: 2N (d_u + D) d + 2N d d_z + 6 (45 d N log √(N/P) + 3 k P (2d² - d) + 2N d² + 2 d N P
    + 4N d²) + the final convolution."""
    outside = 2 * s.points * s.width * (POINTWISE_INPUTS + CHANNELS)
    layer = 3 * s.modes * s.patches * (2 * s.width**2 - s.width)
    layer += 6 * s.points * s.width**2 + 2 * s.width * s.points * s.patches
    transforms = 6 * s.patches * _transform(s.width, s.points / s.patches)
    final = _final_convolution(s)
    return Operations(
        outside + ENCODER_LAYERS * layer + final.products, ENCODER_LAYERS * transforms + final.transforms
    )


def _transform(channels: int, points: float) -> float:
    """Count the real FFT of functions on a square, one way: (15/2) N log √N for each (section C.2)."""
    return channels * 7.5 * points * log2(sqrt(points))


def _final_convolution(s: Size) -> Operations:
    """Count 15 d_z N log √N + k' (2 d_z² - d_z)."""
    products = s.smoother_modes * (2 * CHANNELS**2 - CHANNELS)
    return Operations(products, 2 * _transform(CHANNELS, s.points))


NUM_BLOCKS = 8  # of AFNO: that of Table 5, and of the package's default; Table 4 has 16


@dataclass(frozen=True)
class Measured:
    """An architecture in the terms of Table 4: as registered, and by the paper's formulas, if it has any.

    settings  from a width and a side of the grid to those of the architecture.
    size      from the same to what the formulas take.
    """

    architecture: str
    patched: bool
    settings: Callable[[ArchitectureCostSettings, int, int], dict]
    size: Callable[[ArchitectureCostSettings, int, int], Size] | None = None
    parameters: Callable[[Size], int] | None = None
    operations: Callable[[Size], Operations] | None = None


def _encoder(c: ArchitectureCostSettings, width: int, num_heads: int) -> dict:
    return {"width": width, "num_layers": 6, "num_heads": num_heads, "feedforward_width": width}


def _patched(modes: str) -> Callable[[ArchitectureCostSettings, int, int], dict]:
    return lambda c, width, n: {
        **_encoder(c, width, 8),
        "patches": c.patches,
        "modes": getattr(c, modes),
        "smoother": "learned",
        "smoother_modes": c.smoother_modes,
    }


def _patched_size(modes: str) -> Callable[[ArchitectureCostSettings, int, int], Size]:
    """Return a size with two corner blocks of the Fourier coefficients: 2 modes² of them."""
    return lambda c, width, n: Size(
        width, n**2, 2 * getattr(c, modes) ** 2, c.patches**2, 2 * c.smoother_modes**2
    )


MEASURED = {
    "fno": Measured(
        "neuraloperator2d",
        patched=False,
        settings=lambda c, width, n: {"width": width, "modes": c.modes, "num_layers": 4},
        # The package keeps `modes` wavenumbers of an axis, and half of them and one of the last.
        size=lambda c, width, n: Size(width, n**2, c.modes * (c.modes // 2 + 1)),
        parameters=fno_parameters,
        operations=fno_operations,
    ),
    "afno": Measured(
        "afno",
        patched=False,
        settings=lambda c, width, n: {
            "points": n,
            "width": width,
            "num_layers": 4,
            "num_blocks": NUM_BLOCKS,
            "feedforward_width": 4 * width,
        },
        size=lambda c, width, n: Size(width, n**2, blocks=NUM_BLOCKS),
        parameters=afno_parameters,
        operations=afno_operations,
    ),
    "tno": Measured(
        "tno2d",
        patched=False,
        settings=lambda c, width, n: {**_encoder(c, width, 8), "quadrature": "none"},
        size=lambda c, width, n: Size(width, n**2),
        parameters=tno_parameters,
        operations=tno_operations,
    ),
    "vit_no": Measured(
        "vit_no",
        patched=True,
        settings=_patched("modes"),
        size=_patched_size("modes"),
        parameters=vit_parameters,
        operations=vit_operations,
    ),
    "fano": Measured(
        "fano",
        patched=True,
        settings=_patched("fano_modes"),
        size=_patched_size("fano_modes"),
        parameters=fano_parameters,
        operations=fano_operations,
    ),
    "galerkin_encoder": Measured(
        "galerkin_encoder2d", patched=False, settings=lambda c, width, n: _encoder(c, width, 4)
    ),
}


def cases(c: ArchitectureCostSettings) -> Iterator[tuple[str, int, int]]:
    """Yield name, width and points a side of everything that is counted."""
    for name, one in MEASURED.items():
        for width in c.widths:
            for points in c.patched_points if one.patched else c.points:
                yield name, width, points
