"""What evaluation keeps: of functions and fields; of trajectories, several at uneven times."""

import numpy as np
import pytest
import torch
from dataset_fixtures import made_once
from torch import nn
from training_fixtures import rough_samples, smooth_samples

from resolvent.common.predictions import condition
from resolvent.common.progress import watched
from resolvent.datasets.loading import load_arrays, load_samples
from resolvent.datasets.spectra import powers
from resolvent.evaluation.baselines import measured_baselines
from resolvent.evaluation.conditions import (
    Condition,
    Means,
    evaluate,
    measured,
    median_worst_and_best,
    predict,
)
from resolvent.models.build import build
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError
from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

CPU, SHOWN = torch.device("cpu"), np.array([0])
COUNTS = {"train": 3, "validation": 1, "test": 2}


@pytest.fixture(scope="module")
def lorenz(tmp_path_factory):
    return made_once(tmp_path_factory, "lorenz63")


@pytest.mark.parametrize("times", ["dt0.02", "random"])
def test_initial_values_are_constant_functions_and_channels_come_last_in_a_tensor(lorenz, times):
    samples = load_samples(lorenz, times, "train", 3)
    arrays = load_arrays(lorenz, times, "train")
    assert samples.grid == samples.target_grid
    np.testing.assert_array_equal(samples.inputs[:, 0], arrays["x"])
    for channel, name in ((1, "y_initial"), (2, "z_initial")):
        np.testing.assert_array_equal(samples.inputs[:, channel], arrays[name][:, None] + 0 * arrays["x"])
    np.testing.assert_array_equal(samples.targets, np.stack([arrays["y"], arrays["z"]], axis=1))
    for values, channels in ((samples.targets, 2), (samples.targets[:, 0], 1)):
        tensor = function_tensor(values, samples.grid)
        assert tensor.shape == (3, samples.grid.points, channels)
        np.testing.assert_array_equal(as_samples(tensor), values.astype(np.float32))


class Pointwise(nn.Module):
    """The smallest operator from three functions to two at any times."""

    def __init__(self):
        super().__init__()
        self.map = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 2))

    def forward(self, u, x):
        return self.map(torch.cat([u, x.expand(len(u), -1, -1)], dim=-1))


def test_each_batch_of_predictions_is_progress(lorenz, monkeypatch, tmp_path):
    restarts = []
    monkeypatch.setattr("faulthandler.dump_traceback_later", lambda *_, **__: restarts.append(1))
    monkeypatch.setattr("resolvent.evaluation.conditions.BATCH_VALUES", 1)
    samples = load_samples(lorenz, "dt0.02", "train", 3)
    with open(tmp_path / "log", "w") as log, watched(0.0, log):
        predict(Pointwise(), samples, CPU)
    assert len(restarts) == 1 + len(samples)


def test_errors_of_standardised_functions_stand_beside_those_in_physical_units(lorenz):
    scale = np.array([1.0, 20.0]), np.array([8.0, 9.0])
    conditions = list(measured(lorenz, ["dt0.02", "random"], levels=[0.0], realisations=1, counts=COUNTS))

    class Zero(nn.Module):
        def forward(self, u, x):
            return torch.zeros(*u.shape[:-1], 2)

    errors, kept = evaluate(Zero(), conditions, CPU, np.array([1]), scale)
    assert list(dict.fromkeys(errors["resolution"])) == ["dt0.02", "random"]
    np.testing.assert_allclose(errors["relative_l2"], 1)
    samples = {c.resolution: s for c, s in conditions}["random"]
    mean, deviation = (one[:, None] for one in scale)
    squares = [
        (samples.grid.weights * (values / deviation) ** 2).sum((1, 2))
        for values in (samples.targets, samples.targets - mean)
    ]
    expected = np.sqrt(squares[0] / squares[1])
    here = errors[errors["resolution"] == "random"]["standardised_relative_l2"]
    np.testing.assert_allclose(here, expected, rtol=1e-12)
    assert kept["random"]["prediction"].shape == (1, 1, 2, samples.grid.points)


