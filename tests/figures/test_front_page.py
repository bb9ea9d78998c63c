"""The front page says what was run, who is best as far as the data allow, and what is missing; links hold."""

import csv
import json
import re
import shutil
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest
from pages import broken_links, links
from plotly.offline import get_plotlyjs_version
from rich.console import Console
from run_files import save_arrays

from resolvent.common.digests import write_digest
from resolvent.common.errors import FileError
from resolvent.common.files import write_json
from resolvent.figures.common.assets import NAMES, write_assets
from resolvent.figures.common.page import render
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.front.leaderboard import Scale, sharing, strip
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import (
    PlannedDataset,
    PlannedExperiment,
    PlannedPaper,
    PlannedRow,
    Study,
    read_study,
)
from resolvent.figures.front.terminal import print_leaderboard

SEEDS = {"burgers": (1, 2, 3), "second": (1,)}
LEVELS = {"galerkin": 1e-3, "fourier": 4e-3, "fno": 4.1e-3}
CARD = {
    "dataset": "waves",
    "equation": {"in_words": "waves <on> a string"},
    "samples": {"train": 1000, "test": 24},
    "inputs": ["u"],
    "targets": ["v"],
    "groups": {"n8": {"variables": {"u": {"long_name": "start"}, "v": {"long_name": "end"}}}},
    "stated_accuracy": 1e-7,
    "error_budget": {
        "against_one": {"median_relative_l2": 1e-9, "largest_relative_l2": 3e-9},
        "against_other": {"median_relative_l2": 1e-9, "largest_relative_l2": 5.4e-8},
        "discretisation_error": {"median_relative_l2": 1e-3, "largest_relative_l2": 2.5e-3},
    },
}


def planned(title, name, seeds):
    rows = [
        PlannedRow(
            model=model, label=model.title(), recipe="code" if model == "fno" else "paper", resolution=512,
            noise=0.0, runs={str(seed): f"runs/{name}/{model}-n512-seed{seed}" for seed in seeds},
        )
        for model in LEVELS
    ]  # fmt: skip
    return PlannedExperiment(
        title=title, dataset="waves", page=f"{name}/report.html", finest=512,
        papers=["cao2021"] if name == "burgers" else [], rows=rows,
    )  # fmt: skip


@pytest.fixture
def study(tmp_path):
    """Return the plan: two experiments on one dataset, a paper of which one table is made, and the theory."""
    made = Study(
        name="small",
        experiments={
            "burgers": planned("Burgers & co", "burgers", SEEDS["burgers"]),
            "second": planned("A single seed", "second", SEEDS["second"]),
        },
        datasets={
            "waves": PlannedDataset(
                "datasets/waves.html", "data/w.json", "data/w.preview.npz", "data/w.zarr"
            ),
            "later": PlannedDataset(
                "datasets/later.html", "data/l.json", "data/l.preview.npz", "data/l.zarr"
            ),
        },
        papers={
            "cao2021": PlannedPaper(
                "Cao 2021", "cao2021.html", {"table2a": "Table 2a", "table3": "Table 3"}, ["table2a"]
            ),
            "calvello2024": PlannedPaper("Calvello et al. 2024", "", {"table1": "Table 1"}, []),
        },
        pages={"theory": "theory.html"},
        command="snakemake --cores 2",
        provenance={"git revision": "abc1234"},
    )
    folder = tmp_path / "small"
    folder.mkdir()
    write_json(folder / "study.json", asdict(made))
    write_assets(folder / "assets")
    return folder


