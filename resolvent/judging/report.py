"""The record of an evaluation, and the words, tables and page made from it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NotRequired

import jinja2
import numpy as np
from pydantic import with_config
from typing_extensions import TypedDict

from resolvent.common.cards import STRICT, Count
from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import Samples
from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.figures.common.numbers import DASH, ends, scientific, short_duration
from resolvent.figures.common.page import TEMPLATES as OF_FIGURES
from resolvent.figures.common.table import Cell, Column, Table, as_html
from resolvent.judging.answers import BASELINE, OURS
from resolvent.judging.tasks import NamedTask
from resolvent.solvers.common.grid import Grid, Product

HERE, ASSETS = Path(__file__).parent, OF_FIGURES.parent / "assets"
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
WORST = 3  # predictions drawn
LARGEST_PICTURE = 128  # points along a side; finer fields are drawn with every k-th
Verdict = Literal["no sign of a leak", "better on the public test than on new samples"]
NO_LEAK: Verdict = "no sign of a leak"
LEAKED: Verdict = "better on the public test than on new samples"
MadeFrom = Literal["files", "predictions", "commitment"]


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
class FreshTest(TypedDict):
    """Errors on new samples, whose seed is made from what is evaluated, beside those on the public test.

    made_from  SHA-256 from which the seed is made.
    of         what it is the SHA-256 of: the model's files, its predictions on the public test if its files
               are not all known, or a commitment that the author of stored predictions stated.
    p_value    of a permutation test for smaller errors on the public test (`resolvent.judging.beyond`).
    """

    grid: str
    made_from: str
    of: MadeFrom
    seed: Count
    samples: Count
    public: float
    new: float
    low: float | None
    high: float | None
    p_value: float
    verdict: Verdict


@with_config(STRICT)
class ShiftedTest(TypedDict):
    """Errors on samples of a shifted distribution, with the random numbers of the first test samples.

    Null if a prediction is not finite.
    """

    grid: str
    shift: str
    factor: float
    samples: Count
    mean: float | None
    low: float | None
    high: float | None
    unshifted: float


@with_config(STRICT)
class Calibrated(TypedDict):
    """A ball around a prediction that contains the target with probability `level`.

    radius   relative to the size of the prediction; null if predictions are zero.
    covered  share of the public test samples whose target is in their ball.
    """

    grid: str
    level: float
    samples: Count
    radius: float | None
    covered: float


@with_config(STRICT)
class Evaluation(TypedDict):
    """Content of evaluation.json."""

    task: str
    source: str
    files: dict[str, Any]
    identified: NotRequired[bool]
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
    fresh: NotRequired[FreshTest]
    stress: NotRequired[list[ShiftedTest]]
    calibration: NotRequired[Calibrated]
    date: str
    machine: str
    versions: dict[str, str]


def table_of(record: dict, metric: str = "") -> Table:
    """Return the table of an evaluation: what was evaluated, its variants, classical solvers, and baselines.

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
    models = [who for who in on_first if not who.startswith((SOLVER, BASELINE))]
    if of_solvers := {who: mean for who, mean in on_first.items() if who.startswith(SOLVER)}:
        solvers.append(min(of_solvers, key=lambda who: of_solvers[who]))
    solvers += [who for who in on_first if who.startswith(BASELINE)]

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
            line.append(Cell(record["kind"] if who in models else "", prose=True))
        return line

    columns = [Column("model"), *(Column(grid, shown[name], "interval") for name, grid in places)]
    columns += [Column(f"time on {first_grid}")] * with_time + [Column("what was evaluated")] * (not metric)
    title, note = ("", "") if metric else (record["task"], NOTE)
    rows_of_solvers = [cells(who) for who in dict.fromkeys(solvers)]
    return Table(columns, [cells(who) for who in models], rows_of_solvers, title, note)


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
    yield from (f"Remark: {remark.rstrip('.')}." for remark in record["remarks"])
    yield beside_solvers(record)
    yield from on_new_samples(record)
    for shifted in record.get("stress", []):
        name, interval = in_words_of_shift(shifted), ends(shifted["low"], shifted["high"], shifted["mean"])
        yield (
            f"With {name}: {number_or(shifted['mean'], 'not finite')} {interval}, without "
            f"{scientific(shifted['unshifted'])}, on the first {shifted['samples']} samples."
        )
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


def number_or(value: float | None, words: str) -> str:
    """Return a number, or words if there is none."""
    return words if value is None else scientific(value)


def in_words_of_shift(shifted: dict) -> str:
    """Return the shift of a distribution, such as "length scale times 2"."""
    return f"{shifted['shift'].replace('_', ' ')} times {shifted['factor']:g}"


