"""Datasets of Lorenz-63: an accuracy alone decides, and what is out of reach is refused when planned."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small

from resolvent.common.norms import relative_l2
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import read_card, stacked
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration


def test_an_accuracy_alone_decides_and_the_card_says_what_it_took(card_of):
    card = read_card(card_of("lorenz63"))
    chosen = card["error_budget"]["chosen_for_each_sample"]
    assert 4 <= chosen["order"]["least"] <= chosen["order"]["median"] <= chosen["order"]["largest"] <= 30
    assert chosen["largest_estimated_error"] <= card["stated_accuracy"]
    assert 1 <= chosen["work_over_that_of_the_last_solution"] < 3


def test_what_is_stated_counts():
    assert load_configuration(read_configuration([])).datasets["lorenz63_yz"].step == 0.01
    assert small("lorenz63").step is None
    assert small("lorenz63", step=0.1, accuracy=1e-14).step == 0.1


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"accuracy": 1e-14}, r"accuracy 1e-14 is out of reach .*; accepted: 2\.9e-12 or more "),
        (
            {"final_time": 20.0},
            r"1e-08 .*; accepted: 0\.00013 or more at final_time 20; or final_time 9\.46 or less",
        ),
    ],
)
def test_a_request_out_of_reach_is_refused_with_the_nearest_that_is_not(keys, words):
    with pytest.raises(ValueError, match=words):
        small("lorenz63", **keys)
    assert small("lorenz63", **{**keys, "rho": 10.0, "accuracy": 1e-11})


@pytest.mark.parametrize(
    ("times", "limit"),
    [
        ({"step": 0.01}, 1e-4),
        ({"kind": "random", "count": 200}, 1e-3),
        ({"kind": "explicit", "times": [0.005 + 0.01 * k for k in range(199)]}, 1e-4),
        ({"kind": "explicit", "times": [0.5 + 0.01 * k for k in range(150)]}, 1e-3),
    ],
    ids=["from 0", "random", "soon after 0", "long after 0"],
)
def test_the_solver_on_given_times_knows_that_initial_values_are_of_time_0(times, limit):
    task = small("lorenz63", final_time=2.0, observations={"t": times}).task()
    arrays = task.compute([("test", index) for index in range(20)])
    inputs, targets = (
        stacked({name: arrays[f"t/{name}"] for name in names}, task.times["t"])
        for names in (task.inputs, task.targets)
    )
    answers = task.solve_on_times(inputs, task.times["t"])
    assert np.median(relative_l2(answers, targets)) < limit


def test_errors_are_measured_at_every_set_of_times(tmp_path):
    sets = {"early": {"kind": "explicit", "times": [0.0, 0.01]}, "all": {"step": 0.05}}
    given = {"observations": sets, "final_time": 5.0, "step": 0.02, "accuracy": 2e-12}
    with pytest.raises(DatasetError, match="is not finalised"):
        make_dataset(tmp_path, small("lorenz63", **given))
