"""Test labels of a task, with the errors of classical solvers and baselines on the same inputs.

Those of small tasks travel in config/tasks, in `NAME.answers.json`; others are made once, into the user's
cache. A file has the labels of each array in units of `step`, as differences along the last axis, which are
small integers for smooth functions, and their four bytes in planes, compressed: a web page can read it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NotRequired, Union

import numpy as np
import platformdirs
from pydantic import with_config
from typing_extensions import TypedDict

from resolvent.common.cards import STRICT, Count, GridFacts
from resolvent.common.files import remove, write_json
from resolvent.common.records import read_record
from resolvent.datasets.loading import Members, Samples, Source, Split, read_card, stacked
from resolvent.datasets.storage.layout import grid_facts, grid_from_facts, group_name
from resolvent.datasets.tasks.registry import build_task
from resolvent.evaluation.metrics import METRICS, Metric, Scale, measure
from resolvent.judging import tasks
from resolvent.judging.tasks import (
    NamedTask,
    check_marks,
    labels_of,
    marks_of,
    read_task,
    short_name,
    solved,
)
from resolvent.planning.provenance import machine

SHARE = 0.3  # of the stated accuracy: the step of the packed labels, in units of their root mean square
LARGEST = 2**30  # packed values are below
ORDERS = range(10)  # of the differences that are tried
FEW = 16  # samples on which they are tried
DIGITS = 7  # of the packed errors
FITTED = 1024  # training samples of baselines: a fit costs their third power
BASELINE = "baseline"  # prefix of their names
OURS = tuple(metric for metric in METRICS if not metric.standardised)
CACHE = platformdirs.user_cache_path("resolvent")


@with_config(STRICT)
class PackedLabels(TypedDict):
    """Labels on a grid: packed, or every `stride`-th point of the labels `part_of` another grid."""

    grid: GridFacts
    part_of: NotRequired[str]
    stride: NotRequired[Count]
    shape: NotRequired[list[Count]]
    step: NotRequired[float]
    order: NotRequired[Count]
    packed: NotRequired[str]


@with_config(STRICT)
class SolverErrors(TypedDict):
    """Errors of a classical solver on a grid, of all test samples by metric, and its time."""

    grid: str
    solver: str
    seconds_per_sample: float
    errors: dict[str, list[float]]


@with_config(STRICT)
class BaselineErrors(TypedDict):
    """Errors of a baseline without a network on a grid, of all test samples by metric."""

    grid: str
    baseline: str
    errors: dict[str, list[float]]


@with_config(STRICT)
class ClassicalSolvers(TypedDict):
    """What classical solvers and baselines make of the test inputs, and the machine that timed solvers."""

    machine: str
    solvers: list[SolverErrors]
    baselines: NotRequired[list[BaselineErrors]]


@with_config(STRICT)
class StoredAnswers(TypedDict):
    """Content of NAME.answers.json."""

    test_set: str
    targets: list[str]
    labels: dict[str, PackedLabels]
    classical: ClassicalSolvers


TestSource = Union[Source, "PackedTest"]


@dataclass
class Answers:
    """The test of a task.

    test_set   hash of the content of the dataset.
    targets    names of the functions asked for.
    sources    by grid, such as "n512": its test samples.
    """

    test_set: str
    targets: list[str]
    sources: Mapping[str, TestSource]
    classical: ClassicalSolvers


class PackedTest:
    """The test samples of a task on a grid, whose labels travel in the package and are unpacked when read.

    Inputs are drawn, not solved for, and empty without `with_inputs`.
    """

    def __init__(self, name: str, task: NamedTask, group: str, stored: StoredAnswers, *, with_inputs: bool):
        self.name, self.task, self.group, self.stored = name, task, group, stored
        self.with_inputs = with_inputs
        self.grid = self.target_grid = grid_from_facts(stored["labels"][group]["grid"])

    def __len__(self) -> int:
        return self.task.dataset.samples.test

    def unlabelled(self) -> Samples:
        """Return the inputs; targets are NaN."""
        names = self.stored["targets"]
        channels = (len(names),) if len(names) > 1 else ()
        unknown = np.broadcast_to(np.nan, (len(self), *channels, *self.grid.shape))
        return Samples(self.grid, self.inputs, unknown)

    @cached_property
    def inputs(self) -> np.ndarray:
        """Return the inputs, drawn once, after they were compared with the task's marks."""
        if not self.with_inputs:
            return np.empty((len(self), 0))
        solver = build_task(self.task.dataset)
        arrays = solver.inputs_of([("test", index) for index in range(len(self))])
        check_marks(self.task, "test", marks_of(arrays), self.name)
        inputs = {name: arrays[f"{self.group}/{name}"] for name in solver.inputs}
        return stacked(inputs, self.grid)

    def read(self, members: Members) -> Samples:
        """Return samples with their labels, which are compared with the task's marks."""
        labels = self.stored["labels"][self.group]
        finer = self.stored["labels"][labels.get("part_of", self.group)]
        targets = unpack(finer)[..., :: labels.get("stride", 1)]
        channels = targets[:, None] if len(self.stored["targets"]) == 1 else targets
        arrays = {f"{self.group}/{target}": channels[:, n] for n, target in enumerate(self.stored["targets"])}
        check_marks(self.task, "test", marks_of(arrays), self.name)
        return Samples(self.grid, self.inputs, targets).read(members)


