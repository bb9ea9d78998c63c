"""Read result files of runs and baselines, the only inputs of `resolvent.figures`.

The files are defined in `resolvent.common.records` and `resolvent.common.predictions`. A resolution is a
number of points along each axis, or the name of a set of times. A missing or damaged file, or a file of
another run, gives a one-line error with the file and the remedy.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd

from resolvent.common import files, runs
from resolvent.common.cards import WHOLE_CARD
from resolvent.common.digests import check_digest, check_present
from resolvent.common.predictions import AT_ALL_LEVELS, functions, node_name
from resolvent.common.records import BaselineCost, home_grid, read_record
from resolvent.common.runs import read_table as read_table
from resolvent.figures.common.errors import ResultError

if TYPE_CHECKING:
    import xarray

NO_ANSWER = "no answer"  # prefix of the status of a baseline without a solution, before the reason


class Run(runs.Run):
    """A trained model with names and curves for figures; `noise` is the noise level ε in training."""

    model = property(attrgetter("record.model"))
    label = property(attrgetter("record.label"))
    resolution = property(attrgetter("record.resolution"))
    home = property(attrgetter("record.home"))
    noise = property(attrgetter("record.noise"))
    seed = property(attrgetter("record.seed"))

    @cached_property
    def predictions(self) -> "xarray.DataTree":
        """Some test samples with predictions; for functions in 3D, the middle slice in z."""
        return super().predictions.map_over_datasets(_middle_slice)

    @property
    def where(self) -> str:
        return grids_in_words(self.resolution, self.home)

    @property
    def name(self) -> str:
        return f"{self.label}, {self.where}, seed {self.seed}"

    def by_epoch(self, column: str) -> pd.Series:
        """Return the finite values of a column of the history by epoch."""
        curve = self.history.set_index("epoch")[column].astype(float)
        return curve[np.isfinite(curve) & (curve > 0)]

    @property
    def shown_samples(self) -> list[int]:
        """Return the indices in the test split of the samples of `shown`."""
        stored = self.predictions.children[node_name(self.home)].dataset
        return [int(sample) for sample in stored["sample"].values]

    def shown(self, name: str, noise: float | None = None) -> np.ndarray:
        """Return `input`, `target` or `prediction` of some samples at `noise`, by default as in training.

        The prefix `extreme_` selects the samples with median, worst and best error.
        """
        if name in AT_ALL_LEVELS:
            return functions(self.predictions.children[node_name(self.home)].dataset[name])
        return functions(self.predictions_at(noise)[name])

    def shown_errors(self, noise: float | None = None) -> pd.Series:
        """Return the relative L2 errors of the predictions in `shown` by sample."""
        errors, noise = self.errors, self.noise if noise is None else noise
        shown_rows = (errors["resolution"] == self.home) & same_noise(errors["noise"], noise)
        return errors[shown_rows & (errors["realisation"] == 0)].set_index("sample")["relative_l2"]


@dataclass(frozen=True)
class Baseline:
    """A baseline, fitted and tested on one grid with one noise level."""

    key: str
    label: str
    resolution: int | str
    noise: float
    errors: pd.DataFrame
    cost: BaselineCost


def _middle_slice(stored: "xarray.Dataset") -> "xarray.Dataset":
    middle = {name: stored.sizes[name] // 2 for name in ("z", "z_target") if name in stored.sizes}
    return stored.isel(middle, drop=True)


def read_runs(directories: Iterable[str | Path]) -> list[Run]:
    """Return the runs in these folders, in the given order of models, then by resolution and seed."""
    loaded = [cast(Run, runs.read_run(directory, Run)) for directory in directories]
    if not loaded:
        raise ResultError("no run folder was given: list at least one model in the experiment")
    order = list(dict.fromkeys(run.model for run in loaded))
    return sorted(loaded, key=lambda run: (order.index(run.model), run.resolution, run.seed))


def read_baselines(directories: Iterable[str | Path]) -> list[Baseline]:
    """Return the baselines in these folders, one for each resolution."""
    baselines = []
    for directory in directories:
        record, errors = runs.read_baselines_table(directory)
        for place, rows in errors.groupby(["resolution", "baseline"], sort=False):
            resolution, key = cast(tuple[Any, str], place)
            cost, noise = (
                record.cost_of(resolution, key, Path(directory) / "cost.json"),
                float(rows["noise"].iloc[0]),
            )
            baselines.append(Baseline(key, cost.label, resolution, noise, rows, cost))
    return baselines


def resolution_in_words(resolution: int | str) -> str:
    """Return "n = 512", or "times dt0.01"."""
    return f"times {resolution}" if isinstance(resolution, str) else f"n = {resolution}"


def grids_in_words(trained: int | str, tested: int | str) -> str:
    """Return "n = 64", or "n = 64, tested on n = 256"."""
    words = resolution_in_words(trained)
    return words if trained == tested else f"{words}, tested on {resolution_in_words(tested)}"


def trained_and_tested(trained: int | str, tested: int | str) -> str:
    """Return "trained and tested on n = 64", or "trained on n = 64, tested on n = 256"."""
    return f"trained {'and tested ' * (trained == tested)}on {grids_in_words(trained, tested)}"


def home_in_words(runs: Iterable[Run]) -> str:
    if not (elsewhere := [run for run in runs if run.home != run.resolution]):
        return "the training grid"
    in_time = isinstance(elsewhere[0].home, str)
    return "the first set of test times" if in_time else "the test grid nearest to the training grid"


def read_card(path: str | Path) -> dict:
    """Return a dataset card."""
    card: Any = read_record(check_present(path), WHOLE_CARD)
    return card


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz file after checking its digest."""
    path = check_digest(path)
    try:
        with np.load(path) as stored:
            return dict(stored)
    except files.DAMAGED_NUMPY as error:
        raise ResultError(f"{path} is damaged ({error}): delete it and run snakemake") from error