def on_new_samples(record: dict) -> Iterable[str]:
    """Yield sentences on errors on new samples and on the calibrated ball."""
    if fresh := record.get("fresh"):
        made_from = {
            "files": "the SHA-256 of the model's files",
            "predictions": "the SHA-256 of its predictions, since not all of its files are known",
            "commitment": "the SHA-256 that was stated",
        }[fresh["of"]]
        interval = ends(fresh["low"], fresh["high"], fresh["new"])
        yield (
            f"On {fresh['samples']} new samples on {fresh['grid']}, whose seed is from {made_from}: "
            f"{scientific(fresh['new'])} {interval}, on the public test {scientific(fresh['public'])}; "
            f"p = {scientific(fresh['p_value'])}: {fresh['verdict']}."
        )
    if ball := record.get("calibration"):
        radius = number_or(ball["radius"], "no finite multiple")
        yield (
            f"A ball of {radius} of the size of a prediction has its target with probability "
            f"{ball['level']:g} ({ball['samples']} new samples); of the public test samples "
            f"{ball['covered']:.1%} are in theirs."
        )


def again_in_words(row: dict) -> str:
    """Return whether a recorded mean error was confirmed."""
    if row["measured"] is None:
        return "not measured again, because the authors of the run defined this metric"
    confirmed = "confirmed" if row["confirmed"] else "not confirmed"
    return f"measured again {scientific(row['measured'])}: {confirmed}"


def rendered(template: str, **content: Any) -> str:
    """Return a self-contained HTML page from a template of this folder, with the style of all pages."""
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=True)
    environment.filters["scientific"] = scientific
    style = (ASSETS / "style.css").read_text("utf-8")
    return environment.get_template(template).render(style=style, **content)


def page_of(
    record: dict,
    task: NamedTask,
    predictions: dict[str, tuple[np.ndarray, Samples]] | None = None,
    template: str = "evaluation.html.j2",
    **more: Any,
) -> str:
    """Return the page of an evaluation as one self-contained HTML file.

    predictions     by grid, and the samples that they are for; the first are drawn.
    template, more  a template that extends the page, and its variables.
    """
    rows = [row for row in record["rows"] if row["who"] == record["label"]]
    leading = next(row for row in rows if row["metric"] == task.metric)
    metrics = dict.fromkeys([task.metric, *(row["metric"] for row in rows)])
    return rendered(
        template,
        record=record,
        task=task,
        tables=[as_html(table_of(record, metric)) for metric in metrics],
        sort=(ASSETS / "sortable.js").read_text("utf-8"),
        leading=leading,
        words=WITHOUT_LABELS,
        beside=beside_solvers(record),
        again=again_in_words,
        ends=ends(leading["low"], leading["high"], leading["mean"]),
        on_new_samples=list(on_new_samples(record)),
        shift=in_words_of_shift,
        interval=ends,
        number_or=number_or,
        drawing=(HERE / "drawing.js").read_text("utf-8"),
        pictures="" if predictions is None else json.dumps(pictures_of(predictions), separators=(",", ":")),
        **more,
    )


def pictures_of(predictions: dict[str, tuple[np.ndarray, Samples]]) -> dict[str, Any]:
    """Return the worst predictions on the first grid, and the power of their errors, for drawing.js."""
    grid_name, (prediction, samples) = next(iter(predictions.items()))
    grid, labels = samples.target_grid, samples.targets
    errors = relative_l2(prediction, labels, grid.weights)
    stride = -(-max(grid.shape) // LARGEST_PICTURE) if grid.dimension > 1 else 1
    channels = (1, *grid.shape) if labels.ndim == 1 + grid.dimension else labels.shape[1:]
    shown = []
    for sample in np.argsort(-errors, kind="stable")[:WORST]:
        drawn: dict[str, Any] = {"sample": int(sample), "error": float(errors[sample])}
        for name, values in (("label", labels), ("prediction", prediction)):
            coarse = values[sample].reshape(channels)[
                (slice(None), *[slice(None, None, stride)] * grid.dimension)
            ]
            drawn[name] = [float(f"{value:.5g}") for value in coarse.ravel()]
        shown.append(drawn)
    spectrum = None
    if isinstance(grid, Grid | Product) and grid.even:
        functions = {"target": labels, "error": prediction - labels}
        spectrum = {name: powers(values, grid).mean(axis=0).tolist() for name, values in functions.items()}
        spectrum["wavenumber"] = wavenumbers(grid).tolist()
    return {
        "grid": grid_name,
        "targets": [str(number) for number in range(channels[0])],
        "space": [len(range(0, length, stride)) for length in grid.shape],
        "points": grid.axes[-1].coordinates.tolist(),
        "samples": shown,
        "spectrum": spectrum,
    }
