"""The part of "reported and ours" on Calvello et al. 2024, which reports medians of standardised fields.

Also the same operators at times that they were not trained on, with and without quadrature weights (its
Figures 7 to 9).
"""

import numpy as np

from resolvent.figures.common.intervals import median_interval, paired_ratio
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import Run, error_matrix
from resolvent.figures.papers.calvello2024.reported import SOURCE
from resolvent.figures.published.beside import example_of, reported_beside
from resolvent.figures.reported_vs_ours.markdown import (
    TRAINING_COLUMNS,
    not_comparable,
    table_lines,
    training_cells,
)

ERROR = "standardised_relative_l2"
INTRODUCTION = """\
Errors are of fields standardised by one mean and one standard deviation of the training samples: the median
over the test samples, and the worst of them. The paper does not say of what its errors are; its public code
takes them of standardised fields, in one dimension by each split's own mean and standard deviation. For
trajectories also the medians at times other than those of training (marked *) and, where both were trained,
the errors without quadrature weights over those with them, sample by sample: above one the weights are of
use. Sections from earlier runs have the difference of the means instead: above zero they are of use."""
COLUMNS = (
    "model",
    "trained on",
    "seed",
    "reported",
    "ours: median",
    "ours / reported",
    "worst (reported)",
    "samples",
    *TRAINING_COLUMNS,
)


def reports_medians(facts: dict) -> bool:
    """Return whether a run is of an example of this paper."""
    example = example_of(facts)
    return example is not None and example.source is SOURCE


def median_section(runs: list[Run]) -> str:
    """Return the section on the runs on one dataset, in Markdown."""
    besides = [(run.label, reported_beside(run.record, run.cost)) for run in runs]
    why = not_comparable((label, one.reason) for label, one in besides if one.digits and one.value is None)
    lines = [*table_lines(COLUMNS, [_row(run) for run in runs]), *(f"\n{sentence}" for sentence in why)]
    if isinstance(runs[0].resolution, str):
        lines += ["", *_at_other_times(runs)]
    return "\n".join(lines)


def data_in_words(run: Run) -> str:
    """Name what was learnt."""
    title, settings = example_of(run.record).title, run.record.dataset_settings
    return f"{title}, {settings['targets']} from x" if settings["equation"] == "lorenz63" else title


def _row(run: Run) -> tuple[str, ...]:
    cost, training = run.cost, run.record.training
    beside = reported_beside(run.record, cost)
    if run.diverged:
        ours, ratio, worst = f"diverged (epoch {cost.diverged_epoch})", DASH, DASH
    else:
        errors = _errors(run, run.resolution)
        middle = median_interval(errors)
        ours = f"{middle.value:.2e} [{middle.low:.2e}, {middle.high:.2e}]"
        ratio = f"{middle.value / beside.value:.2f}" if beside.value else DASH
        worst = f"{errors.max():.2e}" + (f" ({beside.worst:.2e})" if beside.worst else "")
    return (
        run.label,
        str(run.resolution),
        str(run.seed),
        beside.digits or "no such row",
        ours,
        ratio,
        worst,
        f"{training['train_samples']:,} / {training['test_samples']:,}",
        *training_cells(cost),
    )


def _at_other_times(runs: list[Run]) -> list[str]:
    finished = [run for run in runs if not run.diverged]
    times = list(dict.fromkeys(runs[0].errors["resolution"]))
    rows = [
        (
            run.label,
            str(run.seed),
            *(f"{np.median(_errors(run, one)):.2e}{'*' * (one == run.resolution)}" for one in times),
        )
        for run in finished
    ]
    with_weights, without = (
        [run for run in finished if (run.record.settings.get("quadrature") == "none") == lacking]
        for lacking in (False, True)
    )
    if with_weights and without:
        ratios = [paired_ratio(_errors(without[0], one), _errors(with_weights[0], one)) for one in times]
        cells = (f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in ratios)
        rows.append(("without weights over with", DASH, *cells))
    return table_lines(("model", "seed", *times), rows)


def _errors(run: Run, resolution: int | str) -> np.ndarray:
    """Return the errors (seeds, samples) of every test sample."""
    return error_matrix([run.errors], resolution, run.noise, ERROR).to_numpy()
