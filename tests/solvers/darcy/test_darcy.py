"""Darcy flow: exact solutions, an independent direct solution, and the balances that the equations imply."""

import sys
from functools import lru_cache, partial

import jax
import numpy as np
import pytest
from darcy_problem import coefficients, manufactured

from resolvent.datasets.tasks import darcy as tasks
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy import five_point, sine_transforms
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import FACE_MEANS, GRIDS, METHODS, DarcyFivePoint, default_method

DISTRIBUTIONS = ("cao_darcy", "calvello_darcy_v1")  # two values, and lognormal
on_every_grid = pytest.mark.parametrize("grid", GRIDS)
by_every_mean = pytest.mark.parametrize("face_mean", FACE_MEANS)
by_every_method = pytest.mark.parametrize("method", METHODS)
Tight = partial(DarcyFivePoint, tolerance=1e-12)


@lru_cache
def drawn(distribution, grid, points):
    """Two coefficients of a distribution."""
    return coefficients(distribution, points, 2, grid, num_modes=32)


@lru_cache
def direct(distribution, grid, points, face_mean):
    return solve_direct(drawn(distribution, grid, points), grid=grid, face_mean=face_mean)


@pytest.fixture
def random():
    return np.random.default_rng(0)


def relative_errors(values, truth):
    return np.linalg.norm(values - truth, axis=(1, 2)) / np.linalg.norm(truth, axis=(1, 2))


def observed_order(spacings, errors):
    return np.polyfit(np.log(spacings), np.log(errors), 1)[0]


@pytest.mark.parametrize(("grid", "stride"), [*((grid, 1) for grid in GRIDS), ("cell_centres", 3)])
@by_every_mean
def test_second_order_for_a_smooth_coefficient(grid, stride, face_mean):
    """A manufactured pressure and its source: no other discretisation takes part."""
    sizes = (17, 33, 65)
    errors = []
    for points in sizes:
        coefficient, source, pressure = manufactured(points, grid, stride)
        solution = Tight(grid, face_mean, stride=stride).solve(coefficient, source)
        errors.append(np.abs(solution - pressure).max())
    spacings = [1 / (points - 1) if stride > 1 else Grid(grid, points).spacing for points in sizes]
    assert observed_order(spacings, errors) == pytest.approx(2, abs=0.15), errors
    assert errors[-1] < 5e-3


@by_every_method
@by_every_mean
def test_every_kth_cell_centre_has_the_direct_solution(face_mean, method):
    coefficient = drawn("cao_darcy", "cell_centres", 97)[:, ::4, ::4].copy()
    solver = DarcyFivePoint("cell_centres", face_mean, method, accuracy=1e-9, stride=4)
    exact = solve_direct(coefficient, grid="cell_centres", face_mean=face_mean, stride=4)
    assert relative_errors(solver.solve(coefficient), exact).max() < 1e-9


def layered(grid, points, across):
    """Two layers, 3 and 12, whose interface lies midway between two rows of points, for any even `points`."""
    y, x = np.meshgrid(*[Grid(grid, points).coordinates] * 2, indexing="ij")
    layers, along = (x, y) if across else (y, x)
    coefficient = np.where(layers < 0.5, 3.0, 12.0)
    return coefficient, np.sin(2 * np.pi * layers) * np.sin(np.pi * along)


@on_every_grid
@by_every_method
@pytest.mark.parametrize("across", [True, False])
def test_the_harmonic_mean_solves_the_layers_exactly(grid, method, across):
    """Use the eigenvalue of the differences in place of that of the Laplacian: equal up to rounding."""
    coefficient, wave = layered(grid, 48, across)
    spacing = Grid(grid, 48).spacing
    eigenvalue = sum(2 - 2 * np.cos(np.pi * k * spacing) for k in (1, 2)) / spacing**2
    exact = (wave / coefficient)[None]
    pressure = Tight(grid, "harmonic", method).solve(coefficient[None], eigenvalue * wave[None])
    assert relative_errors(pressure, exact).max() < 1e-11
    pressure = Tight(grid, "arithmetic", method).solve(coefficient[None], eigenvalue * wave[None])
    assert relative_errors(pressure, exact).max() > 1e-3


@on_every_grid
@by_every_mean
@by_every_method
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_agreement_with_the_direct_solution(grid, face_mean, method, distribution):
    """48 nodes have 47 intervals, which no coarser grid divides."""
    pressure = DarcyFivePoint(grid, face_mean, method).solve(drawn(distribution, grid, 48))
    assert relative_errors(pressure, direct(distribution, grid, 48, face_mean)).max() < 1e-9


