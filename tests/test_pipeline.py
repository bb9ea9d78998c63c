"""The real Snakefile, by the commands that the README gives."""

import csv
import json
import re
import shutil
import subprocess
from zipfile import ZipFile

import measured_datasets
import pytest
from latex import complaints
from pages import broken_links, links, missing
from pipeline_project import built_once, job_counts

import resolvent
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.verify import faults_of_dataset

RUN = "results/test/burgers/{model}/n64/seed1127802"
INSTEAD = "shown because the configured run, FNO, hopeless learning rate (n = 64, seed 1127802), diverged"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return built_once(tmp_path_factory).copied_to(tmp_path_factory.mktemp("pipeline") / "project")


def rows_of(file) -> list[dict[str, str]]:
    with file.open() as table:
        return list(csv.DictReader(table))


def test_each_dataset_and_each_experiment_is_a_target(project):
    planned = project.planned("burgers", "controlled_ode", "--forceall")
    for rule in ("burgers", "report_burgers", "run_pages_burgers", "controlled_ode", "solve_controlled_ode"):
        assert planned[rule] == 1
    assert not any("darcy" in rule for rule in planned)


def test_the_forecast_lists_every_job_with_what_it_takes(project):
    output = project.forked_build("plan")
    assert re.search(r"^train +4 +4 +0.00", output, re.MULTILINE)
    assert "About 0.0 hours on 2 cores" in output
    rows = rows_of(project.folder / "logs/plan/test.csv")
    assert len({row["output"] for row in rows}) == len(rows)
    for model in ("fno", "galerkin", "unstable"):
        assert f"{RUN.format(model=model)}/checkpoint.pt" in {row["output"] for row in rows}
    assert all(float(row["seconds"]) > 0 and float(row["memory_bytes"]) > 0 for row in rows)
    assert all(float(row["disk_bytes"]) > 0 for row in rows if row["rule"].startswith(("solve_", "train")))


def test_the_page_stands_alone_and_holds_every_row(project):
    page = (project.folder / "results/test/burgers/report.html").read_text()
    assert not missing(links(page), project.folder / "results/test/burgers")
    assert "../cao2021.html" in links(page)
    held = "Must be below the stated accuracy"
    for words in ("FNO", "Galerkin", "diverged (epoch", "Identity", "Classical solver", held):
        assert words in page
    assert "data:image" not in page  # figures lie beside it
    assert page.count('class="static" src="figures/') == 9


def test_the_front_page_leads_everywhere_and_every_link_holds(project):
    results = project.folder / "results/test"
    assert broken_links(results) == []
    page = (results / "index.html").read_text()
    assert {"burgers/report.html", "cao2021.html", "datasets/burgers.html"} <= links(page)
    assert '<td class="number lost" data-sort="">1 diverged</td>' in page
    rows = rows_of(results / "leaderboard.csv")
    assert len(rows) == 4
    assert "classical solver on the same grid" in page


def test_the_sums_of_the_study_are_those_of_all_its_files(project):
    results = project.folder / "results/test"
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(check, cwd=results, capture_output=True, text=True, check=True)
    summed = {line.removesuffix(": OK") for line in done.stdout.splitlines()}
    files = {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}
    assert {path for path in files - summed if not re.search(r"\.pt$|/tensorboard/", path)} == {"SHA256SUMS"}


def test_what_there_is_is_shown_where_a_job_has_failed(project, tmp_path):
    broken = project.copied_to(tmp_path / "broken")
    jobs = broken.folder / "workflow/scripts/jobs.py"
    jobs.write_text(jobs.read_text().replace("def report():\n", "def report():\n    of_nothing_known()\n", 1))
    page = "results/test/darcy_inverse_noise1/report.html"
    (broken.folder / page).unlink()
    assert "of_nothing_known" in broken.forked_build(page, succeeds=False)
    page = (broken.folder / "results/test/index.html").read_text()
    assert page.count('<span class="warning">no page yet</span>') >= 1
    assert "cao2021.html" in links(page)


