"""What a query costs: the solvers that operators are compared with, and after how many queries one pays."""

import math
from dataclasses import replace

import pandas
import pytest
from dataset_fixtures import made_once, small
from training_fixtures import finished_run

from resolvent.common.norms import relative_l2
from resolvent.common.records import INFERENCE_COLUMNS, CostRecord, read_record, write_record
from resolvent.datasets.loading import Split
from resolvent.datasets.tasks.registry import build_task
from resolvent.evaluation.inference import (
    beside_the_fastest,
    measure_inference,
    seconds_to_make,
)

FAST = {"label": "fast", "device": "a", "error": 1e-1, "one_seconds": 1e-3, "many_seconds": 1e-4}
SLOW = {"label": "slow", "device": "a", "error": 1e-3, "one_seconds": 1e-2, "many_seconds": 1e-3}
MODEL = {
    "device": "a",
    "train_seconds": 60.0,
    "data_seconds": 30.0,
    "search_seconds": 0.0,
    "many_seconds": 5e-4,
}


@pytest.mark.parametrize(
    ("settings", "cheap", "its_error", "accurate", "smallest"),
    [
        (small("burgers"), "ETDRK4, 12 modes, 8 steps", 0.05, "closed form (Cole-Hopf)", 1e-4),
        (small("darcy"), "5-point, 1/4 of the points a side", 0.2, "5-point, on the same grid", 1e-5),
        (small("kolmogorov"), "ETDRK4, 10 modes, 1 step", 0.05, "ETDRK4, 71 modes, 10 steps", 1e-3),
    ],
    ids=lambda value: getattr(value, "equation", None),
)
def test_a_cheap_solver_is_coarse_and_another_accurate(
    settings, cheap, its_error, accurate, smallest, tmp_path_factory
):
    card = made_once(tmp_path_factory, settings.equation)
    task, resolution = build_task(settings), settings.resolutions[0]
    samples = Split(card, resolution, "test", settings.samples.test).read(range(settings.samples.test))
    errors = {
        label: relative_l2(solver(samples.inputs, samples.grid), samples.targets).mean()
        for label, solver in task.classical_solvers().items()
    }
    assert max(errors, key=errors.get) == cheap
    assert errors[cheap] < its_error
    assert errors[accurate] < smallest


def test_a_model_is_held_against_the_fastest_solver_that_is_as_accurate():
    beside = beside_the_fastest(MODEL | {"error": 1e-2}, [FAST, SLOW], "a")
    assert (beside["solver"], beside["solver_one_seconds"]) == ("slow", 1e-2)
    assert beside["queries"] == math.ceil(90 / (1e-3 - 5e-4))
    assert beside["timed_on"] == "a"
    elsewhere = beside_the_fastest(MODEL | {"error": 1e-2}, [FAST, SLOW], "b")
    assert elsewhere == beside | {"timed_on": "training on b; model on a; solver on a"}
    searched = beside_the_fastest(MODEL | {"error": 1e-2, "search_seconds": 15.0}, [FAST, SLOW], "a")
    assert searched["queries"] == math.ceil(105 / (1e-3 - 5e-4))
    assert beside_the_fastest(MODEL | {"error": 0.2}, [FAST, SLOW], "a")["queries"] == math.inf
    as_fast = {"error": 1e-2, "many_seconds": SLOW["many_seconds"]}
    assert beside_the_fastest(MODEL | as_fast, [SLOW], "a")["queries"] == math.inf
    assert beside_the_fastest(MODEL | {"error": 1e-4}, [FAST, SLOW], "a") == {}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Make a card, and runs at two grids of which the first seed of one has diverged."""
    folder = tmp_path_factory.mktemp("study")
    card = made_once(tmp_path_factory, "burgers")
    diverged = finished_run(card, folder / "runs/fno/n128/seed2", 128, (128,))
    cost = read_record(diverged / "cost.json", CostRecord)
    write_record(diverged / "cost.json", replace(cost, status="diverged", diverged_epoch=1))
    runs = [
        finished_run(card, folder / "runs/fno/n64/seed1", 64, (128,)),  # timed where it was tested
        diverged,
        finished_run(card, folder / "runs/fno/n128/seed3", 128, (128,)),
    ]
    return card, runs, folder


def test_operators_and_solvers_are_timed_on_the_same_samples(study, monkeypatch):
    monkeypatch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)
    card, runs, folder = study
    counts = {"train": 16, "validation": 4, "test": 6}
    measure_inference(card, card, runs, folder / "inference.csv", counts=counts, threads=1, gpus=0)
    table = pandas.read_csv(folder / "inference.csv")
    assert list(table.columns) == list(INFERENCE_COLUMNS)
    solvers = list(build_task(small("burgers")).classical_solvers())
    expected = [
        (kind, key, points)
        for points in (64, 128)
        for kind, key in [*(("solver", one) for one in solvers), ("model", "fno")]
    ]
    assert list(zip(table["kind"], table["key"], table["resolution"], strict=True)) == expected
    assert set(table["threads"]) == {1}
    assert set(table["samples"]) == {6}
    assert (table["many_seconds"] > 0).all()
    assert table["device"].str.endswith("(CPU)").all()
    models = table[table["kind"] == "model"]
    for run, (_, row) in zip((runs[0], runs[2]), models.iterrows(), strict=True):
        errors = pandas.read_csv(run / "errors.csv")["relative_l2"]
        assert row["error"] == pytest.approx(errors.mean(), rel=1e-4)
        assert row["train_seconds"] == read_record(run / "cost.json", CostRecord).train_seconds
        assert row["label"] == "Tiny"
    lost = read_record(runs[1] / "cost.json", CostRecord).train_seconds  # of the seed that diverged
    assert lost > 0
    assert list(models["search_seconds"]) == [0.0, lost]
    (data_seconds,) = set(models["data_seconds"])
    assert math.isnan(seconds_to_make({"imported": {}}))
    assert 0 < data_seconds < 60
    for _, row in models.iterrows():  # of two epochs, which no solver is less accurate than
        here = table[(table["kind"] == "solver") & (table["resolution"] == row["resolution"])]
        accurate = here[here["error"] <= row["error"]]
        fastest = accurate.loc[accurate["many_seconds"].idxmin()]
        assert (row["solver"], row["solver_many_seconds"]) == (fastest["label"], fastest["many_seconds"])
    # Where none has finished there is no row.
    measure_inference(card, card, runs[1:2], folder / "none.csv", counts=counts, threads=1, gpus=0)
    assert pandas.read_csv(folder / "none.csv").empty
