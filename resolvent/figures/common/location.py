"""Where the error of a run is: in frequency and in space, or in time, over all its test samples."""

from dataclasses import dataclass

import numpy as np

from resolvent.figures.common.results import Run


@dataclass(frozen=True)
class Spectrum:
    """Root mean powers by wavenumber, (shells,) each: the amplitudes of the target and of the error."""

    wavenumber: np.ndarray
    target: np.ndarray
    error: np.ndarray


@dataclass(frozen=True)
class Spread:
    """Root mean square error at each point over the root mean square of the targets.

    axes    coordinates of the axes by name: x, or y and x, or time.
    values  on them; the squares of several functions are added up.
    """

    axes: dict[str, np.ndarray]
    values: np.ndarray

    @property
    def dimension(self) -> int:
        return self.values.ndim


def spectrum_of(run: Run) -> Spectrum | None:
    """Return the spectrum as the run was trained; None where there is none: of trajectories."""
    stored = run.predictions_at()
    if "error_power" not in stored:
        return None
    target, error = (np.sqrt(stored[f"{name}_power"].values) for name in ("target", "error"))
    return Spectrum(stored["wavenumber"].values, target, error)


def spread_of(run: Run) -> Spread | None:
    """Return the error by point as the run was trained; None of a file of a version that did not keep it."""
    stored = run.predictions_at()
    if "error_mean_square" not in stored:
        return None
    squares = stored["error_mean_square"].sum("channel", skipna=False)
    level = np.sqrt(stored["target_mean_square"].sum("channel").values.mean())
    axes = {str(name).removesuffix("_target"): stored[name].values for name in squares.dims}
    return Spread(axes, np.sqrt(squares.values) / level)


def one_of_each(runs: list[Run]) -> list[Run]:
    """Return the first seed that finished of each model at each training resolution, in the order given."""
    found: dict[tuple, Run] = {}
    for run in runs:
        if not run.diverged:
            found.setdefault((run.model, run.resolution), run)
    return list(found.values())
