"""Darcy flow: its classical answers, and the inverse problem as training reads it."""

import numpy as np
import pytest
from dataset_fixtures import small

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_arrays, load_samples, read_card, training_noise
from resolvent.datasets.noise import Noise
from resolvent.datasets.tasks.registry import build_task
from resolvent.solvers.darcy.direct import solve_direct


@pytest.fixture(scope="module")
def task():
    return build_task(small("darcy"))


def errors(answer, target):
    return np.linalg.norm(answer - target, axis=(1, 2)) / np.linalg.norm(target, axis=(1, 2))


def test_on_the_finest_grid_both_solves_give_the_stored_pressure(task):
    stored = task.compute([("test", 0)])
    coefficient, pressure = stored["n33/coefficient"], stored["n33/pressure"]
    assert errors(task.solve_on_grid(coefficient), pressure).max() < 1e-8
    assert errors(task.solve_interpolated(coefficient), pressure).max() < 1e-8


@pytest.mark.parametrize(("points", "factor", "coarse"), [(33, 2, 17), (33, 4, 9), (16, 3, 6), (9, 4, 5)])
def test_a_coarser_solver_interpolates_to_its_grid_and_back(task, points, factor, coarse):
    coefficient = np.exp(np.random.default_rng(0).normal(size=(2, points, points)) / 4)
    fine, few = np.linspace(0, 1, points), np.linspace(0, 1, coarse)

    def moved(values, at, to):
        for axis in (1, 2):
            values = np.apply_along_axis(lambda row: np.interp(to, at, row), axis, values)
        return values

    expected = moved(solve_direct(moved(coefficient, fine, few)), few, fine)
    answer = task.classical_solvers()[f"5-point, 1/{factor} of the points a side"]
    assert errors(answer(coefficient, None), expected).max() < 1e-3
    same = task.classical_solvers()["5-point, on the same grid"]
    assert errors(same(coefficient, None), solve_direct(coefficient)).max() < 1e-3


@pytest.fixture(scope="module")
def cells():
    return build_task(small("darcy", grid="cell_centres", resolutions=[33, 17, 9]))


def test_cell_centres_are_restricted_by_index(cells):
    stored = cells.compute([("test", 0)])
    for group in cells.groups():
        stride = 32 // (group.grid.points - 1)
        np.testing.assert_allclose(group.grid.coordinates, (stride * np.arange(group.grid.points) + 0.5) / 33)
        for name in ("coefficient", "pressure"):
            found = stored[f"n{group.grid.points}/{name}"]
            np.testing.assert_array_equal(found, stored[f"n33/{name}"][:, ::stride, ::stride])
        assert found[:, 0].all()  # the ring is half a cell inside the boundary, so it is not zero
    direct = solve_direct(stored["n33/coefficient"], grid="cell_centres")
    assert errors(stored["n33/pressure"], direct).max() < 1e-9


def test_on_every_kth_cell_centre_classical_answers_use_the_right_grid(cells):
    stored = cells.compute([("test", 0), ("test", 1)])
    coefficient, pressure = stored["n17/coefficient"], stored["n17/pressure"]
    expected = solve_direct(coefficient, grid="cell_centres", stride=2)
    assert errors(cells.solve_on_grid(coefficient), expected).max() < 1e-8
    assert (
        errors(cells.classical_solvers()["5-point, on the same grid"](coefficient, None), expected).max()
        < 1e-3
    )
    constant = errors(cells.solve_constant(coefficient), pressure)
    for solve in (cells.solve_on_grid, cells.solve_interpolated):
        assert np.all(errors(solve(coefficient), pressure) < 0.5 * constant)
    settings = cells.settings
    bounds = settings.error_bounds(coefficient, pressure)["energy_error"]
    found = settings.energy_error(coefficient, pressure, expected)
    assert np.all((bounds[:, 0] <= found) & (found <= bounds[:, 1]))
    assert (
        settings.energy_error(coefficient, settings.corrected(coefficient, pressure, 40), expected).max()
        < 1e-8
    )


FINE, COARSE, TRAIN = 13, 5, 3  # of dataset_fixtures