def answers_of(
    name: str,
    place: Path = CACHE,
    cores: int = 1,
    *,
    inputs: bool = True,
    timed: bool = False,
    recompute: bool = False,
    baselines: bool = False,
) -> Answers:
    """Return the answers of the task `name`: from the package, from `place`, or made now.

    place      folder of what was made before, by default the user's cache.
    inputs     whether the inputs are needed too.
    timed      whether classical solvers are to be timed on this machine.
    recompute  makes the labels again.
    baselines  makes the errors of baselines, if they are not known; they need training samples.
    Raises `DatasetError` if labels do not match the marks of the task, `FileError` if a file is damaged.
    """
    task, packaged = read_task(name), tasks.FOLDER / f"{short_name(name)}.answers.json"
    stored = read_record(packaged, StoredAnswers, remedy="reinstall") if packaged.exists() else None
    sources: dict[str, TestSource] = {}
    if stored is not None and not (timed or recompute):
        for group in map(group_name, task.tested):
            sources[group] = PackedTest(name, task, group, stored, with_inputs=inputs)
        return Answers(stored["test_set"], stored["targets"], sources, stored["classical"])
    if recompute:
        remove(place / short_name(name))
    card = labels_of(name, place, cores)
    count = task.dataset.samples.test
    sources |= {group_name(n): Split(card, n, "test", count) for n in task.tested}
    kept, classical = card.with_suffix(".solvers.json"), None if stored is None else stored["classical"]
    if kept.exists():
        classical = read_record(kept, ClassicalSolvers, remedy="delete it")
    if timed or classical is None:
        every = [found for group, source in sources.items() for found in solver_errors(task, group, source)]
        fitted = None if classical is None else classical.get("baselines")
        classical = {"machine": machine(), "solvers": every}
        if fitted is not None:
            classical["baselines"] = fitted
        write_json(kept, dict(classical))
    if baselines and (timed or "baselines" not in classical):
        classical["baselines"] = baseline_errors(name, task, sources, place, cores)
        write_json(kept, dict(classical))
    facts = read_card(card)
    return Answers(facts["content_hash"], facts["targets"], sources, classical)


def travelling() -> list[str]:
    """Return the names of the tasks whose answers travel in the package."""
    return sorted(path.name.partition(".")[0] for path in tasks.FOLDER.glob("*.answers.json"))


def solver_errors(
    task: NamedTask,
    grid: str,
    source: TestSource,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = OURS,
) -> list[SolverErrors]:
    """Return the errors and times of all classical solvers that need only the inputs."""
    from resolvent.evaluation.inference import solvers_timed  # here, because it imports torch

    samples = source.read(range(len(source)))
    every: list[SolverErrors] = []
    for method, answers, times in solvers_timed(build_task(task.dataset), samples):
        errors = measure(answers, samples.targets, samples.target_grid, scale, metrics)
        by_metric = {metric: values.tolist() for metric, values in errors.items()}
        seconds = times["many_seconds"]
        every.append({"grid": grid, "solver": method, "seconds_per_sample": seconds, "errors": by_metric})
    return every


