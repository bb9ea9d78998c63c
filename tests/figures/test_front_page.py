"""The front page says what was run, who is best as far as the data allow, and what is missing; links hold."""

import csv
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import asdict
from runpy import run_module

import numpy as np
import pytest
from pages import broken_links, links
from plotly.offline import get_plotlyjs_version
from rich.console import Console
from run_files import save_arrays, whole_card, write_inference

from resolvent.common.digests import write_digest
from resolvent.common.errors import FileError
from resolvent.common.files import write_json
from resolvent.common.sums import write_sums
from resolvent.figures.common.assets import NAMES, write_assets
from resolvent.figures.common.exhibit import Section
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.page import render
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.front import terminal
from resolvent.figures.front.leaderboard import sharing, with_interval
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import (
    PlannedDataset,
    PlannedExperiment,
    PlannedPaper,
    PlannedRow,
    Study,
    read_study,
)
from resolvent.figures.front.terminal import print_leaderboard, show
from resolvent.public.archive import export_study
from resolvent.public.runs import load_run

SEEDS = {"burgers": (1, 2, 3), "second": (1,)}
LEVELS = {"galerkin": 1e-3, "fourier": 4e-3, "fno": 4.1e-3}


def check(median, largest):
    return {"samples": 8, "of": 1024, "median_relative_l2": median, "largest_relative_l2": largest}


CARD = whole_card({
    "dataset": "waves", "content_hash": "abc", "settings": {"equation": "mine:Waves"},
    "equation": {"in_words": "waves <on> a string"}, "samples": {"train": 1000, "test": 24},
    "inputs": ["u"], "targets": ["v"], "stated_accuracy": 1e-7,
    "groups": {"n8": {"variables": {"u": {"long_name": "start"}, "v": {"long_name": "end"}}}},
    "error_budget": {
        "against_one": check(1e-9, 3e-9), "against_other": check(1e-9, 5.4e-8),
        "discretisation_error": check(1e-3, 2.5e-3),
    },
})  # fmt: skip


def planned(title, name, seeds):
    rows = [
        PlannedRow(
            model=model, label=model.title(), recipe="code" if model == "fno" else "paper", resolution=512,
            noise=0.0, runs={str(seed): f"{name}/{model}/n512/seed{seed}" for seed in seeds},
        )
        for model in LEVELS
    ]  # fmt: skip
    return PlannedExperiment(
        title=title, dataset="waves", page=f"{name}/report.html", finest=512,
        papers=["cao2021"] if name == "burgers" else [], rows=rows,
    )  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory, writers):
    """Return a study with its plan alone, and with all of it, laid out by the pipeline: one seed diverged.

    Planned are two experiments on one dataset, and a paper of which one table is made.
    """
    folder, (write_run, write_baselines) = tmp_path_factory.mktemp("front"), writers
    plan = Study(
        name="small",
        about="What <it> is.",
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
        command="snakemake --cores 2",
        provenance={"git revision": "abc1234"},
    )
    study = folder / "whole/small"
    study.mkdir(parents=True)
    write_json(study / "study.json", asdict(plan))
    write_assets(study / "assets")
    shutil.copytree(study, folder / "planned/small")
    for name, seeds in SEEDS.items():
        for model, level in LEVELS.items():
            kind = {"architecture": "fno1d", "attention": None} if model == "fno" else {"attention": model}
            for seed in seeds:
                lost = 7 if (name, model, seed) == ("burgers", "fno", 2) else None
                made = write_run(
                    folder, model, label=model.title(), seed=seed, level=level, diverged_epoch=lost,
                    experiment=name, config_hash=f"{name}-{model}-{seed}", **kind,
                )  # fmt: skip
                shutil.move(made, study / name / model / "n512" / f"seed{seed}")
        shutil.move(write_baselines(folder, 512, 0.0), study / name / "baselines")
        change(study / name / "baselines/cost.json", experiment=name)
        compare(study, name)
    (study / "data/w.zarr").mkdir(parents=True)
    (study / "data/w.zarr/chunk").write_bytes(b"0" * 2500)
    write_json(study / "data/w.json", CARD)
    write_shell(study, "datasets/waves.html")
    values = np.sin(np.linspace(0, 6, 64))[None]
    axes = {"samples": ["first"], "dims/u": ["x"], "dims/v": ["x"], "input/u": values, "target/v": values}
    save_arrays(study / "data/w.preview.npz", **axes)
    write_shell(study, "cao2021.html", "table2a")
    write_shell(study, "burgers/galerkin/n512/seed2/run.html")
    return folder


