"""The figures of Calvello et al. 2024: which runs and numbers they draw, whatever a run has gone through."""

import numpy as np
import pytest
from calvello2024_samples import (
    LORENZ,
    OBSERVATIONS,
    SAMPLES,
    expected_error,
    write_flow_run,
    write_trajectory_run,
)
from exhibits import of_paper, read_all

from resolvent.common.predictions import condition, functions, read_predictions
from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.fields import log_scale_of
from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.papers.calvello2024 import extreme_fields, other_grids, time_steps, trajectories
from resolvent.figures.papers.calvello2024.chosen import (
    compared,
    first_of_each_architecture,
    first_with,
    of_widest,
    standardised_words,
)


@pytest.fixture
def figures_made():
    """The figures that a test has drawn."""
    return []


def words_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text")))


def drawn(panel):
    """Return the points of every line of a panel that are all finite."""
    lines = [np.asarray(line.get_xydata(), dtype=float) for line in panel.get_lines()]
    return [line for line in lines if line.size and np.isfinite(line).all()]


def has_line(panel, points):
    return any(line.shape == (len(points), 2) and np.allclose(line, points) for line in drawn(panel))


# Trajectories: Figures 6, 8 and 9.


@pytest.fixture
def both(make_run):
    """Two seeds with weights, of which the first diverged, and one run without."""
    return [
        write_trajectory_run(make_run, "tno", "trapezoid", seed=1, diverged_epoch=3),
        write_trajectory_run(make_run, "tno", "trapezoid", seed=2, wrong=0.02),
        write_trajectory_run(make_run, "transformer", "none", seed=1, wrong=0.2),
    ]


def test_figure_6_draws_every_component_and_the_errors_the_paper_prints(make_run, tmp_path, figures_made):
    run = write_trajectory_run(make_run, "tno", "trapezoid", components=2)
    figures_made.append(of_paper(trajectories.draw_on_training_grid, [[run]]))
    (figure,) = figures_made
    assert len(figure.axes) == 2 * (2 + 2)
    worst = 2 * expected_error(0.02, "dt0.01", SAMPLES - 1)
    median = 2 * np.median([expected_error(0.02, "dt0.01", sample) for sample in range(SAMPLES)])
    words = words_of(figure)
    assert f"all {SAMPLES} test samples: median {median:.2e}, worst {worst:.2e}" in words
    assert f"median (test sample 2): relative L² error {expected_error(0.02, 'dt0.01', 2):.2e}" in words


def test_figures_8_and_9_have_the_same_axes_and_their_own_model(both, tmp_path, figures_made):
    figures_made.append(of_paper(trajectories.draw_uneven_weighted, [both]))
    figures_made.append(of_paper(trajectories.draw_uneven_unweighted, [both]))
    weighted, unweighted = figures_made
    for one, other in zip(weighted.axes, unweighted.axes, strict=True):
        assert one.get_ylim() == other.get_ylim()
        assert one.get_xlim() == other.get_xlim()
    stored = {
        model: condition(read_predictions(both[number] / "predictions.nc"), "two_rates", 0)
        for number, model in ((1, "tno"), (2, "transformer"))
    }
    for figure, model in ((weighted, "tno"), (unweighted, "transformer")):
        prediction = stored[model]["extreme_prediction"].values[:, 0]
        for column in (0, 1):
            points = np.stack([stored[model]["time"].values, prediction[column]], axis=1)
            assert has_line(figure.axes[2 + column], points)
        low, high = figure.axes[2].get_ylim()
        assert low < stored["transformer"]["extreme_prediction"].values.min()  # the larger of the two
        assert high > stored["transformer"]["extreme_prediction"].values.max()
        assert f"{model}, trained at dt0.01, tested at two_rates" in words_of(figure)


