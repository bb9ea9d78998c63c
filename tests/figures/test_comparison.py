"""Numbers in the tables are those in the files."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from exhibits import printed as balanced
from run_files import replace_errors, vouched, write_inference

from resolvent.common.errors import FileError
from resolvent.figures.common.comparison import by_condition, errors_of, read_comparison
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import UNIT, duration, ends, in_units, plain, scientific, times
from resolvent.figures.common.results import error_matrix
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.cost import read_inference
from resolvent.figures.experiment.error_table import headline, of_all_metrics, write_error_tables

ERRORS = np.linspace(1e-3, 2e-3, 30)


@pytest.fixture
def compare(tmp_path):
    """Write comparison.csv and the tables; return what is in comparison.csv, and the texts by suffix."""

    def write(runs, baselines=()):
        outputs = [tmp_path / name for name in ("table.csv", "table.tex", "metrics.tex", "table.html")]
        write_comparison(runs, baselines, tmp_path / "comparison.csv")
        write_error_tables(tmp_path / "comparison.csv", outputs)
        csv, first, second, html = (one.read_text() for one in outputs)
        for latex in (first, second):  # each is for a document by itself
            assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
        return read_comparison(tmp_path / "comparison.csv"), csv, first + second, html

    return write


def row(table, key, noise=0.0):
    """What a comparison has of a model or baseline on 512 points: its facts and errors."""
    wanted = {"key": key, "trained_resolution": 512, "test_resolution": 512, "test_noise": noise}
    (found,) = (one for one in by_condition(table) if wanted.items() <= one.facts.items())
    return found


def mean(table, key, noise=0.0):
    return row(table, key, noise).error().value


def among_the_best(table):
    return [one.is_among_the_best() for one in by_condition(table)]


def printed(csv):
    return pd.read_csv(StringIO(csv), dtype=str)


def test_when_errors_were_first_below_round_numbers(make_run, compare):
    def reached(directory, *errors):
        history = (
            pd.read_csv(directory / "history.csv").iloc[: len(errors)].assign(validation_relative_l2=errors)
        )
        history.to_csv(directory / "history.csv", index=False)
        return vouched(directory)

    runs = [
        reached(make_run(seed=1, epochs=4, seconds=8), 0.6, 0.09, 0.3, 0.011),
        reached(make_run(seed=2, epochs=4, seconds=16), 0.2, 0.2, 0.06, 0.03),
        make_run("fno", attention=None, architecture="fno1d", diverged_epoch=1),
    ]
    table, csv, _, html = compare(runs)
    facts = row(table, "galerkin").facts
    # Epochs take 2 s and 4 s; both reach 0.05 in their fourth, the second seed never 0.02.
    assert facts["seconds_to_error"] == "0.5: 4; 0.2: 4; 0.1: 8; 0.05: 12"
    assert "0.05 in 12.0 s" in html
    assert printed(csv)["n = 512: training (validation error reached)"].tolist() == [
        "0.05 in 12.0 s",
        np.nan,
    ]
    assert pd.isna(row(table, "fno").facts["seconds_to_error"])


def test_statistics_equal_hand_computation(make_run, compare):
    runs = [
        make_run(seed=1, errors=[1e-3, 2e-3, 3e-3]),
        make_run(seed=2, errors=[3e-3, 4e-3, 11e-3]),
        make_run("fno", architecture="fno1d", attention=None, errors=[9e-3, 9e-3, 9e-3], parameters=549_569),
    ]
    table, *_ = compare(runs)
    galerkin, fno = row(table, "galerkin"), row(table, "fno")
    assert galerkin.error().value == pytest.approx(4e-3)
    assert galerkin.error().low < 4e-3 < galerkin.error().high
    median = galerkin.error("relative_l2", "median")
    assert median.value == pytest.approx(3e-3)
    assert median.low <= 3e-3 <= median.high
    worst = galerkin.error("relative_l2", "worst")
    assert (worst.value, worst.sample) == (pytest.approx(11e-3), 2)
    facts = galerkin.facts
    assert (facts["seeds"], facts["samples"]) == (2, 3)
    assert facts["ratio_to_reported"] == pytest.approx(4 / 1.203)
    assert facts["config_hash"] == "c1c1c1c1c1c1; c2c2c2c2c2c2"
    ratio = fno.error("relative_l2", "ratio_to_best_other")
    assert ratio.value == pytest.approx(9 / 4)
    assert ratio.low < ratio.value < ratio.high
    assert galerkin.error("relative_l2", "ratio_to_best_other").value == pytest.approx(1 / ratio.value)
    assert fno.facts["reported"] == pytest.approx(4.373e-3)


def test_every_metric_of_the_errors_is_in_the_comparison_and_the_tables(make_run, make_baselines, compare):
    run = make_run(errors=[1e-3, 2e-3, 6e-3])
    replace_errors(run, pd.read_csv(run / "errors.csv").assign(largest_jump=[0.5, 0.75, 0.25]))
    table, csv, latex, html = compare([run], [make_baselines()])
    galerkin = row(table, "galerkin")
    assert galerkin.error("relative_h1").value == pytest.approx(9e-3)
    worst = galerkin.error("largest_jump", "worst")
    assert (worst.value, worst.sample) == (0.75, 1)
    assert list(errors_of(table, "largest_jump", "median")["value"]) == [0.5]  # no baseline has it
    assert "relative H¹: worst (sample)" in csv
    assert "relative H$^{1}$" in latex
    assert '0.750<span class="interval">sample 1</span>' in html
    assert "best epoch" not in csv + latex + html  # which was not recorded


def seeds_of(make_run, name, errors, count=3, **options):
    return [make_run(name, seed=seed, errors=errors * (1 + 1e-3 * seed), **options) for seed in range(count)]


def test_models_that_are_not_shown_to_be_worse_are_marked_with_the_best(make_run, make_baselines, compare):
    """Never a baseline, nor a model that lost its seeds, or whose target is finer than the others'."""
    table, *_ = compare(
        [
            *seeds_of(make_run, "galerkin", ERRORS),
            *seeds_of(make_run, "linear", ERRORS[::-1] + 1e-6, attention="linear"),
            *seeds_of(make_run, "softmax", ERRORS + 1e-4, attention="softmax"),
            make_run("lost", attention="fourier", errors=1.002 * ERRORS),
            make_run("lost", attention="fourier", seed=2, diverged_epoch=9),
            *seeds_of(make_run, "fine", 0.1 * ERRORS, grids="fine"),
        ],
        [make_baselines()],
    )
    assert among_the_best(table) == [True, True, False, False, False] + 4 * [False]
    assert [one.facts["kind"] for one in by_condition(table)] == 5 * ["model"] + 4 * ["baseline"]
    assert row(table, "softmax").error("relative_l2", "ratio_to_best_other").low > 1
    assert row(table, "lost").error("relative_l2", "ratio_to_best_other").known
    assert mean(table, "coarse_solve") < mean(table, "fine") < mean(table, "galerkin")
    assert headline(table).note == ""


