"""The page of reported and own numbers says what was measured, and nothing that was not."""

import csv

import numpy as np
import pandas as pd
import pytest
from merged_configuration import ROOT
from run_files import replace_errors, set_resolution

from resolvent.documentation.reported_vs_ours import VERDICTS, write_reported_vs_ours
from resolvent.figures.common.intervals import ratio_to_reported, scatter
from resolvent.figures.papers.cao2021.reported import EXAMPLES
from resolvent.figures.published.tables import reported_rows


def table_2a(page):
    """Return the section of this title."""
    return page.read_text().partition("### Table 2a")[2].partition("### ")[0]


def rows_of_table_2a(page):
    return [line for line in table_2a(page).splitlines() if line.startswith("| ")][1:]


def write_page(tmp_path, runs, more=None):
    """Write the page of runs by one command, and return it."""
    page = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake --cores 2": runs} if runs else {}, page, tmp_path / "rows.csv", more)
    return page


def test_a_run_that_diverged_has_a_row_without_a_ratio(make_run, tmp_path):
    runs = [
        make_run("galerkin", level=1.203e-3, best_test=(1.2e-3, 98)),
        make_run("softmax", attention="softmax", diverged_epoch=7),
    ]
    page = write_page(tmp_path, runs)
    galerkin, softmax = sorted(rows_of_table_2a(page))
    assert "| 1.200e-3 (epoch 98) |" in galerkin
    assert "diverged (epoch 7) | — | — |" in softmax
    assert "    snakemake --cores 2\n" in page.read_text()


@pytest.mark.parametrize(
    ("level", "words"), [(1.203e-3, "agrees"), (4e-3, "differs: higher"), (4e-4, "differs: lower")]
)
def test_a_row_says_whether_the_ratio_can_be_one(make_run, tmp_path, level, words):
    page = write_page(tmp_path, [make_run("galerkin", level=level)])
    (row,) = rows_of_table_2a(page)
    ratio, _, verdict = row.split(" | ")[7].partition("] ")
    assert verdict == words
    low, high = (float(end) for end in ratio.partition("[")[2].split(","))
    assert (low <= 1 <= high) == (words == "agrees")
    counts = [int(words == one) for one in VERDICTS]
    said = "{} agree{}; ours is lower in {}, higher in {}".format(counts[0], "s" * counts[0], *counts[1:])
    assert f"1 comparison: {said}." in table_2a(page)


def test_the_interval_of_a_ratio_knows_both_sides():
    """Also of a thousand samples: the few of the paper decide, whose scatter is that of ours."""
    errors = np.exp(0.5 * np.random.default_rng(1).normal(size=1000))
    found = ratio_to_reported(errors[:, None].mean(axis=0), [scatter(errors, 100)], errors.mean())
    expected = 1.96 * errors.std() / errors.mean() * np.sqrt(1 / 1000 + 1 / 100)
    assert np.log(found.high) == pytest.approx(expected, rel=0.15)
    assert np.log(found.low) == pytest.approx(-expected, rel=0.15)


def test_the_interval_of_several_seeds_knows_their_spread():
    errors = np.exp(0.1 * np.random.default_rng(1).normal(size=1000))
    one = scatter(errors, 100)
    alike = ratio_to_reported(np.array([1.0, 1.0, 1.0]), [one] * 3, 1.0)
    apart = ratio_to_reported(np.array([0.9, 1.0, 1.1]), [one] * 3, 1.0)
    spread = 4.303 * np.log([0.9, 1.0, 1.1]).std(ddof=1) * np.sqrt(4 / 3)
    assert np.log(apart.high) == pytest.approx(np.hypot(np.log(alike.high), spread), rel=1e-3)


