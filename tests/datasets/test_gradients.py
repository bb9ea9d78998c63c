"""Gradients of targets, from the finest stored grid where it holds the same function."""

import numpy as np

from resolvent.datasets.gradients import gradient
from resolvent.datasets.loading import Split, load_samples


def target_gradients(card, samples, split, **how):
    """Return those of the first samples of a split."""
    whole = Split(card, samples.grid.points, split, len(samples))
    return whole.target_gradients(samples, range(len(samples)), **how)


def test_targets_take_their_gradients_from_the_finest_grid(card_of):
    card = card_of("darcy")
    samples, finest = (load_samples(card, points, "validation", 1) for points in (17, 33))
    gradients = target_gradients(card, samples, "validation")
    assert gradients.shape == (1, 2, 17, 17)
    fine, h = finest.targets, 1 / 32
    along_x, along_y = (fine[:, 1:-1, 2:] - fine[:, 1:-1, :-2]), (fine[:, 2:, 1:-1] - fine[:, :-2, 1:-1])
    inside = gradients[..., 1:-1, 1:-1]  # of every second node
    np.testing.assert_allclose(inside[:, 0], along_x[:, 1::2, 1::2] / (2 * h), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(inside[:, 1], along_y[:, 1::2, 1::2] / (2 * h), rtol=1e-4, atol=1e-6)
    own = gradient(samples.targets, samples.grid)
    assert not np.allclose(gradients, own, rtol=1e-2)


def test_on_every_kth_cell_centre_targets_take_their_gradients_from_the_finest_grid(card_of):
    card = card_of("darcy", grid="cell_centres")
    samples, finest = (load_samples(card, points, "validation", 1) for points in (17, 33))
    gradients = target_gradients(card, samples, "validation")
    expected = gradient(finest.targets, finest.grid)
    np.testing.assert_allclose(gradients, expected[..., ::2, ::2], rtol=1e-5, atol=1e-7)
    between = (finest.targets[:, 2::2, 2] - finest.targets[:, 2::2, 0]) / (2 / 33)
    np.testing.assert_allclose(expected[:, 0, 2::2, 1], between, rtol=1e-4, atol=1e-6)
    assert not np.allclose(gradients, gradient(samples.targets, samples.grid), rtol=1e-2)


def test_as_coded_targets_on_a_square_have_central_differences_with_zero_outside(card_of):
    card = card_of("darcy")
    samples, finest = (load_samples(card, points, "validation", 1) for points in (17, 33))
    found = target_gradients(card, samples, "validation", as_coded=True)
    padded = np.pad(finest.targets, ((0, 0), (1, 1), (1, 1)))
    along_x = (padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]) * 16
    along_y = (padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]) * 16
    expected = np.stack([along_x, along_y], axis=1)[..., ::2, ::2]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    one_sided = target_gradients(card, samples, "validation")
    inside = (..., slice(1, -1), slice(1, -1))
    np.testing.assert_allclose(found[inside], one_sided[inside], rtol=1e-5, atol=1e-7)
    assert not np.allclose(found[..., 0], one_sided[..., 0], rtol=0.1)


def test_targets_that_the_finest_grid_does_not_hold_have_their_own_gradient(card_of):
    card = card_of("darcy", pressure="solved_on_each_grid")
    samples = load_samples(card, 17, "train", 2)
    np.testing.assert_array_equal(
        target_gradients(card, samples, "train"), gradient(samples.targets, samples.grid)
    )


def test_as_coded_periodic_targets_have_central_differences_on_the_finest_grid(card_of):
    card = card_of("burgers")
    samples, finest = (load_samples(card, points, "validation", 2) for points in (64, 128))
    found = target_gradients(card, samples, "validation", as_coded=True)
    fine = finest.targets
    for j in range(64):
        after, before = fine[:, (2 * j + 1) % 128], fine[:, 2 * j - 1]
        np.testing.assert_allclose(found[:, 0, j], (after - before) / (2 / 128), rtol=1e-12, atol=1e-12)
    at_128 = target_gradients(card, finest, "validation", as_coded=True)
    np.testing.assert_array_equal(at_128[..., ::2], found)
    assert not np.array_equal(found, samples.grid.derivative(samples.targets)[:, None])


def test_periodic_targets_have_the_derivative_of_their_grid(card_of):
    card = card_of("burgers")
    samples = load_samples(card, 64, "train", 3)
    derivative = samples.grid.derivative(samples.targets)[:, None]
    np.testing.assert_array_equal(target_gradients(card, samples, "train"), derivative)
