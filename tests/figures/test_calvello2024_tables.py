"""Tables and cost figures of Calvello et al. 2024 hold what runs and counts hold."""

import numpy as np
import pandas as pd
import pytest
from calvello2024_errors import KOLMOGOROV, LOGNORMAL, PIECEWISE, STANDARDISED, write_calvello
from exhibits import compared, of_paper, printed
from run_files import replace_errors

from resolvent.common.runs import save_table
from resolvent.figures.common.results import read_runs
from resolvent.figures.papers.calvello2024 import figures, tables
from resolvent.figures.papers.calvello2024.chosen import families, widest

ERRORS = [1e-2, 2e-2, 6e-2]  # median 2e-2, and of standardised fields 3e-2


def test_table_1_has_medians_means_parameters_and_the_papers_numbers(make_run, make_baselines, tmp_path):
    runs = [
        write_calvello(make_run, "tno2d", errors=ERRORS, label="TNO"),
        write_calvello(make_run, "fno", errors=ERRORS, label="FNO", counts={"epochs": 3}),
        write_calvello(make_run, "lost", of="vit_no", label="Lost", diverged_epoch=4),
    ]
    baselines = make_baselines(64)
    comparison = compared(runs, tmp_path, [baselines])
    table = printed(of_paper(tables.draw_low_resolution, [runs], [comparison]), tmp_path).set_index("model")
    title = "Darcy flow, lognormal"
    median, reported = f"{title}: median ×10⁻²", f"{title}: median, journal ×10⁻²"
    parameters, mean = f"{title}: parameters", f"{title}: mean ×10⁻², physical units"
    assert not any("arXiv v1" in column for column in table)  # its coefficients are others
    tno = table.loc["TNO"]
    assert (tno[parameters], tno[f"{parameters}, journal"]) == ("598,145", "5.98e5")
    assert (tno[median], tno[f"{median} (note)"]) == ("3.000", "1.500 to 9.000")
    assert (tno[reported], tno[mean]) == ("1.19", "3.000")
    fno = table.loc["FNO"]
    assert fno[f"{parameters} (note)"] == "complex as two: 11,210,113"
    assert fno[f"{parameters}, journal"] == "5.70e6"
    assert fno[reported] == "—"  # another number of epochs, batch size and learning rate
    assert table.loc["Lost", median] == "diverged (epoch 4)"
    assert table.loc["Identity", median] == "—"
    assert float(table.loc["Identity", mean]) > 10
    html = (tmp_path / "item.html").read_text()
    assert html.index('class="baseline"') < html.index("Identity")
    errors = pd.read_csv(baselines / "errors.csv")
    errors["standardised_relative_l2"] = STANDARDISED * errors["relative_l2"]
    comparison = compared(runs, tmp_path, [replace_errors(baselines, errors)])
    table = printed(of_paper(tables.draw_low_resolution, [runs], [comparison]), tmp_path).set_index("model")
    expected = 100 * STANDARDISED * errors.loc[errors["baseline"] == "identity", "relative_l2"].median()
    assert float(table.loc["Identity", median]) == pytest.approx(expected, rel=1e-2)


def test_table_3_has_a_model_a_row_and_the_versions_with_its_data(make_run, tmp_path):
    high = {"resolution": 416, "counts": {"batch_size": 1}}
    flow = {
        "resolution": 416, "training": {"validation_samples": 500},
        "counts": {"train_samples": 9000, "validation_samples": 500, "test_samples": 500, "batch_size": 2},
    }  # fmt: skip
    narrow = {"of": "fano", "settings": {"width": 32}}
    runs = [
        [
            write_calvello(make_run, name, dataset, errors=ERRORS, seed=seed, **options)
            for name, options in named.items()
        ]
        for seed, (dataset, named) in enumerate((
            (LOGNORMAL, {"fano": high, "vit_no": high}),
            (PIECEWISE, {"fano": high, "narrow": high | narrow}),
            (KOLMOGOROV, {"fano": flow}),
        ))
    ]  # fmt: skip
    comparisons = [compared(one, tmp_path / f"{number}") for number, one in enumerate(runs)]
    table = printed(of_paper(tables.draw_high_resolution, runs, comparisons), tmp_path).set_index("model")
    assert list(table.index) == ["fano", "vit_no"]
    titles = ("Darcy flow, lognormal", "Darcy flow, piecewise constant", "Kolmogorov flow")
    numbers = [table.loc["fano", f"{title}: journal ×10⁻³"] for title in titles]
    assert numbers == ["8.39", "13.8", "6.34"]
    first = [column for column in table if "arXiv v1" in column]
    assert first == ["Kolmogorov flow: arXiv v1 ×10⁻³"]  # its Darcy coefficients are others
    assert table.loc["fano", first[0]] == "8.56"
    assert [table.loc["fano", f"{title}: ours ×10⁻³"] for title in titles] == ["30.00"] * 3
    assert table.loc["vit_no", f"{titles[1]}: ours ×10⁻³"] == "—"


