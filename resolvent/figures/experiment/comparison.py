"""The comparison: every model and baseline under every condition it is tested in, in every metric.

The seeds of one model, trained at one resolution, are pooled. Seeds that diverged have no error to pool: a
row says how many there were, and without any finished seed it has no value.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.records import CONDITION_COLUMNS
from resolvent.common.runs import save_table
from resolvent.figures.common.comparison import (
    AGAINST,
    COMPARISON_COLUMNS,
    MODEL,
    MODELS_COLUMNS,
    MODELS_FILE,
    PHYSICAL,
    RATIO,
    STANDARDISED,
    with_facts,
)
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import (
    mean_interval,
    median_interval,
    paired_ratio,
    ratios_to_best_other,
)
from resolvent.figures.common.results import (
    NO_ANSWER,
    Baseline,
    Run,
    error_matrix,
    read_baselines,
    read_runs,
    same_noise,
)
from resolvent.figures.experiment.tuned import tuned_in_words
from resolvent.figures.published.beside import example_of, reported_beside
from resolvent.figures.published.tables import Example

STATISTICS = ("mean", "median", "worst")
FAR_FROM_ZERO = 3  # deviations: the mean of targets whose errors in physical units say little
NO_METRIC = {*CONDITION_COLUMNS, "baseline"}  # columns of an errors.csv that say what a row is of
PAPERS_PROTOCOL = "best epoch on the test samples, as the paper reports"
MEDIANS = "median error of standardised fields, as the paper's public code has it"
OWN_PROTOCOL = "epoch chosen on validation samples"


@dataclass
class Block:
    """The rows of one model or baseline under one condition and in one metric.

    facts     what the rows have in common.
    errors    (seeds, samples), of the seeds with finite errors.
    rows      a statistic each.
    competes  whether it is compared with the other models under this condition.
    """

    facts: dict
    errors: pd.DataFrame
    rows: list[dict]
    competes: bool


def write_comparison(
    runs: Iterable[str | Path], baselines: Iterable[str | Path], output: str | Path
) -> pd.DataFrame:
    """Write comparison.csv, to `output`, and models.csv beside it; floats are written in full.

    Returns the rows with the facts of their models, as `read_comparison` does.
    """
    rows, models = compare(read_runs(runs), read_baselines(baselines))
    for table, path in ((rows, Path(output)), (models, Path(output).with_name(MODELS_FILE))):
        save_table(table, path)
    return with_facts(rows, models)


def compare(runs: list[Run], baselines: list[Baseline]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of comparison.csv and those of models.csv."""
    check_comparable(runs)
    blocks, models = [], []
    for group in grouped(runs):
        models.append(_facts_of_model(group))
        competes = group[0].record.grids != "fine"
        tested = pd.concat([run.errors[["resolution", "noise"]] for run in group]).drop_duplicates()
        for resolution, noise in tested.sort_values(["resolution", "noise"]).itertuples(index=False):
            facts = _row_of_model(group) | {"test_resolution": resolution, "test_noise": noise}
            made = _blocks(facts, [run.errors for run in group], competes)
            if resolution == group[0].resolution and same_noise(noise, group[0].noise):
                _add_ratio(models[-1], example_of(group[0].record), made)
            blocks += made
    leads = models[0]["leads"] if models else PHYSICAL
    for baseline in baselines:
        models.append(_facts_of_baseline(baseline) | {"leads": leads})
        blocks += _blocks(_row_of_baseline(baseline), [baseline.errors], competes=False)
    _compare_models(blocks)
    _compare_with_baselines(blocks)
    rows = [row for block in blocks for row in block.rows]
    return (
        pd.DataFrame(rows).reindex(columns=list(COMPARISON_COLUMNS)).astype({"sample": "Int64"}),
        pd.DataFrame(models).reindex(columns=list(MODELS_COLUMNS)),
    )


