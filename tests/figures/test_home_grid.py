"""Runs that were not tested on their training grid have errors on the nearest test grid, and pages say so."""

import csv
import io
import json
import re
import shutil
from dataclasses import asdict

import pandas as pd
import pytest
from exhibits import given, without_rendering
from rich.console import Console
from run_files import burgers_card, write_estimates, write_inference

from resolvent.common.files import write_json
from resolvent.common.records import home_grid
from resolvent.figures.common.comparison import TO_MEAN, by_condition, errors_of, read_comparison
from resolvent.figures.common.results import Shown, read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment import error_location
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import by_grids, headline, of_all_metrics
from resolvent.figures.experiment.report import write_report
from resolvent.figures.experiment.verdict import verdicts
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study
from resolvent.figures.front.terminal import print_leaderboard
from resolvent.figures.run.page import write_run_pages

# Training grids, test grids, and the test grid that is nearest to each training grid.
CASES = {
    "coarser": ((512,), (128, 256), {512: 256}),
    "two, of which one is tested": ((512, 1024), (1024, 2048), {512: 1024, 1024: 1024}),
}


@pytest.mark.parametrize(
    ("trained", "tested", "home"),
    [
        (64, [32, 64, 128], 64), (64, [256, 96, 512], 96), (64, [48, 80], 80), (64, [128, 56], 56),
        ("dt0.01", ["random", "dt0.01"], "dt0.01"), ("dt0.01", ["random", "dt0.02"], "dt0.02"),
    ],
)  # fmt: skip
def test_the_home_grid_is_the_training_grid_or_the_nearest(trained, tested, home):
    assert home_grid(trained, tested) == home


@pytest.fixture(scope="module", params=CASES)
def study(request, writers, tmp_path_factory):
    """Return training and home grids, runs of two models, baselines, and the path of their comparison."""
    trained, tested, homes = CASES[request.param]
    folder, (write_run, write_baselines) = tmp_path_factory.mktemp("study"), writers
    runs = [
        write_run(
            folder / "runs", model, attention=model, resolution=points, tested=tested, seed=seed, level=level
        )
        for model, level in (("galerkin", 1e-3), ("fourier", 4e-3))
        for points in trained
        for seed in (1, 2, 3)
    ]
    baselines = [write_baselines(folder / "baselines", points, 0.0) for points in tested]
    write_comparison(runs, baselines, folder / "comparison.csv")
    return trained, homes, runs, baselines, folder / "comparison.csv"


def words_of(trained, homes):
    return [
        f"n = {one}" if homes[one] == one else f"n = {one}, tested on n = {homes[one]}" for one in trained
    ]


def test_tables_and_verdicts_are_of_the_home_grid(study):
    trained, homes, runs, _, path = study
    comparison = read_comparison(path)
    table = headline(comparison)
    assert [name for name, _ in table.groups if name] == words_of(trained, homes)
    errors = [pd.read_csv(run / "errors.csv") for run in runs[: 3 * len(trained)]]
    for place, points in enumerate(trained):
        of_seeds = errors[3 * place : 3 * place + 3]
        own = pd.concat(table[table["resolution"] == homes[points]] for table in of_seeds)
        first = [number for number, column in enumerate(table.columns) if column.head == "error"][place]
        (row,) = (row for row in table.rows if row[0].text == "galerkin")
        assert row[first].value == pytest.approx(own["relative_l2"].mean())
        assert row[first].bold
        # A baseline on the home grid stands beside the models of each training grid.
        assert {row[0].text for row in table.baselines if row[first].value > 0} >= {"Identity"}
    against = errors_of(comparison, "relative_l2", TO_MEAN).set_index(
        ["trained_resolution", "test_resolution"]
    )
    assert set(homes.items()) <= set(against.index)  # no model is praised that is no better than the mean
    titles = [one.title for one in of_all_metrics(comparison)]
    assert titles == [f"All metrics, {words}" for words in words_of(trained, homes)]
    for sentence, points in zip(verdicts(comparison), trained, strict=True):
        elsewhere = f"Trained on n = {points}, tested on n = {homes[points]}, “galerkin”"
        assert sentence.startswith(elsewhere if homes[points] != points else f"On n = {points} “galerkin”")


