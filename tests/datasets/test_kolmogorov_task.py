"""Datasets of Kolmogorov flow: an accuracy alone decides, and what is out of reach is refused."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small

from resolvent.common.settings import settings_hash
from resolvent.datasets.loading import read_card
from resolvent.datasets.tasks.registry import build_task
from resolvent.planning.prediction.costs import finalising, solving

ALONE = {"num_modes": None, "step": None}
SAMPLES = [("train", 0), ("train", 1), ("test", 0)]


def test_an_accuracy_alone_decides_and_the_card_says_what_it_took(tmp_path):
    card = read_card(make_dataset(tmp_path, small("kolmogorov", **ALONE)))
    budget, stated = card["error_budget"], card["stated_accuracy"]
    chosen = budget["chosen_for_each_sample"]
    assert 10 <= chosen["modes"]["least"] <= chosen["modes"]["largest"] <= 71
    assert 0 < chosen["step"]["least"] <= chosen["step"]["largest"] < 0.1
    assert chosen["largest_estimated_error"] <= stated
    assert all(entry["largest_relative_l2"] <= stated for key, entry in budget.items() if "against_" in key)
    assert card["distribution_of_the_initial_vorticity"]["truncation"] == "modes up to 71 along each axis"


def test_a_sample_has_the_same_numbers_and_errors_in_any_batch():
    task = build_task(small("kolmogorov", **ALONE))
    arrays, errors = task.compute_with_errors(SAMPLES)
    alone, error = task.compute_with_errors(SAMPLES[1:2])
    for found, expected in ((alone, arrays), (error, errors)):
        for name, values in found.items():
            np.testing.assert_array_equal(values[0], expected[name][1])


def test_the_random_field_does_not_depend_on_what_is_integrated():
    cut = {"name": "calvello_kolmogorov", "num_modes": 30}
    tasks = [build_task(small("kolmogorov", initial_distribution=cut, **more)) for more in ({}, ALONE)]
    one, other = (task.draw(SAMPLES[:1]) for task in tasks)
    np.testing.assert_array_equal(one, other)
    assert one.shape == (1, 61, 31)


def test_what_is_stated_counts_and_its_other_half_is_the_default():
    assert small("kolmogorov", step=None).step == 0.01
    assert small("kolmogorov", num_modes=None).num_modes == 71
    assert small("kolmogorov", **ALONE, method="split-step").num_modes == 71
    assert small("kolmogorov", **ALONE).chosen


def test_settings_that_state_both_are_those_of_before():
    """The name of the dataset in config.yaml, which its files bear."""
    field = {"name": "calvello_kolmogorov", "half_spectrum": False}
    before = small("kolmogorov", initial_distribution=field, accuracy=0.001)
    assert not {"num_modes", "half_spectrum"} & set(before.model_dump(mode="json")["initial_distribution"])
    assert settings_hash(before) == "7539fedb25dc"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"viscosity": 1e-6},
            r"viscosity 1e-06 is too small for .* hours; accepted: 6.9e-05 or more",
        ),
        (
            {"accuracy": 1e-9},
            "accuracy 1e-09 is out of reach of single precision, .*; accepted: 2e-07 or more",
        ),
    ],
)
def test_a_request_out_of_reach_is_refused_with_the_nearest_that_is_not(keys, words):
    with pytest.raises(ValueError, match=words):
        small("kolmogorov", **ALONE, **keys)
    assert small("kolmogorov", **keys)


def test_memory_is_requested_for_the_windows_of_a_shard():
    one, many = (small("kolmogorov", frames=frames) for frames in (1, 100))
    windows = 4 * 101 * 48**2 * 4  # samples, frames, points and bytes: joined and written at once
    for need in (solving, finalising):
        assert need(many).bytes - need(one).bytes > 2 * windows
