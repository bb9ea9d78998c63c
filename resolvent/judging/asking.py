"""Ask for predictions: of the test samples, and of new ones; no label is read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resolvent.common.errors import EvaluationError
from resolvent.datasets.loading import FreshSplit, Samples
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.datasets.tasks.symmetries import Symmetry
from resolvent.judging import beyond, exported
from resolvent.judging.answers import TestSource
from resolvent.judging.child import GIGABYTES, MINUTES
from resolvent.judging.predictions import Predictor
from resolvent.judging.report import MadeFrom
from resolvent.judging.tasks import NamedTask


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


@dataclass
class Tested:
    """Predictions for the test samples under one condition, before any label is read.

    variants  changed predictions by the words for the change.
    """

    condition: str
    group: str
    noise: float
    source: TestSource
    prediction: np.ndarray
    variants: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass
class Answered:
    """Predictions of everything that is asked for, before any label is read.

    new         predictions for new samples: "fresh", "calibration", or a shift and its factor.
    fresh_from  SHA-256 from which the new test samples are made, and of what it is: "files", "predictions"
                or "commitment".
    """

    tested: list[Tested] = field(default_factory=list)
    new: dict[Any, tuple[np.ndarray, FreshSplit]] = field(default_factory=dict)
    fresh_from: tuple[str, MadeFrom] | None = None


def check_options(asked: Predictor, options: Options, own: Any) -> None:
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


def answers_to(
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
        try:
            prediction = asked.predict(source.unlabelled(), group)
        except EvaluationError as error:
            if asked.kind == "predictions" or not answered.tested:
                raise
            asked.remarks[str(error)] = None  # a model need not accept every grid, only the first
            continue
        condition = exported.condition_name(group, noise)
        answered.tested.append(Tested(condition, group, noise, source, prediction))
    remarks = dict(asked.remarks)
    for tested in answered.tested:
        tested.variants.update(_variants(asked, tested, equation, symmetries, options.correct))
    first, new = answered.tested[0], dict[Any, FreshSplit]()
    if options.stress:
        shifts = beyond.shifted_samples(equation, task.tested[0], remarks)
        new |= {(shift, factor): samples for shift, factor, samples in shifts}
    if options.calibrate:
        new["calibration"] = beyond.calibration_samples(equation, task.tested[0])
    if options.fresh:
        answered.fresh_from = asked.fingerprint(first.prediction)
    elif options.fresh_for:
        answered.fresh_from = options.fresh_for.lower(), "commitment"
    if answered.fresh_from is not None:
        new["fresh"] = beyond.fresh_samples(equation, task.tested[0], answered.fresh_from[0])
    for name, split in new.items():
        place = beyond.FRESH + first.group if options.fresh_for else first.group
        answered.new[name] = asked.predict(split.unlabelled(), place), split
    asked.remarks = remarks  # what a model says of other inputs than those of the test is expected
    return answered


def _variants(
    asked: Predictor,
    tested: Tested,
    equation: DatasetSettings,
    symmetries: tuple[Symmetry, ...],
    iterations: int,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield changed predictions by the words for the change."""
    if not symmetries and not iterations:
        return
    samples = tested.source.unlabelled()
    if symmetries:
        from resolvent.evaluation.without_labels import under_symmetries  # imports JAX

        def moved(inputs: np.ndarray) -> np.ndarray:
            turned = Samples(samples.grid, inputs, samples.targets, None, samples.target_grid)
            return asked.predict(turned, tested.group)

        mean = under_symmetries(moved, samples.inputs, tested.prediction, symmetries)
        yield "averaged over symmetries", mean
    if iterations:
        try:
            corrected = equation.corrected(samples.inputs.astype(np.float64), tested.prediction, iterations)
        except ValueError as error:
            raise EvaluationError(f"--correct {iterations}: {error}") from None
        yield f"after {iterations} iterations", corrected