@pytest.mark.parametrize("study", ["two, of which one is tested"], indirect=True)
def test_pages_name_the_test_grid_and_no_error_is_said_to_be_on_the_training_grid(
    study, tmp_path, monkeypatch
):
    """Take one seed of each model: the pages of runs take most of the time."""
    without_rendering(monkeypatch)
    trained, homes, runs, baselines, comparison = study
    runs = [shutil.copytree(run, tmp_path / "runs" / run.name) for run in runs[::3]]
    card = tmp_path / "card.json"
    card.write_text(json.dumps(burgers_card(sources=[])))
    timed = {"kind": "model", "key": "galerkin", "label": "galerkin", "error": 1e-3, "one_seconds": 1e-3}
    timed |= {"many_seconds": 1e-4, "train_seconds": 1.0}
    estimated = {"model": "galerkin", "label": "galerkin", "seed": 1, "shift": "none", "factor": 1.0}
    estimated |= {"relative_l2": 1e-3, "to_solver": 1e-3}
    inference = write_inference(tmp_path, *(timed | {"resolution": points} for points in trained))
    known = [
        estimated | {"resolution": points, "sample": sample} for points in trained for sample in range(3)
    ]
    shared = {"title": "Burgers", "card": card, "root": tmp_path, "command": "snakemake", "provenance": {}}
    write_run_pages(runs, experiment=tmp_path, quantities=("before", "after"), **shared)
    sources = given(runs, comparison, baselines, inference, estimates=write_estimates(tmp_path, *known))
    write_report(tmp_path / "report.html", sources=sources, **shared)
    page = (tmp_path / "report.html").read_text()
    assert "the test grid nearest to the training grid" in page
    for words in words_of(trained, homes):
        assert f"<td>{words}</td>" in page  # the runs
        assert f'<td class="prose">{words}</td>' in page  # inference and estimates
    titles = (tmp_path / "figures/error_intervals.svg").read_text()
    for points in trained:
        same = homes[points] == points
        words = (
            f"trained and tested on n = {points}" if same else f"trained on {words_of([points], homes)[0]}"
        )
        assert words in titles
    assert page.count("framed") == 2 * len(trained)
    (loaded,) = re.findall(r"&#34;test&#34;, (\d+)\)", page)
    assert int(loaded) in homes.values()
    for run in runs:
        own = (run / "run.html").read_text()
        points = int(re.search(r"-n(\d+)-", run.name)[1])
        assert f"{words_of([points], homes)[0]}, seed " in own
        errors = pd.read_csv(run / "errors.csv")
        mean = errors.loc[errors["resolution"] == homes[points], "relative_l2"].mean()
        assert f"{mean:.2e}".partition("e")[0] in own.partition("median")[0]
        page += own
    assert "on the training grid" not in page + (tmp_path / "compare.html").read_text()


def test_the_matrix_has_a_row_for_each_training_grid_and_frames_the_training_grid(make_run, tmp_path):
    runs = [make_run(resolution=points, tested=(512, 1024), seed=1) for points in (512, 1024)]
    runs.append(make_run("deeponet", attention=None, resolution=512, tested=(512,)))  # works on one grid
    table = by_grids(by_condition(write_comparison(runs, [], tmp_path / "comparison.csv")))
    assert [column.name for column in table.columns[2:]] == ["tested at: 512", "tested at: 1024"]
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["galerkin", "512"], ["galerkin", "1024"], ["deeponet", "512"]
    ]  # fmt: skip
    assert [[cell.framed for cell in row[2:]] for row in table.rows] == [
        [True, False], [False, True], [True, False]
    ]  # fmt: skip
    assert table.rows[2][3].text == "—"
    assert as_html(table).count("framed") == 3
    errors = pd.read_csv(runs[0] / "errors.csv").groupby("resolution")["relative_l2"].mean()
    assert [cell.value for cell in table.rows[0][2:]] == pytest.approx([errors[512], errors[1024]])


def test_samples_and_errors_by_point_of_a_field_are_of_the_home_grid(make_run):
    (run,) = read_runs([make_run(dimension=2, resolution=16, tested=(32, 64))])
    assert run.home == 32
    assert run.shown("target").shape == (4, 32, 32)
    (image, *_) = error_location.draw([run], appearances([run]), Shown(run, run)).axes[0].images
    assert image.get_array().shape == (32, 32)
    assert image.axes.get_title(loc="left") == "galerkin"
    assert Shown(run, run).words == "galerkin, n = 16, tested on n = 32"


def test_a_reported_number_is_not_compared_with_errors_on_another_grid(make_run, tmp_path):
    runs = [make_run(), make_run("other", tested=(1024,))]
    rows = write_comparison(runs, [], tmp_path / "comparison.csv").drop_duplicates("key").set_index("key")
    assert rows.loc["galerkin", "reported"] > 0
    assert pd.isna(rows.loc["other", "reported"])
    assert "tested at 1024, not at the training resolution 512" in rows.loc["other", "reported_note"]


def test_the_leaderboard_has_the_test_resolution(make_run, make_baselines, tmp_path):
    root, rows = tmp_path / "small", []
    for model in ("galerkin", "fourier"):
        folder = f"burgers/{model}/n512/seed1"
        shutil.move(make_run(model, attention=model, tested=(1024, 2048)), root / folder)
        rows.append(PlannedRow(model, model, None, 512, 0.0, {"1": folder}))
    missing = PlannedRow("fno", "FNO", None, 512, 0.0, {"1": "burgers/fno/n512/seed1"})
    planned = PlannedExperiment("Burgers", "waves", "burgers/report.html", 512, [], [*rows, missing])
    write_json(root / "study.json", asdict(Study(name="small", experiments={"burgers": planned})))
    runs = [root / folder for row in rows for folder in row.runs.values()]
    write_comparison(runs, [make_baselines(1024)], root / "burgers/comparison.csv")
    results = write_front_page(root)
    table = list(csv.DictReader((root / "leaderboard.csv").open()))
    assert [row["trained_resolution"] for row in table] == ["512"] * 3
    assert [row["test_resolution"] for row in table] == ["1024", "1024", ""]
    assert len({row["classical_solver"] for row in table[:2]} - {""}) == 1
    page = (root / "index.html").read_text()
    for words in ("Burgers, n = 512, tested on n = 1024", "tested on 1024", "<caption>Burgers</caption>"):
        assert words in page
    assert page.count('framed"') == 2
    print_leaderboard(results, Console(file=(said := io.StringIO()), width=120))
    assert said.getvalue().count("512, tested on n = 1024") == 3
    write_comparison(runs, [make_baselines(512)], root / "burgers/comparison.csv")
    write_front_page(root)
    assert ">not run</td>" in (root / "index.html").read_text()
