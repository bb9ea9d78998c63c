"""Normalisers and boundary values: fitted, undone, saved with the weights, followed to other grids."""

import numpy as np
import pytest
import torch
from training_fixtures import SMALL_FNO_2D, rough_samples, small_trainer, smooth_samples

from resolvent.datasets.loading import Samples
from resolvent.evaluation.conditions import predict, target_scale
from resolvent.evaluation.metrics import measure
from resolvent.models.build import build
from resolvent.solvers.common.grid import Grid
from resolvent.training.losses import RelativeH1Loss, RelativeLoss, central_gradient
from resolvent.training.normalisation import Normaliser, in_physical_units, restored
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import coordinate_tensor, function_tensor

BOTH = TrainingSettings(normalisation="pointwise", boundary="zero")


@pytest.mark.parametrize("normalisation", ["scalar", "pointwise"])
@pytest.mark.parametrize(("mean", "size"), [(0.0, 1e-12), (101325.0, 10.0), (0.0, 1e8), (273.15, 1e-3)])
def test_a_normaliser_is_the_same_for_data_in_other_units(normalisation, mean, size):
    """Such as pascals or kelvins, in single precision; the deviation is that of the data, not of a floor."""
    generator = torch.Generator().manual_seed(1)
    plain = torch.randn(64, 5, 5, 1, generator=generator, dtype=torch.float64)
    expected = Normaliser.fitted([plain], normalisation).normalise(plain)
    values = (mean + size * plain).float()
    normaliser = Normaliser.fitted([values], normalisation)
    rounding = 2e-2 + 6e-8 * mean / size
    torch.testing.assert_close(normaliser.normalise(values).double(), expected, rtol=0, atol=4 * rounding)
    back = normaliser.restore(normaliser.normalise(values))
    torch.testing.assert_close(back, values, rtol=2e-7, atol=1e-6 * size)


@pytest.mark.parametrize("value", [0.0, 5.0, 101325.0])
def test_a_channel_that_is_constant_becomes_zero(value):
    values = torch.full((8, 5, 5, 1), value)
    for normalisation in ("scalar", "pointwise"):
        assert not Normaliser.fitted([values], normalisation).normalise(values).any()


def test_a_normaliser_is_interpolated_bilinearly_on_another_grid():
    x = torch.linspace(0, 1, 5)
    plane = (1 + 2 * x[:, None] + 3 * x[None, :])[..., None]  # bilinear interpolation is exact on it
    normaliser = Normaliser(plane, 2 * plane)
    fine = torch.linspace(0, 1, 9)
    expected = (1 + 2 * fine[:, None] + 3 * fine[None, :])[..., None]
    u = torch.randn(2, 9, 9, 1)
    torch.testing.assert_close(normaliser.normalise(u), (u - expected) / (2 * expected))
    torch.testing.assert_close(normaliser.restore(normaliser.normalise(u)), u)


def test_the_operator_maps_physical_units_to_physical_units_and_vanishes_on_the_boundary():
    train = rough_samples(12)
    inner = build("fno2d", SMALL_FNO_2D, seed=0)
    operator = in_physical_units(inner, BOTH, train)
    u, x = function_tensor(train.inputs[:3], train.grid), coordinate_tensor(train.grid)
    v = operator(u, x).detach().numpy()[..., 0]
    assert not v[:, [0, -1]].any()
    assert not v[:, :, [0, -1]].any()
    mean, deviation = train.inputs.mean(0), train.inputs.std(0) + 1e-5
    normal = function_tensor((train.inputs[:3] - mean) / deviation, train.grid)
    raw = inner(normal, x).detach().numpy()[..., 0]
    expected = raw * (train.targets.std(0) + 1e-5) + train.targets.mean(0)
    np.testing.assert_allclose(v[:, 1:-1, 1:-1], expected[:, 1:-1, 1:-1], rtol=1e-4, atol=1e-6)
    again = restored(build("fno2d", SMALL_FNO_2D, seed=1), BOTH, operator.state_dict())
    other = rough_samples(2, points=21)
    arguments = function_tensor(other.inputs, other.grid), coordinate_tensor(other.grid)
    assert torch.equal(operator(*arguments), again(*arguments))
    assert len(list(again.parameters())) == len(list(inner.parameters()))


def test_an_operator_without_normalisation_or_boundary_is_left_alone():
    inner = build("fno2d", SMALL_FNO_2D, seed=0)
    assert in_physical_units(inner, TrainingSettings(), rough_samples(4)) is inner
    assert restored(inner, TrainingSettings(), inner.state_dict()) is inner


@pytest.mark.parametrize(("normalisation", "boundary"), [("none", "zero"), ("pointwise", "free")])
def test_each_of_the_two_can_be_had_alone(normalisation, boundary):
    settings, train = TrainingSettings(normalisation=normalisation, boundary=boundary), rough_samples(6)
    operator = in_physical_units(build("fno2d", SMALL_FNO_2D, seed=0), settings, train)
    v = operator(function_tensor(train.inputs, train.grid), coordinate_tensor(train.grid))
    assert bool(v[:, 0].any()) == (boundary == "free")
    assert (len(list(operator.buffers())) == 4) == (normalisation == "pointwise")


# Mean and deviation of data, and the types that hold three digits of the variation.
LADDER = [(300.0, 1.0, np.float32), (1e12, 1.0, np.float64), (1e5, 1e-2, np.float64)]


def errors_in_deviations(folder, mean, deviation, dtype):
    """Train on data of this mean and deviation; return the standardised error of each test sample."""

    def samples(count, seed=0):
        plain = smooth_samples(count, seed=seed)
        moved = (mean + deviation * values for values in (plain.inputs, plain.targets))
        return Samples(plain.grid, *(values.astype(dtype) for values in moved))

    trainer = small_trainer(
        folder,
        samples=samples,
        epochs=12,
        normalisation="scalar",
        loss_units="standardised",
        gradient_weight=0,
    )
    progress = trainer.fit()
    assert progress.diverged_epoch is None
    test = samples(8, seed=2)
    prediction = predict(trainer.operator, test, torch.device("cpu"))
    return measure(prediction, test.targets, test.grid, target_scale(samples(16)))["standardised_relative_l2"]


@pytest.fixture(scope="module")
def of_the_variation_alone(tmp_path_factory):
    return errors_in_deviations(tmp_path_factory.mktemp("plain"), 0.0, 1.0, np.float64)


@pytest.mark.parametrize(("mean", "deviation", "dtype"), LADDER)
def test_a_small_variation_around_a_large_mean_is_learned_as_the_variation_alone(
    tmp_path, of_the_variation_alone, mean, deviation, dtype
):
    errors = errors_in_deviations(tmp_path, mean, deviation, dtype)
    # Training amplifies rounding, and the papers add up to a hundredth to a small deviation.
    np.testing.assert_allclose(errors, of_the_variation_alone, rtol=0.1)
    assert errors.mean() < 0.4  # something is learned


def test_a_prediction_that_equals_its_target_has_a_gradient():
    grid = Grid("periodic", 16)
    target = torch.randn(4, 16)
    gradient = central_gradient(target, grid)
    losses = [
        RelativeLoss(grid, 0.5, squared=False),
        RelativeH1Loss(grid, unit_spacing=False),
        RelativeH1Loss(grid, unit_spacing=True),
    ]
    for loss in losses:
        prediction = target.clone().requires_grad_()
        loss(prediction, target, gradient).backward()
        assert not prediction.grad.any(), loss
