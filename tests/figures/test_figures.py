"""Every figure is drawn from whatever runs there are, and twice to the same bytes."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from exhibits import compared, drawn, given, written

from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.labels import label_right, spread
from resolvent.figures.common.results import read_runs, with_training_noise
from resolvent.figures.common.style import appearances, new_figure
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.cost import COST_SCATTER
from resolvent.figures.experiment.curves import RESOLUTION_CURVES, TRAINING_CURVES
from resolvent.figures.experiment.report import READERS
from resolvent.figures.experiment.rows_of_errors import ERROR_DISTRIBUTIONS
from resolvent.figures.experiment.samples import SAMPLES

KINDS = ("svg", "png", "pdf")
DRAWN = [TRAINING_CURVES, SAMPLES, RESOLUTION_CURVES, COST_SCATTER, ERROR_DISTRIBUTIONS]


@pytest.mark.every_format
def test_the_same_results_give_the_same_bytes(make_run, tmp_path):
    run = make_run()
    first, second = (written(SAMPLES, tmp_path / name / "samples.svg", [run]) for name in ("one", "two"))
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
        assert one.stat().st_size > 5_000
    assert [file.name for file in first] == [f"samples.{kind}" for kind in KINDS]


@pytest.mark.parametrize("exhibit", DRAWN)
def test_one_run_without_baselines_is_drawn_and_one_that_diverged_at_once(exhibit, make_run, tmp_path):
    for name, epoch in (("finished", None), ("lost", 0)):
        run = make_run(name, diverged_epoch=epoch)
        figure = drawn(exhibit, [run], compared([run], tmp_path))
        figure.draw_without_rendering()
        assert figure.axes


INVERSE = {"architecture": "transformer2d_coarse", "noise": 0.05, "tested_noise": (0.05, 0.0, 0.2)}


@pytest.mark.parametrize(
    "options",
    [{"architecture": "fno2d", "attention": None}, INVERSE, INVERSE | {"diverged_epoch": 3}],
    ids=["forward", "inverse", "diverged"],
)
def test_samples_on_the_square_are_images(make_run, options):
    figure = drawn(SAMPLES, [make_run(resolution=17, dimension=2, **options)])
    assert sum(len(panel.get_images()) for panel in figure.axes) >= 4 * 4  # four rows of four samples


def test_samples_of_an_inverse_problem_are_those_with_the_noise_of_training(make_run):
    (loaded,) = read_runs([make_run(resolution=17, dimension=2, **INVERSE)])
    assert loaded.shown("input").shape == (4, 17, 17)
    assert loaded.shown("prediction").shape == loaded.shown("target").shape == (4, 9, 9)
    assert loaded.shown("input").min() == pytest.approx(3.05)
    errors = loaded.errors[(loaded.errors["noise"] == 0.05) & (loaded.errors["realisation"] == 0)]
    assert loaded.shown_errors().equals(errors.set_index("sample")["relative_l2"])
    assert len(loaded.shown_errors()) == 40


def test_charts_of_an_experiment_with_noise_show_the_noise_of_training(make_run, make_baselines, tmp_path):
    run = make_run(resolution=17, dimension=2, noise=0.01, tested_noise=(0.0, 0.01, 0.05))
    baselines, path = [make_baselines(17, noise=0.01)], tmp_path / "comparison.csv"
    table = write_comparison([run], baselines, path)
    means = errors_of(with_training_noise(table), "relative_l2", "mean").set_index("kind")["value"]
    sources = Sources(READERS, **given([run], path, baselines))
    curves, samples = (sources.call(one.chart).data for one in (RESOLUTION_CURVES, ERROR_DISTRIBUTIONS))
    assert list(curves[0].y) == pytest.approx([means["model"]], rel=1e-3)
    assert np.mean(samples[0].x) == pytest.approx(means["model"], rel=1e-3)
    assert len(samples) == len(curves) == 1 + 4  # the baselines too have errors at this level


@pytest.mark.every_format
def test_an_unknown_suffix_is_refused(make_run, tmp_path):
    with pytest.raises(ResultError, match=r"must end in .svg, .png, .pdf"):
        written(TRAINING_CURVES, tmp_path / "figure.gif", [make_run()])


def test_appearances_are_fixed_by_the_kind_and_distinct(make_run):
    made = {
        "a": {}, "a_regular": {"layer_norm": "regular"}, "b": {"attention": "fourier"}, "c": {},
        "mystery": {"architecture": "deeponet2d", "attention": None},
    }  # fmt: skip
    runs = read_runs([make_run(name, **options) for name, options in made.items()])
    looks = appearances(runs)
    assert len(set(looks.values())) == 5
    assert looks["a"].colour == looks["a_regular"].colour != looks["b"].colour
    assert looks["a"] == appearances(runs[:1])["a"]
    many = [SimpleNamespace(model=f"{one:02}", record=runs[-1].record) for one in range(40)]
    assert len(appearances(many)) == 40


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
