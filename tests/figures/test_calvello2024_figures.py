"""The figures of Calvello et al. 2024: which runs and numbers they draw."""

import numpy as np
import pytest
from calvello2024_samples import (
    LORENZ,
    OBSERVATIONS,
    PATCHES,
    SAMPLES,
    expected_error,
    write_flow_run,
    write_trajectory_run,
)
from exhibits import compared, of_paper
from exhibits import words_of as texts_of

from resolvent.common.predictions import condition, functions, read_predictions
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import read_runs
from resolvent.figures.papers.calvello2024 import figures
from resolvent.figures.papers.calvello2024.chosen import extended_pair

WIDE = {"width": 32, "patches": PATCHES}
UNEVEN = (figures.draw_uneven_weighted, figures.draw_uneven_unweighted)


def words_of(figure):
    return " ".join(texts_of(figure))


def labels_of(panel):
    return {text.get_text() for text in panel.texts}


def has_line(panel, points):
    """Whether a line of the panel runs through these points alone."""
    points = np.array(points, dtype=float)
    lines = [np.asarray(line.get_xydata(), dtype=float) for line in panel.get_lines()]
    return any(line.shape == points.shape and np.allclose(line, points) for line in lines)


# Trajectories: Figures 6, 8 and 9.


@pytest.fixture
def both(make_run):
    """Two seeds with weights, of which the first diverged, and one run without."""
    return [
        write_trajectory_run(make_run, "tno", "trapezoid", seed=1, diverged_epoch=3),
        write_trajectory_run(make_run, "tno", "trapezoid", seed=2, wrong=0.02),
        write_trajectory_run(make_run, "transformer", "none", seed=1, wrong=0.2),
    ]


def test_figure_6_draws_every_component_and_the_errors_the_paper_prints(make_run):
    run = write_trajectory_run(make_run, "tno", "trapezoid", components=2)
    figure = of_paper(figures.draw_on_training_grid, [[run]])
    assert len(figure.axes) == 2 * (2 + 2)
    worst = 2 * expected_error(0.02, "dt0.01", SAMPLES - 1)
    median = 2 * np.median([expected_error(0.02, "dt0.01", sample) for sample in range(SAMPLES)])
    words = words_of(figure)
    assert f"all {SAMPLES} test samples: median {scientific(median)}, worst {scientific(worst)}" in words
    assert (
        f"median (test sample 2): relative L² error {scientific(expected_error(0.02, 'dt0.01', 2))}" in words
    )


def test_figures_8_and_9_have_the_same_axes_and_their_own_model(both):
    drawn = [of_paper(draw, [both]) for draw in UNEVEN]
    for one, other in zip(*(figure.axes for figure in drawn), strict=True):
        assert (one.get_ylim(), one.get_xlim()) == (other.get_ylim(), other.get_xlim())
    stored = [condition(read_predictions(run / "predictions.nc"), "two_rates", 0) for run in both[1:]]
    low, high = drawn[0].axes[2].get_ylim()
    assert low < stored[1]["extreme_prediction"].values.min()  # the larger of the two
    assert high > stored[1]["extreme_prediction"].values.max()
    for figure, one, model in zip(drawn, stored, ("tno", "transformer"), strict=True):
        for column in (0, 1):
            curve = zip(one["time"].values, one["extreme_prediction"].values[column, 0], strict=True)
            assert has_line(figure.axes[2 + column], list(curve))
        assert f"{model}, trained at dt0.01, tested at two_rates" in words_of(figure)


def test_a_diverged_run_has_the_axes_of_the_other_and_a_run_without_the_uneven_times_none(make_run):
    runs = [
        write_trajectory_run(make_run, "tno", "trapezoid", diverged_epoch=1),
        write_trajectory_run(make_run, "transformer", "none"),
    ]
    weighted, unweighted = (of_paper(draw, [runs]) for draw in UNEVEN)
    assert [axes.get_ylim() for axes in weighted.axes] == [axes.get_ylim() for axes in unweighted.axes]
    assert words_of(weighted).count("diverged") == 2
    few = {**LORENZ, "observations": {"dt0.01": OBSERVATIONS["dt0.01"]}}
    runs[0] = write_trajectory_run(make_run, "few", "trapezoid", dataset=few)
    with pytest.raises(ResultError, match="two_rates"):
        of_paper(figures.draw_uneven_weighted, [runs])


# Time steps: Figure 7.


def test_figure_7_draws_medians_and_means_of_the_seeds_that_finished(both, tmp_path):
    comparison = compared(both, tmp_path)
    figure = of_paper(figures.draw_time_steps, [both, both], [comparison, comparison])
    assert len(figure.axes) == 2
    steps = {"dt0.005": 0.005, "dt0.01": 0.01, "dt0.02": 0.02}
    for wrong in (0.02, 0.2):
        for statistic in (np.median, np.mean):
            errors = {
                name: statistic([expected_error(wrong, name, sample) for sample in range(SAMPLES)])
                for name in OBSERVATIONS
            }
            for panel in figure.axes:
                assert has_line(panel, [(step, errors[name]) for name, step in steps.items()])
                assert has_line(panel, [(0.028, errors["two_rates"]), (0.0392, errors["random"])])
    names = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert names == ["0.005", "0.01", "0.02", "two rates", "random"]  # in the order of their places


