"""A step applied again and again: exact shifts stay exact, errors are those of the stored moments."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small
from torch import nn
from training_fixtures import SMALL_FNO_2D, save_checkpoint

from resolvent.datasets.loading import Samples, load_arrays
from resolvent.datasets.tasks.kolmogorov import INPUT, TARGET, Kolmogorov
from resolvent.datasets.tasks.kolmogorov import WINDOW as STORED_WINDOW
from resolvent.evaluation import rollout
from resolvent.evaluation.rollout import WINDOW, write_rollout
from resolvent.models.build import build
from resolvent.solvers.common.grid import Grid
from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import in_physical_units
from resolvent.training.settings import TrainingSettings

TRAINING = TrainingSettings(normalisation="scalar", gradient_weight=0.0)
POINTS, FRAMES, TESTS = 16, 3, 3


class Shift(nn.Module):
    """u(x, y) → factor · u(x - h, y), h a grid step."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.factor = factor

    def forward(self, u, x):
        return self.factor * u.roll(1, dims=2)


def waves(count, points=POINTS):
    grid = Grid("periodic", points, 2 * np.pi, dimension=2)
    phases = np.random.default_rng(0).uniform(0, 6, size=(count, 1, 1))
    fields = np.sin(grid.coordinates + phases) * np.cos(2 * grid.coordinates[:, None])
    return Samples(grid, fields.astype(np.float32), fields)


class Travelling(Kolmogorov):
    """Vorticities that move by one grid step along x from one moment to the next: nothing to solve."""

    def compute(self, samples):
        first = waves(len(samples), POINTS).targets
        moments = np.stack([np.roll(first, step, axis=2) for step in range(self.settings.frames + 1)], axis=1)
        arrays = {INPUT: moments[:, 0], TARGET: moments[:, 1], STORED_WINDOW: moments}
        return {name: arrays[name.partition("/")[2]] for name in self.layout.arrays}

    def compute_with_errors(self, samples):
        return self.compute(samples), {}

    def error_budget(self, stored):
        return {"against_itself": {"largest_relative_l2": 0.0}}


def made(folder, frames):
    samples = {"train": 1, "validation": 1, "test": TESTS}
    settings = {"frames": frames, "resolutions": [POINTS], "samples": samples, "samples_per_shard": 8}
    return make_dataset(folder, small("kolmogorov", **settings), kind=Travelling)


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    return made(tmp_path_factory.mktemp("window"), FRAMES)


@pytest.fixture(scope="module")
def window(card):
    return load_arrays(card, "n16", "test", TESTS, [WINDOW])[WINDOW]


def saved_operator(folder, change=None):
    """A run folder's checkpoint of an FNO with normalisers, or of a diverged run; returns the operator."""
    operator = in_physical_units(build("fno2d", SMALL_FNO_2D, seed=3), TRAINING, waves(4))
    if change:
        change(operator)
    saved = {"operator": operator.state_dict(), "architecture": "fno2d", "settings": SMALL_FNO_2D}
    save_checkpoint(folder, saved | {"training": TRAINING.model_dump(mode="json")})
    return operator


def written(card, folder, resolution=POINTS):
    write_rollout(card, folder, resolution=resolution, test_samples=TESTS, threads=1, gpus=0)
    with np.load(folder / "rollout.npz") as stored:
        return dict(stored)


def test_the_exact_step_has_no_error_and_persistence_has(card, tmp_path, monkeypatch):
    """sin(x - kh + …) against sin(x + …): the relative error of persistence is 2 sin(kh/2), h = 2π/16."""
    saved_operator(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(rollout, "trained_operator", lambda checkpoint: Shift())
        stored = written(card, tmp_path)
    assert stored["error"].max() < 1e-6
    exact = 2 * np.sin(np.arange(1, FRAMES + 1) * np.pi / POINTS)
    np.testing.assert_allclose(stored["persistence"], [exact] * TESTS, rtol=1e-5)
    checkpoint = checkpoints.load(tmp_path / "checkpoint.pt") | {"operator": None}  # of a diverged run
    checkpoints.save(checkpoint, tmp_path / "checkpoint.pt")
    lost = written(card, tmp_path)
    assert np.isnan(lost["error"]).all()
    assert np.isnan(lost["prediction"]).all()
    np.testing.assert_array_equal(lost["persistence"], stored["persistence"])


def test_a_prediction_that_overflows_has_no_error(card, tmp_path):
    """The output is multiplied by 1e30 at each step: finite once, then no longer."""
    saved_operator(tmp_path, lambda operator: operator.output.deviation.mul_(1e30))
    error = written(card, tmp_path)["error"]
    assert np.isfinite(error[:, 0]).all()
    assert np.isnan(error[:, -1]).all()


def test_a_dataset_without_later_moments_is_refused(card, tmp_path, tmp_path_factory):
    saved_operator(tmp_path)
    pairs = made(tmp_path_factory.mktemp("pairs"), 1)
    for one, resolution in ((pairs, POINTS), (card, 48)):
        with pytest.raises(TrainingError, match=r"has no vorticity_window at .*set `frames`"):
            written(one, tmp_path, resolution)
