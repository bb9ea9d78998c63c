"""Training learns, resumes to the same bytes, and says when it diverged."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from dataset_fixtures import small
from model_variants import OF_EACH_FAMILY
from training_fixtures import (
    ON_THE_SQUARE,
    Killed,
    killed_after,
    kind_of,
    small_trainer,
    smooth_samples,
)

from resolvent.evaluation.conditions import Condition, evaluate, shown_samples
from resolvent.training import checkpoints
from resolvent.training.fit import HISTORY_COLUMNS
from resolvent.training.interruption import Interruption


@pytest.mark.parametrize("kind", [{}, ON_THE_SQUARE], ids=["circle", "square"])
def test_training_learns(tmp_path, kind):
    """The learning rate starts and ends low, and peaks where asked."""
    rate = {"learning_rate": 1e-2, "peak_fraction": 0.3}
    progress = small_trainer(tmp_path, epochs=20, **rate | kind).fit()
    errors = [row[HISTORY_COLUMNS.index("validation_relative_l2")] for row in progress.history]
    assert errors[-1] < 0.4 * errors[0]
    assert progress.best_error == min(errors)
    assert errors[progress.best_epoch - 1] == progress.best_error
    rates = [row[HISTORY_COLUMNS.index("learning_rate")] for row in progress.history]
    assert max(rates) == pytest.approx(1e-2, rel=0.05)
    assert rates.index(max(rates)) in (5, 6)
    assert rates[-1] < 1e-3


@pytest.mark.parametrize("architecture", OF_EACH_FAMILY)
def test_a_resumed_run_ends_with_the_same_bytes(tmp_path, architecture):
    kind = kind_of(architecture) | {"epochs": 2}
    undisturbed = small_trainer(tmp_path / "a", **kind)
    undisturbed.fit()

    with killed_after(1), pytest.raises(Killed):
        small_trainer(tmp_path / "b", **kind).fit()
    resumed = small_trainer(tmp_path / "b", **kind)
    resumed.fit()
    assert resumed.progress.history == undisturbed.progress.history
    for trainer in (undisturbed, resumed):
        checkpoints.save(trainer.progress.best_state, trainer.directory / "best.pt")
        checkpoints.save(trainer.operator.state_dict(), trainer.directory / "last.pt")
    for name in ("best.pt", "last.pt"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_symmetries_are_chosen_again_in_every_epoch_and_the_same_when_resumed(tmp_path):
    kind = {"augment": "symmetries", "equation": small("burgers"), "epochs": 2}
    trainer, members = small_trainer(tmp_path / "a", **kind), [torch.arange(16)]
    trainer.augmentation.mapped = lambda batch, maps: maps
    first, second = (
        next(trainer.augmentation.applied(trainer.train.batches(members), epoch, members)).tolist()
        for epoch in (1, 2)
    )
    assert first != second
    assert set(first) | set(second) == set(range(8))

    undisturbed, plain = small_trainer(tmp_path / "b", **kind), small_trainer(tmp_path / "c", epochs=2)
    assert undisturbed.fit().history != plain.fit().history
    with killed_after(1), pytest.raises(Killed):
        small_trainer(tmp_path / "d", **kind).fit()
    resumed = small_trainer(tmp_path / "d", **kind)
    assert resumed.fit().history == undisturbed.progress.history
    weights = resumed.operator.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in undisturbed.operator.state_dict().items())


def test_recording_the_test_error_changes_nothing_but_the_record(tmp_path):
    watched = small_trainer(tmp_path / "a", test=smooth_samples(8, seed=2))
    progress, plain = watched.fit(), small_trainer(tmp_path / "b").fit()
    recorded = [row[-1] for row in progress.history]
    assert [row[:-1] for row in progress.history] == [row[:-1] for row in plain.history]
    assert {row[-1] for row in plain.history} == {None}
    assert progress.best_epoch == plain.best_epoch
    cost = watched.measured_cost(threads=1)
    assert cost["best_test_relative_l2"] == min(recorded) == recorded[cost["best_test_epoch"] - 1]
    last = watched._mean_error(watched.test)
    assert last == recorded[-1]


def test_a_state_of_other_settings_is_not_resumed_and_its_events_go(tmp_path):
    small_trainer(tmp_path, identity="older").fit()
    (older,) = (tmp_path / "tensorboard").iterdir()
    trainer = small_trainer(tmp_path, identity="newer")
    trainer._resume()
    assert trainer.progress.history == []
    trainer.fit()
    (newer,) = (tmp_path / "tensorboard").iterdir()
    assert newer != older


def test_a_learning_rate_that_explodes_is_a_diverged_run(tmp_path):
    kind = {"learning_rate": 1e4, "gradient_clip": 1e9, "epochs": 10, "initial_division": 1.0}
    trainer = small_trainer(tmp_path, **kind)
    progress = trainer.fit()
    assert progress.diverged_epoch == len(progress.history) < 10
    words = trainer.words_of_divergence()
    assert re.match(rf"diverged in epoch {progress.diverged_epoch}: .*loss .*; learning rate \d", words)
    cost = trainer.measured_cost(threads=1)
    assert cost["status"] == "diverged"
    assert cost["diverged_epoch"] == progress.diverged_epoch
    again = small_trainer(tmp_path, **kind).fit()
    assert len(again.history) == progress.diverged_epoch  # a resumed diverged run does not go on


def test_a_loss_that_is_not_a_number_is_a_diverged_run(tmp_path):
    trainer = small_trainer(tmp_path)
    with torch.no_grad():
        next(trainer.operator.parameters()).fill_(math.nan)
    assert trainer.fit().diverged_epoch == 1
    assert trainer.words_of_divergence() == (
        "diverged in epoch 1: the loss is not finite from step 1 of 4; learning rate 0.00895"
    )


def order_seen(trainer, epoch):
    """The batches of an epoch, each sample known by its first value."""
    seen = []
    hook = trainer.operator.register_forward_pre_hook(
        lambda _, given: seen.append(given[0][:, 0, 0].tolist())
    )
    trainer._epoch(epoch, Interruption())
    hook.remove()
    return seen[: trainer.steps_per_epoch]  # then comes the validation


def test_the_order_of_samples_changes_with_the_epoch_and_the_seed_only(tmp_path):
    trainer = small_trainer(tmp_path)
    first, second, again = (order_seen(trainer, epoch) for epoch in (1, 2, 1))
    assert first == again != second
    assert sorted(itertools.chain(*first)) == sorted(itertools.chain(*second))
    assert order_seen(small_trainer(tmp_path, seed=8), 1) != first
    # With one seed of the loader two seeds see one order, from different weights.
    one, other = (small_trainer(tmp_path, seed=seed, loader_seed=7) for seed in (7, 8))
    assert not torch.equal(*(next(trainer.operator.parameters()).clone() for trainer in (one, other)))
    assert order_seen(one, 1) == order_seen(other, 1) == first
    unshuffled = small_trainer(tmp_path, shuffle=False)
    stored = unshuffled.train.samples.inputs[:, 0, 0].tolist()
    for epoch in (1, 2):
        assert list(itertools.chain(*order_seen(unshuffled, epoch))) == stored


def test_evaluation_keeps_every_sample_and_marks_a_diverged_run(tmp_path):
    test = {points: smooth_samples(6, points, seed=2) for points in (64, 128)}
    trainer = small_trainer(tmp_path, epochs=20)
    trainer.fit()
    shown = shown_samples(6, seed=1)
    on_each = [(Condition(points), samples) for points, samples in test.items()]
    errors, kept = evaluate(trainer.operator, on_each, torch.device("cpu"), shown)
    conditions = ["resolution", "noise", "realisation", "sample"]
    assert list(errors.columns) == [*conditions, "relative_l2", "relative_h1"]
    assert not errors[["noise", "realisation"]].any(axis=None)
    assert len(errors) == 12
    assert errors["relative_l2"].between(1e-6, 1).all()
    paired = errors.pivot(index="sample", columns="resolution", values="relative_l2")
    assert ((paired[64] - paired[128]).abs() < 0.1 * paired[64]).mean() > 0.5  # the same functions
    assert kept["n128"]["prediction"].shape == (1, 4, 1, 128)
    diverged, kept = evaluate(None, on_each, torch.device("cpu"), shown)
    assert diverged["relative_l2"].isna().all()
    assert (diverged[conditions] == errors[conditions]).all(axis=None)


def test_the_sum_over_a_batch_is_felt_by_weight_decay_as_a_decay_as_much_smaller(tmp_path):
    """Adam divides by the gradient's size, so that only the ratio of decay and loss is left, and ε = 1e-8."""
    common = {"epochs": 2, "gradient_clip": None}
    settings = small_trainer(tmp_path / "x").settings
    summed, mean = (
        small_trainer(tmp_path / name, weight_decay=decay, batch_reduction=reduction, **common)
        for name, decay, reduction in (("a", 0.1 * settings.batch_size, "sum"), ("b", 0.1, "mean"))
    )
    histories = np.array(summed.fit().history, float), np.array(mean.fit().history, float)
    np.testing.assert_allclose(*histories, rtol=1e-4)
    other = small_trainer(tmp_path / "c", weight_decay=0.1 * settings.batch_size, **common).fit()
    assert not np.allclose(histories[0], np.array(other.history, float), rtol=1e-2)