def test_a_page_asked_for_by_name_is_on_the_front_page_and_the_plan_is_the_latest(project, tmp_path):
    other = project.copied_to(tmp_path / "other")
    index, page = other.folder / "results/test/index.html", "results/test/burgers/compare.html"
    assert "darcy_inverse_noise1/report.html" in links(index.read_text())
    (other.folder / page).unlink()
    other.forked_build(page, config={"build": {"experiments": ["burgers"]}})
    assert "burgers/report.html" in links(index.read_text())
    assert "darcy_inverse_noise1/report.html" not in links(index.read_text())
    assert other.planned() == {"all": 1, "front_page": 1}


def test_snakemakes_own_report_has_the_tables_and_figures(project, tmp_path):
    project.forked_build("--report", str(tmp_path / "report.zip"))
    names = {name.rpartition("/")[2] for name in ZipFile(tmp_path / "report.zip").namelist()}
    assert {"leaderboard.csv", "comparison.csv", "models.csv", "error_intervals.svg", "samples.svg"} <= names


def test_every_table_is_set_by_latex(project, tmp_path):
    tables = sorted((project.folder / "results").rglob("*.tex"))
    assert len(tables) > 3
    assert complaints("\n".join(f"\\input{{{table}}}\n" for table in tables), tmp_path) == []
    assert {table.read_text().count(r"\begin{tabular}") for table in tables} == {1}


@pytest.mark.parametrize("dataset", ["burgers", "darcy_cao_inverse", "controlled_ode"])
def test_every_dataset_has_its_page(project, dataset):
    page = (project.folder / f"results/test/datasets/{dataset}.html").read_text()
    assert not missing(links(page), project.folder / "results/test/datasets")
    flow = dataset == "darcy_cao_inverse"
    assert page.count("data:image/svg+xml") == 3 + flow
    assert page.count("<video") == 1 - flow


def test_the_paper_has_its_page(project):
    page = (project.folder / "results/test/cao2021.html").read_text()
    reports = {f"{experiment}/report.html" for experiment in ("burgers", "darcy_inverse_noise1")}
    leading = {one for one in links(page) if one.endswith(".html")}
    assert {one for one in leading if not one.endswith("/run.html")} == reports
    assert len(leading - reports) == 4  # runs
    assert not missing(links(page), project.folder / "results/test")
    for item in ("table1", "table2a", "table3", "table5", "table6", "figure9", "figure11", "figure12"):
        assert f'id="{item}"' in page
    assert 'id="table2b"' not in page
    assert page.count("data:image/svg+xml") == 3
    assert INSTEAD + ": initial velocity" in page
    costs = rows_of(project.folder / "results/test/cao2021/cost.csv")
    assert len(costs) == 2 * 5


def test_the_measurements_of_the_docs_come_from_cards_and_logs(project, monkeypatch):
    monkeypatch.setattr(measured_datasets, "MEASURED", "config/test.yaml")
    tables = measured_datasets.measured(project.folder)
    files = (project.folder / "data/darcy_cao_inverse").glob("*.json")
    (card,) = (file for file in files if file.suffixes == [".json"])
    largest = json.loads(card.read_text())["error_budget"]["against_direct_solve"]["largest_relative_l2"]
    assert re.search(rf"`darcy_cao_inverse` \| against direct solve \| 8 \| .* \| {largest:.1e} \|", tables)
    assert re.search(r"`darcy_cao_inverse` \| 17² \| 8 \|", tables)


def test_the_inverse_problem_is_tested_at_every_level_of_noise(project):
    rows = rows_of(project.folder / "results/test/darcy_inverse_noise1/comparison.csv")
    levels = {(row["key"], row["trained_noise"], row["test_noise"]) for row in rows}
    models = {("tiny2d_coarse", "0.01", noise) for noise in ("0.0", "0.01")}
    assert levels == models | {(key, "0.01", "0.01") for key in ("mean_predictor", "ridge_regression")}
    assert all(float(row["value"]) > 0 for row in rows if row["statistic"] == "mean")


def test_models_that_finished_are_timed_beside_the_solvers_of_the_equation(project):
    rows = rows_of(project.folder / "results/test/burgers/inference.csv")
    assert {row["key"] for row in rows if row["kind"] == "model"} == {"galerkin", "fno"}
    assert {"ETDRK4, 12 modes, 8 steps", "closed form (Cole-Hopf)"} <= {row["key"] for row in rows}
    for row in rows:
        assert 0 < float(row["many_seconds"]) < 10
        assert 0 < float(row["error"]) < 2


