"""Evaluate predictions and models: errors on labels computed here, compared with classical solvers."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NotRequired

import jinja2
import numpy as np
import pandas as pd
from pydantic import with_config
from typing_extensions import TypedDict

from resolvent.common.cards import STRICT, Count
from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import read_json, write_atomically, write_json, write_text
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.readers.arrays_file import LARGEST
from resolvent.datasets.loading import Samples, Source, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.evaluation.metrics import Metric, Scale, measure, metrics_with
from resolvent.figures.common.intervals import mean_interval
from resolvent.figures.common.numbers import DASH, ends, scientific, short_duration
from resolvent.figures.common.page import TEMPLATES as OF_FIGURES
from resolvent.figures.common.table import Cell, Column, Table, as_html, write_table
from resolvent.judging import exported
from resolvent.judging.answers import CACHE, OURS, ClassicalSolvers, answers_of, solver_errors
from resolvent.judging.predictions import Predictor, predictor
from resolvent.judging.tasks import NamedTask, names, read_task
from resolvent.planning.provenance import machine
from resolvent.public.consent import Allowed

ASSETS = OF_FIGURES.parent / "assets"
RECORD, ERRORS, PAGE, TABLE = "evaluation.json", "errors.csv", "index.html", "row"
KINDS = {
    "predictions": "only predictions were evaluated, not how they were made, nor if labels were known",
    "program": "the program was run here; how it was trained, and on which samples, was not evaluated",
    "run": "the exported weights were run here; on which samples they were trained was not evaluated",
}
Kind = Literal["predictions", "program", "run"]  # the keys of KINDS
WITHOUT_LABELS = {
    "energy_error": "relative error in the energy norm",
    "to_solver": "distance to the answer of a cheap solver",
}
NOTE = "Means over the test samples with 95 % intervals. Time: of one sample, where the model was run here."
SOLVER = "classical solver"  # prefix of their names
LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")


@with_config(STRICT)
class EvaluatedRow(TypedDict):
    """Errors of a model or solver on a grid in a metric; null where there is no finite number."""

    who: str
    grid: str
    metric: str
    samples: Count
    mean: float
    low: float | None
    high: float | None
    median: float | None
    largest: float | None


@with_config(STRICT)
class RecordedRow(TypedDict):
    """A recorded mean error of an exported run, measured again."""

    grid: str
    metric: str
    recorded: float
    measured: float | None
    confirmed: bool | None


@with_config(STRICT)
class SolverTime(TypedDict):
    """Time of a classical solver."""

    grid: str
    solver: str
    seconds_per_sample: float


@with_config(STRICT)
class Evaluation(TypedDict):
    """Content of evaluation.json."""

    task: str
    source: str
    files: dict[str, Any]
    label: str
    kind: Kind
    evaluated: str
    test_set: str
    stated_accuracy: float
    rows: list[EvaluatedRow]
    recorded: NotRequired[list[RecordedRow]]
    remarks: list[str]
    not_evaluated_on: list[str]
    classical: list[SolverTime]
    as_accurate: SolverTime | None
    timed_on: NotRequired[str]
    without_labels: list[dict[str, Any]]
    seconds_per_sample: dict[str, float | None]
    date: str
    machine: str
    versions: dict[str, str]


def judge(
    source: str,
    name: str | None,
    out: Path,
    *,
    label: str = "",
    data: Path = CACHE,
    certify: bool = False,
    timed: bool = False,
    recompute: bool = False,
    cores: int = 1,
    allow: Allowed = (),
) -> dict:
    """Evaluate `source` for the task `name`; write record, errors, page and tables to `out`.

    An exported run without a task is evaluated on its own test samples, made again, and its recorded errors
    are compared with the new ones.

    source     predictions, a program or a module (`resolvent.judging.predictions`), or an exported run.
    label      name in tables.
    data       folder where test samples are made and kept.
    certify    adds bounds and estimates of the errors that need no label.
    timed      times classical solvers here; else their times are those of the package or of an earlier call.
    recompute  makes the labels of the task again.
    allow      folders of modules and addresses that an exported run may use (`resolvent.load_run`).
    Returns the record. Raises `ResolventError` if predictions are missing or do not fit, or if files of a run
    are missing, damaged or not allowed.
    """
    run = None
    if exported.is_exported_run(source):
        run = exported.open_exported_run(Path(source), allow, own_samples=name is None)
    own = run if name is None else None  # tested on its own samples
    if name is not None:
        test, task = name, read_task(name)
    elif own is not None:
        test, task = exported.own_task(own)
    else:
        words = "only an exported run has test samples of its own"
        raise EvaluationError(f"{source} needs a --task: {words}; tasks: {', '.join(names())}")
    if label.startswith(SOLVER):
        raise EvaluationError(f"--label '{label}': labels that start with '{SOLVER}' are reserved")
    if out.exists() and not out.is_dir():
        raise FileError(f"{out} is a file: choose another --out")
    groups = [group_name(resolution) for resolution in task.tested]
    asked = predictor(source, groups) if run is None else exported.predictor_of(run, groups)
    existing = read_json(out / RECORD, "the evaluation") if (out / RECORD).exists() else None
    identity = {"task": test, "source": asked.words, "files": asked.files}
    if existing is not None and {key: existing.get(key) for key in identity} != identity:
        raise FileError(f"{out} has the results of other predictions: choose another --out, or delete it")
    metrics: tuple[Metric, ...] = OURS
    scale: Scale | None = None
    known: ClassicalSolvers | None = None
    conditions: Iterable[tuple[str, float, Source]]
    if own is not None:
        from resolvent.evaluation.evaluate import scale_of, tested  # imports torch

        card = exported.own_labels(own, data, cores)
        metrics = metrics_with((), own.card["targets"])
        scale = scale_of(own.operator, card, vars(own.record))
        record_of_run = vars(own.record)
        conditions = (
            (group_name(condition.resolution), condition.noise, source)
            for condition, source in tested(card, record_of_run)
        )
        facts = read_card(card)
        test_set, accuracy = facts["content_hash"], facts.get("stated_accuracy") or 0.0
    else:
        inputs = certify or asked.kind != "predictions"
        answers = answers_of(test, data, cores, inputs=inputs, timed=timed, recompute=recompute)
        conditions = ((group, 0.0, source) for group, source in answers.sources.items())
        known, test_set, accuracy = answers.classical, answers.test_set, task.dataset.accuracy
    who = label or asked.words
    errors, classical, estimates = _evaluated(asked, who, task, conditions, metrics, scale, known, certify)
    write_atomically(out / ERRORS, lambda temporary: errors.to_csv(temporary, index=False))
    of_source = errors[errors["who"] == who]
    evaluated_groups = {grid.partition(",")[0] for grid in errors["grid"]}
    record = {
        **identity,
        "label": who,
        "kind": asked.kind,
        "evaluated": KINDS[asked.kind],
        "test_set": test_set,
        "stated_accuracy": accuracy,
        "rows": list(_summaries(errors)),
        "recorded": [] if own is None else list(exported.recorded_and_measured(own, of_source, accuracy)),
        "remarks": list(asked.remarks),
        "not_evaluated_on": [group for group in groups if group not in evaluated_groups],
        "classical": classical,
        "as_accurate": _fastest_as_accurate(errors, classical),
        "timed_on": machine() if known is None else known["machine"],
        "without_labels": estimates,
        "seconds_per_sample": asked.seconds,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {library: version(library) for library in LIBRARIES},
    }
    # The record comes first, so that no page exists without one.
    write_json(out / RECORD, record)
    write_table(table_of(record), [out / f"{TABLE}{ending}" for ending in (".csv", ".tex")])
    write_text(out / PAGE, page_of(record, task))
    return record


def _evaluated(
    asked: Predictor,
    who: str,
    task: NamedTask,
    conditions: Iterable[tuple[str, float, Source]],
    metrics: tuple[Metric, ...],
    scale: Scale | None,
    known: ClassicalSolvers | None,
    certify: bool,
) -> tuple[pd.DataFrame, list[dict], list[dict]]:
    """Return errors by sample, times of classical solvers and, with `certify`, estimates without labels.

    conditions  a grid, the level of the noise, and the test samples.
    known       what is known of classical solvers; None: they are run now.
    """
    tables: list[pd.DataFrame] = []
    classical: list[dict] = []
    estimates: list[dict] = []
    for group, noise, source in conditions:
        if group not in asked.groups:
            continue
        samples = source.read(range(len(source)))
        grid = exported.condition_name(group, noise)
        try:
            prediction = asked.predict(samples, group)
        except EvaluationError as error:
            if asked.kind == "predictions" or not tables:
                raise
            asked.remarks[str(error)] = None  # a model need not accept every grid, only the first
            continue
        tables.append(_rows(who, prediction, samples, grid, metrics, scale))
        asked.remarks.update(dict.fromkeys(_exchanged(prediction, samples, grid)))
        if noise:
            continue
        solvers = (
            known["solvers"] if known is not None else solver_errors(task, group, samples, scale, metrics)
        )
        for solver in (each for each in solvers if each["grid"] == group):
            name = f"{SOLVER}, {solver['solver']}"
            place = {"who": name, "grid": grid, "sample": range(len(samples))}
            tables.append(pd.DataFrame(place | solver["errors"]))
            classical.append(
                {"grid": grid, "solver": name, "seconds_per_sample": solver["seconds_per_sample"]}
            )
        if certify:
            estimates += _without_labels(task, prediction, samples, grid)
    return pd.concat(tables, ignore_index=True), classical, estimates


def _fastest_as_accurate(errors: pd.DataFrame, classical: list[dict]) -> dict | None:
    """Return the fastest classical solver that is as accurate as the predictions on the first grid."""
    first = errors["grid"].iloc[0]
    means = errors[errors["grid"] == first].groupby("who", sort=False)["relative_l2"].mean()
    accurate = [
        timed for timed in classical if timed["grid"] == first and means[timed["solver"]] <= means.iloc[0]
    ]
    return min(accurate, key=lambda timed: timed["seconds_per_sample"], default=None)


def _exchanged(prediction: np.ndarray, samples: Samples, group: str) -> Iterable[str]:
    """Yield a remark if predictions on a square fit the labels far better with x and y exchanged."""
    if samples.target_grid.dimension == 2 and prediction.shape[-1] == prediction.shape[-2]:
        weights = samples.target_grid.weights
        own, other = (
            float(relative_l2(values, samples.targets, weights).mean())
            for values in (prediction, prediction.swapaxes(-1, -2))
        )
        if other < own / 2:
            yield (
                f"the predictions on {group} are closer to the labels with x and y exchanged "
                f"({scientific(other)} instead of {scientific(own)}): the task's order of axes is y, x"
            )


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


def table_of(record: dict, metric: str = "") -> Table:
    """Return the table of an evaluation: what was evaluated, and below it classical solvers.

    The solvers are the fastest one as accurate as the predictions, and the most accurate one. With `metric`,
    the table has only the columns of that metric and omits the kind of source; times are next to the first
    metric.
    """
    rows = {(row["who"], row["metric"], row["grid"]): row for row in record["rows"]}
    (label, first_metric, first_grid), *_ = rows
    shown = {known.name: known.label for known in OURS if metric in ("", known.name)}
    places = [(name, grid) for name in shown for grid in dict.fromkeys(grid for *_, grid in rows)]
    with_time = metric in ("", first_metric)
    times = {(label, grid): seconds for grid, seconds in record["seconds_per_sample"].items()}
    times |= {(timed["solver"], timed["grid"]): timed["seconds_per_sample"] for timed in record["classical"]}
    solvers = [record["as_accurate"]["solver"]] if record["as_accurate"] else []
    leading = ["relative_l2", first_grid]
    on_first = {who: row["mean"] for (who, *place), row in rows.items() if place == leading}
    del on_first[label]
    if on_first:
        solvers.append(min(on_first, key=lambda who: on_first[who]))

    def cells(who: str) -> list[Cell]:
        line = [Cell(who)]
        for place in places:
            row = rows.get((who, *place))
            error = Cell(DASH)
            if row:
                interval = ends(row["low"], row["high"], row["mean"])
                error = Cell(scientific(row["mean"]), interval, value=row["mean"])
            line.append(error)
        if with_time:
            seconds = times.get((who, first_grid))
            line.append(Cell(short_duration(seconds), value=seconds))
        if not metric:
            line.append(Cell(record["kind"] if who == label else "", prose=True))
        return line

    columns = [Column("model"), *(Column(grid, shown[name], "interval") for name, grid in places)]
    columns += [Column(f"time on {first_grid}")] * with_time + [Column("what was evaluated")] * (not metric)
    title, note = ("", "") if metric else (record["task"], NOTE)
    return Table(columns, [cells(label)], [cells(who) for who in dict.fromkeys(solvers)], title, note)


def beside_solvers(record: dict) -> str:
    """Return a sentence on the time of equally accurate classical solvers."""
    grid = record["rows"][0]["grid"]
    own = record["seconds_per_sample"].get(grid)
    took = f"; the model takes {short_duration(own)}" if own else ""
    if fast := record["as_accurate"]:
        words, seconds = fast["solver"].removeprefix(f"{SOLVER}, "), fast["seconds_per_sample"]
        each = f"takes {short_duration(seconds)} per sample ({record['timed_on']})"
        return f"A {SOLVER} ({words}) is at least as accurate on {grid} and {each}{took}."
    if record["classical"]:
        return f"No classical solver that was run is as accurate on {grid}{took}."
    return "There is no classical solver for this equation to compare with."


def in_words(record: dict) -> Iterable[str]:
    """Yield the lines for a terminal."""
    for row in record["rows"]:
        if row["metric"] == "relative_l2" and row["who"] == record["label"]:
            interval = ends(row["low"], row["high"], row["mean"])
            yield f"{row['who']}, {row['grid']}: relative L² error {scientific(row['mean'])} {interval}"
    if missing := record["not_evaluated_on"]:
        yield f"No predictions on {', '.join(missing)}."
    yield from (f"Remark: {remark}." for remark in record["remarks"])
    yield beside_solvers(record)
    for estimate in record["without_labels"]:
        if estimate["kind"] == "theorem":
            low, high = (scientific(estimate[end]) for end in ("low", "high"))
            words = f"{low} to {high} in the energy norm, by a theorem"
        else:
            words = f"{scientific(estimate['value'])}, the {WITHOUT_LABELS[estimate['name']]}, an estimate"
        yield f"{record['label']}, {estimate['grid']}, without labels: {words}"
    for row in record["recorded"]:
        yield f"{row['grid']}, {row['metric']}: recorded {scientific(row['recorded'])}, {again_in_words(row)}"
    yield f"Evaluated: {record['evaluated']}."


def again_in_words(row: dict) -> str:
    """Return whether a recorded mean error was confirmed."""
    if row["measured"] is None:
        return "not measured again, because the authors of the run defined this metric"
    confirmed = "confirmed" if row["confirmed"] else "not confirmed"
    return f"measured again {scientific(row['measured'])}: {confirmed}"


def rendered(template: str, **content: Any) -> str:
    """Return a self-contained HTML page from a template of this folder, with the style of all pages."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=True)
    environment.filters["scientific"] = scientific
    style = (ASSETS / "style.css").read_text("utf-8")
    return environment.get_template(template).render(style=style, **content)


def page_of(record: dict, task: NamedTask) -> str:
    """Return the page of an evaluation as one self-contained HTML file."""
    rows = [row for row in record["rows"] if row["who"] == record["label"]]
    leading = next(row for row in rows if row["metric"] == task.metric)
    metrics = dict.fromkeys([task.metric, *(row["metric"] for row in rows)])
    return rendered(
        "evaluation.html.j2",
        record=record,
        task=task,
        tables=[as_html(table_of(record, metric)) for metric in metrics],
        sort=(ASSETS / "sortable.js").read_text("utf-8"),
        leading=leading,
        words=WITHOUT_LABELS,
        beside=beside_solvers(record),
        again=again_in_words,
        ends=ends(leading["low"], leading["high"], leading["mean"]),
    )
