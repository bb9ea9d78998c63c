"""Evaluate predictions and models: errors on labels computed here, compared with classical solvers."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import read_json, write_atomically, write_json, write_text
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.readers.arrays_file import LARGEST
from resolvent.datasets.loading import Samples, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.evaluation.metrics import Metric, Scale, measure, metrics_with
from resolvent.figures.common.intervals import mean_interval
from resolvent.figures.common.table import write_table
from resolvent.judging import beyond, exported
from resolvent.judging.answers import (
    BASELINE,
    CACHE,
    OURS,
    ClassicalSolvers,
    TestSource,
    answers_of,
    solver_errors,
)
from resolvent.judging.asking import Answered, Options, answers_to, check_options
from resolvent.judging.oddities import remarks_on
from resolvent.judging.predictions import Predictor, predictor
from resolvent.judging.report import (
    ERRORS,
    KINDS,
    PAGE,
    RECORD,
    SOLVER,
    TABLE,
    in_words,
    page_of,
    table_of,
)
from resolvent.judging.tasks import NamedTask, names, read_task, short_name
from resolvent.planning.provenance import machine
from resolvent.public.consent import Allowed

LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")


@dataclass(repr=False)
class Evaluated:
    """An evaluation; notebooks show its page.

    task         what was asked for.
    record       content of evaluation.json.
    errors       a row for each sample, grid, and model or solver.
    predictions  by grid, (samples, ...), and the samples that they are for.
    """

    task: NamedTask
    record: dict[str, Any]
    errors: pd.DataFrame
    predictions: dict[str, tuple[np.ndarray, Samples]]

    @property
    def table(self) -> pd.DataFrame:
        """Return mean errors with intervals by model or solver, grid and metric."""
        return pd.DataFrame(self.record["rows"]).set_index(["who", "grid", "metric"])

    @property
    def page(self) -> str:
        """Return the page as HTML, with tables and figures."""
        return page_of(self.record, self.task, self.predictions)

    def __repr__(self) -> str:
        return "\n".join(in_words(self.record))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.page)}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def save(self, out: Path | str) -> None:
        """Write record, errors, tables and page to the folder `out`."""
        out = Path(out)
        write_atomically(out / ERRORS, lambda temporary: self.errors.to_csv(temporary, index=False))
        # The record comes first, so that no page exists without one.
        write_json(out / RECORD, self.record)
        write_table(table_of(self.record), [out / f"{TABLE}{ending}" for ending in (".csv", ".tex")])
        write_text(out / PAGE, self.page)


def judge(source: object, name: str | None, out: Path, **options: Any) -> dict:
    """Evaluate `source` for the task `name`, write the results to `out`, and return the record."""
    result = evaluate(source, name, out=out, **options)
    result.save(out)
    return result.record


def evaluate(
    source: object,
    name: str | None = None,
    *,
    out: Path | str | None = None,
    label: str = "",
    data: Path | str = CACHE,
    cores: int = 1,
    allow: Allowed = (),
    **options: Any,
) -> Evaluated:
    """Evaluate predictions or a model for a task, compared with classical solvers.

    All predictions are made before a label is read.

    Parameters
    ----------
    source
        A file or folder of predictions; a program of `torch.export`, `.pt2`, or a location "module:name",
        which run in a process of their own; an object or class with `predict(inputs, coordinates)`; or the
        folder of an exported run.
    name
        A task, "burgers-v1"; without it an exported run is evaluated on its own test samples, made again, and
        its recorded errors are compared with the new ones.
    out
        Folder for the results, which is refused if it has those of others; nothing is written here.
    label
        Name in tables.
    data
        Folder where test samples are made and kept; by default the user's cache.
    cores
        Number of processes that make test samples.
    allow
        Folders of modules and addresses that an exported run may use (`resolvent.load_run`).
    options
        `fresh`, `fresh_for`, `stress`, `calibrate`, `symmetrise`, `correct`, `certify`, `timed`, `recompute`,
        `minutes`, `gigabytes`: those of the command `resolvent evaluate`.

    Raises
    ------
    ResolventError
        If predictions are missing or do not fit, a model fails or exceeds a limit, or files of a run are
        missing, damaged or not allowed.
    """
    out, data = None if out is None else Path(out), Path(data)
    asked_for, run = Options(**options), None
    if isinstance(source, str | Path) and exported.is_exported_run(str(source)):
        run = exported.open_exported_run(Path(source), allow, own_samples=name is None)
    own = run if name is None else None  # tested on its own samples
    if name is not None:
        test, task = short_name(name), read_task(name)
    elif own is not None:
        test, task = exported.own_task(own)
    else:
        words = "only an exported run has test samples of its own"
        raise EvaluationError(f"{source} needs a --task: {words}; tasks: {', '.join(names())}")
    for prefix in (SOLVER, BASELINE):
        if label.startswith(prefix):
            raise EvaluationError(f"--label '{label}': labels that start with '{prefix}' are reserved")
    if out is not None and out.exists() and not out.is_dir():
        raise FileError(f"{out} is a file: choose another --out")
    groups = [group_name(resolution) for resolution in task.tested]
    metrics: tuple[Metric, ...] = OURS
    scale: Scale | None = None
    classical: ClassicalSolvers | None = None
    conditions: Iterable[tuple[str, float, TestSource]]
    with _predictor(source, run, groups, asked_for) as asked:
        check_options(asked, asked_for, own)
        if own is not None:
            from resolvent.evaluation.evaluate import scale_of, tested  # imports torch

            card = exported.own_labels(own, data, cores)
            metrics = metrics_with((), own.card["targets"])
            scale = scale_of(own.operator, card, vars(own.record))
            conditions = (
                (group_name(condition.resolution), condition.noise, source)
                for condition, source in tested(card, vars(own.record))
            )
            facts = read_card(card)
            test_set, accuracy = facts["content_hash"], facts.get("stated_accuracy") or 0.0
        else:
            inputs = asked_for.certify or bool(asked_for.correct) or asked.kind != "predictions"
            how = {"timed": asked_for.timed, "recompute": asked_for.recompute}
            assert name is not None
            answers = answers_of(name, data, cores, inputs=inputs, **how)
            conditions = ((group, 0.0, source) for group, source in answers.sources.items())
            classical, test_set, accuracy = answers.classical, answers.test_set, task.dataset.accuracy
        answered = answers_to(asked, task, conditions, asked_for)
    # Labels are only read from here on, when the process of a model has ended.
    identity = {"task": test, "source": asked.words, "files": asked.files}
    existing = (
        None if out is None or not (out / RECORD).exists() else read_json(out / RECORD, "the evaluation")
    )
    if existing is not None and {key: existing.get(key) for key in identity} != identity:
        raise FileError(f"{out} has the results of other predictions: choose another --out, or delete it")
    who = label or asked.words
    errors, timed, estimates, predictions = _measured(
        answered, asked, who, task, metrics, scale, classical, accuracy, asked_for.certify
    )
    of_source = errors[errors["who"] == who]
    evaluated_groups = {grid.partition(",")[0] for grid in errors["grid"]}
    record = {
        **identity,
        "identified": asked.identified,
        "label": who,
        "kind": asked.kind,
        "evaluated": KINDS[asked.kind],
        "test_set": test_set,
        "stated_accuracy": accuracy,
        "rows": list(_summaries(errors)),
        "recorded": [] if own is None else list(exported.recorded_and_measured(own, of_source, accuracy)),
        "remarks": list(asked.remarks),
        "not_evaluated_on": [group for group in groups if group not in evaluated_groups],
        "classical": timed,
        "as_accurate": _fastest_as_accurate(errors, timed),
        "timed_on": machine() if classical is None else classical["machine"],
        "without_labels": estimates,
        "seconds_per_sample": {group: asked.seconds[group] for group in groups if group in asked.seconds},
        **_on_new_samples(answered, of_source, predictions),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {library: version(library) for library in LIBRARIES},
    }
    return Evaluated(task, record, errors, predictions)


@contextmanager
def _predictor(source: object, run: Any, groups: list[str], options: Options) -> Iterator[Predictor]:
    """Yield the predictor of an exported run or of another source."""
    if run is not None:
        yield exported.predictor_of(run, groups)
        return
    with predictor(source, groups, minutes=options.minutes, gigabytes=options.gigabytes) as asked:
        yield asked


def _measured(
    answered: Answered,
    asked: Predictor,
    who: str,
    task: NamedTask,
    metrics: tuple[Metric, ...],
    scale: Scale | None,
    known: ClassicalSolvers | None,
    accuracy: float,
    certify: bool,
) -> tuple[pd.DataFrame, list[dict], list[dict], dict[str, tuple[np.ndarray, Samples]]]:
    """Return errors by sample, times of classical solvers, estimates without labels, and the predictions.

    known  what is known of classical solvers; None: they are run now.
    """
    tables: list[pd.DataFrame] = []
    classical: list[dict] = []
    estimates: list[dict] = []
    predictions: dict[str, tuple[np.ndarray, Samples]] = {}
    for tested in answered.tested:
        condition, group, prediction = tested.condition, tested.group, tested.prediction
        samples = tested.source.read(range(len(tested.source)))
        tables.append(_rows(who, prediction, samples, condition, metrics, scale))
        asked.remarks.update(dict.fromkeys(remarks_on(prediction, samples, condition, accuracy)))
        predictions.setdefault(condition, (prediction, samples))
        for change, values in tested.variants.items():
            tables.append(_rows(f"{who}, {change}", values, samples, condition, metrics, scale))
        if tested.noise:
            continue
        solvers = (
            known["solvers"] if known is not None else solver_errors(task, group, samples, scale, metrics)
        )
        place = {"grid": condition, "sample": range(len(samples))}
        for solver in (each for each in solvers if each["grid"] == group):
            name = f"{SOLVER}, {solver['solver']}"
            tables.append(pd.DataFrame({"who": name} | place | solver["errors"]))
            seconds = solver["seconds_per_sample"]
            classical.append({"grid": condition, "solver": name, "seconds_per_sample": seconds})
        for baseline in [] if known is None else known.get("baselines", []):
            if baseline["grid"] == group:
                name = f"{BASELINE}, {baseline['baseline']}"
                tables.append(pd.DataFrame({"who": name} | place | baseline["errors"]))
        if certify:
            estimates += _without_labels(task, prediction, samples, condition)
    return pd.concat(tables, ignore_index=True), classical, estimates, predictions


def _on_new_samples(
    answered: Answered, errors: pd.DataFrame, predictions: dict[str, tuple[np.ndarray, Samples]]
) -> dict[str, Any]:
    """Return the entries of the record for new samples; `errors` are those of the predictions evaluated."""
    entries: dict[str, Any] = {}
    grid, public = next(iter(predictions.items()))
    on_public = errors.loc[errors["grid"] == grid, "relative_l2"].to_numpy()
    for name, (prediction, split) in answered.new.items():
        if name in ("fresh", "calibration") and not np.isfinite(prediction).all():
            raise EvaluationError(f"predictions for new samples ({name}) are not finite")
        samples = split.all()
        on_new = beyond.errors_of(prediction, samples)
        if name == "fresh":
            assert answered.fresh_from is not None
            entries["fresh"] = beyond.fresh_test(grid, *answered.fresh_from, on_public, on_new)
        elif name == "calibration":
            entries["calibration"] = beyond.calibration(grid, (prediction, samples), public)
        else:
            shift, factor = name
            entries.setdefault("stress", [])
            entries["stress"].append(beyond.shifted_test(grid, shift, factor, on_new, on_public))
    return entries


def _fastest_as_accurate(errors: pd.DataFrame, classical: list[dict]) -> dict | None:
    """Return the fastest classical solver that is as accurate as the predictions on the first grid."""
    first = errors["grid"].iloc[0]
    means = errors[errors["grid"] == first].groupby("who", sort=False)["relative_l2"].mean()
    accurate = [
        timed for timed in classical if timed["grid"] == first and means[timed["solver"]] <= means.iloc[0]
    ]
    return min(accurate, key=lambda timed: timed["seconds_per_sample"], default=None)


def _rows(
    who: str,
    prediction: np.ndarray,
    samples: Samples,
    grid: str,
    metrics: tuple[Metric, ...],
    scale: Scale | None,
) -> pd.DataFrame:
    """Return the errors of every sample. Raises `EvaluationError` if a prediction has no finite error."""
    sound = (abs(prediction.reshape(len(prediction), -1)) <= LARGEST).all(axis=1)
    if not sound.all():
        few = ", ".join(map(str, np.flatnonzero(~sound)[:8]))
        words = f"are not finite, or larger than {LARGEST:.0e}, in samples {few}"
        raise EvaluationError(f"{who}: predictions on {grid} {words}")
    errors = measure(prediction, samples.targets, samples.target_grid, scale, metrics)
    return pd.DataFrame({"who": who, "grid": grid, "sample": range(len(samples)), **errors})


def _without_labels(
    task: NamedTask, prediction: np.ndarray, samples: Samples, group: str
) -> Iterable[dict[str, Any]]:
    """Yield error estimates without labels and the errors, averaged over the samples."""
    from resolvent.evaluation.without_labels import known_of  # imports JAX

    grid = samples.target_grid
    errors = pd.Series(relative_l2(prediction, samples.targets, grid.weights))
    for name, estimate in known_of(task.dataset, samples.inputs, prediction, grid).items():
        if "bound" in estimate.dims:
            inputs = samples.inputs.astype(np.float64)
            own = task.dataset.energy_error(inputs, prediction, samples.targets)
            numbers = dict(zip(("low", "high"), estimate.mean("sample"), strict=True)) | {"error": own.mean()}
        else:
            order = pd.Series(estimate.values).corr(errors, method="spearman")  # NaN for equal errors
            numbers = {"value": estimate.mean(), "error": errors.mean(), "rank_correlation": order}
        yield {"grid": group, "name": name, "kind": estimate.attrs["kind"], **_finite(numbers)}


def _summaries(errors: pd.DataFrame) -> Iterable[dict[str, Any]]:
    for (who, grid), table in errors.groupby(["who", "grid"], sort=False):
        names = [metric.name for metric in OURS]
        samples = table.groupby("sample")[names].mean()  # over realisations of noise
        for metric, errors_of in samples.items():
            interval = mean_interval(errors_of.to_numpy())
            numbers = {"mean": interval.value, "low": interval.low, "high": interval.high}
            numbers |= {"median": errors_of.median(), "largest": errors_of.max()}
            yield {"who": who, "grid": grid, "metric": metric, "samples": len(samples), **_finite(numbers)}


def _finite(numbers: dict[str, Any]) -> dict[str, float | None]:
    """Return numbers for JSON, with None for NaN, such as the interval of one sample, and infinity."""
    return {name: beyond.finite(number) for name, number in numbers.items()}
