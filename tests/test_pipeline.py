"""The real Snakefile, by the commands that the README gives."""

import csv
import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from zipfile import ZipFile

import measured_datasets
import pytest
from latex import complaints
from pages import broken_links, links, missing
from pipeline_project import Project, built_once, job_counts

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


@contextmanager
def edited(project, *edits):
    """Replace text in source files of the copy for a while: a name, the old text and the new one."""
    before = {project.folder / name: (project.folder / name).read_text() for name, *_ in edits}
    for (path, text), (_, old, new) in zip(before.items(), edits, strict=True):
        assert old in text
        path.write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        for path, text in before.items():
            path.write_text(text)


def test_a_fresh_copy_plans_every_job(project):
    assert project.fresh_plan == {
        "all": 1, "page_assets": 1, "plan_study": 1, "front_page": 1,
        "train": 9, "evaluate": 9, "baselines": 1, "inference": 1, "estimates": 1, "compare": 1,
        "report_burgers": 1, "run_pages_burgers": 1, "dataset_page_lorenz63_yz": 1,
        "dataset_page_burgers": 1, "dataset_page_darcy_cao": 1, "dataset_page_kolmogorov": 1,
        "motion_burgers": 1, "motion_kolmogorov": 1, "motion_lorenz63_yz": 1,
        "measure_cost": 1, "show_table": 4, "show": 1, "paper_page": 1,
        "solve_burgers": 2, "finalise_burgers": 1, "preview_burgers": 1,
        "solve_darcy_cao": 1, "finalise_darcy_cao": 1, "preview_darcy_cao": 1,
        "solve_lorenz63_yz": 1, "finalise_lorenz63_yz": 1, "preview_lorenz63_yz": 1,
        "solve_kolmogorov": 1, "finalise_kolmogorov": 1, "preview_kolmogorov": 1,
    }  # fmt: skip


def test_each_dataset_and_each_experiment_is_a_target(project):
    both, data = (project.planned(name, "--forceall") for name in ("burgers", "controlled_ode"))
    assert (
        both.items()
        >= {"burgers": 1, "solve_burgers": 2, "report_burgers": 1, "run_pages_burgers": 1}.items()
    )
    pages = {"page_assets", "preview_controlled_ode", "motion_controlled_ode", "dataset_page_controlled_ode"}
    assert set(data) == {"controlled_ode", "solve_controlled_ode", "finalise_controlled_ode", *pages}


def test_the_forecast_lists_the_jobs_that_snakemake_plans(project):
    output = project.forked_build("plan", config="config/demo.yaml")
    rows = re.findall(r"^(\w+) +([\d,]+) +[\d,]+ +[\d.]+", output, re.MULTILINE)
    counts = {rule: int(count) for rule, count in rows}
    assert counts.pop("total") == sum(counts.values())
    assert counts | {"all": 1} == project.fresh_plan
    output = project.forked_build("plan")
    assert re.search(r"^train +4 +4 +0.00", output, re.MULTILINE)
    assert "About 0.0 hours on 2 cores" in output
    rows = rows_of(project.folder / "logs/plan/test.csv")
    assert len({row["output"] for row in rows}) == len(rows)
    for model in ("fno", "galerkin", "unstable"):
        assert f"{RUN.format(model=model)}/checkpoint.pt" in {row["output"] for row in rows}
    assert all(float(row["seconds"]) > 0 and float(row["memory_bytes"]) > 0 for row in rows)
    assert all(float(row["disk_bytes"]) > 0 for row in rows if row["rule"].startswith(("solve_", "train")))


def test_the_workflow_is_clean_of_lint(project):
    assert "Congratulations" in project.forked_build("--lint", config="config.yaml")


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


def test_tables_come_as_csv_latex_and_html(project):
    folder = project.folder / "results/test/burgers"
    rows = rows_of(folder / "comparison.csv")
    assert {row["key"] for row in rows} >= {"fno", "galerkin", "unstable", "identity", "coarse_solve"}
    assert {row["test_resolution"] for row in rows if row["key"] == "fno"} == {"64", "128"}
    means = [row for row in rows if row["key"] != "unstable" and row["statistic"] == "mean"]
    assert {row["metric"] for row in means} >= {"relative_l2", "relative_h1"}
    assert all(float(row["value"]) > 0 for row in means)
    for name in ("table.tex", "metrics.tex"):
        assert (folder / name).read_text().count("\\toprule") == 1


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
    for words in (f"-R solve_{dataset}", "The error budget", "--cores 2", "against", "<math "):
        assert words in page


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
    for words in (
        "Table 2b. Darcy flow", "n = 64", "batch 2, no dropout", "train samples 16 (paper 1024)", "523k-530k",
        "best epoch on the test samples", INSTEAD + ": initial velocity", "Shown: Galerkin, tiny.",
        "--cores 2",
    ):  # fmt: skip
        assert words in page, words
    costs = rows_of(project.folder / "results/test/cao2021/cost.csv")
    assert len(costs) == 2 * 5
    assert (project.folder / "results/test/cao2021/table2a.tex").exists()