def test_the_seed_shown_is_the_first_that_finished(both, make_run):
    assert first_with(read_all([both]), quadrature="trapezoid").seed == 2
    lost = [write_trajectory_run(make_run, "lost", "trapezoid", seed=one, diverged_epoch=1) for one in (4, 5)]
    assert first_with(read_all([lost]), quadrature="trapezoid").seed == 4
    with pytest.raises(ResultError, match=r"none of 2 runs has quadrature: none: add such a model"):
        first_with(read_all([lost]), quadrature="none")


def test_a_diverged_run_leaves_the_other_s_axes(make_run, tmp_path, figures_made):
    runs = [
        write_trajectory_run(make_run, "tno", "trapezoid", diverged_epoch=1),
        write_trajectory_run(make_run, "transformer", "none"),
    ]
    figures_made.append(of_paper(trajectories.draw_uneven_weighted, [runs]))
    figures_made.append(of_paper(trajectories.draw_uneven_unweighted, [runs]))
    assert [axes.get_ylim() for axes in figures_made[0].axes] == [
        axes.get_ylim() for axes in figures_made[1].axes
    ]
    assert words_of(figures_made[0]).count("diverged") == 2


def test_runs_without_the_uneven_times_are_refused(make_run, tmp_path):
    few = {**LORENZ, "observations": {"dt0.01": OBSERVATIONS["dt0.01"]}}
    runs = [
        write_trajectory_run(make_run, *pair, dataset=few)
        for pair in (("tno", "trapezoid"), ("transformer", "none"))
    ]
    with pytest.raises(ResultError, match="was not tested at times of kind two_rates: add them"):
        of_paper(trajectories.draw_uneven_weighted, [runs])


def test_errors_of_standardised_functions_are_reported_where_they_are_recorded(make_run):
    (without,) = read_runs([write_flow_run(make_run, "a", "fano", standardised=False)])
    (lost,) = read_runs([write_flow_run(make_run, "b", "fano", diverged_epoch=2)])
    assert (standardised_words(without, 16), standardised_words(lost, 16)) == ("", "")


# Time steps: Figure 7.


def test_steps_are_read_from_the_dataset_and_other_times_stand_right_of_them(both):
    (run,) = read_runs([both[1]])
    assert time_steps.steps_of(run) == {"dt0.005": 0.005, "dt0.01": 0.01, "dt0.02": 0.02}
    equal, others = time_steps.places_of(run, ["random", "two_rates", "dt0.02", "dt0.01"])
    assert equal == {"dt0.01": 0.01, "dt0.02": 0.02}
    assert list(others) == ["two_rates", "random"]
    assert 0.02 < others["two_rates"] < others["random"]


def test_figure_7_draws_medians_and_means_of_the_seeds_that_finished(both, tmp_path, figures_made):
    comparison = tmp_path / "comparison.csv"
    write_comparison(both, [], comparison)
    figures_made.append(of_paper(time_steps.draw_time_steps, [both, both], [comparison, comparison]))
    (figure,) = figures_made
    assert len(figure.axes) == 2
    for wrong in (0.02, 0.2):
        for statistic in (np.median, np.mean):
            errors = {
                name: statistic([expected_error(wrong, name, sample) for sample in range(SAMPLES)])
                for name in OBSERVATIONS
            }
            steps = {"dt0.005": 0.005, "dt0.01": 0.01, "dt0.02": 0.02}
            for panel in figure.axes:
                assert has_line(panel, [(step, errors[name]) for name, step in steps.items()])
                assert has_line(panel, [(0.028, errors["two_rates"]), (0.0392, errors["random"])])
                assert panel.get_yscale() == "log"
    assert [tick.get_text() for tick in panel.get_xticklabels()] == [
        "0.005", "0.01", "0.02", "two rates", "random",
    ]  # fmt: skip


def test_figure_7_says_that_all_runs_diverged(make_run, tmp_path, figures_made):
    runs = [write_trajectory_run(make_run, "tno", "trapezoid", diverged_epoch=1)]
    comparison = tmp_path / "comparison.csv"
    write_comparison(runs, [], comparison)
    figures_made.append(of_paper(time_steps.draw_time_steps, [runs], [comparison]))
    assert "every run diverged" in words_of(figures_made[0])


