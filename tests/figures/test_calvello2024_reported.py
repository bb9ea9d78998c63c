"""The numbers of Calvello et al. 2024 stand beside runs in its setting alone, and Cao's never do."""

from dataclasses import replace

import pytest
from calvello2024_errors import DISTRIBUTION, KOLMOGOROV, LOGNORMAL, PIECEWISE, write_calvello

from resolvent.common.runs import read_run
from resolvent.figures.common.comparison import by_condition
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.table import as_csv, as_html
from resolvent.figures.experiment.comparison import MEDIANS, write_comparison
from resolvent.figures.experiment.error_table import headline
from resolvent.figures.papers.calvello2024.reported import (
    SOURCE,
    TABLE_1,
    TABLE_1_FIRST,
    TABLE_3,
    TABLE_3_FIRST,
)
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.published.beside import differences, example_of, reported_beside
from resolvent.figures.published.tables import reported_rows
from resolvent.figures.published.words import differences_from_paper

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


def test_the_tables_are_here():
    for table, count in ((TABLE_1, 4), (TABLE_1_FIRST, 2), (TABLE_3, 12), (TABLE_3_FIRST, 9)):
        rows = reported_rows(table.file)
        keys = {(row["architecture"], row.get("equation"), row["push_forward"]) for row in rows}
        assert len(rows) == len(keys) == count
        assert all(1e-3 < float(row["reported"]) < 0.1 for row in rows)
    found = {row["architecture"]: row["reported"] for row in reported_rows(TABLE_1.file)}
    assert (found["afno"], found["galerkin_encoder2d"]) == ("2.57e-2", "7.30e-2")


def test_numbers_of_the_papers_setting(make_run):
    tno = read(write_calvello(make_run, "tno2d"))
    assert differences(*tno) == []
    assert reported_beside(*tno).value == pytest.approx(1.19e-2)
    rates = {"counts": {"batch_size": 8, "epochs": 100}, "training": {"learning_rate": 1e-4}}
    assert reported_beside(*read(write_calvello(make_run, "fno", **rates))).value == pytest.approx(1.96e-2)
    high = {"resolution": 416, "counts": {"batch_size": 1}}
    for dataset, value in ((LOGNORMAL, 8.39e-3), (PIECEWISE, 1.38e-2)):
        run = read(write_calvello(make_run, "fano", dataset, seed=round(1e6 * value), **high))
        assert reported_beside(*run).value == pytest.approx(value)
    counts = {"train_samples": 9000, "validation_samples": 500, "test_samples": 500, "batch_size": 2}
    flow = write_calvello(
        make_run, "fano", KOLMOGOROV, resolution=416, counts=counts, training={"validation_samples": 500}
    )
    assert reported_beside(*read(flow)).value == pytest.approx(6.34e-3)
    assert reported_beside(*read(flow), TABLE_3_FIRST).value == pytest.approx(8.56e-3)


def test_any_other_setting_is_refused_and_says_why(make_run):
    facts, cost = read(write_calvello(make_run, "tno2d"))
    for block, change, words in (
        ("settings", {"width": 32}, "width 32 (paper 128)"),
        ("training", {"normalisation": "none"}, "normalisation none (paper scalar)"),
        ("training", {"loss": "other"}, "loss other (paper h1 or h1_unit_spacing or norms)"),
        ("training", {"learning_rate": 1e-2}, "learning rate 0.01 (paper 0.001)"),
        ("training", {"batch_size": 8}, "batch size 8 (paper 2)"),
        ("training", {"train_samples": 360}, "train samples 360 (paper 3600)"),
        ("dataset_settings", {"distribution": DISTRIBUTION | {"sigma": 48.0}}, "sigma 48 (paper 12)"),
    ):
        changed = replace(facts, **{block: getattr(facts, block) | change})
        assert words in differences(changed, cost)
        assert reported_beside(changed, cost).value is None
    assert "resolution 32 (paper 64)" in differences(replace(facts, resolution=32), cost)
    few = replace(cost, parameters_complex_once=500_000)
    assert differences(facts, few) == ["500,000 parameters (paper 591,525 to 604,485)"]
    uncounted = replace(cost, parameters_complex_once=None)
    assert differences(facts, uncounted) == ["parameters not recorded as the paper counts them"]


def test_the_first_version_has_the_distribution_of_its_own(make_run):
    run = read(write_calvello(make_run, "tno2d", V1))
    assert reported_beside(*run, TABLE_1).value is None
    assert reported_beside(*run, TABLE_1_FIRST).value == pytest.approx(5.29e-3)
    assert reported_beside(*run).value == pytest.approx(5.29e-3)


def test_trajectories_are_compared_with_figure_6(make_run):
    dataset = {"equation": "lorenz63", "targets": "yz", "final_time": 2.0, "sigma": 10.0, "rho": 28.0,
               "beta": 8 / 3}  # fmt: skip
    run = write_calvello(
        make_run, "tno", dataset, of="tno2d", resolution=512,
        counts={"train_samples": 8000, "test_samples": 1000, "batch_size": 64, "epochs": 100},
        training={"loss": "norms"}, settings={"quadrature": "trapezoid"},
    )  # fmt: skip
    facts, cost = read(run)
    facts = replace(facts, architecture="tno1d", resolution="dt0.01")
    assert reported_beside(facts, cost).value == pytest.approx(8.73e-3)
    facts.settings["quadrature"] = "none"
    assert reported_beside(facts, cost).reason.endswith("has no such row")


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
    assert found == ["train samples 360 (paper 3600)", "4 models: width 64 (paper 128)"]
    assert differences_from_paper(read_runs(runs[2:]))[1] == "c and d: width 64 (paper 128)"