def test_the_samples_of_median_worst_and_best_error_are_kept(lorenz):
    assert median_worst_and_best(np.array([0.3, 0.1, 0.9, 0.2])).tolist() == [0, 2, 1]
    assert median_worst_and_best(np.array([0.3, 0.1, 0.9])).tolist() == [0, 2, 1]
    conditions = list(measured(lorenz, ["dt0.02"], levels=[0.0], realisations=1, counts=COUNTS))

    class Shifted(nn.Module):
        def forward(self, u, x):
            return u[..., :2] + 1

    errors, kept = evaluate(Shifted(), conditions, CPU, np.array([0]))
    worst, best = int(errors["relative_l2"].argmax()), int(errors["relative_l2"].argmin())
    there = condition(kept, "dt0.02", 0.0)
    assert there["extreme_sample"].values[1:].tolist() == [worst, best]
    np.testing.assert_array_equal(there["extreme_target"].values[1], conditions[0][1].targets[worst])
    np.testing.assert_allclose(
        there["extreme_prediction"].values[1], conditions[0][1].inputs[worst, :2] + 1, rtol=1e-6
    )
    wrong = conditions[0][1].inputs[:, :2] + 1 - conditions[0][1].targets
    np.testing.assert_allclose(there["error_mean_square"].values, (wrong**2).mean(axis=0), rtol=1e-6)
    assert not any(name.endswith("power") for name in there)  # times need not be even


@pytest.mark.parametrize(("equation", "bound"), [("lorenz63", 0.02), ("controlled_ode", 1e-12)])
def test_classical_answers_on_the_observed_times_are_close(equation, bound, tmp_path_factory):
    card = made_once(tmp_path_factory, equation)
    errors, costs = measured_baselines(card, "dt0.02", COUNTS, noise=0.0, realisations=1)
    assert set(costs) == {"mean_predictor", "coarse_solve"}
    worst = errors.groupby("baseline")["relative_l2"].max()
    assert worst["coarse_solve"] < bound < worst["mean_predictor"]


def test_times_that_coincide_in_single_precision_are_refused():
    with pytest.raises(TrainingError, match="coincide in float32"):
        coordinate_tensor(Nodes((1.0, 1.0 + 1e-9, 2.0)))


class Half(nn.Module):
    """Half of what it should be: for samples whose targets are their inputs."""

    def forward(self, u, x):
        return u / 2


def kept_of(samples, operator=None):
    _, kept = evaluate(operator, [(Condition(13), samples)], CPU, SHOWN)
    (node,) = kept.children.values()
    return condition(kept, node.attrs["resolution"], 0.0)


@pytest.mark.parametrize(("samples", "step"), [(rough_samples(5), 0.5), (smooth_samples(3), 1.0)])
def test_evaluation_keeps_the_spectra_of_fields_and_of_functions(samples, step):
    kept = kept_of(type(samples)(samples.grid, samples.targets, samples.targets), Half())
    expected = powers(samples.targets, samples.grid).mean(axis=0)
    np.testing.assert_array_equal(kept["target_power"].values, expected)
    for name in ("error_power", "prediction_power"):
        np.testing.assert_allclose(kept[name].values, expected / 4, rtol=1e-4, atol=1e-12)
    np.testing.assert_array_equal(kept["wavenumber"].values, step * np.arange(len(expected)))
    lost = kept_of(samples)  # diverged
    np.testing.assert_array_equal(lost["target_power"].values, expected)
    assert np.isnan(lost["error_power"].values).all()


AS_CODED = {"attention": "fourier", "attention_dropout": 0.5, "attention_dropout_in_evaluation": True}


def test_units_dropped_in_evaluation_are_the_same_in_every_call():
    operator, samples = build("transformer1d", AS_CODED, seed=0), smooth_samples(4)
    before = torch.get_rng_state()
    first = predict(operator, samples, CPU)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)
    np.testing.assert_array_equal(predict(operator, samples, CPU), first)
    assert np.isfinite(first).all()


def test_means_of_blocks_are_those_of_all_samples_in_any_division():
    """They differ in the order of sums alone."""
    generator, grid = np.random.default_rng(0), Grid("periodic", 16, dimension=2)
    targets = 5 + generator.standard_normal((40, 16, 16))
    predictions = targets + 0.1 * generator.standard_normal((40, 16, 16))

    def of(*blocks):
        found = Means(grid)
        for start, stop in blocks:
            found.add(targets[start:stop], predictions[start:stop])
        return found

    whole = of((0, 40))
    for one in (of((0, 7), (7, 8), (8, 40)), of((0, 20), (20, 40)), of((8, 40), (0, 8))):
        assert one.count == 40
        np.testing.assert_allclose(one.spread(), whole.spread(), rtol=1e-12)
        for found, expected in ((one.mean_square(), whole.mean_square()), (one.power(), whole.power())):
            assert list(found) == list(expected)
            for name, values in expected.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