@pytest.fixture
def finished(study, make_run, make_baselines, tmp_path):
    """Return the study with all of it: of one model a seed diverged."""
    baselines = make_baselines()
    for name, seeds in SEEDS.items():
        for model, level in LEVELS.items():
            for seed in seeds:
                lost = 7 if (name, model, seed) == ("burgers", "fno", 2) else None
                kind = (
                    {"architecture": "fno1d", "attention": None} if model == "fno" else {"attention": model}
                )
                made = make_run(
                    model, label=model.title(), seed=seed, level=level, diverged_epoch=lost, **kind
                )
                to = study / "runs" / name / made.name
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(made, to)
        compare(study, name, baselines)
    (study / "data/w.zarr").mkdir(parents=True)
    (study / "data/w.zarr/chunk").write_bytes(b"0" * 2500)
    write_json(study / "data/w.json", CARD)
    values = np.sin(np.arange(8.0))[None]
    axes = {"samples": ["first"], "dims/u": ["x"], "dims/v": ["x"], "input/u": values, "target/v": values}
    save_arrays(study / "data/w.preview.npz", **axes)
    write_shell(study, "datasets/waves.html")
    write_shell(study, "theory.html", "projection", "cost", "convergence", "continuum", "invariance")
    write_shell(study, "cao2021.html", "table2a")
    return study


def compare(study, name, baselines):
    """Write what the front page reads and links to of an experiment: its comparison and its page."""
    runs = sorted((study / "runs" / name).iterdir())
    write_comparison(runs, [baselines], study / name / "comparison.csv")
    write_shell(study, f"{name}/report.html", "table")


def write_shell(study, page, *anchors):
    """Write a page with nothing in it but anchors."""
    render("base.html.j2", study / page, root=study, breadcrumbs=[(str(page), "")])
    with (study / page).open("a") as file:
        file.writelines(f'<p id="{anchor}"></p>' for anchor in anchors)


def text_of(page):
    return re.sub(r"\s+([.;,])", r"\1", re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))


def mantissa(value):
    return f"{float(value):.2e}".partition("e")[0]


