"""A printed number stands beside ours only in the paper's setting."""

import json

import pytest

from figures.reported import lookup, matches, printed_numbers, reported_beside


def facts_and_cost(run):
    return json.loads((run / "run.json").read_text()), json.loads((run / "cost.json").read_text())


@pytest.mark.parametrize(
    ("key", "printed"),
    [
        (("fno1d", None, None, 512), "4.373"),
        (("transformer1d", "galerkin", "projection", 8192), "1.025"),
        (("transformer1d", "softmax", "regular", 2048), "2.307"),
        (("transformer1d", "galerkin", "projection", 256), None),
        (("transformer1d", "none", "projection", 512), None),
    ],
)
def test_lookup(key, printed):
    assert lookup(*key) == printed


def test_the_whole_table_is_here():
    assert len(printed_numbers()) == 3 * 9  # FNO, and four attentions with two norms, at three resolutions


def test_the_number_stands_beside_the_papers_setting(make_run):
    facts, cost = facts_and_cost(make_run())
    assert matches(facts, cost)
    assert reported_beside(facts, cost).value == pytest.approx(1.203e-3)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("viscosity", 0.1, "viscosity 0.1 (paper 0.0159155)"),
        ("final_time", 0.5, "final time 0.5 (paper 1)"),
        ("sigma", 7.0, "sigma 7 (paper 25)"),
        ("tau", 7.0, "tau 7 (paper 5)"),
        ("gamma", 2.5, "gamma 2.5 (paper 2)"),
        ("train_samples", 256, "train samples 256 (paper 1024)"),
        ("epochs", 40, "epochs 40 (paper 100)"),
        ("batch_size", 4, "batch size 4 (paper 8)"),
    ],
)
def test_any_other_setting_is_not_comparable_and_says_why(make_run, name, value, told):
    facts, cost = facts_and_cost(make_run(setting={name: value}))
    beside = reported_beside(facts, cost)
    assert beside.value is None
    assert told in beside.reason


def test_batches_of_four_at_8192_points(make_run):
    facts, cost = facts_and_cost(make_run(resolution=8192, setting={"batch_size": 4}))
    assert matches(facts, cost)


def test_other_widths_are_not_comparable(make_run):
    facts, cost = facts_and_cost(make_run(parameters=120_000))
    assert "120,000 parameters" in reported_beside(facts, cost).reason


def test_an_unrecorded_fact_is_not_comparable(make_run):
    facts, cost = facts_and_cost(make_run())
    del facts["dataset_settings"]["viscosity"]
    assert "viscosity not recorded" in reported_beside(facts, cost).reason
