"""Gaussian random fields in two dimensions: drawn, and evaluated on a grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.fft

from benchmarks.solvers.race import Contestant, Field, Race, error_against, field_of, one_thread
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import observe_2d

REMARK = (
    "A sample is drawn from its distribution and evaluated. Peers draw the deviates with NumPy's default "
    "generator, seeded anew for each sample, straight into the layout of their transform; ours are drawn in "
    "an order in which more modes only append. Errors are those of the evaluation of our coefficients. "
    "Reference: the series summed term by term at some points, in extended precision. Limit: one "
    "transform of the whole grid, without drawing."
)
SAMPLES = 16
COMPARED = 4  # samples
COORDINATES = [0, 1, 17, 100, 211, 300, 415]  # of the points compared, along each axis
PI = np.arccos(np.longdouble(-1))  # NumPy's own is in double precision


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
    ours = partial(field.coefficients, 0, 0)
    reference = np.stack([few @ draw @ few.T for draw in drawn(field, COMPARED)])
    deviations = field.standard_deviations() * scale
    values = np.ones((points, points))
    return race(
        f"Neumann field on {points} × {points} nodes",
        field,
        reference,
        {
            "cosine series": (ours, lambda draw: observe_cosine(draw, points, "nodes")),
            "SciPy dctn": (
                lambda index: deviates(index, points, points) * deviations,
                lambda draw: scipy.fft.dctn(draw, type=1),
            ),
            "NumPy, two matrix products": (
                lambda index: deviates(index, points, points) * field.standard_deviations(),
                lambda draw: cosines @ draw @ cosines.T,
            ),
        },
        {"SciPy dctn": lambda draw: scale * draw},
        lambda: scipy.fft.dctn(values, type=1),
    )


def periodic(points: int) -> Race:
    modes = points // 2 - 1
    field = field_of("calvello_kolmogorov", num_modes=modes)

    def spectrum(draw: np.ndarray) -> np.ndarray:
        """Lay the modes out for the grid; those that it cannot tell apart are zero."""
        full = np.zeros((points, modes + 2), complex)
        full[: modes + 1, :-1], full[-modes:, :-1] = draw[: modes + 1], draw[-modes:]
        return full

    signed = np.concatenate([np.arange(modes + 1), np.arange(-modes, 0)])
    angles = 2 * PI / points * np.array(COORDINATES)
    rows, columns = np.exp(1j * np.outer(angles, signed)), np.exp(1j * np.outer(angles, np.arange(modes + 1)))
    columns[:, 1:] *= 2
    ours = partial(field.coefficients, 0, 0)
    reference = np.stack([(rows @ draw @ columns.T).real for draw in drawn(field, COMPARED)])
    deviations = spectrum(field.standard_deviations()).real / np.sqrt(2)
    half = np.ones((points, modes + 2), complex)

    def drawn_by_numpy(index: int) -> np.ndarray:
        return deviates(index, points, modes + 2, 2).view(complex)[..., 0] * deviations

    return race(
        f"Periodic field on {points} × {points} points",
        field,
        reference,
        {
            "Fourier series": (ours, lambda draw: observe_2d(draw, points)),
            "NumPy irfft2": (
                drawn_by_numpy,
                lambda draw: np.fft.irfft2(draw, s=(points, points), norm="forward"),
            ),
            "SciPy irfft2": (
                drawn_by_numpy,
                lambda draw: scipy.fft.irfft2(draw, s=(points, points), norm="forward"),
            ),
        },
        {"NumPy irfft2": spectrum, "SciPy irfft2": spectrum},
        lambda: scipy.fft.irfft2(half, s=(points, points)),
    )


def race(
    title: str,
    field: Field,
    reference: np.ndarray,
    ways: dict[str, tuple[Callable, Callable]],
    layouts: dict[str, Callable],
    transform: Callable[[], object],
) -> Race:
    """Race the ways to draw a sample and to evaluate it, the first of them ours.

    `layouts` turns our coefficients into those that a peer evaluates; `transform` is one alone, by SciPy.
    """
    ours = next(iter(ways))
    samples = drawn(field, COMPARED)
    values = np.empty((SAMPLES, *next(iter(ways.values()))[1](samples[0]).shape))
    contestants = [
        Contestant(
            name,
            one_thread(lambda way=way: filled(values, way)),
            SAMPLES,
            "one thread",
            ours=name == ours,
            limit=one_thread(lambda: [transform() for _ in range(SAMPLES)]) if name == ours else None,
            checked=lambda name=name, way=way: np.stack(
                [way[1](layouts.get(name, np.asarray)(draw)) for draw in samples]
            ),
        )
        for name, way in ways.items()
    ]
    compare = error_against(reference)
    here = np.ix_(range(COMPARED), COORDINATES, COORDINATES)
    return Race(title, contestants, lambda solutions: compare(solutions[here]))


def filled(values: np.ndarray, way: tuple[Callable, Callable]) -> np.ndarray:
    """Draw and evaluate samples into memory that there is: getting it from the system is no part of it."""
    draw, evaluate = way
    for index in range(len(values)):
        values[index] = evaluate(draw(index))
    return values


def deviates(index: int, *shape: int) -> np.ndarray:
    """Draw standard normal deviates by NumPy's default generator, from the same kind of key as ours."""
    key = np.random.SeedSequence(0, spawn_key=(0, index))
    return np.random.default_rng(key).standard_normal(shape)


def drawn(field: Field, samples: int) -> list[np.ndarray]:
    return [field.coefficients(0, 0, index) for index in range(samples)]
