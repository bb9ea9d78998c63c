"""Bounds of the energy error hold for whatever is predicted, and are as near as they say."""

import numpy as np
import pytest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.darcy.bounds import energy_error_bounds, energy_norm
from resolvent.solvers.darcy.direct import faces_along, solve_direct
from resolvent.solvers.darcy.five_point import FACE_MEANS, GRIDS, METHODS, DarcyFivePoint

POINTS, COEFFICIENTS, PREDICTIONS = 17, 15, 30  # of each grid and mean: 2,700 predictions in all


def adversarial_coefficients(random):
    """Contrasts of 1 to 1e4 in stripes, checkerboards, single points and noise, and lognormal fields."""
    y, x = np.indices((POINTS, POINTS))
    for number in range(COEFFICIENTS):
        contrast = 10 ** random.uniform(0, 4)
        high = [x // 3 % 2 == 0, (x + y) % 2 == 0, (x == 8) & (y == 8), random.random((POINTS, POINTS)) < 0.5]
        if number % 5 == 4:
            yield np.exp(random.standard_normal((POINTS, POINTS)) * random.uniform(0.1, 2))
        else:
            yield np.where(high[number % 5], contrast, 1.0) * 10 ** random.uniform(-3, 3)


def adversarial_predictions(random, truth, coefficient):
    """Errors from 1e-17 to 1e6: smooth, rough, at a point, where the coefficient is large or small."""
    y, x = np.indices((POINTS, POINTS)) / (POINTS - 1)
    for number in range(PREDICTIONS):
        wave = np.sin(np.pi * random.integers(1, POINTS) * x) * np.sin(np.pi * random.integers(1, POINTS) * y)
        point = np.zeros_like(truth)
        point[tuple(random.integers(1, POINTS - 1, 2))] = 1
        noise = random.standard_normal(truth.shape)
        large = coefficient >= coefficient.mean()
        error = (wave, point, noise, noise * large, noise * ~large + point, truth * noise, truth)[number % 7]
        yield truth + 10 ** random.uniform(-17, 6) * np.linalg.norm(truth) / np.linalg.norm(error) * error
    yield truth
    yield np.zeros_like(truth)


@pytest.mark.parametrize(("grid", "stride"), [*((grid, 1) for grid in GRIDS), ("cell_centres", 5)])
@pytest.mark.parametrize("face_mean", FACE_MEANS)
def test_the_bounds_hold_for_adversarial_predictions_and_are_as_near_as_the_contrast(grid, stride, face_mean):
    random = np.random.default_rng(0)
    where = grid, face_mean, stride
    for coefficient in adversarial_coefficients(random):
        (truth,) = solve_direct(coefficient[None], 1.0, *where)
        predictions = np.array(list(adversarial_predictions(random, truth, coefficient)))
        several = np.broadcast_to(coefficient, predictions.shape)
        if grid == "nodes":
            predictions[:, [0, -1]] = predictions[:, :, [0, -1]] = 7.0  # known, and not looked at
        absolute, relative = energy_error_bounds(several, predictions, 1.0, *where)
        error = energy_norm(several, predictions - truth, *where)
        size = energy_norm(coefficient[None], truth[None], *where)
        assert np.all(absolute[:, 0] <= error * (1 + 1e-9))
        assert np.all(error <= absolute[:, 1])
        assert np.all(relative[:, 0] <= error / size * (1 + 1e-9))
        assert np.all(error / size <= relative[:, 1])
        faces = [faces_along(one, *where) for one in (coefficient, coefficient.T)]
        units = faces_along(np.ones_like(coefficient), *where)
        ratio = max((one / units).max() for one in faces) / min((one / units).min() for one in faces)
        seen = error > 1e-7 * size
        assert np.all(absolute[seen, 1] <= np.sqrt(ratio) * error[seen] * (1 + 1e-3))
        assert np.all(absolute[seen, 0] >= error[seen] / np.sqrt(ratio) * (1 - 1e-3))
        assert np.all(relative[seen, 1] <= ratio * error[seen] / size * (1 + 1e-3))
        assert np.all(relative[seen, 0] >= error[seen] / size / ratio * (1 - 1e-3))
        exact = np.flatnonzero(error < 1e-13 * size)
        assert exact.size
        assert np.all(relative[exact, 1] < 1e-8)


def test_a_source_that_varies_and_a_solution_of_ours():
    random = np.random.default_rng(1)
    coefficient = np.exp(random.standard_normal((3, 33, 33)))
    source = random.standard_normal((3, 33, 33))
    pressure = DarcyFivePoint(tolerance=1e-12).solve(coefficient, source)
    _, relative = energy_error_bounds(coefficient, pressure, source)
    assert np.all(relative[:, 1] < 1e-8)
    _, relative = energy_error_bounds(coefficient, 1.1 * pressure, source)
    assert np.all((relative[:, 0] < 0.1) & (relative[:, 1] > 0.1))


def test_what_has_no_bound_is_refused():
    ones = np.ones((2, 9, 9))
    with pytest.raises(SolverError, match=r"coefficient is not positive \(sample rows 1\)"):
        energy_error_bounds(ones * [[[1]], [[0]]], ones)
    with pytest.raises(SolverError, match=r"prediction or the source is not finite \(sample rows 0\)"):
        energy_error_bounds(ones, ones * [[[np.nan]], [[0]]])


@pytest.mark.parametrize(("grid", "stride"), [*((grid, 1) for grid in GRIDS), ("cell_centres", 5)])
@pytest.mark.parametrize("method", METHODS)
def test_steps_of_conjugate_gradients_correct_a_prediction(grid, stride, method):
    random = np.random.default_rng(2)
    coefficient = np.where(random.random((2, 33, 33)) < 0.5, 3.0, 12.0)
    solver = DarcyFivePoint(grid, method=method, stride=stride)
    truth = solve_direct(coefficient, grid=grid, stride=stride)
    where = grid, "arithmetic", stride
    prediction = truth * (1 + 0.1 * random.standard_normal(truth.shape))
    errors = [energy_norm(coefficient, prediction - truth, *where)]
    for steps in (1, 2, 4, 40):
        corrected = solver.correct(coefficient, prediction, steps)
        errors.append(energy_norm(coefficient, corrected - truth, *where))
    assert np.all(np.diff(np.log(errors), axis=0) < np.log(0.8)), errors
    assert np.all(errors[-1] < 1e-9 * energy_norm(coefficient, truth, *where))
    assert np.all(energy_norm(coefficient, solver.correct(coefficient, truth, 1) - truth, *where) < 1e-12)
    with pytest.raises(ValueError, match="steps must be 1 or more, got 0"):
        solver.correct(coefficient, prediction, 0)