def grouped(runs: list[Run]) -> list[list[Run]]:
    """Group runs by model and training resolution, in the order given: a group differs in its seed only."""
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
    """Return `finished`, `diverged (epoch 12)`, or how many of the seeds diverged and when."""
    lost = [run for run in group if run.diverged]
    if not lost:
        return "finished"
    epochs = sorted({run.cost.diverged_epoch for run in lost})
    diverged = f"diverged (epoch{'s' if len(epochs) > 1 else ''} {', '.join(map(str, epochs))})"
    return diverged if len(lost) == len(group) else f"{len(lost)} of {len(group)} seeds {diverged}"


@dataclass(frozen=True)
class BestTested:
    """What the paper reports of a run: the lowest mean error on the test samples of all epochs."""

    mean: float  # over the seeds
    epoch: float  # likewise


def best_tested(group: list[Run]) -> BestTested | None:
    """Average over seeds, diverged ones too: their best epoch came before. None if one recorded none."""
    recorded = [(run.cost.best_test_relative_l2, run.cost.best_test_epoch) for run in group]
    if any(error is None for error, _ in recorded):
        return None
    return BestTested(*(sum(values) / len(group) for values in zip(*recorded, strict=True)))


def metrics_of(tables: list[pd.DataFrame]) -> list[str]:
    """Return the metrics that all these tables of errors have, in their order."""
    first, *others = tables
    numbers = [name for name in first.select_dtypes("number") if name not in NO_METRIC]
    return [name for name in numbers if all(name in other for other in others)]


def _row_of_model(group: list[Run]) -> dict:
    first = group[0]
    return {
        "kind": "model",
        "key": first.model,
        "label": first.label,
        "architecture": first.record.architecture,
        "trained_resolution": first.resolution,
        "trained_noise": first.noise,
        "diverged_seeds": sum(run.diverged for run in group),
        "status": status_of(group),
    }


def _row_of_baseline(baseline: Baseline) -> dict:
    return {
        "kind": "baseline",
        "key": baseline.key,
        "label": baseline.label,
        "trained_resolution": baseline.resolution,
        "test_resolution": baseline.resolution,
        "trained_noise": baseline.noise,
        "test_noise": baseline.noise,
        "diverged_seeds": 0,
        "status": f"{NO_ANSWER}: {reason}" if (reason := baseline.cost.no_answer) else "finished",
    }


