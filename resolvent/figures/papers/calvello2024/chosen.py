"""Which runs the figures of Calvello et al. 2024 show, of those that an experiment has."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import (
    Run,
    resolution_in_words,
    same_noise,
    with_training_noise,
)
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.published.beside import differences, record
from resolvent.figures.published.tables import PaperTable

OF_WIDTH = ("width", "feedforward_width")  # settings that grow with the width


@dataclass(frozen=True)
class Compared:
    """Models of one experiment that were trained at one resolution: rows of the comparison, and runs."""

    trained: int | str
    rows: pd.DataFrame
    runs: list[Run]

    @property
    def heading(self) -> str:
        return heading(self.runs[0])

    @property
    def lost(self) -> list[str]:
        """Labels of the models of which every seed diverged."""
        return lost_labels(grouped(self.runs))

    def only(self, models: Iterable[str]) -> "Compared":
        """Return these models, by their keys."""
        models = set(models)
        return Compared(
            self.trained,
            self.rows[self.rows["key"].isin(models)],
            [run for run in self.runs if run.model in models],
        )


def compared(
    comparisons: list[pd.DataFrame], experiments: list[list[Run]], statistic: str = "median"
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


def heading(run: Run) -> str:
    """Return the experiment and the training resolution of a run, as the title of a panel."""
    experiment = run.record.experiment.replace("_", " ").capitalize()
    return f"{experiment}, trained on {resolution_in_words(run.resolution)}"


def lost_labels(groups: Iterable[list[Run]]) -> list[str]:
    """Return the labels of the models of which every seed diverged."""
    return [group[0].label for group in groups if all(run.diverged for run in group)]


def first_of_each_architecture(runs: list[Run]) -> list[str]:
    """Return the first model of each architecture, if possible one with a run that finished."""
    models: dict[str, Run] = {}
    for run in runs:
        first = models.setdefault(run.record.architecture, run)
        if first.diverged and not run.diverged:
            models[run.record.architecture] = run
    return [run.model for run in models.values()]


def of_widest(runs: list[Run]) -> list[Run]:
    """Leave out the models that differ from a wider one in their width alone."""
    kept = set(widest(runs))
    return [run for run in runs if run.model in kept]


def widest_by_experiment(experiments: list[list[Run]]) -> list[list[list[Run]]]:
    """Return the widest models, groups of seeds, of each experiment and training resolution."""
    found = []
    for runs in experiments:
        groups = grouped(of_widest(runs))
        for trained in dict.fromkeys(group[0].resolution for group in groups):
            found.append([group for group in groups if group[0].resolution == trained])
    return found


def first_with(experiments: list[list[Run]], **settings) -> Run:
    """Return the first run of these settings that did not diverge; failing that, the first.

    Raises
    ------
    ResultError
        When no run has them.
    """
    loaded = [run for runs in experiments for run in runs]
    having = [
        run
        for run in loaded
        if all(run.record.settings.get(name) == value for name, value in settings.items())
    ]
    if not having:
        wanted = ", ".join(f"{name}: {value}" for name, value in settings.items())
        raise ResultError(f"none of {len(loaded)} runs has {wanted}: add such a model to the experiment")
    return first_finished(having)


def first_finished(runs: list[Run]) -> Run:
    """Return the first run that did not diverge; failing that, the first."""
    return next((run for run in runs if not run.diverged), runs[0])


def standardised_words(run: Run, where: int | str) -> str:
    """Return median and worst error of standardised fields, as in the public code; "" if not recorded."""
    values = _standardised(run, where)
    if values is None:
        return ""
    return (
        f"relative L² errors of standardised functions, all {len(values)} test samples: "
        f"median {values.median():.2e}, worst {values.max():.2e}"
    )


def _standardised(run: Run, where: int | str) -> pd.Series | None:
    """Return the errors of standardised fields of all test samples; None where they were not measured."""
    errors = run.errors
    errors = errors[(errors["resolution"] == where) & same_noise(errors["noise"], run.noise)]
    if "standardised_relative_l2" not in errors or not np.isfinite(errors["standardised_relative_l2"]).all():
        return None
    return errors["standardised_relative_l2"]


def reported_words(run: Run, where: int | str, table: PaperTable) -> str:
    """Return the paper's median and worst error; with ours over them, or what forbids the comparison.

    "" where the table has no worst error for the run.
    """
    row = table.row(record(run.record))
    if row is None or not row.get("worst"):
        return ""
    paper = {name: float(row[name]) * table.unit for name in ("reported", "worst")}
    words = f"reported: median {paper['reported']:.2e}, worst {paper['worst']:.2e}"
    differ = differences(run.record, run.cost, table)
    if differ:
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        return f"{words}; not compared: {', '.join(differ[:3])}{more}"
    values = _standardised(run, where)
    if values is None:
        return words
    ratios = values.median() / paper["reported"], values.max() / paper["worst"]
    return f"{words}; ours / reported: {ratios[0]:.2f}, {ratios[1]:.2f}"


def families(runs: list[Run]) -> list[list[str]]:
    """Group keys of models that differ in their width alone, from narrow to wide."""
    widths: dict[str, dict[str, int]] = {}
    for run in runs:
        settings = run.record.settings
        others = {name: value for name, value in settings.items() if name not in OF_WIDTH}
        kind = json.dumps([run.record.architecture, others], sort_keys=True)
        widths.setdefault(kind, {})[run.model] = settings.get("width", 0)
    return [sorted(members, key=members.get) for members in widths.values()]


def widest(runs: list[Run]) -> list[str]:
    """Return the key of the widest model of each family."""
    return [family[-1] for family in families(runs)]