# Median and worst fields: Figures 12, 13, 16 and 18.


def images(figure):
    found = [axes.get_images()[0].get_array() for axes in figure.axes if axes.get_images()]
    return [np.ma.filled(values, np.nan) for values in found]


def extremes(run):
    """The two samples' input, target and prediction."""
    stored = condition(read_predictions(run / "predictions.nc"), 16, 0)
    return [functions(stored[f"extreme_{name}"]) for name in ("input", "target", "prediction")]


def test_figures_12_and_13_draw_both_samples_from_input_to_error(make_run):
    run = write_flow_run(make_run, "fano", "fano", jump=0.3)
    figure = of_paper(figures.draw_answers, [[run]])
    fields = extremes(run)
    fields.append(np.abs(fields[2] - fields[1]))
    expected = [field[row] for row in (0, 1) for field in fields]
    for image, field in zip(images(figure), expected, strict=True):
        np.testing.assert_allclose(image, field)
    of_error = [axes.get_images()[0].norm for axes in figure.axes[:8]][3::4]
    assert of_error[0].vmin == of_error[1].vmin
    assert of_error[0].vmax == pytest.approx(fields[3].max())
    words = words_of(figure)
    assert "median: sample 3\nrelative L² 2.60 × 10⁻²" in words
    assert "worst: sample 5\nrelative L² 3.00 × 10⁻²" in words
    assert "median 3.75 × 10⁻², worst 4.50 × 10⁻²" in words


def test_figures_16_and_18_draw_what_changes(make_run):
    run = write_flow_run(make_run, "fano", "fano", jump=0.3, settings={"smoother": "learned"})
    figure = of_paper(figures.draw_increments, [[run]])
    u, truth, prediction = extremes(run)
    expected = [u, np.abs(truth - u), np.abs(prediction - u), np.abs(prediction - truth)]
    for image, field in zip(images(figure)[:4], expected, strict=True):
        np.testing.assert_allclose(image, field[0])
    scales = [axes.get_images()[0].get_clim() for axes in figure.axes[:4]]
    assert scales[1] == scales[2]
    smooth = write_flow_run(make_run, "smooth", "fano", settings={"smoother": "inverse_laplacian"}, jump=0.7)
    _, truth, prediction = extremes(smooth)
    drawn = images(of_paper(figures.draw_smoothed_increments, [[run, smooth]]))
    np.testing.assert_allclose(drawn[3], np.abs(prediction - truth)[0])


# Other grids: Figures 14, 15, 17 and 19.


@pytest.fixture
def flows(make_run):
    """Models of three architectures, some of them narrow, one for one grid only."""
    wide, narrow = {"width": 32, "smoother": "learned", "periodic_extension": False}, {"width": 16}
    extended = wide | {"periodic_extension": True}
    return [
        write_flow_run(make_run, "fano", "fano", settings=wide),
        write_flow_run(make_run, "fano_narrow", "fano", settings=wide | narrow, away=0.03),
        write_flow_run(make_run, "extended", "fano", settings=extended, away=0.002),
        write_flow_run(make_run, "bare", "fano", settings=wide | {"smoother": "none"}),
        write_flow_run(make_run, "fno", "neuraloperator2d", settings={"width": 32, "modes": 6}, away=0.001),
        write_flow_run(make_run, "afno", "afno", settings={"width": 32}, tested=(16,)),
        write_flow_run(make_run, "lost", "vit_no", settings={"width": 32}, diverged_epoch=1),
    ]


def curve(away, tested=(16, 24, 32)):
    """Medians over the samples, on each grid."""
    return [(points, (0.02 + number * away) * 1.25) for number, points in enumerate(tested)]


def test_figure_17_draws_the_first_model_of_each_architecture(flows, tmp_path):
    comparison = compared(flows, tmp_path)
    figure = of_paper(figures.draw_other_grids, [flows, flows], [comparison, comparison])
    assert len(figure.axes) == 2
    for panel in figure.axes:
        assert all(has_line(panel, points) for points in (curve(0.01), curve(0.001), curve(0.01, (16,))))
        assert not any(has_line(panel, curve(away)) for away in (0.03, 0.002))
        assert labels_of(panel) == {"fano", "fno", "afno", "diverged: lost"}
        assert panel.get_title(loc="left") == "Kolmogorov, trained on n = 16"


def test_figure_19_draws_the_two_that_differ_in_the_extension_alone(flows, tmp_path, make_run):
    (panel,) = of_paper(figures.draw_extended, [flows], [compared(flows, tmp_path)]).axes
    assert labels_of(panel) == {"fano", "extended"}
    assert has_line(panel, curve(0.01))
    assert has_line(panel, curve(0.002))
    runs = read_runs(flows)
    bare = {"width": 32, "smoother": "none", "periodic_extension": True}
    more = read_runs([write_flow_run(make_run, "bare_extended", "fano", settings=bare)])
    assert extended_pair(runs + more) == ("bare", "bare_extended")  # without smoother, if there is one
    with pytest.raises(ResultError, match="periodic_extension"):
        extended_pair([run for run in runs if run.model != "extended"])
