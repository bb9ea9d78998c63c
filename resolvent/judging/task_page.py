"""Pages that evaluate predictions for a task in a browser: nothing is installed, and nothing leaves it."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.errors import FileError
from resolvent.common.files import write_text
from resolvent.common.records import read_record
from resolvent.datasets.storage.layout import grid_from_facts, group_name
from resolvent.figures.common.intervals import LEAN, ROUNDING, WITHIN_RANGE, mean_interval, student
from resolvent.judging import tasks
from resolvent.judging.answers import BASELINE, CACHE, FITTED, OURS, StoredAnswers, packed_answers, travelling
from resolvent.judging.report import HERE, KINDS, SOLVER, rendered
from resolvent.judging.tasks import NamedTask, new_task, read_task, short_name
from resolvent.solvers.common.grid import Grid

LARGEST = 1_000_000  # bytes of a page with its labels; beyond, they are a file of their own


def make_task(
    name: str, study: Path, dataset: str, folder: Path, cores: int = 1, place: Path = CACHE
) -> list[Path]:
    """Make a task of a dataset of the configuration `study`; write its file and page, and return them.

    dataset  name of the dataset; empty if the configuration has only one.
    Raises `ConfigurationError` if the configuration is wrong, `FileError` as `new_task`.
    """
    from resolvent.planning.configuration.load import load_configuration
    from resolvent.planning.configuration.read import read_configuration

    datasets = load_configuration(read_configuration([study])).datasets
    accepted = ", ".join(datasets)
    if not dataset and len(datasets) > 1:
        raise FileError(f"{study} has several datasets; choose one with --dataset: {accepted}")
    if dataset and dataset not in datasets:
        raise FileError(f"{study} has no dataset '{dataset}'; accepted: {accepted}")
    settings = datasets[dataset] if dataset else next(iter(datasets.values()))
    path = new_task(name, settings, folder, place, cores)
    return [path, *write_task_pages(folder, [str(path)], place, cores)]


def write_task_pages(
    folder: Path, names: list[str] | None = None, place: Path = CACHE, cores: int = 1
) -> list[Path]:
    """Write the page of each task in `names` to `folder`, and return the files.

    By default these are the tasks whose answers travel in the package; those of others are made now, and take
    minutes. Raises `ResolventError` if a task is unknown or its labels are not those of its marks.
    """
    script = "\n".join((HERE / f"{part}.js").read_text("utf-8") for part in ("drawing", "task"))
    files = []
    for given in travelling() if names is None else names:
        task, name = read_task(given), short_name(given)
        packaged = tasks.FOLDER / f"{name}.answers.json"
        stored = (
            read_record(packaged, StoredAnswers) if packaged.exists() else packed_answers(given, place, cores)
        )
        content = json.dumps(_content(name, task, stored), separators=(",", ":"))
        page, labels = folder / f"{name}.html", folder / f"{name}.labels.js"
        inside = len(content) < LARGEST
        words = rendered(
            "task.html.j2", name=name, task=task, content=content if inside else "", labels=labels.name,
            version=version("resolvent"), fitted=min(FITTED, task.dataset.samples.train), script=script,
        )  # fmt: skip
        write_text(page, words)
        if not inside:
            write_text(labels, f"const ANSWERS = {content};\n")
        files += [page] if inside else [page, labels]
    return files


def _content(name: str, task: NamedTask, stored: StoredAnswers) -> dict[str, Any]:
    """Return the data of the page's script: labels, axes of the grids, errors of solvers and baselines."""
    others, samples, classical = [], task.dataset.samples.test, stored["classical"]
    for measured in (*classical.get("baselines", []), *classical["solvers"]):
        baseline = measured.get("baseline")
        who = f"{SOLVER}, {measured.get('solver')}" if baseline is None else f"{BASELINE}, {baseline}"
        for metric in OURS:
            errors = np.array(measured["errors"][metric.name])
            interval = mean_interval(errors)
            others.append({
                "who": who, "grid": measured["grid"], "metric": metric.name, "samples": samples,
                "mean": interval.value, "low": interval.low, "high": interval.high,
                "median": float(np.median(errors)), "largest": float(errors.max()),
            })  # fmt: skip
    labels = {}
    for group, entry in stored["labels"].items():
        axes = []
        for axis in grid_from_facts(entry["grid"]).axes:
            period = axis.length if isinstance(axis, Grid) and axis.kind == "periodic" else None
            points, weights = axis.coordinates.tolist(), axis.weights.tolist()
            axes.append({"points": points, "weights": weights, "period": period})
        labels[group] = {key: value for key, value in entry.items() if key != "grid"} | {"axes": axes}
    return {
        "task": name,
        "metric": task.metric,
        "metrics": [metric.name for metric in OURS],
        "tested": [group_name(resolution) for resolution in task.tested],
        "samples": samples,
        "targets": stored["targets"],
        "test_set": stored["test_set"],
        "stated_accuracy": task.dataset.accuracy,
        "labels": labels,
        "others": others,
        "classical": [
            {
                "grid": solver["grid"],
                "solver": f"{SOLVER}, {solver['solver']}",
                "seconds_per_sample": solver["seconds_per_sample"],
            }
            for solver in classical["solvers"]
        ],
        "timed_on": classical["machine"],
        "evaluated": KINDS["predictions"],
        "interval": {
            "student": student(samples - 1), "lean": LEAN, "rounding": ROUNDING, "within": WITHIN_RANGE,
        },
        "version": version("resolvent"),
    }  # fmt: skip
