"""What every task promises, whatever its equation."""

import numpy as np
import pytest
import xarray
from dataset_fixtures import CODE, small

import resolvent
from resolvent.datasets.card import finalise
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_arrays, load_samples, read_card
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.storage.layout import resolution_of
from resolvent.datasets.tasks.registry import EQUATIONS, build_task, settings_of

SAMPLES = [("train", 0), ("train", 2), ("validation", 0), ("test", 1)]


@pytest.fixture(scope="module", params=sorted(EQUATIONS))
def equation(request):
    return request.param


@pytest.fixture
def card(equation, card_of):
    return card_of(equation)


def test_a_sample_has_the_same_bits_alone_in_a_batch_and_in_the_store(equation, card):
    task = build_task(small(equation))
    together = task.compute(SAMPLES)
    assert set(together) == set(task.layout.arrays)
    for name, values in task.compute(SAMPLES[1:2]).items():
        assert values.shape == (1, *task.layout.arrays[name])
        np.testing.assert_array_equal(values[0], together[name][1])
    for name, values in together.items():
        group, _, variable = name.partition("/")
        for row, (split, index) in enumerate(SAMPLES):
            stored = load_arrays(card, group, split)[variable][index]
            np.testing.assert_array_equal(stored, values[row].astype(task.layout.dtype))


def test_inputs_alone_are_those_of_the_whole_sample(equation):
    task = build_task(small(equation))
    whole, inputs = task.compute(SAMPLES), task.inputs_of(SAMPLES)
    assert set(inputs) == {name for name in whole if name.partition("/")[2] in task.inputs}
    for name, values in inputs.items():
        np.testing.assert_array_equal(values, whole[name].astype(task.layout.dtype))


@pytest.mark.parametrize("equation", ["burgers", "darcy"])
def test_inputs_that_are_drawn_are_not_solved_for(equation, monkeypatch):
    task = build_task(small(equation))
    monkeypatch.setattr(type(task), "solve", None)
    assert task.inputs_of(SAMPLES)


def test_the_card_says_what_the_store_holds_and_how_wrong_it_is(equation, card):
    facts = read_card(card)
    assert facts == xarray.open_datatree(card.with_suffix(".zarr"), engine="zarr", consolidated=False).attrs
    stored = {v for group in facts["groups"].values() for v in group["variables"]}
    assert {*facts["inputs"], *facts["targets"]} <= stored
    checks = {k: v for k, v in facts["error_budget"].items() if k.startswith("against_")}
    assert checks
    for check in checks.values():
        assert 0 < check["median_relative_l2"] <= check["largest_relative_l2"] <= facts["stated_accuracy"]
    assert {"equation", "solver", "statistics", "library_versions"} <= set(facts)
    assert facts["equation"]["source"]


def test_the_card_alone_is_enough_to_make_the_dataset_again(equation, card):
    """Which has the same bytes: see the tests of stores."""
    assert settings_of(read_card(card)["settings"]) == small(equation)


def test_arrays_for_other_programs_are_those_that_training_reads(card):
    facts, data = read_card(card), resolvent.open_dataset(card)
    for name, group in facts["groups"].items():
        if facts["inputs"][0] in group["variables"]:
            inputs, targets = data.numpy("test", resolution_of(name))
            expected = load_samples(card, resolution_of(name), "test", facts["samples"]["test"])
            np.testing.assert_array_equal(inputs, expected.inputs)
            np.testing.assert_array_equal(targets, expected.targets)


@pytest.mark.parametrize("equation", ["darcy"], indirect=True)
def test_a_store_that_holds_other_numbers_is_not_finalised(equation, tmp_path):
    """The numbers of every equation's checks are among the golden ones."""
    settings = small(equation)
    task, store = build_task(settings), tmp_path / "store.zarr"
    honest = task.compute_with_errors

    def altered(samples):
        arrays, errors = honest(samples)
        return {name: 1.01 * values for name, values in arrays.items()}, errors

    task.compute_with_errors = altered
    receipts = [tmp_path / f"{shard}.json" for shard in range(settings.num_shards)]
    for shard, receipt in enumerate(receipts):
        generate_shard(task, store, shard, receipt, CODE)
    with pytest.raises(DatasetError, match="is not finalised"):
        finalise(build_task(settings), store, receipts, tmp_path / "store.json", CODE)
