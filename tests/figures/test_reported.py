"""A reported number stands beside ours only in the paper's setting."""

import itertools
import json

import pytest

from resolvent.common.runs import read_run
from resolvent.figures.papers.cao2021.reported import (
    TABLE_2A,
    TABLE_2B,
    TABLE_3,
    TABLE_6,
    TABLE_8,
    parameters,
)
from resolvent.figures.published.beside import differences, reported_beside
from resolvent.figures.published.tables import reported_rows

ATTENTIONS = ("fourier", "galerkin", "softmax", "linear")
NORMS = ("regular", "projection")
NOISES = ("0", "0.01", "0.1")
DARCY = {
    "equation": "darcy", "distribution": {"sigma": 1.0, "tau": 3.0, "gamma": 2.0},
    "push_forward": "level_set",
    "above": 12.0, "below": 3.0, "finest": 421,
}  # fmt: skip
INVERSE = {**DARCY, "equation": "darcy_inverse", "resolutions": [141, 211], "coarse": [36, 71]}


def beside(run, table=None):
    one = read_run(run)
    return reported_beside(one.record, one.cost, table)


def differences_of(run, table=None):
    one = read_run(run)
    return differences(one.record, one.cost, table)


@pytest.fixture
def make_darcy(make_run):
    """A run of Example 5.2."""

    def make(model="galerkin2d", resolution=141, attention="galerkin", **options):
        coarse = {141: 43, 211: 61}.get(resolution)
        paper = {
            "architecture": "transformer2d", "dataset": DARCY, "parameters": 2_220_829,
            "setting": {"batch_size": 4}, "coarse_points": coarse if attention else None,
        }  # fmt: skip
        return make_run(model, resolution=resolution, attention=attention, **{**paper, **options})

    return make


@pytest.fixture
def make_inverse(make_run):
    """A run of Example 5.3."""

    def make(model="galerkin", noise=0.0, resolution=141, **options):
        paper = {
            "architecture": "transformer2d_coarse", "dataset": INVERSE, "parameters": 2_383_873,
            "setting": {"batch_size": 4}, "training": {"noise": noise},
            "coarse_points": {141: 36, 211: 71}.get(resolution),
        }  # fmt: skip
        return make_run(model, resolution=resolution, **{**paper, **options})

    return make