@pytest.fixture
def study(built, tmp_path):
    """Return the folder of a study of which nothing has run."""
    return shutil.copytree(built / "planned/small", tmp_path / "small")


@pytest.fixture
def finished(built, tmp_path):
    """Return the folder of a study that has ended."""
    return shutil.copytree(built / "whole/small", tmp_path / "small")


@pytest.fixture(scope="module")
def written(built, tmp_path_factory):
    """Return a study that has ended, with its front page, what was found, and the text of the page."""
    folder = shutil.copytree(built / "whole/small", tmp_path_factory.mktemp("written") / "small")
    results = write_front_page(folder)
    return folder, results, (folder / "index.html").read_text()


def change(path, **changes):
    content = json.loads(path.read_text()) | changes
    content.pop("sha256", None)
    path.write_text(json.dumps(content))


def compare(study, name):
    """Write what the front page reads and links to of an experiment: its comparison and its page."""
    runs = sorted((study / name).glob("*/n512/seed*"))
    write_comparison(runs, [study / name / "baselines"], study / name / "comparison.csv")
    write_shell(study, f"{name}/report.html", "table")


def write_shell(study, page, *anchors):
    """Write a page with nothing in it but sections."""
    content = {"title": page, "sections": [Section(anchor, anchor) for anchor in anchors]}
    render("base.html.j2", study / page, root=study, breadcrumbs=[(str(page), "")], **content)


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


def test_it_says_what_was_run_and_every_link_leads_somewhere(written):
    finished, _, html = written
    for words in (
        "2 experiments and 2 datasets; 12 runs: 11 finished, 1 diverged, 0 missing.",
        "Training took 36.0 min in total, on cpu", "Burgers &amp; co, Fno, n = 512: seed 2 diverged.",
        "snakemake --cores 2", "abc1234",
    ):  # fmt: skip
        assert words in text_of(html), words
    assert broken_links(finished) == []
    assert {
        "burgers/report.html", "burgers/report.html#table", "second/report.html", "datasets/waves.html",
        "cao2021.html#table2a", "leaderboard.csv",
    } <= links(html)  # fmt: skip
    for page in ("burgers/report.html", "datasets/waves.html"):
        assert "index.html#leaderboard" in (finished / page).read_text()
    assert html.count('<a href="burgers/galerkin/n512/seed2/run.html">2</a>') == 1
    assert "galerkin/n512/seed1/run.html" not in html
    assert html.count(' matrix"') == 1  # the experiments share models
    rows = {(cells[0], cells[2]) for cells in rows_of(html, 'id="results"')}
    assert rows >= {
        ("Galerkin Burgers &amp; co", "best"), ("Fourier Burgers &amp; co", "worse than the best"),
        ("Fno Burgers &amp; co", "not ranked"),  # two seeds are left
        ("Galerkin A single seed", "not ranked"),
    }  # fmt: skip
    assert "<p>What &lt;it&gt; is.</p>" in html
    assert "Galerkin is the best, with 0.2" in text_of(html)
    assert "Galerkin has the lowest error" in text_of(html)  # of the single seed
    assert html.count('class="number best"') == 1
    card = text_of(html[html.index('id="dataset-waves"') : html.index('id="dataset-later"')])
    for words in (
        "waves &lt;on&gt; a string", "samples 1,024", "stated accuracy 1 × 10⁻⁷",
        "largest error of the solver 5.4 × 10⁻⁸",
        "largest error of the grid 2.5 × 10⁻³", "on disk 2.5 kB",
    ):  # fmt: skip
        assert words in card.replace("Waves", "waves"), words
    assert '<svg class="picture"' in html
    papers = text_of(html[html.index('id="papers"') : html.index('id="again"')])
    assert "Reproduced: Table 2a." in papers
    assert "Table 3" not in papers  # the paper's own page names what this study does not reproduce
    assert "Calvello" not in papers


def test_experiments_that_share_models_are_in_one_table():
    sets = {"a": {"fno"}, "b": {"tno"}, "c": {"fno", "unet"}, "d": {"tno"}, "e": {"unet"}, "f": {"afno"}}
    assert sharing(sets) == [["a", "c", "e"], ["b", "d"], ["f"]]