def without_answer(status: str) -> tuple[str, str]:
    """Return the text in place of a missing baseline's error, and the reason; empty texts otherwise."""
    text, _, reason = status.partition(": ")
    return (text, reason) if text == NO_ANSWER else ("", "")


def same_noise(levels, others):
    """Return where two noise levels are equal up to rounding in text files."""
    return np.isclose(levels, others, rtol=1e-9, atol=0)


def on_home_grid(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a comparison with the noise of training, on the home grid of each training grid.

    Baselines, which are fitted on the test grid, have a row beside the models of each training grid with this
    home grid, and its training resolution.
    """
    comparison = with_training_noise(comparison)
    models, baselines = (comparison[comparison["kind"] == kind] for kind in ("model", "baseline"))
    parts = []
    for trained, rows in models.groupby("trained_resolution", sort=False):
        home = home_grid(cast(Any, trained), set(rows["test_resolution"]))
        fitted = baselines[baselines["test_resolution"] == home].assign(trained_resolution=trained)
        parts += [rows[rows["test_resolution"] == home], fitted]
    return pd.concat(parts or [comparison]).sort_index(kind="stable")


def with_training_noise(comparison: pd.DataFrame) -> pd.DataFrame:
    return comparison[same_noise(comparison["trained_noise"], comparison["test_noise"])]


def error_matrices(
    tables: list[pd.DataFrame], resolution: int | str, noise: float, metrics: list[str]
) -> dict[str, pd.DataFrame]:
    """Return matrices of errors at one test resolution and noise level by metric: (seeds, samples).

    Noise realisations of a sample are averaged first, so columns are independent samples. A diverged seed has
    no row. Raises `ResultError` for tables of different samples.
    """
    rows: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    samples = pd.RangeIndex(0)
    for table in tables:
        tested = table[(table["resolution"] == resolution) & same_noise(table["noise"], noise)]
        if tested.empty:
            continue
        means, finite = tested.groupby("sample")[metrics].mean(), np.isfinite(tested[metrics]).all()
        for metric in finite.index[finite]:
            samples = samples if any(rows.values()) else means.index
            if not samples.equals(means.index):
                raise ResultError(
                    f"errors at resolution {resolution} belong to different samples: evaluate the runs again"
                )
            rows[metric].append(means[metric].to_numpy())
    return {
        metric: pd.DataFrame(np.array(by_seed), columns=samples) if by_seed else pd.DataFrame()
        for metric, by_seed in rows.items()
    }


def error_matrix(
    tables: list[pd.DataFrame], resolution: int | str, noise: float = 0.0, metric: str = "relative_l2"
) -> pd.DataFrame:
    """Return the matrix of errors in one metric, as in `error_matrices`."""
    return error_matrices(tables, resolution, noise, [metric])[metric]


def errors_by_sample(run: Run) -> pd.Series:
    """Return the relative L2 error of each test sample on the home grid; empty for a diverged run."""
    return error_matrix([run.errors], run.home, run.noise).mean()


@dataclass(frozen=True)
class Shown:
    """The run shown in a figure, and the run named in the configuration, if any."""

    run: Run
    configured: Run | None
    others: bool = True  # whether there were other candidates

    @property
    def replaces(self) -> bool:
        return self.configured is not None and self.run.directory != self.configured.directory

    @property
    def words(self) -> str:
        """Return the run's label; for a chosen run, also its name and the reason."""
        name = f"{self.run.label} ({self.run.where}, seed {self.run.seed})"
        if self.configured is None and self.others:
            return f"{name}, the run with the lowest median error"
        if self.configured is None or not self.replaces:
            elsewhere = f", {self.run.where}" if self.run.home != self.run.resolution else ""
            return f"{self.run.label}{elsewhere}"
        lost = f"{self.configured.label} ({self.configured.where}, seed {self.configured.seed})"
        return f"{name}, shown because the configured run, {lost}, diverged"


def choose_shown(candidates: Iterable[str | Path], named: bool = True) -> Shown:
    """Choose one of several run folders; the first is the configured run if `named`.

    The configured run is chosen if it finished, otherwise the best finished run, or the first run if none
    finished. The best run has the lowest median error over the test samples on its home grid with its noise
    of training; runs on the first run's grid are preferred.
    """
    first, *others = [run for folder in candidates for run in read_runs([folder])]
    if named and np.isfinite(_median_error(first)):
        return Shown(first, first)
    medians = [(run.resolution != first.resolution, _median_error(run), run) for run in (first, *others)]
    finished = [median for median in medians if np.isfinite(median[1])]
    best = min(finished, key=lambda median: median[:2])[2] if finished else first
    return Shown(best, first if named else None, bool(others))


def _median_error(run: Run) -> float:
    errors = error_matrix([run.errors], run.home, run.noise)
    return np.nan if run.diverged or errors.empty else float(errors.median(axis=1).iloc[0])


class Spectrum(NamedTuple):
    """Root mean power by wavenumber, (shells,): amplitudes of target and error."""

    wavenumber: np.ndarray
    target: np.ndarray
    error: np.ndarray


class Spread(NamedTuple):
    """Root mean square error at each point over the root mean square of the targets."""

    axes: dict[str, np.ndarray]  # coordinates by axis: x, or y and x, or time
    values: np.ndarray  # squares of several functions are added

    @property
    def dimension(self) -> int:
        return self.values.ndim


def spectrum_of(run: Run) -> Spectrum | None:
    """Return the spectrum on the home grid with the noise of training; None for trajectories."""
    stored = run.predictions_at()
    if "error_power" not in stored:
        return None
    target, error = (np.sqrt(stored[f"{name}_power"].values) for name in ("target", "error"))
    return Spectrum(stored["wavenumber"].values, target, error)


def spread_of(run: Run) -> Spread | None:
    """Return the error by point on the home grid; None for files of earlier versions."""
    stored = run.predictions_at()
    if "error_mean_square" not in stored:
        return None
    squares = stored["error_mean_square"].sum("channel", skipna=False)
    level = np.sqrt(stored["target_mean_square"].sum("channel").values.mean())
    axes = {str(name).removesuffix("_target"): stored[name].values for name in squares.dims}
    return Spread(axes, np.sqrt(squares.values) / level)


def has_map(run: Run) -> bool:
    """Return whether the run has errors by point of a plane."""
    spread = None if run.diverged else spread_of(run)
    return spread is not None and spread.dimension == 2


def one_of_each(runs: list[Run]) -> list[Run]:
    """Return the first finished seed of each model at each training resolution, in the given order."""
    first_seeds: dict[tuple, Run] = {}
    for run in (run for run in runs if not run.diverged):
        first_seeds.setdefault((run.model, run.resolution), run)
    return list(first_seeds.values())
