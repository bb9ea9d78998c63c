"""A reported number of Cao 2021 is shown next to ours only in the paper's setting."""

from dataclasses import replace

import pytest

from resolvent.common.runs import read_run
from resolvent.figures.papers.calvello2024 import reported as calvello2024
from resolvent.figures.papers.cao2021.reported import (
    TABLE_2A,
    TABLE_2B,
    TABLE_3,
    TABLE_6,
    TABLE_8,
    parameters,
)
from resolvent.figures.published.reported_numbers import differences, example_of, reported_number
from resolvent.figures.published.tables import reported_rows

DARCY = {
    "equation": "darcy", "grid": "cell_centres", "distribution": {"sigma": 1.0, "tau": 3.0},
    "push_forward": "level_set",
}  # fmt: skip
INVERSE = {**DARCY, "equation": "darcy_inverse", "resolutions": [141, 211], "coarse": [36, 71]}
LIS_FNO = {
    "architecture": "fno2d", "attention": None, "settings": {"width": 32}, "parameters": 2_368_001,
    "setting": {"batch_size": 20, "train_samples": 1000},
}  # fmt: skip


def found_for(run, table=None):
    one = read_run(run)
    return reported_number(one.record, one.cost, table)


@pytest.fixture
def make_darcy(make_run):
    """A run of Example 5.2."""

    def make(model="galerkin2d", resolution=141, **options):
        paper = {
            "architecture": "transformer2d", "dataset": DARCY, "parameters": 2_220_829,
            "setting": {"batch_size": 4}, "coarse_points": {141: 43, 211: 61}.get(resolution),
        }  # fmt: skip
        return make_run(model, resolution=resolution, **paper | options)

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
        return make_run(model, resolution=resolution, **paper | options)

    return make


# How many rows each table has, and what its numbers add up to.
WHOLE = (
    (TABLE_2A, 27, 48.637), (TABLE_2B, 18, 17.865), (TABLE_3, 60, 381.769), (TABLE_6, 14, 9.146),
    (TABLE_8, 27, 1406.607), (calvello2024.TABLE_1, 4, 0.1302), (calvello2024.TABLE_1_FIRST, 2, 0.01103),
    (calvello2024.TABLE_3, 12, 0.19492), (calvello2024.TABLE_3_FIRST, 9, 0.13609),
    (calvello2024.FIGURE_6, 1, 0.00873), (calvello2024.FIGURE_9, 1, 0.0274),
)  # fmt: skip


def test_the_whole_tables_are_here():
    """Each row once; tests/figures/test_gate.py asks for every row of an error by its run."""
    results = {"reported", "best_epoch", "worst", "parameters"}
    for table, count, total in WHOLE:
        rows = reported_rows(table.file)
        assert sum(float(row["reported"]) for row in rows) == pytest.approx(total, rel=1e-6), table
        keys = {tuple(value for name, value in row.items() if name not in results) for row in rows}
        assert len(rows) == len(keys) == count, table


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
    xavier = {"projection_gain": 1.0, "projection_diagonal": 0.0}
    for run, reported in (
        (make_run(), 1.203e-3),
        (make_run("finest", resolution=8192, setting={"batch_size": 4}), 1.025e-3),
        (make_run("more", setting={"test_samples": 1000}), 1.203e-3),  # they know the same error better
        (make_run("neither", recipe=None), 1.203e-3),
        (make_darcy(), 0.839e-2),
        (make_darcy("fno2d", 211, coarse_points=None, **LIS_FNO), 1.424e-2),
        (make_inverse(noise=0.1), 6.689e-2),
        (make_inverse("fine", 0.01, grids="fine", **LIS_FNO), 13.78e-2),
        (make_inverse("coarse", 0.01, grids="coarse", **LIS_FNO), 14.31e-2),
        (make_inverse("twos", resolution=211, setting={"batch_size": 2}), 1.651e-2),  # the public code's
        # Of Table 8, which has other initialisations and dropouts.
        (make_run("xavier", settings=xavier), 10.06e-3),
        (make_run("undropped", layer_norm="regular", settings={"residual_dropout": 0.0}), 15.14e-3),
    ):
        assert found_for(run).value == pytest.approx(reported), run
    no_rows = (
        make_run("none", attention="none"),
        make_run(resolution=256),
        make_run("own", layer_norm="own"),
    )
    assert [found_for(run).digits for run in no_rows] == [""] * 3
    found = found_for(make_run("again", settings=xavier))
    assert (found.best_epoch, found.reason.endswith("Table 8")) == ("96", True)
    assert "projection gain 1 (code 0.01)" in found_for(make_run("other", settings=xavier), TABLE_2A).reason


def test_what_differs_is_said(make_run, make_darcy, make_inverse):
    """Each change is of a block of the record; tests/figures/test_gate.py changes every field."""
    run, darcy = read_run(make_run()), read_run(make_darcy())
    assert differences(run.record, run.cost) == []
    initial = run.record.dataset_settings["initial_distribution"]
    for block, change, words in (
        ("dataset_settings", {"initial_distribution": initial | {"num_modes": None}}, "num modes none"),
        ("training", {"train_samples": 256}, "train samples 256 (code 1024)"),
        ("training", {"test_samples": 50}, "test samples 50 (code at least 100)"),
        ("computation", {"betas": [0.9, 0.99]}, "betas [0.9, 0.99] (code [0.9, 0.999])"),
        ("computation", {"first_beta_cycles": None}, "first beta cycles none (code [0.85, 0.95])"),
        ("computation", {"amsgrad": True}, "amsgrad on (code off)"),
    ):
        found = reported_number(replace(run.record, **{block: getattr(run.record, block) | change}), run.cost)
        assert (found.value, found.shown) == (None, None)
        assert words in found.reason
    for one, facts, cost, words in (
        (run, {"computation": {}}, {}, "epsilon not recorded (code 1e-08)"),
        (run, {}, {"parameters": 120_000}, "120,000 parameters"),
        (darcy, {"coarse_points": 50}, {}, "coarse points 50 (code 43)"),
    ):
        assert words in reported_number(replace(one.record, **facts), replace(one.cost, **cost)).reason
    assert found_for(make_inverse("small", setting={"batch_size": 2})).value is None


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("viscosity", 0.1, "viscosity 0.1 (code 0.0159155) [section C.2 and burgers_data_R10.mat"),
        ("final_time", 1.0, "final time 1 (code 0.159155) [section C.2 and burgers_data_R10.mat"),  # text: 1
    ],
)
def test_another_operator_has_no_number_beside_it(make_run, name, value, words):
    found = found_for(make_run(setting={name: value}))
    assert (found.value, found.shown, found.digits) == (None, None, "")
    assert found.reason.startswith(f"the reported operator differs: {words}")


def test_the_number_of_the_code_stands_beside_the_text_uncompared(make_run):
    found = found_for(make_run(recipe="paper"))
    assert (found.value, found.other_recipe) == (None, True)
    assert found.shown == pytest.approx(1.203e-3)
    assert "comes from the public code" in found.reason
    assert "attention dropout 0 (code 0.5)" in found.reason
    shorter = found_for(make_run("shorter", recipe="paper", setting={"epochs": 40}))
    assert (shorter.shown, shorter.other_recipe) == (None, False)


def test_an_equation_that_the_paper_has_not(make_run):
    run = read_run(make_run(dataset={"equation": "poisson"}))
    assert differences(run.record, run.cost) == ["equation poisson, which is not in the paper"]
    assert reported_number(run.record, run.cost).reason == "the paper has no such row"
    assert example_of(run.record) is None
