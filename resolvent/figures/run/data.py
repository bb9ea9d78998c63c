"""What the pages draw of single runs, as script files beside them: a page opened from disk cannot fetch.

`run.js`, beside the page of a run, has its samples: those of best, median and worst error, and those that are
the same for every model. `runs.js`, beside the comparison of two runs, has the error of every test sample of
every run. Either calls a function of the page with a JSON object. Numbers have four digits, and an error is
computed before it is rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resolvent.common.files import write_text
from resolvent.figures.common.intervals import paired_ratio
from resolvent.figures.common.results import Run, error_matrix, spread_of
from resolvent.figures.common.thinned import THINNED, rounded, thinned

if TYPE_CHECKING:
    import xarray

ORDER = ("best", "median", "worst")
PAIRS_OF = 40  # runs of an experiment of which every pair is compared here; of more the page does it


def write_run_data(run: Run, output: str | Path, quantities: tuple[str, str]) -> None:
    """Write run.js; `quantities` are what the input and the target are called."""
    samples = [] if run.diverged else samples_of(run)
    spread = None if run.diverged else spread_of(run)
    data = {
        "label": run.label,
        "where": run.where,
        "seed": run.seed,
        "quantities": list(quantities),
        "thinned": THINNED,
        **_axes(run),
        "samples": samples,
        "spread": spread and rounded(thinned(spread.values, spread.dimension)),
    }
    _write(output, "run", data)


def write_runs_data(runs: list[Run], output: str | Path) -> None:
    """Write runs.js: the errors of the runs by test sample, as they were trained, and compared in pairs."""
    tables = [errors_by_sample(run) for run in runs]
    finished = [number for number, table in enumerate(tables) if len(table)]
    data = {
        "runs": [
            {
                "label": run.label,
                "where": run.where,
                "noise": run.noise,
                "seed": run.seed,
                "folder": run.directory.relative_to(Path(output).parent).as_posix(),
                "diverged": run.cost.diverged_epoch if run.diverged else None,
                "errors": {
                    str(sample): error
                    for sample, error in zip(table.index, rounded(table.to_numpy()), strict=True)
                },
            }
            for run, table in zip(runs, tables, strict=True)
        ],
        "pairs": pairs_of({number: tables[number] for number in finished})
        if len(finished) <= PAIRS_OF
        else None,
    }
    _write(output, "runs", data)


def errors_by_sample(run: Run):
    """Return the relative L2 error of each test sample as the run was trained; empty where it diverged.

    Realisations of the noise on a sample are averaged, as in comparison.csv.
    """
    errors = error_matrix([run.errors], run.resolution, run.noise)
    return errors.iloc[0] if len(errors) else errors.mean()


def pairs_of(tables: dict) -> list[list]:
    """Return, for each two runs on the same samples, their numbers and the paired ratio with its interval.

    The ratio is that of `resolvent.figures.common.intervals.paired_ratio`: the errors of the first over those
    of the second, the geometric mean over samples.
    """
    pairs = []
    numbers = list(tables)
    for place, one in enumerate(numbers):
        for other in numbers[place + 1 :]:
            if list(tables[one].index) == list(tables[other].index):
                ratio = paired_ratio(tables[one].to_numpy(), tables[other].to_numpy())
                pairs.append([one, other, *rounded([ratio.value, ratio.low, ratio.high])])
    return pairs


def samples_of(run: Run) -> list[dict]:
    """Return the samples kept of a run at its training resolution and noise, for the page to draw."""
    stored = run.predictions_at()
    dimension = _dimension(stored)
    relative = run.shown_errors()
    found = [
        (which, stored.sel(extreme=which), "extreme_") for which in ORDER if which in stored["extreme"].values
    ]
    found += [("common", stored.isel(sample=place), "") for place in range(stored.sizes["sample"])]
    samples = []
    for which, one, prefix in found:
        number = int(one["extreme_sample"] if prefix else one["sample"])
        given, target, prediction = (
            one[f"{prefix}{name}"].values for name in ("input", "target", "prediction")
        )
        samples.append(
            {
                "which": which,
                "sample": number,
                "relative_l2": rounded(float(relative[number])),
                "input": rounded(thinned(given, dimension)),
                "target": rounded(thinned(target, dimension)),
                "error": rounded(thinned(prediction - target, dimension)),
            }
        )
    return samples


def _axes(run: Run) -> dict:
    """Return the kind of the functions, and the coordinates along a side of inputs and of targets."""
    stored = run.predictions_at()
    dimension = _dimension(stored)
    name = "time" if "time" in stored.coords else "x"
    along = stored[name].values
    target = stored[f"{name}_target"].values if f"{name}_target" in stored.coords else along
    return {
        "dimension": dimension,
        "axis": name,
        "x": rounded(thinned(along, 1) if dimension == 1 else _side(along)),
        "x_target": rounded(thinned(target, 1) if dimension == 1 else _side(target)),
    }


def _side(along: np.ndarray) -> np.ndarray:
    """Return the coordinates of the points of a field that are drawn along one of its sides."""
    return thinned(np.broadcast_to(along, (2, len(along))), 2)[0]


def _dimension(stored: xarray.Dataset) -> int:
    return 2 if "y" in stored.coords else 1


def _write(output: str | Path, name: str, data: dict) -> None:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write_text(Path(output), f'resolventData("{name}", {text});\n')
