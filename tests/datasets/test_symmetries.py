"""Symmetries of an equation commute with its solver, and its distribution knows them."""

import numpy as np
import pytest
from dataset_fixtures import small

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.registry import EQUATIONS, build_task
from resolvent.datasets.tasks.symmetries import of_shear_forcing

COUNTS = {"burgers": 7, "darcy": 7, "darcy_inverse": 1, "lorenz63": 1, "controlled_ode": 0, "kolmogorov": 7}


def solved(equation, values):
    """Return the targets of inputs: of Lorenz-63 those of the state that they start from."""
    if equation == "burgers":
        return resolvent.solve("burgers", values, viscosity=0.02, final_time=0.5)
    if equation == "darcy":
        return resolvent.solve("darcy", values)
    if equation == "lorenz63":
        return resolvent.solve("lorenz63", values[:, :, 0], times=np.linspace(0, 1, 11))[:, 1:]
    return resolvent.solve("kolmogorov", values, final_time=0.5, viscosity=0.05)


def drawn(equation):
    if equation == "darcy":
        return np.exp(np.random.default_rng(0).standard_normal((2, 17, 17)))
    if equation == "lorenz63":
        states = np.array([[3.0, -7.0, 20.0], [1.0, 9.0, 5.0]])
        return np.repeat(states[:, :, None], 11, axis=2)
    settings = small(equation)
    task = build_task(settings)
    arrays = task.compute([("train", 0), ("train", 1)])
    return arrays[f"n{max(settings.resolutions)}/{task.inputs[0]}"]


@pytest.mark.parametrize("equation", ["burgers", "darcy", "lorenz63", "kolmogorov"])
def test_a_symmetry_makes_of_a_solution_another(equation):
    values, symmetries = drawn(equation), small(equation).symmetries()
    mapped = [symmetry.inputs(values) for symmetry in symmetries]
    answers, *others = np.split(solved(equation, np.concatenate([values, *mapped])), 1 + len(mapped))
    for number, (symmetry, inputs) in enumerate(zip(symmetries, mapped, strict=True)):
        assert inputs.shape == values.shape
        assert np.all(relative_l2(inputs, values) > 0.1), number
        assert np.all(relative_l2(symmetry.back(others[number]), answers) < 1e-9), number


def test_the_maps_of_an_equation_differ_and_are_as_many_as_said():
    assert list(COUNTS) == list(EQUATIONS)
    for equation, count in COUNTS.items():
        maps = small(equation).symmetries()
        assert len(maps) == count
    values = np.random.default_rng(0).standard_normal((1, 16, 16))
    images = [one.inputs(values).tobytes() for one in of_shear_forcing(4, (16,))]
    assert len({values.tobytes(), *images}) == 8


@pytest.mark.parametrize("points", [4, 6, 10, 16, 36])
@pytest.mark.parametrize("equation", ["burgers", "kolmogorov"])
def test_maps_differ_on_every_stored_grid(equation, points):
    """A map that is the identity on a grid would make the scatter of predictions there too small."""
    changes = {"resolutions": [points, 64], "num_modes": 4, "initial_distribution": {"num_modes": 4}}
    dimension = 1 if equation == "burgers" else 2
    name = {1: "cao_burgers", 2: "calvello_kolmogorov"}[dimension]
    changes["initial_distribution"]["name"] = name
    values = np.random.default_rng(0).standard_normal((1, *[points] * dimension))
    images = [one.inputs(values).tobytes() for one in small(equation, **changes).symmetries()]
    assert len({values.tobytes(), *images}) == 1 + len(images)
    assert len(images) == (3 if equation == "kolmogorov" and points % 8 else 7)


def test_the_coarse_coefficient_of_the_inverse_problem_is_mapped_with_its_pressure():
    task = build_task(small("darcy_inverse"))
    fields = task.draw([("train", 0)])
    coefficient = task.coefficient(fields, 25)
    pressure = resolvent.solve("darcy", coefficient)
    (symmetry,) = task.settings.symmetries()
    straight = task.restricted(coefficient, pressure)
    turned = task.restricted(symmetry.inputs(coefficient), symmetry.inputs(pressure))
    for name, values in turned.items():
        np.testing.assert_allclose(symmetry.back(values), straight[name], rtol=1e-12)
