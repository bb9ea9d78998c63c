"""What pages say of models that learned next to nothing, of large units, and of several functions."""

import json

import numpy as np
import pandas as pd
import pytest
from run_files import replace_errors, vouched
from scipy import stats

from resolvent.figures.common.comparison import TO_LINEAR, TO_MEAN, by_condition, leading, read_comparison
from resolvent.figures.common.results import on_home_grid
from resolvent.figures.common.table import as_latex
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import headline
from resolvent.figures.experiment.verdict import verdicts

SAMPLES = 40


def errors_about(level, seed):
    return level * np.exp(0.05 * np.random.default_rng(seed).normal(size=SAMPLES))


def with_columns(run, **columns):
    """Give errors columns of other metrics, as factors of the relative L2 error."""
    errors = pd.read_csv(run / "errors.csv")
    for name, factor in columns.items():
        errors[name] = errors["relative_l2"] * factor
    return replace_errors(run, errors)


def with_facts(run, **facts):
    record = json.loads((run / "run.json").read_text()) | facts
    (run / "run.json").write_text(json.dumps(record))
    return vouched(run)


@pytest.fixture
def baselines(make_baselines):
    """The mean of the targets has the error 1.016, a fitted linear operator 0.994."""
    folder = make_baselines()
    table = pd.concat(
        pd.read_csv(folder / "errors.csv")
        .head(SAMPLES)
        .assign(baseline=key, relative_l2=errors_about(level, 0), sample=range(SAMPLES))
        for key, level in {"mean_predictor": 1.016, "ridge_regression": 0.994}.items()
    )
    costs = json.loads((folder / "cost.json").read_text())
    costs["costs"]["512"]["ridge_regression"] = {
        "label": "Linear ridge regression", "seconds_per_sample": 1e-3, "parameters": 0,
    }  # fmt: skip
    (folder / "cost.json").write_text(json.dumps(costs))
    return replace_errors(folder, table)


def three_seeds(make_run, **levels):
    return [
        make_run(model, seed=seed, errors=errors_about(level, 10 * seed))
        for model, level in levels.items()
        for seed in (1, 2, 3)
    ]


def compared(runs, baselines, tmp_path):
    write_comparison(runs, [baselines], tmp_path / "comparison.csv")
    table = read_comparison(tmp_path / "comparison.csv")
    return table, {one.facts["key"]: one for one in by_condition(on_home_grid(table))}


def test_models_that_learned_nothing_are_neither_bold_nor_the_best(make_run, baselines, tmp_path):
    runs = three_seeds(make_run, fno=0.968, galerkin=0.979, linear=1.001)
    table, found = compared(runs, baselines, tmp_path)
    for model, better in {"fno": "hardly", "galerkin": "hardly", "linear": "no"}.items():
        assert found[model].verdict == f"is {better} better than the mean of the targets"
        assert not found[model].is_among_the_best()
        to_mean, to_linear = (found[model].error(statistic=one) for one in (TO_MEAN, TO_LINEAR))
        assert 0.9 < to_mean.low < to_mean.high < 1.1
        assert 0.9 < to_linear.value < 1.1
    (words,) = verdicts(table)
    assert words.startswith(
        "On n = 512 no model is clearly better than predicting the mean of the targets: “fno” has the"
    )
    assert "; the mean of the targets has 1.0" in words
    assert "textbf" not in as_latex(headline(table))
    # Where one learned, the others are named.
    table, found = compared([*three_seeds(make_run, learnt=0.1), *runs[3:6]], baselines, tmp_path)
    assert found["learnt"].verdict == ""
    assert found["learnt"].is_among_the_best()
    assert "“galerkin” is hardly better than the mean of the targets." in verdicts(table)[0]
    assert "textbf" in as_latex(headline(table))
    constant = [with_facts(one, prediction_spread=0.0) for one in three_seeds(make_run, constant=0.1)]
    table, found = compared(constant, baselines, tmp_path)
    assert found["constant"].verdict == "predicts the same for every input"
    assert "no model is clearly better than predicting the mean" in verdicts(table)[0]


def test_a_metric_that_few_seeds_have_is_not_ranked(make_run, baselines, tmp_path):
    few, *rest = three_seeds(make_run, fno=0.1)
    runs = [with_columns(few, mine=1.0), *(with_columns(one, mine=np.nan) for one in rest)]
    runs += [with_columns(one, mine=1.0) for one in three_seeds(make_run, galerkin=0.2)]
    _, found = compared(runs, with_columns(baselines, mine=1.0), tmp_path)
    assert found["fno"].is_ranked()
    assert found["galerkin"].is_ranked("mine")
    assert not found["fno"].is_ranked("mine")


def test_the_spread_between_seeds_of_a_model_is_not_that_of_a_baseline(make_run, baselines, tmp_path):
    """A baseline has no seeds: half its errors are clearly fewer, though seeds differ by a fifth."""
    runs = [
        make_run("fno", seed=seed, errors=errors_about(0.5 * factor, 1))
        for seed, factor in enumerate(np.exp([-0.2, 0.0, 0.2]))
    ]
    _, found = compared(runs, baselines, tmp_path)
    ratio, spread = found["fno"].error(statistic=TO_MEAN), stats.t.ppf(0.975, 2) * 0.2 / np.sqrt(3)
    # Of a ratio the half-width is a factor 1 + t·s/√k, which stays finite for any spread.
    factors = np.array([ratio.value / ratio.low, ratio.high / ratio.value])
    assert factors == pytest.approx(1 + spread, rel=0.01)
    assert found["fno"].verdict == ""


def test_of_data_in_pascals_the_page_leads_with_standardised_errors(make_run, baselines, tmp_path):
    """An error of 23 % of the fluctuation is 1e-5 in physical units."""
    targets = {"names": ["pressure"], "mean": [101325.0], "deviation": [10.0]}
    run = with_columns(
        make_run("fno", errors=errors_about(1.24e-5, 1)), standardised_relative_l2=0.23 / 1.24e-5
    )
    baselines = with_columns(baselines, standardised_relative_l2=1.0)
    table, found = compared([with_facts(run, targets=targets)], baselines, tmp_path)
    assert leading(table) == "standardised_relative_l2"
    assert found["fno"].error().value == pytest.approx(0.23, rel=0.02)
    (words,) = verdicts(table)
    assert "“fno” has the lowest mean relative L² error of standardised functions, 0.23" in words
    assert "the error in physical units, 1.24" in words


def test_of_several_functions_each_has_its_error(make_run, baselines, tmp_path):
    """A velocity of the wrong sign beside a pressure of size 1e5 does not show in the error of both."""
    names = {"relative_l2_velocity": 2 / 2e-5, "relative_l2_pressure": 0.9}
    runs = [with_columns(make_run("fno", errors=errors_about(2e-5, 1)), **names)]
    table, found = compared(runs, with_columns(baselines, **names), tmp_path)
    assert found["fno"].error("relative_l2_velocity").value == pytest.approx(2, rel=0.02)
    assert "by function" not in verdicts(table)[0]  # a metric of one's own may have such a name
    (words,) = verdicts(table, ["velocity", "pressure"])
    assert "Its errors by function: 2.0" in words
    assert "(velocity), 1.8" in words.replace("\u00a0", " ")
