"""Compare all models and baselines under all test conditions, in all metrics.

The seeds of a model at a training resolution are pooled. Diverged seeds have no errors: a row has their
number, and no value if no seed finished.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.records import CONDITION_COLUMNS
from resolvent.common.runs import save_table
from resolvent.figures.common import intervals
from resolvent.figures.common.comparison import (
    AGAINST,
    COMPARISON_COLUMNS,
    CONTEST,
    MODELS_COLUMNS,
    MODELS_FILE,
    PHYSICAL,
    RATIO,
    STANDARDISED,
    with_facts,
)
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import (
    NO_ANSWER,
    Baseline,
    Run,
    error_matrices,
    read_baselines,
    read_runs,
    same_noise,
)
from resolvent.figures.experiment.tuned import tuned_in_words
from resolvent.figures.published.reported_numbers import example_of, reported_number
from resolvent.figures.published.tables import Example

FAR_FROM_ZERO = 3  # ratio of the targets' mean to their deviation; above it, physical errors mean little
LEVELS = [digit / 10**power for power in range(1, 9) for digit in (5, 2, 1)]  # of errors
MEDIANS = "median error of standardised fields, as in the paper's public code"
NO_METRIC = {*CONDITION_COLUMNS, "baseline"}  # columns of an errors.csv that identify a row


@dataclass
class Block:
    """A model or baseline under one condition and in one metric."""

    facts: dict
    errors: pd.DataFrame  # (seeds, samples) of the seeds with finite errors
    rows: list[dict]  # one per statistic, each with the facts


def write_comparison(
    runs: Iterable[str | Path], baselines: Iterable[str | Path], output: str | Path
) -> pd.DataFrame:
    """Write comparison.csv to `output` and models.csv next to it; return what `read_comparison` returns."""
    rows, models = compare(read_runs(runs), read_baselines(baselines))
    save_table(rows, output)
    save_table(models, Path(output).with_name(MODELS_FILE))
    return with_facts(rows, models)


def compare(runs: list[Run], baselines: list[Baseline]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of comparison.csv and of models.csv."""
    _check_comparable(runs)
    blocks, competing, models = [], [], []
    for group in grouped(runs):
        first, tables = group[0], [run.errors for run in group]
        row = {
            "kind": "model",
            "key": first.model,
            "label": first.label,
            "architecture": first.record.architecture,
            "trained_resolution": first.resolution,
            "trained_noise": first.noise,
            "diverged_seeds": sum(run.diverged for run in group),
            "status": status_of(group),
        }
        facts = row | _facts_of_model(group)
        tested = pd.concat([table[["resolution", "noise"]] for table in tables]).drop_duplicates()
        for resolution, noise in tested.sort_values(["resolution", "noise"]).itertuples(index=False):
            made = _blocks(row | {"test_resolution": resolution, "test_noise": noise}, tables)
            if resolution == first.resolution and same_noise(noise, first.noise):
                facts |= _ratios_to_reported(facts, example_of(first.record), made)
            blocks += made
            if first.record.grids != "fine":  # otherwise its target is on a finer grid than the others'
                competing += made
        models.append(facts)
    leads = models[0]["leads"] if models else PHYSICAL
    for one in baselines:
        reason = one.cost.no_answer
        row = {"kind": "baseline", "key": one.key, "label": one.label, "diverged_seeds": 0}
        row |= {"trained_resolution": one.resolution, "test_resolution": one.resolution}
        row |= {"trained_noise": one.noise, "test_noise": one.noise}
        row["status"] = f"{NO_ANSWER}: {reason}" if reason else "finished"
        note = {"reported_note": "the paper has no such row", "parameters": one.cost.parameters}
        models.append(row | note | {"leads": leads})
        blocks += _blocks(row, [one.errors])
    _compare_models(competing)
    _compare_with_baselines(blocks)
    rows = pd.DataFrame([row for block in blocks for row in block.rows])
    return (
        rows.reindex(columns=list(COMPARISON_COLUMNS)).astype({"sample": "Int64"}),
        pd.DataFrame(models).reindex(columns=list(MODELS_COLUMNS)),
    )


