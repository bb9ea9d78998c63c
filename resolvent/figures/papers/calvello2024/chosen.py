"""Select the runs shown in the figures of Calvello et al. 2024, and describe them."""

import json
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, same_noise, with_training_noise
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.published.reported_numbers import differences, example_of, record
from resolvent.figures.published.tables import PaperTable

Experiments = list[list[Run]]
Groups = list[list[Run]]  # of one training resolution: the seeds of each model
Panel = tuple[Groups, pd.DataFrame | None]  # runs, and their rows of the comparison


def panels_of(
    experiments: Experiments,
    models: Callable[[list[Run]], Iterable[str]] | None = None,
    comparisons: list[pd.DataFrame] | None = None,
) -> list[Panel]:
    """Return a panel for each training resolution of each experiment.

    models  function from runs to the keys of shown models; default: all.
    Rows of the comparison have the relative L2 error with the noise of training.
    """
    panels: list[Panel] = []
    for number, runs in enumerate(experiments):
        for trained in dict.fromkeys(run.resolution for run in runs):
            trained_there = [run for run in runs if run.resolution == trained]
            keys = set(models(trained_there)) if models else {run.model for run in trained_there}
            rows = None
            if comparisons:
                rows = with_training_noise(comparisons[number])
                rows = rows[(rows["kind"] == "model") & (rows["metric"] == "relative_l2")]
                rows = rows[(rows["trained_resolution"] == trained) & rows["key"].isin(keys)]
            panels.append((grouped([run for run in trained_there if run.model in keys]), rows))
    return panels


def title_of(run: Run) -> str:
    """Return the title of the paper's example for a run."""
    example = example_of(run.record)
    return example.title if example else run.record.experiment


def first_of_each_architecture(runs: list[Run]) -> list[str]:
    """Return the first model of each architecture, if possible with a finished run."""
    models: dict[str, Run] = {}
    for run in runs:
        first = models.setdefault(run.record.architecture, run)
        if first.diverged and not run.diverged:
            models[run.record.architecture] = run
    return [run.model for run in models.values()]


def extended_pair(runs: list[Run]) -> tuple[str, str]:
    """Return two models that differ only in `periodic_extension`, preferably without smoother.

    Raises `ResultError` if there are none.
    """
    by_rest: dict[str, dict[bool, str]] = {}
    for run in runs:
        settings = dict(run.record.settings)
        extended = settings.pop("periodic_extension", None)
        if extended is not None and run.record.architecture == "fano":
            rest = json.dumps(settings, sort_keys=True)
            by_rest.setdefault(rest, {}).setdefault(extended, run.model)
    pairs = {rest: pair for rest, pair in by_rest.items() if len(pair) == 2}
    if not pairs:
        raise ResultError(
            f"{runs[0].directory.parent}: no two models of architecture fano differ only in "
            "periodic_extension; add such a pair to the experiment"
        )
    chosen = pairs[min(pairs, key=lambda rest: '"smoother": "none"' not in rest)]
    return chosen[False], chosen[True]


def families(runs: list[Run]) -> list[list[str]]:
    """Group keys of models that differ only in width, from narrow to wide."""
    widths: dict[str, dict[str, int]] = {}
    for run in runs:
        others = dict(run.record.settings)
        width = others.pop("width", 0)
        others.pop("feedforward_width", None)  # it grows with the width
        kind = json.dumps([run.record.architecture, others], sort_keys=True)
        widths.setdefault(kind, {})[run.model] = width
    return [sorted(members, key=members.__getitem__) for members in widths.values()]


def widest(runs: list[Run]) -> list[str]:
    """Return the key of the widest model of each family."""
    return [family[-1] for family in families(runs)]


def first_with(experiments: Experiments, **settings) -> Run:
    """Return the first run with these settings that did not diverge, or the first if all diverged.

    Raises `ResultError` if no run has the settings.
    """
    loaded = [run for runs in experiments for run in runs]
    having = [run for run in loaded if settings.items() <= run.record.settings.items()]
    if not having:
        wanted = ", ".join(f"{name}: {value}" for name, value in settings.items())
        raise ResultError(f"none of {len(loaded)} runs has {wanted}: add such a model to the experiment")
    return next((run for run in having if not run.diverged), having[0])


def errors_in_words(run: Run, where: int | str, table: PaperTable) -> list[str]:
    """Return lines with median and worst error of standardised fields, and the paper's; [] if not recorded.

    The paper's line includes our ratio to its numbers, or the reason that they cannot be compared.
    """
    errors = run.errors[(run.errors["resolution"] == where) & same_noise(run.errors["noise"], run.noise)]
    ours = errors.get("standardised_relative_l2")
    measured = ours is not None and bool(np.isfinite(ours).all())
    lines = []
    if measured:
        lines.append(
            f"relative L² errors of standardised functions, all {len(ours)} test samples: "
            f"median {scientific(ours.median())}, worst {scientific(ours.max())}"
        )
    row = table.row(record(run.record))
    if row is None or not row.get("worst"):
        return lines
    median, worst = (float(row[name]) * table.unit for name in ("reported", "worst"))
    words = f"reported: median {scientific(median)}, worst {scientific(worst)}"
    if differ := differences(run.record, run.cost, table):
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        words += f"; not compared: {', '.join(differ[:3])}{more}"
    elif measured:
        words += f"; ours / reported: {ours.median() / median:.2f}, {ours.max() / worst:.2f}"
    return [*lines, words]
