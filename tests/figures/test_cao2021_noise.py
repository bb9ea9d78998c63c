"""Figures 11 and 12 of Cao 2021: the right pictures and numbers of the right runs."""

import pytest
from exhibits import of_paper
from noise_runs import expected_error, write_noisy_run

from resolvent.common.predictions import condition, read_predictions
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import choose_shown
from resolvent.figures.common.style import save
from resolvent.figures.papers.cao2021.noise import (
    draw_noise_levels,
    draw_noise_transfer,
    error_words,
    noisy_runs,
)


def noisy_of(experiments):
    return noisy_runs([choose_shown(folders) for folders in experiments])


PAPER = {0.0: [0, 0.01, 0.015], 0.01: [0, 0.01, 0.02, 0.05], 0.1: [0.05, 0.1]}


@pytest.fixture
def paper(make_run):
    """An experiment for each level of noise, in the paper's pairs."""
    return [[write_noisy_run(make_run, noise, levels)] for noise, levels in PAPER.items()]


def test_each_run_gives_its_own_pictures_and_errors(paper):
    noisy = noisy_of(paper[::-1])
    assert [one.trained for one in noisy] == list(PAPER)
    assert [one.levels for one in noisy] == list(PAPER.values())
    assert {one.sample for one in noisy} == {2}
    for one in noisy:
        for level in one.levels:
            stored = condition(read_predictions(one.run.directory / "predictions.nc"), 21, level).isel(
                channel=0
            )
            assert (one.field("prediction", level) == stored["prediction"].values[0]).all()
            assert (one.field("input", level) == stored["input"].values[0, 0]).all()
            assert one.error(level) == expected_error(one.trained, level, 0, 2)
            assert (one.field("target", one.trained) == stored["target"].values[0]).all()


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


def images(svg):
    return svg.read_text().count("<image")


@pytest.mark.with_png
def test_figure_11_has_a_column_for_each_noise(paper, tmp_path):
    svg, png = save(of_paper(draw_noise_levels, paper), tmp_path / "figure11.svg")
    assert images(svg) == 3 * 3 + 3  # and three colour bars
    assert png.stat().st_size > 20_000
    again, *_ = save(of_paper(draw_noise_levels, paper), tmp_path / "again.svg")
    assert again.read_bytes() == svg.read_bytes()


@pytest.mark.with_png
def test_figure_12_has_a_picture_for_each_pair(paper, tmp_path):
    svg, png = save(of_paper(draw_noise_transfer, paper), tmp_path / "figure12.svg")
    assert images(svg) == sum(map(len, PAPER.values())) + 2  # target and colour bar
    assert png.stat().st_size > 20_000
    again, *_ = save(of_paper(draw_noise_transfer, paper), tmp_path / "again.svg")
    assert again.read_bytes() == svg.read_bytes()


@pytest.mark.with_png
def test_a_diverged_run_is_reported(make_run, tmp_path):
    runs = [[write_noisy_run(make_run, 0.0, [0, 0.01], diverged_epoch=3)]]
    assert error_words(noisy_of(runs)[0].error(0)) == "diverged"
    for draw in (draw_noise_levels, draw_noise_transfer):
        _, png = save(of_paper(draw, runs), tmp_path / f"{draw.__name__}.svg")
        assert png.stat().st_size > 5_000


def test_runs_that_cannot_be_shown_together_are_refused(make_run):
    first = write_noisy_run(make_run, 0.0, [0])
    second = write_noisy_run(make_run, 0.0, [0], seed=2)
    with pytest.raises(ResultError, match="were both trained at noise 0: give one of them"):
        noisy_of([[first], [second]])
    other = write_noisy_run(make_run, 0.1, [0.1], samples=(1, 3, 4))
    with pytest.raises(ResultError, match="no stored test sample in common"):
        noisy_of([[first], [other]])
    away = write_noisy_run(make_run, 0.05, [0, 0.1])
    with pytest.raises(ResultError, match=r"evaluated at others only: add 0\.05 to test_noise"):
        noisy_of([[away]])
