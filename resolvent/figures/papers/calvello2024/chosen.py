"""Which runs the figures of Calvello et al. 2024 show, of those that an experiment has, and their words."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, resolution_in_words, same_noise, with_training_noise
from resolvent.figures.common.style import name_diverged, say_no_errors
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.published.beside import differences, example_of, record
from resolvent.figures.published.tables import PaperTable

Experiments = list[list[Run]]


@dataclass(frozen=True)
class Compared:
    """Models of one experiment that were trained at one resolution: rows of the comparison, and runs."""

    trained: int | str
    rows: pd.DataFrame
    runs: list[Run]

    def only(self, models: Iterable[str]) -> "Compared":
        """Return these models, by their keys."""
        models = set(models)
        rows = self.rows[self.rows["key"].isin(models)]
        return Compared(self.trained, rows, [run for run in self.runs if run.model in models])


def compared(
    comparisons: list[pd.DataFrame], experiments: Experiments, statistic: str = "median"
) -> list[Compared]:
    """Return a statistic of the relative L2 error of the models of each experiment, by training resolution.

    The noise is that of training.
    """
    found = []
    for comparison, runs in zip(comparisons, experiments, strict=True):
        rows = errors_of(with_training_noise(comparison), "relative_l2", statistic)
        rows = rows[rows["kind"] == "model"]
        for trained in dict.fromkeys(run.resolution for run in runs):
            here = [run for run in runs if run.resolution == trained]
            found.append(Compared(trained, rows[rows["trained_resolution"] == trained], here))
    return found


def title_of(run: Run) -> str:
    """Return what the paper's example is called that a run is of."""
    example = example_of(run.record)
    return example.title if example else run.record.experiment


def heading(run: Run) -> str:
    """Return the experiment and the training resolution of a run, as the title of a panel."""
    experiment = run.record.experiment.replace("_", " ").capitalize()
    return f"{experiment}, trained on {resolution_in_words(run.resolution)}"


def name_lines(panel, labels: list[tuple[float, str, str]], groups: list[list[Run]]) -> None:
    """Name the lines of a panel, and the models of which every seed diverged."""
    label_right(panel, labels)
    if labels:
        name_diverged(panel, lost_labels(groups))
    else:
        say_no_errors(panel)


def lost_labels(groups: list[list[Run]]) -> list[str]:
    """Return the labels of the models of which every seed diverged."""
    return [group[0].label for group in groups if all(run.diverged for run in group)]


def finished_of(group: list[Run]) -> list[Run]:
    """Return the seeds that did not diverge; where all did, the first."""
    return [run for run in group if not run.diverged] or group[:1]


def first_of_each_architecture(runs: list[Run]) -> list[str]:
    """Return the first model of each architecture, if possible one with a run that finished."""
    models: dict[str, Run] = {}
    for run in runs:
        first = models.setdefault(run.record.architecture, run)
        if first.diverged and not run.diverged:
            models[run.record.architecture] = run
    return [run.model for run in models.values()]


def families(runs: list[Run]) -> list[list[str]]:
    """Group keys of models that differ in their width alone, from narrow to wide."""
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


def widest_groups(experiments: Experiments) -> list[list[list[Run]]]:
    """Return the widest models, groups of seeds, of each experiment and training resolution."""
    found = []
    for runs in experiments:
        kept = set(widest(runs))
        groups = grouped([run for run in runs if run.model in kept])
        for trained in dict.fromkeys(group[0].resolution for group in groups):
            found.append([group for group in groups if group[0].resolution == trained])
    return found


def first_with(experiments: Experiments, **settings) -> Run:
    """Return the first run of these settings that did not diverge; failing that, the first.

    Raises a ResultError when no run has them.
    """
    loaded = [run for runs in experiments for run in runs]
    having = [run for run in loaded if settings.items() <= run.record.settings.items()]
    if not having:
        wanted = ", ".join(f"{name}: {value}" for name, value in settings.items())
        raise ResultError(f"none of {len(loaded)} runs has {wanted}: add such a model to the experiment")
    return finished_of(having)[0]


def errors_in_words(run: Run, where: int | str, table: PaperTable) -> list[str]:
    """Return median and worst error of standardised fields, and the paper's, a line each; [] if unrecorded.

    Beside the paper's stand ours over them, or what forbids the comparison.
    """
    errors = run.errors
    errors = errors[(errors["resolution"] == where) & same_noise(errors["noise"], run.noise)]
    ours = errors.get("standardised_relative_l2")
    if ours is None or not np.isfinite(ours).all():
        ours = None
    lines = []
    if ours is not None:
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
    elif ours is not None:
        words += f"; ours / reported: {ours.median() / median:.2f}, {ours.max() / worst:.2f}"
    return [*lines, words]
