"""Evaluate predictions and models: errors on labels computed here, compared with classical solvers."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import read_json, write_atomically, write_json, write_text
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.readers.arrays_file import LARGEST
from resolvent.datasets.loading import Samples, Source, Split, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.registry import build_task
from resolvent.evaluation.conditions import Condition
from resolvent.evaluation.evaluate import scale_of, tested
from resolvent.evaluation.inference import solvers_timed
from resolvent.evaluation.metrics import METRICS, Metric, Scale, measure, metrics_with
from resolvent.evaluation.without_labels import known_of
from resolvent.figures.common.intervals import mean_interval
from resolvent.figures.common.numbers import ends, scientific, short_duration
from resolvent.figures.common.page import TEMPLATES as OF_FIGURES
from resolvent.figures.common.table import Cell, Column, Table, as_html, write_table
from resolvent.judging.exported import (
    condition_name,
    is_exported_run,
    open_exported_run,
    own_labels,
    own_task,
    predictor_of,
    recorded_and_measured,
)
from resolvent.judging.predictions import predictor
from resolvent.judging.tasks import NamedTask, labels_of, names, read_task
from resolvent.public.consent import Allowed

RECORD, ERRORS, PAGE, TABLE = "judged.json", "errors.csv", "index.html", "row"
OURS = tuple(one for one in METRICS if not one.standardised)
KINDS = {
    "predictions": "only predictions were judged, not how they were made, nor whether the labels were known",
    "program": "the program was run here; how it was trained, and on which samples, was not judged",
    "run": "the exported weights were run here; on which samples they were trained was not judged",
}
WITHOUT_LABELS = {
    "energy_error": "relative error in the energy norm",
    "to_solver": "distance to the answer of a cheap solver",
}
NOTE = "Means over the test samples with 95 % intervals. Time: of one sample, where the model was run here."
SOLVER = "classical solver"  # prefix of their names
LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")


def judge(
    source: str,
    name: str | None,
    out: Path,
    *,
    label: str = "",
    data: Path = Path("data"),
    certify: bool = False,
    cores: int = 1,
    allow: Allowed = (),
) -> dict:
    """Evaluate `source` for the task `name`; write record, errors, page and tables to `out`.

    An exported run without a task is evaluated on its own test samples, made again, and its recorded errors
    are compared with the new ones.

    source   predictions, a program or a module (`resolvent.judging.predictions`), or an exported run.
    label    name in tables.
    data     folder where the test samples are made and kept.
    certify  adds error estimates without labels: bounds, and estimates from symmetries and a cheap solver.
    allow    folders of modules and addresses that an exported run may use (`resolvent.load_run`).
    Returns the record. Raises `ResolventError` if predictions are missing or do not fit, or if files of a run
    are missing, damaged or not allowed.
    """
    run = None
    if is_exported_run(source):
        run = open_exported_run(Path(source), allow, own_samples=name is None)
    own = run if name is None else None  # tested on its own samples
    if name is not None:
        test, task = name, read_task(name)
    elif own is not None:
        test, task = own_task(own)
    else:
        words = "only an exported run has test samples of its own"
        raise EvaluationError(f"{source} needs a --task: {words}; tasks: {', '.join(names())}")
    if label.startswith(SOLVER):
        raise EvaluationError(f"--label '{label}': labels that start with '{SOLVER}' are reserved")
    if out.exists() and not out.is_dir():
        raise FileError(f"{out} is a file: choose another --out")
    groups = [group_name(resolution) for resolution in task.tested]
    asked = predictor(source, groups) if run is None else predictor_of(run, groups)
    there = read_json(out / RECORD, "the judgement") if (out / RECORD).exists() else None
    same = {"task": test, "source": asked.words, "files": asked.files}
    if there is not None and {key: there.get(key) for key in same} != same:
        raise FileError(f"{out} has the results of other predictions: choose another --out, or delete it")
    metrics: tuple[Metric, ...] = OURS
    scale: Scale | None = None
    conditions: Iterable[tuple[Condition, Source]]
    if own is not None:
        card = own_labels(own, data, cores)
        metrics = metrics_with((), own.card["targets"])
        scale = scale_of(own.operator, card, vars(own.record))
        conditions = tested(card, vars(own.record))
    else:
        card = labels_of(test, data, cores)
        count = task.dataset.samples.test
        conditions = ((Condition(one), Split(card, one, "test", count)) for one in task.tested)
    who = label or asked.words
    tables: list[pd.DataFrame] = []
    known: list[dict] = []
    classical: list[dict] = []
    for condition, source_of_samples in conditions:
        group = group_name(condition.resolution)
        if group not in asked.groups:
            continue
        samples = source_of_samples.read(range(len(source_of_samples)))
        grid = condition_name(condition.resolution, condition.noise)
        try:
            prediction = asked.predict(samples, group)
        except EvaluationError as error:
            if asked.kind == "predictions" or not tables:
                raise
            asked.remarks[str(error)] = None  # a model need not accept every grid, only the first
            continue
        tables.append(_rows(who, prediction, samples, grid, metrics, scale))
        asked.remarks.update(dict.fromkeys(_exchanged(prediction, samples, grid)))
        if condition.noise:
            continue
        # Classical solvers that need only the inputs.
        for words, answers, times in solvers_timed(build_task(task.dataset), samples):
            solver = f"{SOLVER}, {words}"
            tables.append(_rows(solver, answers, samples, grid, metrics, scale))
            classical.append({"grid": grid, "solver": solver, "seconds_per_sample": times["many_seconds"]})
        if certify:
            known += _without_labels(task, prediction, samples, grid)
    errors = pd.concat(tables, ignore_index=True)
    write_atomically(out / ERRORS, lambda temporary: errors.to_csv(temporary, index=False))
    # The fastest classical solver on the first grid with at most the mean error of the predictions.
    first = errors["grid"].iloc[0]
    means = errors[errors["grid"] == first].groupby("who", sort=False)["relative_l2"].mean()
    on_first = [one for one in classical if one["grid"] == first]
    accurate = [one for one in on_first if means[one["solver"]] <= means.iloc[0]]
    accuracy = read_card(card).get("stated_accuracy") or 0.0
    of_source = errors[errors["who"] == who]
    recorded = [] if own is None else list(recorded_and_measured(own, of_source, accuracy))
    judged_groups = {grid.partition(",")[0] for grid in errors["grid"]}
    record = {
        "task": test,
        "label": who,
        "kind": asked.kind,
        "judged": KINDS[asked.kind],
        "source": asked.words,
        "files": asked.files,
        "test_set": read_card(card)["content_hash"],
        "stated_accuracy": accuracy,
        "rows": list(_summaries(errors)),
        "recorded": recorded,
        "remarks": list(asked.remarks),
        "not_judged_on": [group for group in groups if group not in judged_groups],
        "classical": classical,
        "as_accurate": min(accurate, key=lambda one: one["seconds_per_sample"], default=None),
        "without_labels": known,
        "seconds_per_sample": asked.seconds,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {one: version(one) for one in LIBRARIES},
    }
    # The record comes first, so that no page exists without one.
    write_json(out / RECORD, record)
    write_table(table_of([record]), [out / f"{TABLE}{ending}" for ending in (".csv", ".tex")])
    write_text(out / PAGE, page_of(record, task))
    return record


def _exchanged(prediction: np.ndarray, samples: Samples, group: str) -> Iterable[str]:
    """Yield a remark if predictions on a square fit the labels far better with x and y exchanged."""
    if samples.target_grid.dimension == 2 and prediction.shape[-1] == prediction.shape[-2]:
        weights = samples.target_grid.weights
        own, other = (
            float(relative_l2(one, samples.targets, weights).mean())
            for one in (prediction, prediction.swapaxes(-1, -2))
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
    grid = samples.target_grid
    errors = pd.Series(relative_l2(prediction, samples.targets, grid.weights))
    for name, known in known_of(task.dataset, samples.inputs, prediction, grid).items():
        if "bound" in known.dims:
            inputs = samples.inputs.astype(np.float64)
            own = task.dataset.energy_error(inputs, prediction, samples.targets)
            numbers = dict(zip(("low", "high"), known.mean("sample"), strict=True)) | {"error": own.mean()}
        else:
            order = pd.Series(known.values).corr(errors, method="spearman")  # NaN for equal errors
            numbers = {"value": known.mean(), "error": errors.mean(), "rank_correlation": order}
        yield {"grid": group, "name": name, "kind": known.attrs["kind"], **_finite(numbers)}


def _summaries(errors: pd.DataFrame) -> Iterable[dict[str, Any]]:
    for (who, grid), table in errors.groupby(["who", "grid"], sort=False):
        samples = table.groupby("sample")[[one.name for one in OURS]].mean()  # over realisations of noise
        for metric, errors_of in samples.items():
            interval = mean_interval(errors_of.to_numpy())
            numbers = {"mean": interval.value, "low": interval.low, "high": interval.high}
            numbers |= {"median": errors_of.median(), "largest": errors_of.max()}
            yield {"who": who, "grid": grid, "metric": metric, "samples": len(samples), **_finite(numbers)}


def _finite(numbers: dict[str, Any]) -> dict[str, float | None]:
    """Return numbers for JSON, with None for NaN, such as the interval of one sample, and infinity."""
    return {name: float(number) if np.isfinite(number) else None for name, number in numbers.items()}


def table_of(records: list[dict], metric: str = "") -> Table:
    """Return a table of judgements for one task, ordered by error on the first grid, followed by solvers.

    Classical solvers in the table are the fastest solver as accurate as a model, and the most accurate. With
    `metric`, the table has only the columns of that metric and omits the judged source; times are next to the
    first metric.
    """
    first, *_ = records[0]["rows"]
    grids = list(dict.fromkeys(row["grid"] for record in records for row in record["rows"]))
    labels = {one.name: one.label for one in OURS if metric in ("", one.name)}
    beside: dict[str, dict] = {}  # the record of each classical solver in the table
    for record in records:
        if record["as_accurate"]:
            beside[record["as_accurate"]["solver"]] = record
        rows = [row for row in record["rows"] if row["who"] != record["label"]]
        place = (first["grid"], "relative_l2")
        if solvers := [row for row in rows if (row["grid"], row["metric"]) == place]:
            beside[min(solvers, key=lambda row: row["mean"])["who"]] = record
    columns = [
        Column("model"),
        *(Column(grid, label, "interval") for label in labels.values() for grid in grids),
        *([Column(f"time on {first['grid']}")] if metric in ("", first["metric"]) else []),
        *([] if metric else [Column("what was judged")]),
    ]

    def cells(record: dict, who: str) -> list[Cell]:
        found = {(row["metric"], row["grid"]): row for row in record["rows"] if row["who"] == who}
        seconds = record["seconds_per_sample"]
        if who != record["label"]:
            of_solver = [one for one in record["classical"] if one["solver"] == who]
            seconds = {one["grid"]: one["seconds_per_sample"] for one in of_solver}
        line = [Cell(who)]
        for row in (found.get((one, grid)) for one in labels for grid in grids):
            note = ends(row["low"], row["high"], row["mean"]) if row else ""
            line.append(Cell(scientific(row["mean"]), note, value=row["mean"]) if row else Cell("—"))
        own, kind = seconds.get(first["grid"]), record["kind"] if who == record["label"] else ""
        return [*line, Cell(short_duration(own), value=own), Cell(kind, prose=True)][: len(columns)]

    lines = sorted((cells(one, one["label"]) for one in records), key=lambda line: line[1].value or 0.0)
    below = [cells(record, who) for who, record in beside.items()]
    return Table(columns, lines, below, *(("", "") if metric else (records[0]["task"], NOTE)))


def beside_solvers(record: dict) -> str:
    """Return a sentence on the time of equally accurate classical solvers."""
    grid = record["rows"][0]["grid"]
    own = record["seconds_per_sample"].get(grid)
    took = f"; the model takes {short_duration(own)}" if own else ""
    if fast := record["as_accurate"]:
        words, seconds = fast["solver"].removeprefix(f"{SOLVER}, "), fast["seconds_per_sample"]
        each = f"takes {short_duration(seconds)} per sample here"
        return f"A {SOLVER} ({words}) is at least as accurate on {grid} and {each}{took}."
    if record["classical"]:
        return f"No classical solver that was run here is as accurate on {grid}{took}."
    return "There is no classical solver for this equation to compare with."


def in_words(record: dict) -> Iterable[str]:
    """Yield the lines for a terminal."""
    for row in record["rows"]:
        if row["metric"] == "relative_l2" and row["who"] == record["label"]:
            interval = ends(row["low"], row["high"], row["mean"])
            yield f"{row['who']}, {row['grid']}: relative L² error {scientific(row['mean'])} {interval}"
    if missing := record["not_judged_on"]:
        yield f"No predictions on {', '.join(missing)}."
    yield from (f"Remark: {one}." for one in record["remarks"])
    yield beside_solvers(record)
    for one in record["without_labels"]:
        if one["kind"] == "theorem":
            words = f"{scientific(one['low'])} to {scientific(one['high'])} in the energy norm, by a theorem"
        else:
            words = f"{scientific(one['value'])}, the {WITHOUT_LABELS[one['name']]}, an estimate"
        yield f"{record['label']}, {one['grid']}, without labels: {words}"
    for one in record["recorded"]:
        yield f"{one['grid']}, {one['metric']}: recorded {scientific(one['recorded'])}, {again_in_words(one)}"
    yield f"Judged: {record['judged']}."


def again_in_words(row: dict) -> str:
    """Return whether a recorded mean error was confirmed."""
    if row["measured"] is None:
        return "not measured again, because the authors of the run defined this metric"
    confirmed = "confirmed" if row["confirmed"] else "not confirmed"
    return f"measured again {scientific(row['measured'])}: {confirmed}"


def page_of(record: dict, task: NamedTask) -> str:
    """Return the page of a judgement as one self-contained HTML file."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=True)
    environment.filters["scientific"] = scientific
    assets = OF_FIGURES.parent / "assets"
    style, sort = ((assets / name).read_text("utf-8") for name in ("style.css", "sortable.js"))
    rows = [row for row in record["rows"] if row["who"] == record["label"]]
    leading = next(row for row in rows if row["metric"] == task.metric)
    metrics = dict.fromkeys([task.metric, *(row["metric"] for row in rows)])
    return environment.get_template("judged.html.j2").render(
        record=record, task=task, tables=[as_html(table_of([record], one)) for one in metrics],
        style=style, sort=sort, leading=leading, words=WITHOUT_LABELS, beside=beside_solvers(record),
        again=again_in_words,
        ends=ends(leading["low"], leading["high"], leading["mean"]),
    )  # fmt: skip
