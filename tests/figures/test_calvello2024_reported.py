"""The numbers of Calvello et al. 2024 are shown only next to runs in its setting, and Cao's never are."""

from dataclasses import replace

import pytest
from calvello2024_errors import KOLMOGOROV, LOGNORMAL, PIECEWISE, write_calvello

from resolvent.common.runs import read_run
from resolvent.figures.common.comparison import by_condition
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.table import as_csv, as_html
from resolvent.figures.experiment.comparison import MEDIANS, write_comparison
from resolvent.figures.experiment.error_table import headline
from resolvent.figures.papers.calvello2024.reported import SOURCE
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.published.reported_numbers import differences, differences_from_paper, example_of

V1 = LOGNORMAL | {"distribution": {"sigma": 48.0, "tau": 12.0, "gamma": 2.0}}


def read(run):
    one = read_run(run)
    return one.record, one.cost


def test_examples_of_the_two_papers_are_distinguished(make_run):
    facts, _ = read(write_calvello(make_run, "tno2d"))
    other = {"distribution": {"sigma": 1.0, "tau": 3.0}}
    for dataset, title, paper in (
        (LOGNORMAL, "Darcy flow, lognormal", SOURCE),
        (PIECEWISE, "Darcy flow, piecewise constant", SOURCE),
        (V1, "Darcy flow, lognormal", SOURCE),
        (PIECEWISE | other, "Darcy flow", CAO),
        (KOLMOGOROV, "Kolmogorov flow", SOURCE),
        ({"equation": "lorenz63", "targets": "y"}, "Lorenz-63", SOURCE),
        ({"equation": "controlled_ode"}, "Controlled ODE", SOURCE),
    ):
        example = example_of(replace(facts, dataset_settings=dataset))
        assert (example.title, example.source) == (title, paper)


def test_another_number_of_parameters_is_said(make_run):
    """Other settings are: tests/figures/test_gate.py."""
    facts, cost = read(write_calvello(make_run, "tno2d"))
    assert differences(facts, cost) == []
    few, uncounted = (replace(cost, parameters_complex_once=one) for one in (500_000, None))
    assert differences(facts, few) == ["500,000 parameters (paper 591,525 to 604,485)"]
    assert differences(facts, uncounted) == ["parameters were not counted as in the paper"]


def test_the_comparison_has_the_papers_statistic_and_compares_that(make_run, tmp_path):
    run = write_calvello(make_run, "tno2d", errors=[1e-2, 2e-2, 6e-2])
    table = write_comparison([run], [], tmp_path / "comparison.csv")
    (found,) = by_condition(table)
    median, facts = found.error("standardised_relative_l2", "median"), found.facts
    assert (found.error().value, median.value) == (pytest.approx(3e-2), pytest.approx(3e-2))
    assert median.low == pytest.approx(1.5e-2)
    assert (facts["reported"], facts["ratio_of"]) == (pytest.approx(1.19e-2), MEDIANS)
    assert facts["ratio_to_reported"] == pytest.approx(3e-2 / 1.19e-2)
    assert (facts["parameters_complex_once"], facts["forward_flop"]) == (598_145, 10**9)
    page = as_html(headline(table))
    assert "Calvello et al. 2024" in page
    assert "Cao" not in page
    assert "median, standardised fields" in page
    assert "n = 64: median, standardised fields (95 % interval)" in as_csv(headline(table))


def test_differences_are_reported_once_with_the_models_that_they_are_of(make_run):
    few = {"counts": {"train_samples": 360}}
    runs = [write_calvello(make_run, name, of="tno2d", settings={"width": 64}, **few) for name in "abcd"]
    runs.append(write_calvello(make_run, "tno2d", **few))
    found = differences_from_paper(read_runs(runs))
    words = ["train samples 360 (paper 3600)", "4 models: width 64 (paper 128)"]
    assert [line.partition(" [")[0] for line in found] == words
    assert differences_from_paper(read_runs(runs[2:]))[1].startswith("c and d: width 64 (paper 128) [")
