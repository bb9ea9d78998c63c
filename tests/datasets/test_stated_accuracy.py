"""An accuracy is enough, what is stated besides counts, and what is out of reach is refused when planned."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small

from resolvent.common.norms import relative_l2
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import read_card, stacked
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration

ALONE = {"num_modes": None, "step": None}  # of Kolmogorov flow, whose example states both
# Settings; what is chosen for each sample, with the least and the largest that it may be; the most work over
# that of the last solution.
CHOSEN = {
    "burgers": (
        {"accuracy": 1e-7, "viscosity": 0.005, "samples": {"train": 10, "validation": 1, "test": 1}},
        {"modes": (4, 4095)},
        3,
    ),
    "kolmogorov": (ALONE, {"modes": (10, 71), "step": (1e-9, 0.0999)}, np.inf),
    "lorenz63": ({}, {"order": (4, 30)}, 3),
}


@pytest.mark.parametrize("equation", CHOSEN)
def test_an_accuracy_alone_decides_and_the_card_says_what_it_took(equation, card_of):
    settings, limits, most = CHOSEN[equation]
    card = read_card(card_of(equation, **settings))
    budget, stated = card["error_budget"], card["stated_accuracy"]
    chosen = budget["chosen_for_each_sample"]
    for name, (low, high) in limits.items():
        assert low <= chosen[name]["least"] <= chosen[name]["median"] <= chosen[name]["largest"] <= high
    assert chosen["largest_estimated_error"] <= stated
    assert 1 <= chosen["work_over_that_of_the_last_solution"] < most
    checks = [entry for key, entry in budget.items() if "against_" in key and "not_available" not in entry]
    assert checks
    assert all(entry["largest_relative_l2"] <= stated for entry in checks)


def test_what_is_stated_counts_and_its_other_half_is_the_default():
    assert small("burgers", num_modes=96).num_steps == 480
    assert small("burgers", num_steps=96).num_modes == 192
    assert not small("burgers", num_modes=96).chosen
    assert small("kolmogorov", step=None).step == 0.01
    assert small("kolmogorov", num_modes=None).num_modes == 71
    assert small("kolmogorov", **ALONE, method="split-step").num_modes == 71
    assert small("kolmogorov", **ALONE).chosen
    assert load_configuration(read_configuration([])).datasets["lorenz63_yz"].step == 0.01
    assert small("lorenz63").step is None
    assert small("lorenz63", step=0.1, accuracy=1e-14).step == 0.1


# Settings that cannot meet the accuracy, the message, and settings that can.
BOTH = {"num_modes": 60, "num_steps": 8}
OUT_OF_REACH = [
    ("burgers", {"viscosity": 1e-6}, r"viscosity 1e-06 is too small for .* minutes; accepted: 0\.0\d+", BOTH),
    ("burgers", {"accuracy": 1e-14}, "accuracy 1e-14 is out of .* double precision; accepted: 1e-12", BOTH),
    ("kolmogorov", ALONE | {"viscosity": 1e-6}, "is too small for .* hours; accepted: 6.9e-05 or more",
     {"num_modes": 71, "step": 0.02}),
    ("kolmogorov", ALONE | {"accuracy": 1e-9}, "out of .* single precision, .*; accepted: 2e-07 or more",
     {"num_modes": 71, "step": 0.02}),
    ("lorenz63", {"accuracy": 1e-14}, r"accuracy 1e-14 is out of reach .*; accepted: 2\.9e-12 or more ",
     {"rho": 10.0, "accuracy": 1e-11}),
    ("lorenz63", {"final_time": 20.0}, r"1e-08 .*; accepted: 0\.00013 .* 20; or final_time 9\.46 or less",
     {"rho": 10.0, "accuracy": 1e-11}),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "keys", "words", "remedy"), OUT_OF_REACH)
def test_a_request_out_of_reach_is_refused_with_the_nearest_that_is_not(equation, keys, words, remedy):
    with pytest.raises(ValueError, match=words):
        small(equation, **keys)
    assert small(equation, **keys | remedy)


@pytest.mark.parametrize(
    ("times", "limit"),
    [
        ({"step": 0.01}, 1e-4),
        ({"kind": "random", "count": 200}, 1e-3),
        ({"kind": "explicit", "times": [0.5 + 0.01 * k for k in range(150)]}, 1e-3),
    ],
    ids=["from 0", "random", "long after 0"],
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
    given["samples"] = {"train": 1, "validation": 1, "test": 1}
    with pytest.raises(DatasetError, match="is not finalised"):
        make_dataset(tmp_path, small("lorenz63", **given))