def grouped(runs: list[Run]) -> list[list[Run]]:
    """Group runs by model and training resolution, in the given order; a group has several seeds."""
    groups: dict[tuple[str, int | str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.model, run.resolution), []).append(run)
    return list(groups.values())


def status_of(group: list[Run]) -> str:
    """Return `finished`, `diverged (epoch 12)`, or the number of diverged seeds and their epochs."""
    lost = [run for run in group if run.diverged]
    if not lost:
        return "finished"
    epochs = sorted({str(run.cost.diverged_epoch) for run in lost}, key=int)
    diverged = f"diverged (epoch{'s' if len(epochs) > 1 else ''} {', '.join(epochs)})"
    return diverged if len(lost) == len(group) else f"{len(lost)} of {len(group)} seeds {diverged}"


def _check_comparable(runs: list[Run]) -> None:
    datasets = {run.record.dataset_hash: run.directory for run in runs}
    if len(datasets) > 1:
        first, second, *_ = datasets.values()
        raise ResultError(f"{first} and {second} used different datasets: compare runs of the same dataset")
    for one, *others in grouped(runs):
        for run, part in product(others, ("settings", "dataset_settings", "training")):
            if getattr(run.record, part) != getattr(one.record, part):
                raise ResultError(
                    f"{run.directory} and {one.directory} are seeds of one model but differ in {part}: "
                    "rename one of the models"
                )


def _facts_of_model(group: list[Run]) -> dict:
    first = group[0]
    finished = [run for run in group if not run.diverged] or group
    spreads = [one for run in finished if (one := run.record.prediction_spread) is not None]
    reported, example = reported_number(first.record, first.cost), example_of(first.record)
    # Diverged seeds are included: their best epoch on the test samples was earlier.
    best = [(run.cost.best_test_relative_l2, run.cost.best_test_epoch) for run in group]
    known = all(error is not None for error, _ in best)
    mean, epoch = (sum(values) / len(group) for values in zip(*best, strict=True)) if known else (None, None)
    targets = first.record.targets
    versions = {pair for run in group for pair in run.record.code_versions.items()}
    far = any(
        abs(centre) > FAR_FROM_ZERO * deviation
        for centre, deviation in zip(targets.get("mean", []), targets.get("deviation", []), strict=True)
    )
    return {
        "best_test_mean": mean,
        "best_test_epoch": epoch,
        "paper": example and example.source.name,
        "recipe": first.record.recipe,
        "reported": reported.value,
        "reported_of_other_recipe": reported.shown if reported.other_recipe else None,
        "reported_worst": reported.worst,
        "reported_note": reported.reason,
        "tuned": tuned_in_words(first),
        "leads": STANDARDISED if far else PHYSICAL,
        "prediction_spread": max(spreads, default=np.nan),
        "parameters": first.cost.parameters,
        "parameters_complex_once": first.cost.parameters_complex_once,
        "forward_flop": first.cost.forward_flop,
        **{
            name: sum(getattr(run.cost, name) for run in finished) / len(finished)
            for name in ("train_seconds", "seconds_per_step", "steps")
        },
        "seconds_to_error": seconds_to_error([run for run in group if not run.diverged]),
        "device": "; ".join(sorted({run.cost.device for run in group})),
        **{
            name: "; ".join(sorted({getattr(run.record, name) for run in group}))
            for name in ("dataset_hash", "config_hash")
        },
        "code_versions": "; ".join(f"{part} {version}" for part, version in sorted(versions)),
    }


def seconds_to_error(runs: list[Run]) -> str | None:
    """Return the mean seconds until the validation error was at most round numbers: "0.1: 2.4; 0.05: 6".

    Only errors that every run reached are included. Epochs are assumed to take equal time.
    """
    found = []
    for level in LEVELS if runs else ():
        curves = [run.by_epoch("validation_relative_l2") for run in runs]
        reached = [curve.index[curve <= level] for curve in curves]
        if not all(map(len, reached)):
            break
        seconds = [
            epochs[0] * run.cost.train_seconds / run.cost.epochs
            for epochs, run in zip(reached, runs, strict=True)
        ]
        found.append(f"{level:g}: {np.mean(seconds):.3g}")
    return "; ".join(found) or None


