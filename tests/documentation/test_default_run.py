"""The table of the default configuration has each model and baseline, and the hours of its jobs."""

import csv
from types import SimpleNamespace

from default_run import COLUMNS, TABLE, experiment_rows, overview

from resolvent.evaluation.baselines import LABELS
from resolvent.figures.common import comparison
from resolvent.figures.common.intervals import Interval
from resolvent.figures.front.results import CLASSICAL, Results, Row, RunState
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study

NAN = float("nan")
STUDY = Study(name="laptop", experiments={"burgers": PlannedExperiment("Burgers", "b", "", 128, [], [])})


def row(label, states, error=None, best=False):
    """Return what is known of a model whose runs are in these states; without an error none finished."""
    cost = SimpleNamespace(train_seconds=90.0, device="CPU")
    runs = [RunState(str(seed), label, state, cost=cost) for seed, state in enumerate(states)]
    ratio = Interval(0.5, 0.4, 0.6, NAN) if best else Interval(2.0, 1.8, 2.2, NAN)
    tested = SimpleNamespace(
        error=lambda metric="relative_l2", statistic="mean": ratio if statistic != "mean" else error,
        is_ranked=lambda: True, is_among_the_best=lambda: best, is_worse=lambda: not best, verdict="",
        facts={"config_hash": "", "dataset_hash": ""},
    )  # fmt: skip
    planned = PlannedRow(label.lower(), label, None, 128, 0.0, {})
    classical = Interval(1e-5, NAN, NAN, NAN)
    return Row("burgers", "Burgers", "", (), planned, runs, tested if error else None, classical)


def baseline(key, label, error):
    """Return what is known of a baseline with this error on 128 points; NaN is that of no answer."""
    facts = {"key": key, "label": label, "trained_resolution": 128}
    return comparison.Tested(facts, {("relative_l2", "mean"): Interval(error, NAN, NAN, NAN)})


def test_an_experiment_keeps_a_row_for_each_model_and_baseline_the_lowest_error_first():
    rows = [
        row("FNO", ["finished"] * 3, Interval(4e-2, 3.9e-2, 4.1e-2, NAN)),
        row("Galerkin", ["finished", "finished", "diverged"], Interval(2e-2, 1.9e-2, 2.1e-2, NAN), best=True),
        row("Softmax", ["diverged"] * 3),
    ]
    baselines = [
        baseline("coarse_solve", "Classical solver on the same grid", 1e-5),
        baseline("identity", "Identity", 3e-2),
        baseline("ridge", "Ridge regression", NAN),
    ]
    taken = ("0.50", "0.75")
    found = experiment_rows(Results(STUDY, None, rows), "burgers", baselines, {("fno", "128"): 0.031}, taken)
    assert [(one["kind"], one["model"]) for one in found] == [
        ("baseline", "Classical solver on the same grid"), ("model", "Galerkin"), ("baseline", "Identity"),
        ("model", "FNO"), ("model", "Softmax"),
    ]  # fmt: skip
    assert all(one["trainings"] == "9" and one["ended"] == "5 finished, 4 diverged" for one in found)
    shown = ("n", "error", "error_in_training", "ratio_to_best_other", "verdict", "runs", "training")
    assert [found[1][name] for name in shown] == [
        "128", "2.00 (1.90 to 2.10) × 10⁻²", "", "0.50", "best", "2 of 3", "1.5 min",
    ]  # fmt: skip
    assert found[3]["error_in_training"] == "3.10 × 10⁻²"
    assert [found[4][name] for name in shown] == ["128", "", "", "", "3 diverged", "0 of 3", ""]


def test_the_page_names_the_best_models_of_each_experiment_and_sums_the_hours(tmp_path):
    (tmp_path / "docs/equations").mkdir(parents=True)
    (tmp_path / "docs/equations/burgers.md").touch()
    (tmp_path / TABLE).parent.mkdir()
    facts = dict.fromkeys(COLUMNS, "") | {"title": "Burgers", "ended": "2 finished", "trainings": "2"}
    cells = [
        ("burgers", "baseline", LABELS[CLASSICAL], "1e-5", ""),
        *(("burgers", "model", name, "0.1", "tied for the best") for name in "ABCDE"),
        ("burgers", "baseline", "Identity", "1.00", ""),
        ("heat", "model", "A", "0.2", "not ranked"),
        ("heat", "model", "B", "0.3", "not ranked"),
    ]
    with open(tmp_path / TABLE, "w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for words in cells:
            own = dict(zip(("experiment", "kind", "model", "error", "verdict"), words, strict=True))
            writer.writerow(facts | own | {"predicted_hours": "0.50", "taken_hours": "0.75"})
    assert overview(tmp_path).splitlines()[2:] == [
        "| [Burgers](equations/burgers.md) | A 0.1; B 0.1; C 0.1; 2 more | tied for the best | 1e-5 | "
        "Identity 1.00 | 2 finished | 0.50 h | 0.75 h |",
        "| Burgers | A 0.2 | not ranked | — | — | 2 finished | 0.50 h | 0.75 h |",
        "| total |  |  |  |  | 4 | 1.0 h | 1.5 h |",
    ]
