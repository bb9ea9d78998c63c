"""The page of an experiment answers in order, loads nothing from elsewhere, and links to everything."""

import json
import re

import numpy as np
import pytest
from exhibits import given, without_rendering
from pages import links, missing
from run_files import burgers_card, save_arrays, write_estimates, write_inference

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.style import new_figure
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.report import READERS, write_report
from resolvent.figures.experiment.verdict import about_labels, verdicts
from resolvent.figures.run.page import write_run_pages
from resolvent.planning.places import HOME

COLE_HOPF = {"largest_relative_l2": 2.2e-9, "median_relative_l2": 3e-10, "samples": 64, "of": 64}
CARD = burgers_card(
    equation={"in_symbols": "∂ₜu + u ∂ₓu = ν ∂ₓₓu"},
    stated_accuracy=1e-7,
    error_budget={"against_cole_hopf": COLE_HOPF, "solved_on": "n8192"},
    sources=[{"name": "<script>alert(1)</script>"}],
)


@pytest.fixture
def make_report(make_run, make_baselines, tmp_path, monkeypatch):
    """Write the page of three runs, with the film of one of them, and return it."""
    without_rendering(monkeypatch)

    def make(filmed, setting=None, tested=None, **options):
        of_run = {"model": "fno", "label": "FNO", "resolution": 512, "seed": 1, "shift": "none"}
        of_run["factor"] = 1.0
        errors = [0.004, 0.001, 0.002]
        known = [
            of_run | {"sample": at, "relative_l2": error, "to_solver": error / 2}
            for at, error in enumerate(errors)
        ]
        runs = [
            make_run(label="Galerkin <new>", setting=setting, tested=tested),
            make_run(label="Galerkin <new>", setting=setting, seed=2, diverged_epoch=7),
            make_run("fno", label="FNO", architecture="fno1d", attention=None, setting=setting, level=3e-3),
        ]
        fields = {"initial": np.eye(8), "target": np.ones((2, 8, 8)), "prediction": np.ones((2, 8, 8))}
        rollout = runs[filmed] / "rollout.npz"
        save_arrays(rollout, times=np.arange(2.0), error=np.ones((1, 2)), sample=0, **fields)
        baselines, card = make_baselines(), tmp_path / "card.json"
        write_comparison(runs, [baselines], tmp_path / "comparison.csv")
        card.write_text(json.dumps(CARD))
        shared = {"title": "Burgers", "card": card, "root": tmp_path}
        shared |= {"provenance": {"git revision": "abc1234", "machine": "two cores"}}
        write_run_pages(
            runs, experiment=tmp_path, quantities=("before", "after"),
            command="snakemake --cores 2 --configfile config/demo.yaml", **shared,
        )  # fmt: skip
        write_report(
            tmp_path / "report.html", command="snakemake --cores 2 report",
            sources=given(
                runs, tmp_path / "comparison.csv", [baselines], write_inference(tmp_path),
                estimates=write_estimates(tmp_path, *known), rollout_file=rollout,
            ),
            **shared | options,
        )  # fmt: skip
        return (tmp_path / "report.html").read_text()

    return make


def charts_of(page):
    """Return the charts that lie in a page, by the name of their figure."""
    found = {}
    for figure in re.findall(r"<figure.*?</figure>", page, re.DOTALL):
        script = re.search(r'<script type="application/json">(.*?)</script>', figure, re.DOTALL)
        if script:
            found[re.search(r'id="(\w+)"', figure)[1]] = json.loads(script[1])
    return found


def test_the_page_answers_in_order_with_the_numbers_of_the_comparison(make_report, tmp_path):
    page = make_report(filmed=1)
    made_elsewhere = ["./assets/samples.js", "datasets/burgers_cao.html"]
    checkpoints = [one for one in links(page) if one.endswith("/checkpoint.pt")]
    assert missing(links(page), tmp_path) == sorted([*made_elsewhere, *checkpoints])
    assert len(checkpoints) == 3
    for folder in ("galerkin-n512-seed1", "galerkin-n512-seed2", "fno-n512-seed1"):
        assert f'href="runs/{folder}/run.html"' in page
    assert 'href="./index.html#experiments"' in page
    assert "data:image" not in page  # figures lie beside the page
    assert [path.name for path in tmp_path.glob("report.html*")] == ["report.html"]
    assert re.findall(r'<section id="(\w+)">', page) == [
        "table", "predictions", "trust", "where", "estimates", "cost", "runs", "again", "cite"
    ]  # fmt: skip
    # Predictions are within the first two screens: no chart stands above them.
    assert page.index('id="predictions"') < page.index('<figure class="chart"')
    for expected in (
        "Galerkin &lt;new&gt;, n = 512, seed 2", "Mean predictor", "Identity", "Coarse classical solve",
        "Interpolation oracle", "diverged (epoch 7)", "2.2 × 10⁻⁹", "Against Cole-Hopf",
        "The closed form by the Cole-Hopf transformation", "n8192", "abc1234",
        f"snakemake --cores 2 {tmp_path}/report.html", "cao2021choose",
        "li2021fourier", "vaswani2017attention", "Over all 40 test samples. By point.",
    ):  # fmt: skip
        assert expected in page, expected
    assert page.index("Against Cole-Hopf") < page.index("The dataset card")
    assert "<script>alert" not in page
    assert "<video" not in page  # the run of the film has diverged
    charts = charts_of(page)
    assert "resolution_curves" not in charts  # of one grid
    samples = [trace["x"] for trace in charts["error_distributions"]["data"] if trace["type"] == "box"]
    assert [len(one) for one in samples] == [40, 40, 40]
    assert charts["error_distributions"]["dark"]["#7d8590"] == "#a3adb8"
    arrows = [
        trace["text"][0] for trace in charts["error_distributions"]["data"] if trace["type"] == "scatter"
    ]
    assert sorted(one[:1] + one[-1:] for one in arrows) == ["m→", "m→", "←⁷"]


