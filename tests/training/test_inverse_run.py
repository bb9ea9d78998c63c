"""Runs on the inverse Darcy problem: noisy inputs on a fine grid, targets on a coarse one."""

import itertools
import shutil

import numpy as np
import pandas
import pytest
from dataset_fixtures import make_dataset
from training_fixtures import SMALL_FNO_2D, described

import resolvent.training.train
from resolvent.common.errors import EvaluationError
from resolvent.common.predictions import condition, functions, read_predictions
from resolvent.datasets.loading import load_samples, training_noise
from resolvent.datasets.tasks.registry import settings_of
from resolvent.evaluation.baselines import RidgeRegression, measured_baselines
from resolvent.evaluation.estimates import measure_estimates
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.evaluation.metrics import relative_l2
from resolvent.public.runs import load_run
from resolvent.training import checkpoints
from resolvent.training.fit import Trainer
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

FINE, COARSE = 13, 5
COUNTS = {"train": 16, "validation": 2, "test": 3}
TINY = {
    "width": 12,
    "num_layers": 1,
    "num_heads": 2,
    "feedforward_width": 12,
    "decoder_width": 8,
    "downsampling_factor": 0.625,
    "feedforward_dropout": 0.05,
}
ROWS = {
    "stored": ("transformer2d_coarse", TINY),
    "fine": ("fno2d", SMALL_FNO_2D),
    "coarse": ("fno2d", {**SMALL_FNO_2D, "modes": 2}),
}
SHAPES = {"stored": (FINE, COARSE), "fine": (FINE, FINE), "coarse": (COARSE, COARSE)}


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    content = {"equation": "darcy_inverse", "finest": 25, "resolutions": [FINE], "coarse": [COARSE]}
    content |= {"samples": COUNTS, "samples_per_shard": sum(COUNTS.values())}
    return make_dataset(tmp_path_factory.mktemp("inverse"), settings_of(content))


def run_of(grids="stored", noise=0.1, **training):
    training = {"epochs": 3, "batch_size": 4, "gradient_weight": 0.0, "normalisation": "pointwise"} | training
    architecture, settings = ROWS[grids]
    return {
        "architecture": architecture,
        "settings": settings,
        "grids": grids,
        "noise": noise,
        "noise_samples": COUNTS["train"],
        "training": TrainingSettings(**training).model_dump(mode="json"),
        "samples": COUNTS,
    }


def train(card, folder, *given, **training):
    run = run_of(*given, **training)
    train_run(card, folder, FINE, seed=3, run=run, code_versions={}, threads=1, gpus=0)
    return checkpoints.load(folder / "checkpoint.pt")["operator"]


def evaluated(card, folder, grids="stored", levels=(0.1, 0.0, 0.05), realisations=3):
    description = described(
        run_of(grids), FINE, 3, COUNTS, test_noise=list(levels), noise_realisations=realisations
    )
    evaluate_run(card, folder, description, threads=1, gpus=0)
    return pandas.read_csv(folder / "errors.csv"), read_predictions(folder / "predictions.nc")


def loaded(card, split, grids="stored", noise=0.1):
    unit = training_noise(card, FINE, COUNTS["train"], noise)
    return load_samples(card, FINE, split, COUNTS[split], grids=grids, noise=unit)


@pytest.fixture(scope="module")
def trained(card, tmp_path_factory):
    """Return the folder of a run that was trained on noisy inputs, without its evaluation."""
    folder = tmp_path_factory.mktemp("trained")
    train(card, folder)
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


@pytest.mark.parametrize("grids", ROWS)
def test_a_run_is_trained_and_evaluated_on_its_grids(card, tmp_path, grids):
    state = train(card, tmp_path, grids)
    samples = loaded(card, "train", grids)
    for side, values in (("input", samples.inputs), ("output", samples.targets)):
        mean, deviation = (state[f"{side}.{name}"][..., 0] for name in ("mean", "deviation"))
        np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(deviation, values.std(axis=0) + 1e-5, rtol=1e-4)

    errors, kept = evaluated(card, tmp_path, grids)
    assert set(errors["resolution"]) == {FINE}
    assert errors.groupby(["noise", "realisation"]).size().to_dict() == {
        (0.0, 0): 3, **{(level, one): 3 for level in (0.05, 0.1) for one in range(3)},
    }  # fmt: skip
    assert errors["relative_l2"].between(0.01, 2).all()
    assert np.isfinite(errors["relative_h1"]).all()
    fine, coarse = SHAPES[grids]
    node = kept[f"n{FINE}"]
    assert node["noise"].values.tolist() == [0.1, 0.0, 0.05]
    assert node["input"].shape == (3, 3, 1, fine, fine)
    assert node["prediction"].shape == (3, 3, 1, coarse, coarse)
    assert node["target"].shape == (3, 1, coarse, coarse)
    assert node["extreme_target"].shape == node["extreme_prediction"].shape == (3, 3, 1, coarse, coarse)
    assert node["extreme_sample"].dims == ("noise", "extreme")
    assert ("x_target" in node.coords) == (fine != coarse)
    for name in ("error", "prediction"):
        assert node[f"{name}_power"].dims == ("noise", "wavenumber")
    assert node["target_power"].dims == ("wavenumber",)


