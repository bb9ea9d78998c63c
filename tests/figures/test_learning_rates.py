"""Stability by learning rate: final errors and collapsed runs of a sweep."""

from itertools import product

import numpy as np
import pytest
from exhibits import words_of

from resolvent.common.counts import settings_in_words
from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment.learning_rates import TOP, draw_learning_rates, final_errors

RATES = (1e-3, 6e-3)


@pytest.fixture
def swept(make_run):
    """Two models at two rates from four seeds: the printed one collapses thrice, once by divergence."""
    runs = [make_run("fno", label="FNO", training={"learning_rate": 1e-3})]
    for model, rate, seed in product(("printed", "ours"), RATES, (1, 2, 3, 4)):
        lost = model == "printed" and rate == max(RATES) and seed < 4
        runs.append(
            make_run(
                f"{model}_{rate:g}", label=f"{model}, {settings_in_words([('learning_rate', rate)])}",
                training={"learning_rate": rate}, seed=seed, level=0.5 if lost else 2e-3,
                diverged_epoch=3 if lost and seed == 1 else None,
            )
        )  # fmt: skip
    return runs


def test_the_final_error_is_that_of_the_last_epoch_and_a_collapse_is_far_above_the_best(swept):
    table = final_errors(read_runs(swept))
    assert len(table) == 16  # without the model that has one learning rate
    assert set(table["model"]) == {"printed", "ours"}
    collapsed = table[table["collapsed"]]
    assert set(zip(collapsed["model"], collapsed["rate"], collapsed["seed"], strict=True)) == {
        ("printed", max(RATES), seed) for seed in (1, 2, 3)
    }
    runs = {(run.model, run.seed): run for run in read_runs(swept)}
    last = runs["ours_0.001", 2].history["validation_relative_l2"].iloc[-1]
    ours = table[(table["model"] == "ours") & (table["rate"] == 1e-3)].set_index("seed")
    assert ours.loc[2, "error"] == last


def test_shares_have_exact_intervals_and_every_seed_is_drawn(swept):
    figure = draw_learning_rates(read_runs(swept))
    upper, lower = figure.axes
    shares = [line.get_ydata()[0] for line in upper.get_lines() if len(line.get_ydata()) == 1]
    assert sorted(shares) == [0, 0, 0, 0.75]
    intervals = [list(line.get_ydata()) for line in upper.get_lines() if len(line.get_ydata()) == 2]
    # The table of Clopper and Pearson for 3 and 0 of 4.
    assert any(np.allclose(one, [0.1941, 0.9937], atol=1e-4) for one in intervals)
    assert sum(np.allclose(one, [0, 0.6024], atol=1e-4) for one in intervals) == 3
    marks = {"x": 0, "o": 0}
    for line in lower.get_lines():
        if line.get_marker() in marks:
            marks[line.get_marker()] += len(line.get_ydata())
    assert marks == {"x": 3, "o": 13}
    assert max(np.max(line.get_ydata()) for line in lower.get_lines() if len(line.get_ydata())) == TOP
    assert {"printed", "ours"} <= set(words_of(figure))


def test_where_every_run_diverged_there_is_a_figure(make_run):
    label = f"ours, {settings_in_words([('learning_rate', 1.0)])}"
    run = make_run("ours", label=label, training={"learning_rate": 1.0}, diverged_epoch=2)
    assert final_errors(read_runs([run]))["collapsed"].all()
    assert len(draw_learning_rates(read_runs([run])).axes) == 2
