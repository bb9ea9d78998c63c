"""The comparison: every model and baseline under every condition it is tested in, in one tidy table.

A row pools the seeds of one model trained at one resolution and tested at one resolution, with one level of
noise. Seeds that diverged have no error to pool: the row says how many there were, and a row without any
finished seed has no numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from resolvent.figures.common.bootstrap import mean_interval, median_interval, paired_difference
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import (
    NO_ANSWER,
    Baseline,
    Run,
    error_matrix,
    read_baselines,
    read_runs,
    same_noise,
)
from resolvent.figures.published.beside import example_of, reported_beside

COLUMNS = [
    "kind", "key", "label", "architecture", "trained_resolution", "test_resolution", "trained_noise",
    "test_noise", "status", "mean", "low", "high", "median", "worst", "seeds", "diverged_seeds", "samples",
    "standing", "difference_to_best", "difference_low", "difference_high", "standardised_median",
    "standardised_low", "standardised_high", "best_test_mean", "best_test_epoch", "paper", "reported",
    "ratio_to_reported", "ratio_of", "reported_note", "parameters", "parameters_complex_once", "forward_flop",
    "train_seconds", "seconds_per_step", "steps", "device", "dataset_hash", "config_hash", "code_digest",
]  # fmt: skip

PAPERS_PROTOCOL = "best epoch on the test samples, as the paper reports"
STANDARDISED = "standardised_relative_l2"
MEDIANS = "median error of standardised fields, as the paper reports"
OWN_PROTOCOL = "epoch chosen on validation samples"


def write_comparison(
    runs: Iterable[str | Path], baselines: Iterable[str | Path], output: str | Path
) -> pd.DataFrame:
    """Gather these directories and write the tidy table; floats are written in full."""
    table = compare(read_runs(runs), read_baselines(baselines))
    table.to_csv(output, index=False, lineterminator="\n")
    return table


def compare(runs: list[Run], baselines: list[Baseline]) -> pd.DataFrame:
    """One row for each model x trained resolution x test resolution x test noise, and for each baseline."""
    check_comparable(runs)
    rows, matrices = [], []
    for group in grouped(runs):
        tested = pd.concat([run.errors[["resolution", "noise"]] for run in group]).drop_duplicates()
        for resolution, noise in tested.sort_values(["resolution", "noise"]).itertuples(index=False):
            matrices.append(error_matrix([run.errors for run in group], resolution, noise))
            facts = _run_facts(group, resolution, noise)
            standardised = _standardised(group, resolution, noise)
            rows.append({**facts, **_statistics(matrices[-1]), **standardised})
    for baseline in baselines:
        matrices.append(error_matrix([baseline.errors], baseline.resolution, baseline.noise))
        standardised = _standardised([baseline], baseline.resolution, baseline.noise)
        rows.append({**_baseline_facts(baseline), **_statistics(matrices[-1]), **standardised})
    _add_standing(rows, matrices)
    for row in rows:
        _add_ratio(row)
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def grouped(runs: list[Run]) -> list[list[Run]]:
    """The runs by model and training resolution, in the order given; a group differs in its seed only."""
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.model, run.resolution), []).append(run)
    return list(groups.values())


def check_comparable(runs: list[Run]) -> None:
    """Raise a ResultError where rows of one table would not measure the same thing."""
    datasets = {run.record.dataset_hash: run.directory for run in runs}
    if len(datasets) > 1:
        first, second, *_ = datasets.values()
        raise ResultError(f"{first} and {second} used different datasets: compare runs of one dataset only")
    for group in grouped(runs):
        for run in group[1:]:
            for part in ("settings", "dataset_settings", "training"):
                if getattr(run.record, part) != getattr(group[0].record, part):
                    raise ResultError(
                        f"{run.directory} is a seed of the same model as {group[0].directory} but differs in "
                        f"{part}: give one of them another name"
                    )


def status_of(group: list[Run]) -> str:
    """`finished`, `diverged (epoch 12)`, or how many of the seeds diverged and when."""
    lost = [run for run in group if run.diverged]
    if not lost:
        return "finished"
    epochs = sorted({run.cost.diverged_epoch for run in lost})
    told = f"diverged (epoch{'s' if len(epochs) > 1 else ''} {', '.join(map(str, epochs))})"
    return told if len(lost) == len(group) else f"{len(lost)} of {len(group)} seeds {told}"


@dataclass(frozen=True)
class BestTested:
    """What the paper reports of a run: the lowest mean error on the test samples of all epochs."""

    mean: float  # over the seeds
    epoch: float  # likewise


def best_tested(group: list[Run]) -> BestTested | None:
    """The mean over seeds, diverged ones too: their best epoch came before. None if one recorded none."""
    recorded = [(run.cost.best_test_relative_l2, run.cost.best_test_epoch) for run in group]
    if any(error is None for error, _ in recorded):
        return None
    return BestTested(*(sum(values) / len(group) for values in zip(*recorded, strict=True)))


def _run_facts(group: list[Run], resolution: int, noise: float) -> dict:
    first = group[0]
    finished = [run for run in group if not run.diverged] or group
    beside = reported_beside(first.record, first.cost)
    on_training_grid = resolution == first.resolution and same_noise(noise, first.noise)
    tested = best_tested(group) if on_training_grid else None
    example = example_of(first.record)
    return {
        "kind": "model",
        "key": first.model,
        "label": first.label,
        "architecture": first.record.architecture,
        "trained_resolution": first.resolution,
        "test_resolution": resolution,
        "trained_noise": first.noise,
        "test_noise": noise,
        "fine_target": first.record.grids == "fine",
        "status": status_of(group),
        "diverged_seeds": sum(run.diverged for run in group),
        "best_test_mean": tested and tested.mean,
        "best_test_epoch": tested and tested.epoch,
        "paper": example and example.source.name,
        "statistic": example and example.source.statistic,
        "reported": beside.value if on_training_grid else None,
        "reported_note": beside.reason
        if on_training_grid
        else "the paper has no table of tests on another grid or with other noise",
        "parameters": first.cost.parameters,
        "parameters_complex_once": first.cost.parameters_complex_once,
        "forward_flop": first.cost.forward_flop,
        "train_seconds": _mean(finished, "train_seconds"),
        "seconds_per_step": _mean(finished, "seconds_per_step"),
        "steps": _mean(finished, "steps"),
        "device": "; ".join(sorted({run.cost.device for run in group})),
        **{
            name: "; ".join(sorted({getattr(run.record, name) for run in group}))
            for name in ("dataset_hash", "config_hash", "code_digest")
        },
    }


def _baseline_facts(baseline: Baseline) -> dict:
    return {
        "kind": "baseline",
        "key": baseline.key,
        "label": baseline.label,
        "trained_resolution": baseline.resolution,
        "test_resolution": baseline.resolution,
        "trained_noise": baseline.noise,
        "test_noise": baseline.noise,
        "status": f"{NO_ANSWER}: {reason}" if (reason := baseline.cost.no_answer) else "finished",
        "diverged_seeds": 0,
        "reported_note": "the paper has no such row",
        "parameters": baseline.cost.parameters,
    }


def _statistics(errors: pd.DataFrame) -> dict:
    if errors.empty:
        return {"seeds": 0, "samples": 0}
    interval = mean_interval(errors.to_numpy())
    return {
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "median": float(errors.stack().median()),
        "worst": float(errors.max(axis=None)),
        "seeds": len(errors),
        "samples": errors.shape[1],
    }


def _standardised(group: list[Run] | list[Baseline], resolution: int | str, noise: float) -> dict:
    """Median error of standardised fields with its interval, where all of the group have measured it."""
    if any(STANDARDISED not in one.errors for one in group):
        return {}
    errors = error_matrix([one.errors for one in group], resolution, noise, STANDARDISED)
    if errors.empty:
        return {}
    interval = median_interval(errors.to_numpy())
    return {
        "standardised_median": interval.mean,
        "standardised_low": interval.low,
        "standardised_high": interval.high,
    }


def _add_ratio(row: dict) -> None:
    """Ours over the paper's, in its statistic, and by its protocol where the test error was recorded."""
    if not row.get("reported"):
        return
    if row["statistic"] == "standardised_median":
        ours, of = row.get("standardised_median"), MEDIANS
    else:
        ours = row["best_test_mean"] or row.get("mean")
        of = PAPERS_PROTOCOL if row["best_test_mean"] else OWN_PROTOCOL
    if ours:
        row["ratio_to_reported"], row["ratio_of"] = ours / row["reported"], of