def test_predictions_on_a_coarser_grid_have_symmetries_and_clean_samples_do_not_calibrate(card, folder):
    evaluated(card, folder, levels=(0.1,), realisations=1)
    run, inputs = load_run(folder, data=card), loaded(card, "test").inputs
    mean, known = run.predict(inputs, symmetrise=True, certify=True)
    assert list(known) == []  # an inverse problem has no cheap solver
    swapped = run.predict(inputs.swapaxes(1, 2).copy()).swapaxes(1, 2)
    off = (run.predict(inputs) - swapped) / 2
    np.testing.assert_allclose(mean, swapped + off)
    with pytest.raises(EvaluationError, match=r"trained with noise of 0\.1"):
        run.calibrate(samples=9)


def test_samples_of_a_shift_have_the_noise_of_the_run(card, folder):
    """Shifted by a factor of 1 they are the test samples, with the same noise."""
    errors, _ = evaluated(card, folder, levels=(0.1,), realisations=1)
    how = {"shifts": [("contrast", 1.0)], "samples": 2, "counts": COUNTS, "threads": 1, "gpus": 0}
    measure_estimates(card, card, [folder], folder / "estimates.csv", **how)
    found = pandas.read_csv(folder / "estimates.csv", keep_default_na=False)
    assert found["shift"].tolist() == ["none", "none", "contrast", "contrast"]
    expected = 2 * errors["relative_l2"][:2].tolist()
    np.testing.assert_allclose(found["relative_l2"].astype(float), expected, rtol=1e-6)


def test_every_realisation_is_another_and_a_louder_level_the_same_one_louder(card, folder):
    errors, kept = evaluated(card, folder)
    noisy = errors[errors["noise"] == 0.1]
    assert noisy["relative_l2"].nunique() == len(noisy) == 9
    clean, half, full = (functions(condition(kept, FINE, level)["input"]) for level in (0.0, 0.05, 0.1))
    np.testing.assert_allclose(full - clean, 2 * (half - clean), rtol=1e-9, atol=1e-16)
    np.testing.assert_array_equal(full, loaded(card, "test").inputs)  # the first realisation is kept
    again, _ = evaluated(card, folder, levels=(0.1,), realisations=1)
    first = noisy[noisy["realisation"] == 0]
    assert again["relative_l2"].tolist() == first["relative_l2"].tolist()


def test_training_validation_and_test_see_their_own_noise_once(card, tmp_path, monkeypatch):
    seen = {}

    class Spy(Trainer):
        def __init__(self, operator, train, validation, *rest, test, **options):
            super().__init__(operator, train, validation, *rest, test=test, **options)
            assert self.loss.grid.points == COARSE
            seen.update(train=train, validation=validation, test=test)

    monkeypatch.setattr(resolvent.training.train, "Trainer", Spy)
    train(card, tmp_path, record_test_error=True)
    noises = {}
    for split, samples in seen.items():
        np.testing.assert_array_equal(samples.inputs, loaded(card, split).inputs)
        np.testing.assert_array_equal(samples.targets, loaded(card, split, noise=0.0).targets)
        noises[split] = (samples.inputs - loaded(card, split, noise=0.0).inputs)[:, 1:-1, 1:-1]
        assert np.abs(noises[split]).max() > 0
    for one, other in itertools.combinations(noises.values(), 2):
        assert not np.isclose(one[:, None], other[None], rtol=1e-4).all(axis=(2, 3)).any()
    history = pandas.read_csv(tmp_path / "history.csv")
    assert history["test_relative_l2"].notna().all()


def test_baselines_have_the_noise_of_training_in_training_and_in_test(card):
    errors, _ = measured_baselines(card, FINE, COUNTS, noise=0.1, realisations=2)
    assert set(errors["noise"]) == {0.1}
    rows = errors.set_index(["baseline", "realisation", "sample"])["relative_l2"]
    assert rows.groupby("baseline").size().to_dict() == {"mean_predictor": 6, "ridge_regression": 6}
    assert (rows["mean_predictor"][0] == rows["mean_predictor"][1]).all()
    assert (rows["ridge_regression"][0] != rows["ridge_regression"][1]).all()
    fitted = RidgeRegression(loaded(card, "train").inputs, loaded(card, "train").targets)
    test = loaded(card, "test")
    expected = relative_l2(fitted(test.inputs), test.targets, test.target_grid)
    np.testing.assert_allclose(rows["ridge_regression"][0], expected, rtol=1e-9)
    clean, _ = measured_baselines(card, FINE, COUNTS, noise=0.0, realisations=2)
    assert set(clean["realisation"]) == {0}