def test_the_measurements_of_the_docs_come_from_cards_and_logs(project, monkeypatch):
    monkeypatch.setattr(measured_datasets, "MEASURED", "config/test.yaml")
    tables = measured_datasets.measured(project.folder)
    files = (project.folder / "data/darcy_cao_inverse").glob("*.json")
    (card,) = (file for file in files if file.suffixes == [".json"])
    largest = json.loads(card.read_text())["error_budget"]["against_direct_solve"]["largest_relative_l2"]
    assert re.search(rf"`darcy_cao_inverse` \| against direct solve \| 8 \| .* \| {largest:.1e} \|", tables)
    assert re.search(r"`darcy_cao_inverse` \| 17² \| 8 \|", tables)


def test_the_inverse_problem_is_tested_at_every_level_of_noise(project):
    folder = project.folder / "results/test/darcy_inverse_noise1"
    rows = rows_of(folder / "comparison.csv")
    levels = {(row["key"], row["trained_noise"], row["test_noise"]) for row in rows}
    models = {("tiny2d_coarse", "0.01", noise) for noise in ("0.0", "0.01")}
    assert levels == models | {(key, "0.01", "0.01") for key in ("mean_predictor", "ridge_regression")}
    assert all(float(row["value"]) > 0 for row in rows if row["statistic"] == "mean")
    page = (folder / "report.html").read_text()
    for words in ("Inverse Darcy problem, 1 % noise", "Linear ridge regression", "with the training noise"):
        assert words in page


def test_models_that_finished_are_timed_beside_the_solvers_of_the_equation(project):
    folder = project.folder / "results/test/burgers"
    rows = rows_of(folder / "inference.csv")
    assert {row["key"] for row in rows if row["kind"] == "model"} == {"galerkin", "fno"}
    assert {"ETDRK4, 12 modes, 8 steps", "closed form (Cole-Hopf)"} <= {row["key"] for row in rows}
    for row in rows:
        assert 0 < float(row["many_seconds"]) < 10
        assert 0 < float(row["error"]) < 2
        if row["kind"] == "model":
            assert float(row["data_seconds"]) > 0
            assert float(row["queries"]) > 0
            assert row["solver"] in {one["key"] for one in rows}
    assert "Cost of a query" in (folder / "report.html").read_text()


def test_errors_stand_beside_what_is_known_without_labels(project):
    rows = rows_of(project.folder / "results/test/burgers/estimates.csv")
    assert {row["model"] for row in rows} == {"galerkin", "fno"}
    assert {row["shift"]: int(row["sample"]) + 1 for row in rows} == {"none": 4, "viscosity": 4}
    for row in rows:
        assert abs(float(row["to_solver"]) - float(row["relative_l2"])) < 1e-3
    noisy = rows_of(project.folder / "results/test/darcy_inverse_noise1/estimates.csv")
    assert [(row["sample"], row["to_solver"]) for row in noisy] == [("0", ""), ("1", "")]
    pages = [
        project.folder / f"results/test/{name}/report.html" for name in ("burgers", "darcy_inverse_noise1")
    ]
    heads = ["Shifted distributions, and errors without labels", "Errors without labels"]
    assert all(head in page.read_text() for head, page in zip(heads, pages, strict=True))


def test_a_diverged_run_is_reported_and_does_not_stop_the_pipeline(project):
    cost = json.loads((project.folder / RUN.format(model="unstable") / "cost.json").read_text())
    assert cost["status"] == "diverged"
    rows = rows_of(project.folder / "results/test/burgers/comparison.csv")
    assert {row["status"] for row in rows if row["key"] == "unstable"} == {"diverged (epoch 1)"}


def test_the_best_finished_run_is_shown_in_place_of_a_diverged_one(project):
    folder = project.folder / "results/test/burgers"
    assert f"{INSTEAD}: initial velocity" in (folder / "report.html").read_text()
    rows = rows_of(folder / "comparison.csv")
    finished = [row for row in rows if row["status"] == "finished" and row["kind"] == "model"]
    medians = [row for row in finished if (row["metric"], row["statistic"]) == ("relative_l2", "median")]
    here = [row for row in medians if row["trained_resolution"] == row["test_resolution"]]
    best = min(here, key=lambda row: float(row["value"]))
    assert f"{best['label']} (n = 64, seed 1127802), {INSTEAD}" in (folder / "report.html").read_text()
    figure = (folder / "figures/samples.svg").read_text()
    assert "relative L" in figure
    assert "diverged" not in figure


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


