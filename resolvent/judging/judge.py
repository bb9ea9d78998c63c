"""Evaluate predictions and models: errors on labels computed here, compared with classical solvers."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from resolvent.datasets.loading import FreshSplit, Samples, read_card
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
from resolvent.judging.child import GIGABYTES, MINUTES
from resolvent.judging.oddities import remarks_on
from resolvent.judging.predictions import Predictor, predictor
from resolvent.judging.report import (
    ERRORS,
    KINDS,
    PAGE,
    RECORD,
    SOLVER,
    TABLE,
    MadeFrom,
    in_words,
    page_of,
    table_of,
)
from resolvent.judging.tasks import NamedTask, names, read_task, short_name
from resolvent.planning.provenance import machine
from resolvent.public.consent import Allowed

LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")


@dataclass(frozen=True)
class Options:
    """Options of an evaluation.

    certify     add bounds and estimates of the errors that need no label.
    timed       time classical solvers here; else their times are those of the package or of an earlier call.
    recompute   make the labels of the task again.
    fresh       also test a model on new samples, whose seed is made from its files.
    fresh_for   the same for stored predictions: the SHA-256 from which their inputs were made.
    stress      also test a model on shifted distributions.
    calibrate   measure the ball around predictions that contains the target.
    symmetrise  also average the predictions of a model over the symmetries of the equation.
    correct     also improve predictions by so many iterations of the equation's solver.
    minutes, gigabytes  limits of a model's process.
    """

    certify: bool = False
    timed: bool = False
    recompute: bool = False
    fresh: bool = False
    fresh_for: str = ""
    stress: bool = False
    calibrate: bool = False
    symmetrise: bool = False
    correct: int = 0
    minutes: float = MINUTES
    gigabytes: float = GIGABYTES


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


@dataclass
class Answered:
    """Predictions of everything that is asked for, before any label is read.

    tested      by name of the condition: its grid, noise, test samples, and predictions.
    variants    changed predictions: name, condition, values.
    new         predictions for new samples: "fresh", "calibration", or a shift and its factor.
    fresh_from  SHA-256 from which the new test samples are made, and of what it is: "files", "predictions"
                or "commitment".
    """

    tested: dict[str, tuple[str, float, TestSource, np.ndarray]] = field(default_factory=dict)
    variants: list[tuple[str, str, np.ndarray]] = field(default_factory=list)
    new: dict[Any, tuple[np.ndarray, FreshSplit]] = field(default_factory=dict)
    fresh_from: tuple[str, MadeFrom] | None = None


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
        _check_options(asked, asked_for, own)
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
        answered = _answered(asked, task, conditions, asked_for)
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


def _check_options(asked: Predictor, options: Options, own: Any) -> None:
    """Raise `EvaluationError` if an option does not apply to what is evaluated."""
    if asked.kind == "predictions":
        needs_model = {
            name: getattr(options, name) for name in ("fresh", "stress", "calibrate", "symmetrise")
        }
        if given := [name for name, value in needs_model.items() if value]:
            words = "; stored predictions for new samples: --fresh-for" if given == ["fresh"] else ""
            raise EvaluationError(f"--{given[0]} needs a model, because it asks for other predictions{words}")
    elif options.fresh_for:
        raise EvaluationError("--fresh-for is for stored predictions; for a model: --fresh")
    if own is not None and (options.fresh or options.stress or options.calibrate):
        raise EvaluationError("--fresh, --stress and --calibrate need a --task")


def _answered(
    asked: Predictor,
    task: NamedTask,
    conditions: Iterable[tuple[str, float, TestSource]],
    options: Options,
) -> Answered:
    """Return the predictions for all conditions, and for what the options ask for beyond them.

    conditions  a grid, the level of the noise, and the test samples.
    """
    answered, equation = Answered(), task.dataset
    symmetries = equation.symmetries() if options.symmetrise else ()
    if options.symmetrise and not symmetries:
        raise EvaluationError(f"no symmetries are known for {equation.equation}: leave out --symmetrise")
    for group, noise, source in conditions:
        if group not in asked.groups:
            continue
        samples, condition = source.unlabelled(), exported.condition_name(group, noise)
        try:
            prediction = asked.predict(samples, group)
        except EvaluationError as error:
            if asked.kind == "predictions" or not answered.tested:
                raise
            asked.remarks[str(error)] = None  # a model need not accept every grid, only the first
            continue
        answered.tested[condition] = group, noise, source, prediction
        if symmetries:
            from resolvent.evaluation.without_labels import under_symmetries  # imports JAX

            def moved(inputs: np.ndarray, samples: Samples = samples, group: str = group) -> np.ndarray:
                turned = Samples(samples.grid, inputs, samples.targets, None, samples.target_grid)
                return asked.predict(turned, group)

            mean = under_symmetries(moved, samples.inputs, prediction, symmetries)
            answered.variants.append(("averaged over symmetries", condition, mean))
        if options.correct:
            try:
                inputs = samples.inputs.astype(np.float64)
                corrected = equation.corrected(inputs, prediction, options.correct)
            except ValueError as error:
                raise EvaluationError(f"--correct {options.correct}: {error}") from None
            answered.variants.append((f"after {options.correct} iterations", condition, corrected))
    resolution, (group, *_, prediction) = task.tested[0], next(iter(answered.tested.values()))
    new: dict[Any, FreshSplit] = {}
    if options.stress:
        shifts = beyond.shifted_samples(equation, resolution, asked.remarks)
        new |= {(shift, factor): samples for shift, factor, samples in shifts}
    if options.calibrate:
        new["calibration"] = beyond.calibration_samples(equation, resolution)
    if options.fresh:  # last: files that a model reads later are not in its fingerprint
        answered.fresh_from = asked.fingerprint(prediction)
    elif options.fresh_for:
        answered.fresh_from = options.fresh_for.lower(), "commitment"
    if answered.fresh_from is not None:
        new["fresh"] = beyond.fresh_samples(equation, resolution, answered.fresh_from[0])
    for name, split in new.items():
        place = beyond.FRESH + group if options.fresh_for else group
        answered.new[name] = asked.predict(split.unlabelled(), place), split
    return answered


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
    for condition, (group, noise, source, prediction) in answered.tested.items():
        samples = source.read(range(len(source)))
        tables.append(_rows(who, prediction, samples, condition, metrics, scale))
        asked.remarks.update(dict.fromkeys(remarks_on(prediction, samples, condition, accuracy)))
        predictions[condition] = prediction, samples
        for change, of, values in answered.variants:
            if of == condition:
                tables.append(_rows(f"{who}, {change}", values, samples, condition, metrics, scale))
        if noise:
            continue
        solvers = (
            known["solvers"] if known is not None else solver_errors(task, group, samples, scale, metrics)
        )
        for solver in (each for each in solvers if each["grid"] == group):
            name = f"{SOLVER}, {solver['solver']}"
            place = {"who": name, "grid": condition, "sample": range(len(samples))}
            tables.append(pd.DataFrame(place | solver["errors"]))
            seconds = solver["seconds_per_sample"]
            classical.append({"grid": condition, "solver": name, "seconds_per_sample": seconds})
        for baseline in [] if known is None else known.get("baselines", []):
            if baseline["grid"] == group:
                place = {"who": f"{BASELINE}, {baseline['baseline']}", "grid": condition}
                tables.append(pd.DataFrame(place | {"sample": range(len(samples))} | baseline["errors"]))
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
    return {name: float(number) if np.isfinite(number) else None for name, number in numbers.items()}