def _blocks(facts: dict, tables: list[pd.DataFrame]) -> list[Block]:
    blocks, numbers = [], map(str, tables[0].select_dtypes("number"))
    metrics = [one for one in numbers if one not in NO_METRIC and all(one in table for table in tables)]
    matrices = error_matrices(tables, facts["test_resolution"], facts["test_noise"], metrics)
    for metric, errors in matrices.items():
        found: dict[str, dict] = {name: {"value": np.nan} for name in ("mean", "median", "worst")}
        if not errors.empty:
            found["mean"] = asdict(intervals.mean_interval(errors.to_numpy()))
            found["median"] = asdict(intervals.median_interval(errors.to_numpy()))
            by_sample = errors.max(axis=0)
            found["worst"] = {"value": float(by_sample.max()), "sample": by_sample.idxmax()}
        shared = facts | {"metric": metric, "seeds": len(errors), "samples": errors.shape[1]}
        rows = [shared | {"statistic": name} | values for name, values in found.items()]
        blocks.append(Block(shared, errors, rows))
    return blocks


def _ratios_to_reported(facts: dict, example: Example | None, blocks: list[Block]) -> dict:
    """Return the ratio of our error to the reported number, in the same statistic and, if known, protocol."""
    if example is None or not facts["reported"]:
        return {}
    source, ratios = example.source, {}
    measured = {(row["metric"], row["statistic"]): row["value"] for block in blocks for row in block.rows}
    ours, of = measured.get((source.metric, source.statistic)), "epoch chosen on validation samples"
    if source.statistic == "median":
        of = MEDIANS
    elif facts["best_test_mean"]:
        ours, of = facts["best_test_mean"], "best epoch on the test samples, as the paper reports"
    if ours and np.isfinite(ours):
        ratios = {"ratio_to_reported": ours / facts["reported"], "ratio_of": of}
    worst = measured.get((source.metric, "worst"))
    if facts["reported_worst"] and worst and np.isfinite(worst):
        ratios["worst_ratio_to_reported"] = worst / facts["reported_worst"]
    return ratios


def _compare_models(blocks: list[Block]) -> None:
    """Add the ratio of each model's errors to the best other model's, for each condition and metric."""
    contests: dict[tuple, list[Block]] = {}
    for block in blocks:
        if not block.errors.empty:
            contests.setdefault(itemgetter(*CONTEST, "metric")(block.facts), []).append(block)
    for first, *others in contests.values():
        for block in others:
            if list(block.errors.columns) != list(first.errors.columns):
                raise ResultError(
                    f"{block.facts['label']} and {first.facts['label']} were tested on different samples and "
                    "cannot be compared: evaluate them again"
                )
        if others:
            ratios = intervals.ratios_to_best_other([block.errors.to_numpy() for block in (first, *others)])
            for block, ratio in zip((first, *others), ratios, strict=True):
                block.rows.append({**block.facts, "statistic": RATIO, **asdict(ratio)})


def _compare_with_baselines(blocks: list[Block]) -> None:
    """Add the ratios of each model's errors to those of the targets' mean and of a fitted linear operator."""
    condition_of = itemgetter(*CONTEST, "metric", "trained_noise")
    known = [block for block in blocks if not block.errors.empty]
    of = {kind: [one for one in known if one.facts["kind"] == kind] for kind in ("model", "baseline")}
    baselines = {(one.facts["key"], *condition_of(one.facts)): one for one in of["baseline"]}
    for block in of["model"]:
        for key, statistic in AGAINST.items():
            other = baselines.get((key, *condition_of(block.facts)))
            if other is not None and list(block.errors.columns) == list(other.errors.columns):
                ratio = intervals.ratio_of_means(block.errors.to_numpy(), other.errors.to_numpy())
                block.rows.append({**block.facts, "statistic": statistic, **asdict(ratio)})
