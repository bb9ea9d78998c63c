"""The page of reported and own numbers says what was measured, and nothing that was not."""

import csv

import collapse
import numpy as np
import pandas as pd
import pytest
from collapse import collapsed, reported_collapses
from common_ratio import ratio_to_reported, scatter
from merged_configuration import ROOT
from paper_sizes import size_sections
from reported_vs_ours import ROWS, write_reported_vs_ours
from run_files import replace_errors, set_resolution

from resolvent.figures.papers.cao2021.reported import EXAMPLES, TABLE_8
from resolvent.figures.published.tables import reported_rows


def table_2a(page):
    """Return the section of this title."""
    return page.read_text().partition("### Table 2a")[2].partition("### ")[0]


def rows_of_table_2a(page):
    """Return the lines of its first table, a row per setting."""
    return table_lines(table_2a(page), "deviation")


def trainings_of_table_2a(page):
    return table_lines(table_2a(page), "best epoch")


def table_lines(text, head):
    """Return the lines of the table with a column `head`."""
    _, _, rest = text.partition(f"| {head} |")
    lines = rest.partition("\n\n")[0].splitlines()
    return [line for line in lines if line.startswith("| ")]


def write_page(tmp_path, runs, more=None):
    """Write the page of runs by one command, and return it."""
    page = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake --cores 2": runs} if runs else {}, page, tmp_path, more)
    return page


def test_a_run_that_diverged_has_a_row_without_a_ratio(make_run, tmp_path):
    runs = [
        make_run("galerkin", level=1.203e-3, best_test=(1.2e-3, 98)),
        make_run("softmax", attention="softmax", diverged_epoch=7),
    ]
    page = write_page(tmp_path, runs)
    galerkin, softmax = sorted(rows_of_table_2a(page))
    assert galerkin.split(" | ")[4] == f"{1.2 / 1.203:.2f}"  # in the paper's protocol
    assert softmax.endswith("| — | — | — | — | diverged in epoch 7 |")
    assert any("| 1.200e-3 (epoch 98) |" in line for line in trainings_of_table_2a(page))
    assert "    snakemake --cores 2\n" in page.read_text()


def test_a_training_that_collapsed_has_no_ratio_and_a_share(make_run, tmp_path):
    regular = {"attention": "galerkin", "layer_norm": "regular", "settings": {"residual_dropout": 0.1}}
    kept = [make_run(f"seed{seed}", seed=seed, label="galerkin", level=2e-3, **regular) for seed in (1, 2)]
    lost = make_run("lost", seed=3, label="galerkin", level=13.8e-3, epochs=21, **regular)
    page = write_page(tmp_path, [*kept, lost])
    (row,) = rows_of_table_2a(page)
    assert row.startswith("| galerkin, n = 512 (3 seeds, 1 collapsed) |")
    assert "| galerkin, layer norm regular | 1 of 3 [0.01, 0.91] |" in table_2a(page)
    mean = pd.read_csv(tmp_path / ROWS).query("seed < 3 and table == 'Table 2a'")["mean"].mean()
    assert row.split(" | ")[3].startswith(f"{mean / 2.181e-3:.2f} [")  # of the two others
    table_8 = page.read_text().partition("### Table 8")[2]
    assert "η = 0.01, δ = 0.01 | 1 of 3 [0.01, 0.91] | 3 of 6 [0.12, 0.88] |" in table_8
    alone = write_page(
        tmp_path, [make_run("other", seed=4, label="other", level=13.8e-3, epochs=21, **regular)]
    )
    assert rows_of_table_2a(alone)[-1].endswith("| — | — | — | collapsed at epoch 21 |")


def test_the_reported_cells_that_collapsed_are_those_that_the_paper_discusses(monkeypatch):
    """Section C.2: the best epoch is not near the last; also for every factor between 3 and 10."""
    expected = {
        "galerkin, layer norm regular, η = 1, δ = 0": 6,
        "galerkin, layer norm regular, η = 0.01, δ = 0": 4,
        "galerkin, layer norm regular, η = 0.01, δ = 0.01": 3,
        "galerkin, layer norm projection, η = 1, δ = 0": 0,
        "galerkin, layer norm projection, η = 0.01, δ = 0": 0,
        "galerkin, layer norm projection, η = 0.01, δ = 0.01": 0,
    }
    for factor in (3, 5, 10):
        monkeypatch.setattr(collapse, "LARGE", factor)
        found = reported_collapses(TABLE_8, 100)
        assert {group: sum(happened) for group, happened in found.items()} == expected


def test_an_early_best_epoch_with_a_low_error_is_no_collapse():
    assert collapsed(13.8e-3, 21, 100, 1e-3)
    assert not collapsed(2e-3, 21, 100, 1e-3)
    assert not collapsed(13.8e-3, 97, 100, 1e-3)
    assert collapsed(0.2, 97, 100, 1e-3)


