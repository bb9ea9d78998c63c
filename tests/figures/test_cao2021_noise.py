"""Figures 11 and 12 of Cao 2021: the right pictures and numbers of the right runs."""

import pytest
from exhibits import of_paper
from noise_runs import expected_error, write_noisy_run

from resolvent.common.predictions import condition, read_predictions
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import choose_shown
from resolvent.figures.papers.cao2021.noise import draw_noise_levels, draw_noise_transfer, noisy_runs


def noisy_of(experiments):
    return noisy_runs([choose_shown(folders) for folders in experiments])


PAPER = {0.0: [0, 0.01, 0.015], 0.01: [0, 0.01, 0.02, 0.05], 0.1: [0.05, 0.1]}


@pytest.fixture
def paper(make_run):
    """An experiment for each level of noise, in the paper's pairs."""
    return [[write_noisy_run(make_run, noise, levels)] for noise, levels in PAPER.items()]


def test_each_run_gives_its_own_pictures_and_errors(paper):
    noisy = noisy_of(paper[::-1])
    assert [one.run.noise for one in noisy] == list(PAPER)
    assert [one.levels for one in noisy] == list(PAPER.values())
    assert {one.sample for one in noisy} == {2}
    for one in noisy:
        for level in one.levels:
            stored = condition(read_predictions(one.run.directory / "predictions.nc"), 21, level).isel(
                channel=0
            )
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


def test_the_configured_run_is_shown(make_run):
    coarse = write_noisy_run(make_run, 0.0, [0], resolution=15)
    fine = write_noisy_run(make_run, 0.0, [0])
    (one,) = noisy_of([[fine, coarse]])
    assert one.field("input", 0).shape == (21, 21)
    assert set(one.errors["resolution"]) == {21}
    (one,) = noisy_of([[coarse, fine]])
    assert one.field("input", 0).shape == (15, 15)


def test_figures_11_and_12_have_a_picture_for_each_level_and_for_each_pair(paper):
    for draw, pictures in (
        (draw_noise_levels, 3 * 3),
        (draw_noise_transfer, sum(map(len, PAPER.values())) + 1),
    ):
        assert sum(len(panel.get_images()) for panel in of_paper(draw, paper).axes) == pictures


def test_a_diverged_run_is_reported(make_run):
    runs = [[write_noisy_run(make_run, 0.0, [0, 0.01], diverged_epoch=3)]]
    assert noisy_of(runs)[0].error_words(0) == "diverged"
    for draw in (draw_noise_levels, draw_noise_transfer):
        words = [
            text.get_text() for text in of_paper(draw, runs).findobj(lambda one: hasattr(one, "get_text"))
        ]
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
