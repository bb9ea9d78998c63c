"""The public face: datasets and runs by `import resolvent`, which itself imports nothing heavy."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import xarray
from dataset_fixtures import make_dataset, small
from training_fixtures import RUN, finished_run

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import load_samples
from resolvent.figures.common.commands import loading
from resolvent.figures.common.results import read_runs
from resolvent.training.errors import TrainingError

UNSTABLE = {"learning_rate": 1e6, "gradient_clip": None, "initial_division": 1.0}


@pytest.fixture(scope="module")
def card(study):
    return study / "data/burgers/burgers.json"


@pytest.fixture(scope="module")
def folder(study):
    return study / RUN


@pytest.fixture(scope="module")
def diverged(card, tmp_path_factory):
    return finished_run(card, tmp_path_factory.mktemp("diverged"), **UNSTABLE)


def test_importing_it_is_light_and_it_has_five_names():
    heavy = "torch jax xarray pandas numpy zarr pydantic matplotlib"
    code = f"import resolvent, sys; print(sorted(set('{heavy}'.split()) & set(sys.modules)), dir(resolvent))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[] ['evaluate', 'load_run', 'open_dataset', 'predict', 'solve']"
    names = "evaluate, load_run, open_dataset, predict, solve"
    with pytest.raises(AttributeError, match=f"has no attribute 'train'; it has {names}"):
        resolvent.train  # noqa: B018


def test_a_clone_of_this_name_in_the_working_folder_does_not_hide_the_package(tmp_path):
    (tmp_path / "resolvent/docs").mkdir(parents=True)  # as `git clone` makes it
    code = "import resolvent; print(resolvent.load_run.__name__)"
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert said.stdout.strip() == "load_run", said.stderr


def test_a_run_predicts_what_was_evaluated(card, folder):
    run = resolvent.load_run(folder, data=card)
    for resolution in (64, 128):  # that of training, and a finer one
        test = resolvent.open_dataset(card, "test", resolution)
        prediction = run.predict(test["initial_velocity"])
        assert prediction.dims == ("sample", "x")
        xarray.testing.assert_equal(prediction["x"], test["x"])
        errors = run.errors.query(f"resolution == {resolution}")["relative_l2"]
        found = relative_l2(prediction.values, test["final_velocity"].values)  # periodic: equal weights
        np.testing.assert_allclose(found, errors, rtol=1e-6)
        of_numbers = resolvent.predict(folder, test["initial_velocity"].values)
        assert isinstance(of_numbers, np.ndarray)
        np.testing.assert_array_equal(of_numbers, prediction)
    kept = run.predictions["n128"].isel(noise=0, channel=0)
    np.testing.assert_allclose(kept["prediction"], prediction[kept["sample"].values], rtol=1e-5, atol=1e-7)
    assert (run.record.model, run.record.seed, len(run.history)) == ("fno", 3, 2)


def test_a_diverged_run_loads_and_says_why_it_cannot_predict(card, diverged):
    run = resolvent.load_run(diverged)
    assert run.diverged
    assert run.errors["relative_l2"].isna().all()
    assert run.record.resolution == 64
    assert np.isnan(run.predictions["n64"]["prediction"]).all()
    assert len(run.history) == run.cost.diverged_epoch
    with pytest.raises(TrainingError, match=r"diverged in epoch \d and has no operator to predict with"):
        run.predict(np.zeros((1, 64)))


def test_trajectories_are_predicted_at_other_times(tmp_path):
    few = {"train": 8, "validation": 2, "test": 6}
    card = make_dataset(tmp_path, small("controlled_ode", samples=few, samples_per_shard=16))
    settings = {"width": 8, "num_layers": 1, "num_heads": 2, "feedforward_width": 8}
    samples = load_samples(card, "random", "test", 6)
    channels = samples.inputs.shape[1] if samples.inputs.ndim == 3 else 1
    targets = samples.targets.shape[1] if samples.targets.ndim == 3 else 1
    settings |= {"in_channels": channels, "out_channels": targets}
    folder = finished_run(
        card, tmp_path / "run", "dt0.02", ("dt0.02", "random"), "tno1d", settings, few, batch_size=2
    )
    run = resolvent.load_run(folder)
    dims = ("sample", "channel", "time") if channels > 1 else ("sample", "time")
    inputs = xarray.DataArray(samples.inputs, dims=dims, coords={"time": samples.grid.coordinates})
    prediction = run.predict(inputs)
    errors = run.errors.query("resolution == 'random'")["relative_l2"]
    weights = samples.target_grid.weights
    np.testing.assert_allclose(relative_l2(prediction.values, samples.targets, weights), errors, rtol=1e-5)
    with pytest.raises(TrainingError, match="give a DataArray with the coordinate time"):
        run.predict(samples.inputs)


@pytest.mark.parametrize("ended", ["finished", "diverged"])
def test_the_code_on_the_page_of_a_run_runs_and_gives_its_errors(card, request, ended, capsys):
    folder = request.getfixturevalue({"finished": "folder", "diverged": "diverged"}[ended])
    (run,) = read_runs([folder])
    names: dict = {}
    exec(loading(run, json.loads(card.read_text()), str(card)), names)
    if ended == "diverged":
        assert "diverged" in capsys.readouterr().out
        return
    samples = load_samples(card, run.resolution, "test", 6)
    errors = relative_l2(np.asarray(names["prediction"]), samples.targets, samples.grid.weights)
    np.testing.assert_allclose(errors, run.shown_errors(), rtol=1e-9)