def test_figures_that_are_gone_are_drawn_again(project):
    figures = project.folder / "results/test/burgers/figures"
    kept = figures.rename(figures.with_name("kept"))
    on_a_cluster = project.dry_run("--cores", "2", "--jobs", "2", "--quiet", "host")
    assert job_counts(on_a_cluster) == {"all": 1, "report_burgers": 1}
    assert "Group job report" in on_a_cluster  # one submission
    kept.rename(figures)


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


def test_other_settings_of_one_model_rerun_that_model_alone(project):
    change = {"models": {"galerkin": {"settings": {"num_layers": 2}}}}
    assert project.planned(config=change) == {
        "all": 1, "train": 1, "evaluate": 1, "inference": 1, "estimates": 1, "compare": 1,
        "report_burgers": 1, "run_pages_burgers": 1, "show_table": 3, "show": 1, "paper_page": 1,
        "front_page": 1,
    }  # fmt: skip


RUN_PAGES = {"run_pages_burgers": 1, "run_pages_darcy_inverse_noise1": 1}
TEMPLATE = ("resolvent/figures/templates/dataset.html.j2", "<h1", "<h1 id='dataset'")


def test_an_edited_page_makes_pages_alone(project):
    with edited(project, TEMPLATE):
        planned = project.planned()
    assert planned.items() >= {"dataset_page_burgers": 1, "compare": 2, **RUN_PAGES}.items()
    computing = (
        "solve",
        "finalise",
        "preview",
        "motion",
        "train",
        "evaluate",
        "baselines",
        "inference",
        "measure",
    )
    assert not [rule for rule in planned if rule.startswith(computing)]


def test_a_clone_with_copied_results_and_a_remark_reruns_nothing(project, tmp_path):
    """Neither comments nor times of files count."""
    clone = Project(tmp_path / "clone")
    for folder in ("results", "data", ".snakemake/metadata"):  # without their times
        shutil.copytree(project.folder / folder, clone.folder / folder, copy_function=shutil.copyfile)
    for room in ("solvers", "models", "resolvent", "workflow"):
        for file in (clone.folder / room).rglob("*.py"):
            file.touch()
    with edited(clone, ("workflow/scripts/jobs.py", "\n\n", "\n\n# A remark.\n")):
        assert clone.planned() == {}


def test_moved_data_run_nothing_again(project, tmp_path):
    """The data lie below another `data_root`, and behind a link."""
    moved = project.copied_to(tmp_path / "moved")
    elsewhere = tmp_path / "large/data"
    shutil.copytree(moved.folder / "data", elsewhere)
    shutil.rmtree(moved.folder / "data")
    planned = moved.planned(config={"data_root": str(elsewhere)})
    assert set(planned) <= {"all", "plan_study", "front_page"}
    (moved.folder / "data").symlink_to(elsewhere)
    assert moved.planned() == {}


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


def test_a_page_of_a_run_that_is_missing_is_made_again(project):
    """The page of one run is missing, and the script of a run of another experiment."""
    of_another = "results/test/darcy_inverse_noise1/tiny2d_coarse/n17/seed1127802"
    files = [project.folder / RUN.format(model="fno") / "run.html", project.folder / of_another / "run.js"]
    aside = [file.rename(file.with_suffix(".aside")) for file in files]
    assert project.planned() == {"all": 1, **RUN_PAGES}
    for file, kept in zip(files, aside, strict=True):
        kept.rename(file)


def test_jobs_are_processes_of_their_own(project, tmp_path):
    """All other builds of these tests fork; this one takes long, as each job imports its packages."""
    other = project.copied_to(tmp_path / "again")
    checkpoint = other.folder / RUN.format(model="fno") / "checkpoint.pt"
    before = checkpoint.read_bytes()
    checkpoint.unlink()
    other.build(checkpoint.relative_to(other.folder).as_posix())
    assert checkpoint.read_bytes() == before


def test_bad_configuration_stops_before_anything_runs(project):
    change = {"experiments": {"burgers": {"samples": {"test": 7}}}}
    output = project.forked_build(config=change, succeeds=False)
    assert "experiments.burgers.samples.test: 7 asked for; dataset 'burgers' has 6" in output
    assert "Traceback" not in output


def test_one_dataset_is_made_again_alone(project):
    assert project.planned("-R", "solve_burgers") == {
        "all": 1, "solve_burgers": 2, "finalise_burgers": 1, "preview_burgers": 1, "motion_burgers": 1,
        "dataset_page_burgers": 1, "front_page": 1,
    }  # fmt: skip