def test_the_page_has_imported_labels_settings_a_film_and_figures_of_ones_own(
    make_report, tmp_path, monkeypatch
):
    """Models that are tested on another dataset have errors against the labels of that dataset."""
    rules = (HOME / "workflow/rules/report.smk").read_text()
    assert set(re.findall(r"card_of\(plan\.(\w+)", rules)) == {"test_dataset_of"}

    def draw(runs, comparison):
        figure, ((panel,),) = new_figure(1, 1, size=(3, 2))
        panel.set_title(f"{len(runs)} runs, {len(comparison)} rows")
        return figure

    def count(runs):
        return Table(columns(("", ["model"])), [[Cell(run.label)] for run in runs])

    own = {
        "mine": Exhibit("My title", "Of {test} samples.", draw),
        "models": Exhibit("My table", "Of all runs.", count, kind="table"),
    }
    labels = {"largest_relative_l2": 4e-2, "median_relative_l2": 3e-3, "samples": 64, "of": 64}
    imported = {"summary": "imported", "warnings": [], "files": []}
    budget = {"labels_against_our_solver": labels}
    for key, value in {"dataset": "burgers_public", "imported": imported, "error_budget": budget}.items():
        monkeypatch.setitem(CARD, key, value)
    setting = {"epochs": 40, "train_samples": 256}
    page = " ".join(make_report(filmed=0, tested=(512, 2048), setting=setting, own=own).split())
    assert '<a href="datasets/burgers_public.html">the page of burgers_public</a>' in page
    assert "differ from our solutions by a median relative L² error of 3.00 × 10⁻³" in page
    assert "not measured" not in page
    assert "resolution_curves" in charts_of(page)
    for words in ("epochs 40 (code 100)", "train samples 256 (code 1024)"):
        assert f"{words} [section C.1 and " in page, words
    assert "1.203" not in page
    assert '<source src="figures/rollout.mp4" type="video/mp4">' in page
    film = page.index("each prediction is the next input")
    assert page.index('id="predictions"') < film < page.index('id="trust"')
    assert 'id="own_mine"> <h3>My title</h3> <p class="explanation">Of 40 samples.</p>' in page
    assert '<h3>My table</h3> <p class="explanation">Of all runs.</p> <div class="wide"> <table' in page
    assert "3 runs, " in (tmp_path / "figures/own_mine.svg").read_text()
    with pytest.raises(ResultError, match=r"no source 'everything'; accepted parameters: .*comparison"):
        Sources(READERS).call(lambda everything: None)


def of_three_seeds(make_run, name, errors):
    spread = 1 + 1e-3 * np.arange(3)
    return [make_run(name, seed=seed, errors=errors * spread[seed]) for seed in range(3)]


def test_a_verdict_says_whether_the_difference_is_real(make_run, make_baselines, tmp_path):
    errors = np.linspace(1e-3, 2e-3, 30)
    clear = [*of_three_seeds(make_run, "good", errors), *of_three_seeds(make_run, "bad", 2 * errors)]
    equal = [clear[0], clear[1], clear[2], *of_three_seeds(make_run, "other", errors[::-1] + 1e-6)]
    (words,) = verdicts(write_comparison(clear, [make_baselines()], tmp_path / "clear.csv"))
    assert "The difference is real: “good” has 0.50 times the mean error of the best other model" in words
    assert "The best baseline, “Coarse classical solve”, has 3." in words
    (words,) = verdicts(write_comparison(equal, [], tmp_path / "equal.csv"))
    assert words.endswith("The data do not show which of these is best: “good”, “other”.")
    fewer = verdicts(write_comparison(equal[:5], [], tmp_path / "fewer.csv"))[0]  # seeds of “other”
    assert fewer.endswith("The data do not show that “good” is better than every other model.")
    (words,) = verdicts(write_comparison([clear[0], clear[3]], [], tmp_path / "single.csv"))
    assert "“bad” is next with 2.00 times that error. Models are ranked only with 3 seeds or more." in words
    lost = [make_run("lost", diverged_epoch=2)]
    (words,) = verdicts(write_comparison(lost, [], tmp_path / "lost.csv"))
    assert words == "On n = 512 every run diverged, so there are no errors to compare."


def test_labels_matter_where_errors_come_near_them(make_run, tmp_path):
    table = write_comparison([make_run(errors=[2e-6] * 3)], [], tmp_path / "comparison.csv")
    card = {"stated_accuracy": 1e-7, "error_budget": {"against_the_closed_form": {}}}
    assert about_labels(table, card) == {
        "accuracy": 1e-7, "smallest": pytest.approx(2e-6), "times": pytest.approx(20), "matter": False
    }  # fmt: skip
    assert about_labels(table, card | {"stated_accuracy": 1e-6})["matter"]
    imported = card | {"error_budget": {"stored_against_the_file": {}}}  # an accuracy that nobody checked
    assert about_labels(table, imported) is None
