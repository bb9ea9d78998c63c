"""Solve Darcy flow in the unit square by 5-point finite differences.

    -∇·(a∇p) = f in (0, 1)²,    p = 0 on the boundary

a(x, y)  permeability, the coefficient, > 0;  p  pressure;  f  source, 1 by default.

Convention: values are (batch, y, x) on n × n points. On `nodes` x_i = i/(n - 1), which include the zeros on
the boundary; on `cell_centres` x_i = (i + 1/2)/n, and the boundary is half a cell outside. With a `stride` k
the points are every k-th centre of a finer grid, x_i = (k i + 1/2)/N, and the boundary is half a fine cell
outside: the outer cells end there, so they are narrower. (For k = 1 this is the same scheme.) At every inner
point

    Σ_neighbours a_face (p - p_neighbour) = h² f

with a_face the arithmetic or harmonic mean of the two points' coefficients; in outer cells the conductances
and the area are those of the cell (`solvers.darcy.direct`). The arithmetic mean, the default, reproduces the
papers' data; the harmonic mean conserves the flux through layers exactly. They change p by about 0.3 % if a
jumps from 3 to 12, on 421 nodes.

Method: conjugate gradients until the residual is below `tolerance` of the right-hand side, or the error is
below `accuracy`, preconditioned by `multigrid` (`solvers.darcy.multigrid`: one core, any coefficient) or by
the constant-coefficient Laplacian inverted with sine transforms (`sine`, `solvers.darcy.sine_transforms`:
batched, for GPUs, best at low contrast).

A step of conjugate gradients reduces the square of the error's energy norm by α rᵀz (Hestenes and Stiefel
1952). If the norm decreases by more than √2 per step, the rest is smaller than that. The norm of values is at
most the energy norm over √λ, with λ = a_min times the smallest eigenvalue of the 5-point Laplacian. Therefore
the iterations stop if

    Σ α rᵀz ≤ (accuracy/2)² λ ‖p‖²    (for the stopping rule: Arioli 2004, Numer. Math. 97, 1).

The sum is over the last step, and with multigrid also over a fifth of the steps after the 15th, since the
norm may hardly decrease for many steps at high contrast. Above a contrast of `PLATEAUS` the accuracy is also
divided by the contrast over `PLATEAUS`. Measured on 65 and 129 nodes, 56 samples: errors of at most 0.2 times
an accuracy of 1e-3 to 1e-8 at a contrast of 1e4, 0.9 times at 1e6, and 0.3 times an accuracy of 1e-3 to 1e-5
at 1e8.

Expect: an error of about a hundredth of the tolerance against a direct solution, and 10 to 16 iterations with
multigrid for the distributions of `solvers.random_fields.distributions`. The discretisation error is
separate: second order in h for smooth coefficients, first order if they jump (about 1e-3 on 421 nodes for 3
and 12).

Limits: for float32 input everything is in float32, and tolerances below 1e-6 cannot be reached.
Sources: Cao 2021, arXiv:2105.14995, C.3; Calvello et al. 2024, arXiv:2406.06486, 6.2.2.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
from jaxtyping import Float, Int

from resolvent.solvers.common.checks import check_array, refuse
from resolvent.solvers.common.errors import CHECK
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.common.threads import kept
from resolvent.solvers.darcy.bounds import laplacian_modes, residual
from resolvent.solvers.darcy.conjugate_gradients import solve_sample, workspace
from resolvent.solvers.darcy.direct import cell_widths
from resolvent.solvers.darcy.multigrid import levels

NAME = "Darcy"
GRIDS, FACE_MEANS, METHODS = ("nodes", "cell_centres"), ("arithmetic", "harmonic"), ("multigrid", "sine")
MAX_ITERATIONS = 1000
LEAST_ACCURACY = 1e-11  # rounding errors at a contrast of 1e4 are near 1e-12
PLATEAUS = 1e6  # contrast above which the error may stay nearly constant for longer than the rule looks back
_levels = lru_cache(maxsize=8)(levels)


@dataclass(frozen=True)
class DarcyFivePoint:
    """Coefficient → pressure. The module's docstring has the equation and the method.

    grid       "nodes" or "cell_centres".
    face_mean  "arithmetic" or "harmonic".
    method     "multigrid" or "sine"; a grid with a stride is always solved by multigrid.
    tolerance  tolerance of the residual, relative to the right-hand side.
    accuracy   relative L² error of the pressure; replaces the tolerance if given.
    stride     k if the points are every k-th cell centre of a finer grid.

    Raises `ValueError` if a name is unknown, the tolerance is not between 0 and 1, or the accuracy is below
    `LEAST_ACCURACY` or not below 1.
    """

    grid: str = "nodes"
    face_mean: str = "arithmetic"
    method: str = "multigrid"
    tolerance: float = 1e-8
    accuracy: float | None = None
    stride: int = 1

    def __post_init__(self) -> None:
        for name, accepted in (("grid", GRIDS), ("face_mean", FACE_MEANS), ("method", METHODS)):
            if getattr(self, name) not in accepted:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; accepted: {', '.join(map(repr, accepted))}"
                )
        Grid(self.grid, 3, stride=self.stride)  # raises if the grid has no stride
        if not 0 < self.tolerance < 1:
            raise ValueError(f"tolerance must be between 0 and 1, got {self.tolerance}")
        if self.accuracy is not None and not LEAST_ACCURACY <= self.accuracy < 1:
            raise ValueError(f"accuracy must be between {LEAST_ACCURACY:g} and 1, got {self.accuracy}")

    @property
    def limits(self) -> tuple[float, float]:
        """Return tolerance and accuracy for the stopping criterion; one of the two is zero."""
        return (self.tolerance, 0.0) if self.accuracy is None else (0.0, self.accuracy / 2)

    def solve(
        self,
        coefficient: Float[np.ndarray, "batch n n"],
        source: Float[np.ndarray, "#batch n n"] | float = 1.0,
    ) -> Float[np.ndarray, "batch n n"]:
        """Return the pressure of every sample, bit-identical in any batch.

        coefficient  values of a on the grid;  source  values of f there, or one number.

        Raises `ValueError` if the coefficient is not an array of values on a grid, and `SolverError` if a
        coefficient is not positive, a source is not finite, or conjugate gradients do not converge.
        """
        check_array(
            coefficient,
            "f",
            ("batch", "n", "n"),
            f"coefficient of {NAME}",
            hint="resolvent.solvers.common.cosine_series.observe_cosine gives a field on a grid",
        )
        points = coefficient.shape[-1]
        spacing = Grid(self.grid, points, dimension=2, stride=self.stride).spacing
        positive = ((coefficient > 0) & np.isfinite(coefficient)).all(axis=(1, 2))
        refuse(~positive, NAME, symptom="the coefficient is not positive", remedy=CHECK)
        sources = np.broadcast_to(np.asarray(source, coefficient.dtype), coefficient.shape)
        finite = np.isfinite(sources).all(axis=(1, 2))
        refuse(~finite, NAME, symptom="the source is not finite", remedy=CHECK)
        # Sources are scaled to size one, so that the stopping criterion works for tiny and zero sources.
        if np.ndim(source) == 0:
            size = abs(sources[:, :1, :1])
            sources = np.broadcast_to(np.where(size > 0, np.sign(sources[:, :1, :1]), 1), coefficient.shape)
        else:
            size = abs(sources).max(axis=(1, 2), keepdims=True)
            sources = np.divide(sources, size, out=np.ones_like(coefficient), where=size > 0)
        if self.stride > 1:
            widths = cell_widths(points, self.stride).astype(coefficient.dtype)
            sources = sources * np.outer(widths, widths)
        pressure, iterations = self._iterated(coefficient, sources, MAX_ITERATIONS)
        what, least = ("residual", self.tolerance) if self.accuracy is None else ("error", self.accuracy)
        refuse(
            iterations == 0,
            NAME,
            symptom=f"the {what} did not fall below {least:.0e} in {MAX_ITERATIONS} iterations",
            remedy="use a larger tolerance or accuracy, or less contrast in the coefficient",
        )
        pressure *= size * coefficient.dtype.type(spacing**2)
        return pressure

    def correct(
        self,
        coefficient: Float[np.ndarray, "batch n n"],
        prediction: Float[np.ndarray, "batch n n"],
        steps: int,
        source: Float[np.ndarray, "#batch n n"] | float = 1.0,
    ) -> Float[np.ndarray, "batch n n"]:
        """Return predictions of the pressure after `steps` steps of conjugate gradients.

        Every step reduces the error in the energy norm as much as possible. Raises as
        `solvers.darcy.bounds.energy_error_bounds`, and `ValueError` if `steps` is below 1.
        """
        if steps < 1:
            raise ValueError(f"steps must be 1 or more, got {steps}")
        left = residual(coefficient, prediction, source, self.grid, self.face_mean, self.stride)
        size = np.maximum(abs(left).max(axis=(1, 2), keepdims=True), np.finfo(left.dtype).tiny)
        exactly = replace(self, tolerance=np.finfo(left.dtype).eps, accuracy=None)
        corrected = prediction + size * exactly._iterated(coefficient, left / size, steps)[0]
        if self.grid == "nodes":
            corrected[:, [0, -1]] = corrected[:, :, [0, -1]] = 0
        return corrected

    def _iterated(
        self,
        coefficient: Float[np.ndarray, "batch n n"],
        sources: Float[np.ndarray, "batch n n"],
        most: int,
    ) -> tuple[Float[np.ndarray, "batch n n"], Int[np.ndarray, " batch"]]:
        """Return the solutions and the numbers of iterations, 0 if not converged after `most`."""
        if self.method == "sine" and self.stride == 1:
            from resolvent.solvers.darcy.sine_transforms import solve_batch

            return solve_batch(coefficient, sources, self.grid, self.face_mean, *self.limits, most)
        return self._multigrid(coefficient, sources, most)

    def _multigrid(
        self,
        coefficient: Float[np.ndarray, "batch n n"],
        sources: Float[np.ndarray, "batch n n"],
        most: int,
    ) -> tuple[Float[np.ndarray, "batch n n"], Int[np.ndarray, " batch"]]:
        cells = self.grid == "cell_centres"
        hierarchy = _levels(coefficient.shape[-1], self.grid, self.stride)
        key = hierarchy.sizes.tobytes(), coefficient.dtype
        arrays = kept("multigrid", key, lambda: workspace(hierarchy.sizes, coefficient.dtype))
        frame = hierarchy.sizes[0] + 2
        framed, right = np.zeros((2, frame, frame), coefficient.dtype)
        pressure = np.empty(coefficient.shape, coefficient.dtype)  # in C order, for compiled code
        iterations = np.empty(len(coefficient), int)
        unknowns = coefficient.shape[-1] - 2 * (not cells)
        area = cell_widths(unknowns, self.stride)[0] ** 2  # of the smallest cell
        # Lower bound of the eigenvalues of the 5-point Laplacian, without 1/h²
        least = 2 * laplacian_modes(unknowns, self.grid, self.stride)[0][0] * area
        tolerance, accuracy = self.limits
        for row, (sample, source) in enumerate(zip(coefficient, sources, strict=True)):
            low, high = float(sample.min()), float(sample.max())
            limits = tolerance, accuracy * min(1.0, PLATEAUS * low / high), low * least
            right[1:-1, 1:-1] = source if cells else source[1:-1, 1:-1]
            result = framed if cells else pressure[row]
            iterations[row] = solve_sample(
                np.ascontiguousarray(sample),
                right,
                result,
                *arrays,
                *hierarchy,
                cells,
                self.stride,
                self.face_mean == "harmonic",
                *map(coefficient.dtype.type, limits),
                most,
            )
            if cells:
                pressure[row] = framed[1:-1, 1:-1]
        return pressure, iterations


def default_method() -> str:
    """Return the faster method on this machine: "sine" if JAX has a GPU, else "multigrid".

    Does not import JAX if it has no plugin for GPUs.
    """
    if find_spec("jax_plugins") is None:
        return "multigrid"
    import jax

    return "sine" if jax.default_backend() == "gpu" else "multigrid"