def test_the_last_epoch_is_the_checkpoint_where_it_is_selected(tmp_path):
    kind = {"epochs": 8, "schedule": "plateau", "learning_rate": 0.1}  # rough: the best epoch is not the last
    best, last = (small_trainer(tmp_path / one, selection=one, **kind) for one in ("best", "last"))
    best.fit(), last.fit()
    assert last.progress.history == best.progress.history
    assert best.progress.best_epoch < last.progress.best_epoch == 8
    assert last.progress.best_error == last.progress.history[-1][4] > best.progress.best_error
    weights = last.operator.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in last.progress.best_state.items())
    again = small_trainer(tmp_path / "last", selection="last", **kind)  # finished before
    assert again.fit().best_epoch == 8


@pytest.mark.parametrize("by", ["norm", "value"])
def test_gradients_are_clipped_by_their_norm_or_by_value(tmp_path, by):
    trainer = small_trainer(tmp_path, gradient_clip=0.01, gradient_clip_by=by)
    trainer._gradients(next(trainer.train.batches([torch.arange(4)])))
    before = [parameter.grad.clone() for parameter in trainer.operator.parameters()]
    trainer._clip()
    norm = math.sqrt(sum(float((one**2).sum()) for one in before))
    assert norm > 0.01
    for given, parameter in zip(before, trainer.operator.parameters(), strict=True):
        expected = given.clamp(-0.01, 0.01) if by == "value" else given * (0.01 / norm)
        torch.testing.assert_close(parameter.grad, expected, rtol=1e-4, atol=1e-9)