@pytest.fixture
def widths(make_run):
    """FANO at three widths, the widest with another smoother beside, and ViT-NO at one; narrow is better."""

    def make(dataset, seed):
        options = {"resolution": 416, "seed": seed, "errors": [1e-2] * 3}
        runs = [
            write_calvello(
                make_run, f"fano{width}", dataset, of="fano", settings={"width": width}, once=width**2,
                flop=width**3, label=f"FANO {width}", **options | {"errors": [width * 1e-4] * 3},
            )
            for width in (128, 32, 64)
        ]  # fmt: skip
        other = {"smoother": "none"}
        runs.append(write_calvello(make_run, "bare", dataset, of="fano", settings=other, **options))
        return [*runs, write_calvello(make_run, "vit_no", dataset, **options)]

    return make


def test_families_differ_in_their_width_alone(widths):
    runs = read_runs(widths(PIECEWISE, 1))
    assert families(runs) == [["fano32", "fano64", "fano128"], ["bare"], ["vit_no"]]
    assert widest(runs) == ["fano128", "bare", "vit_no"]


@pytest.mark.parametrize(
    ("draw", "power"),
    [(figures.draw_against_parameters, 2), (figures.draw_against_operations, 3)],
    ids=["10", "11"],
)
def test_a_line_runs_through_the_widths_of_an_architecture(widths, tmp_path, draw, power):
    runs = [widths(PIECEWISE, 1), widths(KOLMOGOROV, 2)]
    comparisons = [compared(one, tmp_path / f"{number}") for number, one in enumerate(runs)]
    panels = of_paper(draw, runs, comparisons).axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles == ["Darcy flow, piecewise constant, n = 416", "Kolmogorov flow, n = 416"]
    for panel in panels:
        line = next(one for one in panel.lines if one.get_linestyle() == "-")
        np.testing.assert_allclose(line.get_xdata(), [float(width) ** power for width in (32, 64, 128)])
        np.testing.assert_allclose(line.get_ydata(), [STANDARDISED * width * 1e-4 for width in (32, 64, 128)])
        words = [text.get_text() for text in panel.texts]
        assert words == ["32", "64", "128", "FANO 128"]


def counted(tmp_path, **changes):
    """Operations d² N^1.5 by count and twice that by formula, half of it Fourier transforms."""
    common = {"rounds": 1, "device": "a core (CPU)", "modes": 12, "fano_modes": 9, "patches": 13,
              "smoother_modes": 64}  # fmt: skip
    rows = []
    for model in ("fno", "galerkin_encoder"):
        for width in (32, 128):
            for points in (64, 416):
                flop = width**2 * points**3
                formula = flop if model == "fno" else np.nan
                rows.append(
                    {
                        "model": model, "width": width, "points": points, "parameters": 7 * width,
                        "parameters_complex_once": 4 * width, "forward_flop": flop,
                        "seconds": 0.5 if points == 64 else np.nan,
                        "formula_parameters": 2.0 * width if model == "fno" else np.nan,
                        "formula_products": formula, "formula_transforms": formula, **common, **changes,
                    }
                )  # fmt: skip
    save_table(pd.DataFrame(rows), tmp_path / "cost.csv")
    return tmp_path / "cost.csv"


def test_table_2_has_fitted_exponents(tmp_path):
    table = printed(tables.draw_growth(counted(tmp_path)), tmp_path).set_index("architecture")
    columns = [f"exponent of {name}: {how}" for name in "Nd" for how in ("counted", "formula")]
    assert list(table.loc["FNO", columns]) == ["1.50", "1.50", "2.00", "2.00"]
    assert list(table.loc["Galerkin encoder", columns]) == ["1.50", "—", "2.00", "—"]
    assert table.loc["FNO", "in the paper"] == "d N log √N + N d²"
    assert table.loc["FNO", "grids"] == "64² 416²"


def test_table_4_has_a_row_for_each_width(tmp_path):
    table = printed(tables.draw_parameters(counted(tmp_path)), tmp_path).set_index(
        ["architecture", "width d"]
    )
    assert len(table) == 4
    assert list(table.loc[("FNO", "128")])[:4] == ["256", "512", "896", "2.000"]
    assert table.loc[("Galerkin encoder", "32"), "formula"] == "—"
    reasons = list(table["not in the formula"])
    assert [bool(reason) for reason in reasons] == [True, False, True, False]  # once an architecture


def test_table_5_has_a_row_for_each_grid(tmp_path):
    table = printed(tables.draw_operations(counted(tmp_path)), tmp_path).set_index(["architecture", "points"])
    assert len(table) == 4
    row = table.loc[("FNO", "64²")]
    assert list(row)[:5] == ["8.590", "FFTs 50.0%", "4.295", "0.50", "0.5"]
    large = table.loc[("FNO", "416²")]
    assert (large["10⁹ operations: counted"], large["seconds"]) == ("1,180", "—")
    assert large["why they differ"] == ""  # as above
    assert 'class="prose"' in (tmp_path / "item.html").read_text()
