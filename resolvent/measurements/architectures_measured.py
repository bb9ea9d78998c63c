"""The architectures of Calvello et al. 2024 whose costs are counted: their settings by width. No torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from resolvent.measurements import architecture_formulas as formulas
from resolvent.measurements.architecture_formulas import Operations, Size
from resolvent.measurements.settings import ArchitectureCostSettings

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
        parameters=formulas.fno_parameters,
        operations=formulas.fno_operations,
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
        parameters=formulas.afno_parameters,
        operations=formulas.afno_operations,
    ),
    "tno": Measured(
        "tno2d",
        patched=False,
        settings=lambda c, width, n: {**_encoder(c, width, 8), "quadrature": "none"},
        size=lambda c, width, n: Size(width, n**2),
        parameters=formulas.tno_parameters,
        operations=formulas.tno_operations,
    ),
    "vit_no": Measured(
        "vit_no",
        patched=True,
        settings=_patched("modes"),
        size=_patched_size("modes"),
        parameters=formulas.vit_parameters,
        operations=formulas.vit_operations,
    ),
    "fano": Measured(
        "fano",
        patched=True,
        settings=_patched("fano_modes"),
        size=_patched_size("fano_modes"),
        parameters=formulas.fano_parameters,
        operations=formulas.fano_operations,
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