GALERKIN = ("transformer1d", "galerkin")
BURGERS_POINTS, DARCY_POINTS = ("512", "2048", "8192"), ("141", "211")


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (
            TABLE_2A,
            [
                *itertools.product(["fno1d"], [""], [""], BURGERS_POINTS),
                *itertools.product(["transformer1d"], ATTENTIONS, NORMS, BURGERS_POINTS),
            ],
        ),
        (
            TABLE_2B,
            [
                *itertools.product(["fno2d"], [""], [""], DARCY_POINTS),
                *itertools.product(["transformer2d"], ATTENTIONS, NORMS, DARCY_POINTS),
            ],
        ),
        (
            TABLE_3,
            [
                *itertools.product(["fno2d"], [""], [""], ["fine", "coarse"], DARCY_POINTS, NOISES),
                *itertools.product(
                    ["transformer2d_coarse"], ATTENTIONS, NORMS, ["stored"], DARCY_POINTS, NOISES
                ),
            ],
        ),
        (
            TABLE_6,
            [
                *itertools.product(["fourier", "galerkin"], ["burgers"], BURGERS_POINTS),
                *itertools.product(["fourier", "galerkin"], ["darcy", "darcy_inverse"], DARCY_POINTS),
            ],
        ),
        (
            TABLE_8,
            [
                (*GALERKIN, norm, *start, dropout, points)
                for start in (("1", "0"), ("0.01", "0"), ("0.01", "0.01"))
                for norm, dropout in (("regular", "0"), ("regular", "0.1"), ("projection", "0"))
                for points in BURGERS_POINTS
            ],
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_whole_table_is_here(table, keys):
    rows = reported_rows(table.file)
    assert all(float(row["reported"]) > 0 for row in rows)
    found = [tuple(row[name] for name in row if name not in ("reported", "best_epoch")) for row in rows]
    assert sorted(found) == sorted(keys)


@pytest.mark.parametrize(
    ("table", "row", "reported"),
    [
        (TABLE_2A, ("transformer1d", "softmax", "regular", 2048), "2.307"),
        (TABLE_2A, ("transformer1d", "galerkin", "projection", 8192), "1.025"),
        (TABLE_2B, ("fno2d", None, None, 211), "1.424"),
        (TABLE_2B, ("transformer2d", "linear", "projection", 211), "0.970"),
        (TABLE_3, ("transformer2d_coarse", "galerkin", "projection", 211, 0.1), "7.903"),
        (TABLE_3, ("transformer2d_coarse", "fourier", "regular", 141, 0.01), "2.467"),
        (TABLE_2A, ("transformer1d", "none", "projection", 512), None),
        (TABLE_2A, ("transformer1d", "galerkin", "projection", 256), None),
    ],
)
def test_rows_as_reported(table, row, reported):
    names = ("architecture", "attention", "layer_norm", "resolution", "noise")
    found = table.row({**dict(zip(names, row, strict=False)), "grids": "stored"})
    assert (found and found["reported"]) == reported


@pytest.mark.parametrize(("recipe", "zeta"), [("paper", "attention_dropout"), ("code", "residual_dropout")])
def test_table_8_has_its_best_epochs_where_the_recipe_has_its_dropout(recipe, zeta):
    ours = {"architecture": "transformer1d", "attention": "galerkin", "layer_norm": "regular"}
    ours |= {"projection_gain": 1e-2, "projection_diagonal": 0.0, "resolution": 8192, "recipe": recipe}
    row = TABLE_8.row({**ours, "attention_dropout": 0.5, "residual_dropout": 0.5, zeta: 0.1})
    assert (row["reported"], row["best_epoch"]) == ("2.571", "98")
    assert TABLE_8.row({**ours, "attention_dropout": 0.1, "residual_dropout": 0.1, zeta: 0.5}) is None
    assert all(1 <= int(row["best_epoch"]) <= 100 for row in reported_rows(TABLE_8.file))


def test_parameters_are_rounded_as_reported():
    assert parameters({"architecture": "transformer1d", "attention": "galerkin"}) == (522_500, 530_500)
    assert parameters({"architecture": "fno2d"}) == (2_365_000, 2_375_000)
    assert parameters({"architecture": "transformer1d", "attention": "none"}) is None
    assert parameters({"architecture": "mystery"}) is None


def test_the_number_stands_beside_the_papers_setting(make_run, make_darcy, make_inverse):
    assert differences_of(make_run()) == []
    assert beside(make_run("again")).value == pytest.approx(1.203e-3)
    assert beside(make_run("finest", resolution=8192, setting={"batch_size": 4})).value == pytest.approx(
        1.025e-3
    )
    assert beside(make_darcy()).value == pytest.approx(0.839e-2)
    lis = {
        "architecture": "fno2d",
        "settings": {"width": 32},
        "setting": {"batch_size": 20, "train_samples": 1000},
    }
    fno = make_darcy("fno2d", 211, None, parameters=2_368_001, **lis)
    assert beside(fno).value == pytest.approx(1.424e-2)
    assert beside(make_inverse(noise=0.1)).value == pytest.approx(6.689e-2)
    fno = {**lis, "attention": None, "parameters": 2_368_001}
    assert beside(make_inverse("fine", 0.01, grids="fine", **fno)).value == pytest.approx(13.78e-2)
    assert beside(make_inverse("coarse", 0.01, grids="coarse", **fno)).value == pytest.approx(14.31e-2)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sigma", 7.0, "sigma 7 (code 25)"),
        ("train_samples", 256, "train samples 256 (code 1024)"),
        ("batch_size", 4, "batch size 4 (code 8)"),
        ("test_samples", 50, "test samples 50 (code at least 100)"),
    ],
)
def test_any_other_setting_is_not_comparable_and_says_why(make_run, name, value, words):
    found = beside(make_run(setting={name: value}))
    assert found.value is None
    assert found.shown is None
    assert words in found.reason


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("viscosity", 0.1, "viscosity 0.1 (code 0.0159155)"),
        ("final_time", 1.0, "final time 1 (code 0.159155)"),  # what the text prints
    ],
)
def test_another_operator_has_no_number_beside_it(make_run, name, value, words):
    found = beside(make_run(setting={name: value}))
    assert (found.value, found.shown, found.digits) == (None, None, "")
    assert found.reason == f"another operator than the reported one: {words}"


def test_more_test_samples_know_the_same_error_better(make_run):
    assert beside(make_run(setting={"test_samples": 1000})).value == pytest.approx(1.203e-3)