def test_the_errors_of_page_and_terminal_are_those_of_the_comparison(written):
    finished, results, page = written
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
    first = rows_of(page, "n-last matrix")[0]
    assert first[0] == "Galerkin"
    assert first[1].startswith(f"{mantissa(table[0]['error'])} × 10⁻")
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    print_leaderboard(results, console)
    text = console.export_text()
    assert text.index("Burgers & co") < text.index("Galerkin") < text.index("Fourier")
    assert "worse than the best" in text
    assert "12 runs: 11 finished, 1 diverged, 0 missing." in text
    assert all(f"{mantissa(row['error'])} (" in text for row in table)


def test_the_demo_alone_says_what_comes_next(finished, capsys, monkeypatch):
    show(finished)
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == f"The front page: {(finished / 'index.html').resolve().as_uri()}"
    change(finished / "study.json", name="demo")
    monkeypatch.setattr(terminal, "which", lambda _: "/usr/bin/resolvent")
    show(finished, write=False)
    next_steps = capsys.readouterr().out.partition(said.splitlines()[-1] + "\n")[2]
    assert next_steps.startswith("Next:")
    commands = [line.split("  ")[1] for line in next_steps.splitlines() if line.startswith("  ")]
    assert all(line.startswith("resolvent ") for line in commands)
    assert "bin/activate" not in next_steps
    monkeypatch.setattr(terminal, "which", lambda _: None)
    show(finished, write=False)
    assert "bin/activate" in capsys.readouterr().out


def test_a_row_says_after_how_many_functions_it_has_paid_and_on_what(finished):
    cost = json.loads((finished / "burgers/galerkin/n512/seed1/cost.json").read_text())
    timed = {
        "kind": "model", "key": "galerkin", "resolution": 512, "solver": "coarse", "queries": 150_000.0,
        "train_seconds": cost["train_seconds"], "timed_on": "training on a; model on b; solver on b",
    }  # fmt: skip
    rows = [timed, timed | {"key": "fourier", "queries": math.inf, "timed_on": "b"}]
    rows.append(timed | {"key": "fno", "train_seconds": -1.0})  # of a run that is no longer there
    write_inference(finished / "burgers", *rows)
    write_front_page(finished)
    table = list(csv.DictReader((finished / "leaderboard.csv").open()))
    names = ("break_even_queries", "break_even_solver", "timed_on")
    assert [[row[name] for name in names] for row in table[:3]] == [
        ["150000", "coarse", "training on a; model on b; solver on b"], ["never", "coarse", "b"], [""] * 3,
    ]  # fmt: skip
    page = (finished / "index.html").read_text()
    cells = {row[0].split()[0]: row[-1] for row in rows_of(page, 'id="results"')[:3]}
    assert cells == {"Galerkin": "150,000", "Fourier": "never", "Fno": "—"}
    assert 'title="compared with coarse; training on a; model on b; solver on b"' in page


def test_names_are_shown_as_they_are_and_no_model_is_lost(finished, capsys):
    content = json.loads((finished / "study.json").read_text())
    rows = content["experiments"]["burgers"]["rows"]
    content["experiments"]["burgers"]["title"] = "Burgers [red]"
    for row, label in zip(rows, ("FNO [ours]", "[/b]", "[/b]"), strict=True):
        row["label"] = label
    write_json(finished / "study.json", content)
    target = {"variables": {"u": {"long_name": "start"}, "v": {"long_name": 'end"><b>'}}}
    write_json(finished / "data/w.json", whole_card(CARD | {"groups": {"n8": target}}))
    show(finished)
    said = capsys.readouterr().out
    assert "Burgers [red]" in said
    assert "FNO [ours]" in said
    assert said.count("[/b] ") == 2
    page = (finished / "index.html").read_text()
    assert [row[0] for row in rows_of(page, "matrix")].count("[/b]") == 2
    assert 'aria-label="One sample: end&quot;&gt;&lt;b&gt;"' in page