# Median and worst fields: Figures 12, 13, 16 and 18.


def images(figure):
    return [
        np.ma.filled(axes.get_images()[0].get_array(), np.nan) for axes in figure.axes if axes.get_images()
    ]


def test_figures_12_and_13_draw_both_samples_from_input_to_error(make_run, tmp_path, figures_made):
    run = write_flow_run(make_run, "fano", "fano", jump=0.3)
    figures_made.append(of_paper(extreme_fields.draw_answers, [[run]]))
    (figure,) = figures_made
    stored = condition(read_predictions(run / "predictions.nc"), 16, 0)
    fields = [functions(stored[f"extreme_{name}"]) for name in ("input", "target", "prediction")]
    fields.append(np.abs(fields[2] - fields[1]))
    expected = [field[row] for row in (0, 1) for field in fields]
    for image, field in zip(images(figure), expected, strict=True):
        np.testing.assert_allclose(image, field)
    of_error = [axes.get_images()[0].norm for axes in figure.axes[:8]][3::4]
    assert of_error[0].vmin == of_error[1].vmin
    assert of_error[0].vmax == pytest.approx(fields[3].max())
    words = words_of(figure)
    assert "median: sample 3\nrelative L² 2.60e-02" in words
    assert "worst: sample 5\nrelative L² 3.00e-02" in words
    assert "median 3.75e-02, worst 4.50e-02" in words


def test_figure_16_draws_what_changes(make_run, tmp_path, figures_made):
    run = write_flow_run(make_run, "fano", "fano", jump=0.3)
    figures_made.append(of_paper(extreme_fields.draw_increments, [[run]]))
    stored = condition(read_predictions(run / "predictions.nc"), 16, 0)
    u, truth, prediction = (
        functions(stored[f"extreme_{name}"]) for name in ("input", "target", "prediction")
    )
    expected = [u, np.abs(truth - u), np.abs(prediction - u), np.abs(prediction - truth)]
    for image, field in zip(images(figures_made[0])[:4], expected, strict=True):
        np.testing.assert_allclose(image, field[0])
    scales = [axes.get_images()[0].get_clim() for axes in figures_made[0].axes[:4]]
    assert scales[1] == scales[2]


def test_figure_18_takes_the_model_with_the_inverse_laplacian(make_run, tmp_path, figures_made):
    runs = [
        write_flow_run(make_run, "fano", "fano", settings={"smoother": "learned"}),
        write_flow_run(make_run, "smooth", "fano", settings={"smoother": "inverse_laplacian"}, jump=0.7),
    ]
    figures_made.append(of_paper(extreme_fields.draw_smoothed_increments, [runs]))
    stored = condition(read_predictions(runs[1] / "predictions.nc"), 16, 0)
    error = np.abs(functions(stored["extreme_prediction"] - stored["extreme_target"]))
    np.testing.assert_allclose(images(figures_made[0])[3], error[0])


def test_fields_of_a_diverged_run_are_drawn_as_such(make_run, tmp_path, figures_made):
    run = write_flow_run(make_run, "fano", "fano", diverged_epoch=2)
    for draw in (extreme_fields.draw_answers, extreme_fields.draw_increments):
        figures_made.append(of_paper(draw, [[run]]))
    for figure in figures_made:
        assert words_of(figure).count("diverged") == 2 * 3  # beside each sample; prediction and error


def test_a_logarithmic_scale_of_errors():
    scale = log_scale_of(np.array([0.0, 1e-9, 0.5, np.nan]))["norm"]
    assert (scale.vmin, scale.vmax) == pytest.approx((5e-5, 0.5))
    assert scale(0.0) == scale(1e-9) == 0  # at the foot of the scale, not blank
    for nothing in (np.zeros(3), np.full(3, np.nan)):
        assert log_scale_of(nothing)["norm"].vmax == 1


# Other grids: Figures 14, 15, 17 and 19.


