"""Grids: coordinates, spacing, quadrature weights, derivatives and restrictions.

Conventions, on an interval, a square or a cube of side `length` with n points along each axis:

    periodic       x_j = j · length / n          left end included, right end excluded; n is even
    nodes          x_j = j · length / (n - 1)    both ends included
    cell_centres   x_j = (j + 1/2) · length / n  neither end included

Cell centres may have a `stride` k, and are then every k-th centre of a finer grid of N = k (n - 1) + 1 cells,
x_j = (k j + 1/2) · length / N: their spacing is k · length / N, and both ends of the interval are half a
*fine* cell outside. So cell centres that are sub-sampled by index keep their outermost points, as nodes do.

In two dimensions values are arrays (..., y, x), in three (..., z, y, x): the last axis is x. Values on a
periodic grid represent a trigonometric polynomial with modes below n/2 (see `solvers.common.fourier`).
`Nodes` are any increasing points of an interval, such as the times at which a trajectory is observed. A
`Product` has axes that differ in points, length or kind, or whose points are such nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from resolvent.solvers.common.fourier import check_points

KINDS = ("periodic", "nodes", "cell_centres")
RESTRICTIONS = ("spectral", "stride")


class Axes:
    """Base of grids, composed of axes in the order of arrays, each a one-dimensional `Grid` or `Nodes`."""

    if TYPE_CHECKING:

        @property
        def axes(self) -> tuple[Grid | Nodes, ...]:
            """Return the axes: the last of z, y and x; or time."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of points along each axis."""
        return tuple(axis.points for axis in self.axes)

    @property
    def size(self) -> int:
        """Return the total number of points."""
        return math.prod(self.shape)

    @property
    def even(self) -> bool:
        """Return whether the points are evenly spaced along each axis."""
        return all(isinstance(axis, Grid) for axis in self.axes)

    @property
    def weights(self) -> Float[np.ndarray, "*shape"]:
        """Return the quadrature weights, products of the weights of the axes."""
        return reduce(lambda inner, axis: np.multiply.outer(axis.weights, inner), self.axes[-2::-1],
                      self.axes[-1].weights)  # fmt: skip