@pytest.mark.parametrize(
    ("block", "name", "value", "words"),
    [
        ("computation", "optimiser", "AdamW", "optimiser AdamW (code Adam)"),
        ("computation", "betas", [0.9, 0.99], "betas [0.9, 0.99] (code [0.9, 0.999])"),
        ("computation", "first_beta_cycles", None, "first beta cycles none (code [0.85, 0.95])"),
        ("computation", "epsilon", 1e-6, "epsilon 1e-06 (code 1e-08)"),
        ("computation", "amsgrad", True, "amsgrad on (code off)"),
        ("computation", "drop_last", False, "drop last off (code on)"),
        ("computation", "weights", "float64", "weights float64 (code float32)"),
        ("computation", "products", "tf32", "products tf32 (code float32)"),
        ("initial_distribution", "num_modes", None, "num modes none (code 20)"),
        ("training", "validation_samples", 50, "validation samples 50 (code 100)"),
    ],
)
def test_what_no_setting_says_is_compared_too(make_run, block, name, value, words):
    run = make_run()
    facts = json.loads((run / "run.json").read_text())
    settings = facts["dataset_settings"][block] if block == "initial_distribution" else facts[block]
    assert name in settings
    settings[name] = value
    (run / "run.json").write_text(json.dumps(facts))
    assert words in beside(run).reason


def test_a_run_from_before_the_optimiser_was_recorded_has_no_number(make_run):
    run = make_run()
    facts = json.loads((run / "run.json").read_text())
    del facts["computation"]
    (run / "run.json").write_text(json.dumps(facts))
    assert "epsilon not recorded (code 1e-08)" in beside(run).reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"coarse_points": 50}, "coarse points 50 (code 43)"),
        ({"dataset": {**DARCY, "push_forward": "lognormal"}}, "push forward lognormal (code level_set)"),
    ],
)
def test_another_darcy_is_not_comparable(make_darcy, change, words):
    assert words in beside(make_darcy(**change)).reason


def test_batches_of_two_on_the_finer_inverse_problem_are_the_public_codes(make_inverse):
    assert beside(make_inverse(resolution=211, setting={"batch_size": 2})).value == pytest.approx(1.651e-2)
    assert beside(make_inverse(setting={"batch_size": 2})).value is None


def test_the_number_of_the_code_stands_beside_the_text_uncompared(make_run):
    found = beside(make_run(recipe="paper"))
    assert (found.value, found.other_recipe) == (None, True)
    assert found.shown == pytest.approx(1.203e-3)
    assert found.reason.startswith("the number was made by the public code: ")
    assert "attention dropout 0 (code 0.5)" in found.reason
    shorter = beside(make_run("shorter", recipe="paper", setting={"epochs": 40}))
    assert (shorter.shown, shorter.other_recipe) == (None, False)
    assert beside(make_run("neither", recipe=None)).value == pytest.approx(1.203e-3)


def test_an_initialisation_of_the_ablation_has_the_number_of_table_8(make_run):
    xavier = make_run("xavier", settings={"projection_gain": 1.0, "projection_diagonal": 0.0})
    assert "projection gain 1 (code 0.01)" in beside(xavier, TABLE_2A).reason
    found = beside(xavier)
    assert (found.value, found.best_epoch) == (pytest.approx(10.06e-3), "96")
    assert found.reason.endswith("Table 8")
    undropped = make_run("undropped", layer_norm="regular", settings={"residual_dropout": 0.0})
    assert beside(undropped).value == pytest.approx(15.14e-3)
    assert beside(make_run("small", settings={"projection_gain": 1e-3})).value is None


def test_other_widths_are_not_comparable(make_run):
    assert "120,000 parameters" in beside(make_run(parameters=120_000)).reason


def test_an_unrecorded_fact_is_not_comparable(make_run):
    run = make_run()
    facts = json.loads((run / "run.json").read_text())
    del facts["dataset_settings"]["viscosity"]
    (run / "run.json").write_text(json.dumps(facts))
    assert "viscosity not recorded (code 0.0159155)" in beside(run).reason


def test_an_equation_that_the_paper_has_not(make_run):
    run = make_run(dataset={"equation": "poisson"})
    assert differences_of(run) == ["equation poisson, which the paper has not"]
    assert beside(run).reason == "the paper has no such row"