def test_errors_stand_beside_what_is_known_without_labels(project):
    rows = rows_of(project.folder / "results/test/burgers/estimates.csv")
    assert {row["model"] for row in rows} == {"galerkin", "fno"}
    assert {row["shift"]: int(row["sample"]) + 1 for row in rows} == {"none": 4, "viscosity": 4}
    for row in rows:
        assert abs(float(row["to_solver"]) - float(row["relative_l2"])) < 1e-3
    noisy = rows_of(project.folder / "results/test/darcy_inverse_noise1/estimates.csv")
    assert [(row["sample"], row["to_solver"]) for row in noisy] == [("0", ""), ("1", "")]


def test_a_diverged_run_is_reported_and_the_best_finished_one_shown_in_its_place(project):
    cost = json.loads((project.folder / RUN.format(model="unstable") / "cost.json").read_text())
    assert cost["status"] == "diverged"
    folder = project.folder / "results/test/burgers"
    rows = rows_of(folder / "comparison.csv")
    assert {row["status"] for row in rows if row["key"] == "unstable"} == {"diverged (epoch 1)"}
    finished = [row for row in rows if row["status"] == "finished" and row["kind"] == "model"]
    medians = [row for row in finished if (row["metric"], row["statistic"]) == ("relative_l2", "median")]
    here = [row for row in medians if row["trained_resolution"] == row["test_resolution"]]
    best = min(here, key=lambda row: float(row["value"]))
    assert f"{best['label']} (n = 64, seed 1127802), {INSTEAD}" in (folder / "report.html").read_text()


TUNED = {
    "build": {"experiments": ["burgers_tuned"]},
    "experiments": {
        "burgers_tuned": {
            "models": ["unstable"],
            "shown": "unstable",
            "tuning": {"learning_rate": [1.0e6, 5.0e-4], "epochs": 1},
        }
    },
}


def test_a_tuned_run_is_trained_and_recorded_with_what_its_short_runs_chose(project, tmp_path):
    project = project.copied_to(tmp_path / "tuned")
    folder = "results/test/burgers_tuned/unstable/n64"
    target = f"{folder}/seed1127802/errors.csv"
    project.forked_build(target, config=TUNED)
    diverged, chosen = json.loads((project.folder / folder / "tuned.json").read_text())["candidates"]
    assert (diverged["diverged_epoch"], diverged["validation_relative_l2"]) == (1, None)
    assert chosen["validation_relative_l2"] > 0
    record = json.loads((project.folder / folder / "seed1127802/run.json").read_text())
    assert (record["training"]["learning_rate"], record["training"]["epochs"]) == (5.0e-4, 2)
    assert record["tuning"]["chosen"] == {"learning_rate": 5.0e-4}


def test_figures_and_pages_of_runs_that_are_gone_are_made_again(project):
    """The figures of an experiment, the page of a run, and the script of a run of another experiment."""
    script = "results/test/darcy_inverse_noise1/tiny2d_coarse/n17/seed1127802/run.js"
    gone = ("results/test/burgers/figures", f"{RUN.format(model='fno')}/run.html", script)
    aside = [(project.folder / name).rename(project.folder / f"{name}.aside") for name in gone]
    output = project.dry_run("--cores", "2", "--jobs", "2", "--quiet", "host")  # as on a cluster
    for kept in aside:
        kept.rename(kept.with_suffix(""))
    pages = {"report_burgers": 1, "run_pages_burgers": 1, "run_pages_darcy_inverse_noise1": 1}
    assert job_counts(output) == {"all": 1, **pages}
    assert "Group job report" in output  # one submission


NEW_FIGURE = """
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import new_figure


def draw(runs):
    figure, ((panel,),) = new_figure(1, 1, size=(4, 3))
    panel.bar([run.name for run in runs], [run.cost.parameters for run in runs])
    return figure


PARAMETERS = Exhibit("Parameters", "The number of parameters of each run.", draw)
"""
NEW_PAGE = """
from resolvent.figures.common.exhibit import Section
from resolvent.figures.common.page import render
from resolvent.figures.front.study import read_study


def write_counts(folder):
    runs = [run for one in read_study(folder).experiments.values() for row in one.rows for run in row.runs]
    sections = [Section("runs", "Runs")]
    breadcrumbs = [("Counts", "")]
    render("counts.html.j2", folder / "counts.html", root=folder, breadcrumbs=breadcrumbs, title="Counts",
           sections=sections, count=len(runs))
"""


