"""What tables and pages say of tuned runs: what was chosen, from what, and with how much effort."""

import csv
import re

import pytest
from exhibits import compared

from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment.error_table import write_error_tables
from resolvent.figures.experiment.tuned import tuned_in_words, tuning_of

RATES = (5e-4, 1e-3, 2e-3)


def tuning(*errors, chosen):
    """A TunedRecord as run.json has it; None is the error of a short run that diverged in its epoch 2."""
    candidates = [
        {
            "settings": {"learning_rate": rate, "gradient_clip": None},
            "validation_relative_l2": error,
            "diverged_epoch": 2 if error is None else None,
            "train_seconds": 30.0,
        }
        for rate, error in zip(RATES, errors, strict=True)
    ]
    return {
        "epochs": 5, "seed": 1, "candidates": candidates,
        "chosen": {"learning_rate": chosen, "gradient_clip": None},
    }  # fmt: skip


@pytest.fixture
def runs(make_run):
    """Two tuned models, the first with two seeds; every candidate of the second diverged."""
    found = tuning(0.03, 0.01, None, chosen=1e-3)
    lost = tuning(None, None, None, chosen=5e-4)
    return [
        make_run(label="Galerkin", tuning=found),
        make_run(label="Galerkin", tuning=found, seed=2),
        make_run("fno", label="FNO", architecture="fno1d", attention=None, tuning=lost, diverged_epoch=1),
    ]


def test_the_row_says_what_was_chosen_from_what(runs, tmp_path):
    write_error_tables(compared(runs, tmp_path), [tmp_path / "table.csv"])
    models, table = (list(csv.DictReader((tmp_path / f"{one}.csv").open())) for one in ("models", "table"))
    rest = "of 0.0005, 0.001, 0.002; gradient clip none of none; 5 epochs each"
    assert [row["tuned"] for row in models] == [
        f"learning rate 0.001 {rest}",
        f"every candidate diverged; the first was used; learning rate 0.0005 {rest}",
    ]
    assert [row["n = 512: tuned"] for row in table] == [row["tuned"] for row in models]


def test_untuned_runs_have_neither_words_nor_a_column(make_run, tmp_path):
    runs = [make_run()]
    assert tuned_in_words(*read_runs(runs)) is tuning_of(read_runs(runs)) is None
    write_error_tables(compared(runs, tmp_path), [tmp_path / "table.csv"])
    assert "tuned" not in (tmp_path / "table.csv").read_text()


def test_the_page_has_the_effort_and_every_short_run(runs):
    found = tuning_of(read_runs(runs))
    table = found.pop("table")
    assert found == {
        "short_runs": 3, "epochs": 5, "seed": 1, "samples": 100,
        "tried": ["learning rate 0.0005, 0.001, 0.002", "gradient clip none"],
    }  # fmt: skip
    rows = [re.sub(r"<[^>]*>", "|", row) for row in re.findall(r"<tr><th scope.*?</tr>", table)]
    assert [[cell for cell in row.split("|") if cell] for row in rows] == [
        ["Galerkin", "n = 512", "30.00", "10.00", "chosen", "diverged (epoch 2)", "1.5 min"],
        ["FNO", "n = 512", "diverged (epoch 2)", "chosen", *["diverged (epoch 2)"] * 2, "1.5 min"],
    ]
