"""What the default configuration gives: docs/default-run/<experiment>.md for each experiment run."""

import base64
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.documentation.pages import paragraph, planned, table
from resolvent.figures.common.comparison import Tested, by_condition, read_comparison
from resolvent.figures.common.numbers import DASH, duration, scientific
from resolvent.figures.common.results import on_training_grid, read_runs
from resolvent.figures.front.leaderboard import best_in_words, by_experiment, ratio_in_words, with_interval
from resolvent.figures.front.results import Results, read_results
from resolvent.figures.front.study import STUDY_FILE, read_study

COMMAND = "snakemake --cores 2 --resources gpu=0"
PAGES = "docs/default-run"
MODELS = (
    "model", "n", "relative L² error", "in training", "over the best other", "verdict", "runs", "training",
)  # fmt: skip
KINDS = {  # of jobs, by their rules; others are tables, figures and pages
    "train": "training",
    "train_short": "training",
    "evaluate": "evaluation",
    "rollout": "evaluation",
    "baselines": "baselines",
    "inference": "timing of single functions",
}
TIMES = """\
Hours of processor cores that `snakemake plan` predicted, and that the same jobs took by the clock, other work
beside them."""
TRAININGS = re.compile(r"\. (\d+) trainings?: (.+?), [0-9.]+ \w+ in all")
HOURS = re.compile(r"\| all \| \d+ \| ([0-9.]+) h \| ([0-9.]+) h \|")


def write_default_run(root: Path) -> None:
    """Write the page of every experiment that was compared, or print what makes one.

    Other pages stay as they are, so that experiments can be run in one clone after another.
    """
    plan = planned()
    folder = root / plan.results
    compared = {file.parent.name: file for file in folder.glob("*/comparison.csv")}
    if not ((folder / STUDY_FILE).exists() and compared):
        print(f"{PAGES}/ is left as it is: make its runs with `{COMMAND}`")
        return
    results = read_results(read_study(folder), folder)
    words = ["-m", "snakemake", "plan", "--cores", "2", "--resources", "gpu=0", "--quiet", "all"]
    subprocess.run(
        [sys.executable, "-m", "snakemake", *words], cwd=root, check=True, stdout=subprocess.DEVNULL
    )
    with open(root / f"logs/plan/{results.study.name}.csv", newline="", encoding="utf-8") as file:
        jobs = list(csv.DictReader(file))
    for name in results.study.experiments.keys() & compared.keys():
        own = [job for job in jobs if Path(job["output"]).is_relative_to(plan.results / name)]
        trained = {str(row.planned.resolution) for row in results.of(name)}
        baselines = [
            one
            for one in by_condition(on_training_grid(read_comparison(compared[name])))
            if one.facts["kind"] == "baseline" and str(one.facts["trained_resolution"]) in trained
        ]
        fitted = {}  # the error on the training samples at the best epoch, the mean over seeds
        for row in results.of(name):
            ended = [results.folder / run.folder for run in row.runs if run.state == "finished"]
            if ended:
                runs = read_runs(ended)
                errors = [run.by_epoch("train_relative_l2").loc[run.cost.best_epoch] for run in runs]
                fitted[row.planned.model, str(row.planned.resolution)] = sum(errors) / len(errors)
        text = page(results, name, baselines, fitted, times(own, root))
        (root / PAGES / f"{name}.md").write_text(text, encoding="utf-8")


def overview(root: Path) -> str:
    """Return a table of the experiments that have a page, by what it says, and the sum of their hours."""
    rows, sums = [], [0.0, 0.0, 0.0]
    for file in sorted((root / PAGES).glob("*.md")):
        title, _, text = file.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
        found, took = TRAININGS.search(" ".join(text.split())), HOURS.search(text)
        if not (found and took):
            raise ValueError(
                f"{file} does not say its trainings and hours: run `make docs` where its runs are"
            )
        trainings, ended = found.groups()
        link = f"[{title}]({Path(PAGES).name}/{file.name})"
        rows.append((link, trainings, ended, *(f"{one} h" for one in took.groups())))
        sums = [total + float(one) for total, one in zip(sums, (trainings, *took.groups()), strict=True)]
    rows.append(("all of them", f"{sums[0]:.0f}", "", *(f"{one:.1f} h" for one in sums[1:])))
    return table(("experiment", "trainings", "ended", "predicted", "taken"), rows)


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
    rows = [row for row in by_experiment(results) if row.experiment == name]
    runs = [run for row in rows for run in row.runs]
    ended = ", ".join(f"{count} {state}" for state, count in Counter(run.state for run in runs).most_common())
    devices = ", ".join(sorted({run.device for run in runs if run.device}))
    about = (
        f"Written by `make docs` from the results of `{COMMAND}`; do not edit. Revision "
        f"{made.get('git revision', 'unknown')}, {made.get('machine', 'unknown machine')}. "
        f"{counted(len(runs), 'training')}: {ended}, {duration(sum(run.seconds for run in runs))} in all, "
        f"one thread each, on {devices}. [What the columns mean](../default-run.md)."
    )
    best = best_in_words([row for row in rows if row.planned.resolution == experiment.finest])
    lines: list[tuple[float, tuple[str, ...]]] = []  # each after the number by which they are sorted
    for row in rows:
        in_training = fitted.get((row.planned.model, str(row.planned.resolution)))
        cells = (
            row.planned.label,
            str(row.planned.resolution),
            with_interval(row.error) if row.error else DASH,
            DASH if in_training is None else scientific(in_training),
            ratio_in_words(row)[0] or DASH,
            row.verdict,
            f"{sum(run.state == 'finished' for run in row.runs)} of {len(row.runs)}",
            duration(row.seconds),
        )
        lines.append((row.error.value if row.error else float("inf"), cells))
    for one in baselines:
        if (error := one.error()).known:
            label, resolution = f"*{one.facts['label']}*", str(one.facts["trained_resolution"])
            lines.append((error.value, (label, resolution, with_interval(error), *[DASH] * 5)))
    parts = [
        f"# {experiment.title}",
        paragraph(about),
        paragraph(f"{best[:1].upper()}{best[1:]}."),
        table(MODELS, [cells for _, cells in sorted(lines, key=lambda line: line[0])]),
    ]
    if taken:
        parts += ["## What it took", TIMES, table(("jobs", "number", "predicted", "taken"), taken)]
    return "\n\n".join(parts) + "\n"


def times(jobs: Iterable[Mapping[str, str]], root: Path) -> list[tuple[str, ...]]:
    """Return a row for each kind of job, and one for all, of those that ran under `root`.

    `jobs` are rows of the table that `snakemake plan` writes; what they took is what Snakemake noted of them.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for job in jobs:
        noted = root / ".snakemake/metadata" / base64.b64encode(job["output"].encode()).decode()
        if noted.is_file():
            of_job = json.loads(noted.read_text())
            kind = KINDS.get(job["rule"], "tables, figures and pages")
            found[kind].append((float(job["seconds"]), of_job["endtime"] - of_job["starttime"]))
    rows: list[tuple[str, ...]] = []
    every = [pair for pairs in found.values() for pair in pairs]
    for kind, pairs in [*found.items(), ("all", every)] if found else []:
        predicted, taken = (sum(column) / 3600 for column in zip(*pairs, strict=True))
        rows.append((kind, str(len(pairs)), f"{predicted:.2f} h", f"{taken:.2f} h"))
    return rows
