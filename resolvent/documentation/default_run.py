"""What the default configuration shows: docs/default-run.md, from the results of a whole run of it."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from resolvent.common.counts import counted
from resolvent.figures.common.comparison import Error
from resolvent.figures.common.numbers import DASH, duration, scientific
from resolvent.figures.front.leaderboard import best_in_words, ratio_in_words
from resolvent.figures.front.page import by_error, facts
from resolvent.figures.front.results import Results, Row, read_results
from resolvent.figures.front.study import STUDY_FILE, read_study
from resolvent.figures.front.terminal import with_interval
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.reported_vs_ours.markdown import table_lines
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.paper_plan import PaperPlan
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.forecast import Job, jobs
from resolvent.planning.prediction.needs import Needs

COMMAND = "snakemake --cores 2 --resources gpu=0"
MODELS = ("model", "n", "relative L² error", "over the best other", "verdict", "runs", "training")
KINDS = {  # of jobs, by their rules; others are pages, tables and figures
    "train": "training",
    "train_short": "training",
    "evaluate": "evaluation",
    "rollout": "evaluation",
    "baselines": "baselines",
    "inference": "timing of single functions",
}
TAKEN = ("jobs", "number", "predicted", "taken")


def write_default_run(root: Path) -> bool:
    """Write docs/default-run.md. Returns False, and writes nothing, where no experiment was compared yet."""
    plan = Plan(load_configuration(read_configuration([])))
    folder = root / plan.results
    if not (folder / STUDY_FILE).exists():
        return False
    results = read_results(read_study(folder), folder)
    if not any(row.error for row in results.rows):
        return False
    papers = [PaperPlan(plan, key) for key in PAPERS]
    planned = jobs(plan, papers, Needs(plan, gpu=False))
    text = page(results, times(planned, root))
    (root / "docs/default-run.md").write_text(text, encoding="utf-8")
    return True


def page(results: Results, taken: list[tuple[str, ...]]) -> str:
    """Return the page in Markdown; `taken` are the rows of predicted and taken times."""
    of_all, count = facts(results), counted(len(results.study.experiments), "experiment")
    states = f"{of_all['finished']} finished, {of_all['diverged']} diverged"
    if of_all["missing"]:
        states += f", {of_all['missing']} were not run"
    about = [
        f"Written by `make docs` from the results of `{COMMAND}`, the configuration as it ships; do not "
        "edit. The sizes are a laptop's: few samples, few epochs, small networks. So this page says which "
        "model is ahead after a short training, not what comes out at the papers' sizes, for which see "
        "[reported and ours](reported-vs-ours.md).",
        f"Of {counted(len(results.runs), 'training')} in {count} {states}. They were trained for "
        f"{duration(of_all['seconds'])} in all, one thread each, on {', '.join(of_all['devices'])}, beside "
        "other work.",
        "Errors are means over the test samples and the seeds, with 95 % intervals ([what they "
        "mean](statistics.md)), on the grid that a model was trained on. What is over the best other model "
        "is the geometric mean of the ratios, sample by sample. Models are ranked where there are three "
        "seeds or more of each.",
    ]
    parts = ["# The default configuration", *(_wrapped(words) for words in about)]
    if taken:
        parts += ["## What it takes", TIMES, "\n".join(table_lines(TAKEN, taken))]
    for name, planned in results.study.experiments.items():
        rows = [row for row in by_error(results) if row.experiment == name]
        if any(row.error for row in rows):
            finest = [row for row in rows if row.planned.resolution == planned.finest]
            body = [_model(row) for row in rows] + list(_solvers(rows))
            parts += [
                f"## {planned.title}",
                f"{_capital(best_in_words(finest))}.",
                "\n".join(table_lines(MODELS, body)),
            ]
    return "\n\n".join(parts) + "\n"


TIMES = """\
Hours of processor cores that were predicted before the run (`snakemake plan`), and that the same jobs took by
the clock."""


def times(planned: Iterator[Job], root: Path) -> list[tuple[str, ...]]:
    """Return a row for each kind of job, and one for all, of those that ran under `root`.

    What they took is what Snakemake noted of them.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for job in planned:
        if (seconds := _seconds(root, job.output)) is not None:
            found[KINDS.get(job.rule, "data, tables, figures and pages")].append((job.need.seconds, seconds))
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


def _model(row: Row) -> tuple[str, ...]:
    finished = sum(run.state == "finished" for run in row.runs)
    return (
        row.planned.label,
        str(row.planned.resolution),
        with_interval(row.error) if row.error else DASH,
        ratio_in_words(row)[0] or DASH,
        row.verdict,
        f"{finished} of {len(row.runs)}",
        duration(row.seconds),
    )


def _solvers(rows: list[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a row for the classical solver on each grid on which there is one."""
    for resolution, error in {row.planned.resolution: row.classical for row in rows}.items():
        if isinstance(error, Error):
            yield ("*classical solver*", str(resolution), scientific(error.value), *[DASH] * 4)


def _wrapped(words: str) -> str:
    return fill(words, 118, break_long_words=False, break_on_hyphens=False)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
