"""The tables of the paper hold what the runs hold, and the paper's numbers where they are comparable."""

import pandas as pd
import pytest
from exhibits import compared, of_paper, printed

from resolvent.common.runs import save_table
from resolvent.figures.common.errors import ResultError
from resolvent.figures.papers.cao2021.tables import (
    draw_ablation,
    draw_burgers,
    draw_darcy,
    draw_hours,
    draw_inverse,
    draw_sizes,
    draw_step_costs,
)

DARCY = {"equation": "darcy", "distribution": {"sigma": 1.0, "tau": 3.0}, "push_forward": "level_set"}
SIZES_1D = {
    "num_layers": 4, "width": 96, "num_heads": 1, "decoder_layers": 2, "decoder_width": 48, "modes": 16,
}  # fmt: skip


def drawn(draw, experiments, folder):
    """The table of these experiments and their comparisons, by model."""
    comparisons = [compared(runs, folder / f"{number}") for number, runs in enumerate(experiments)]
    return printed(of_paper(draw, experiments, comparisons), folder).set_index("model")


def test_table_2a_is_in_the_units_of_the_paper(make_run, tmp_path):
    runs = [
        make_run(errors=[1e-3, 2e-3], best_test=(1.4e-3, 98)),
        make_run("none", attention="none", errors=[2e-3, 2e-3]),
        make_run("printed", recipe="paper", errors=[2e-3, 3e-3], best_test=(2.4e-3, 97)),
        make_run("own", recipe=None, attention="none", errors=[3e-3, 3e-3]),
    ]
    table = drawn(draw_burgers, [runs], tmp_path)
    columns = ["as printed", "as coded", "other", "Cao 2021", "coded / reported"]
    columns = [f"n = 512, ×10⁻³: {one}" for one in columns]
    assert list(table.loc["printed", columns]) == ["2.500", "1.500", "—", "1.203", "1.16"]
    assert "best epoch on the test samples: 1.400" in table.loc["printed", f"{columns[1]} (note)"]
    assert list(table.loc["none", columns]) == ["—", "2.000", "—", "—", "—"]
    assert list(table.loc["own", columns]) == ["—", "—", "3.000", "—", "—"]


def test_table_2b_names_both_grids(make_run, tmp_path):
    runs = [
        make_run(
            resolution=n, errors=[1e-2, 2e-2], architecture="transformer2d", dataset=DARCY,
            parameters=2_220_829, setting={"batch_size": 4}, coarse_points=coarse,
        )
        for n, coarse in ((141, 43), (211, 61))
    ]  # fmt: skip
    (row,) = drawn(draw_darcy, [runs], tmp_path).to_dict("records")
    groups = ("n = 141 (43), ×10⁻²", "n = 211 (61), ×10⁻²")
    columns = (f"{groups[0]}: as coded", f"{groups[0]}: Cao 2021", f"{groups[1]}: Cao 2021")
    assert [row[column] for column in columns] == ["1.500", "0.839", "0.844"]


def test_table_3_has_a_column_for_each_noise_of_each_experiment(make_run, tmp_path):
    experiments = []
    inverse = {**DARCY, "equation": "darcy_inverse", "resolutions": [141], "coarse": [36]}
    for noise in (0.0, 0.01, 0.1):
        runs = [
            make_run(
                model, seed=round(100 * noise), architecture="transformer2d_coarse", resolution=141,
                errors=[1e-2] * 3, dataset=inverse, parameters=2_383_873, layer_norm=norm,
                setting={"batch_size": 4}, noise=noise, realisations=1, coarse_points=36,
            )
            for model, norm in (("galerkin_regular", "regular"), ("galerkin", "projection"))
        ]  # fmt: skip
        experiments.append(runs)
    table = drawn(draw_inverse, experiments, tmp_path)
    groups = [f"n = 141 (36), ε = {noise}, ×10⁻²" for noise in ("0", "0.01", "0.1")]
    columns = [f"{group}: Cao 2021" for group in groups]
    assert list(table.loc["galerkin", columns]) == ["1.944", "2.552", "6.689"]
    assert list(table.loc["galerkin_regular", columns]) == ["2.026", "2.536", "6.659"]
    ours = [f"{group}: as coded" for group in groups]
    assert list(table.loc["galerkin", ours]) == ["1.000", "1.010", "1.100"]


def test_a_model_that_two_experiments_trained_alike_is_refused(make_run, tmp_path):
    """A row would have the errors of one and the facts of the other."""
    experiments = [[make_run(seed=seed, errors=[seed * 1e-3] * 2)] for seed in (1, 2)]
    with pytest.raises(
        ResultError, match=r"galerkin-n512-seed1 and .*galerkin-n512-seed2 are runs of one model"
    ):
        drawn(draw_inverse, experiments, tmp_path)