def test_seeds_are_counted_once_and_rows_stay_until_their_run_is_made_again(make_run, tmp_path):
    first = [make_run(attention="galerkin", seed=seed, level=1.2e-3) for seed in (1, 2, 3)]
    before = rows_of_table_2a(write_page(tmp_path, first))
    assert [row.split(" | ")[3] for row in before] == ["1", "2", "3", "all 3"]
    assert "1 comparison: 1 agrees; ours is lower in 0, higher in 0." in table_2a(tmp_path / "page.md")
    lost = make_run(attention="galerkin", seed=4, diverged_epoch=3)
    shorter = make_run("shorter", label="galerkin", attention="galerkin", seed=1, setting={"epochs": 10})
    again = make_run("again", label="galerkin", attention="galerkin", seed=2, level=2e-3)
    after = rows_of_table_2a(write_page(tmp_path, [lost, shorter, again]))
    assert after[-1].split(" | ")[3] == "3 of 4"
    # A shorter training does not take the place of one that is compared.
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] != before[1]
    assert rows_of_table_2a(write_page(tmp_path, [])) == after


def make_trajectories(make_run, model, quadrature, level):
    """A run on Lorenz-63, whose errors are three times `level` at times other than those of training."""
    lorenz = {"equation": "lorenz63", "targets": "yz", "final_time": 2.0}
    settings = {"quadrature": quadrature}
    options = {"architecture": "tno1d", "attention": None, "tested": (512, 1024), "dataset": lorenz}
    run = make_run(model, settings=settings, **options)
    set_resolution(run, "dt0.01")
    table = pd.read_csv(run / "errors.csv").replace({"resolution": {512: "dt0.01", 1024: "two_rates"}})
    on_training_grid = table["resolution"] == "dt0.01"
    table["standardised_relative_l2"] = np.where(on_training_grid, level, 3 * level)
    replace_errors(run, table)
    return run


def test_operators_with_and_without_weights_are_compared_by_their_medians(make_run, tmp_path):
    kinds = (("tno", "trapezoid", 1e-2), ("transformer", "none", 2e-2))
    text = write_page(tmp_path, [make_trajectories(make_run, *kind) for kind in kinds]).read_text()
    assert "## Cao 2021" not in text
    assert "### Lorenz-63, yz from x\n" in text
    assert "| tno | dt0.01 | 1 | 8.73e-3 | 1.00e-02 [1.00e-02, 1.00e-02] | — |" in text
    assert "tno: not comparable: " in text
    assert "| tno | 1 | 1.00e-02* | 3.00e-02 |" in text
    assert "| without / with weights | — | 2.000 [2.000, 2.000] | 2.000 [2.000, 2.000] |" in text
    page = write_page(tmp_path, [make_run("galerkin", attention="galerkin")])  # the section is kept
    assert text.partition("## Calvello")[2] == page.read_text().partition("## Calvello")[2] != ""


def test_levels_of_noise_are_rows_of_their_own(make_run, tmp_path):
    """They are not seeds of one setting, and none takes another's place."""
    inverse = {"equation": "darcy_inverse", "distribution": {"tau": 3.0}, "push_forward": "level_set"}
    options = {"architecture": "transformer2d_coarse", "dataset": inverse, "dimension": 2, "label": "mine"}
    runs = [make_run(f"m{level}", noise=level, **options) for level in (0.0, 0.01, 0.1)]
    text = write_page(tmp_path, runs).read_text().partition("### Table 3")[2]
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| mine")]
    assert rows == ["| mine", "| mine, noise 0.01", "| mine, noise 0.1"]
    assert "all 3" not in text


def test_the_rows_kept_have_the_numbers_that_the_papers_report():
    tables = {table.name: table for example in EXAMPLES for table in example.tables}
    with (ROOT / "docs/measured/reported_rows.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["reported"]]
    assert rows
    for row in rows:
        assert reported_rows(tables[row["table"]].file)[int(row["place"])]["reported"] == row["reported"]


def test_other_sections_stand_among_those_of_their_paper(make_run, tmp_path):
    run = make_run("galerkin", level=1.203e-3)
    page = write_page(tmp_path, [run], {"Cao 2021": {"Table 5, parameters": "| a |"}})
    headings = [line for line in page.read_text().splitlines() if line.startswith("#")]
    assert headings[1:] == ["## Cao 2021", "### Table 2a", "### Table 5, parameters", "### Table 8"]
    assert "### Table 5, parameters\n\n| a |\n" in page.read_text()
