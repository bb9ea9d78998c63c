"""The errors of Kolmogorov flow, of every pair and of some trajectories, and what cards claim of them."""

import json

import numpy as np
import pytest
from dataset_fixtures import CODE, small

from resolvent.common.norms import relative_l2
from resolvent.common.settings import settings_hash
from resolvent.datasets.card import finalise
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import read_card
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.error_budget import error_facts, larger_at_most
from resolvent.datasets.tasks.kolmogorov import Kolmogorov, refined_samples
from resolvent.datasets.tasks.registry import build_task
from resolvent.planning.prediction.costs import finalising, solving
from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep

SAMPLES = [("train", 0), ("test", 0)]
PAIR = "against_refined_run_over_the_lead_time"


def test_the_estimate_is_the_error_that_the_other_scheme_finds_from_the_stored_input():
    task = build_task(small("kolmogorov", num_modes=12))
    arrays, errors = task.compute_with_errors(SAMPLES)
    (estimated,) = errors.values()
    stored = {name: arrays[f"n48/{name}"].astype(np.float32) for name in ("vorticity", "later_vorticity")}
    fine = KolmogorovSplitStep(task.settings.viscosity, num_modes=40, largest_step=0.1 / 800)
    (later,) = fine.solve(coefficients_of_2d(stored["vorticity"].astype(float)), (0.1,)).swapaxes(0, 1)
    true = relative_l2(stored["later_vorticity"], observe_2d(later, 48))
    assert true.min() > 1e-6  # far above rounding: else nothing would be compared
    np.testing.assert_allclose(estimated, true, rtol=0.02)


def test_every_sample_has_an_estimate_in_the_receipts_and_the_largest_is_on_the_card(card_of):
    card = card_of("kolmogorov")
    receipts = [json.loads(path.read_text()) for path in sorted(card.with_suffix(".shards").glob("*"))]
    errors = np.concatenate([receipt["errors"]["over_the_lead_time"] for receipt in receipts])
    budget = read_card(card)["error_budget"]
    entry = budget[PAIR]
    assert len(receipts) == 2
    assert len(errors) == entry["samples"] == entry["of"] == 6
    assert entry["largest_relative_l2"] == float(f"{errors.max():.2e}")
    assert entry["median_relative_l2"] == float(f"{np.median(errors):.2e}")
    names = ["train 0", "train 1", "train 2", "validation 0", "test 0", "test 1"]
    assert entry["sample_of_the_largest"] == names[int(np.argmax(errors))]
    one, other = budget["against_refined_run_later"], budget["against_other_scheme_over_the_lead_time"]
    assert other["median_relative_l2"] == pytest.approx(one["median_relative_l2"], rel=0.02)
    task = build_task(small("kolmogorov"))
    for position, name in enumerate(names):
        split, index = name.split()
        _, alone = task.compute_with_errors([(split, int(index))])
        assert alone["over_the_lead_time"][0] == errors[position]


def test_data_of_a_long_lead_time_are_held_to_their_accuracy(tmp_path):
    """The second-order scheme of the check is not as accurate over all of it."""
    given = {"resolutions": [32], "spin_up_time": 0.2, "lead_time": 0.8, "num_modes": None, "step": None}
    given["samples"] = {"train": 1, "validation": 1, "test": 1}
    task = build_task(small("kolmogorov", accuracy=2e-5, samples_per_shard=3, **given))
    store, receipt = tmp_path / "store.zarr", tmp_path / "0.json"
    generate_shard(task, store, 0, receipt, CODE)
    facts = finalise(task, store, [receipt], tmp_path / "store.json", CODE)
    check = facts["error_budget"]["against_other_scheme_over_the_lead_time"]
    assert check["scheme"] == "split-step over the last 0.1"


@pytest.mark.parametrize("wavenumber", [4, 12])
def test_timed_solvers_resolve_the_force(wavenumber):
    task = build_task(small("kolmogorov", num_modes=16, forcing_wavenumber=wavenumber))
    assert len(task.classical_solvers()) == 5


@pytest.mark.parametrize("bad", [3, 5])
def test_one_pair_above_the_accuracy_is_enough_to_refuse_the_dataset(bad, tmp_path, monkeypatch):
    task, store, receipts = build_task(small("kolmogorov", accuracy=0.001)), tmp_path / "store.zarr", []
    done = []

    def errors(self, coefficients, chosen):
        first = len(done)
        done.extend(coefficients)
        return np.array([2e-3 if first + row == bad else 1e-6 for row in range(len(coefficients))])

    monkeypatch.setattr(Kolmogorov, "pair_errors", errors)
    for shard in range(2):
        receipts.append(tmp_path / f"{shard}.json")
        generate_shard(task, store, shard, receipts[-1], CODE)
    with pytest.raises(DatasetError, match=r"its relative L2 error is 2\.0e-03, above the stated accuracy"):
        finalise(task, store, receipts, tmp_path / "store.json", CODE)


def test_how_many_samples_are_solved_again():
    assert [refined_samples(total) for total in (6, 8, 48, 1280, 10_000)] == [6, 8, 8, 20, 59]


@pytest.mark.parametrize(("count", "total"), [(8, 48), (16, 32), (59, 2000)])
def test_the_bound_on_larger_errors_holds_as_often_as_it_says(count, total):
    bound, generator = larger_at_most(count, total), np.random.default_rng(1)
    # Rank 0 is the largest error: as many are above those chosen as the lowest rank among them.
    above = np.array([generator.choice(total, count, replace=False).min() for _ in range(4000)])
    assert 0.94 < np.mean(above <= bound) <= 1
    assert np.mean(above <= bound - 1) < 0.96  # no smaller number would do


def test_what_the_card_says_of_the_largest_error():
    assert larger_at_most(8, 8) == 0
    assert error_facts(np.ones(8), 8)["largest_is"] == "the largest of all samples"
    assert error_facts(np.ones(8), 48)["largest_is"] == (
        "the largest of 8 of 48 samples, chosen at random; with 95 % confidence at most 13 of the 48 have a "
        "larger error"
    )
    assert larger_at_most(59, 10_000) < 0.05 * 10_000
    assert "of" not in error_facts(np.ones(8))


def test_the_random_field_does_not_depend_on_what_is_integrated():
    cut, alone = {"name": "calvello_kolmogorov", "num_modes": 30}, {"num_modes": None, "step": None}
    tasks = [build_task(small("kolmogorov", initial_distribution=cut, **more)) for more in ({}, alone)]
    one, other = (task.draw(SAMPLES[:1]) for task in tasks)
    np.testing.assert_array_equal(one, other)
    assert one.shape == (1, 61, 31)


def test_settings_that_state_both_are_those_of_before():
    """The name of the dataset in config.yaml, which its files bear."""
    field = {"name": "calvello_kolmogorov", "half_spectrum": False}
    before = small("kolmogorov", initial_distribution=field, accuracy=0.001)
    assert not {"num_modes", "half_spectrum"} & set(before.model_dump(mode="json")["initial_distribution"])
    assert settings_hash(before) == "7539fedb25dc"


def test_memory_is_requested_for_the_windows_of_a_shard():
    one, many = (small("kolmogorov", frames=frames) for frames in (1, 100))
    windows = 4 * 101 * 48**2 * 4  # samples, frames, points and bytes: joined and written at once
    for need in (solving, finalising):
        assert need(many).bytes - need(one).bytes > 2 * windows
