"""Loss and metrics on the square, against hand computations and functions whose derivatives are known."""

import numpy as np
import pytest
import torch

from resolvent.common.norms import relative_l2 as plain_relative_l2
from resolvent.datasets.gradients import gradient
from resolvent.evaluation.metrics import relative_h1
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.losses import RelativeH1Loss, RelativeLoss, central_gradient
from resolvent.training.losses import relative_l2 as torch_relative_l2


def on(points: int, function) -> np.ndarray:
    x = Grid("nodes", points, dimension=2).coordinates
    return np.asarray(function(x[None, :], x[:, None]))[None]  # values are (batch, y, x)


def wave(points, k=1, m=1):
    return on(points, lambda x, y: np.sin(k * np.pi * x) * np.sin(m * np.pi * y))


def test_the_gradient_of_a_plane_has_x_along_the_last_axis_first():
    grid = Grid("nodes", 5, dimension=2)
    plane = on(5, lambda x, y: 2 * x - 3 * y)
    np.testing.assert_allclose(gradient(plane, grid)[:, 0], 2, rtol=1e-12)
    np.testing.assert_allclose(gradient(plane, grid)[:, 1], -3, rtol=1e-12)
    inside = central_gradient(torch.from_numpy(plane), grid)
    assert inside.shape == (1, 2, 3, 3)
    np.testing.assert_allclose(inside[:, 0], 2, rtol=1e-12)
    np.testing.assert_allclose(inside[:, 1], -3, rtol=1e-12)


def test_relative_h1_weighs_both_derivatives():
    points, k, m = 401, 3, 2
    grid = Grid("nodes", points, dimension=2)
    measured = relative_h1(wave(points) + 0.1 * wave(points, k, m), wave(points), grid)
    expected = 0.1 * np.sqrt((1 + np.pi**2 * (k**2 + m**2)) / (1 + 2 * np.pi**2))
    np.testing.assert_allclose(measured, expected, rtol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_the_loss_by_hand(squared, weighted):
    grid = Grid("nodes", 4, dimension=2)
    rng = np.random.default_rng(0)
    prediction, target = rng.normal(size=(2, 2, 4, 4))
    known = rng.normal(size=(2, 2, 4, 4))
    coefficient = rng.choice([3.0, 12.0], size=(2, 4, 4)) if weighted else np.ones((2, 4, 4))
    gamma, h, first, second = 0.5, 1 / 3, [], []
    for b in range(2):
        first.append(((prediction[b] - target[b]) ** 2).sum() / (target[b] ** 2).sum())
        above = below = 0.0
        for i in range(4):
            for j in range(4):
                below += coefficient[b, i, j] * (known[b, :, i, j] ** 2).sum() / 16
                if 0 < i < 3 and 0 < j < 3:
                    along_x = (prediction[b, i, j + 1] - prediction[b, i, j - 1]) / (2 * h)
                    along_y = (prediction[b, i + 1, j] - prediction[b, i - 1, j]) / (2 * h)
                    error = (along_x - known[b, 0, i, j]) ** 2 + (along_y - known[b, 1, i, j]) ** 2
                    above += coefficient[b, i, j] ** 2 * error / 4 / (2 if weighted else 1)
        second.append(gamma * h * above / below)
    first, second = np.array(first), np.array(second)
    expected = (first + second).mean() if squared else (np.sqrt(first) + np.sqrt(second)).mean()
    arguments = tuple(map(torch.from_numpy, (prediction, target, known, coefficient)))
    value = RelativeLoss(grid, gamma, squared)(*arguments[: 4 if weighted else 3])
    assert float(value) == pytest.approx(expected, rel=1e-12)
    assert torch_relative_l2(*arguments[:2]).tolist() == pytest.approx(np.sqrt(first), rel=1e-12)


@pytest.mark.parametrize("kind", ["nodes", "periodic"])
def test_the_h1_loss_is_the_metric_up_to_its_differences(kind):
    points, k = 256, 2
    grid = Grid(kind, points, dimension=2)
    x = grid.coordinates
    target = (np.sin(2 * np.pi * x)[None, :] * np.cos(2 * np.pi * x)[:, None])[None]
    prediction = target + 0.1 * (np.sin(2 * k * np.pi * x)[None, :] + 0 * x[:, None])[None]
    value = RelativeH1Loss(grid, unit_spacing=False)(*map(torch.from_numpy, (prediction, target)))
    assert float(value) == pytest.approx(relative_h1(prediction, target, grid)[0], rel=2e-3)


def test_the_h1_loss_of_the_public_code_by_hand():
    rng = np.random.default_rng(1)
    prediction, target = rng.normal(size=(2, 3, 4, 5, 5))  # of four channels

    def norm(v):
        slopes = np.gradient(v, axis=(-2, -1))
        return np.sqrt((v**2).mean()) + np.sqrt((slopes[0] ** 2 + slopes[1] ** 2).mean())

    expected = np.mean([norm(p - u) / norm(u) for p, u in zip(prediction, target, strict=True)])
    loss = RelativeH1Loss(Grid("periodic", 6, dimension=2), unit_spacing=True)
    assert float(loss(*map(torch.from_numpy, (prediction, target)))) == pytest.approx(expected, rel=1e-12)


GRIDS = {
    "periodic": Grid("periodic", 64),
    "square nodes": Grid("nodes", 9, dimension=2),
    "even times": Nodes(tuple(np.linspace(0, 2, 9))),
    "uneven times": Nodes((0.0, 0.1, 0.7, 2.0)),
}


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_arrays_and_tensors_have_the_same_relative_l2_error_where_all_points_count_the_same(grid):
    shape = (5, 2, *[grid.points] * grid.dimension)
    prediction, target = np.random.default_rng(0).normal(size=(2, *shape))
    of_tensors = torch_relative_l2(torch.from_numpy(prediction), torch.from_numpy(target))
    np.testing.assert_allclose(plain_relative_l2(prediction, target), of_tensors, rtol=1e-14)
    expected = [np.linalg.norm(p - u) / np.linalg.norm(u) for p, u in zip(prediction, target, strict=True)]
    np.testing.assert_allclose(plain_relative_l2(prediction, target), expected, rtol=1e-14)