def _facts_of_model(group: list[Run]) -> dict:
    first = group[0]
    finished = [run for run in group if not run.diverged] or group
    beside = reported_beside(first.record, first.cost)
    tested = best_tested(group)
    example = example_of(first.record)
    return {
        **{name: value for name, value in _row_of_model(group).items() if name in (*MODEL, "label")},
        "best_test_mean": tested and tested.mean,
        "best_test_epoch": tested and tested.epoch,
        "paper": example and example.source.name,
        "recipe": first.record.recipe,
        "reported": beside.value,
        "reported_of_other_recipe": beside.shown if beside.other_recipe else None,
        "reported_worst": beside.worst,
        "reported_note": beside.reason,
        "tuned": tuned_in_words(first),
        "leads": _leading(first),
        "prediction_spread": max(spreads) if (spreads := _spreads(finished)) else np.nan,
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


def _spreads(runs: list[Run]) -> list[float]:
    return [run.record.prediction_spread for run in runs if run.record.prediction_spread is not None]


def _leading(run: Run) -> str:
    """Return the metric that says most: in physical units, that of targets far from zero says little."""
    targets = run.record.targets
    far = any(
        abs(mean) > FAR_FROM_ZERO * deviation
        for mean, deviation in zip(targets.get("mean", []), targets.get("deviation", []), strict=True)
    )
    return STANDARDISED if far else PHYSICAL


def _facts_of_baseline(baseline: Baseline) -> dict:
    return {
        **{name: value for name, value in _row_of_baseline(baseline).items() if name in (*MODEL, "label")},
        "reported_note": "the paper has no such row",
        "parameters": baseline.cost.parameters,
    }


def _blocks(facts: dict, tables: list[pd.DataFrame], competes: bool) -> list[Block]:
    """Make a block for each metric that all the tables have."""
    blocks = []
    for metric in metrics_of(tables):
        errors = error_matrix(tables, facts["test_resolution"], facts["test_noise"], metric)
        counts = {"seeds": len(errors), "samples": errors.shape[1] if len(errors) else 0}
        shared = {**facts, "metric": metric, **counts}
        rows = [
            {**shared, "statistic": statistic, **_statistic(errors, statistic)} for statistic in STATISTICS
        ]
        blocks.append(Block(shared, errors, rows, competes))
    return blocks


def _statistic(errors: pd.DataFrame, statistic: str) -> dict:
    if errors.empty:
        return {"value": np.nan}
    if statistic == "worst":
        worst = errors.max()  # of each sample
        return {"value": float(worst.max()), "sample": worst.idxmax()}
    interval = {"mean": mean_interval, "median": median_interval}[statistic](errors.to_numpy())
    return asdict(interval)


def _add_ratio(facts: dict, example: Example | None, blocks: list[Block]) -> None:
    """Add ours over the reported number: in its statistic, by its protocol where that was recorded."""
    if not facts["reported"]:
        return
    source = example.source
    measured = {(row["metric"], row["statistic"]): row["value"] for block in blocks for row in block.rows}
    ours, of = measured.get((source.metric, source.statistic)), OWN_PROTOCOL
    if source.statistic == "median":
        of = MEDIANS
    elif facts["best_test_mean"]:
        ours, of = facts["best_test_mean"], PAPERS_PROTOCOL
    if ours and np.isfinite(ours):
        facts["ratio_to_reported"], facts["ratio_of"] = ours / facts["reported"], of
    worst = measured.get((source.metric, "worst"))
    if facts["reported_worst"] and worst and np.isfinite(worst):
        facts["worst_ratio_to_reported"] = worst / facts["reported_worst"]


def _compare_models(blocks: list[Block]) -> None:
    """Add the errors of each model over those of the best other, under each condition, in each metric.

    A model whose target is on a finer grid than the others' is not compared with them.
    """
    contests: dict[tuple, list[Block]] = {}
    conditions = ("trained_resolution", "test_resolution", "test_noise", "metric")
    for block in blocks:
        if block.competes and not block.errors.empty:
            contests.setdefault(tuple(block.facts[name] for name in conditions), []).append(block)
    for members in contests.values():
        first = members[0]
        for block in members:
            if list(block.errors.columns) != list(first.errors.columns):
                raise ResultError(
                    f"{block.facts['label']} and {first.facts['label']} were tested on different samples "
                    "and cannot be paired: evaluate them again"
                )
        if len(members) > 1:
            ratios = ratios_to_best_other([block.errors.to_numpy() for block in members])
            for block, ratio in zip(members, ratios, strict=True):
                block.rows.append({**block.facts, "statistic": RATIO, **asdict(ratio)})


def _compare_with_baselines(blocks: list[Block]) -> None:
    """Add the errors of each model over those of the mean of the targets and of a fitted linear operator."""
    same = ("trained_resolution", "test_resolution", "trained_noise", "test_noise", "metric")
    held = {
        (block.facts["key"], *(block.facts[name] for name in same)): block
        for block in blocks
        if block.facts["kind"] == "baseline"
    }
    for block in blocks:
        for key, statistic in AGAINST.items():
            other = held.get((key, *(block.facts[name] for name in same)))
            if other is None or block.facts["kind"] == "baseline" or block.errors.empty or other.errors.empty:
                continue
            if list(block.errors.columns) == list(other.errors.columns):
                ratio = paired_ratio(block.errors.to_numpy(), other.errors.to_numpy())
                block.rows.append({**block.facts, "statistic": statistic, **asdict(ratio)})


def _mean(runs: list[Run], name: str) -> float:
    values = [getattr(run.cost, name) for run in runs]
    return sum(values) / len(values)
