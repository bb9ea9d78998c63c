"""Every figure is drawn from whatever runs there are, and twice to the same bytes."""

import warnings

import numpy as np
import pytest
from exhibits import written

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.labels import label_right, spread
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import appearances, new_figure
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.cost_scatter import COST_SCATTER
from resolvent.figures.experiment.error_distributions import ERROR_DISTRIBUTIONS
from resolvent.figures.experiment.resolution_curves import RESOLUTION_CURVES
from resolvent.figures.experiment.samples import SAMPLES
from resolvent.figures.experiment.training_curves import TRAINING_CURVES

KINDS = ("svg", "png", "pdf")
DRAWN = ("training", "samples", "resolution", "cost", "errors")


def draw_all(runs, baselines, folder):
    folder.mkdir()
    comparison = folder / "comparison.csv"
    write_comparison(runs, baselines, comparison)
    exhibits = {
        "training": TRAINING_CURVES, "samples": SAMPLES, "resolution": RESOLUTION_CURVES,
        "cost": COST_SCATTER, "errors": ERROR_DISTRIBUTIONS,
    }  # fmt: skip
    return [
        file
        for name, exhibit in exhibits.items()
        for file in written(exhibit, folder / f"{name}.svg", runs, comparison, baselines)
    ]


@pytest.mark.every_format
def test_the_same_results_give_the_same_bytes(make_run, make_baselines, tmp_path):
    runs = [
        make_run(tested=(256, 512)),
        make_run("galerkin_regular", layer_norm="regular", tested=(256, 512), diverged_epoch=9),
        make_run("fno", architecture="fno1d", attention=None, tested=(256, 512), level=4e-3),
    ]
    baselines = [make_baselines(n) for n in (256, 512)]
    first, second = (draw_all(runs, baselines, tmp_path / name) for name in ("one", "two"))
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
        assert one.stat().st_size > 5_000
    assert [file.name for file in first] == [f"{name}.{kind}" for name in DRAWN for kind in KINDS]


@pytest.mark.parametrize("diverged_epoch", [None, 0])
def test_one_run_without_baselines(make_run, tmp_path, diverged_epoch):
    files = draw_all([make_run(diverged_epoch=diverged_epoch)], [], tmp_path / "figures")
    assert [file.name for file in files if file.stat().st_size > 5_000] == [f"{name}.svg" for name in DRAWN]


@pytest.mark.every_format
@pytest.mark.parametrize("diverged_epoch", [None, 3])
def test_samples_on_the_square_are_images(make_run, tmp_path, diverged_epoch):
    run = make_run(
        "fno2d",
        architecture="fno2d",
        attention=None,
        resolution=17,
        dimension=2,
        diverged_epoch=diverged_epoch,
    )
    svg, png, _ = written(SAMPLES, tmp_path / "samples.svg", [run])
    page = svg.read_text()
    assert page.count("<image") >= 4 * 4  # four rows of four samples
    again, *_ = written(SAMPLES, tmp_path / "again.svg", [run])
    assert again.read_bytes() == svg.read_bytes()
    assert png.stat().st_size > 5_000


@pytest.mark.parametrize("diverged_epoch", [None, 3])
def test_samples_of_an_inverse_problem_are_those_with_the_noise_of_training(
    make_run, tmp_path, diverged_epoch
):
    options = {"architecture": "transformer2d_coarse", "resolution": 17, "dimension": 2}
    options |= {"noise": 0.05, "tested_noise": (0.05, 0.0, 0.2), "diverged_epoch": diverged_epoch}
    run = make_run(**options)
    (loaded,) = read_runs([run])
    assert loaded.shown("input").shape == (4, 17, 17)
    assert loaded.shown("prediction").shape == loaded.shown("target").shape == (4, 9, 9)
    assert loaded.shown("input").min() == pytest.approx(3.05)
    errors = loaded.errors[(loaded.errors["noise"] == 0.05) & (loaded.errors["realisation"] == 0)]
    assert loaded.shown_errors().equals(errors.set_index("sample")["relative_l2"])
    assert len(loaded.shown_errors()) == 40
    svg, *_ = written(SAMPLES, tmp_path / "samples.svg", [run])
    assert svg.read_text().count("<image") >= 4 * 4


def test_figures_of_an_experiment_with_noise_show_the_noise_of_training(
    make_run, make_baselines, tmp_path, monkeypatch
):
    curves, points, dots = [], [], []
    monkeypatch.setattr(
        "resolvent.figures.experiment.resolution_curves._draw_model",
        lambda panel, rows, *_: curves.append(rows) or [],
    )
    monkeypatch.setattr(
        "resolvent.figures.experiment.cost_scatter._draw_model", lambda panel, row, *_: points.append(row)
    )
    monkeypatch.setattr(
        "resolvent.figures.experiment.error_distributions._draw_rows",
        lambda panel, rows, limits: dots.extend(rows),
    )
    run = make_run(resolution=17, dimension=2, noise=0.01, tested_noise=(0.0, 0.01, 0.05))
    draw_all([run], [make_baselines(17, noise=0.01)], tmp_path / "figures")
    assert [rows["test_noise"].tolist() for rows in curves] == [[0.01]]
    assert [row["test_noise"] for row in points] == [0.01]
    assert dots[0][2].mean() == pytest.approx(points[0]["value"])
    assert len(dots) == 1 + 4  # the baselines too have errors at this level


@pytest.mark.every_format
def test_an_unknown_suffix_is_refused(make_run, tmp_path):
    with pytest.raises(ResultError, match=r"must end in .svg, .png, .pdf"):
        written(TRAINING_CURVES, tmp_path / "figure.gif", [make_run()])


def test_appearances_are_fixed_by_the_kind_and_distinct(make_run):
    runs = read_runs(
        [
            make_run("a"),
            make_run("a_regular", layer_norm="regular"),
            make_run("b", attention="fourier"),
            make_run("c"),
            make_run("mystery", architecture="deeponet2d", attention=None),
        ]
    )
    looks = appearances(runs)
    assert len(set(looks.values())) == 5
    assert looks["a"].colour == looks["a_regular"].colour != looks["b"].colour
    assert looks["a"] == appearances(runs[:1])["a"]


def test_a_line_that_leaves_the_panel_is_named_at_its_edge_and_the_layout_holds():
    figure, ((panel,),) = new_figure(1, 1, size=(4, 3))
    panel.set(yscale="log", ylim=(1e-6, 1))
    label_right(panel, [(1e-40, "below", "black"), (1e-3, "within", "black"), (1e9, "above", "black")])
    assert [text.xy[1] for text in panel.texts] == pytest.approx([0, 0.5, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as where a label so far away leaves no room for the panel
        figure.draw_without_rendering()


def test_labels_are_moved_apart_no_further_than_needed():
    assert spread(np.array([0.1, 0.5]), 0.1) == pytest.approx([0.1, 0.5])
    assert spread(np.array([0.5, 0.5, 0.52]), 0.1) == pytest.approx([0.5067 - 0.1, 0.5067, 0.6067], abs=1e-3)
    assert np.diff(spread(np.sort(np.random.default_rng(0).uniform(size=8)), 0.1)).min() > 0.0999
