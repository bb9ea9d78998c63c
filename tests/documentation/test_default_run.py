"""The page of an experiment of the default configuration has each model and baseline, and its jobs' times."""

import base64
import json
from types import SimpleNamespace

from resolvent.documentation.default_run import PAGES, overview, page, times
from resolvent.figures.common import comparison
from resolvent.figures.common.comparison import Error
from resolvent.figures.front.results import Results, Row, RunState
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study

NAN = float("nan")
STUDY = Study(name="laptop", experiments={"burgers": PlannedExperiment("Burgers", "b", "", 128, [], [])})


def row(label, states, error=None, best=False):
    """Return what is known of a model whose runs are in these states; without an error none finished."""
    runs = [
        RunState(str(seed), label, state, seconds=90.0, device="CPU") for seed, state in enumerate(states)
    ]
    ratio = Error(0.5, 0.4, 0.6, NAN) if best else Error(2.0, 1.8, 2.2, NAN)
    tested = SimpleNamespace(
        error=lambda metric="relative_l2", statistic="mean": ratio if statistic != "mean" else error,
        is_ranked=lambda: True, is_among_the_best=lambda: best, verdict="",
        facts={"config_hash": "", "dataset_hash": ""},
    )  # fmt: skip
    planned = PlannedRow(label.lower(), label, None, 128, 0.0, {})
    classical = Error(1e-5, NAN, NAN, NAN)
    return Row("burgers", "Burgers", "", (), planned, runs, tested if error else None, classical)


def baseline(key, label, error):
    """Return what is known of a baseline with this error on 128 points; NaN is that of no answer."""
    facts = {"key": key, "label": label, "trained_resolution": 128}
    return comparison.Tested(facts, {("relative_l2", "mean"): Error(error, NAN, NAN, NAN)})


def test_every_model_has_a_row_the_lowest_error_first():
    rows = [
        row("FNO", ["finished"] * 3, Error(4e-2, 3.9e-2, 4.1e-2, NAN)),
        row("Galerkin", ["finished", "finished", "diverged"], Error(2e-2, 1.9e-2, 2.1e-2, NAN), best=True),
        row("Softmax", ["diverged"] * 3),
    ]
    baselines = [
        baseline("coarse_solve", "Classical solver", 1e-5),
        baseline("identity", "Identity", 3e-2),
        baseline("ridge", "Ridge regression", NAN),
    ]
    taken = [("training", "9", "0.50 h", "0.75 h")]
    text = page(Results(STUDY, None, rows), "burgers", baselines, {("fno", "128"): 0.031}, taken)
    words = " ".join(text.split())
    assert "9 trainings: 5 finished, 4 diverged, 13.5 min in all" in words
    assert "Galerkin is the best: 0.50 of the error of the next (0.40 to 0.60)." in words
    assert "| training | 9 | 0.50 h | 0.75 h |" in text
    table = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert [line.split(" | ")[0] for line in table[:5]] == [
        "| *Classical solver*", "| Galerkin", "| *Identity*", "| FNO", "| Softmax",
    ]  # fmt: skip
    assert table[1] == "| Galerkin | 128 | 2.00 (1.90 to 2.10) × 10⁻² | — | 0.50 | best | 2 of 3 | 1.5 min |"
    assert "| 3.10 × 10⁻² |" in table[3]
    assert table[4] == "| Softmax | 128 | — | — | — | 3 diverged | 0 of 3 | — |"


def test_the_overview_sums_the_hours_of_all_pages(tmp_path):
    rows = [row("FNO", ["finished", "diverged"], Error(4e-2, 3.9e-2, 4.1e-2, NAN))]
    (tmp_path / PAGES).mkdir(parents=True)
    for name, hours in {"burgers": "0.75 h", "other": "1.50 h"}.items():
        text = page(Results(STUDY, None, rows), "burgers", [], {}, [("all", "9", "0.50 h", hours)])
        (tmp_path / PAGES / f"{name}.md").write_text(text)
    assert overview(tmp_path).splitlines()[2:] == [
        "| [Burgers](default-run/burgers.md) | 2 | 1 finished, 1 diverged | 0.50 h | 0.75 h |",
        "| [Burgers](default-run/other.md) | 2 | 1 finished, 1 diverged | 0.50 h | 1.50 h |",
        "| all of them | 4 |  | 1.0 h | 2.2 h |",
    ]


def test_predicted_times_stand_beside_those_that_snakemake_noted(tmp_path):
    noted = tmp_path / ".snakemake/metadata"
    noted.mkdir(parents=True)
    for output, seconds in {"a/checkpoint.pt": 3600, "b/checkpoint.pt": 1800, "page.html": 360}.items():
        name = base64.b64encode(output.encode()).decode()
        (noted / name).write_text(json.dumps({"starttime": 1000.0, "endtime": 1000.0 + seconds}))
    jobs = {
        "a/checkpoint.pt": "train",
        "b/checkpoint.pt": "train_short",
        "page.html": "report",
        "not yet": "train",
    }
    planned = [{"rule": rule, "output": output, "seconds": "720.0"} for output, rule in jobs.items()]
    assert times(planned, tmp_path) == [
        ("training", "2", "0.40 h", "1.50 h"),
        ("tables, figures and pages", "1", "0.20 h", "0.10 h"),
        ("all", "3", "0.60 h", "1.60 h"),
    ]
    assert times(planned, tmp_path / "elsewhere") == []
