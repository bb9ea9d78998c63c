"""The loss and the metrics against numbers known by hand."""

import re
import sys
from types import ModuleType

import numpy as np
import pytest
import torch

from resolvent.common.errors import EvaluationError
from resolvent.common.runs import metric_columns
from resolvent.datasets.loading import Samples
from resolvent.evaluation import metrics
from resolvent.evaluation.conditions import Condition, error_rows
from resolvent.evaluation.metrics import measure, relative_l2
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError
from resolvent.training.losses import OwnLoss, RelativeLoss, build_loss
from resolvent.training.settings import TrainingSettings

GRID = Grid("periodic", 256)
X = GRID.coordinates
WAVE = np.sin(2 * np.pi * X)


def tensor(values):
    return torch.from_numpy(np.atleast_2d(values))


def test_the_squares_of_several_functions_add_up_with_the_weights_of_uneven_times():
    times = Nodes((0.0, 1.0, 3.0))  # trapezoidal weights 0.5, 1.5, 1
    target = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]])
    prediction = target.copy()
    prediction[0, 0, 1] += 1
    prediction[0, 1, 2] += 2
    np.testing.assert_allclose(relative_l2(prediction, target, times), np.sqrt((1.5 + 4) / 15), rtol=1e-12)


def test_the_standardised_error_is_that_of_fields_without_mean_in_units_of_their_deviation():
    rng = np.random.default_rng(0)
    mean, deviation = np.array([3.0, -1.0]), np.array([2.0, 0.5])
    prediction, target = rng.normal(size=(2, 4, 2, GRID.points))
    physical = (v * deviation[:, None] + mean[:, None] for v in (prediction, target))
    errors = measure(*physical, GRID, (mean, deviation))
    assert list(errors) == ["relative_l2", "relative_h1", "standardised_relative_l2"]
    np.testing.assert_allclose(
        errors["standardised_relative_l2"], relative_l2(prediction, target, GRID), rtol=1e-12
    )


def test_of_several_functions_each_has_an_error_of_its_own():
    """A small velocity of the wrong sign beside a large pressure that is right."""
    target = np.stack([WAVE, 1e5 + WAVE])[None]
    prediction = np.stack([-WAVE, 1e5 + WAVE])[None]
    known = metrics.metrics_with((), ["velocity", "pressure"])
    errors = metrics.measure(prediction, target, GRID, metrics=known)
    assert errors["relative_l2"] < 3e-5
    np.testing.assert_allclose(errors["relative_l2_velocity"], 2)
    np.testing.assert_allclose(errors["relative_l2_pressure"], 0)
    words = metrics.metric_words(["relative_l2_velocity"], known)
    assert words["relative_l2_velocity"]["label"] == "relative L² error, velocity"
    assert metrics.metrics_with((), ["velocity"]) == metrics.METRICS


@pytest.mark.parametrize("squared", [False, True])
def test_the_regulariser_is_the_relative_seminorm_with_weight_gamma_h(squared):
    gamma, k, h = 0.1, 3, GRID.spacing
    prediction, slope = WAVE + 0.01 * np.sin(2 * np.pi * k * X), 2 * np.pi * np.cos(2 * np.pi * X)
    difference = (np.roll(prediction, -1) - np.roll(prediction, 1)) / (2 * h) - slope
    first = np.sum((prediction - WAVE) ** 2) / np.sum(WAVE**2)
    second = gamma * h * np.sum(difference**2) / np.sum(slope**2)
    expected = first + second if squared else np.sqrt(first) + np.sqrt(second)
    loss = RelativeLoss(GRID, gradient_weight=gamma, squared=squared)
    value = loss(tensor(prediction), tensor(WAVE), tensor(GRID.derivative(WAVE))[:, None])
    assert float(value) == pytest.approx(expected, rel=1e-9)
    without = RelativeLoss(GRID, gradient_weight=0.0, squared=squared)
    value = without(tensor(1.25 * WAVE), tensor(WAVE), tensor(GRID.derivative(WAVE))[:, None])
    assert float(value) == pytest.approx(0.25 ** (2 if squared else 1), rel=1e-12)


