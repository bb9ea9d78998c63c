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
from resolvent.figures.common import comparison as tidy
from resolvent.figures.common import intervals, results
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import Baseline, Run
from resolvent.figures.experiment.tuned import tuned_in_words
from resolvent.figures.published.reported_numbers import example_of, reported_number
from resolvent.figures.published.tables import Example

FAR_FROM_ZERO = 3  # ratio of the targets' mean to their deviation; above it, physical errors mean little
LEVELS = [digit / 10**power for power in range(1, 9) for digit in (5, 2, 1)]  # of errors
MEDIANS = "median error of standardised fields, as in the paper's public code"
NO_METRIC = {*CONDITION_COLUMNS, "baseline"}  # columns of an errors.csv that identify a row


@dataclass(frozen=True)
class Block:
    """A model or baseline under one condition and in one metric; a row of comparison.csv per statistic."""

    facts: dict  # the same in all rows
    errors: pd.DataFrame  # (seeds, samples) of the seeds with finite errors
    statistics: dict[str, dict]  # value, interval and sample by name

    @property
    def samples(self) -> list:
        return list(self.errors.columns)


def write_comparison(
    runs: Iterable[str | Path], baselines: Iterable[str | Path], output: str | Path
) -> pd.DataFrame:
    """Write comparison.csv to `output` and models.csv next to it; return what `read_comparison` returns."""
    rows, models = compare(results.read_runs(runs), results.read_baselines(baselines))
    save_table(rows, output)
    save_table(models, Path(output).with_name(tidy.MODELS_FILE))
    return tidy.with_facts(rows, models)


