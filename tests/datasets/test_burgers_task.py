"""A sample is a function named by (seed, split, index): nothing else may change its numbers."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small_settings

from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task
from resolvent.datasets.verify import faults_of_dataset
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid, restrict_by_stride

SAMPLE_17 = ("train", 17)


def test_restricting_the_finest_grid_equals_generating_on_the_coarse_one():
    fine = build_task(BurgersDataset(equation="burgers", resolutions=[8192])).compute([SAMPLE_17])
    coarse = build_task(BurgersDataset(equation="burgers", resolutions=[512])).compute([SAMPLE_17])
    for variable in ("initial_velocity", "final_velocity"):
        restricted = observe(coefficients_of(fine[f"n8192/{variable}"]), 512)
        difference = np.linalg.norm(restricted - coarse[f"n512/{variable}"])
        assert difference <= 1e-12 * np.linalg.norm(restricted)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("cao_burgers", 0, 1e-14), ("cao_burgers_printed", 1e-3, 1e-1)]
)
def test_restriction_by_stride_is_the_papers_and_aliases_the_printed_distribution_alone(name, low, high):
    given = {"resolutions": [64, 512], "initial_distribution": {"name": name}}
    spectral, stride = (
        build_task(small_settings(restriction=restriction, **given)).compute([SAMPLE_17])
        for restriction in ("spectral", "stride")
    )
    coarse, aliased = spectral["n64/initial_velocity"], stride["n64/initial_velocity"]
    np.testing.assert_array_equal(aliased, restrict_by_stride(stride["n512/initial_velocity"], 64))
    assert low <= np.linalg.norm(aliased - coarse) / np.linalg.norm(coarse) < high


def test_the_card_states_errors_that_hold_for_the_stored_numbers(card_of):
    made = card_of("burgers")
    card = read_card(made)
    budget = card["error_budget"]
    assert 0 < budget["against_cole_hopf"]["largest_relative_l2"] <= 1e-7
    assert 0 < budget["against_refined_run"]["largest_relative_l2"] <= 1e-7
    assert (budget["against_cole_hopf"]["samples"], budget["observed_on"]) == (30, "n128")
    samples = load_samples(made, 128, "train", 20)
    assert card["statistics"]["n128/initial_velocity"]["max"] >= np.max(samples.inputs) - 1e-5
    assert samples.grid == Grid("periodic", 128)
    # By default the operator is that of the public file.
    assert round(card["equation"]["parameters"]["final time T"], 6) == 0.159155
    assert card["distribution_of_the_input"]["truncation"] == "modes up to 20"
    assert 0.72 < card["error_budget"]["norm_ratio_final_to_initial"] < 0.9


def test_a_viscosity_too_small_for_cole_hopf_is_said_so_in_the_card(tmp_path):
    settings = small_settings(
        viscosity=0.002,
        num_modes=200,
        num_steps=600,
        final_time=0.02,
        samples={"train": 2, "validation": 1, "test": 1},
    )
    card = make_dataset(tmp_path, settings)
    budget = read_card(card)["error_budget"]
    assert "BurgersSplitStep" in budget["against_cole_hopf"]["not_available"]
    assert faults_of_dataset(card) == []  # another check was made, and is within the accuracy


def test_the_loosest_accuracy_still_expects_modes_and_steps():
    task = build_task(small_settings(accuracy=0.1))
    assert min(task.settings.expected_discretisation()) >= 4
    assert task.settings.seconds_per_sample() > 0
    assert np.isfinite(task.solve_on_grid(np.sin(2 * np.pi * np.arange(64) / 64)[None])).all()


def test_over_a_long_time_the_pilot_takes_more_steps_where_more_modes_do_not_help():
    task = build_task(small_settings(viscosity=3e-3, final_time=8.0, accuracy=1e-5))
    _, errors = task.compute_with_errors([("train", 0)])
    assert (errors["steps"] > 16).all()  # at which solutions of no two numbers of modes agree
    assert (errors["estimated"] <= task.settings.accuracy).all()