def baseline_errors(
    name: str, task: NamedTask, sources: Mapping[str, TestSource], place: Path, cores: int
) -> list[BaselineErrors]:
    """Return the errors of baselines that know at most the first FITTED training samples, solved for here."""
    from resolvent.evaluation.baselines import LABELS, RidgeRegression  # here, because it imports torch

    count, every = min(FITTED, task.dataset.samples.train), list[BaselineErrors]()
    training = place / short_name(name) / "training"
    store, card = solved(name, training, cores, train=count, validation=0, test=0)
    for resolution in task.tested:
        group = group_name(resolution)
        train, tests = Split(store, resolution, "train", count, card=card).all(), sources[group]
        tests = tests.read(range(len(tests)))
        mean = train.targets.mean(axis=0, dtype=np.float64)
        predictions = {"mean_predictor": np.broadcast_to(mean, tests.targets.shape)}
        if build_task(task.dataset).input_answers:
            predictions["identity"] = tests.inputs
        predictions["ridge_regression"] = RidgeRegression(train.inputs, train.targets)(tests.inputs)
        for baseline, values in predictions.items():
            errors = measure(values, tests.targets, tests.target_grid, metrics=OURS)
            by_metric = {metric: of_metric.tolist() for metric, of_metric in errors.items()}
            every.append({"grid": group, "baseline": LABELS[baseline].lower(), "errors": by_metric})
    remove(training)
    return every


def packed_answers(name: str, place: Path = CACHE, cores: int = 1, *, timed: bool = False) -> StoredAnswers:
    """Return the answers of a task as they travel in the package; arguments as of `answers_of`."""
    task, answers = read_task(name), answers_of(name, place, cores, timed=timed, baselines=True)
    labels, known = dict[str, PackedLabels](), dict[str, np.ndarray]()
    for group, source in sorted(answers.sources.items(), key=lambda each: -each[1].target_grid.size):
        targets = source.read(range(len(source))).targets
        entry: PackedLabels = {"grid": grid_facts(source.target_grid)}
        for finer, values in known.items():
            stride = values.shape[-1] // targets.shape[-1]
            nested = values[..., ::stride]
            if nested.shape == targets.shape and np.allclose(nested, targets, 0, labels[finer]["step"]):
                entry |= {"part_of": finer, "stride": stride}
                break
        else:
            entry |= pack(targets, task.dataset.accuracy)  # type: ignore[typeddict-item]
            known[group] = targets
        labels[group] = entry
    classical = answers.classical
    for measured in (*classical["solvers"], *classical["baselines"]):
        for metric, errors in measured["errors"].items():
            measured["errors"][metric] = [float(f"{error:.{DIGITS}g}") for error in errors]
    packed: StoredAnswers = {
        "test_set": answers.test_set,
        "targets": answers.targets,
        "labels": labels,
        "classical": classical,
    }
    for group in labels:
        PackedTest(name, task, group, packed, with_inputs=False).read(range(1))  # checks all labels
    return packed


def pack(values: np.ndarray, accuracy: float) -> dict[str, Any]:
    """Return labels (samples, ..., points), rounded to a share of `accuracy`, as keys of `PackedLabels`."""
    values = values.astype(np.float64)  # in single precision a quotient of the step is not exact enough
    step = max(SHARE * accuracy * float(np.sqrt((values**2).mean())), float(abs(values).max()) / LARGEST)
    numbers = np.round(values / step).astype(np.int64)
    order = min(ORDERS, key=lambda order: len(_compressed(numbers[:FEW], order)))
    text = base64.b64encode(_compressed(numbers, order)).decode()
    return {"shape": list(values.shape), "step": step, "order": order, "packed": text}


def _compressed(numbers: np.ndarray, order: int) -> bytes:
    """Return differences of this order along the last axis, modulo 2^32, as compressed planes of bytes."""
    for _ in range(order):
        numbers = np.diff(numbers, axis=-1, prepend=0)
    planes = numbers.astype(np.uint32).reshape(-1).astype("<u4").view(np.uint8).reshape(-1, 4).T
    return zlib.compress(planes.tobytes(), 9)


def unpack(labels: PackedLabels) -> np.ndarray:
    """Return the labels that `pack` packed, in double precision."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(labels["packed"])), np.uint8)
    values = planes.reshape(4, -1).T.copy().view("<u4").reshape(labels["shape"])
    for _ in range(labels["order"]):
        values = np.cumsum(values, axis=-1, dtype=np.uint32)  # modulo 2^32, as the differences
    return values.astype(np.int32) * labels["step"]
