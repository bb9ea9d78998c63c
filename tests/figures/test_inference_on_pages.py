"""The time of queries: how a page and a figure show it."""

import pytest
from exhibits import drawn, words_of
from run_files import write_inference

from resolvent.figures.common.numbers import short_duration
from resolvent.figures.common.style import name_all, new_figure
from resolvent.figures.experiment.cost import INFERENCE, inference_table, read_inference

GRIDS = {512: "n = 512"}
MODEL = {"kind": "model", "resolution": 512, "threads": 1, "samples": 32, "train_seconds": 60.0}
MODEL |= {"device": "b", "timed_on": "b"}
SOLVER = {"kind": "solver", "key": "coarse", "label": "coarse solver", "resolution": 512, "samples": 32}
COARSE = SOLVER | {"error": 1e-2, "one_seconds": 1e-3, "many_seconds": 5e-4}
FAST = MODEL | {
    "key": "galerkin", "label": "Galerkin", "error": 2e-2, "one_seconds": 2e-3, "many_seconds": 1e-4,
    "solver": "coarse solver", "solver_one_seconds": 1e-3, "solver_many_seconds": 5e-4, "queries": 150_000.0,
}  # fmt: skip
SLOW = FAST | {"key": "fno", "label": "FNO", "error": 1.5e-2, "many_seconds": 6e-4, "queries": float("inf")}
ACCURATE = MODEL | {
    "key": "linear", "label": "Linear", "error": 1e-3, "one_seconds": 2e-3, "many_seconds": 1e-4
}  # fmt: skip


def test_rows_say_what_pays_and_what_never_does(tmp_path):
    table = inference_table(read_inference(write_inference(tmp_path, COARSE, FAST, SLOW, ACCURATE)), GRIDS)
    assert [[cell.text for cell in (row[0], *row[5:])] for row in table.rows] == [
        ["Linear", "none", "—", "—"],
        ["FNO", "coarse solver: 500 µs", "1.2 times slower", "never"],
        ["Galerkin", "coarse solver: 500 µs", "5 times faster", "150,000 functions"],
    ]
    assert not any(row[-1].warning for row in table.rows)
    table = inference_table(
        read_inference(write_inference(tmp_path, FAST | {"many_seconds": 5e-4 / 99.7})), GRIDS
    )
    assert table.rows[0][6].text == "100 times faster"
    elsewhere = "training on a; model on b; solver on b"
    table = inference_table(read_inference(write_inference(tmp_path, FAST | {"timed_on": elsewhere})), GRIDS)
    assert table.rows[0][-1].warning == elsewhere


def test_the_figure_names_models_and_solvers(make_run, tmp_path):
    runs = [make_run("galerkin"), make_run("fno", attention=None, architecture="fno1d")]
    table = write_inference(tmp_path, COARSE, COARSE | {"label": "finer", "error": 1e-5}, FAST, SLOW)
    figure = drawn(INFERENCE, runs, inference=table)
    figure.draw_without_rendering()  # which sets the labels of axes
    words = set(words_of(figure))
    assert {"coarse solver", "finer", "Galerkin", "FNO", "one function alone", "1 ms"} <= words


@pytest.mark.parametrize(("length", "columns"), [(10, 3), (30, 2), (55, 1)])
def test_a_legend_has_as_many_columns_as_are_on_the_figure(length, columns):
    figure, axes = new_figure(1, 1, size=(8.6, 3.6))
    lines = [axes[0, 0].plot([0, 1], label=f"{number}{'m' * length}")[0] for number in range(6)]
    name_all(figure, lines, place="lower")
    figure.canvas.draw()
    (legend,) = figure.legends
    assert len({round(text.get_window_extent().x0) for text in legend.get_texts()}) == columns
    extent = legend.get_window_extent()
    assert 0 <= extent.x0 < extent.x1 <= figure.bbox.width
    assert figure.get_figheight() == pytest.approx(3.6 + extent.height / figure.dpi)


def test_a_figure_without_any_run_that_finished_says_so(make_run, tmp_path):
    runs = [make_run(diverged_epoch=2)]
    assert "diverged" in " ".join(words_of(drawn(INFERENCE, runs, inference=write_inference(tmp_path))))


def test_times_in_words():
    words = {
        4.2e-6: "4.2 µs",
        0.00407: "4.07 ms",
        0.9994: "999 ms",
        0.9996: "1.0 s",
        90: "1.5 min",
        None: "—",
    }
    assert {seconds: short_duration(seconds) for seconds in words} == words