@on_every_grid
@pytest.mark.parametrize("points", [4, 5, 7, 31, 65, 103])
def test_multigrid_coarsens_grids_of_any_size(grid, points):
    pressure = DarcyFivePoint(grid, tolerance=1e-10).solve(drawn("cao_darcy", grid, points))
    assert relative_errors(pressure, direct("cao_darcy", grid, points, "arithmetic")).max() < 1e-10


@pytest.mark.parametrize(("points", "pressure"), [(3, 1 / 16), (4, 1 / 18)])
def test_the_smallest_grids(points, pressure):
    """The one unknown on 3 nodes has 4p = h²; the four on 4 nodes have 4p - 2p = h²."""
    expected = np.zeros((1, points, points))
    expected[:, 1:-1, 1:-1] = pressure
    for solution in (DarcyFivePoint().solve(np.ones_like(expected)), solve_direct(np.ones_like(expected))):
        np.testing.assert_allclose(solution, expected, rtol=1e-8)


@by_every_method
def test_without_a_source_the_pressure_is_zero(method):
    """Also where another sample of the batch has one; on the boundary's nodes a source does nothing."""
    coefficient = drawn("cao_darcy", "nodes", 48)
    source = np.stack([np.zeros((48, 48)), np.ones((48, 48))])
    for edge in (0.0, 1.0):
        source[0, 0] = edge
        pressure = DarcyFivePoint(method=method).solve(coefficient, source)
        assert (pressure[0] == 0).all()
        assert relative_errors(pressure[1:], direct("cao_darcy", "nodes", 48, "arithmetic")[1:]).max() < 1e-9


@by_every_method
@pytest.mark.parametrize("size", [1e-14, 1e-20, 1e20])
def test_a_source_of_any_size_is_solved_in_single_precision(method, size):
    """Its square may underflow, which must not pass for convergence, or overflow."""
    coefficient = drawn("cao_darcy", "cell_centres", 48).astype(np.float32)
    solver = DarcyFivePoint("cell_centres", method=method, tolerance=1e-5)
    pressure = solver.solve(coefficient, size) / np.float32(size)
    assert relative_errors(pressure, direct("cao_darcy", "cell_centres", 48, "arithmetic")).max() < 1e-5


@by_every_method
def test_a_tolerance_whose_square_underflows_does_not_pass_for_reached(method):
    with pytest.raises(SolverError, match="did not fall below 1e-170"):
        DarcyFivePoint(method=method, tolerance=1e-170).solve(drawn("cao_darcy", "nodes", 48))


@on_every_grid
@by_every_method
def test_a_batch_of_sources_or_one_for_all(grid, method, random):
    coefficient, source = drawn("cao_darcy", grid, 48), random.random((2, 48, 48))
    solver = DarcyFivePoint(grid, method=method)
    np.testing.assert_array_equal(solver.solve(coefficient, np.ones((1, 48, 48))), solver.solve(coefficient))
    together = solver.solve(coefficient, source)
    np.testing.assert_array_equal(solver.solve(coefficient[1:], source[1:])[0], together[1])
    np.testing.assert_array_equal(solver.solve(coefficient, source[:1])[0], together[0])


@pytest.mark.parametrize("lanes", [1, 4])
def test_samples_solved_side_by_side_have_the_bits_of_one_alone(lanes, monkeypatch):
    """One is finished in an iteration, some are scaled and some are not, and lanes stay empty.

    A CPU has one lane. With more, as a GPU has, what JAX 0.12 compiles for a CPU rounds some numbers by
    their place in a vector register.
    """
    rounding = 0 if lanes == sine_transforms.LANES["cpu"] else 1e-13
    monkeypatch.setitem(sine_transforms.LANES, "cpu", lanes)
    jumps, smooth = drawn("cao_darcy", "nodes", 48), manufactured(48)[0][:2]
    coefficient = np.concatenate([np.ones((1, 48, 48)), jumps, smooth])
    solver = Tight(method="sine")
    together = solver.solve(coefficient)
    for row in range(5):
        alone = solver.solve(coefficient[row : row + 1])[0]
        np.testing.assert_allclose(alone, together[row], rtol=rounding)
    assert relative_errors(together, solve_direct(coefficient)).max() < 1e-11


