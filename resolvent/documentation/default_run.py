"""What the default configuration gives: docs/default-run/<experiment>.md for each experiment run."""

from __future__ import annotations

import base64
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from subprocess import DEVNULL

from resolvent.common.counts import counted
from resolvent.common.runs import read_run
from resolvent.documentation.pages import paragraph, table
from resolvent.figures.common.comparison import Tested, by_condition, read_comparison
from resolvent.figures.common.numbers import DASH, duration, scientific
from resolvent.figures.common.results import Run, on_training_grid
from resolvent.figures.front.leaderboard import best_in_words, ratio_in_words
from resolvent.figures.front.page import by_error
from resolvent.figures.front.results import CLASSICAL, Results, Row, read_results
from resolvent.figures.front.study import STUDY_FILE, read_study
from resolvent.figures.front.terminal import with_interval
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import Plan

COMMAND = "snakemake --cores 2 --resources gpu=0"
PAGES = "docs/default-run"
SOLVERS = (CLASSICAL, "interpolation_oracle")  # baselines that solve the equation
MODELS = (
    "model",
    "n",
    "relative L² error",
    "in training",
    "over the best other",
    "verdict",
    "runs",
    "training",
)
KINDS = {  # of jobs, by their rules; others are tables, figures and pages
    "train": "training",
    "train_short": "training",
    "evaluate": "evaluation",
    "rollout": "evaluation",
    "baselines": "baselines",
    "inference": "timing of single functions",
}
TAKEN = ("jobs", "number", "predicted", "taken")
OVERVIEW = ("experiment", "trainings", "ended", "predicted", "taken")


def write_default_run(root: Path) -> list[str]:
    """Write the page of every experiment that was compared, and return their names.

    Other pages stay as they are, so that experiments can be run in one clone after another.
    """
    plan = Plan(load_configuration(read_configuration([])))
    folder = root / plan.results
    if not (folder / STUDY_FILE).exists():
        return []
    results = read_results(read_study(folder), folder)
    planned = predicted_jobs(root, results.study.name)
    written = []
    for name in results.study.experiments:
        comparison = folder / name / "comparison.csv"
        if not comparison.exists():
            continue
        own = [job for job in planned if Path(job["output"]).is_relative_to(plan.results / name)]
        trained = {str(row.planned.resolution) for row in results.of(name)}
        baselines = [
            one
            for one in by_condition(on_training_grid(read_comparison(comparison)))
            if one.facts["kind"] == "baseline" and str(one.facts["trained_resolution"]) in trained
        ]
        text = page(results, name, baselines, training_errors(results, name), times(own, root))
        (root / PAGES / f"{name}.md").write_text(text, encoding="utf-8")
        written.append(name)
    return written


def overview(root: Path) -> str:
    """Return a table of the experiments that have a page, by what it says, and the sum of their hours."""
    rows, sums = [], [0, 0.0, 0.0]
    for file in sorted((root / PAGES).glob("*.md")):
        head, *lines = file.read_text(encoding="utf-8").splitlines()
        title, text = head.removeprefix("# "), " ".join(" ".join(lines).split())
        trainings, ended = re.search(r"\. (\d+) trainings?: (.+?), [0-9.]+ \w+ in all", text).groups()
        hours = re.search(r"\| all \| \d+ \| ([0-9.]+) h \| ([0-9.]+) h \|", text).groups()
        link = f"[{title}]({Path(PAGES).name}/{file.name})"
        rows.append((link, trainings, ended, *(f"{one} h" for one in hours)))
        sums = [total + one for total, one in zip(sums, (int(trainings), *map(float, hours)), strict=True)]
    rows.append(("all of them", str(sums[0]), "", *(f"{one:.1f} h" for one in sums[1:])))
    return table(OVERVIEW, rows)


def page(
    results: Results,
    name: str,
    baselines: list[Tested],
    fitted: dict[tuple[str, str], float],
    taken: list[tuple[str, ...]],
) -> str:
    """Return the page of an experiment in Markdown.

    `fitted` are the errors in training by model and resolution, `taken` the rows of the times.
    """
    experiment, made = results.study.experiments[name], results.study.provenance
    rows = [row for row in by_error(results) if row.experiment == name]
    runs = [run for row in rows for run in row.runs]
    states = Counter(run.state for run in runs)
    ended = ", ".join(f"{count} {state}" for state, count in states.most_common())
    devices = ", ".join(sorted({run.device for run in runs if run.device}))
    seconds = duration(sum(run.seconds for run in runs))
    about = (
        f"Written by `make docs` from the results of `{COMMAND}`; do not edit. Revision "
        f"{made.get('git revision', 'unknown')}, {made.get('machine', 'unknown machine')}. "
        f"{counted(len(runs), 'training')}: {ended}, {seconds} in all, one thread each, on {devices}. "
        "[What the columns mean](../default-run.md)."
    )
    finest = [row for row in rows if row.planned.resolution == experiment.finest]
    best = best_in_words(finest)
    words = [f"{best[:1].upper()}{best[1:]}."]
    if beaten := beaten_by_a_baseline(finest, baselines, experiment.finest):
        words.append(beaten)
    lines = sorted(
        [*(_model(row, fitted) for row in rows), *(_baseline(one) for one in baselines if one.error().known)],
        key=lambda line: line[0],
    )
    parts = [
        f"# {experiment.title}",
        paragraph(about),
        paragraph(" ".join(words)),
        table(MODELS, [line[1:] for line in lines]),
    ]
    if taken:
        parts += ["## What it took", TIMES, table(TAKEN, taken)]
    return "\n\n".join(parts) + "\n"