def test_bold_is_best_by_the_printed_mean(make_run, compare):
    """One hard sample makes the mean of `fails` the larger one; it is better on all other samples."""
    hard = 0.7 * ERRORS
    hard[3] = 20 * ERRORS[3]
    rows = {"steady": ERRORS, "fails": hard, "worse": 1.3 * ERRORS, "wild": 1.6 * ERRORS}
    runs = [run for name in ("steady", "fails", "worse") for run in seeds_of(make_run, name, rows[name])]
    wild = [
        make_run("wild", seed=seed, errors=spread * rows["wild"])
        for seed, spread in ((1, 0.2), (2, 1), (3, 1.8))
    ]
    table, *_ = compare([*runs, *wild])
    found = {one.facts["key"]: one for one in by_condition(table)}
    assert mean(table, "steady") < mean(table, "fails")
    assert found["steady"].is_among_the_best()
    ranked = sorted(found.values(), key=lambda one: one.error().value)
    bold = [one.is_among_the_best() for one in ranked]
    assert bold == sorted(bold, reverse=True)
    for one in found.values():
        lowest = min(other.error().value for other in found.values() if other is not one)
        assert one.error(statistic="ratio_to_best_other").value == pytest.approx(one.error().value / lowest)


def test_with_two_seeds_or_alone_nothing_is_ranked_and_the_table_says_so(make_run, compare):
    good, bad = (seeds_of(make_run, name, factor * ERRORS, 2) for name, factor in (("good", 1), ("bad", 9)))
    table, _, latex, html = compare([*good, *bad])
    assert among_the_best(table) == [False, False]
    assert row(table, "bad").error("relative_l2", "ratio_to_best_other").low > 1
    assert all("No ranking: a model needs three seeds to be ranked." in text for text in (html, latex))
    assert not any(cell.bold for cells in headline(table).rows for cell in cells)
    table, *_ = compare(seeds_of(make_run, "alone", ERRORS))
    assert among_the_best(table) == [False]
    assert "ratio_to_best_other" not in set(table["statistic"])
    assert headline(table).note == ""
    assert "ratio to the best other" not in {column.head for column in headline(table).columns}