def test_table_5_says_where_a_size_differs(make_run, tmp_path):
    runs = [
        make_run(settings=SIZES_1D),
        make_run("narrow", settings={**SIZES_1D, "width": 48}, parameters=150_000),
        make_run("none", attention="none", settings=SIZES_1D, parameters=379_393),
        make_run(
            "fno", architecture="fno1d", attention=None, parameters=549_569,
            settings={"num_layers": 4, "width": 64, "modes": 16},
        ),
    ]  # fmt: skip
    table = printed(of_paper(draw_sizes, [runs[:2], runs[2:]]), tmp_path).set_index("model")
    assert list(table["parameters: Cao 2021"]) == ["523k-530k", "523k-530k", "—", "550k"]
    assert list(table["parameters: Cao 2021 (note)"]) == ["", "differs", "not in the paper", ""]
    assert list(table["encoder: width (note)"]) == ["", "paper 96", "", ""]
    assert list(table["encoder: width"]) == ["96", "48", "96", "—"]
    assert table.loc["fno", "decoder: spectral layers"] == "4"
    assert table.loc["galerkin", "parameters: ours"] == "530,305"


def test_table_6_is_the_mean_over_finished_runs(make_run, tmp_path):
    runs = [
        make_run(label="Galerkin", seed=1, seconds=1800),
        make_run(label="Galerkin", seed=2, seconds=5400),
        make_run(label="Galerkin", seed=3, seconds=60, diverged_epoch=2),
        make_run("fno", label="FNO", architecture="fno1d", attention=None, parameters=549_569),
        make_run("softmax", label="Softmax", attention="softmax", diverged_epoch=3),
    ]
    darcy = make_run(
        "galerkin2d", label="Galerkin", resolution=43, architecture="transformer2d", dataset=DARCY, seconds=36
    )
    table = printed(of_paper(draw_hours, [runs, [darcy]]), tmp_path).set_index("model")
    assert tuple(table.loc["Galerkin"]) == ("1.000", "0.064", "0.010", "—")
    assert tuple(table.loc["FNO"]) == ("0.050", "—", "—", "—")
    assert table.loc["Softmax", "Burgers, n = 512: ours"] == "diverged"


def test_table_8_has_values_epochs_and_divergences(make_run, tmp_path):
    start = {"projection_gain": 1.0, "projection_diagonal": 0.0}
    lost = make_run(
        "lost", layer_norm="regular", settings={**start, "residual_dropout": 0.0}, diverged_epoch=30,
        best_test=(0.2, 28),
    )  # fmt: skip
    other = make_run("other", settings={**start, "residual_dropout": 0.1}, errors=[3e-3, 3e-3])
    kept = [make_run(seed=seed, errors=[1e-3, 2e-3], best_test=(1.4e-3, 97), epochs=99) for seed in (1, 2)]
    runs = [lost, other, *kept, make_run("text", recipe="paper", errors=[2e-3, 4e-3], best_test=(2e-3, 90))]
    rows = drawn(draw_ablation, [runs], tmp_path).to_dict("records")
    rows = [rows[0], rows[2], rows[1]]  # what the paper has not is last
    assert [row["layer norm"] for row in rows] == ["regular norm", "K, V norm", "K, V norm"]
    numbers = [[row[name] for name in "ηδζ"] for row in rows]
    assert numbers == [["1", "0", "0"], ["1", "0", "0.1"], ["0.01", "0.01", "0"]]
    text, ours, paper, ratio = (
        f"n = 512, ×10⁻³: {one}" for one in ("as printed", "as coded", "Cao 2021", "coded / reported")
    )
    assert [row[ours] for row in rows][::2] == ["diverged (epoch 30)", "1.500"]
    assert [row[text] for row in rows] == ["—", "—", "3.000"]
    assert rows[2][f"{ours} (note)"].endswith("epoch 99; best epoch on the test samples: 1.400, epoch 97")
    assert rows[0][f"{ours} (note)"].startswith("best epoch on the test samples: 200.0, epoch 28")
    reported = [(row[paper], row[f"{paper} (note)"]) for row in rows]
    assert reported == [("200.4", "epoch 86"), ("—", ""), ("1.203", "epoch 99")]
    assert [row[ratio] for row in rows] == ["1.00", "—", "1.16"]


CONTRACTIONS = (("galerkin", "linear"), ("fourier", "linear"), ("fourier", "quadratic"))


@pytest.mark.parametrize(("points", "beside"), [(8192, "275"), (2048, "—")])
def test_table_1_has_the_papers_numbers_at_the_papers_size_alone(tmp_path, points, beside):
    case = {
        "points": points, "batch_size": 4, "peak_bytes": 1.25e9, "flop": 2e11, "profiler_flop": 2e11,
        "allocated_bytes": 3e9, "seconds": 0.25, "rounds": 1, "device": "one core",
    }  # fmt: skip
    rows = [
        {"scope": "transformer1d", "attention": attention, "contraction": contraction, **case}
        for attention, contraction in CONTRACTIONS
    ]
    save_table(pd.DataFrame(rows), tmp_path / "cost.csv")
    table = printed(draw_step_costs(tmp_path / "cost.csv"), tmp_path).set_index("attention")
    galerkin = table.loc["Example 1: Galerkin"]
    assert list(galerkin[["ours: peak GB", "ours: steps/s", "ours: GFLOP"]]) == ["1.25", "4.00", "200"]
    assert galerkin["Cao 2021: GFLOP"] == beside
    assert table.loc["Example 1: Fourier as Q(KᵀV)", "Cao 2021: GFLOP"] == "—"
