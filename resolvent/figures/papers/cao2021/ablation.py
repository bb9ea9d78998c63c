"""Table 8 of Cao 2021: the Galerkin transformer by layer norm, initialisation and dropout."""

from pathlib import Path

from resolvent.figures.common.bootstrap import mean_interval
from resolvent.figures.common.numbers import DASH, in_units
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.common.table import Cell, Table, columns, write_table
from resolvent.figures.experiment.comparison import best_tested, grouped, status_of
from resolvent.figures.experiment.error_table import BEST_TEST, interval
from resolvent.figures.papers.cao2021.reported import TABLE_8
from resolvent.figures.published.beside import record, reported_beside

NORMS = {"regular": "regular norm", "projection": "K, V norm"}
SETTINGS = {
    "projection_gain": "η",
    "projection_diagonal": "δ",
    "attention_dropout": "ζ",
    "feedforward_dropout": "other dropout",
}


def write_ablation(runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write a row for each model; for each resolution ours, ours by the paper's protocol, and the paper's."""
    loaded = [run for folders in runs for run in read_runs(folders)]
    resolutions = sorted({run.resolution for run in loaded})
    groups: dict[str, dict[int, list[Run]]] = {}
    for group in grouped(loaded):
        groups.setdefault(group[0].model, {})[group[0].resolution] = group
    rows = []
    for by_resolution in groups.values():
        recorded = record(next(iter(by_resolution.values()))[0].record)
        settings = [f"{recorded.get(name, 0.0):g}" for name in SETTINGS]
        row = [Cell(NORMS[recorded["layer_norm"]]), *map(Cell, settings)]
        for resolution in resolutions:
            group = by_resolution.get(resolution)
            row += [_ours(group), _best_tested(group), _reported(group)] if group else [Cell(DASH)] * 3
        rows.append(row)
    of_resolutions = ((f"n = {resolution}", ["ours", BEST_TEST, "Cao 2021"]) for resolution in resolutions)
    heads = columns(("", ["layer norm", *SETTINGS.values()]), *of_resolutions)
    write_table(Table(heads, rows), outputs)


def _ours(group: list[Run]) -> Cell:
    """Return the mean error with its interval, at the epoch that the validation samples chose."""
    errors = error_matrix([run.errors for run in group], group[0].resolution)
    if errors.empty:
        return Cell(status_of(group), lost=True)
    mean = mean_interval(errors.to_numpy())
    epochs = sorted({run.cost.best_epoch for run in group if not run.diverged})
    parts = (interval(mean, TABLE_8.unit), f"epoch {', '.join(map(str, epochs))}")
    words = ", ".join(filter(None, parts))
    if any(run.diverged for run in group):
        words += f"; {status_of(group)}"
    return Cell(in_units(mean.value, TABLE_8.unit), note=words)


def _best_tested(group: list[Run]) -> Cell:
    best = best_tested(group)
    if best is None:
        return Cell(DASH, hint="the test error of every epoch was not recorded")
    return Cell(in_units(best.mean, TABLE_8.unit), note=f"epoch {best.epoch:g}")


def _reported(group: list[Run]) -> Cell:
    beside = reported_beside(group[0].record, group[0].cost, TABLE_8)
    if beside.value is None:
        return Cell(DASH, hint=beside.reason)
    return Cell(beside.digits, note=f"epoch {beside.best_epoch}")