@dataclass(frozen=True)
class Grid(Axes):
    """Evenly spaced points of an interval, a square or a cube.

    kind       "periodic", "nodes" or "cell_centres": see the module.
    points     number of points n along each axis.
    length     length of the interval, or side of the square or cube, in the unit of x.
    dimension  1, 2 or 3.
    stride     k of cell centres: every k-th centre of a finer grid. 1 for other kinds.

    Raises `ValueError` if there is no such grid.
    """

    kind: str
    points: int
    length: float = 1.0
    dimension: int = 1
    stride: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown grid kind {self.kind!r}; accepted: {', '.join(map(repr, KINDS))}")
        if self.kind == "periodic":
            check_points(self.points)
        elif self.points < 3:
            raise ValueError(
                f"a grid of {self.kind} has at least 3 points along each axis; got {self.points}"
            )
        if not self.length > 0:
            raise ValueError(f"length must be positive, got {self.length}")
        if self.dimension not in (1, 2, 3):
            raise ValueError(f"dimension must be 1, 2 or 3, got {self.dimension}")
        if self.stride < 1 or (self.stride > 1 and self.kind != "cell_centres"):
            raise ValueError(f"a grid of {self.kind} has no stride {self.stride}; accepted: 1")

    @property
    def axes(self) -> tuple[Grid | Nodes, ...]:
        """Return the axes, which are all equal."""
        return (self if self.dimension == 1 else replace(self, dimension=1),) * self.dimension

    @property
    def spacing(self) -> float:
        """Return the distance between neighbours along an axis, in the unit of x."""
        if self.kind == "cell_centres":
            return self.stride * self.length / self.cells
        return self.length / (self.points - 1 if self.kind == "nodes" else self.points)

    @property
    def cells(self) -> int:
        """Return the number of cells along an axis whose every `stride`-th centre is a point of the grid."""
        return self.stride * (self.points - 1) + 1

    @property
    def coordinates(self) -> Float[np.ndarray, " points"]:
        """Return the positions along an axis, equal for all axes."""
        if self.kind == "cell_centres":
            return (self.stride * np.arange(self.points) + 0.5) * (self.length / self.cells)
        return np.arange(self.points) * self.spacing

    @property
    def weights(self) -> Float[np.ndarray, "*shape"]:
        """Return quadrature weights: trapezoidal on nodes and periodic grids, midpoint on cell centres.

        On every k-th cell centre the trapezoidal rule applies between the outermost points, whose values also
        stand for the half cells outside: second order, and the midpoint rule for k = 1.
        """
        if self.dimension > 1:
            return super().weights
        along_axis = np.full(self.points, self.spacing)
        if self.kind == "nodes":
            along_axis[[0, -1]] /= 2
        elif self.stride > 1:
            along_axis[[0, -1]] = (self.spacing + self.length / self.cells) / 2
        return along_axis

    def restricted(self, points: int) -> Grid:
        """Return the grid of every k-th point, beginning with the first, with `points` along each axis.

        Raises `ValueError` if no k leads to `points`. Nodes and cell centres also keep their last point.
        """
        if self.kind == "periodic":
            check_restriction(self.points, points, "stride")
            return replace(self, points=points)
        intervals = self.points - 1
        if not 3 <= points <= self.points or intervals % (points - 1):
            sizes = [intervals // k + 1 for k in range(2, intervals // 2 + 1) if intervals % k == 0]
            nested = ", ".join([*map(str, sizes[:3]), *["..."] * (len(sizes) > 3)]) or "none"
            raise ValueError(
                f"{points} {self.kind.replace('_', ' ')} are not nested in {self.points}: {points - 1} "
                f"intervals do not divide {intervals}; nested sizes: {nested}"
            )
        if self.kind == "nodes":
            return replace(self, points=points)
        return replace(self, points=points, stride=self.stride * (intervals // (points - 1)))

    def derivative(self, values: Float[np.ndarray, "*batch points"]) -> Float[np.ndarray, "*batch points"]:
        """Differentiate along the last axis, x.

        Periodic: exact for modes below n/2, zero for the mode n/2. Otherwise second-order differences,
        one-sided at the ends. Raises `ValueError` if the last axis does not have the grid's number of points.
        """
        if values.shape[-1] != self.points:
            raise ValueError(f"values have {values.shape[-1]} points, the grid has {self.points}")
        if self.kind != "periodic":
            return np.gradient(values, self.spacing, axis=-1, edge_order=2)
        factors = 2j * np.pi / self.length * np.arange(self.points // 2 + 1)
        factors[-1] = 0
        return np.fft.irfft(factors * np.fft.rfft(values), n=self.points)


@dataclass(frozen=True)
class Nodes(Axes):
    """Explicit increasing points of an interval, at least two.

    positions  x_0 < x_1 < … in the unit of x.
    period     period of periodic functions, larger than the range of the positions; else None.

    Raises `ValueError` for fewer than two positions, or if they do not increase or exceed the period.
    """

    kind: ClassVar[str] = "explicit"
    dimension: ClassVar[int] = 1

    positions: tuple[float, ...]
    period: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.positions) < 2:
            raise ValueError(f"nodes are at least two positions, got {len(self.positions)}")
        for before, after in zip(self.positions[:-1], self.positions[1:], strict=True):
            if not after > before:
                raise ValueError(f"positions must increase, but {after:g} follows {before:g}")
        reach = self.positions[-1] - self.positions[0]
        if self.period is not None and not self.period > reach:
            raise ValueError(f"positions reach over {reach:g}, which is not below the period {self.period:g}")

    @property
    def axes(self) -> tuple[Grid | Nodes, ...]:
        """Return itself as the only axis."""
        return (self,)

    @property
    def points(self) -> int:
        """Return the number of positions."""
        return len(self.positions)

    @property
    def coordinates(self) -> Float[np.ndarray, " points"]:
        """Return the positions as an array."""
        return np.array(self.positions)

    @property
    def weights(self) -> Float[np.ndarray, " points"]:
        """Return the weights of the trapezoidal rule, from the first to the last node or over a period."""
        halves = np.diff(self.coordinates) / 2
        weights = np.pad(halves, (0, 1)) + np.pad(halves, (1, 0))
        if self.period is not None:
            weights[[0, -1]] += (self.period - np.ptp(self.coordinates)) / 2
        return weights

    def derivative(self, values: Float[np.ndarray, "*batch points"]) -> Float[np.ndarray, "*batch points"]:
        """Differentiate along the last axis by second-order differences, one-sided at ends."""
        x = self.coordinates
        if self.period is not None:
            x = np.concatenate([x[-1:] - self.period, x, x[:1] + self.period])
            values = np.concatenate([values[..., -1:], values, values[..., :1]], axis=-1)
            return np.gradient(values, x, axis=-1)[..., 1:-1]
        return np.gradient(values, x, axis=-1, edge_order=1 if self.points == 2 else 2)


@dataclass(frozen=True)
class Product(Axes):
    """A grid of space with different axes; `product` creates it only if no `Grid` is equivalent.

    axes  axes of space in stored order: the last of z, y and x.
    """

    axes: tuple[Grid | Nodes, ...]

    @property
    def dimension(self) -> int:
        """Return the number of axes."""
        return len(self.axes)

    @property
    def kind(self) -> str:
        """Return the common kind of all axes, or "mixed"."""
        return self.axes[0].kind if len({axis.kind for axis in self.axes}) == 1 else "mixed"

    @property
    def points(self) -> int:
        """Return the number of points along x."""
        return self.axes[-1].points


AnyGrid = Grid | Nodes | Product


def product(axes: Sequence[Grid | Nodes]) -> Grid | Product:
    """Return the grid of space with these axes, in stored order; a `Grid` if they are even and equal."""
    first = axes[0]
    if isinstance(first, Grid) and all(axis == first for axis in axes):
        return replace(first, dimension=len(axes))
    return Product(tuple(axes))


def restrict_by_stride(
    values: Float[np.ndarray, "*batch points_from"], points: int
) -> Float[np.ndarray, "*batch points"]:
    """Return every (points_from / points)-th value, as in the papers; modes from points/2 on are aliased.

    Raises `ValueError` if `points` does not divide the number of values.
    """
    points_from = values.shape[-1]
    check_restriction(points_from, points, "stride")
    return values[..., :: points_from // points].copy()


def restrict_dirichlet(
    values: Float[np.ndarray, "*batch points_from points_from"], points: int
) -> Float[np.ndarray, "*batch points points"]:
    """Evaluate the sine interpolant of `values`, (..., y, x), on points × points nodes, points ≤ points_from.

    The interpolant u(x, y) = Σ_{k, l = 1}^{n-2} c[l, k] sin πkx sin πly is unique for values on n × n nodes
    that are zero on the boundary. For nested nodes the result is every k-th value; otherwise its accuracy
    depends on the smoothness of the function.

    Raises `ValueError` if `points` exceeds points_from, or the boundary values are not zero.
    """
    points_from = values.shape[-1]
    if points > points_from:
        raise ValueError(
            f"{points_from} nodes cannot be restricted to {points}: a restriction has at most {points_from}"
        )
    Grid("nodes", points)  # raises where the number of points is impossible
    edges = values[..., [0, -1], :], values[..., :, [0, -1]]
    if any(edge.any() for edge in edges):
        raise ValueError("a function with values on the boundary has no sine series")
    if (points_from - 1) % (points - 1) == 0:
        stride = (points_from - 1) // (points - 1)
        return values[..., ::stride, ::stride].copy()
    interpolation = _sine_interpolation(points_from, points).astype(values.dtype)
    restricted = np.empty((*values.shape[:-2], points, points), values.dtype)
    for sample in np.ndindex(*values.shape[:-2]):
        restricted[sample] = interpolation @ values[sample] @ interpolation.T
    restricted[..., [0, -1], :] = 0
    restricted[..., :, [0, -1]] = 0
    return restricted


@lru_cache(maxsize=16)
def _sine_interpolation(points_from: int, points: int) -> Float[np.ndarray, "points points_from"]:
    """Return the matrix from values at the fine nodes of an axis to values at the coarse nodes."""
    fine, coarse = Grid("nodes", points_from).coordinates, Grid("nodes", points).coordinates
    modes = np.arange(1, points_from - 1)
    coefficients = 2 / (points_from - 1) * np.sin(np.pi * np.outer(modes, fine))
    return np.sin(np.pi * np.outer(coarse, modes)) @ coefficients


def check_restriction(points_from: int, points_to: int, how: str) -> None:
    """Raise `ValueError` if `points_from` periodic points cannot be restricted to `points_to`.

    how  "spectral": without modes that the coarser grid cannot represent; "stride": every k-th value.
    """
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
        halves = range(2, points_from // 2 + 1)
        sizes = [str(points_from // stride) for stride in halves if points_from % (2 * stride) == 0]
        nested = ", ".join(sizes[:3] + ["..."] * (len(sizes) > 3)) or "none"
        raise ValueError(
            f"{points_from} points cannot be restricted to {points_to} by stride; nested sizes: {nested}"
        )
