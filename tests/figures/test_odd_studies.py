"""Pages of odd but legal studies: models that lost a grid, equal labels, errors of zero, one model alone."""

import io
import re
from dataclasses import asdict
from itertools import product

import numpy as np
import pandas as pd
import pytest
from exhibits import compared, drawn, given
from rich.console import Console
from run_files import one_level, replace_errors, set_resolution, vouched, write_estimates, write_inference

from resolvent.common.files import write_json
from resolvent.common.predictions import tree_of, write_predictions
from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment import curves
from resolvent.figures.experiment.cost import INFERENCE
from resolvent.figures.experiment.error_table import BEST_TEST, headline
from resolvent.figures.experiment.estimates import STRESS
from resolvent.figures.experiment.report import READERS
from resolvent.figures.experiment.samples import draw_sample_trajectories
from resolvent.figures.experiment.verdict import verdicts
from resolvent.figures.front.leaderboard import COLUMNS
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import Study
from resolvent.figures.published.reported_numbers import summarise
from resolvent.public.describe import describe


def test_every_column_of_numbers_is_sorted_by_its_numbers(make_run, tmp_path):
    """The mantissa of 8 × 10⁻⁴ is more than 0.28."""
    runs = [make_run(best_test=(8e-4, 3)), make_run("linear", level=0.3, best_test=(0.28, 4))]
    table = headline(read_comparison(compared(runs, tmp_path)))
    place = [column.head for column in table.columns].index(BEST_TEST)
    rows = re.findall("<tr><th.*</tr>", as_html(table))
    keys = [re.findall(r'data-sort="([^"]*)"', row)[place - 1] for row in rows[1:]]
    assert list(map(float, keys)) == [8e-4, 0.28]


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_model_without_any_error_is_compared(make_run, tmp_path, seeds):
    runs = [
        make_run(model, attention=model, seed=seed, **options)
        for model, options in (("galerkin", {"errors": np.zeros(40)}), ("fourier", {}))
        for seed in range(1, 1 + seeds)
    ]
    (words,) = verdicts(read_comparison(compared(runs, tmp_path)))
    assert "“galerkin” has the lowest mean relative L² error, 0.00" in words
    assert re.search(r"“fourier” is next with \d\.\d\d\s×\s10⁻⁴\. They cannot be ranked", words)


def test_on_one_test_sample_nothing_is_ranked_for_that_reason(make_run, tmp_path):
    runs = []
    for model, seed in product(("galerkin", "fourier"), (1, 2, 3)):
        run = make_run(model, attention=model, seed=seed)
        runs.append(replace_errors(run, pd.read_csv(run / "errors.csv")[:1]))
    comparison = read_comparison(compared(runs, tmp_path))
    assert "times that error. They cannot be ranked on one test sample." in verdicts(comparison)[0]
    assert headline(comparison).note == ""


def test_a_model_that_lost_its_first_grid_is_in_the_legend(make_run, tmp_path):
    made = [
        make_run(model, attention=model, resolution=points, tested=(512, 1024), diverged_epoch=lost)
        for model in ("galerkin", "fourier")
        for points, lost in ((512, 0 if model == "fourier" else None), (1024, None))
    ]
    runs = read_runs(made)
    looks, comparison = appearances(runs), read_comparison(compared(made, tmp_path))
    for chart in (curves.chart_resolutions(comparison, looks), curves.chart_training(runs, looks)):
        assert [one.name for one in chart.data if one.showlegend] == ["galerkin", "fourier"]


def test_models_with_one_label_are_in_the_legend_of_every_figure(make_run, tmp_path):
    models = ("galerkin", "fourier")
    made = [make_run(model, attention=model, label="mine") for model in models]
    of = {"kind": "model", "label": "mine", "resolution": 512, "error": 1e-3, "one_seconds": 1e-3}
    table = write_inference(tmp_path, *(of | {"key": key, "many_seconds": 1e-4} for key in models))
    of = {"label": "mine", "resolution": 512, "seed": 1, "shift": "none", "factor": 1.0, "to_solver": 1e-3}
    rows = [
        of | {"model": model, "sample": at, "relative_l2": 0.01 * (1 + at)}
        for model in models
        for at in range(3)
    ]
    more = {"inference": table, "estimates": write_estimates(tmp_path, *rows)}
    for exhibit in (INFERENCE, STRESS):
        (legend,) = drawn(exhibit, made, **more).legends
        assert [text.get_text() for text in legend.get_texts()] == ["mine", "mine"]


def test_a_study_without_experiments_has_a_table_without_rows(tmp_path):
    write_json(tmp_path / "study.json", asdict(Study(name="data")))
    write_front_page(tmp_path)
    assert list(pd.read_csv(tmp_path / "leaderboard.csv")) == COLUMNS
    assert "This configuration has no experiment." in (tmp_path / "index.html").read_text()


def test_the_caption_of_training_has_the_settings_of_every_model(make_run, tmp_path):
    runs = [make_run(setting={"batch_size": 8}), make_run("other", setting={"batch_size": 20, "epochs": 4})]
    page = Sources(READERS, **given(runs, compared(runs, tmp_path)))
    drawn = tmp_path / "training_curves.svg"
    curves.TRAINING_CURVES.write(page, drawn)
    caption = curves.TRAINING_CURVES.on_page(page, drawn, tmp_path)["caption"]
    assert "1,024 training samples, 4 and 100 epochs, batch size 8 and 20." in caption


@pytest.mark.parametrize(
    ("selections", "caption", "summary"),
    [
        (["best", "best"], ", which select the checkpoint.", " to choose the checkpoint,"),
        (
            ["best", "last"],
            ", which select the checkpoint of some models.",
            " to choose the checkpoint of some",
        ),
        (["last", "last"], ", which select nothing.", " to measure the error of each epoch,"),
    ],
)
def test_where_the_last_epoch_is_kept_no_sample_selects_it(make_run, tmp_path, selections, caption, summary):
    runs = [
        make_run(f"model{number}", attention=None, training={"selection": selection})
        for number, selection in enumerate(selections)
    ]
    page = Sources(READERS, **given(runs, compared(runs, tmp_path)))
    words = page["facts"] | {"validation": 100}
    assert caption in curves.TRAINING_CURVES.caption.format(**words)
    assert summary in summarise(page["runs"])


def test_realisations_of_the_noise_are_no_further_samples(make_run):
    run, said = make_run(noise=0.1, tested_noise=(0.1,), realisations=5), io.StringIO()
    describe(str(run), Console(file=said, width=100))
    assert re.search(r"512 .* 0\.1 .* 40 ", said.getvalue())


def test_every_observed_function_of_a_trajectory_is_drawn(make_run):
    run = make_run("tno", attention=None, dimension=2, resolution=3)
    times = np.linspace(0, 2, 21)
    observed = np.stack([np.sin(times), np.cos(times), np.full(21, 0.3)]) * np.ones((3, 1, 1))
    part = one_level(0.0, {"time": times}, observed, observed[:, :1], observed[:, :1], samples=(0, 1))
    write_predictions(run / "predictions.nc", tree_of({"dt0.1": [part]}, {}))
    set_resolution(run, "dt0.1")
    figure = draw_sample_trajectories(read_runs([vouched(run)])[0])
    lines = [line.get_ydata() for line in figure.axes[0].lines]
    np.testing.assert_allclose(lines, observed[0, :2])
