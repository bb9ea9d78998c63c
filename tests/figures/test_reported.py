"""A reported number of Cao 2021 is shown next to ours only in the paper's setting."""

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


def found_for(run, table=None):
    one = read_run(run)
    return reported_number(one.record, one.cost, table)


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


def test_parameters_are_rounded_as_reported():
    assert parameters({"architecture": "transformer1d", "attention": "galerkin"}) == (522_500, 530_500)
    assert parameters({"architecture": "fno2d"}) == (2_365_000, 2_375_000)
    assert parameters({"architecture": "transformer1d", "attention": "none"}) is None
    assert parameters({"architecture": "mystery"}) is None


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
