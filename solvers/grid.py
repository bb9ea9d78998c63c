"""Grids: the one place that coordinates, spacing, quadrature weights, derivatives and restrictions come from.

Convention: a periodic grid of n points on [0, length) includes the left end and excludes the right end,

    x_j = j · length / n,    j = 0, …, n - 1,

because x = length is the same point of the circle as x = 0. n is even, and values on the grid stand for the
trigonometric polynomial of its modes below n/2 (see `solvers.fourier`).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from solvers.fourier import check_points, coefficients_of, observe

KINDS = ("periodic",)
RESTRICTIONS = ("spectral", "stride")
_NESTED_SIZES_SHOWN = 3  # enough of the list in an error message to see its pattern


@dataclass(frozen=True)
class Grid:
    """Where a function is known.

    kind    "periodic": the circle, left end included, right end excluded.
    points  number of points n, even.
    length  circumference of the circle, in the unit of x.
    """

    kind: str
    points: int
    length: float = 1.0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"unknown grid kind {self.kind!r}; accepted: {', '.join(map(repr, KINDS))}")
        check_points(self.points)
        if not self.length > 0:
            raise ValueError(f"length must be positive, got {self.length}")

    @property
    def spacing(self) -> float:
        return self.length / self.points

    @property
    def coordinates(self) -> Float[np.ndarray, " points"]:
        return np.arange(self.points) * self.spacing

    @property
    def weights(self) -> Float[np.ndarray, " points"]:
        """Quadrature weights: the trapezoidal rule on a circle, exact for modes below n."""
        return np.full(self.points, self.spacing)

    def derivative(self, values: Float[np.ndarray, "*batch points"]) -> Float[np.ndarray, "*batch points"]:
        """d/dx along the last axis, exact for modes below n/2; the mode n/2 is zeroed."""
        if values.shape[-1] != self.points:
            raise ValueError(f"values have {values.shape[-1]} points, the grid has {self.points}")
        factors = 2j * np.pi / self.length * np.arange(self.points // 2 + 1)
        factors[-1] = 0
        return np.fft.irfft(factors * np.fft.rfft(values), n=self.points)


def restrict_spectrally(
    values: Float[np.ndarray, "*batch points_from"], points: int
) -> Float[np.ndarray, "*batch points"]:
    """The same function on a coarser grid, without its modes from points/2 on (which would alias)."""
    points_from = values.shape[-1]
    check_restriction(points_from, points, "spectral")
    if points == points_from:
        return values.copy()
    return observe(coefficients_of(values), points)


def restrict_by_stride(
    values: Float[np.ndarray, "*batch points_from"], points: int
) -> Float[np.ndarray, "*batch points"]:
    """Every (points_from / points)-th value, the papers' subsampling: modes from points/2 on alias."""
    points_from = values.shape[-1]
    check_restriction(points_from, points, "stride")
    return values[..., :: points_from // points].copy()


def check_restriction(points_from: int, points_to: int, how: str) -> None:
    """Raise a ValueError where `points_from` points cannot be restricted to `points_to`: no array needed."""
    if how not in RESTRICTIONS:
        raise ValueError(f"unknown restriction {how!r}; accepted: {', '.join(map(repr, RESTRICTIONS))}")
    check_points(points_from)
    check_points(points_to)
    if how == "spectral" and points_to > points_from:
        raise ValueError(
            f"{points_from} points cannot be restricted spectrally to {points_to}: "
            f"a restriction has at most {points_from} points"
        )
    if how == "stride" and points_from % points_to:
        raise ValueError(
            f"{points_from} points cannot be restricted to {points_to} by stride; "
            f"nested sizes: {_nested_sizes(points_from)}"
        )


def _nested_sizes(points: int) -> str:
    sizes = [points // stride for stride in range(2, points // 2 + 1) if points % (2 * stride) == 0]
    shown = ", ".join(map(str, sizes[:_NESTED_SIZES_SHOWN]))
    return (shown or "none") + (", ..." if len(sizes) > _NESTED_SIZES_SHOWN else "")
