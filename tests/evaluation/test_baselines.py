"""Baselines are computed, not assumed."""

from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from array_files import POINTS, SAMPLES, SETTINGS, arrays, write_npz
from dataset_fixtures import made_once, make_dataset
from training_fixtures import rough_samples, smooth_samples

from resolvent.common.records import BaselinesRecord, read_record
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.evaluation.baselines import (
    LABELS,
    Baseline,
    RidgeRegression,
    baselines,
    write_baselines,
)
from resolvent.evaluation.conditions import Condition
from resolvent.figures.common.results import read_baselines
from resolvent.solvers.common.errors import SolverError


class ExactTask:
    """A task whose classical solves return what they are given, so that errors are known."""

    input_answers = True

    def baselines(self):
        return {
            "coarse_solve": lambda values, grid: 2 * values,
            "interpolation_oracle": lambda values, grid: 3 * values,
        }


def test_every_baseline_has_a_row_per_sample_and_a_cost():
    train, test = smooth_samples(8), smooth_samples(4, seed=1)
    for samples in (train, test):
        samples.targets[:] += 3.0  # a mean that is far from zero
    errors, costs = baselines(train, [(Condition(64), test)], ExactTask())
    assert set(errors["baseline"]) == set(costs) == set(LABELS) - {"constant_coefficient", "ridge_regression"}
    assert (errors.groupby("baseline").size() == 4).all()
    assert all(cost.seconds_per_sample > 0 and cost.label for cost in costs.values())

    for name, prediction in {
        "identity": test.inputs,
        "mean_predictor": np.broadcast_to(train.targets.mean(0), test.targets.shape),
        "coarse_solve": 2 * test.inputs,
        "interpolation_oracle": 3 * test.inputs,
    }.items():
        measured = errors[errors["baseline"] == name]
        distance = np.linalg.norm(prediction - test.targets, axis=1)
        expected = distance / np.linalg.norm(test.targets, axis=1)
        np.testing.assert_allclose(measured["relative_l2"], expected, rtol=1e-12)
        # Of one mean and one deviation, those of the training targets.
        expected = distance / np.linalg.norm(test.targets - train.targets.mean(), axis=1)
        np.testing.assert_allclose(measured["standardised_relative_l2"], expected, rtol=1e-5)


def test_a_baseline_may_change_its_inputs_in_place():
    def in_place(inputs, grid):
        inputs -= 3.0
        return inputs

    own = [
        Baseline("in_place", "", lambda train: in_place),
        Baseline("plain", "", lambda train: lambda inputs, grid: inputs - 3.0),
    ]
    train, test = smooth_samples(8), smooth_samples(4, seed=1)
    errors, _ = baselines(train, [(Condition(64), test)], ExactTask(), own=own)
    first, second = (errors.loc[errors["baseline"] == one.name, "relative_l2"].tolist() for one in own)
    expected = np.linalg.norm(test.inputs - 3.0 - test.targets, axis=1) / np.linalg.norm(test.targets, axis=1)
    assert first == second == pytest.approx(expected)


def test_where_no_classical_answer_is_known_a_linear_operator_is_fitted():
    train, tests = rough_samples(24), [rough_samples(4, seed=seed) for seed in (1, 2)]
    conditions = [(Condition(13, 0.1, realisation), one) for realisation, one in enumerate(tests)]
    errors, costs = baselines(train, conditions, SimpleNamespace(input_answers=False, baselines=dict))
    assert set(costs) == set(errors["baseline"]) == {"mean_predictor", "ridge_regression"}
    assert errors.groupby(["baseline", "noise", "realisation"]).size().tolist() == [4] * 4
    expected = relative_errors(RidgeRegression(train.inputs, train.targets)(tests[1].inputs), tests[1])
    here = (errors["baseline"] == "ridge_regression") & (errors["realisation"] == 1)
    np.testing.assert_allclose(errors[here]["relative_l2"], expected, rtol=1e-12)


def test_baselines_learn_from_the_training_data_and_are_tested_on_the_test_data(tmp_path):
    cards = {}
    for name, size in (("own", 1), ("other", 3)):
        source = write_npz(tmp_path / f"{name}.npz", {key: size * one for key, one in arrays().items()})
        settings = settings_of({**SETTINGS, "source": str(source)}).with_contents()
        cards[name] = make_dataset(tmp_path / name, settings, name=name)
    given = {"experiment": "e", "resolutions": [POINTS], "noise": 0.0, "realisations": 1}
    write_baselines(cards["own"], tmp_path, counts=SAMPLES, test_card=cards["other"], **given)
    errors = pandas.read_csv(tmp_path / "errors.csv").query("baseline == 'mean_predictor'")
    train, test = (load_samples(cards[of], POINTS, split, SAMPLES[split]).targets
                   for of, split in (("own", "train"), ("other", "test")))  # fmt: skip
    expected = np.linalg.norm(test - train.mean(axis=0), axis=1) / np.linalg.norm(test, axis=1)
    np.testing.assert_allclose(errors["relative_l2"], expected)
    record = read_record(tmp_path / "cost.json", BaselinesRecord)
    assert record.dataset_hash == read_card(cards["other"])["content_hash"]