def rows_of(page, table):
    """Return the cells of a table's rows as text."""
    body = page[page.index(table) :].partition("</table>")[0].partition("<tbody>")[2]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [
        [text_of(cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows
    ]


def test_it_says_what_was_run(finished):
    write_front_page(finished)
    page = text_of((finished / "index.html").read_text())
    assert "2 experiments and 2 datasets; 12 runs: 11 finished, 1 diverged, 0 missing." in page
    assert "Training took 36.0 min in all, on cpu" in page
    assert "Burgers &amp; co, Fno, n = 512: seed 2 diverged." in page
    assert "snakemake --cores 2" in page
    assert "abc1234" in page


def test_every_link_of_every_page_leads_somewhere(finished):
    write_front_page(finished)
    assert broken_links(finished) == []
    found = links((finished / "index.html").read_text())
    assert {
        "burgers/report.html", "burgers/report.html#table", "second/report.html", "datasets/waves.html",
        "cao2021.html#table2a", "theory.html#invariance", "leaderboard.csv",
    } <= found  # fmt: skip
    assert all(
        "index.html#leaderboard" in (finished / page).read_text()
        for page in ("burgers/report.html", "theory.html", "datasets/waves.html")
    )


def test_a_page_of_a_run_is_linked_where_there_is_one(finished):
    run = finished / "runs/burgers/galerkin-n512-seed2"
    write_shell(finished, run.relative_to(finished) / "run.html")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    assert page.count('<a href="runs/burgers/galerkin-n512-seed2/run.html">2</a>') == 1
    assert "galerkin-n512-seed1/run.html" not in page
    assert broken_links(finished) == []


def test_experiments_that_share_models_are_in_one_table(finished):
    sets = {"a": {"fno"}, "b": {"tno"}, "c": {"fno", "unet"}, "d": {"tno"}, "e": {"unet"}, "f": {"afno"}}
    assert sharing(sets) == [["a", "c", "e"], ["b", "d"], ["f"]]
    write_front_page(finished)
    assert (finished / "index.html").read_text().count(' matrix"') == 1


def test_three_seeds_are_ranked_and_one_is_not(finished):
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    rows = {(cells[0], cells[3]) for cells in rows_of(page, 'id="results"')}
    assert ("Galerkin Burgers &amp; co", "best") in rows
    assert ("Fourier Burgers &amp; co", "worse than the best") in rows
    assert ("Fno Burgers &amp; co", "not ranked") in rows  # two seeds are left
    assert ("Galerkin A single seed", "not ranked") in rows
    assert "Galerkin is the best: 0.2" in text_of(page)
    assert "Galerkin has the lowest error" in text_of(page)  # of the single seed
    assert page.count('class="number best"') == 1


def test_the_errors_are_those_of_the_comparison(finished):
    write_front_page(finished)
    table = list(csv.DictReader((finished / "leaderboard.csv").open()))
    means = [
        row for row in csv.DictReader((finished / "burgers/comparison.csv").open())
        if (row["metric"], row["statistic"]) == ("relative_l2", "mean")
    ]  # fmt: skip
    for row in table[:3]:
        (mean,) = (one for one in means if one["key"] == row["model"])
        assert (row["error"], row["low"], row["high"]) == (mean["value"], mean["low"], mean["high"])
    (classical,) = (one["value"] for one in means if one["key"] == "coarse_solve")
    assert {row["classical_solver"] for row in table} == {classical}
    assert [row["diverged"] for row in table] == ["0", "0", "1", "0", "0", "0"]
    page = (finished / "index.html").read_text()
    first = rows_of(page, "n-last matrix")[0]
    assert first[0] == "Galerkin"
    assert first[1].startswith(f"{mantissa(table[0]['error'])} × 10⁻")


def test_a_single_seed_has_one_short_line(finished):
    content = json.loads((finished / "study.json").read_text())
    del content["experiments"]["burgers"]
    write_json(finished / "study.json", content)
    comparison = finished / "second/comparison.csv"
    lines = comparison.read_text().splitlines(keepends=True)
    comparison.write_text("".join(line for line in lines if "coarse_solve" not in line))
    write_digest(comparison)
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    assert ">no solver known</td>" in page
    assert "“no solver known”: the equation has none here" in text_of(page)
    assert page.count("Nothing is ranked: that takes three seeds or more of each model.") == 1
    assert "Bold" not in page


def test_what_is_missing_is_said_and_the_rest_is_shown(finished):
    shutil.rmtree(finished / "second")
    (finished / "runs/second/fno-n512-seed1/run.json").unlink()
    shutil.rmtree(finished / "runs/second/galerkin-n512-seed1")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    words = text_of(page)
    assert "12 runs: 9 finished, 1 diverged, 2 missing." in words
    assert "A single seed, Galerkin, n = 512: seed 1 missing." in words
    assert "nothing compared yet" in words
    assert ">not compared yet</td>" in page
    assert "no solver known" not in words
    assert "A single seed no page yet" in words
    assert 'href="second/report.html"' not in page
    errors = {cells[0]: cells[1] for cells in rows_of(page, 'id="results"')}
    assert errors["Galerkin A single seed"] == "1 missing"
    assert errors["Fourier A single seed"] == "not compared yet"
    assert broken_links(finished) == []


def test_an_experiment_that_has_not_begun_is_named_and_its_rows_come_last(finished):
    shutil.rmtree(finished / "runs/burgers")
    shutil.rmtree(finished / "burgers")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    assert "Not begun yet: Burgers &amp; co." in text_of(page)
    leaderboard = page[page.index('id="leaderboard"') : page.index('id="all"')]
    assert "missing" not in leaderboard
    errors = [cells[1] for cells in rows_of(page, 'id="results"')]
    missing = ["missing" in error for error in errors]
    assert missing == sorted(missing)
    assert 0 < sum(missing) < len(missing)


def test_before_anything_has_run_there_is_a_page_already(study):
    results = write_front_page(study)
    page = text_of((study / "index.html").read_text())
    assert "12 runs: 0 finished, 0 diverged, 12 missing." in page
    assert "Not made yet." in page
    assert "Training took" not in page
    assert "Nothing is ranked" not in page  # there is nothing to rank
    assert "No model is compared yet. To be made, 1 of 2: Table 2a." in page
    assert broken_links(study) == []
    assert len(results.rows) == 6


def test_the_cards_have_what_a_reader_asks(finished):
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    card = text_of(page[page.index('id="dataset-waves"') : page.index('id="dataset-later"')])
    for words in (
        "waves &lt;on&gt; a string", "samples 1,024", "stated accuracy 1 × 10⁻⁷",
        "largest error of the solver 5.4 × 10⁻⁸",
        "largest error of the grid 2.5 × 10⁻³", "on disk 2.5 kB",
    ):  # fmt: skip
        assert words in card.replace("Waves", "waves"), words
    assert '<svg class="picture"' in page
    papers = text_of(page[page.index('id="papers"') : page.index('id="theory"')])
    assert "Made, 1 of 2: Table 2a." in papers
    assert "Not made by this configuration, 1 Table 3." in papers
    assert "Calvello" not in papers
    # Two models are in the very setting that made the numbers of Table 2a; the third has diverged seeds, too.
    assert re.search(
        r"(1 of 3 models has|[23] of 3 models have) a reported number in the very same setting", papers
    )


def test_the_filters_have_what_the_rows_have(finished):
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    form = page[page.index('<form class="filters"') : page.index("</form>")]
    choices = {
        name: re.findall(r'<option value="([^"]+)"', options)
        for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form, re.DOTALL)
    }
    assert choices == {
        "problem": ["burgers", "second"], "recipe": ["paper", "code"], "seed": ["1", "2", "3"]
    }  # fmt: skip
    for name, values in choices.items():
        given = {
            value for one in re.findall(rf'<tr [^>]*data-{name}="([^"]*)"', page) for value in one.split("|")
        }
        assert given == set(values), name


def test_the_strip_is_logarithmic_and_shows_what_is_off_the_scale(finished):
    row = read_results(read_study(finished), finished).rows[0]
    scale = Scale(-4, 0)
    assert scale.at(1e-4) == 0
    assert scale.at(1e-2) == pytest.approx(50)
    drawn = strip(row, scale)
    (at,) = re.findall(r'<circle cx="([\d.]+)"', drawn)
    assert float(at) == pytest.approx(scale.at(row.error.value), abs=0.1)
    assert 'class="classical" d="M4 3L1 6l3 3"' in drawn  # 4e-7 is below 1e-4: an arrow
    assert 'class="classical" d="M4 3' not in strip(row, Scale(-8, 0))


def test_the_terminal_has_the_same_leaderboard(finished):
    results = write_front_page(finished)
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    print_leaderboard(results, console)
    text = console.export_text()
    assert text.index("Burgers & co") < text.index("Galerkin") < text.index("Fourier")
    assert "worse than the best" in text
    assert "12 runs: 11 finished, 1 diverged, 0 missing." in text
    for row in csv.DictReader((finished / "leaderboard.csv").open()):
        assert f"{mantissa(row['error'])} (" in text


def test_the_command_prints_the_address_or_one_line(finished, tmp_path):
    command = [sys.executable, "-m", "resolvent.figures.front"]
    done = subprocess.run([*command, str(finished)], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"The front page: {(finished / 'index.html').as_uri()}"
    lost = subprocess.run([*command, str(tmp_path / "none")], capture_output=True, text=True)
    assert (lost.returncode, lost.stdout) == (1, "")
    assert (
        lost.stderr
        == f"{tmp_path}/none/study.json is missing: make it with `snakemake {tmp_path}/none/study.json`\n"
    )


def test_a_plan_of_another_version_is_refused(study):
    content = json.loads((study / "study.json").read_text())
    content["experiments"]["burgers"]["colour"] = "blue"
    write_json(study / "study.json", content)
    with pytest.raises(FileError, match=r"study\.json is not of this version.*colour"):
        read_study(study)


def test_the_assets_are_there_with_their_licences(study):
    assert {path.name for path in (study / "assets").iterdir()} == set(NAMES)
    first = (study / "assets/plotly.min.js").read_text()[:200]
    # The charts are made for the version that the Python package would bring.
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in first
    assert "MIT License" in (study / "assets/plotly.LICENSE.txt").read_text()
    assert "public domain" in (study / "assets/sortable.LICENSE.txt").read_text()
