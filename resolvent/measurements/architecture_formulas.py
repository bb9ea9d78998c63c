"""Architectures of Calvello et al. 2024 and the paper's formulas for their costs.

Calvello, Kovachki, Levine and Stuart (2024, arXiv:2406.06486), appendix C: Tables 4 and 5. The paper omits
biases, norms, activations, the softmax, skip connections and the parameters of the final convolution.
The product of an r×r' matrix and a vector counts 2rr' operations, complex or real, and an FFT of r numbers
counts 5 r log₂ r (section C.2; base 2 is our assumption).

Symbols: d_u, d_z input and output channels (1 here), D = 2 dimension of the domain, d width, N = n² grid
points, P total number of patches, k total number of Fourier modes, k' Fourier modes of the final convolution,
b blocks of AFNO, d_F = 128 hidden channels of FNO's lifting and projection. Does not import torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2, sqrt

from resolvent.measurements.settings import ArchitectureCostSettings

OUT = 1  # d_z
IN = 1 + 2  # d_u + D
HIDDEN = 128  # d_F
BLOCKS = 8  # b in Table 5 and in the package's default; Table 4 has 16


@dataclass(frozen=True)
class Case:
    """Settings of an architecture and, if the paper has formulas, numbers of parameters and operations.

    Operations are separated into matrix products and Fourier transforms.
    """

    settings: dict
    parameters: int | None = None
    products: float | None = None
    transforms: float | None = None


def fno(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d_F + 2 d_F d + d_F d_z + 4 (d² k + d²) parameters.

    2N (d_u + D + 2d) d_F + 2N d_F d_z + 4 (15 d N log √N + k (2d² - d) + 2N d²) operations.
    """
    points, k = n**2, c.modes * (c.modes // 2 + 1)  # the package keeps modes/2 + 1 on the last axis
    return Case(
        {"width": d, "modes": c.modes, "num_layers": 4},
        HIDDEN * (IN + 2 * d + OUT) + 4 * (d**2 * k + d**2),
        2 * points * HIDDEN * (IN + 2 * d + OUT) + 4 * (k * (2 * d**2 - d) + 2 * points * d**2),
        4 * 2 * _transform(d, points),
    )


def afno(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d + N d + d d_z + 4 (8 + 4/b) d² parameters.

    2N (d_u + D) d + 2N d d_z + 4 (15 d N log √N + 2N d²/b + 16N d²) operations, derived from the rules of
    section C.2 because the row in Table 5 (journal version) was not legible: a layer has two block-diagonal
    products at N/2 Fourier coefficients and a feed-forward network with 4d hidden channels.
    """
    points = n**2
    settings = {"points": n, "width": d, "num_layers": 4, "num_blocks": BLOCKS, "feedforward_width": 4 * d}
    return Case(
        settings,
        (IN + points + OUT) * d + 4 * (8 * d**2 + 4 * d**2 // BLOCKS),
        2 * points * d * (IN + OUT) + 4 * (2 * points * d**2 / BLOCKS + 16 * points * d**2),
        4 * 2 * _transform(d, points),
    )


def tno(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d + d d_z + 6 (6 d² + 2 d) parameters.

    2N (d_u + D) d + 2N d d_z + 6 (8 d² N + 2N² d + 4 d² N) operations.
    """
    points = n**2
    return Case(
        {**_encoder(d, heads=8), "quadrature": "none"},
        (IN + OUT) * d + 6 * (6 * d**2 + 2 * d),
        2 * points * d * (IN + OUT) + 6 * (12 * d**2 * points + 2 * points**2 * d),
        0.0,
    )


def vit_no(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d k + d d_z + 6 (6 d² + 2 d) parameters.

    (d_u + D + d) 15N log √(N/P) / 2 + P k d (2 (d_u + D) - 1) + 2N d d_z + 6 (8 d² N + 2 d N P + 4 d² N)
    operations, plus the final convolution.
    """
    points, patches, k = n**2, c.patches**2, _corners(c.modes)
    products = patches * k * d * (2 * IN - 1) + 2 * points * d * OUT
    products += 6 * (12 * d**2 * points + 2 * d * points * patches)
    return Case(
        _patched(c, d, c.modes),
        (IN * k + OUT) * d + 6 * (6 * d**2 + 2 * d),
        products + _corners(c.smoother_modes) * (2 * OUT**2 - OUT),
        patches * _transform(IN + d, points / patches) + 2 * _transform(OUT, points),
    )


def fano(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d + d d_z + 6 (3 d² k + 3 d² + 2 d) parameters.

    2N (d_u + D) d + 2N d d_z + 6 (45 d N log √(N/P) + 3 k P (2d² - d) + 2N d² + 2 d N P + 4N d²) operations,
    plus the final convolution.
    """
    points, patches, k = n**2, c.patches**2, _corners(c.fano_modes)
    layer = 3 * k * patches * (2 * d**2 - d) + 6 * points * d**2 + 2 * d * points * patches
    return Case(
        _patched(c, d, c.fano_modes),
        (IN + OUT) * d + 6 * (3 * d**2 * k + 3 * d**2 + 2 * d),
        2 * points * d * (IN + OUT) + 6 * layer + _corners(c.smoother_modes) * (2 * OUT**2 - OUT),
        6 * 6 * patches * _transform(d, points / patches) + 2 * _transform(OUT, points),
    )


def galerkin_encoder(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    return Case(_encoder(d, heads=4))


def _transform(channels: int, points: float) -> float:
    """Count the operations of one real FFT per channel on a square: (15/2) N log √N each (section C.2)."""
    return channels * 7.5 * points * log2(sqrt(points))


def _corners(modes: int) -> int:
    """Count the Fourier coefficients in two corner blocks; the final products take k' (2 d_z² - d_z)."""
    return 2 * modes**2


def _encoder(width: int, heads: int) -> dict:
    return {"width": width, "num_layers": 6, "num_heads": heads, "feedforward_width": width}


def _patched(c: ArchitectureCostSettings, width: int, modes: int) -> dict:
    smoother = {"smoother": "learned", "smoother_modes": c.smoother_modes}
    return {**_encoder(width, heads=8), "patches": c.patches, "modes": modes, **smoother}


@dataclass(frozen=True)
class Measured:
    """A registered architecture, and a function that returns its case (settings, width, points per side)."""

    architecture: str
    case: Callable[[ArchitectureCostSettings, int, int], Case]
    patched: bool = False


MEASURED = {
    "fno": Measured("neuraloperator2d", fno),
    "afno": Measured("afno", afno),
    "tno": Measured("tno2d", tno),
    "vit_no": Measured("vit_no", vit_no, patched=True),
    "fano": Measured("fano", fano, patched=True),
    "galerkin_encoder": Measured("galerkin_encoder2d", galerkin_encoder),
}


def cases(c: ArchitectureCostSettings) -> Iterator[tuple[str, int, int]]:
    """Yield name, width and points per side of every counted case."""
    for name, measured in MEASURED.items():
        for width in c.widths:
            for points in c.patched_points if measured.patched else c.points:
                yield name, width, points
