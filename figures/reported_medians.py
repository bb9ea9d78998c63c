"""The part of "reported and ours" on Calvello et al. 2024, which prints medians of standardised fields.

Also the same operators at times that they were not trained on, with and without quadrature weights (its
Figures 7 to 9).
"""

import numpy as np

from figures.bootstrap import median_interval, paired_difference
from figures.calvello2024.printed import SOURCE
from figures.printed import PaperTable
from figures.reported import example_of, reported_beside
from figures.results import Run, error_matrix
from figures.table import DASH, duration

ERROR = "standardised_relative_l2"
INTRODUCTION = f"""\
# {SOURCE.name}

Errors are of fields standardised by one mean and one deviation of the training samples, as the paper has
them: the median over the test samples, and the worst of them. "Reported" is {SOURCE.citation}."""
COLUMNS = (
    "data",
    "model",
    "trained on",
    "reported",
    "ours: median",
    "ours / reported",
    "worst",
    "samples",
    "best epoch",
    "training",
    "per step",
)
OTHER_TIMES = """\
## At other times

Medians as above at times other than those of training (marked *). Below them, where both were trained: the
mean error without quadrature weights less that with them, on the same samples; above zero the weights are of
use."""


def prints_medians(facts: dict) -> bool:
    """Whether a run is of an example of this paper."""
    example = example_of(facts)
    return example is not None and example.source is SOURCE


def median_parts(runs: list[Run]) -> list[str]:
    """Sections of the page, in Markdown; none without runs."""
    if not runs:
        return []
    runs = sorted(runs, key=_data)
    lines = _table(COLUMNS, [_row(run) for run in runs])
    parts = [INTRODUCTION, "\n".join([*lines, *not_comparable(runs)])]
    trajectories: dict[str, list[Run]] = {}
    for run in runs:
        if isinstance(run.resolution, str):
            trajectories.setdefault(_data(run), []).append(run)
    if trajectories:
        parts.append(OTHER_TIMES)
        parts += [f"### {data}\n\n" + "\n".join(_at_other_times(of)) for data, of in trajectories.items()]
    return parts


def not_comparable(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """A paragraph for every reason why a printed number may not stand beside ours, with the models."""
    told: dict[str, list[str]] = {}
    for run in runs:
        beside = reported_beside(run.facts, run.cost, table)
        if beside.printed and beside.value is None:
            told.setdefault(beside.reason, []).append(run.label)
    return [f"\n{', '.join(dict.fromkeys(labels))}: {reason}." for reason, labels in told.items()]


def _data(run: Run) -> str:
    """What was learnt, in words."""
    title, settings = example_of(run.facts).title, run.facts["dataset_settings"]
    return f"{title}, {settings['targets']} from x" if settings["equation"] == "lorenz63" else title


def _row(run: Run) -> tuple[str, ...]:
    cost, training = run.cost, run.facts["training"]
    beside = reported_beside(run.facts, cost)
    if run.diverged:
        ours, ratio, worst = f"diverged (epoch {cost['diverged_epoch']})", DASH, DASH
    else:
        errors = _errors(run, run.resolution)
        middle = median_interval(errors)
        ours = f"{middle.mean:.2e} [{middle.low:.2e}, {middle.high:.2e}]"
        ratio = f"{middle.mean / beside.value:.2f}" if beside.value else DASH
        worst = f"{errors.max():.2e}"
    return (
        _data(run),
        run.label,
        str(run.resolution),
        beside.printed or "no such row",
        ours,
        ratio,
        worst,
        f"{training['train_samples']:,} / {training['test_samples']:,}",
        f"{cost['best_epoch']} of {cost['epochs']}",
        duration(cost["train_seconds"]),
        f"{cost['seconds_per_step'] * 1e3:.0f} ms",
    )


def _at_other_times(runs: list[Run]) -> list[str]:
    finished = [run for run in runs if not run.diverged]
    times = list(dict.fromkeys(runs[0].errors["resolution"]))
    rows = [
        (
            run.label,
            *(f"{np.median(_errors(run, one)):.2e}{'*' * (one == run.resolution)}" for one in times),
        )
        for run in finished
    ]
    with_weights, without = (
        [run for run in finished if (run.facts["settings"].get("quadrature") == "none") == lacking]
        for lacking in (False, True)
    )
    if with_weights and without:
        differences = [
            paired_difference(_errors(without[0], one), _errors(with_weights[0], one)) for one in times
        ]
        cells = (f"{one.mean:+.1e} [{one.low:+.1e}, {one.high:+.1e}]" for one in differences)
        rows.append(("mean without weights less with", *cells))
    return _table(("model", *times), rows)


def _errors(run: Run, resolution: int | str) -> np.ndarray:
    """Of every test sample."""
    return error_matrix([run.errors], resolution, run.noise, ERROR).to_numpy()


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ("---",) * len(header), *rows)]
