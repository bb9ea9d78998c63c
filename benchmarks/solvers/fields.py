"""Gaussian random fields in two dimensions, drawn and evaluated on a grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.fft
from ducc0 import fft as ducc

from benchmarks.solvers.race import Contestant, Field, Race, error_against, field_of, one_thread
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import observe_2d

REMARK = (
    "Each sample is drawn and evaluated. Peers draw normal deviates with NumPy's default generator in the "
    "layout of their transform; ours draws them in an order in which additional modes are appended. Errors "
    "are errors of the evaluation. Reference: the series summed term by term in extended precision. Limit: "
    "one ducc0 transform of the whole grid, without drawing."
)
SAMPLES = 16
COMPARED = 4  # samples
COORDINATES = [0, 1, 17, 100, 211, 300, 415]  # of the compared points, along each axis
PI = np.arccos(np.longdouble(-1))  # NumPy's value has double precision


def races() -> list[Race]:
    return [neumann(421), periodic(416)]


def neumann(points: int) -> Race:
    field = field_of("cao_darcy", num_modes=points - 1)
    scale = np.full(points, np.sqrt(0.5))  # dctn counts every cosine but the first and last twice
    scale[[0, -1]] = 1, np.sqrt(2.0)
    scale = np.outer(scale, scale)
    angles = PI / (points - 1) * np.outer(np.arange(points), np.arange(points))
    basis = np.sqrt(np.longdouble(2)) * np.cos(angles)
    basis[:, 0] = 1
    few, cosines = basis[COORDINATES], basis.astype(float)
    deviations = field.standard_deviations()

    def drawn(factors: np.ndarray, index: int) -> np.ndarray:
        return deviates(index, points, points) * factors

    transformed = np.empty((points, points))  # ducc0 writes to existing memory
    by_dctn, by_ducc = partial(scipy.fft.dctn, type=1), partial(ducc.dct, type=1, out=transformed)
    ways = [
        Way(
            "cosine series",
            partial(field.coefficients, 0, 0),
            lambda one: observe_cosine(one, points, "nodes"),
        ),
        *(
            Way(name, partial(drawn, deviations * scale), transform, lambda draw: scale * draw)
            for name, transform in (("SciPy dctn", by_dctn), ("ducc0 dct", by_ducc))
        ),
        Way("NumPy, two matrix products", partial(drawn, deviations), lambda one: cosines @ one @ cosines.T),
    ]
    values = np.ones((points, points))
    title = f"Neumann field on {points} × {points} nodes"
    return race(title, field, lambda draw: few @ draw @ few.T, ways, lambda: by_ducc(values))


def periodic(points: int) -> Race:
    modes = points // 2 - 1
    field = field_of("calvello_kolmogorov", num_modes=modes)

    def spectrum(draw: np.ndarray) -> np.ndarray:
        """Arrange the modes for the grid; modes that are aliased on it are zero."""
        full = np.zeros((points, modes + 2), complex)
        full[: modes + 1, :-1], full[-modes:, :-1] = draw[: modes + 1], draw[-modes:]
        return full

    signed = np.concatenate([np.arange(modes + 1), np.arange(-modes, 0)])
    angles = 2 * PI / points * np.array(COORDINATES)
    rows, columns = np.exp(1j * np.outer(angles, signed)), np.exp(1j * np.outer(angles, np.arange(modes + 1)))
    columns[:, 1:] *= 2
    deviations = spectrum(field.standard_deviations()).real / np.sqrt(2)
    half = np.ones((points, modes + 2), complex)

    def drawn(index: int) -> np.ndarray:
        return deviates(index, points, modes + 2, 2).view(complex)[..., 0] * deviations

    by_ducc = partial(ducc.c2r, lastsize=points, forward=False, out=np.empty((points, points)))
    by_irfft2 = {
        name: partial(fft.irfft2, s=(points, points), norm="forward")
        for name, fft in (("NumPy irfft2", np.fft), ("SciPy irfft2", scipy.fft))
    }
    ways = [
        Way("Fourier series", partial(field.coefficients, 0, 0), lambda draw: observe_2d(draw, points)),
        *(Way(name, drawn, fft, spectrum) for name, fft in (by_irfft2 | {"ducc0 c2r": by_ducc}).items()),
    ]
    title = f"Periodic field on {points} × {points} points"
    return race(title, field, lambda draw: (rows @ draw @ columns.T).real, ways, partial(by_ducc, half))


class Way(NamedTuple):
    """A method to draw a sample by index and to evaluate it.

    `layout` converts our coefficients to the method's.
    """

    name: str
    draw: Callable[[int], np.ndarray]
    evaluate: Callable[[np.ndarray], np.ndarray]
    layout: Callable[[np.ndarray], np.ndarray] = np.asarray


def race(
    title: str, field: Field, series: Callable, ways: list[Way], transform: Callable[[], object]
) -> Race:
    """Race the methods; the first is ours.

    `series` sums our coefficients term by term at the compared points; `transform` is a single transform.
    """
    samples = [field.coefficients(0, 0, index) for index in range(COMPARED)]
    values = np.empty((SAMPLES, *ways[0].evaluate(samples[0]).shape))

    def filled(way: Way) -> np.ndarray:
        for index in range(SAMPLES):  # into existing memory, to exclude the time of allocation
            values[index] = way.evaluate(way.draw(index))
        return values

    def checked(way: Way) -> np.ndarray:
        return np.stack([np.array(way.evaluate(way.layout(draw))) for draw in samples])

    contestants = [
        Contestant(
            way.name, one_thread(partial(filled, way)), SAMPLES, "one thread", ours=way is ways[0],
            limit=one_thread(lambda: [transform() for _ in range(SAMPLES)]) if way is ways[0] else None,
            checked=partial(checked, way),
        )
        for way in ways
    ]  # fmt: skip
    compare = error_against(np.stack(list(map(series, samples))))
    here = np.ix_(range(COMPARED), COORDINATES, COORDINATES)
    return Race(title, contestants, lambda solutions: compare(solutions[here]))


def deviates(index: int, *shape: int) -> np.ndarray:
    """Draw standard normal deviates with NumPy's default generator, from the same kind of key as ours."""
    key = np.random.SeedSequence(0, spawn_key=(0, index))
    return np.random.default_rng(key).standard_normal(shape)
