"""Symmetries: maps of inputs and of targets under which samples stay samples, and equally likely ones.

An operator that is right commutes with them, S_target⁻¹ G(S_input a) = G(a); one that was trained does not
quite, and by how much needs no label (`resolvent.evaluation.without_labels`). Maps that keep the equation but
leave the distribution, as scaling a coefficient does, are none of these: no operator was trained there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

Map = Callable[[np.ndarray], np.ndarray]  # of values (..., space), of as many points


@dataclass(frozen=True)
class Symmetry:
    """A map of inputs, and what takes the targets of the mapped inputs back to those of the inputs.

    Values are (samples, ...space), or (samples, channels, ...space) of several functions, as in `Samples`.
    """

    name: str
    inputs: Map
    back: Map


def shifts_and_reflection(parts: int = 4) -> tuple[Symmetry, ...]:
    """Return u(x) → u(x - s) by multiples of a part of the period, each also with u(x) → -u(-x).

    They leave Burgers' equation as it is, and stationary Gaussian fields with mean zero.
    """

    def made(part: int, sign: int) -> Symmetry:
        def moved(u: np.ndarray, way: int) -> np.ndarray:
            return np.roll(u, way * (part * u.shape[-1] // parts), -1)

        def turned(u: np.ndarray) -> np.ndarray:
            return u if sign > 0 else -_reversed(u, -1)

        words = f"shift by {part}/{parts}" + (" after u(x) → -u(-x)" if sign < 0 else "")
        return Symmetry(words, lambda u: moved(turned(u), 1), lambda u: turned(moved(u, -1)))

    return tuple(made(part, sign) for sign, part in product((1, -1), range(parts)) if (sign, part) != (1, 0))


def of_the_square(rotated: bool = True) -> tuple[Symmetry, ...]:
    """Return rotations by multiples of 90°, each also after x and y have changed places.

    Without rotations that exchange alone is left.
    """

    def made(turns: int, swapped: bool) -> Symmetry:
        def swap(a: np.ndarray) -> np.ndarray:
            return a.swapaxes(-1, -2) if swapped else a

        words = f"rotation by {90 * turns}°" + (" after x ↔ y" if swapped else "")
        return Symmetry(
            words,
            lambda a: np.ascontiguousarray(np.rot90(swap(a), turns, (-2, -1))),
            lambda p: np.ascontiguousarray(swap(np.rot90(p, -turns, (-2, -1)))),
        )

    found = product((False, True), range(4 if rotated else 1))
    return tuple(made(turns, swapped) for swapped, turns in found if swapped or turns)


def of_shear_forcing(wavenumber: int) -> tuple[Symmetry, ...]:
    """Return those of vorticity, [y, x], under a body force sin(n y) along x.

    A shift along x by half a period; a rotation by 180°, under which vorticity keeps its sign; and
    ω(x, y) → -ω(-x, y - π/n), under which it changes it; and what these three make together. The last needs
    points at a shift by π/n: it is left as it is on grids that have none.
    """

    def half(w: np.ndarray) -> np.ndarray:
        return np.roll(w, w.shape[-1] // 2, -1)

    def rotated(w: np.ndarray) -> np.ndarray:
        return _reversed(_reversed(w, -1), -2)

    def glided(w: np.ndarray, way: int) -> np.ndarray:
        points, left = divmod(w.shape[-2], 2 * wavenumber)
        return w if left else np.roll(-_reversed(w, -1), way * points, -2)

    def made(shift: bool, turn: bool, glide: bool) -> Symmetry:
        def forwards(w: np.ndarray) -> np.ndarray:
            w = glided(w, 1) if glide else w
            w = rotated(w) if turn else w
            return half(w) if shift else w

        def backwards(w: np.ndarray) -> np.ndarray:
            w = half(w) if shift else w
            w = rotated(w) if turn else w
            return glided(w, -1) if glide else w

        parts = ((shift, "shift by half along x"), (turn, "rotation by 180°"), (glide, "-ω(-x, y - π/n)"))
        return Symmetry(", ".join(words for there, words in parts if there), forwards, backwards)

    return tuple(made(*which) for which in product((False, True), repeat=3) if any(which))


def of_signs(inputs: tuple[int, ...], targets: tuple[int, ...]) -> tuple[Symmetry, ...]:
    """Return the one map that changes the sign of some functions; one sign for each channel."""

    def signed(signs: tuple[int, ...]) -> Map:
        column = np.array(signs)[:, None]
        return lambda values: values * (column if len(signs) > 1 else signs[0])

    return (Symmetry("signs", signed(inputs), signed(targets)),)


def _reversed(values: np.ndarray, axis: int) -> np.ndarray:
    """Return values at -x on a periodic grid whose first point is at 0."""
    return np.roll(np.flip(values, axis), 1, axis)