@pytest.fixture
def flows(make_run, tmp_path):
    """Models of three architectures, some of them narrow, one for one grid only; and their comparison."""
    wide, narrow = {"width": 32, "smoother": "learned", "periodic_extension": False}, {"width": 16}
    runs = [
        write_flow_run(make_run, "fano", "fano", settings=wide),
        write_flow_run(make_run, "fano_narrow", "fano", settings=wide | narrow, away=0.03),
        write_flow_run(
            make_run, "extended", "fano", settings=wide | {"periodic_extension": True}, away=0.002
        ),
        write_flow_run(make_run, "bare", "fano", settings=wide | {"smoother": "none"}),
        write_flow_run(make_run, "fno", "neuraloperator2d", settings={"width": 32, "modes": 6}, away=0.001),
        write_flow_run(make_run, "afno", "afno", settings={"width": 32}, tested=(16,)),
        write_flow_run(make_run, "lost", "vit_no", settings={"width": 32}, diverged_epoch=1),
    ]
    write_comparison(runs, [], tmp_path / "comparison.csv")
    return tmp_path / "comparison.csv", runs


def curve(away, tested=(16, 24, 32)):
    """Medians over the samples, on each grid."""
    return [(points, (0.02 + number * away) * 1.25) for number, points in enumerate(tested)]


def test_figure_17_draws_the_first_model_of_each_architecture(flows, tmp_path, figures_made):
    comparison, runs = flows
    figures_made.append(of_paper(other_grids.draw_other_grids, [runs, runs], [comparison, comparison]))
    (figure,) = figures_made
    assert len(figure.axes) == 2
    for panel in figure.axes:
        for points in (curve(0.01), curve(0.001), curve(0.01, (16,))):
            assert has_line(panel, points)
        assert not has_line(panel, curve(0.03))
        assert not has_line(panel, curve(0.002))
        labels = {text.get_text() for text in panel.texts}
        assert labels == {"fano", "fno", "afno", "diverged: lost"}
        assert panel.get_yscale() == "log"


def test_figure_19_draws_the_two_that_differ_in_the_extension_alone(flows, tmp_path, figures_made):
    comparison, runs = flows
    figures_made.append(of_paper(other_grids.draw_extended, [runs], [comparison]))
    (panel,) = figures_made[0].axes
    assert {text.get_text() for text in panel.texts} == {"fano", "extended"}
    assert has_line(panel, curve(0.01))
    assert has_line(panel, curve(0.002))


def test_of_two_such_pairs_that_without_smoother_is_drawn(flows, make_run):
    runs = read_runs(flows[1])
    assert other_grids.extended_pair(runs) == ("fano", "extended")
    bare = {"width": 32, "smoother": "none", "periodic_extension": True}
    more = read_runs([write_flow_run(make_run, "bare_extended", "fano", settings=bare)])
    assert other_grids.extended_pair(runs + more) == ("bare", "bare_extended")
    with pytest.raises(ResultError, match="no two models of fano differ in periodic_extension alone"):
        other_grids.extended_pair([run for run in runs if run.model != "extended"])


def test_a_panel_without_any_finished_run_says_so(make_run, tmp_path, figures_made):
    runs = [write_flow_run(make_run, "lost", "fano", diverged_epoch=1)]
    write_comparison(runs, [], tmp_path / "comparison.csv")
    figures_made.append(of_paper(other_grids.draw_other_grids, [runs], [tmp_path / "comparison.csv"]))
    assert "every run diverged" in words_of(figures_made[0])


def test_which_models_are_shown(flows):
    runs = read_runs(flows[1])
    assert first_of_each_architecture(runs) == ["fano", "fno", "afno", "lost"]
    assert {run.model for run in of_widest(runs)} == {run.model for run in runs} - {"fano_narrow"}
    (one,) = compared([read_comparison(flows[0])], read_all([flows[1]]))
    assert set(one.only(["fano"]).rows["key"]) == {"fano"}
    assert one.heading == "Kolmogorov, trained on n = 16"
