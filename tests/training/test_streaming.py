"""Samples that do not fit into memory are read while the network trains, to the same weights and errors."""

from types import SimpleNamespace

import numpy as np
import pandas
import psutil
import pytest
import torch
from training_fixtures import CODE, described
from training_fixtures import SQUARE_COUNTS as COUNTS
from training_fixtures import SQUARE_RUN as RUN

import resolvent.datasets.loading
from resolvent.common.machine import SAMPLES_GB
from resolvent.common.predictions import read_predictions
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Samples, Split
from resolvent.datasets.noise import pointwise_standard_deviation
from resolvent.evaluation.baselines import Baseline, measured_baselines
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.training import checkpoints
from resolvent.training.data import AHEAD, InMemory, Streamed, read_where_it_fits
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import Normaliser
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

CPU = torch.device("cpu")
SETTINGS = TrainingSettings.model_validate(RUN["training"])
NAMES = ("memory", "streamed")


@pytest.fixture
def small_memory(monkeypatch):
    """Let nothing fit into memory."""
    monkeypatch.setenv(SAMPLES_GB, "1e-6")


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a block have two samples on the coarser grid, and one on the finer."""
    monkeypatch.setattr(resolvent.datasets.loading, "BLOCK_VALUES", 2 * 17**2)


def train(card, folder):
    train_run(card, folder, 17, seed=3, run=RUN, code_versions=CODE, threads=1, gpus=0)


def evaluated(card, folder):
    """Return the table of errors, and the predictions."""
    evaluate_run(card, folder, described(RUN, 17, 3, COUNTS, test_resolutions=[17, 33]), threads=1, gpus=0)
    return pandas.read_csv(folder / "errors.csv"), read_predictions(folder / "predictions.nc")


def test_a_streamed_run_ends_with_the_same_bytes(card, tmp_path, request, capsys):
    train(card, tmp_path / "memory")
    evaluated(card, tmp_path / "memory")
    assert "from the store" not in capsys.readouterr().err
    request.getfixturevalue("small_memory")
    train(card, tmp_path / "streamed")
    evaluated(card, tmp_path / "streamed")
    assert "train: 32 samples need" in capsys.readouterr().err
    states = [checkpoints.load(tmp_path / name / "checkpoint.pt")["operator"] for name in NAMES]
    assert all(torch.equal(states[1][name], value) for name, value in states[0].items())
    for file in ("history.csv", "errors.csv"):
        assert (tmp_path / "memory" / file).read_bytes() == (tmp_path / "streamed" / file).read_bytes()


def test_an_evaluation_in_blocks_finds_the_same(card, tmp_path, request):
    """The samples are in memory, and the chosen ones are predicted again."""
    train(card, tmp_path)
    whole, kept = evaluated(card, tmp_path)
    request.getfixturevalue("small_blocks")
    errors, predictions = evaluated(card, tmp_path)
    pandas.testing.assert_frame_equal(errors, whole, rtol=1e-4)
    for resolution in ("n17", "n33"):
        one, other = kept[resolution], predictions[resolution]
        assert one["extreme_sample"].values.tolist() == other["extreme_sample"].values.tolist()
        for name, values in one.data_vars.items():
            np.testing.assert_allclose(other[name], values, rtol=1e-3, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_batches_are_those_of_memory_and_few_are_read_ahead(card, weight, monkeypatch):
    settings = SETTINGS.model_copy(update={"gradient_weight": weight})
    split = Split(card, 17, "train", 32)
    order = list(torch.from_numpy(np.random.default_rng(0).permutation(32)).split(3))
    whole = read_where_it_fits(split, CPU, settings)
    assert isinstance(whole, Samples)
    reads, read = [], Split.read

    def counted(self, members, *precision):
        reads.append(len(members))
        return read(self, members, *precision)

    monkeypatch.setattr(Split, "read", counted)
    pairs = zip(
        InMemory(whole, CPU, settings).batches(order),
        Streamed(split, CPU, settings).batches(order),
        strict=True,
    )
    for number, (one, other) in enumerate(pairs):
        assert len(reads) <= number + 1 + AHEAD
        for name in ("inputs", "targets", "gradients", "coefficients"):
            assert weight == 0 or getattr(one, name) is not None
            torch.testing.assert_close(getattr(other, name), getattr(one, name), rtol=0, atol=0)
    assert sum(reads) == 32


@pytest.mark.parametrize("weight", [0.0, 0.1])
@pytest.mark.parametrize("less", [0, 1])
def test_samples_are_kept_in_memory_up_to_the_byte(card, weight, less, monkeypatch):
    """Count double and single precision on the CPU; on a GPU single alone, and half of what is free there."""
    settings = SETTINGS.model_copy(update={"gradient_weight": weight})
    numbers = 32 * 17**2 * (2 + 2 * (weight > 0))  # input, target, and two derivatives of it
    split, kept = Split(card, 17, "train", 32), Split if less else Samples
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * 4 * numbers - less, 10**12))
    assert isinstance(read_where_it_fits(split, torch.device("cuda"), settings), kept)
    monkeypatch.setenv(SAMPLES_GB, repr((12 * numbers - less) / 1e9))
    assert isinstance(read_where_it_fits(split, CPU, settings), kept)
    monkeypatch.setenv(SAMPLES_GB, repr(3 * (12 * numbers - less) / 1e9))
    assert isinstance(read_where_it_fits(split, CPU, settings, processes=3), kept)
    monkeypatch.delenv(SAMPLES_GB)
    free = SimpleNamespace(available=2 * 12 * numbers - less)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    assert isinstance(read_where_it_fits(split, CPU, settings), kept)


def test_a_constant_target_has_no_relative_gradient(card):
    samples = Split(card, 17, "train", 32).all()
    samples.targets[3] = 0.5
    InMemory(samples, CPU, SETTINGS.model_copy(update={"gradient_weight": 0.0}))
    with pytest.raises(TrainingError, match=r"1 of 32 targets are constant.*gradient_weight: 0"):
        InMemory(samples, CPU, SETTINGS.model_copy(update={"gradient_weight": 0.1}))


def test_a_sample_that_cannot_be_read_ends_the_training_in_one_line(card, monkeypatch):
    def damaged(self, *_):
        raise DatasetError("the store is damaged")

    monkeypatch.setattr(Split, "read", damaged)
    streamed = Streamed(Split(card, 17, "train", 32), CPU, SETTINGS)
    with pytest.raises(DatasetError, match="the store is damaged"):
        next(streamed.batches([torch.arange(4)]))


def test_moments_of_blocks_are_those_of_all():
    values = 3 + np.random.default_rng(0).standard_normal((50, 5, 7))
    parts = [values[:20], values[20:21], values[21:]]
    np.testing.assert_allclose(pointwise_standard_deviation(parts), values.std(axis=0), rtol=1e-13)
    tensors = [torch.from_numpy(part)[..., None] for part in parts]
    for normalisation in ("pointwise", "scalar"):
        one = Normaliser.fitted([torch.cat(tensors)], normalisation)
        many = Normaliser.fitted(tensors, normalisation)
        torch.testing.assert_close(many.mean, one.mean, rtol=1e-6, atol=0)
        torch.testing.assert_close(many.deviation, one.deviation, rtol=1e-6, atol=0)


def test_baselines_in_blocks_find_the_same(card, small_blocks, monkeypatch):
    def prepared(train):
        return lambda inputs, grid: train.targets[0] + 0 * inputs

    own, counts = [Baseline("first", "The first target", prepared)], {"train": 8, "test": 3}
    whole, _ = measured_baselines(card, 17, counts, 0.0, 1, own=own)
    monkeypatch.setenv(SAMPLES_GB, "1e-6")
    streamed, costs = measured_baselines(card, 17, counts, 0.0, 1, own=own)
    learnt = streamed["baseline"] == "first"
    pandas.testing.assert_frame_equal(streamed[~learnt], whole[whole["baseline"] != "first"], rtol=1e-12)
    assert streamed.loc[learnt, "relative_l2"].isna().all()
    assert "do not fit into memory" in costs["first"].no_answer
