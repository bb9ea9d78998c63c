"""A page never shows a diverged run where one has finished, and says which run stands in its place."""

import numpy as np
import pytest
from calvello2024_samples import write_flow_run, write_trajectory_run
from exhibits import drawn, of_paper, without_rendering, words_of, written
from noise_runs import write_noisy_run
from run_files import one_level, save_arrays, square, vouched
from test_cao2021_figures import latent

from resolvent.common.predictions import tree_of, write_predictions
from resolvent.figures.common.results import choose_shown, read_runs
from resolvent.figures.experiment.samples import SAMPLES
from resolvent.figures.papers.calvello2024 import figures
from resolvent.figures.papers.calvello2024.chosen import first_of_each_architecture, first_with
from resolvent.figures.papers.cao2021.figures import draw_latent_basis, noisy_runs
from resolvent.figures.papers.page import Made, write_paper_page


@pytest.fixture
def candidates(make_run):
    """The configured run, which diverged, and three that finished: the best of all is on another grid."""
    return [
        make_run("galerkin", label="Galerkin", diverged_epoch=4),
        make_run("fno", label="FNO", level=3e-3, tested=(512, 128)),
        make_run("softmax", label="Softmax", level=2e-3),
        make_run("softmax", label="Softmax", level=1e-4, resolution=128),
    ]


def test_the_configured_run_is_shown_else_the_best_that_finished_on_its_grid(make_run, candidates):
    runs = [make_run("zeta", label="Zeta", level=1.0, seed=9), make_run("alpha", level=1e-5)]
    shown = choose_shown(runs)
    assert (shown.run.directory, shown.words, shown.replaces) == (runs[0], "Zeta", False)
    shown = choose_shown(candidates)
    assert shown.run.directory == candidates[2]
    assert shown.words == (
        "Softmax (n = 512, seed 1), shown because the configured run, Galerkin (n = 512, seed 1), diverged"
    )
    assert choose_shown(candidates[:2]).run.directory == candidates[1]
    # Another grid is better than none, and where all diverged the configured run is shown.
    assert choose_shown([candidates[0], candidates[3]]).run.directory == candidates[3]
    lost = [candidates[0], make_run("lost", diverged_epoch=1)]
    assert choose_shown(lost).run.directory == lost[0]
    shown = choose_shown(candidates[1:], named=False)
    assert shown.run.directory == candidates[2]
    assert shown.words == "Softmax (n = 512, seed 1), the run with the lowest median error"
    assert choose_shown(candidates[:1], named=False).words == "Galerkin"


def test_the_best_is_that_with_the_noise_of_training(make_run):
    options = {"tested_noise": (0.0, 0.1), "resolution": 17, "dimension": 2, "noise": 0.1}
    runs = [make_run("lost", diverged_epoch=1, **options)]
    runs += [make_run(name, level=level, **options) for name, level in (("large", 2e-3), ("small", 1e-3))]
    assert choose_shown(runs).run.directory == runs[2]
    # A run whose test errors are not all finite counts as diverged.
    errors = np.full(40, 0.1)
    errors[7] = np.nan
    runs = [make_run("galerkin", errors=errors), make_run("fno", level=0.5)]
    assert choose_shown(runs).run.directory == runs[1]


def contents(figure):
    """Return all that a figure shows: its texts, lines and images, without drawing it as a file."""
    lines = [line.get_xydata() for axes in figure.axes for line in axes.get_lines()]
    images = [np.ma.filled(image.get_array(), np.nan) for axes in figure.axes for image in axes.get_images()]
    return words_of(figure), [part.tobytes() for part in (*lines, *images)]


def test_samples_are_those_of_the_run_shown(candidates):
    of_all, of_best, of_lost = (
        contents(drawn(SAMPLES, runs)) for runs in (candidates, [candidates[2]], [candidates[0]])
    )
    assert of_all == of_best != of_lost


def assert_same(draw, candidates):
    """Hold that the figure of all candidates, of which the last is the best, is that of it alone."""
    of_all, of_best = (contents(of_paper(draw, [runs])) for runs in (candidates, candidates[-1:]))
    assert of_all == of_best