@pytest.mark.parametrize(("backend", "method"), [("cpu", "multigrid"), ("gpu", "sine"), ("tpu", "multigrid")])
def test_sine_transforms_are_the_default_on_a_gpu_alone(backend, method, monkeypatch):
    monkeypatch.setattr(five_point, "find_spec", lambda name: name)
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    assert default_method() == method


def test_jax_is_not_asked_for_a_gpu_where_it_has_no_plugin(monkeypatch):
    monkeypatch.setattr(five_point, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "jax", None)  # an import of it fails
    assert default_method() == "multigrid"


@by_every_method
def test_what_cannot_be_solved_is_refused(method):
    with pytest.raises(ValueError, match="at least 3 points along each axis; got 2"):
        DarcyFivePoint(method=method).solve(np.ones((1, 2, 2)))
    for value in (0.0, -3.0, np.nan, np.inf):
        coefficient = np.ones((3, 9, 9))
        coefficient[1, 0, 4] = coefficient[2, 5, 5] = value
        with pytest.raises(SolverError, match=r"^Darcy: .* is not positive \(sample rows 1, 2\)"):
            DarcyFivePoint(method=method).solve(coefficient)
    for value in (np.nan, np.inf):
        source = np.ones((2, 48, 48))
        source[1, 5, 5] = value
        with pytest.raises(SolverError, match=r"source is not finite \(sample rows 1\)"):
            DarcyFivePoint(method=method).solve(drawn("cao_darcy", "nodes", 48), source)


@pytest.mark.parametrize(
    ("distribution", "grid", "most"),
    [("cao_darcy", "nodes", 12), ("calvello_darcy", "cell_centres", 12), ("calvello_darcy", "nodes", 10)],
)
def test_multigrid_takes_few_iterations(distribution, grid, most, monkeypatch):
    """A weaker preconditioner gives the same solutions, later."""
    monkeypatch.setattr(five_point, "MAX_ITERATIONS", most)
    DarcyFivePoint(grid=grid, method="multigrid").solve(drawn(distribution, grid, 97))


@pytest.mark.parametrize(("method", "rows"), [("multigrid", "0, 1, 2"), ("sine", "1, 2")])
def test_iterations_that_do_not_converge_are_refused(method, rows, monkeypatch):
    """Sine transforms invert a constant coefficient in one iteration."""
    monkeypatch.setattr(five_point, "MAX_ITERATIONS", 3)
    coefficient = np.concatenate([np.ones((1, 48, 48)), drawn("cao_darcy", "nodes", 48)])
    with pytest.raises(SolverError, match=rf"below 1e-08 in 3 iterations \(sample rows {rows}\); use"):
        DarcyFivePoint(method=method).solve(coefficient)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("contrast", [2, 100, 1e4])
@pytest.mark.parametrize("grid", ["nodes", "cell_centres"])
def test_an_accuracy_is_enough_at_any_contrast(grid, contrast, accuracy):
    fields = coefficients("cao_darcy", 49, 3, grid)  # 3 and 12
    coefficient = np.where(fields > 5, float(contrast), 1.0)
    exact = solve_direct(coefficient, grid=grid)
    found = DarcyFivePoint(grid=grid, accuracy=accuracy).solve(coefficient)
    assert relative_errors(found, exact).max() <= accuracy


@pytest.mark.parametrize("contrast", [1e6, 1e8])
def test_an_accuracy_is_enough_where_the_error_hardly_falls_for_many_steps(contrast):
    coefficient = np.where(coefficients("cao_darcy", 65, 8) > 5, contrast, 1.0)
    exact = solve_direct(coefficient)
    for accuracy in (1e-4, 1e-5):
        found = DarcyFivePoint(accuracy=accuracy).solve(coefficient)
        assert relative_errors(found, exact).max() <= accuracy


@pytest.mark.parametrize("method", ["multigrid", "sine"])
def test_an_accuracy_is_enough_by_both_methods_and_for_smooth_coefficients(method):
    coefficient = coefficients("calvello_darcy", 33, 3) ** 2
    solver = DarcyFivePoint(method=method, accuracy=1e-7)
    found = solver.solve(coefficient)
    assert relative_errors(found, solve_direct(coefficient)).max() <= 1e-7
    np.testing.assert_array_equal(found[1:2], solver.solve(coefficient[1:2]))


def test_an_accuracy_beyond_rounding_is_refused():
    assert tasks.LEAST_ACCURACY == five_point.LEAST_ACCURACY  # planning does not import the solver
    with pytest.raises(ValueError, match="accuracy must be between 1e-11 and 1, got 1e-12"):
        DarcyFivePoint(accuracy=1e-12)
