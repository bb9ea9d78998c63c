"""Curves of errors against samples and time: known ones are found again, and budgets are divided by them."""

import numpy as np
import pandas as pd
import pytest
from exhibits import drawn
from run_files import write_inference

from resolvent.figures.common.intervals import REPLICATES, resampled_means
from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment.cost import read_inference
from resolvent.figures.experiment.scaling import SCALING, Size, budget_table, fit, scaling_curves, sizes_of

SAMPLES = np.array([64.0, 128.0, 256.0, 512.0])
HARDNESS = np.exp(0.4 * np.random.default_rng(3).normal(size=24))
HARDNESS /= HARDNESS.mean()


@pytest.mark.parametrize(("exponent", "floor"), [(0.5, 0.0), (0.8, 3e-3), (1.5, 2e-4)])
def test_a_curve_is_found_again(exponent, floor):
    errors = floor + 2.0 * SAMPLES**-exponent
    curve = fit(SAMPLES, errors[None], with_floor=True)
    assert curve.exponent[0] == pytest.approx(exponent, rel=1e-2)
    assert curve.floor[0] == pytest.approx(floor, abs=2e-3 * errors.min())
    assert curve(1024)[0] == pytest.approx(floor + 2.0 * 1024**-exponent, rel=1e-2)
    without = fit(SAMPLES, 2.0 * SAMPLES[None] ** -exponent, with_floor=False)
    assert (without.exponent[0], without.floor[0]) == (pytest.approx(exponent, rel=1e-12), 0)


def test_the_misfit_is_the_spread_about_the_curve():
    off = np.array([1.1, 1 / 1.1, 1 / 1.1, 1.1])  # which no slope explains
    errors = off * SAMPLES**-0.5
    sizes = [Size("fno", 0, None, errors[:1], errors[one : one + 1], 0.0, 0.0) for one in range(4)]
    curve = fit(SAMPLES, errors[None], with_floor=False)
    assert curve.misfit(sizes, list(SAMPLES)) == pytest.approx(np.log(1.1))


def test_intervals_of_the_exponent_hold():
    generator, held, trials = np.random.default_rng(5), 0, 200
    for _ in range(trials):
        hardness = 0.5 * generator.normal(size=40)
        means = []
        for number, samples in enumerate(SAMPLES):
            seeds = 0.1 * generator.normal(size=(3, 1))
            logarithms = hardness + seeds + 0.2 * generator.normal(size=(3, 40))
            means.append(resampled_means(samples**-0.5 * np.exp(logarithms), number))
        exponents = fit(SAMPLES, np.stack(means, axis=1), with_floor=False).exponent[1:]
        assert exponents.shape == (REPLICATES,)
        low, high = np.quantile(exponents, [0.025, 0.975])
        held += low <= 0.5 <= high
    assert 0.92 <= held / trials <= 1  # three seeds say little of their spread: rather too wide


@pytest.fixture
def family(make_run, tmp_path):
    """Errors 2 N^-0.5 at width 16, 8 N^-0.7 at 32, which takes thrice the time; a sample takes 0.01 s."""
    runs, rows = [], []
    for width, coefficient, exponent, seconds in ((16, 2.0, 0.5, 0.1), (32, 8.0, 0.7, 0.3)):
        for samples in (64, 128, 256):
            model = f"fno_n{samples}_w{width}"
            runs.append(
                make_run(
                    model, label=f"FNO, {samples} samples, width {width}",
                    attention=None, architecture="fno1d",
                    settings={"width": width}, training={"train_samples": samples},
                    errors=coefficient * samples**-exponent * HARDNESS, seconds=seconds * samples,
                )
            )  # fmt: skip
            row = {"kind": "model", "key": model, "resolution": 512, "data_seconds": 0.01 * (samples + 100)}
            rows.append(row)
    return runs, write_inference(tmp_path, *rows)


def test_curves_of_every_width_and_of_time(family):
    runs, inference = family
    curves = scaling_curves(sizes_of(read_runs(runs), read_inference(inference)))
    assert curves["label"].unique().tolist() == ["FNO"]
    assert curves["against"].tolist() == ["samples", "samples", "seconds"]
    by_width = curves[curves["against"] == "samples"].set_index("width")
    # A hard sample is hard at every size: the exponent is known exactly, and two seeds' spread there is none.
    for name in ("exponent", "exponent_low", "exponent_high"):
        assert by_width[name].tolist() == pytest.approx([0.5, 0.7], rel=1e-9)
    assert by_width["coefficient"].tolist() == pytest.approx([2.0, 8.0], rel=1e-9)
    assert curves["floor"].isna().all()
    assert by_width["misfit"].tolist() == pytest.approx([0, 0], abs=1e-9)


def test_a_budget_buys_samples_at_the_width_of_the_least_error(family):
    runs, inference = family
    table = budget_table(sizes_of(read_runs(runs), read_inference(inference)))
    budget = 256 * 0.31  # the dearest size
    small, large = 2.0 * (budget / 0.11) ** -0.5, 8.0 * 256**-0.7
    assert small < large
    first, second = table.rows
    assert [cell.text for cell in first[:5]] == ["FNO", "n = 512", "1.3 min", f"{budget / 0.11:,.0f}", "16"]
    assert first[3].warning  # more than were tried
    assert first[4].note == "in 100% of the replicates"
    assert first[5].value == pytest.approx(0.01 / 0.11)
    assert first[6].value == pytest.approx(small)
    large = 8.0 * (10 * budget / 0.31) ** -0.7
    assert second[6].value == pytest.approx(min(large, 2.0 * (10 * budget / 0.11) ** -0.5))


def test_the_figure_shows_every_width(family):
    runs, inference = family
    figure = drawn(SCALING, runs, inference=inference)
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert names == ["FNO, width 16", "FNO, width 32"]


def test_the_figure_is_of_the_most_points(make_run, tmp_path):
    runs = [
        make_run(
            f"fno_n{samples}", label=f"FNO, {samples} samples", resolution=resolution,
            training={"train_samples": samples}, seconds=float(samples),
            errors=10 / resolution / samples * HARDNESS,
        )
        for samples in (64, 128)
        for resolution in (512, 1024)
    ]  # fmt: skip
    figure = drawn(SCALING, runs, inference=write_inference(tmp_path))
    errors = figure.axes[0].lines[0].get_ydata()
    assert errors == pytest.approx([10 / 1024 / 64, 10 / 1024 / 128])


def test_where_all_diverged_there_is_no_curve(make_run, tmp_path):
    runs = [make_run(label="FNO, 64 samples", training={"train_samples": 64}, diverged_epoch=1)]
    inference = write_inference(tmp_path)
    assert scaling_curves(sizes_of(read_runs(runs), read_inference(inference))).empty
    assert isinstance(scaling_curves({}), pd.DataFrame)
    assert drawn(SCALING, runs, inference=inference).axes
