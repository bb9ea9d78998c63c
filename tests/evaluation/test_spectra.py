"""Power by wavenumber: known waves in their shells, Parseval on every kind of grid, what evaluation keeps."""

import numpy as np
import pytest
import torch
from torch import nn
from training_fixtures import rough_samples, smooth_samples

from resolvent.common.predictions import condition
from resolvent.evaluation.conditions import Condition, evaluate
from resolvent.evaluation.spectra import mean_power, wavenumbers
from resolvent.solvers.common.grid import KINDS, Grid

CPU, SHOWN = torch.device("cpu"), np.array([0])


def square(kind, points, length=1.0):
    """The grid, and its coordinates x and y, to broadcast."""
    grid = Grid(kind, points, length, dimension=2)
    return grid, grid.coordinates[None, :], grid.coordinates[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [12, 16])
def test_the_powers_add_up_to_the_mean_square(kind, points):
    grid = Grid(kind, points, 2.5, dimension=2)
    fields = np.random.default_rng(0).normal(size=(3, points, points))
    means = (grid.weights * fields**2).sum(axis=(1, 2)) / grid.weights.sum()
    np.testing.assert_allclose(mean_power(fields, grid).sum(), means.mean(), rtol=1e-12)
    assert len(wavenumbers(grid)) == len(mean_power(fields, grid))


@pytest.mark.parametrize("length", [1.0, 2 * np.pi])
def test_exponentials_are_in_the_shell_of_their_wavenumber(length):
    """Check |k| = 3 along an axis and k = (3, -4), for several lengths of the side."""
    grid, x, y = square("periodic", 16, length)
    x, y = (2 * np.pi * one / length for one in (x, y))
    field = 5 + 2 * np.sin(3 * x) * np.ones_like(y) + np.cos(3 * x - 4 * y)
    power = mean_power(field[None], grid)
    expected = {0.0: 25, 3.0: 2, 5.0: 0.5}
    for wavenumber, one in zip(wavenumbers(grid), power, strict=True):
        assert one == pytest.approx(expected.get(wavenumber, 0), abs=1e-12)


@pytest.mark.parametrize("kind", ["nodes", "cell_centres"])
def test_cosines_are_in_the_shell_of_half_their_cycles(kind):
    grid, x, y = square(kind, 17)
    field = 3 + np.cos(4 * np.pi * x) * np.ones_like(y) + 2 * np.cos(3 * np.pi * x) * np.cos(4 * np.pi * y)
    power = dict(zip(wavenumbers(grid), mean_power(field[None], grid), strict=True))
    expected = {0.0: 9, 2.0: 0.5, 2.5: 1.0}
    assert {k for k, one in power.items() if one > 1e-12} == set(expected)
    for wavenumber, one in expected.items():
        assert power[wavenumber] == pytest.approx(one)


def test_the_power_is_a_mean_over_samples_and_a_sum_over_channels():
    grid, x, y = square("periodic", 8)
    wave = np.cos(2 * np.pi * x) * np.ones_like(y)
    assert mean_power(np.stack([wave, 3 * wave]), grid)[1] == pytest.approx((0.5 + 4.5) / 2)
    assert mean_power(np.stack([wave, 3 * wave])[None], grid)[1] == pytest.approx(0.5 + 4.5)


class Half(nn.Module):
    """Half of what it should be: for samples whose targets are their inputs."""

    def forward(self, u, x):
        return u / 2


def kept_of(samples, operator=None):
    _, kept = evaluate(operator, [(Condition(13), samples)], CPU, SHOWN)
    (node,) = kept.children.values()
    return condition(kept, node.attrs["resolution"], 0.0)


def test_evaluation_keeps_the_spectra_of_fields_on_the_square():
    samples = rough_samples(5)
    same = type(samples)(samples.grid, samples.targets, samples.targets)
    kept = kept_of(same, Half())
    expected = mean_power(samples.targets, samples.grid)
    np.testing.assert_array_equal(kept["target_power"].values, expected)
    np.testing.assert_allclose(kept["error_power"].values, expected / 4, rtol=1e-4, atol=1e-15)
    np.testing.assert_allclose(kept["prediction_power"].values, expected / 4, rtol=1e-4, atol=1e-15)
    np.testing.assert_array_equal(kept["wavenumber"].values, np.arange(len(expected)) / 2)


def test_a_diverged_run_has_the_target_s_spectrum_only():
    kept = kept_of(rough_samples(3))
    assert np.isfinite(kept["target_power"].values).all()
    assert np.isnan(kept["error_power"].values).all()


def test_evaluation_keeps_the_spectra_of_functions_on_an_interval():
    samples = smooth_samples(3)
    same = type(samples)(samples.grid, samples.targets, samples.targets)
    kept = kept_of(same, Half())
    powers = kept["target_power"].values
    assert powers.sum() == pytest.approx((samples.grid.weights * samples.targets**2).sum() / len(samples))
    np.testing.assert_allclose(kept["error_power"].values, powers / 4, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [12, 16])
def test_the_powers_of_functions_on_an_interval_add_up_to_the_mean_square(kind, points):
    grid = Grid(kind, points, 2.5)
    values = np.random.default_rng(0).normal(size=(3, points))
    means = (grid.weights * values**2).sum(axis=1) / grid.weights.sum()
    np.testing.assert_allclose(mean_power(values, grid).sum(), means.mean(), rtol=1e-12)
    assert len(wavenumbers(grid)) == len(mean_power(values, grid))


@pytest.mark.parametrize("kind", KINDS)
def test_a_wave_on_an_interval_is_in_its_shell(kind):
    grid = Grid(kind, 16 + (kind == "nodes"))
    power = mean_power(3 + 2 * np.cos(6 * np.pi * grid.coordinates)[None], grid)
    expected = {0.0: 9, 3.0: 2}
    for wavenumber, one in zip(wavenumbers(grid), power, strict=True):
        assert one == pytest.approx(expected.get(wavenumber, 0), abs=1e-12)