def test_diverged_seeds_are_reported(make_run, make_baselines, compare, tmp_path):
    runs = [
        make_run("softmax", attention="softmax", diverged_epoch=12),
        make_run(seed=1, label="Galerkin & co_1"),
        make_run(seed=2, label="Galerkin & co_1", diverged_epoch=31),
    ]
    table, csv, latex, html = compare(runs, [make_baselines()])
    softmax, galerkin = row(table, "softmax"), row(table, "galerkin").facts
    assert (softmax.facts["status"], softmax.error().known) == ("diverged (epoch 12)", False)
    assert (galerkin["status"], galerkin["seeds"]) == ("1 of 2 seeds diverged (epoch 31)", 1)
    assert all("diverged (epoch 12)" in text for text in (csv, latex, html))
    assert "1 of 2 seeds diverged (epoch 31)" in html
    assert r"Galerkin \& co\_1" in latex
    assert r"\textit{diverged (epoch 12)}" in latex
    for one in (headline(table), *of_all_metrics(table)):
        balanced(one, tmp_path)


def test_the_table_prints_what_the_comparison_holds(make_run, make_baselines, compare):
    runs = [
        make_run(resolution=n, tested=(512, 2048), label="Galerkin & co_1", errors=[1e-3, 2e-3])
        for n in (512, 2048)
    ]
    table, csv, latex, html = compare(runs, [make_baselines(n) for n in (512, 1024, 2048)])
    metrics = latex[latex.index("% All metrics") :]
    assert [metrics.count(f"& n = {n} &") for n in (512, 1024, 2048)] == [1 + 4, 0, 1 + 4]
    first = printed(csv).iloc[0]
    numbers = [first[f"n = {n}"] for n in ("512: error", "512: Cao 2021", "2048: Cao 2021")]
    assert numbers == ["1.50e-03", "1.203e-03", "1.150e-03"]
    of_headline = as_html(headline(table))
    assert html.partition("</style>\n")[2].startswith(of_headline)
    assert "1024" not in of_headline  # baselines of a grid that nothing was trained on
    assert of_headline.count("<tr") == 2 + 1 + 4
    assert "Galerkin &amp; co_1" in of_headline


