"""Symmetries: maps of inputs and targets that turn samples into equally likely samples.

The exact operator commutes with them, S_target⁻¹ G(S_input a) = G(a). A trained operator does not quite, and
the difference can be measured without labels (`resolvent.evaluation.without_labels`). Maps that preserve the
equation but not the distribution, such as scaling a coefficient, do not count, since no operator was trained
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

Map = Callable[[np.ndarray], np.ndarray]  # of values (..., space), with the same number of points


@dataclass(frozen=True)
class Symmetry:
    """A map of inputs, and the map `back` from targets of mapped inputs to targets of the original inputs.

    Values are (samples, ...space), or (samples, channels, ...space) for several functions, as in `Samples`.
    """

    inputs: Map
    back: Map


def shifts_and_reflection(parts: int = 4, constants: int = 0) -> tuple[Symmetry, ...]:
    """Return u(x) → u(x - s) for multiples of a fraction of the period, each also with u(x) → -u(-x).

    They preserve Burgers' equation, and stationary Gaussian fields with mean zero. Inputs have `constants`
    after u, such as the viscosity, which keep their signs.
    """
    signs = np.array([-1.0] + [1.0] * constants)[:, None] if constants else -1.0

    def made(part: int, sign: int) -> Symmetry:
        def moved(u: np.ndarray, way: int) -> np.ndarray:
            return np.roll(u, way * (part * u.shape[-1] // parts), -1)

        def turned(u: np.ndarray, signs: np.ndarray | float = -1.0) -> np.ndarray:
            return u if sign > 0 else signs * _reversed(u, -1)

        return Symmetry(lambda u: moved(turned(u, signs), 1), lambda u: turned(moved(u, -1)))

    return tuple(made(part, sign) for sign, part in product((1, -1), range(parts)) if (sign, part) != (1, 0))


def of_the_square(rotated: bool = True) -> tuple[Symmetry, ...]:
    """Return rotations by multiples of 90°, each also after exchanging x and y; or only the exchange."""

    def made(turns: int, swapped: bool) -> Symmetry:
        def swap(a: np.ndarray) -> np.ndarray:
            return a.swapaxes(-1, -2) if swapped else a

        return Symmetry(
            lambda a: np.ascontiguousarray(np.rot90(swap(a), turns, (-2, -1))),
            lambda p: np.ascontiguousarray(swap(np.rot90(p, -turns, (-2, -1)))),
        )

    pairs = product((False, True), range(4 if rotated else 1))
    return tuple(made(turns, swapped) for swapped, turns in pairs if swapped or turns)


def of_shear_forcing(wavenumber: int, sides: tuple[int, ...]) -> tuple[Symmetry, ...]:
    """Return the symmetries of vorticity, [y, x], under a body force sin(n y) along x.

    They combine a shift along x by half a period, a rotation by 180° (vorticity keeps its sign), and, if
    grids of `sides` points have points at a shift by π/n, ω(x, y) → -ω(-x, y - π/n).
    """
    glides = (False, True) if all(points % (2 * wavenumber) == 0 for points in sides) else (False,)

    def half(w: np.ndarray) -> np.ndarray:
        return np.roll(w, w.shape[-1] // 2, -1)

    def rotated(w: np.ndarray) -> np.ndarray:
        return _reversed(_reversed(w, -1), -2)

    def glided(w: np.ndarray, way: int) -> np.ndarray:
        points, left = divmod(w.shape[-2], 2 * wavenumber)
        return w if left else np.roll(-_reversed(w, -1), way * points, -2)  # values on another grid

    def made(shift: bool, turn: bool, glide: bool) -> Symmetry:
        def forwards(w: np.ndarray) -> np.ndarray:
            w = glided(w, 1) if glide else w
            w = rotated(w) if turn else w
            return half(w) if shift else w

        def backwards(w: np.ndarray) -> np.ndarray:
            w = half(w) if shift else w
            w = rotated(w) if turn else w
            return glided(w, -1) if glide else w

        return Symmetry(forwards, backwards)

    return tuple(made(*which) for which in product((False, True), (False, True), glides) if any(which))


def of_signs(inputs: tuple[int, ...], targets: tuple[int, ...]) -> tuple[Symmetry, ...]:
    """Return the map that changes the signs of functions, with one sign for each channel."""

    def signed(signs: tuple[int, ...]) -> Map:
        column = np.array(signs)[:, None]
        return lambda values: values * (column if len(signs) > 1 else signs[0])

    return (Symmetry(signed(inputs), signed(targets)),)


def _reversed(values: np.ndarray, axis: int) -> np.ndarray:
    """Return values at -x on a periodic grid whose first point is at 0."""
    return np.roll(np.flip(values, axis), 1, axis)