def test_a_single_seed_has_one_short_line(finished):
    content = json.loads((finished / "study.json").read_text())
    del content["experiments"]["burgers"]
    write_json(finished / "study.json", content)
    comparison = finished / "second/comparison.csv"
    lines = comparison.read_text().splitlines(keepends=True)
    comparison.write_text("".join(line for line in lines if "coarse_solve" not in line))
    write_digest(comparison)
    shutil.rmtree(finished / "data/w.zarr")
    (finished / "data/w.zarr").write_text("s3://bucket/w.zarr")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    assert "<dd>in an object store</dd>" in page
    assert ">not run</td>" in page
    assert "“not run”: no classical solver was run on this grid" in text_of(page)
    assert page.count("No ranking: it needs two models with at least three seeds each.") == 1
    assert "Bold" not in page


def test_what_is_missing_or_has_not_begun_is_said_and_the_rest_is_shown(finished):
    for file in ("comparison.csv", "report.html", "fno/n512/seed1/run.json"):
        (finished / "second" / file).unlink()
    shutil.rmtree(finished / "second/galerkin")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    words = text_of(page)
    assert "12 runs: 9 finished, 1 diverged, 2 missing." in words
    assert "A single seed, Galerkin, n = 512: seed 1 missing." in words
    assert "nothing compared yet" in words
    assert ">not compared yet</td>" in page
    assert "not run" not in words
    assert "A single seed no page yet" in words
    assert 'href="second/report.html"' not in page
    errors = {cells[0]: cells[1] for cells in rows_of(page, 'id="results"')}
    assert errors["Galerkin A single seed"] == "1 missing"
    assert errors["Fourier A single seed"] == "not compared yet"
    assert broken_links(finished) == []

    shutil.rmtree(finished / "burgers")
    write_front_page(finished)
    page = (finished / "index.html").read_text()
    assert "Not started yet: Burgers &amp; co." in text_of(page)
    leaderboard = page[page.index('id="leaderboard"') : page.index('id="all"')]
    assert "Burgers &amp; co, n = 512" not in leaderboard
    names = [cells[0].partition(" ")[2] for cells in rows_of(page, 'id="results"')]
    assert names == ["A single seed"] * 3 + ["Burgers &amp; co"] * 3


def test_before_anything_has_run_there_is_a_page_already(study):
    results = write_front_page(study)
    page = text_of((study / "index.html").read_text())
    assert "12 runs: 0 finished, 0 diverged, 12 missing." in page
    assert "Not generated yet." in page
    assert "Training took" not in page
    assert "No ranking" not in page  # there is nothing to rank
    assert "Planned: Table 2a." in page
    assert broken_links(study) == []
    assert len(results.rows) == 6


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ((2.02e-2, 1.561e-2, 2.91e-2), "2.02 (1.56 to 2.91) × 10⁻²"),
        ((9.7e-3, 9.1e-3, 1.02e-2), "9.70 (9.10 to 10.20) × 10⁻³"),
        ((0.5, 0.4, 0.61), "0.500 (0.400 to 0.610)"),
        # With the exponent of the middle nothing would be left of the lower end.
        ((0.5, 4e-3, 0.61), "0.500 (4.00 × 10⁻³ to 0.610)"),
        ((9.999e-4, 9.9e-4, 1.1e-3), "1.00 (0.99 to 1.10) × 10⁻³"),
        ((1e-3, math.nan, math.nan), "1.00 × 10⁻³"),
    ],
)
def test_an_interval_has_the_exponent_of_its_middle(error, shown):
    assert with_interval(Interval(*error)) == shown


def test_the_command_prints_the_address_or_one_line(finished, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["front", str(finished)])
    run_module("resolvent.figures.front", run_name="__main__")
    assert capsys.readouterr().out.splitlines()[-1] == f"The front page: {(finished / 'index.html').as_uri()}"
    monkeypatch.setattr(sys, "argv", ["front", f"{tmp_path}/none"])
    lost = f"{tmp_path}/none/study.json"
    with pytest.raises(SystemExit, match=rf"^{lost} is missing: make it with `snakemake {lost}`$"):
        run_module("resolvent.figures.front", run_name="__main__")


def copied(study, source, target):
    shutil.rmtree(study / target)
    shutil.copytree(study / source, study / target)


