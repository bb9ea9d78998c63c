"""How an experiment tuned training settings, in words and as a table: with equal effort for every model."""

from __future__ import annotations

from collections.abc import Iterable

from resolvent.common.counts import counted
from resolvent.figures.common.numbers import UNIT, duration, in_units, power
from resolvent.figures.common.results import Run
from resolvent.figures.common.table import Cell, Column, Table, as_html

EVERY_DIVERGED = "every candidate diverged, the first one was taken"


def tuned_in_words(run: Run) -> str | None:
    """Return "learning rate 0.002 of 0.0005, 0.001, 0.002; 5 epochs each"; None where nothing was tuned."""
    tuning = run.record.tuning
    if tuning is None:
        return None
    chosen = [
        f"{_words(name)} {_shown(tuning['chosen'][name])} of {_listed(values)}"
        for name, values in _tried(tuning).items()
    ]
    epochs = f"{counted(tuning['epochs'], 'epoch')} each"
    lost = [] if any(_finished(one) for one in tuning["candidates"]) else [EVERY_DIVERGED]
    return "; ".join([*lost, *chosen, epochs])


def tuning_of(runs: list[Run]) -> dict | None:
    """Return what the page says of the tuning of an experiment's runs; None where nothing was tuned.

    The number of short runs of a model at a training resolution, their epochs and seed, the validation
    samples that chose, what was tried, and the table of errors as HTML.
    """
    tuned = [run for run in runs if run.record.tuning]
    if not tuned:
        return None
    first = tuned[0].record
    return {
        "short_runs": len(first.tuning["candidates"]),
        "epochs": first.tuning["epochs"],
        "seed": first.tuning["seed"],
        "samples": first.training["validation_samples"],
        "tried": [f"{_words(name)} {_listed(values)}" for name, values in _tried(first.tuning).items()],
        "table": as_html(tuning_table(tuned)),
    }


def tuning_table(runs: list[Run]) -> Table:
    """Return the validation errors of all short runs: a row a model and training resolution, the chosen bold.

    `runs` are those of one experiment, which all have the same candidates.
    """
    candidates = [one["settings"] for one in runs[0].record.tuning["candidates"]]
    group = f"relative L² error on the validation samples, ×{power(UNIT)}"
    heads = [Column("model"), Column("trained at")]
    heads += [Column(_setting(one), group) for one in candidates]
    heads.append(Column("short runs"))
    first = {}  # all seeds have the same
    for run in runs:
        first.setdefault((run.model, run.resolution), run)
    return Table(heads, [_row(run) for run in first.values()])


def _row(run: Run) -> list[Cell]:
    tuning = run.record.tuning
    seconds = sum(one["train_seconds"] for one in tuning["candidates"])
    errors = [_error(one, one["settings"] == tuning["chosen"]) for one in tuning["candidates"]]
    return [Cell(run.label), Cell(run.where), *errors, Cell(duration(seconds), value=seconds)]


def _error(candidate: dict, chosen: bool) -> Cell:
    error = candidate["validation_relative_l2"]
    if not _finished(candidate):
        return Cell(
            f"diverged (epoch {candidate['diverged_epoch']})",
            note="chosen" * chosen,
            value=float("nan"),
            lost=True,
        )
    return Cell(in_units(error, UNIT), note="chosen" * chosen, value=error, bold=chosen)


def _finished(candidate: dict) -> bool:
    return candidate["diverged_epoch"] is None


def _tried(tuning: dict) -> dict[str, list]:
    """Return the values tried, by setting."""
    names = tuning["candidates"][0]["settings"]
    return {name: _once(one["settings"][name] for one in tuning["candidates"]) for name in names}


def _once(values: Iterable) -> list:
    return list(dict.fromkeys(values))


def _setting(settings: dict) -> str:
    return ", ".join(f"{_words(name)} {_shown(value)}" for name, value in settings.items())


def _listed(values: list) -> str:
    return ", ".join(map(_shown, values))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _shown(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)
