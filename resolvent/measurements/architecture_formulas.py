"""The architectures of Calvello et al. 2024 whose costs are counted, and the paper's formulas for them.

Calvello, Kovachki, Levine and Stuart (2024, arXiv:2406.06486), appendix C: Tables 4 and 5. The paper leaves
out biases, norms, activations, the softmax, skip connections and the parameters of the final convolution.
A product of a matrix with r·r' entries and a vector is 2rr' operations, complex ones like real ones, and an
FFT of r numbers is 5 r log₂ r (section C.2; the base is what is usual).

Symbols: d_u, d_z input and output channels (1 here), D = 2 the dimension of the domain, d the width, N = n²
the points of the grid, P the patches of all sides together, k the Fourier modes of all axes together, k'
those of the final convolution, b the blocks of AFNO, d_F = 128 the hidden channels of FNO's lifting and
projection. No torch here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2, sqrt

from resolvent.measurements.settings import ArchitectureCostSettings

OUT = 1  # d_z
IN = 1 + 2  # d_u + D
HIDDEN = 128  # d_F
BLOCKS = 8  # b: that of Table 5, and of the package's default; Table 4 has 16


@dataclass(frozen=True)
class Case:
    """The settings of an architecture and, if the paper has formulas: parameters, and operations.

    The operations are those of matrix products, and of Fourier transforms.
    """

    settings: dict
    parameters: int | None = None
    products: float | None = None
    transforms: float | None = None


def fno(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d_F + 2 d_F d + d_F d_z + 4 (d² k + d²) parameters.

    2N (d_u + D + 2d) d_F + 2N d_F d_z + 4 (15 d N log √N + k (2d² - d) + 2N d²) operations.
    """
    points, k = n**2, c.modes * (c.modes // 2 + 1)  # the package keeps half of the last axis' waves, and one
    return Case(
        {"width": d, "modes": c.modes, "num_layers": 4},
        HIDDEN * (IN + 2 * d + OUT) + 4 * (d**2 * k + d**2),
        2 * points * HIDDEN * (IN + 2 * d + OUT) + 4 * (k * (2 * d**2 - d) + 2 * points * d**2),
        4 * 2 * _transform(d, points),
    )


def afno(c: ArchitectureCostSettings, d: int, n: int) -> Case:
    """Count (d_u + D) d + N d + d d_z + 4 (8 + 4/b) d² parameters.

    2N (d_u + D) d + 2N d d_z + 4 (15 d N log √N + 2N d²/b + 16N d²) operations, by the rules of section C.2,
    as the row in Table 5 (journal version) was not legible to us: a layer has two block-diagonal products at
    N/2 Fourier coefficients and a feed-forward network of 4d hidden channels.
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
    operations, and those of the final convolution.
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
    and those of the final convolution.
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
    """Count the real FFT of functions on a square, one way: (15/2) N log √N for each (section C.2)."""
    return channels * 7.5 * points * log2(sqrt(points))


def _corners(modes: int) -> int:
    """Count the Fourier coefficients in two corner blocks; k' (2 d_z² - d_z) products are the final ones'."""
    return 2 * modes**2


def _encoder(width: int, heads: int) -> dict:
    return {"width": width, "num_layers": 6, "num_heads": heads, "feedforward_width": width}


def _patched(c: ArchitectureCostSettings, width: int, modes: int) -> dict:
    smoother = {"smoother": "learned", "smoother_modes": c.smoother_modes}
    return {**_encoder(width, heads=8), "patches": c.patches, "modes": modes, **smoother}


@dataclass(frozen=True)
class Measured:
    """An architecture as registered, and its case of given settings, width and points a side."""

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
    """Yield name, width and points a side of everything that is counted."""
    for name, one in MEASURED.items():
        for width in c.widths:
            for points in c.patched_points if one.patched else c.points:
                yield name, width, points