@pytest.mark.parametrize(
    "draw", [figures.draw_on_training_grid, figures.draw_answers, figures.draw_increments]
)
def test_median_and_worst_sample_are_those_of_the_run_shown(draw, make_run):
    def make(name, **options):
        if draw is figures.draw_on_training_grid:
            return write_trajectory_run(make_run, name, "none", **options)
        return write_flow_run(make_run, name, "fano", **options)

    assert_same(draw, [make("lost", diverged_epoch=2), make("finished")])


def test_the_latent_functions_are_those_of_the_run_shown(candidates):
    for folder, found in zip(candidates, [latent(diverged=True), latent(), latent(depth=4)], strict=False):
        save_arrays(folder / "latent_basis.npz", **found)
    assert_same(draw_latent_basis, candidates[:3])


def test_recovered_coefficients_are_those_of_the_runs_shown(make_run):
    lost = write_noisy_run(make_run, 0.0, [0, 0.01], diverged_epoch=3, label="Galerkin")
    finished = write_noisy_run(make_run, 0.0, [0, 0.01], label="FNO", seed=2)
    beside = write_noisy_run(make_run, 0.01, [0, 0.01], label="Galerkin")
    shown = [choose_shown(runs) for runs in ([lost, finished], [beside])]
    assert [one.run.directory for one in noisy_runs(shown)] == [finished, beside]


def test_a_model_or_seed_that_diverged_is_passed_over(make_run):
    runs = [
        write_flow_run(make_run, "first", "fano", diverged_epoch=1),
        write_flow_run(make_run, "second", "fano", diverged_epoch=1),
        write_flow_run(make_run, "second", "fano", seed=2),
        write_flow_run(make_run, "third", "fano"),
        write_flow_run(make_run, "lost", "afno", diverged_epoch=1),
    ]
    assert first_of_each_architecture(read_runs(runs)) == ["second", "lost"]
    shown = first_with([read_runs(runs)])
    assert (shown.model, shown.seed) == ("second", 2)


def test_the_page_s_captions_and_runs_are_of_the_run_shown(candidates, tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    written(SAMPLES, tmp_path / "figure.svg", candidates)
    facts = {"input": "velocity", "target": "pressure"}
    given = {"run_folders": [candidates], "candidates": [candidates], "planned_facts": facts}
    said = {
        "figure9": "{}: velocity, pressure",
        "figure11": "Shown: {}.",
        "figure13": "{}, one test sample",
    }
    made = dict.fromkeys(said, Made(tmp_path / "figure.svg", given))
    page = tmp_path / "cao2021.html"
    write_paper_page("cao2021", page, made=made, command="snakemake", provenance={}, root=tmp_path)
    text = page.read_text()
    for words in said.values():
        assert words.format(choose_shown(candidates).words) in text
    assert text.count("1 model trained on 512 grid points") == len(said)
    assert "of which 1 diverged" not in text


NAMES = ("velocity [m/s], force", "temperature [K]")


@pytest.mark.parametrize(("dimension", "points"), [(1, 32), (2, 9)])
def test_several_functions_are_drawn_by_their_names(dimension, points, make_run):
    """Draw three inputs, the last a number of each sample, which is no function to look at on the square."""
    run = make_run("net", resolution=points, dimension=dimension)
    x, generator = np.linspace(0, 1, points), np.random.default_rng(0)
    space = (points,) * dimension
    inputs = generator.normal(size=(4, 3, *space))
    inputs[:, 2] = inputs[:, 2].reshape(4, -1)[:, 0].reshape(4, *[1] * dimension)
    targets = generator.normal(size=(4, *space))
    part = one_level(0.0, square(x) if dimension == 2 else {"x": x}, inputs, targets, targets + 0.1)
    write_predictions(run / "predictions.nc", tree_of({points: [part]}, {}))
    vouched(run)
    figure = drawn(SAMPLES, [run], quantities=NAMES)
    if dimension == 1:
        panel, strip, *_ = (axes for axes in figure.axes if axes.get_ylabel())
        assert [line.get_label() for line in panel.lines if not line.get_label().startswith("_")] == [
            *NAMES,
            "prediction",
        ]
        assert len(panel.lines) == 5
        assert (panel.get_ylabel(), strip.get_ylabel()) == (NAMES[1], "error")
    else:
        rows = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
        assert rows == [f"{NAMES[0]} (1)", f"{NAMES[0]} (2)", NAMES[1], "prediction", "error"]
