"""Symmetries of an equation commute with its solver, and its distribution knows them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from dataset_fixtures import small

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.datasets.gradients import gradient
from resolvent.datasets.tasks.registry import EQUATIONS, build_task
from resolvent.datasets.tasks.symmetries import Symmetry, of_shear_forcing
from resolvent.solvers.common.grid import Grid
from resolvent.training.augmentation import Augmentation
from resolvent.training.data import Batch
from resolvent.training.errors import TrainingError
from resolvent.training.tensors import as_functions, as_samples

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


@pytest.mark.parametrize("equation", ["burgers", "darcy", "lorenz63", "kolmogorov"])
def test_a_sample_mapped_for_training_has_the_target_that_the_solver_gives(equation):
    settings, values = small(equation), drawn(equation)[:1]
    symmetries = settings.symmetries()
    targets = solved(equation, values)
    grid = SimpleNamespace(dimension=values.ndim - 1 - (equation == "lorenz63"))
    augmentation = Augmentation(symmetries, (grid, grid), 0, 1, torch.device("cpu"))
    maps = torch.arange(1 + len(symmetries))
    inputs = as_functions(torch.from_numpy(values), grid).repeat_interleave(len(maps), dim=0)
    labels = torch.from_numpy(targets).repeat_interleave(len(maps), dim=0)
    mapped = augmentation.mapped(Batch(inputs, labels), maps)
    unchanged, *others = as_samples(mapped.inputs).numpy()
    np.testing.assert_array_equal(unchanged, values[0])
    for symmetry, other in zip(symmetries, others, strict=True):
        np.testing.assert_array_equal(other, symmetry.inputs(values)[0])
    expected = solved(equation, np.ascontiguousarray(as_samples(mapped.inputs).numpy()))
    assert np.all(relative_l2(mapped.targets.numpy(), expected) < 1e-9)


def test_an_inverse_sample_mapped_for_training_is_that_of_the_mapped_coefficient():
    task = build_task(small("darcy_inverse"))
    coefficient = task.coefficient(task.draw([("train", 0)]), 25)
    pressure = resolvent.solve("darcy", coefficient)
    straight = task.restricted(coefficient, pressure)
    turned = task.restricted(coefficient.swapaxes(1, 2).copy(), pressure.swapaxes(1, 2).copy())
    grid = SimpleNamespace(dimension=2)
    augmentation = Augmentation(task.settings.symmetries(), (grid, grid), 0, 1, torch.device("cpu"))
    batch = Batch(*(torch.from_numpy(straight[name]) for name in ("n13/pressure", "n5/coefficient")))
    batch = Batch(batch.inputs[..., None], batch.targets)
    mapped = augmentation.mapped(batch, torch.tensor([1]))
    np.testing.assert_allclose(mapped.inputs[..., 0], turned["n13/pressure"], rtol=1e-12)
    np.testing.assert_allclose(mapped.targets, turned["n5/coefficient"], rtol=1e-12)


@pytest.mark.parametrize(("equation", "grid"), [
    ("burgers", Grid("periodic", 32)), ("kolmogorov", Grid("periodic", 16, dimension=2)),
    ("darcy", Grid("nodes", 9, dimension=2)), ("darcy", Grid("cell_centres", 8, dimension=2)),
])  # fmt: skip
def test_gradients_are_mapped_as_vectors(equation, grid):
    values = np.random.default_rng(0).standard_normal((1, *grid.shape))
    symmetries = small(equation, **({"resolutions": [16]} if equation == "kolmogorov" else {})).symmetries()
    maps = torch.arange(1 + len(symmetries))
    inputs, gradients = (
        torch.from_numpy(array).repeat_interleave(len(maps), dim=0)
        for array in (values, gradient(values, grid))
    )
    augmentation = Augmentation(symmetries, (grid, grid), 0, 1, torch.device("cpu"))
    mapped = augmentation.mapped(Batch(inputs[..., None], inputs, gradients), maps)
    expected = gradient(mapped.targets.numpy(), grid)
    np.testing.assert_allclose(mapped.gradients, expected, rtol=0, atol=1e-12 * abs(expected).max())


def test_what_does_not_only_permute_is_refused():
    halved = (Symmetry(lambda u: u / 2, lambda u: 2 * u),)
    grid = Grid("periodic", 8)
    augmentation = Augmentation(halved, (grid, grid), 0, 1, torch.device("cpu"))
    with pytest.raises(TrainingError, match="augment: a symmetry does not only permute"):
        augmentation.mapped(Batch(torch.ones(1, 8, 1), torch.ones(1, 8)), torch.tensor([1]))