def compare(runs: list[Run], baselines: list[Baseline]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of comparison.csv and of models.csv."""
    _check_comparable(runs)
    blocks, competing, models = [], [], []
    for group in grouped(runs):
        first, tables, facts = group[0], [run.errors for run in group], _facts_of_model(group)
        tested = pd.concat([table[["resolution", "noise"]] for table in tables]).drop_duplicates()
        for resolution, noise in tested.sort_values(["resolution", "noise"]).itertuples(index=False):
            of_condition = _blocks(facts | {"test_resolution": resolution, "test_noise": noise}, tables)
            if resolution == first.resolution and results.same_noise(noise, first.noise):
                facts |= _ratios_to_reported(facts, example_of(first.record), of_condition)
            blocks += of_condition
            if first.record.grids != "fine":  # otherwise its target is on a finer grid than the others'
                competing += of_condition
        models.append(facts)
    leads = models[0]["leads"] if models else tidy.PHYSICAL
    for baseline in baselines:
        facts = _facts_of_baseline(baseline) | {"leads": leads}
        condition = {"test_resolution": baseline.resolution, "test_noise": baseline.noise}
        models.append(facts)
        blocks += _blocks(facts | condition, [baseline.errors])
    _compare_models(competing)
    _compare_with_baselines(blocks)
    rows = pd.DataFrame([
        block.facts | {"statistic": name} | values
        for block in blocks
        for name, values in block.statistics.items()
    ])  # fmt: skip
    return (
        rows.reindex(columns=list(tidy.COMPARISON_COLUMNS)).astype({"sample": "Int64"}),
        pd.DataFrame(models).reindex(columns=list(tidy.MODELS_COLUMNS)),
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
    for leading, *others in grouped(runs):
        for run, part in product(others, ("settings", "dataset_settings", "training")):
            if getattr(run.record, part) != getattr(leading.record, part):
                raise ResultError(
                    f"{run.directory} and {leading.directory} are seeds of one model but differ in {part}: "
                    "rename one of the models"
                )


def _facts_of_model(group: list[Run]) -> dict:
    """Return the columns of models.csv that do not depend on the errors, and those of comparison.csv."""
    first, record, cost = group[0], group[0].record, group[0].cost
    finished = [run for run in group if not run.diverged]
    measured = finished or group
    reported, example = reported_number(record, cost), example_of(record)
    # Diverged seeds are included: their best epoch on the test samples was earlier.
    best = pd.DataFrame([(run.cost.best_test_relative_l2, run.cost.best_test_epoch) for run in group])
    mean, epoch = (None, None) if best[0].isna().any() else best.mean()
    spreads = [run.record.prediction_spread for run in measured]
    versions = {pair for run in group for pair in run.record.code_versions.items()}
    far = any(
        abs(centre) > FAR_FROM_ZERO * deviation
        for centre, deviation in zip(
            record.targets.get("mean", []), record.targets.get("deviation", []), strict=True
        )
    )
    return {
        "kind": "model",
        "key": first.model,
        "label": first.label,
        "architecture": record.architecture,
        "trained_resolution": first.resolution,
        "trained_noise": first.noise,
        "diverged_seeds": sum(run.diverged for run in group),
        "status": status_of(group),
        "best_test_mean": mean,
        "best_test_epoch": epoch,
        "paper": example and example.source.name,
        "recipe": record.recipe,
        "reported": reported.value,
        "reported_of_other_recipe": reported.shown if reported.other_recipe else None,
        "reported_worst": reported.worst,
        "reported_note": reported.reason,
        "tuned": tuned_in_words(first),
        "leads": tidy.STANDARDISED if far else tidy.PHYSICAL,
        "prediction_spread": max((spread for spread in spreads if spread is not None), default=np.nan),
        "parameters": cost.parameters,
        "parameters_complex_once": cost.parameters_complex_once,
        "forward_flop": cost.forward_flop,
        "train_seconds": sum(run.cost.train_seconds for run in measured) / len(measured),
        "seconds_per_step": sum(run.cost.seconds_per_step for run in measured) / len(measured),
        "steps": sum(run.cost.steps for run in measured) / len(measured),
        "seconds_to_error": seconds_to_error(finished),
        "device": "; ".join(sorted({run.cost.device for run in group})),
        "dataset_hash": "; ".join(sorted({run.record.dataset_hash for run in group})),
        "config_hash": "; ".join(sorted({run.record.config_hash for run in group})),
        "code_versions": "; ".join(f"{part} {version}" for part, version in sorted(versions)),
    }


def _facts_of_baseline(baseline: Baseline) -> dict:
    no_answer = baseline.cost.no_answer
    return {
        "kind": "baseline",
        "key": baseline.key,
        "label": baseline.label,
        "trained_resolution": baseline.resolution,
        "trained_noise": baseline.noise,
        "diverged_seeds": 0,
        "status": f"{results.NO_ANSWER}: {no_answer}" if no_answer else "finished",
        "reported_note": "the paper has no such row",
        "parameters": baseline.cost.parameters,
    }


def seconds_to_error(runs: list[Run]) -> str | None:
    """Return the mean seconds until the validation error was at most round numbers: "0.1: 2.4; 0.05: 6".

    Only errors that every run reached are included. Epochs are assumed to take equal time.
    """
    lines: list[str] = []
    for level in LEVELS if runs else ():
        seconds = []
        for run in runs:
            curve = run.by_epoch("validation_relative_l2")
            reached = curve.index[curve <= level]
            if not len(reached):
                return "; ".join(lines) or None
            seconds.append(reached[0] * run.cost.train_seconds / run.cost.epochs)
        lines.append(f"{level:g}: {np.mean(seconds):.3g}")
    return "; ".join(lines) or None


def _blocks(facts: dict, tables: list[pd.DataFrame]) -> list[Block]:
    """Return a block for each metric that all `tables` of errors have."""
    blocks, numbers = [], map(str, tables[0].select_dtypes("number"))
    metrics = [name for name in numbers if name not in NO_METRIC and all(name in table for table in tables)]
    matrices = results.error_matrices(tables, facts["test_resolution"], facts["test_noise"], metrics)
    for metric, errors in matrices.items():
        statistics: dict[str, dict] = {name: {"value": np.nan} for name in ("mean", "median", "worst")}
        if not errors.empty:
            statistics["mean"] = asdict(intervals.mean_interval(errors.to_numpy()))
            statistics["median"] = asdict(intervals.median_interval(errors.to_numpy()))
            by_sample = errors.max(axis=0)
            statistics["worst"] = {"value": float(by_sample.max()), "sample": by_sample.idxmax()}
        shared = facts | {"metric": metric, "seeds": len(errors), "samples": errors.shape[1]}
        blocks.append(Block(shared, errors, statistics))
    return blocks


def _ratios_to_reported(facts: dict, example: Example | None, blocks: list[Block]) -> dict:
    """Return the ratio of our error to the reported number, in the same statistic and, if known, protocol."""
    if example is None or not facts["reported"]:
        return {}
    source, ratios = example.source, {}
    measured = {block.facts["metric"]: block.statistics for block in blocks}.get(source.metric)
    ours, of = measured and measured[source.statistic]["value"], "epoch chosen on validation samples"
    if source.statistic == "median":
        of = MEDIANS
    elif facts["best_test_mean"]:
        ours, of = facts["best_test_mean"], "best epoch on the test samples, as the paper reports"
    if ours and np.isfinite(ours):
        ratios = {"ratio_to_reported": ours / facts["reported"], "ratio_of": of}
    worst = measured and measured["worst"]["value"]
    if facts["reported_worst"] and worst and np.isfinite(worst):
        ratios["worst_ratio_to_reported"] = worst / facts["reported_worst"]
    return ratios


def _compare_models(blocks: list[Block]) -> None:
    """Add the ratio of each model's errors to the best other model's, for each condition and metric."""
    contests: dict[tuple, list[Block]] = {}
    for block in blocks:
        if not block.errors.empty:
            contests.setdefault(itemgetter(*tidy.CONTEST, "metric")(block.facts), []).append(block)
    for contest in contests.values():
        for block in contest:
            if block.samples != contest[0].samples:
                raise ResultError(
                    f"{block.facts['label']} and {contest[0].facts['label']} were tested on different "
                    "samples and cannot be compared: evaluate them again"
                )
        if len(contest) > 1:
            ratios = intervals.ratios_to_best_other([block.errors.to_numpy() for block in contest])
            for block, ratio in zip(contest, ratios, strict=True):
                block.statistics[tidy.RATIO] = asdict(ratio)


def _compare_with_baselines(blocks: list[Block]) -> None:
    """Add the ratios of each model's errors to those of the targets' mean and of a fitted linear operator."""
    condition_of = itemgetter("test_resolution", "test_noise", "metric", "trained_noise")
    finished = [block for block in blocks if not block.errors.empty]
    baselines = {
        (block.facts["key"], *condition_of(block.facts)): block
        for block in finished
        if block.facts["kind"] == "baseline"
    }
    for block, (key, statistic) in product(finished, tidy.AGAINST.items()):
        baseline = baselines.get((key, *condition_of(block.facts)))
        if block.facts["kind"] == "model" and baseline is not None and block.samples == baseline.samples:
            ratio = intervals.ratio_of_means(block.errors.to_numpy(), baseline.errors.to_numpy())
            block.statistics[statistic] = asdict(ratio)
