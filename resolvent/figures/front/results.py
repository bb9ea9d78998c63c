"""Existing results of a study: state of each run, and compared errors of each model."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from resolvent.common.records import INFERENCE_COLUMNS, CostRecord
from resolvent.common.runs import read_run
from resolvent.figures.common.comparison import RATIO, Tested, by_condition, read_comparison
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.page import RUN_PAGE
from resolvent.figures.common.results import NO_ANSWER, grids_in_words, on_home_grid, read_table
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study

CLASSICAL = "coarse_solve"  # the baseline shown on the same scale as the models
NOT_RANKED = "not ranked"
UNDECIDED = "undecided"  # not shown to be worse, but a model with a lower mean error is
NO_SOLVER = "not run"  # in place of the classical solver's error


@dataclass(frozen=True)
class RunState:
    """A planned run: `finished`, `diverged` or `missing`; `page` is empty without a page."""

    seed: str
    folder: str
    state: str
    page: str = ""
    cost: CostRecord | None = None
    hashes: tuple[str, str] = ("", "")  # of its configuration and its dataset


@dataclass(frozen=True)
class Row:
    """A model in an experiment at one training resolution: its runs and, if compared, its errors.

    compared   the errors on the home grid.
    classical  the classical solver's error on the same test grid, `NO_SOLVER` if none was run, `NO_ANSWER` if
               the solver fails for some sample, or None before the comparison.
    timed      the model's row of inference.csv.
    """

    experiment: str
    title: str
    page: str
    papers: tuple[str, ...]
    planned: PlannedRow
    runs: list[RunState]
    compared: Tested | None
    classical: Interval | str | None
    timed: dict | None = None

    @property
    def pays(self) -> dict | None:
        """Return `queries`, `solver` and `timed_on` if a solver is as accurate and the runs are unchanged."""
        timed = self.timed
        unchanged = timed and isinstance(timed["solver"], str) and timed["train_seconds"] in self.all_seconds
        return timed if unchanged else None

    @property
    def tested(self) -> Tested | None:
        """Return the compared errors, if they belong to the existing runs."""
        there = [run.hashes for run in self.runs if run.state != "missing"]
        if self.compared is None or not there:
            return self.compared
        compared = (str(self.compared.facts[name]).split("; ") for name in ("config_hash", "dataset_hash"))
        pairs = zip(zip(*there, strict=True), compared, strict=True)
        return self.compared if all(set(ours) <= set(theirs) for ours, theirs in pairs) else None

    @property
    def home(self) -> int | str:
        """Return the test resolution of its errors, before the comparison the training resolution."""
        return self.tested.facts["test_resolution"] if self.tested else self.planned.resolution

    @property
    def grids(self) -> str:
        return grids_in_words(self.planned.resolution, self.home)

    @property
    def error(self) -> Interval | None:
        return self._known("mean")

    @property
    def ratio(self) -> Interval | None:
        """Return the ratio of its errors to the best other model's, if there are other models."""
        return self._known(RATIO)

    def _known(self, statistic: str) -> Interval | None:
        interval = self.tested.error(statistic=statistic) if self.tested else None
        return interval if interval and interval.known else None

    @property
    def verdict(self) -> str:
        """Return the verdict shown by the data: best, tied with the best, worse, or undecided."""
        if self.tested is None or self.error is None:
            return self.state
        if self.tested.verdict:
            return self.tested.verdict
        if self.ratio is None or not self.tested.is_ranked():
            return NOT_RANKED
        if self.ratio.high < 1:
            return "best"
        if self.tested.is_among_the_best():
            return "tied for the best"
        return "worse than the best" if self.tested.is_worse() else UNDECIDED

    @property
    def state(self) -> str:
        counts = Counter(run.state for run in self.runs)
        if counts["finished"] == len(self.runs):
            # A comparison without `tested` has other runs than the existing ones.
            other = "compared with other runs" if self.compared else "not compared yet"
            return "finished" if self.tested else other
        return ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))

    @property
    def all_seconds(self) -> list[float]:
        return [run.cost.train_seconds for run in self.runs if run.cost and run.state == "finished"]

    @property
    def seconds(self) -> float | None:
        return sum(self.all_seconds) / len(self.all_seconds) if self.all_seconds else None


@dataclass(frozen=True)
class Results:
    """All rows of a study, in the order of its plan."""

    study: Study
    folder: Path
    rows: list[Row]

    @property
    def runs(self) -> list[RunState]:
        return [run for row in self.rows for run in row.runs]

    @cached_property
    def not_begun(self) -> list[str]:
        """Return the experiments without any run, if others have runs."""
        begun = {row.experiment for row in self.rows if any(run.state != "missing" for run in row.runs)}
        return [name for name in self.study.experiments if name not in begun] if begun else []

    @property
    def is_ranked(self) -> bool:
        return any(row.error and row.verdict != NOT_RANKED for row in self.rows)

    def of(self, experiment: str) -> list[Row]:
        return [row for row in self.rows if row.experiment == experiment]

    def there(self, path: str) -> bool:
        return (self.folder / path).is_file()


def read_results(study: Study, folder: str | Path) -> Results:
    """Read the existing results of the study in `folder`. Raises `FileError` if a file is damaged."""
    folder = Path(folder)
    rows = [row for name, experiment in study.experiments.items() for row in _rows(folder, name, experiment)]
    return Results(study, folder, rows)


def _rows(folder: Path, name: str, experiment: PlannedExperiment) -> list[Row]:
    comparison, inference = folder / name / "comparison.csv", folder / name / "inference.csv"
    models: dict[tuple[str, str], Tested] = {}
    classical: dict[str, Interval | str] = {}
    timed: dict[tuple[str, str], dict] = {}
    if inference.is_file():
        table = read_table(inference, list(INFERENCE_COLUMNS), may_be_empty=True)
        for of_model in table.query("kind == 'model'").to_dict("records"):
            timed[of_model["key"], str(of_model["resolution"])] = of_model
    if comparison.is_file():
        for tested in by_condition(on_home_grid(read_comparison(comparison))):
            key, resolution = tested.facts["key"], str(tested.facts["trained_resolution"])
            if tested.facts["kind"] == "model":
                models[key, resolution] = tested
            elif key == CLASSICAL:
                classical[resolution] = tested.error() if tested.error().known else NO_ANSWER
    rows, no_solver = [], NO_SOLVER if comparison.is_file() else None
    for row in experiment.rows:
        runs = [_run(folder, seed, run) for seed, run in row.runs.items()]
        own, shown = (row.model, str(row.resolution)), (experiment.title, experiment.page)
        solved = classical.get(str(row.resolution), no_solver)
        papers = tuple(experiment.papers)
        rows.append(Row(name, *shown, papers, row, runs, models.get(own), solved, timed.get(own)))
    return rows


def _run(folder: Path, seed: str, run: str) -> RunState:
    """Return the state of a run: missing without run.json, which is written last."""
    if not (folder / run / "run.json").is_file():
        return RunState(seed, run, "missing")
    loaded, page = read_run(folder / run), f"{run}/{RUN_PAGE}"
    cost, hashes = loaded.cost, (loaded.record.config_hash, loaded.record.dataset_hash)
    page = page if (folder / page).is_file() else ""
    return RunState(seed, run, cost.status, page, cost, hashes)
