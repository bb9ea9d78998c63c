"""Power by wavenumber: known waves in their shells, Parseval on every kind of grid."""

import numpy as np
import pytest

from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.solvers.common.grid import KINDS, Grid


def square(kind, points, length=1.0):
    """The grid, and its coordinates x and y, to broadcast."""
    grid = Grid(kind, points, length, dimension=2)
    return grid, grid.coordinates[None, :], grid.coordinates[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dimension", "points"), [(1, 12), (1, 16), (2, 12), (2, 16)])
def test_the_powers_add_up_to_the_mean_square(kind, dimension, points):
    grid = Grid(kind, points, 2.5, dimension=dimension)
    fields = np.random.default_rng(0).normal(size=(3, *[points] * dimension))
    means = (grid.weights * fields**2).sum(axis=tuple(range(1, 1 + dimension))) / grid.weights.sum()
    np.testing.assert_allclose(powers(fields, grid).sum(axis=1), means, rtol=1e-12)
    assert len(wavenumbers(grid)) == powers(fields, grid).shape[1]


@pytest.mark.parametrize("length", [1.0, 2 * np.pi])
def test_exponentials_are_in_the_shell_of_their_wavenumber(length):
    """Check |k| = 3 along an axis and k = (3, -4), for several lengths of the side."""
    grid, x, y = square("periodic", 16, length)
    x, y = (2 * np.pi * one / length for one in (x, y))
    field = 5 + 2 * np.sin(3 * x) * np.ones_like(y) + np.cos(3 * x - 4 * y)
    (power,) = powers(field[None], grid)
    expected = {0.0: 25, 3.0: 2, 5.0: 0.5}
    for wavenumber, one in zip(wavenumbers(grid), power, strict=True):
        assert one == pytest.approx(expected.get(wavenumber, 0), abs=1e-12)


@pytest.mark.parametrize("kind", ["nodes", "cell_centres"])
def test_cosines_are_in_the_shell_of_half_their_cycles(kind):
    grid, x, y = square(kind, 17)
    field = 3 + np.cos(4 * np.pi * x) * np.ones_like(y) + 2 * np.cos(3 * np.pi * x) * np.cos(4 * np.pi * y)
    power = dict(zip(wavenumbers(grid), powers(field[None], grid)[0], strict=True))
    expected = {0.0: 9, 2.0: 0.5, 2.5: 1.0}
    assert {k for k, one in power.items() if one > 1e-12} == set(expected)
    for wavenumber, one in expected.items():
        assert power[wavenumber] == pytest.approx(one)


def test_every_channel_is_a_function():
    grid, x, y = square("periodic", 8)
    wave = np.cos(2 * np.pi * x) * np.ones_like(y)
    assert powers(np.stack([wave, 3 * wave])[None], grid)[:, 1] == pytest.approx([0.5, 4.5])


@pytest.mark.parametrize("kind", KINDS)
def test_a_wave_on_an_interval_is_in_its_shell(kind):
    grid = Grid(kind, 16 + (kind == "nodes"))
    (power,) = powers(3 + 2 * np.cos(6 * np.pi * grid.coordinates)[None], grid)
    expected = {0.0: 9, 3.0: 2}
    for wavenumber, one in zip(wavenumbers(grid), power, strict=True):
        assert one == pytest.approx(expected.get(wavenumber, 0), abs=1e-12)