def test_the_papers_protocol_is_a_column_of_its_own_where_recorded(make_run, compare):
    runs = [
        make_run(seed=1, errors=[2e-3, 2e-3], best_test=(1.2e-3, 97)),
        make_run(seed=2, errors=[2e-3, 2e-3], best_test=(1.4e-3, 99)),
        make_run("lost", attention="softmax", diverged_epoch=12, best_test=(1.9e-3, 9)),
        make_run("fno", architecture="fno1d", attention=None, errors=[3e-3, 3e-3], parameters=549_569),
    ]
    table, csv, latex, html = compare(runs)
    galerkin, lost, fno = (row(table, key).facts for key in ("galerkin", "lost", "fno"))
    assert (galerkin["best_test_mean"], galerkin["best_test_epoch"]) == (pytest.approx(1.3e-3), 98)
    assert galerkin["ratio_of"] == "best epoch on the test samples, as the paper reports"
    assert (np.isnan(fno["best_test_mean"]), fno["ratio_of"]) == (True, "epoch chosen on validation samples")
    ratios = [one["ratio_to_reported"] for one in (galerkin, lost, fno)]
    assert ratios == pytest.approx([1.3 / 1.203, 1.9 / 1.271, 3 / 4.373])
    rows, best = printed(csv).set_index("model"), "n = 512: best epoch on the test samples"
    assert list(rows[best]) == ["1.30e-03", "—", "1.90e-03"]
    assert rows.loc["galerkin", f"{best} (note)"] == "epoch 98"
    cell = '<td class="number" data-sort="0.0013">1.30 × 10⁻³<span class="interval">epoch 98</span></td>'
    assert cell in html  # never bold
    assert html.count("best epoch on the test samples") == latex.count("best epoch on the test samples") == 1


def test_numbers_carry_their_own_exponent():
    for number, words in (
        (1.2034e-3, "1.20 × 10⁻³"), (3.0e-16, "3.00 × 10⁻¹⁶"), (0.9114, "0.911"), (0.0999, "9.99 × 10⁻²"),
        (12.34, "12.3"), (999.6, "1.00 × 10³"), (12345, "1.23 × 10⁴"), (0.0, "0.00"), (float("nan"), "—"),
    ):  # fmt: skip
        assert scientific(number) == words
        if number > 0:
            assert float(plain(words)) == float(f"{number:.2e}")
    assert plain("1.20 × 10⁻³ to 1.23 × 10⁴; sample 2") == "1.20e-03 to 1.23e+04; sample 2"
    assert plain("(1.20 to 11.35) × 10⁻³; (0.400 to 0.610)") == "1.20e-03 to 11.35e-03; 0.400 to 0.610"
    assert ends(1.56e-2, 2.91e-2, 2e-2) == "(1.56 to 2.91) × 10⁻²"
    assert ends(1e-3, 19.0, 2e-2) == "(1.00 × 10⁻³ to 19.0)"
    assert ends(1e-3, 7e100, 2e-2) == ends(1e-9, 3e-2, 2e-2) == "(uncertain by a factor above 10,000)"
    assert ends(None, None, 2e-2) == ""
    found = [in_units(one, UNIT) for one in (1.2034e-3, 14.6e-3, 0.9114, 4e-7)]
    assert found == ["1.203", "14.60", "911.4", "4.00 × 10⁻⁴"]
    found = [times(one) for one in (4e-3, 0.0123, 0.999, 12.3, 26000)]
    assert found == ["4.0 × 10⁻³", "0.012", "1.00", "12.3", "2.6 × 10⁴"]
    assert [duration(one) for one in (8.42, 192, 5400, None)] == ["8.4 s", "3.2 min", "1.5 h", "—"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, r"is missing: make it with `snakemake"),
        ("", "is empty: delete it and run snakemake"),
        ('a,"b\n', "is not a table .*: delete it and run"),
        ("resolution,noise,realisation,sample,relative_l2,relative_h1\n", "has no rows"),
        ("resolution,noise,realisation,sample,relative_l2\n64,0,0,0,x1e-3\n", "has text in the column rel"),
        ("resolution,noise,sample,relative_l2\n64,0,0,1e-3\n", "has no column realisation"),
    ],
)
def test_a_missing_or_damaged_file_names_itself_and_what_to_run(text, reason, make_run, tmp_path):
    run = make_run()
    if text is None:
        (run / "errors.csv").unlink()
    else:
        (run / "errors.csv").write_text(text)
        vouched(run)
    with pytest.raises(FileError, match=rf"errors\.csv {reason}"):
        write_comparison([run], [], tmp_path / "comparison.csv")


