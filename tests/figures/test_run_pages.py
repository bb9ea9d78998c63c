"""The pages of single runs, and the data from which pages draw samples and compare two runs."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from pages import links, missing
from run_files import burgers_card, one_level, replace_errors, vouched

from resolvent.common.predictions import tree_of, write_predictions
from resolvent.figures.common.charts import picked, rounded, thinned
from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.intervals import paired_ratio
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.experiment import error_location
from resolvent.figures.run import data
from resolvent.figures.run.page import write_run_pages

CARD = burgers_card()


@pytest.fixture
def write(tmp_path):
    def write(runs):
        (tmp_path / "card.json").write_text(json.dumps(CARD))
        write_run_pages(
            runs, experiment=tmp_path, root=tmp_path, title="Burgers", card=tmp_path / "card.json",
            quantities=("before", "after"), provenance={"machine": "two cores"},
            command="snakemake --cores 8 --configfile config/demo.yaml --resources gpu=1",
        )  # fmt: skip

    return write


def content(path):
    """Return the object that a script file gives to its page."""
    return json.loads(re.fullmatch(r'resolventData\("\w+", (.*)\);\n', path.read_text())[1])


def test_a_run_has_a_page_with_its_errors_settings_and_files(make_run, write, tmp_path):
    run = make_run(label="A <b>", tested=(256, 512))
    write([run])
    page = (run / "run.html").read_text()
    (loaded,) = read_runs([run])
    errors = loaded.errors[loaded.errors["resolution"] == 512]["relative_l2"]
    assert f"{errors.mean():.2e}".replace("e-04", " × 10⁻⁴") in page
    assert f"(test sample {errors.to_numpy().argmax()})" in page
    assert "A &lt;b&gt;, n = 512, seed 1" in page
    assert "<b>" not in page
    assert re.findall(r'<section id="(\w+)">', page) == [
        "errors", "training", "predictions", "where", "settings", "cost", "again"
    ]  # fmt: skip
    for words in ("projection", "530,305 parameters", "c1c1c1c1c1c1", "batch size", "two cores"):
        assert words in page, words
    assert "snakemake --cores 2 " + (run / "errors.csv").as_posix() + " --configfile config/demo.yaml" in page
    expected = ["../../assets/samples.js", "../../datasets/burgers_cao.html", "../../report.html"]
    assert missing(links(page), run) == expected
    assert 'href="../../compare.html#runs/galerkin-n512-seed1"' in page


def test_the_page_of_a_diverged_run_says_when_and_what_was_kept(make_run, write):
    run, at_once = make_run(diverged_epoch=9), make_run("lost", diverged_epoch=0)
    write([run, at_once])
    assert "before its first epoch ended" in (at_once / "run.html").read_text()
    page = (run / "run.html").read_text()
    assert re.search(r"Training diverged in epoch 9 of\s+100", page)
    assert "The run keeps its history up to that epoch" in page
    assert 'id="predictions"' not in page
    assert 'id="training_curve"' in page
    assert content(run / "run.js")["samples"] == []


def test_errors_of_samples_are_computed_before_they_are_rounded(make_run, tmp_path):
    (run,) = read_runs([make_run(level=1e-6)])
    data.write_run_data(run, tmp_path / "run.js", ("before", "after"))
    found = content(tmp_path / "run.js")
    stored = run.predictions_at()
    assert [one["which"] for one in found["samples"]] == ["best", "median", "worst", *["common"] * 4]
    assert [one["sample"] for one in found["samples"]] == [1, 2, 5, 3, 11, 19, 27]
    for one in found["samples"]:
        assert one["relative_l2"] == pytest.approx(run.shown_errors()[one["sample"]], rel=1e-3)
    worst = stored.sel(extreme="worst")
    error = (worst["extreme_prediction"] - worst["extreme_target"]).values
    np.testing.assert_allclose(found["samples"][2]["error"], error, rtol=1e-3, atol=1e-14)
    assert np.abs(error).max() < 1e-5 * np.abs(worst["extreme_target"]).max()  # lost if rounded before
    assert found["quantities"] == ["before", "after"]
    assert found["spread"] == rounded(
        np.sqrt(stored["error_mean_square"].values[0] / stored["target_mean_square"].values.mean())
    )


def test_functions_far_from_zero_keep_their_variation(make_run, tmp_path):
    """Four digits of a pressure of 101,325 ± 5 Pa, or of eastings in metres, leave steps."""
    run = make_run()
    x = 451_000 + np.linspace(0, 100, 41)
    target = 101_325 + 5 * np.sin(x / 20) * np.arange(1, 5)[:, None]
    part = one_level(0.0, {"x": x}, target, target, target + 0.01)
    write_predictions(run / "predictions.nc", tree_of({512: [part]}, {}))
    (loaded,) = read_runs([vouched(run)])
    data.write_run_data(loaded, tmp_path / "run.js", ("before", "after"))
    found = content(tmp_path / "run.js")
    np.testing.assert_allclose(found["x"], x, atol=0.05)
    np.testing.assert_allclose(found["samples"][3]["target"], target[:1], atol=0.005)
    assert found["samples"][3]["error"][0][0] == 0.01
    chart = error_location.chart([loaded], appearances([loaded]))
    np.testing.assert_allclose(chart.data[0].x, x, atol=0.05)


def test_fields_are_thinned_to_true_values(make_run, tmp_path):
    run = make_run("fno2d", architecture="fno2d", attention=None, resolution=98, dimension=2)
    (run,) = read_runs([run])
    data.write_run_data(run, tmp_path / "run.js", ("coefficient", "pressure"))
    found = content(tmp_path / "run.js")
    assert found["dimension"] == 2
    assert len(found["x"]) == 64
    assert found["x"][0] == 0
    assert found["x"][-1] == 1
    target = np.array(found["samples"][3]["target"])
    assert target.shape == (1, 64, 64)
    kept = picked(98, 64)
    expected = run.predictions_at()["target"].values[0][:, kept][:, :, kept]
    np.testing.assert_allclose(target, expected, rtol=1e-3, atol=1e-12)


def test_thinning_keeps_the_ends_and_no_more_than_allowed():
    for count in (3, 64, 65, 1000):
        some = picked(count, 64)
        assert len(some) == min(count, 64)
        assert (some[0], some[-1]) == (0, count - 1)
        assert (np.diff(some) > 0).all()
    some = picked(4096, 100, logarithmic=True)
    assert len(some) <= 100
    assert some[:5].tolist() == [0, 1, 2, 3, 4]
    assert some[-1] == 4095
    assert thinned(np.arange(2000.0)[None], 1).shape == (1, 512)
    assert rounded(np.array([[1.23456e-7, np.nan]])) == [[1.235e-7, None]]


def test_two_runs_are_compared_on_the_same_samples(make_run, write, tmp_path, monkeypatch):
    runs = [
        make_run(),
        make_run("fno", attention=None, architecture="fno1d"),
        make_run("lost", diverged_epoch=3),
    ]
    write(runs)
    found = content(tmp_path / "runs.js")
    assert [one["diverged"] for one in found["runs"]] == [None, None, 3]
    assert [one["folder"] for one in found["runs"]] == [f"runs/{run.name}" for run in runs]
    first, _, lost = (one["errors"] for one in found["runs"])
    errors = [one.errors["relative_l2"].to_numpy() for one in read_runs(runs[:2])]
    np.testing.assert_allclose(list(first.values()), errors[0], rtol=1e-3)
    assert list(first) == [str(sample) for sample in range(40)]
    assert lost == {}
    ratio = paired_ratio(*errors)
    assert found["pairs"] == [[0, 1, *rounded([ratio.value, ratio.low, ratio.high])]]
    with monkeypatch.context() as patch:
        patch.setattr(data, "PAIRS_OF", 1)  # of many none is compared
        data.write_runs_data(read_runs(runs), tmp_path / "many.js")
    assert content(tmp_path / "many.js")["pairs"] is None
    errors = pd.read_csv(runs[1] / "errors.csv")
    replace_errors(runs[1], errors[errors["sample"] > 3])
    data.write_runs_data(read_runs(runs), tmp_path / "others.js")
    assert content(tmp_path / "others.js")["pairs"] == []
    page = (tmp_path / "compare.html").read_text()
    assert missing(links(page), tmp_path) == ["./assets/compare.js", "./assets/samples.js", "./report.html"]


def test_commands_and_code_are_of_the_run(make_run, tmp_path):
    (run,) = read_runs([make_run()])
    words = loading(run, CARD, "card.json")
    assert f'resolvent.predict("{run.directory}", test["initial_velocity"])' in words
    assert 'open_dataset("card.json", "test", 512)' in words
    several = loading(run, {"inputs": ["x", "y_initial"]}, "card.json")
    assert f'load_run("{run.directory}")' in several
    assert making("snakemake datasets --configfile x.yaml -R solve_burgers") == (
        "snakemake --cores 2 --configfile x.yaml"
    )
    assert making("snakemake -c4", "a b.csv") == "snakemake --cores 2 'a b.csv'"
    assert making("snakemake --configfile=x.yaml -n", "a.csv").endswith("a.csv --configfile=x.yaml")
    (tmp_path / "store.zarr").mkdir()
    (tmp_path / "store.zarr/part").write_bytes(bytes(2_340_000))
    assert size_of(tmp_path / "store.zarr") == "2.34 MB"
    assert size_of(tmp_path / "elsewhere.zarr") is None