@pytest.mark.parametrize(
    ("level", "seeds", "verdict"),
    [
        (1.203e-3, 3, "equivalent"),
        (4e-3, 3, "different"),
        (4e-4, 3, "different"),
        (4e-3, 1, "undecided"),  # the spread between seeds is unknown
    ],
)
def test_a_table_has_a_verdict(make_run, tmp_path, level, seeds, verdict):
    generator = np.random.default_rng(0)
    runs = [
        make_run("galerkin", seed=seed, errors=level * np.exp(0.02 * generator.normal(size=40)))
        for seed in range(1, seeds + 1)
    ]
    said = " ".join(table_2a(write_page(tmp_path, runs)).split())
    assert f"so the table has no common ratio: {verdict}.**" in said
    assert ("without the spread between seeds, which is unknown" in said) == (seeds == 1)


def test_the_interval_of_a_ratio_knows_both_sides():
    """Also of a thousand samples: the few of the paper decide, whose scatter is that of ours."""
    errors = np.exp(0.5 * np.random.default_rng(1).normal(size=1000))
    found = ratio_to_reported(errors[:, None].mean(axis=0), [scatter(errors, 100)], errors.mean())
    expected = 1.96 * errors.std() / errors.mean() * np.sqrt(1 / 1000 + 1 / 100)
    assert np.log(found.high) == pytest.approx(expected, rel=0.15)
    assert np.log(found.low) == pytest.approx(-expected, rel=0.15)


def test_seeds_are_one_row_and_rows_stay_until_their_run_is_made_again(make_run, tmp_path):
    first = [make_run(attention="galerkin", seed=seed, level=1.2e-3) for seed in (1, 2, 3)]
    page = write_page(tmp_path, first)
    (row,) = rows_of_table_2a(page)
    before = trainings_of_table_2a(page)
    assert row.startswith("| galerkin, n = 512 (3 seeds) |")
    assert [line.split(" | ")[3] for line in before] == ["1", "2", "3"]
    assert "**One row has a ratio, " in table_2a(page)
    lost = make_run(attention="galerkin", seed=4, diverged_epoch=3)
    shorter = make_run("shorter", label="galerkin", attention="galerkin", seed=1, setting={"epochs": 10})
    again = make_run("again", label="galerkin", attention="galerkin", seed=2, level=2e-3)
    page = write_page(tmp_path, [lost, shorter, again])
    after = trainings_of_table_2a(page)
    (row,) = rows_of_table_2a(page)
    assert row.startswith("| galerkin, n = 512 (4 seeds, 1 collapsed) |")
    # A shorter training does not take the place of one that is compared.
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] != before[1]
    text = page.read_text()
    assert write_page(tmp_path, []).read_text() == text


def test_the_page_is_made_from_the_committed_tables_alone(tmp_path):
    """Its bytes, so nobody edits it by hand, and nothing is lost when run folders are."""
    write_reported_vs_ours({}, tmp_path / "page.md", ROOT / "docs/measured", size_sections())
    committed = (ROOT / "docs/reported-vs-ours.md").read_text(encoding="utf-8")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == committed


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
    assert "| tested at | tno, seed 1 | transformer, seed 1 | without / with weights |" in text
    assert "| dt0.01 | 1.00e-02* | 2.00e-02* | 2.000 [2.000, 2.000] |" in text
    assert "| two_rates | 3.00e-02 | 6.00e-02 | 2.000 [2.000, 2.000] |" in text
    page = write_page(tmp_path, [make_run("galerkin", attention="galerkin")])  # the section is kept
    assert text.partition("## Calvello")[2] == page.read_text().partition("## Calvello")[2] != ""


def test_levels_of_noise_are_rows_of_their_own(make_run, tmp_path):
    """They are not seeds of one setting, and none takes another's place."""
    inverse = {"equation": "darcy_inverse", "distribution": {"tau": 3.0}, "push_forward": "level_set"}
    options = {"architecture": "transformer2d_coarse", "dataset": inverse, "dimension": 2, "label": "mine"}
    options["resolution"] = 17
    runs = [make_run(f"m{level}", noise=level, **options) for level in (0.0, 0.01, 0.1)]
    text = write_page(tmp_path, runs).read_text().partition("### Table 3")[2]
    rows = [line.split(" | ")[0] for line in table_lines(text, "deviation")]
    assert rows == [f"| mine{noise}, n = 17 (1 seed)" for noise in ("", ", noise 0.01", ", noise 0.1")]


def test_the_rows_kept_have_the_numbers_that_the_papers_report():
    tables = {table.name: table for example in EXAMPLES for table in example.tables}
    with (ROOT / "docs/measured/reported_rows.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["reported"]]
    assert rows
    for row in rows:
        assert reported_rows(tables[row["table"]].file)[int(row["place"])]["reported"] == row["reported"]