def relative_errors(prediction, samples):
    weights = samples.target_grid.weights
    squares = [np.sum(weights * v**2, axis=(1, 2)) for v in (prediction - samples.targets, samples.targets)]
    return np.sqrt(squares[0] / squares[1])


def linear_pairs(count, noise, seed=0):
    """Functions of 40 points and their image under a fixed linear map to 9, with noise on the former."""
    rng = np.random.default_rng(0)
    spread, map = np.exp(rng.normal(size=40)), rng.normal(size=(40, 9))
    rng = np.random.default_rng([1, seed])
    inputs = rng.normal(size=(count, 40)) * spread
    targets = (inputs @ map).reshape(count, 3, 3)
    return inputs + noise * spread * rng.normal(size=inputs.shape), targets


def test_ridge_regression_finds_a_linear_operator():
    fit = RidgeRegression(*linear_pairs(200, noise=0.0))
    inputs, targets = linear_pairs(20, noise=0.0, seed=1)
    inside = (targets > fit.fit.range[0]) & (targets < fit.fit.range[1])
    np.testing.assert_allclose(fit(inputs)[inside], targets[inside], atol=1e-6 * np.abs(targets).max())


REASONS = {
    "refused": "Solver: it did not converge (sample rows 2)", "not finite": "its values are not finite"
}  # fmt: skip


@pytest.mark.parametrize("name", ["coarse_solve", "interpolation_oracle", "constant_coefficient"])
@pytest.mark.parametrize(("fault", "reason"), REASONS.items())
def test_a_baseline_without_an_answer_says_why_and_costs_no_other(name, fault, reason):
    def answer(values, grid):
        if fault == "refused" and len(values) > 1:  # the first sample alone is answered
            raise SolverError(reason, "use more iterations (now 9)")
        return np.where(np.arange(len(values))[:, None] == 2, np.inf, values)

    class FailingTask(ExactTask):
        def baselines(self):
            sound = {"constant_coefficient": lambda values, grid: 4 * values}
            return super().baselines() | sound | {name: answer}

    train, test = smooth_samples(8), smooth_samples(4, seed=1)
    errors, costs = baselines(train, [(Condition(64), test)], FailingTask())
    assert costs[name].no_answer == reason
    assert costs[name].seconds_per_sample is None
    lost = errors["baseline"] == name
    metrics = ["relative_l2", "relative_h1", "standardised_relative_l2"]
    assert lost.sum() == 4
    assert errors.loc[lost, metrics].isna().all(axis=None)
    assert np.isfinite(errors.loc[~lost, metrics]).all(axis=None)
    assert set(errors["baseline"]) == set(LABELS) - {"ridge_regression"}


def test_the_baselines_of_an_experiment_are_in_two_files(tmp_path_factory, tmp_path):
    card = made_once(tmp_path_factory, "burgers")
    counts = {"train": 20, "validation": 4, "test": 6}
    given = {"counts": counts, "noise": 0.5, "realisations": 2}
    write_baselines(card, tmp_path, experiment="mine", resolutions=[64, 128], **given)
    errors = pandas.read_csv(tmp_path / "errors.csv")
    record = read_record(tmp_path / "cost.json", BaselinesRecord)
    names = ["mean_predictor", "identity", "interpolation_oracle", "coarse_solve"]
    assert (record.experiment, record.dataset_hash) == ("mine", read_card(card)["content_hash"])
    assert {points: list(costs) for points, costs in record.costs.items()} == {"64": names, "128": names}
    assert list(record.metrics) == ["relative_l2", "relative_h1", "standardised_relative_l2"]
    counted = errors.groupby(["resolution", "baseline", "noise", "realisation"], sort=False).size()
    assert counted.to_dict() == {
        (points, name, 0.5, realisation): 6
        for points in (64, 128)
        for name in names
        for realisation in (0, 1)
    }
    for points in (64, 128):
        here = errors[(errors["resolution"] == points) & (errors["baseline"] == "mean_predictor")]
        train, test = (load_samples(card, points, split, counts[split]) for split in ("train", "test"))
        difference = np.linalg.norm(test.targets - train.targets.mean(axis=0), axis=1)
        expected = difference / np.linalg.norm(test.targets, axis=1)
        np.testing.assert_allclose(here["relative_l2"], [*expected, *expected], rtol=1e-12)


def test_without_training_samples_on_a_test_grid_there_are_no_baselines(tmp_path_factory, tmp_path):
    given = {"counts": {"train": 20, "validation": 4, "test": 6}, "noise": 0.0, "realisations": 1}
    folder = tmp_path / "mine/baselines"
    write_baselines(
        made_once(tmp_path_factory, "burgers"), folder, experiment="mine", resolutions=[], **given
    )
    assert read_baselines([folder]) == []