def _add_standing(rows: list[dict], matrices: list[pd.DataFrame]) -> None:
    """Mark the best model under each condition and those not resolved from it: `best`, `tied`.

    A model whose target is on a finer grid than the others' does not compete with them.
    """
    cells: dict[tuple, list[int]] = {}
    conditions = ("trained_resolution", "test_resolution", "test_noise")
    for index, row in enumerate(rows):
        if "mean" in row and row["kind"] == "model" and not row["fine_target"]:
            cells.setdefault(tuple(row[name] for name in conditions), []).append(index)
    for members in cells.values():
        best = min(members, key=lambda index: rows[index]["mean"])
        for index in members:
            if list(matrices[index].columns) != list(matrices[best].columns):
                raise ResultError(
                    f"{rows[index]['label']} and {rows[best]['label']} were tested on different samples "
                    "and cannot be paired: evaluate them again"
                )
            if index == best:
                rows[index]["standing"] = "best"
                continue
            difference = paired_difference(matrices[index].to_numpy(), matrices[best].to_numpy())
            rows[index]["standing"] = "" if difference.excludes_zero else "tied"
            rows[index]["difference_to_best"] = difference.mean
            rows[index]["difference_low"] = difference.low
            rows[index]["difference_high"] = difference.high


def _mean(runs: list[Run], name: str) -> float:
    values = [getattr(run.cost, name) for run in runs]
    return sum(values) / len(values)