def test_as_coded_the_regulariser_leaves_out_the_ends_of_the_circle_but_not_of_the_norm():
    gamma, h = 0.1, GRID.spacing
    rng = np.random.default_rng(0)
    prediction, target, slope = rng.normal(size=(3, 2, GRID.points))
    expected = []
    for p, u, du in zip(prediction, target, slope, strict=True):
        inside = (p[2:] - p[:-2]) / (2 * h) - du[1:-1]
        second = np.sqrt(gamma * h * np.sum(inside**2) / np.sum(du**2))
        expected.append(np.sqrt(np.sum((p - u) ** 2) / np.sum(u**2)) + second)
    settings = TrainingSettings(gradient_weight=gamma, target_gradient="public_code")
    value = build_loss(GRID, settings)(tensor(prediction), tensor(target), tensor(slope)[:, None])
    assert float(value) == pytest.approx(np.mean(expected), rel=1e-12)


@pytest.fixture
def own_metrics(monkeypatch):
    """Provide a module of a user's own, with three metrics of which one is sound, and something else."""

    def largest(prediction, target, grid):
        return np.abs(prediction - target).max(axis=1) / np.abs(target).max(axis=1)

    def of_all(prediction, target, grid):
        return np.abs(prediction - target).max()

    module = ModuleType("own_metrics")
    module.sound = metrics.Metric(
        "relative_maximum", largest, "relative maximum error", "max |p - u|/max |u|"
    )
    module.of_all = metrics.Metric("largest", of_all, "largest error", "max |p - u|")
    module.taken = metrics.Metric("relative_l2", largest, "another", "of the same name")
    module.number = 3
    monkeypatch.setitem(sys.modules, "own_metrics", module)


def test_a_metric_that_is_added_is_measured_and_has_its_words(own_metrics):
    known = metrics.metrics_with(["own_metrics:sound"])
    samples = Samples(GRID, WAVE[None], WAVE[None])
    errors = error_rows(1.25 * WAVE[None], samples, Condition(256), metrics=known)
    assert errors["relative_maximum"].tolist() == [pytest.approx(0.25)]
    assert metric_columns(errors) == ["relative_l2", "relative_h1", "relative_maximum"]
    words = metrics.metric_words(metric_columns(errors), known)
    assert words["relative_maximum"]["label"] == "relative maximum error"


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("own_metrics:number", "own_metrics:number is 3, not a resolvent.evaluation.metrics.Metric"),
        ("own_metrics:taken", "the name 'relative_l2' is taken"),
        ("own_metrics:absent", "unknown name in module own_metrics: 'absent'"),
        ("no_such_module:metric", "no module no_such_module; install it"),
    ],
)
def test_a_metric_that_cannot_be_used_is_refused_in_a_line(own_metrics, location, words):
    with pytest.raises(EvaluationError, match=re.escape(words)) as refused:
        metrics.metrics_with([location])
    assert "\n" not in str(refused.value)


def test_a_metric_must_give_a_number_for_each_sample(own_metrics):
    with pytest.raises(EvaluationError, match=r"metric 'largest' returned shape \(\) for 1 samples"):
        metrics.measure(WAVE[None], WAVE[None], GRID, metrics=metrics.metrics_with(["own_metrics:of_all"]))


def test_a_loss_of_ones_own_is_the_mean_over_the_batch(monkeypatch):
    module = ModuleType("own_losses")
    module.mean_square = lambda prediction, target, grid: ((prediction - target) ** 2).mean(dim=1)
    module.of_all = lambda prediction, target, grid: ((prediction - target) ** 2).mean()
    monkeypatch.setitem(sys.modules, "own_losses", module)
    losses = {name: OwnLoss(f"own_losses:{name}", GRID) for name in ("mean_square", "of_all")}
    prediction, target = torch.ones(3, 256), torch.zeros(3, 256)
    assert losses["mean_square"](prediction, target) == 1
    with pytest.raises(TrainingError, match=r"own_losses:of_all returned \(\) for a batch of 3"):
        losses["of_all"](prediction, target)
    with pytest.raises(TrainingError, match="unknown name in module own_losses: 'absent'"):
        OwnLoss("own_losses:absent", GRID)