TIMES = """\
Hours of processor cores that `snakemake plan` predicted, and that the same jobs took by the clock, other work
beside them."""


def beaten_by_a_baseline(rows: list[Row], baselines: list[Tested], resolution: int | str) -> str:
    """Say how many models do no better than the best baseline that is none of the `SOLVERS`."""
    simple = [
        one
        for one in baselines
        if one.facts["key"] not in SOLVERS
        and str(one.facts["trained_resolution"]) == str(resolution)
        and one.error().known
    ]
    best = min(simple, key=lambda one: one.error().value, default=None)
    models = [row for row in rows if row.error]
    if best is None:
        return ""
    worse = [row for row in models if row.error.value >= best.error().value]
    label = f"the best baseline that solves no equation ({best.facts['label']})"
    if not worse:
        return f"The mean error of every model is below that of {label}."
    return f"Of {counted(len(models), 'model')}, {len(worse)} do no better than {label}."


def predicted_jobs(root: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of the table that `snakemake plan` writes, of a study without a GPU."""
    words = ["plan", "--cores", "2", "--resources", "gpu=0", "--quiet", "all"]
    subprocess.run([sys.executable, "-m", "snakemake", *words], cwd=root, check=True, stdout=DEVNULL)
    with open(root / f"logs/plan/{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def times(planned: Iterable[Mapping[str, str]], root: Path) -> list[tuple[str, ...]]:
    """Return a row for each kind of job, and one for all, of those that ran under `root`.

    `planned` are rows of `predicted_jobs`; what the jobs took is what Snakemake noted of them.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for job in planned:
        if (seconds := _seconds(root, job["output"])) is not None:
            kind = KINDS.get(job["rule"], "tables, figures and pages")
            found[kind].append((float(job["seconds"]), seconds))
    rows = [(kind, *_sums(pairs)) for kind, pairs in found.items()]
    return rows and [*rows, ("all", *_sums([pair for pairs in found.values() for pair in pairs]))]


def _sums(pairs: list[tuple[float, float]]) -> tuple[str, str, str]:
    predicted, taken = (sum(column) / 3600 for column in zip(*pairs, strict=True))
    return str(len(pairs)), f"{predicted:.2f} h", f"{taken:.2f} h"


def _seconds(root: Path, output: str) -> float | None:
    """Return the time between the start and the end of the job that made a file, if it is known."""
    noted = root / ".snakemake/metadata" / base64.b64encode(output.encode()).decode()
    if not noted.is_file():
        return None
    job = json.loads(noted.read_text())
    return job["endtime"] - job["starttime"]


def training_errors(results: Results, name: str) -> dict[tuple[str, str], float]:
    """Return the relative L2 error on the training samples at the best epoch, the mean over seeds."""
    found = {}
    for row in results.of(name):
        ended = [read_run(results.folder / run.folder, Run) for run in row.runs if run.state == "finished"]
        if ended:
            errors = [run.by_epoch("train_relative_l2").loc[run.cost.best_epoch] for run in ended]
            found[row.planned.model, str(row.planned.resolution)] = sum(errors) / len(errors)
    return found


def _model(row: Row, fitted: dict[tuple[str, str], float]) -> tuple:
    """Return the cells of a model's row, after the number by which rows are sorted."""
    resolution = str(row.planned.resolution)
    in_training = fitted.get((row.planned.model, resolution))
    finished = sum(run.state == "finished" for run in row.runs)
    return (
        row.error.value if row.error else float("inf"),
        row.planned.label,
        resolution,
        with_interval(row.error) if row.error else DASH,
        DASH if in_training is None else scientific(in_training),
        ratio_in_words(row)[0] or DASH,
        row.verdict,
        f"{finished} of {len(row.runs)}",
        duration(row.seconds),
    )


def _baseline(one: Tested) -> tuple:
    facts = one.facts
    label, resolution = f"*{facts['label']}*", str(facts["trained_resolution"])
    return (one.error().value, label, resolution, with_interval(one.error()), *[DASH] * 5)