@pytest.fixture(scope="module")
def extended(project, tmp_path_factory):
    """Return a copy of the study with a new figure and a new page, as docs/extending.md adds them, built."""
    other = project.copied_to(tmp_path_factory.mktemp("extended") / "project")
    figures = other.folder / "resolvent/figures"
    (figures / "experiment/parameters.py").write_text(NEW_FIGURE)
    line = '        "learning_rates": LEARNING_RATES,\n'
    report = figures / "experiment/report.py"
    module = "from resolvent.figures.experiment.parameters import PARAMETERS\nOWN = "
    text = report.read_text().replace(line, f'{line}        "parameters": PARAMETERS,\n', 1)
    report.write_text(text.replace("OWN = ", module, 1))

    (figures / "front/counts.py").write_text(NEW_PAGE)
    template = '{% extends "base.html.j2" %}\n{% block runs %}<p>{{ count }} runs.</p>{% endblock %}\n'
    (figures / "templates/counts.html.j2").write_text(template)
    listed, end = figures / "common/page.py", "\n}\n\n\ndef other_pages"
    line = '    "counts": StudyPage("counts.html", "Counts", "resolvent.figures.front.counts:write_counts"),'
    text = listed.read_text()
    assert text.count(end) == 1
    listed.write_text(text.replace(end, f"\n{line}{end}"))
    other.forked_build("results/test/counts.html", "results/test/burgers/report.html")
    return other.folder / "results/test"


def test_a_new_figure_is_a_module_and_a_line_and_is_drawn_where_its_page_is_asked_for(extended):
    page = (extended / "burgers/report.html").read_text()
    assert '<img class="static" src="figures/parameters.svg"' in page
    assert (extended / "burgers/figures/parameters.svg").exists()


def test_a_new_page_of_a_study_is_a_module_a_template_and_a_line(extended):
    assert "<p>4 runs.</p>" in (extended / "counts.html").read_text()
    for page in (extended / "index.html", extended / "burgers/report.html"):
        assert "counts.html" in {link.rpartition("/")[2] for link in links(page.read_text())}
    assert json.loads((extended / "study.json").read_text())["pages"] == {"counts.html": "Counts"}


def test_a_store_that_is_gone_is_made_again_by_the_same_command(project, tmp_path):
    """Every reader says so in the same words; nothing else is solved or trained again."""
    other = project.copied_to(tmp_path / "gone")
    before = other.contents("data")
    store = next((other.folder / "data/burgers").glob("*.zarr"))
    shutil.rmtree(store)
    name = store.relative_to(other.folder)
    words = f"the store {name} is missing; snakemake regenerates it, to the same bytes"
    planned = other.dry_run("--cores", "2")
    assert words in planned
    solved = {rule: jobs for rule, jobs in job_counts(planned).items() if rule.startswith(("solve", "train"))}
    assert solved == {"solve_burgers": 2}
    assert other.planned("measure_cost") == {}
    faults = "\n".join(faults_of_dataset(store.with_suffix(".json")))
    with pytest.raises(DatasetError) as raised:
        resolvent.open_dataset("burgers", data=other.folder / "data")
    for said in (faults, str(raised.value)):
        assert words.replace(str(name), str(store)) in said
    other.forked_build("datasets")
    assert other.contents("data") == before
    assert other.planned("datasets") == {}


def test_jobs_are_processes_of_their_own(project):
    """All other builds of these tests fork; this one takes long, as each job imports its packages."""
    checkpoint = project.folder / RUN.format(model="fno") / "checkpoint.pt"
    before = checkpoint.read_bytes()
    checkpoint.unlink()
    project.build(checkpoint.relative_to(project.folder).as_posix())
    assert checkpoint.read_bytes() == before


def test_bad_configuration_stops_before_anything_runs(project):
    change = {"experiments": {"burgers": {"samples": {"test": 7}}}}
    output = project.forked_build(config=change, succeeds=False)
    assert "experiments.burgers.samples.test: 7 asked for; dataset 'burgers' has 6" in output
    assert "Traceback" not in output
