"""The report is a page that loads nothing from elsewhere and leaves nothing out."""

import json
import re

import pytest
from pages import links

from resolvent.figures.common.errors import ResultError
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.report import write_report
from resolvent.figures.experiment.training_curves import draw_training_curves

CARD = {
    "dataset": "burgers_cao",
    "equation": {"symbols": "∂ₜu + u ∂ₓu = ν ∂ₓₓu"},
    "error_budget": {"closed form": {"largest_relative_l2": 2.2e-9, "converged": True}},
    "resolutions": [512, 2048],
    "sources": [{"name": "<script>alert(1)</script>"}],
}


@pytest.fixture
def make_report(make_run, make_baselines, tmp_path):
    def make(setting=None):
        runs = [
            make_run(label="Galerkin <new>", setting=setting),
            make_run(label="Galerkin <new>", setting=setting, seed=2, diverged_epoch=7),
            make_run("fno", label="FNO", architecture="fno1d", attention=None, setting=setting),
        ]
        write_comparison(runs, [make_baselines()], tmp_path / "comparison.csv")
        (svg, *_) = draw_training_curves(runs, tmp_path / "training.svg")
        (tmp_path / "card.json").write_text(json.dumps(CARD))
        write_report(
            tmp_path / "report.html",
            title="Burgers",
            command="snakemake --cores 2 report",
            table=tmp_path / "comparison.csv",
            runs=runs,
            cards=[tmp_path / "card.json"],
            figures=[(svg, "Training curves", "One seed.")],
            provenance={"git revision": "abc1234", "machine": "two cores"},
            predicted=[(1800.0, 5e8), (1800.0, 5e8), (360.0, 4e8)],
            root=tmp_path,
        )
        return (tmp_path / "report.html").read_text()

    return make


def test_nothing_is_loaded_from_elsewhere(make_report):
    page = make_report()
    assert links(page) == {"training.svg", "training.png", "training.pdf"}
    assert 'href="./index.html#experiments"' in page


def test_every_run_baseline_card_and_origin_is_there(make_report):
    page = make_report()
    for expected in (
        "Galerkin &lt;new&gt;, n = 512, seed 1", "Galerkin &lt;new&gt;, n = 512, seed 2",
        "FNO, n = 512, seed 1",
        "Mean predictor", "Identity", "Coarse classical solve", "Interpolation oracle", "diverged (epoch 7)",
        "2.2e-09", "snakemake --cores 2 report", "abc1234", "eeeeeeeeeeee", "c1c1c1c1c1c1",
        "cao2021choose", "li2021fourier", "vaswani2017attention",
    ):  # fmt: skip
        assert expected in page, expected
    assert page.index("Error budget") < page.index("The whole card")
    assert page.count("data:image/svg+xml;base64,") == 1


def test_text_from_files_is_escaped(make_report):
    assert "<script>alert" not in make_report()


def test_it_says_how_the_runs_differ_from_the_paper(make_report):
    page = make_report(setting={"epochs": 40, "train_samples": 256})
    for words in (
        "epochs 40 (code 100)", "Galerkin &lt;new&gt;: train samples 256 (code 1024)",
        "FNO: train samples 256 (code 1000)",
    ):  # fmt: skip
        assert f"<li>{words}</li>" in page, words
    assert "1.203" not in page


def test_only_the_finished_page_is_left(make_report, tmp_path):
    make_report()
    assert [path.name for path in tmp_path.glob("report.html*")] == ["report.html"]


def test_a_missing_figure_names_itself(make_report, tmp_path):
    make_report()
    with pytest.raises(ResultError, match=r"missing\.svg is missing"):
        write_report(
            tmp_path / "report.html", title="", command="", table=tmp_path / "comparison.csv",
            runs=list((tmp_path / "runs").iterdir()), cards=[], provenance={},
            figures=[(tmp_path / "missing.svg", "", "")], predicted=[(1.0, 1.0)] * 3, root=tmp_path,
        )  # fmt: skip


def test_what_training_took_stands_beside_the_prediction(make_report):
    page = make_report()
    (table,) = re.findall(r"was predicted to take</h3>.*?</table>", page, re.DOTALL)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    assert rows == [  # each run took 180 s; one of the first two diverged
        ["Galerkin &lt;new&gt;", "n = 512", "0.100", "1.000", "—", "1.00", "0.50"],
        ["FNO", "n = 512", "0.050", "0.100", "0.50", "1.00", "0.40"],
    ]
