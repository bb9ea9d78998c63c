"""Results of the default configuration: docs/measured/default_run.csv and the table of docs/default-run.md.

Only this table is committed, not the results. A run replaces the rows of its own experiments, so experiments
can be run in different clones.
"""

import base64
import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from page_parts import planned, table

from resolvent.common.files import write_text
from resolvent.evaluation.baselines import LABELS
from resolvent.figures.common.comparison import Tested, by_condition, read_comparison
from resolvent.figures.common.numbers import DASH, duration, ratio_in_words, scientific
from resolvent.figures.common.results import on_home_grid, read_runs
from resolvent.figures.front.leaderboard import by_experiment, with_interval
from resolvent.figures.front.results import CLASSICAL, Results, read_results
from resolvent.figures.front.study import STUDY_FILE, read_study

COMMAND = "snakemake --cores 2 --resources gpu=0"
TABLE = "docs/measured/default_run.csv"
COLUMNS = (
    "experiment", "title", "revision", "machine", "trainings", "ended", "predicted_hours", "taken_hours",
    "kind", "model", "n", "error", "error_in_training", "ratio_to_best_other", "verdict", "runs", "training",
)  # fmt: skip
HEAD = (
    "experiment", "best models and their errors", "verdict", "classical solver", "best without a solver",
    "training runs", "predicted time", "actual time",
)  # fmt: skip
HOURS = ("predicted_hours", "taken_hours")
LEADING = ("best", "tied for the best")
SHOWN = 3  # leading models named per experiment; others are only counted
SOLVERS = (LABELS[CLASSICAL], LABELS["interpolation_oracle"])


def write_default_run(root: Path) -> None:
    """Add compared experiments to the table, or print the command that runs the experiments."""
    plan = planned()
    folder = root / plan.results
    compared = {file.parent.name: file for file in folder.glob("*/comparison.csv")}
    if not ((folder / STUDY_FILE).exists() and compared):
        print(f"{TABLE} is unchanged: make its runs with `{COMMAND}`")
        return
    results = read_results(read_study(folder), folder)
    words = ["-m", "snakemake", "plan", "--cores", "2", "--resources", "gpu=0", "--quiet", "all"]
    subprocess.run([sys.executable, *words], cwd=root, check=True, stdout=subprocess.DEVNULL)
    jobs = read(root / f"logs/plan/{results.study.name}.csv")
    new: list[dict[str, str]] = []
    for name in sorted(results.study.experiments.keys() & compared.keys()):
        own = [job for job in jobs if Path(job["output"]).is_relative_to(plan.results / name)]
        trained = {str(row.planned.resolution) for row in results.of(name)}
        tested = by_condition(on_home_grid(read_comparison(compared[name])))
        baselines = [one for one in tested if one.facts["kind"] == "baseline"]
        baselines = [one for one in baselines if str(one.facts["trained_resolution"]) in trained]
        fitted = {}  # training error at the best epoch, averaged over seeds
        for row in results.of(name):
            if ended := [results.folder / run.folder for run in row.runs if run.state == "finished"]:
                runs = read_runs(ended)
                errors = [run.by_epoch("train_relative_l2").loc[run.cost.best_epoch] for run in runs]
                fitted[row.planned.model, str(row.planned.resolution)] = sum(errors) / len(errors)
        new += experiment_rows(results, name, baselines, fitted, hours(own, root))
    replaced = {one["experiment"] for one in new}
    kept = [one for one in read(root / TABLE) if one["experiment"] not in replaced]
    rows = sorted([*kept, *new], key=lambda one: one["experiment"])
    write_text(root / TABLE, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, lineterminator="\n"))


