"""The two jobs of a run on a Darcy dataset: train, save, restore, evaluate on another grid."""

import json
import time
from importlib.metadata import version

import numpy as np
import pandas
import pytest
import torch
from training_fixtures import CODE, described
from training_fixtures import SQUARE_COUNTS as COUNTS
from training_fixtures import SQUARE_RUN as RUN

from resolvent.common.predictions import read_predictions
from resolvent.common.runs import metric_columns, read_run
from resolvent.datasets.loading import load_samples
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.training import checkpoints
from resolvent.training.train import train_run


def train(card, folder, **options):
    given = {"run": RUN, "threads": 1, "gpus": 0, **options}
    train_run(card, folder, 17, seed=3, code_versions=CODE, **given)


@pytest.mark.parametrize("nodes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_of_two_processes_leaves_the_files_of_a_run_of_one(card, tmp_path, slurm_of_this_host, nodes):
    """Let each node have a launcher of its own."""
    train(card, tmp_path / "one")
    train(card, tmp_path / "two", threads=2, processes=2, nodes=nodes)
    if nodes == 2:
        asked_for = slurm_of_this_host.read_text()
        assert asked_for.startswith("--nodes=1 --ntasks=1 --ntasks-per-node=1 --relative=1 ")
    names = ("one", "two")
    one, two = (checkpoints.load(tmp_path / name / "checkpoint.pt") for name in names)
    torch.testing.assert_close(two.pop("operator"), one.pop("operator"), rtol=2e-3, atol=2e-4)
    assert one == two
    costs = [json.loads((tmp_path / name / "cost.json").read_text()) for name in names]
    assert [(cost["processes"], cost["threads"]) for cost in costs] == [(1, 1), (2, 1)]
    files = [{file.name for file in (tmp_path / name).iterdir()} for name in names]
    assert files[0] == files[1]
    one, two = (pandas.read_csv(tmp_path / name / "history.csv") for name in names)
    pandas.testing.assert_frame_equal(one, two, rtol=2e-3)


def test_a_run_records_what_no_setting_says(card, tmp_path):
    """Also the packages whose modules the network has."""
    package = {"width": 8, "modes": 4, "num_layers": 2}
    run = {**RUN, "architecture": "neuraloperator2d", "settings": package}
    train(card, tmp_path, run=run)
    evaluate_run(card, tmp_path, described(run, 17, 3, COUNTS), threads=1, gpus=0)
    record = read_run(tmp_path).record
    assert record.computation == {
        "optimiser": "Adam", "betas": [0.9, 0.999], "first_beta_cycles": [0.85, 0.95], "epsilon": 1e-8,
        "amsgrad": False, "drop_last": True, "weights": "float32", "products": "float32",
    }  # fmt: skip
    assert record.versions["neuraloperator"] == version("neuraloperator")
    assert record.versions["torch"] == version("torch")


@pytest.mark.parametrize(
    ("gpus", "visible", "threads", "expected"),
    [
        (2, "a,b", 6, (2, ["a", "b"], 3)),  # a GPU each
        (3, "", 6, (3, [], 2)),  # GPUs allowed where there are none
        (0, "", 2, (2, [], 1)),  # fewer cores
    ],
)
def test_processes_are_as_many_as_have_devices(
    card, tmp_path, monkeypatch, capsys, gpus, visible, threads, expected
):
    launches = []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(
        "resolvent.training.train.launch",
        lambda _, size, devices, given, nodes, shared: launches.append((size, devices, given["threads"])),
    )
    train(card, tmp_path, threads=threads, gpus=gpus, processes=3)
    assert launches == [expected]
    assert ("instead of 3 processes" in capsys.readouterr().err) == (expected[0] < 3)


def test_a_run_is_trained_saved_and_evaluated_in_physical_units(card, tmp_path):
    begun = time.perf_counter()
    train(card, tmp_path)
    elapsed = time.perf_counter() - begun
    samples = load_samples(card, 17, "train", COUNTS["train"])
    state = checkpoints.load(tmp_path / "checkpoint.pt")["operator"]
    mean, deviation = (state[f"output.{name}"][..., 0] for name in ("mean", "deviation"))
    np.testing.assert_allclose(mean, samples.targets.mean(axis=0), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(deviation, samples.targets.std(axis=0) + 1e-5, rtol=1e-4)

    # Lifting, projection, and in two layers the map beside the convolution: at every point.
    cost = json.loads((tmp_path / "cost.json").read_text())
    assert 0 < cost["train_seconds"] < elapsed
    assert cost["parameters"] - cost["parameters_complex_once"] == 2 * (8 * 4 * 6 * 6)
    assert cost["forward_flop"] > 2 * 17**2 * (3 * 6 + 2 * 6 * 6 + 6 * 8 + 8)

    description = described(RUN, 17, 3, COUNTS, test_resolutions=[17, 33])
    evaluate_run(card, tmp_path, description, threads=1, gpus=0)
    errors = pandas.read_csv(tmp_path / "errors.csv")
    assert errors.groupby("resolution").size().to_dict() == {17: 3, 33: 3}
    assert errors["relative_l2"].between(0.01, 1).all()  # eight steps: little more than the mean is known
    kept = read_predictions(tmp_path / "predictions.nc")
    assert kept["n33"]["prediction"].shape == (1, 3, 1, 33, 33)
    assert not kept["n17"]["prediction"].values[..., [0, -1]].any()
    run = read_run(tmp_path)
    assert run.record.test_resolutions == [17, 33]
    assert run.record.grid["points"] == 17
    assert len(run.errors) == 6
    assert len(run.history) == 2
    assert set(run.record.metrics) == set(metric_columns(run.errors)) == {"relative_l2", "relative_h1"}