@pytest.fixture
def card(card_of):
    return card_of("darcy_inverse")


def load(card, split="train", count=2, level=0.0, **options):
    return load_samples(card, FINE, split, count, noise=training_noise(card, FINE, TRAIN, level), **options)


def test_the_coefficient_is_stored_on_both_grids(card):
    fine, coarse = (load_arrays(card, f"n{n}", "test")["coefficient"] for n in (FINE, COARSE))
    task = build_task(small("darcy_inverse"))
    finest = task.coefficient(task.draw([("test", 0), ("test", 1)]), 25)
    for i, j in ((0, 0), (3, 11), (11, 2)):
        np.testing.assert_allclose(
            fine[:, i, j], finest[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].mean((1, 2)), rtol=1e-6
        )
    np.testing.assert_allclose(fine[:, -1, -1], finest[:, -1, -1])
    np.testing.assert_allclose(coarse[:, 1, 2], fine[:, 3:6, 6:9].mean((1, 2)), rtol=1e-6)


def test_each_choice_of_grids_has_input_and_target_where_it_says(card):
    stored, fine, coarse = (load(card, grids=grids) for grids in ("stored", "fine", "coarse"))
    assert (stored.grid.points, stored.target_grid.points) == (FINE, COARSE)
    assert (fine.grid.points, fine.target_grid.points) == (FINE, FINE)
    assert (coarse.grid.points, coarse.target_grid.points) == (COARSE, COARSE)
    for samples in (stored, fine, coarse):
        assert samples.inputs.shape == (2, *[samples.grid.points] * 2)
        assert samples.targets.shape == (2, *[samples.target_grid.points] * 2)
    np.testing.assert_array_equal(fine.inputs, stored.inputs)
    np.testing.assert_array_equal(coarse.targets, stored.targets)
    np.testing.assert_array_equal(fine.targets, load_arrays(card, f"n{FINE}", "train", 2)["coefficient"])


def test_the_coarse_pressure_is_what_was_measured_at_every_third_node(card):
    fine, coarse = (load(card, "test", level=0.1, grids=grids) for grids in ("fine", "coarse"))
    np.testing.assert_array_equal(coarse.inputs, fine.inputs[:, ::3, ::3])
    np.testing.assert_array_equal(coarse.grid.coordinates, fine.grid.coordinates[::3])


def test_noise_is_in_units_of_the_training_samples_in_use(card):
    pressure = load_arrays(card, f"n{FINE}", "train")["pressure"].astype(np.float64)
    for count in (2, 3):
        noise = training_noise(card, FINE, count, 0.1)
        np.testing.assert_allclose(noise.standard_deviation, pressure[:count].std(0), rtol=1e-6)
    clean, noisy = load(card, "test"), load(card, "test", level=0.1)
    seed = read_card(card)["seed"]
    expected = Noise(0.1, noise.standard_deviation, seed).added(clean.inputs, "test", range(2))
    np.testing.assert_array_equal(noisy.inputs, expected)
    assert np.abs(noisy.inputs - clean.inputs).max() > 0
    np.testing.assert_array_equal(noisy.targets, clean.targets)


def test_no_level_is_no_noise(card):
    assert training_noise(card, FINE, TRAIN, 0.0) is None
    stored = load_arrays(card, f"n{FINE}", "train", 2)["pressure"]
    np.testing.assert_array_equal(load(card).inputs, stored)


def test_the_noise_of_a_split_is_never_that_of_another(card):
    clean, noisy = ([load(card, s, 1, level).inputs[0] for s in ("train", "test")] for level in (0, 0.1))
    train, test = (loud - quiet for loud, quiet in zip(noisy, clean, strict=True))
    inside = (slice(1, -1), slice(1, -1))
    assert not np.isclose(train[inside], test[inside], rtol=1e-3).any()


def test_a_coarse_grid_is_no_grid_of_inputs(card):
    with pytest.raises(DatasetError, match=rf"is not stored at {COARSE}; it has {FINE}"):
        load_samples(card, COARSE, "train", 1)
