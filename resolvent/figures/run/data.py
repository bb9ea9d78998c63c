"""Data of runs for pages, as script files: a page opened from disk cannot fetch files.

`run.js`, next to the page of a run, has its samples; `runs.js`, next to the page that compares two runs, has
the errors of all test samples of all runs. After errors are computed, numbers are rounded to four digits, or
to more for functions and axes far from zero.
"""

import json
from itertools import combinations
from pathlib import Path

from resolvent.common.files import write_text
from resolvent.figures.common.charts import CURVE_POINTS, SIDE_POINTS, picked, resolved, rounded, thinned
from resolvent.figures.common.intervals import paired_ratio
from resolvent.figures.common.results import Run, errors_by_sample, spread_of

PAIRS_OF = 40  # with more runs in an experiment, the page compares pairs itself


def write_run_data(run: Run, output: str | Path, quantities: tuple[str, str]) -> None:
    """Write run.js; `quantities` are the names of the input and the target."""
    stored, spread = run.predictions_at(), None if run.diverged else spread_of(run)
    dimension = 2 if "y" in stored.coords else 1
    axis = "time" if "time" in stored.coords else "x"
    most = CURVE_POINTS if dimension == 1 else SIDE_POINTS
    coordinates = {}
    for name in (axis, "y")[:dimension]:
        along = stored[name].values
        target = stored[f"{name}_target"].values if f"{name}_target" in stored.coords else along
        for key, points in ((name, along), (f"{name}_target", target)):
            coordinates[key.replace("time", "x")] = resolved(points[picked(len(points), most)])
    data = {
        **_named(run),
        "quantities": list(quantities),
        "dimension": dimension,
        "axis": axis,
        **coordinates,
        "samples": [] if run.diverged else _samples(run, dimension),
        "spread": spread and rounded(thinned(spread.values, spread.dimension)),
    }
    _write(output, "run", data)


def _named(run: Run) -> dict:
    return {"label": run.label, "where": run.where, "seed": run.seed}


def _samples(run: Run, dimension: int) -> list[dict]:
    stored, relative = run.predictions_at(), run.shown_errors()
    kept = [(which, stored.sel(extreme=which), "extreme_") for which in ("best", "median", "worst")]
    kept += [("common", stored.isel(sample=place), "") for place in range(stored.sizes["sample"])]
    samples = []
    for which, stored_sample, prefix in kept:
        number, target = int(stored_sample[f"{prefix}sample"]), stored_sample[f"{prefix}target"].values
        drawn = {
            "input": stored_sample[f"{prefix}input"].values,
            "target": target,
            "error": stored_sample[f"{prefix}prediction"].values - target,
        }
        # By channel: the functions may be of different sizes.
        drawn = {name: [*map(resolved, thinned(values, dimension))] for name, values in drawn.items()}
        error = rounded(relative[number])
        samples.append({"which": which, "sample": number, "relative_l2": error, **drawn})
    return samples


def write_runs_data(runs: list[Run], output: str | Path) -> None:
    """Write runs.js: errors by test sample, on the home grid with the noise of training, and comparisons.

    A pair has the indices of two runs on the same samples, and the `paired_ratio` of their errors.
    """
    tables = [errors_by_sample(run) for run in runs]
    finished = [number for number, table in enumerate(tables) if len(table)]
    few, pairs = len(finished) <= PAIRS_OF, []
    for first, other in combinations(finished, 2) if few else ():
        if list(tables[first].index) == list(tables[other].index):
            ratio = paired_ratio(tables[first].to_numpy(), tables[other].to_numpy())
            pairs.append([first, other, *rounded([ratio.value, ratio.low, ratio.high])])
    data = {
        "runs": [
            {
                **_named(run),
                "folder": run.directory.relative_to(Path(output).parent).as_posix(),
                "diverged": run.cost.diverged_epoch if run.diverged else None,
                "errors": dict(zip(map(str, table.index), rounded(table.to_list()), strict=True)),
            }
            for run, table in zip(runs, tables, strict=True)
        ],
        "pairs": pairs if few else None,
    }
    _write(output, "runs", data)


def _write(output: str | Path, name: str, data: dict) -> None:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write_text(Path(output), f'resolventData("{name}", {text});\n')