def read(table: Path) -> list[dict[str, str]]:
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def experiment_rows(
    results: Results,
    name: str,
    baselines: list[Tested],
    fitted: dict[tuple[str, str], float],
    taken: tuple[str, str],
) -> list[dict[str, str]]:
    """Return the rows of an experiment's models and baselines, lowest error first.

    `fitted` has the training errors by model and resolution, `taken` the predicted and the measured hours.
    """
    experiment, made = results.study.experiments[name], results.study.provenance
    planned_rows = [row for row in by_experiment(results) if row.experiment == name]
    runs = [run for row in planned_rows for run in row.runs]
    facts = {
        "experiment": name,
        "title": experiment.title,
        "revision": made.get("git revision", "unknown"),
        "machine": ", ".join(sorted({run.cost.device for run in runs if run.cost})),
        "trainings": str(len(runs)),
        "ended": ", ".join(f"{n} {state}" for state, n in Counter(one.state for one in runs).most_common()),
        "predicted_hours": taken[0],
        "taken_hours": taken[1],
    }
    found: list[tuple[float, dict[str, str]]] = []  # sort key and row
    for row in planned_rows:
        in_training = fitted.get((row.planned.model, str(row.planned.resolution)))
        cells = {
            "kind": "model",
            "model": row.planned.label,
            "n": str(row.planned.resolution),
            "error": with_interval(row.error) if row.error else "",
            "error_in_training": "" if in_training is None else scientific(in_training),
            "ratio_to_best_other": ratio_in_words(row.ratio)[0],
            "verdict": row.verdict,
            "runs": f"{sum(run.state == 'finished' for run in row.runs)} of {len(row.runs)}",
            "training": duration(row.seconds).replace(DASH, ""),
        }
        found.append((row.error.value if row.error else float("inf"), facts | cells))
    for one in baselines:
        if (error := one.error()).known:
            label, resolution = str(one.facts["label"]), str(one.facts["trained_resolution"])
            cells = {"kind": "baseline", "model": label, "n": resolution, "error": with_interval(error)}
            found.append((error.value, facts | cells))
    return [cells for _, cells in sorted(found, key=lambda one: one[0])]


def overview(root: Path) -> str:
    """Return one row per experiment: best models, baselines, number of trainings, and hours.

    An experiment links to the page of its equation: the part of its name before the underscore.
    """
    pages = sorted((root / "docs/equations").glob("*.md"))
    rows, hours_of_all, trainings = [], [0.0, 0.0], 0
    for name, of in pd.DataFrame(read(root / TABLE)).groupby("experiment"):
        first, models = of.iloc[0], of[(of["kind"] == "model") & (of["error"] != "")]
        best = models[models["verdict"].isin(LEADING)]
        leading = best if len(best) else models[:1]
        words = [f"{one.model} {one.error}" for one in leading[:SHOWN].itertuples()]
        words += [f"{len(leading) - SHOWN} more"] * (len(leading) > SHOWN)
        others = of[of["kind"] == "baseline"]
        solver = others[others["model"] == LABELS[CLASSICAL]]["error"]
        plain = others[~others["model"].isin(SOLVERS)][:1]
        page = next((one for one in pages if str(name).startswith(one.stem)), None)
        rows.append((
            f"[{first['title']}](equations/{page.name})" if page else str(first["title"]),
            "; ".join(words) or DASH,
            leading.iloc[0]["verdict"] if len(leading) else DASH,
            next(iter(solver), DASH),
            "; ".join(f"{one.model} {one.error}" for one in plain.itertuples()) or DASH,
            first["ended"],
            *(f"{first[column]} h" if first[column] else DASH for column in HOURS),
        ))  # fmt: skip
        trainings += int(first["trainings"])
        taken = (float(first[column] or 0) for column in HOURS)
        hours_of_all = [total + one for total, one in zip(hours_of_all, taken, strict=True)]
    rows.append(("total", *[""] * 4, str(trainings), *(f"{one:.1f} h" for one in hours_of_all)))
    return table(HEAD, rows)


def hours(jobs: Iterable[Mapping[str, str]], root: Path) -> tuple[str, str]:
    """Return the predicted and the measured hours of the jobs that ran under `root`.

    `jobs` are rows of the table written by `snakemake plan`; start and end of a job come from Snakemake's
    metadata. Both results are empty if no job ran.
    """
    found = []
    for job in jobs:
        noted = root / ".snakemake/metadata" / base64.b64encode(job["output"].encode()).decode()
        if noted.is_file():
            of_job = json.loads(noted.read_text())
            found.append((float(job["seconds"]), of_job["endtime"] - of_job["starttime"]))
    if not found:
        return "", ""
    predicted, taken = (f"{sum(column) / 3600:.2f}" for column in zip(*found, strict=True))
    return predicted, taken