@pytest.mark.parametrize("source", ["burgers/fourier/n512/seed1", "second/galerkin/n512/seed1"])
def test_a_run_copied_over_another_is_named_by_all_who_read_it(finished, source):
    place = finished / "burgers/galerkin/n512/seed1"
    copied(finished, source, place)
    words = rf"run\.json is of the run {source}, not of .*burgers/galerkin/n512/seed1.*: .*snakemake"
    for read in (
        lambda: write_front_page(finished), lambda: compare(finished, "burgers"), lambda: load_run(place)
    ):  # fmt: skip
        with pytest.raises(FileError, match=words) as error:
            read()
        assert "\n" not in str(error.value)
    copied(finished, "burgers/fourier/n512/seed1", place)
    (place / "model.safetensors").touch()
    assert load_run(place).record.model == "fourier"  # an exported run may lie anywhere


def test_baselines_and_comparisons_of_other_experiments_are_named(finished):
    """The models of the other comparison have the same names, and the digests beside it are right."""
    for name in ("comparison.csv", "models.csv"):
        for one in (name, f"{name}.sha256"):
            shutil.copy(finished / "second" / one, finished / "burgers" / one)
    results = write_front_page(finished)
    assert [row.state for row in results.of("burgers")][:2] == ["compared with other runs"] * 2
    assert [row.error for row in results.of("burgers")] == [None] * 3
    assert all(row.error for row in results.of("second"))
    assert "compared with other runs" in (finished / "index.html").read_text()
    copied(finished, "second/baselines", "burgers/baselines")
    with pytest.raises(FileError, match=r"baselines/cost\.json is of the experiment second, not of burgers"):
        compare(finished, "burgers")


def test_the_assets_are_there_and_a_plan_of_another_version_is_refused(study):
    assert {path.name for path in (study / "assets").iterdir()} == set(NAMES)
    first = (study / "assets/plotly.min.js").read_text()[:200]
    # The charts are made for the version that the Python package would bring.
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in first
    assert "MIT License" in (study / "assets/plotly.LICENSE.txt").read_text()
    assert "public domain" in (study / "assets/sortable.LICENSE.txt").read_text()
    content = json.loads((study / "study.json").read_text())
    content["experiments"]["burgers"]["colour"] = "blue"
    write_json(study / "study.json", content)
    with pytest.raises(
        FileError, match=r"study\.json: 'experiments\.burgers\.colour': Unexpected keyword argument"
    ):
        read_study(study)


def test_a_packed_study_has_every_page_and_no_weights(finished, tmp_path):
    write_front_page(finished)
    state = finished / "burgers/fno/n512/seed1/resume.pt"
    state.write_bytes(b"weights")
    write_sums(finished)
    count = export_study(finished, tmp_path / "small.zip")
    with zipfile.ZipFile(tmp_path / "small.zip") as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked"
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert len(files) == count
    assert (unpacked / "index.html").read_bytes() == (finished / "index.html").read_bytes()
    assert broken_links(unpacked) == broken_links(finished) == []
    assert not any(name.endswith(".pt") for name in files)
    summed = {line[66:] for line in (unpacked / "SHA256SUMS").read_text().splitlines()}
    assert files - summed == {"SHA256SUMS", "datasets/waves.card.json"}
    check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=unpacked, check=False).returncode == 0
    (unpacked / "leaderboard.csv").write_text("altered")
    assert subprocess.run(check, cwd=unpacked, check=False).returncode == 1


def test_only_files_that_were_written_since_get_a_new_digest(tmp_path):
    """A damaged file keeps the digest that it had, as a page with an older date does."""
    for name in ("page.html", "table.csv", "run/checkpoint.pt", "run/tensorboard/events", ".x.partial"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (1e9, 1e9))
    write_sums(tmp_path)
    before = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert [line[66:] for line in before] == ["page.html", "table.csv"]
    (tmp_path / "page.html").write_text("damaged")
    os.utime(tmp_path / "page.html", (1e9, 1e9))
    (tmp_path / "table.csv").write_text("new")
    write_sums(tmp_path)
    after = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert after == [before[0], f"{hashlib.sha256(b'new').hexdigest()}  table.csv"]


def test_what_cannot_be_packed_is_refused(finished, tmp_path):
    with pytest.raises(FileError, match=r"has no index\.html: give the folder of a study"):
        export_study(finished, tmp_path / "small.zip")
    with pytest.raises(FileError, match=r"would be packed again: choose another place"):
        export_study(finished, finished / "small.zip")
    (tmp_path / "small.zip").touch()
    with pytest.raises(FileError, match="exists"):
        export_study(finished, tmp_path / "small.zip")
