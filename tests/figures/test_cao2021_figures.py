"""The figures of Cao 2021: seeds as lines (8), noise (11 and 12), latent functions and roughness (13)."""

import numpy as np
import pytest
from exhibits import of_paper, words_of
from noise_runs import expected_error, write_noisy_run
from run_files import save_arrays

from resolvent.common.errors import FileError
from resolvent.common.predictions import condition, read_predictions
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import choose_shown, read_runs
from resolvent.figures.common.style import MUTED, appearances
from resolvent.figures.papers.cao2021.figures import (
    draw_convergence,
    draw_latent_basis,
    draw_noise_levels,
    draw_noise_transfer,
    noisy_runs,
    smoothing,
)

NODES, WIDTH = 9, 16
NOISES = {0.0: [0, 0.01, 0.015], 0.01: [0, 0.01, 0.02, 0.05], 0.1: [0.05, 0.1]}


def seeds(make_run, count, diverged=(), **options):
    return [
        make_run(seed=seed, diverged_epoch=9 if seed in diverged else None, **options)
        for seed in range(count)
    ]


def strokes(panel, colour):
    return sum(line.get_color() == colour and line.get_marker() == "None" for line in panel.get_lines())


def test_every_seed_is_a_line_beside_the_median_and_an_experiment_a_row(make_run):
    runs = seeds(make_run, 10, diverged=(3, 7))
    others = seeds(make_run, 2, model="other")
    figure = of_paper(draw_convergence, [runs, others])
    colour = appearances(read_runs(runs + others))["galerkin"].colour
    assert len(figure.axes) == 4
    for panel in figure.axes[:2]:
        assert (strokes(panel, colour), strokes(panel, MUTED)) == (8 + 1, 2)
    assert "× 2 of 10 seeds diverged (epoch 9)" in figure.axes[1].texts[0].get_text()


def noisy_of(experiments):
    return noisy_runs([choose_shown(folders) for folders in experiments])


@pytest.fixture
def paper(make_run):
    """An experiment for each level of noise, in the paper's pairs."""
    return [[write_noisy_run(make_run, noise, levels)] for noise, levels in NOISES.items()]


def test_each_run_gives_its_own_pictures_and_errors(paper):
    noisy = noisy_of(paper[::-1])
    assert [one.run.noise for one in noisy] == list(NOISES)
    assert [one.levels for one in noisy] == list(NOISES.values())
    assert {one.sample for one in noisy} == {2}
    for one in noisy:
        for level in one.levels:
            stored = condition(read_predictions(one.run.directory / "predictions.nc"), 21, level)
            stored = stored.isel(channel=0)
            assert (one.field("prediction", level) == stored["prediction"].values[0]).all()
            assert (one.field("input", level) == stored["input"].values[0, 0]).all()
            assert one.error_words(level) == f"error {expected_error(one.run.noise, level, 0, 2):.3g}"
            assert (one.field("target", one.run.noise) == stored["target"].values[0]).all()


def test_the_sample_is_one_that_all_have_stored(make_run):
    runs = [
        [write_noisy_run(make_run, 0.0, [0], samples=(2, 5, 7))],
        [write_noisy_run(make_run, 0.01, [0.01], samples=(4, 5, 7))],
    ]
    noisy = noisy_of(runs)
    assert {one.sample for one in noisy} == {5}
    assert (noisy[0].field("target", 0) == noisy[1].field("target", 0)).all()


def test_figures_11_and_12_have_a_picture_for_each_level_and_for_each_pair(paper):
    for draw, pictures in (
        (draw_noise_levels, 3 * 3),
        (draw_noise_transfer, sum(map(len, NOISES.values())) + 1),
    ):
        assert sum(len(panel.get_images()) for panel in of_paper(draw, paper).axes) == pictures


def test_a_diverged_run_is_reported(make_run):
    runs = [[write_noisy_run(make_run, 0.0, [0, 0.01], diverged_epoch=3)]]
    assert noisy_of(runs)[0].error_words(0) == "diverged"
    for draw in (draw_noise_levels, draw_noise_transfer):
        words = words_of(of_paper(draw, runs))
        assert words.count("diverged") == (1 if draw is draw_noise_levels else 2)


def test_runs_that_cannot_be_shown_together_are_refused(make_run):
    first = write_noisy_run(make_run, 0.0, [0])
    second = write_noisy_run(make_run, 0.0, [0], seed=2)
    with pytest.raises(ResultError, match="both trained at noise 0"):
        noisy_of([[first], [second]])
    other = write_noisy_run(make_run, 0.1, [0.1], samples=(1, 3, 4))
    with pytest.raises(ResultError, match="no stored test sample"):
        noisy_of([[first], [other]])
    away = write_noisy_run(make_run, 0.05, [0, 0.1])
    with pytest.raises(ResultError, match=r"0\.05 to test_noise"):
        noisy_of([[away]])


def latent(layers=(1, 4), depth=6, diverged=False):
    """What `resolvent.evaluation.latent_basis` writes, smoother by a tenth from layer to layer."""
    random = np.random.default_rng(0)
    roughness = np.exp(random.normal(size=(1, WIDTH)) * 0.2) * 12 * 0.9 ** np.arange(depth)[:, None]
    lost = np.nan if diverged else 1.0
    return {
        "sample": np.array(4),
        "layers": np.array(layers),
        "basis": random.normal(size=(len(layers), 2, NODES, NODES)) * lost,
        "share": np.full((len(layers), 2), 0.4) * lost,
        "basis_roughness": np.full((len(layers), 2), 11.0) * lost,
        "roughness": roughness * lost,
        "initial_roughness": roughness[:1].repeat(depth, axis=0) * lost,
        "coefficient": np.where(random.normal(size=(NODES - 1, NODES - 1)) > 0, 12.0, 3.0),
        "eigenvalues": np.array([80.0, 190.0]),
        "eigenfunctions": random.normal(size=(2, NODES, NODES)),
        "eigenfunction_roughness": np.array([5.0, 8.0]),
    }


@pytest.fixture
def drawn(make_run):
    """Draw the latent functions of a run."""
    run = make_run("galerkin2d")

    def draw(found):
        save_arrays(run / "latent_basis.npz", **found)
        return of_paper(draw_latent_basis, [[run]])

    return draw


def test_every_function_is_an_image_below_the_name_of_its_layer(drawn):
    figure = drawn(latent())
    assert {"Encoder layer 1", "Encoder layer 4", "Eigenfunctions of -∇·(a∇)"} <= set(words_of(figure))
    assert sum(len(panel.get_images()) for panel in figure.axes) == 3 * 2 + 1  # and the coefficient


def test_the_paper_s_remark_is_a_number():
    found = latent()
    first, fourth = np.median(found["roughness"][0]), np.median(found["roughness"][3])
    assert smoothing(found) == f"Median roughness: {first:.3g} in layer 1, {fourth:.3g} in layer 4"
    found["roughness"][0, :3] = np.nan  # columns without a roughness do not count
    assert smoothing(found).startswith(f"Median roughness: {np.median(found['roughness'][0, 3:]):.3g} in")
    assert smoothing(latent(diverged=True)) == "Roughness: the run diverged"


def test_a_missing_file_of_latent_functions_names_itself(make_run):
    with pytest.raises(FileError, match=r"latent_basis\.npz is missing: make it with `snakemake"):
        of_paper(draw_latent_basis, [[make_run("galerkin2d")]])
