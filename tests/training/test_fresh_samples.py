"""New samples for every epoch: drawn and solved while the network trains, and the same ones when resumed."""

import numpy as np
import pytest
import torch
from dataset_fixtures import make_dataset
from training_fixtures import CODE, SQUARE_COUNTS, SQUARE_RUN, Killed, killed_after

from resolvent.datasets.loading import FreshSplit, load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.datasets.tasks.task import Task
from resolvent.training import checkpoints
from resolvent.training.train import train_run

RUN = SQUARE_RUN | {
    "training": SQUARE_RUN["training"] | {"fresh_samples": True},
    "samples": SQUARE_RUN["samples"] | {"train": 16},
}


def train(card, folder):
    train_run(card, folder, 17, seed=3, run=RUN, code_versions=CODE, threads=1, gpus=0)
    return checkpoints.load(folder / "checkpoint.pt")


def test_they_are_those_of_a_larger_dataset(card, tmp_path):
    stored = SQUARE_COUNTS["train"]
    content = read_card(card)["settings"]
    content |= {"samples": SQUARE_COUNTS | {"train": stored + 3}, "samples_per_shard": stored + 8}
    larger = make_dataset(tmp_path, settings_of(content))
    expected = load_samples(larger, 17, "train", stored + 3)
    fresh = FreshSplit(card, 17, "train", 16).read(np.array([2, 0]))
    np.testing.assert_array_equal(fresh.inputs, expected.inputs[[stored + 2, stored]])
    np.testing.assert_array_equal(fresh.targets, expected.targets[[stored + 2, stored]])


def test_no_sample_is_seen_twice_and_a_resumed_run_ends_with_the_same_bytes(card, tmp_path, monkeypatch):
    seen, compute = [], Task.compute

    def watched(self, samples):
        seen.extend(samples)
        return compute(self, samples)

    monkeypatch.setattr(Task, "compute", watched)
    undisturbed = train(card, tmp_path / "a")
    assert sorted(seen) == [("train", SQUARE_COUNTS["train"] + k) for k in range(32)]  # two epochs of 16

    monkeypatch.undo()
    with killed_after(1), pytest.raises(Killed):
        train(card, tmp_path / "b")
    resumed = train(card, tmp_path / "b")
    assert resumed["epoch"] == undisturbed["epoch"]
    weights = resumed["operator"]
    assert all(torch.equal(value, weights[name]) for name, value in undisturbed["operator"].items())
