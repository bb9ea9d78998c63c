"""The page of reported and own numbers says what was measured, and nothing that was not."""

import shutil

import numpy as np
import pandas as pd
from run_files import replace_errors, set_resolution

from resolvent.figures.reported_vs_ours.kept_rows import with_kept_rows
from resolvent.figures.reported_vs_ours.markdown import table_lines
from resolvent.figures.reported_vs_ours.page import write_reported_vs_ours


def table_2a(page):
    """Return the section of this title."""
    return page.read_text().partition("### Table 2a")[2].partition("### ")[0]


def rows_of_table_2a(page):
    return [line for line in table_2a(page).splitlines() if line.startswith("| ")][1:]


def test_the_page_has_a_row_per_run_with_its_ratio_or_its_divergence(make_run, tmp_path):
    paper = {"train_samples": 1024, "epochs": 100, "batch_size": 8}
    runs = [
        make_run(
            "galerkin",
            attention="galerkin",
            setting=paper,
            level=1.203e-3,
            epochs=100,
            best_test=(1.2e-3, 98),
        ),
        make_run("softmax", attention="softmax", setting=paper, diverged_epoch=7, epochs=100),
    ]
    output = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake --cores 2": runs}, output)
    text = output.read_text()
    rows = [line for line in text.splitlines() if "512" in line and line.startswith("|")]
    assert "1.203e-3" in rows[0]
    assert "e-3 [" in rows[0]
    assert "| 1.200e-3 (epoch 98) | 1.00 |" in rows[0]
    assert "diverged (epoch 7)" in rows[1]
    assert "    snakemake --cores 2\n" in text


def test_operators_with_and_without_weights_are_compared_by_their_medians(make_run, tmp_path):
    lorenz = {"equation": "lorenz63", "targets": "yz", "final_time": 2.0}
    runs = []
    for model, quadrature, level in (("tno", "trapezoid", 1e-2), ("transformer", "none", 2e-2)):
        runs.append(
            make_run(
                model,
                architecture="tno1d",
                attention=None,
                tested=(512, 1024),
                settings={"quadrature": quadrature},
                dataset=lorenz,
            )
        )
        set_resolution(runs[-1], "dt0.01")
        table = pd.read_csv(runs[-1] / "errors.csv").replace(
            {"resolution": {512: "dt0.01", 1024: "two_rates"}}
        )
        on_training_grid = table["resolution"] == "dt0.01"
        table["standardised_relative_l2"] = np.where(on_training_grid, level, 3 * level)
        replace_errors(runs[-1], table)
    write_reported_vs_ours({"snakemake": runs}, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "## Cao 2021" not in text
    assert "### Lorenz-63, yz from x\n" in text
    assert "| tno | dt0.01 | 1 | 8.73e-3 | 1.00e-02 [1.00e-02, 1.00e-02] | — |" in text
    assert "tno: not comparable: " in text
    assert "| tno | 1 | 1.00e-02* | 3.00e-02 |" in text
    assert "| without weights over with | — | 2.000 [2.000, 2.000] | 2.000 [2.000, 2.000] |" in text


def test_a_section_whose_runs_are_elsewhere_is_kept(make_run, tmp_path):
    page = tmp_path / "page.md"
    facts = {"train_samples": 1024, "epochs": 100, "batch_size": 8}
    burgers = make_run("galerkin", attention="galerkin", setting=facts, level=1.203e-3)
    write_reported_vs_ours({"snakemake of Burgers": [burgers]}, page)
    kept = table_2a(page)

    darcy = {"equation": "darcy", "distribution": {"tau": 3.0}, "push_forward": "level_set"}
    run = make_run("fno2d", architecture="fno2d", attention=None, dataset=darcy)
    write_reported_vs_ours({"snakemake of Darcy": [run]}, page)
    text = page.read_text()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        *("# Reported and ours", "## Cao 2021", "### Table 2a", "### Table 2b", "### Table 8")
    ]
    assert "snakemake of Burgers" in kept
    assert kept in text
    write_reported_vs_ours({"snakemake of Darcy": [run]}, page)
    assert page.read_text() == text


def test_trainings_of_several_seeds_are_rows_of_their_own(make_run, tmp_path):
    """Also one whose run is not at hand any more."""
    runs = [make_run(attention="galerkin", seed=seed, level=seed * 1e-3) for seed in (1, 2, 3)]
    page = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake": runs}, page)
    before = rows_of_table_2a(page)
    assert [row.split(" | ")[3] for row in before] == ["1", "2", "3"]
    write_reported_vs_ours({"snakemake": runs[1:]}, page)
    assert sorted(rows_of_table_2a(page)) == sorted(before)
    assert "galerkin, of earlier runs: Sizes: " in page.read_text()


def test_a_row_whose_run_is_elsewhere_is_kept_with_what_was_said_of_it(make_run, tmp_path):
    page = tmp_path / "page.md"
    facts = {"train_samples": 1024, "epochs": 100, "batch_size": 8}
    first = [
        make_run("galerkin", attention="galerkin", setting=facts, level=1e-3),
        make_run("linear", attention="linear", setting=facts | {"train_samples": 512}, level=2e-3),
    ]
    write_reported_vs_ours({"snakemake": first}, page)
    before = page.read_text()
    assert "linear: not comparable: train samples 512" in before
    shutil.rmtree(first[0])
    again = make_run("galerkin", attention="galerkin", setting=facts, level=3e-3)
    write_reported_vs_ours({"snakemake": [again]}, page)
    text = table_2a(page)
    rows = rows_of_table_2a(page)
    assert [row.split(" | ")[0] for row in rows] == ["| galerkin", "| linear"]
    assert rows[0] not in before
    assert rows[1] in before
    assert "linear: not comparable: train samples 512" in text
    assert "linear, of earlier runs: Sizes: " in text
    assert "linear, of earlier runs: Machine: " in text
    write_reported_vs_ours({"snakemake": [again]}, page)  # once more: nothing is lost or said twice
    assert table_2a(page) == text


def test_other_sections_stand_among_those_of_their_paper(make_run, tmp_path):
    run = make_run("galerkin", attention="galerkin", setting={"epochs": 100}, level=1.203e-3)
    page = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake": [run]}, page, {"Cao 2021": {"Table 5, parameters": "| a |"}})
    headings = [line for line in page.read_text().splitlines() if line.startswith("#")]
    assert headings[1:] == ["## Cao 2021", "### Table 2a", "### Table 5, parameters", "### Table 8"]
    assert "### Table 5, parameters\n\n| a |\n" in page.read_text()


def test_a_bar_in_a_cell_does_not_end_it():
    lines = table_lines(("model", "error"), [("FNO, |k| ≤ 12", "1.0")])
    assert lines == ["| model | error |", "|---|---|", r"| FNO, \|k\| ≤ 12 | 1.0 |"]


def test_a_section_without_a_reported_number_in_a_cell_is_made_anew():
    old = "| operator | GFLOP reported |\n|---|---|\n| softmax | 1 |"
    assert with_kept_rows(old.replace("1", "2"), old) == old.replace("1", "2")
