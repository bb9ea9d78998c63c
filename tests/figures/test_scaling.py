"""Curves of errors against samples and time: known ones are found again, and budgets are divided by them."""

import numpy as np
import pandas as pd
import pytest
from exhibits import drawn
from run_files import write_inference

from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment import scaling
from resolvent.figures.experiment.cost import read_inference
from resolvent.figures.experiment.scaling import (
    SCALING,
    Size,
    budget_table,
    curve_through,
    curves_of,
    exponents_in_words,
    fit,
    scaling_table,
    sizes_of,
)

SAMPLES = np.array([64.0, 128.0, 256.0, 512.0])
HARDNESS = np.exp(0.4 * np.random.default_rng(3).normal(size=24))
HARDNESS /= HARDNESS.mean()


@pytest.mark.parametrize(("exponent", "floor"), [(0.5, 0.0), (0.8, 3e-3), (1.5, 2e-4)])
def test_a_curve_is_found_again(exponent, floor):
    errors = floor + 2.0 * SAMPLES**-exponent
    coefficient, own, level = fit(SAMPLES, errors)
    assert own == pytest.approx(exponent, rel=1e-2)
    assert level == pytest.approx(floor, abs=2e-3 * errors.min())
    assert level + coefficient * 1024**-own == pytest.approx(floor + 2.0 * 1024**-exponent, rel=1e-2)
    assert fit(SAMPLES[:3], 2.0 * SAMPLES[:3] ** -exponent) == pytest.approx((2.0, exponent, 0.0))


def sizes(samples, exponent=0.5, floor=0.0, seeds=3, spread=0.05, seed=0):
    """Return sizes whose test samples are equally hard at all of them, and whose seeds spread."""
    generator, family = np.random.default_rng(seed), []
    hardness = 0.5 * generator.standard_normal(40)
    for number in samples:
        logarithms = hardness + spread * generator.standard_normal((seeds, 1))
        logarithms = logarithms + 0.2 * generator.standard_normal((seeds, 40))
        errors = (floor + number**-exponent) * np.exp(logarithms)
        family.append(Size("FNO", "fno", 512, int(number), None, errors, 1.0 * number, 0.0))
    return family


def test_the_misfit_is_the_spread_about_the_curve():
    off = np.array([1.1, 1 / 1.1**2, 1.1])  # which no slope explains
    samples = np.array([64.0, 128.0, 256.0])
    pairs = zip(samples, off, strict=True)
    family = [
        Size("FNO", "fno", 512, int(x), None, np.array([[share * x**-0.5]]), 0.0, 0.0) for x, share in pairs
    ]
    assert curve_through(family, "samples").misfit == pytest.approx(np.sqrt(2) * np.log(1.1))


@pytest.mark.slow
def test_intervals_of_the_exponent_hold(monkeypatch):
    monkeypatch.setattr(scaling, "REPLICATES", 100)
    held = 0
    for seed in range(20):
        curve = curve_through(sizes(SAMPLES, seed=seed), "samples")
        low, high = np.quantile(curve.fits[1:, 1], [0.025, 0.975])
        held += low <= 0.5 <= high
    assert held >= 17


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"samples": SAMPLES, "seed": 1}, ""),
        ({"samples": SAMPLES, "seeds": 1}, "1 seed, and an exponent needs 3"),
        ({"samples": SAMPLES[:3]}, "3 sizes, and an exponent needs 4"),
        (
            {"samples": 4.0 ** np.arange(2, 8), "floor": 0.1, "spread": 0.01},
            "the error levels off at about 0.1",
        ),
    ],
)
def test_an_exponent_is_given_only_where_it_means_something(options, why, monkeypatch):
    monkeypatch.setattr(scaling, "REPLICATES", 100)
    curves = scaling_table(curves_of(sizes(**options))).query("against == 'samples'")
    (row,) = curves.to_dict("records")
    assert row["no_exponent"].startswith(why)
    assert pd.isna([row[name] for name in ("exponent", "exponent_low", "exponent_high")]).all() == bool(why)
    (line,) = exponents_in_words(curves)
    assert line.startswith("All curves: no exponent (" + why) if why else "samples^-0." in line


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
    curves = scaling_table(curves_of(sizes_of(read_runs(runs), read_inference(inference))))
    assert curves["label"].unique().tolist() == ["FNO"]
    assert curves["against"].tolist() == ["samples", "samples", "seconds"]
    by_width = curves[curves["against"] == "samples"].set_index("width")
    assert curves["exponent"].isna().all()  # of three sizes
    assert by_width["coefficient"].tolist() == pytest.approx([2.0, 8.0], rel=1e-9)
    assert curves["floor"].isna().all()
    assert by_width["misfit"].tolist() == pytest.approx([0, 0], abs=1e-9)


def test_a_budget_buys_samples_at_the_width_of_the_least_error(family):
    runs, inference = family
    trained = sizes_of(read_runs(runs), read_inference(inference))
    table = budget_table(trained, curves_of(trained))
    budget = 256 * 0.31  # the dearest size
    small, large = 2.0 * (budget / 0.11) ** -0.5, 8.0 * 256**-0.7
    assert small < large
    first, second = table.rows
    assert [cell.text for cell in first[:5]] == ["FNO", "n = 512", "1.3 min", f"{budget / 0.11:,.0f}", "16"]
    assert first[3].warning  # more than were tried
    assert first[5].value == pytest.approx(0.01 / 0.11)
    assert first[6].value == pytest.approx(small)
    large = 8.0 * (10 * budget / 0.31) ** -0.7
    assert second[6].value == pytest.approx(min(large, 2.0 * (10 * budget / 0.11) ** -0.5))


def test_the_figure_shows_every_width(family):
    runs, inference = family
    figure = drawn(SCALING, runs, inference=inference)
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert names == ["FNO, width 16", "FNO, width 32"]


def test_where_all_diverged_there_is_no_curve(make_run, tmp_path):
    runs = [make_run(label="FNO, 64 samples", training={"train_samples": 64}, diverged_epoch=1)]
    inference = write_inference(tmp_path)
    assert scaling_table(curves_of(sizes_of(read_runs(runs), read_inference(inference)))).empty
    assert isinstance(scaling_table([]), pd.DataFrame)
    assert drawn(SCALING, runs, inference=inference).axes