@pytest.mark.parametrize(
    ("options", "facts", "message"),
    [
        ({"seed": 2}, {"dataset_hash": "other"}, "different datasets"),
        ({"seed": 2}, {"settings": {"attention": "linear"}}, "differ in settings"),
        ({"model": "linear", "errors": [1e-3] * 6}, {}, "different samples"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(make_run, tmp_path, options, facts, message):
    runs = [make_run(errors=[1e-3] * 5), make_run(**options)]
    record = json.loads((runs[1] / "run.json").read_text())
    (runs[1] / "run.json").write_text(json.dumps(record | facts))
    with pytest.raises(ResultError, match=message):
        write_comparison(runs, [], tmp_path / "comparison.csv")


NOISY = {"noise": 0.01, "tested_noise": (0.0, 0.01, 0.05)}


def test_realisations_of_the_noise_are_averaged_before_anything_else(make_run, make_baselines, compare):
    runs = [make_run(errors=[1e-3, 3e-3], **NOISY), make_run(seed=2, errors=[2e-3, 4e-3], **NOISY)]
    table, csv, *_ = compare(runs, [make_baselines(noise=0.01)])
    noisy, clean = row(table, "galerkin", noise=0.01), row(table, "galerkin")
    assert noisy.facts["samples"] == clean.facts["samples"] == 2  # not two realisations of two samples
    assert clean.error().value == pytest.approx(2.5e-3)
    assert noisy.error().value == pytest.approx(2.5e-3 * 1.01 * (1 + 1.5) / 2)
    assert noisy.error("relative_l2", "worst").value == pytest.approx(4e-3 * 1.01 * 1.25)
    own, other = (plain(scientific(mean(table, "galerkin", noise))) for noise in (0.01, 0.05))
    assert printed(csv).iloc[0]["n = 512, ε = 0.01: error"] == own != other
    assert other not in csv
    # One realisation that is not finite is a lost seed.
    errors = pd.read_csv(runs[0] / "errors.csv")
    errors.loc[errors["noise"].eq(0.01) & errors["realisation"].eq(1), "relative_l2"] = np.nan
    assert error_matrix([errors], 512, 0.01).empty
    assert error_matrix([errors], 512, 0.05).shape == (1, 2)


def test_names_that_look_like_numbers_or_like_nothing_are_names(make_run, compare, tmp_path):
    runs = [("8", "None", "1234e5678901"), ("007", "NA", "012345678901")]
    table, csv, *_ = compare([make_run(key, label=label, config_hash=hashed) for key, label, hashed in runs])
    assert list(dict.fromkeys(zip(table["key"], table["label"], table["config_hash"], strict=True))) == runs
    assert {line.partition(",")[0] for line in csv.splitlines()} >= {"None", "NA"}
    timed = write_inference(tmp_path, {"kind": "model", "key": "8", "label": "null"})
    (read,) = read_inference(timed).to_dict("records")
    assert (read["key"], read["label"]) == ("8", "null")


def test_each_level_of_noise_is_a_row_and_a_contest_of_its_own(make_run, make_baselines, tmp_path):
    runs = [
        *seeds_of(make_run, "galerkin", ERRORS, **NOISY),
        *seeds_of(make_run, "linear", 2 * ERRORS, attention="linear", **NOISY),
    ]
    table = write_comparison(runs, [make_baselines(noise=0.01)], tmp_path / "comparison.csv")
    found = by_condition(table)
    models = [one.facts for one in found if one.facts["kind"] == "model"]
    assert [(one["key"], one["test_noise"]) for one in models] == [
        (key, noise) for key in ("galerkin", "linear") for noise in NOISY["tested_noise"]
    ]
    assert (table["trained_noise"] == 0.01).all()
    best = [one.facts["test_noise"] for one in found if one.is_among_the_best()]
    assert best == list(NOISY["tested_noise"])
    baselines = [one for one in found if one.facts["kind"] == "baseline"]
    assert all(one.facts["test_noise"] == 0.01 and one.error().known for one in baselines)
