"""Tuning of training settings in an experiment, as text and table; equal effort for every model."""

from resolvent.common.counts import counted, value_in_words
from resolvent.common.records import Tuning
from resolvent.figures.common.numbers import UNIT, duration, in_units, power
from resolvent.figures.common.results import Run, resolution_in_words
from resolvent.figures.common.table import Cell, Column, Table, as_html

EVERY_DIVERGED = "every candidate diverged; the first was used"


def tuned_in_words(run: Run) -> str | None:
    """Return "learning rate 0.002 of 0.0005, 0.001, 0.002; 5 epochs each", or None without tuning."""
    tuning = run.record.tuning
    if tuning is None:
        return None
    epochs = [candidate["diverged_epoch"] for candidate in tuning["candidates"]]
    words = [] if None in epochs else [EVERY_DIVERGED]
    for name, value in tuning["chosen"].items():
        words.append(f"{_said(name, [value])} of {', '.join(map(value_in_words, _tried(tuning, name)))}")
    return "; ".join([*words, f"{counted(tuning['epochs'], 'epoch')} each"])


def tuning_of(runs: list[Run]) -> dict | None:
    """Return the page's content on the tuning of an experiment's runs, or None without tuning.

    Its HTML table has the errors of all short runs: one row per model and training resolution, the selected
    run in bold. All runs of an experiment have the same candidates.
    """
    tuned = [(run, run.record.tuning) for run in runs if run.record.tuning]
    if not tuned:
        return None
    first, tuning = tuned[0]
    candidates = [candidate["settings"] for candidate in tuning["candidates"]]
    group = f"relative L² error on the validation samples, ×{power(UNIT)}"
    heads = [Column("model"), Column("trained at")]
    for settings in candidates:
        heads.append(Column(", ".join(_said(name, [settings[name]]) for name in settings), group))
    rows: dict[tuple, list[Cell]] = {}
    for run, tried in tuned:
        rows.setdefault((run.model, run.resolution), _row(run, tried))  # the same for all seeds
    return {
        "short_runs": len(candidates),
        "epochs": tuning["epochs"],
        "seed": tuning["seed"],
        "samples": first.record.training["validation_samples"],
        "tried": [_said(name, _tried(tuning, name)) for name in candidates[0]],
        "table": as_html(Table([*heads, Column("short runs")], list(rows.values()))),
    }


def _row(run: Run, tuning: Tuning) -> list[Cell]:
    cells = [Cell(run.label), Cell(resolution_in_words(run.resolution))]
    for candidate in tuning["candidates"]:
        chosen, epoch = candidate["settings"] == tuning["chosen"], candidate["diverged_epoch"]
        note, error = "chosen" * chosen, candidate["validation_relative_l2"]
        if error is not None:
            cells.append(Cell(in_units(error, UNIT), note=note, value=error, bold=chosen))
        else:
            cells.append(Cell(f"diverged (epoch {epoch})", note=note, value=float("nan"), lost=True))
    seconds = sum(candidate["train_seconds"] for candidate in tuning["candidates"])
    return [*cells, Cell(duration(seconds), value=seconds)]


def _tried(tuning: Tuning, name: str) -> list:
    return list(dict.fromkeys(candidate["settings"][name] for candidate in tuning["candidates"]))


def _said(name: str, values: list) -> str:
    return f"{name.replace('_', ' ')} {', '.join(map(value_in_words, values))}"
