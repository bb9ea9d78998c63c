"""Measure the overhead of Snakemake: planning, and the start and end of every job.

    python -m benchmarks.jobs [--only planning overhead] [--rounds 3] [--output docs/performance.md]

Takes about ten minutes on two cores of an idle machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import yaml

from benchmarks.runner import Part, digits, interleaved, run, table

ROOT = Path(__file__).resolve().parents[1]
PAPER = "config/cao2021.yaml"
MANY_SEEDS = 88
MANY = {"name": "many", "experiments": {"burgers": {"seeds": list(range(MANY_SEEDS))}}}  # some 10,000 jobs
BARE = """\
JOBS = {jobs}

rule all:
    input:
        expand("{{i}}.end", i=range(JOBS // 2)),

rule begin:
    output:
        "{{i}}.middle",
    shell:
        "touch {{output}}"

rule end:
    input:
        "{{i}}.middle",
    output:
        "{{i}}.end",
    shell:
        "touch {{output}}"
"""
SEEDS = range(8)
SMALL = {
    "name": "small",
    "build": {"experiments": ["burgers"]},
    "experiments": {"burgers": {"models": ["fno"], "seeds": list(SEEDS)}},
}
RUNS = [f"results/small/burgers/fno/n64/seed{seed}" for seed in SEEDS]
AS_JOBS = """\
import atexit, gc
gc.set_threshold(100_000)  # as resolvent.planning.job has it
atexit.register(gc.freeze)
"""
ALONE = """\
import json, sys
from pathlib import Path
from resolvent.evaluation.evaluate import evaluate_run
folder, card = Path(sys.argv[1]), Path(sys.argv[2])
run = json.loads((folder / "run.json").read_text())
del run["sha256"]  # of the files that the evaluation writes
evaluate_run(card, folder, run, threads=1, gpus=0)
"""


def planning(project: Path, given: Namespace) -> str:
    """Measure dry runs of a paper's configuration with few and many seeds, and of as many empty jobs."""
    overlays = {f"`{PAPER}`": [PAPER], f"`{PAPER}`, {MANY_SEEDS} seeds of `burgers`": [PAPER, "many.yaml"]}
    rows = []
    for name, files in overlays.items():
        jobs, *measured = dry_run(project, given.rounds, "--configfile", *files)
        rows.append((name, f"{jobs:,}", *measured))
    (project / "Bare").write_text(BARE.format(jobs=jobs))
    jobs, *measured = dry_run(project, given.rounds, "--snakefile", "Bare", "--workflow-profile", "none")
    rows.append(("as many jobs of two minimal rules: input, output and command", f"{jobs:,}", *measured))
    header = ("configuration", "jobs", "seconds", "processor seconds", "MB")
    said = (
        "Time and memory of `snakemake -n`, from start to end of the process: median times and peak memory."
    )
    return f"{said}\n\n{table(header, rows)}"


def dry_run(project: Path, rounds: int, *words: str) -> tuple[int, str, str, str]:
    """Return the number of jobs, and the cost of planning: seconds, processor seconds and MB."""
    command = [sys.executable, "-m", "snakemake", "-n", "--cores", "16", "--resources", "gpu=2", *words]
    seconds, busy, memory = [], [], []
    for _ in range(rounds):
        start = perf_counter()
        with subprocess.Popen(
            command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout
            said = process.stdout.read().decode()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise RuntimeError(said)
        seconds.append(perf_counter() - start)
        busy.append(used.ru_utime + used.ru_stime)
        memory.append(used.ru_maxrss / 1e3)
    jobs = int(re.search(r"^total +(\d+)", said, re.MULTILINE)[1])
    return jobs, digits(median(seconds)), digits(median(busy)), f"{max(memory):.0f}"


def overhead(project: Path, given: Namespace) -> str:
    """Measure small evaluations through Snakemake, and the same calls in separate processes."""
    targets = [f"{run}/errors.csv" for run in RUNS]
    files = ["--configfile", "config/test.yaml", "small.yaml"]
    words = ["-m", "snakemake", *targets, "--cores", "1", "--resources", "gpu=0", *files]
    python(project, *words)
    (card,) = (path for path in (project / "data/burgers").glob("*.json") if path.suffixes == [".json"])

    def jobs() -> None:
        for target in targets:
            (project / target).unlink()
        python(project, *words)

    def alone(begin: str) -> None:
        for of_run in RUNS:
            python(project, "-c", begin + ALONE, of_run, str(card.relative_to(project)))

    ways = [jobs, partial(alone, AS_JOBS), partial(alone, ""), partial(python, project, *words, "-n")]
    times = interleaved(ways, given.rounds)
    through, calls, usual, planned = (time.middle / 1e3 / len(targets) for time in times)
    rows = [
        ("as jobs in one call of Snakemake, without its planning", digits(through - planned)),
        ("each in its own process, without Snakemake: imports and evaluation", digits(calls)),
        ("the same with Python's default garbage collection", digits(usual)),
        ("**overhead per job**: the first row minus the second", digits(through - planned - calls)),
    ]
    said = f"{len(targets)} evaluations of a small FNO, one after the other: median seconds per evaluation."
    return f"{said}\n\n{table(('', 'seconds'), rows)}"


def python(project: Path, *words: str) -> str:
    """Return Python's output in the folder `project`. Raises `RuntimeError` with the output on failure."""
    done = subprocess.run([sys.executable, *words], cwd=project, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout + done.stderr


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        for name in names.stdout.rstrip("\0").split("\0"):  # tracked files in their present state
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name, follow_symlinks=False)
        for content in (MANY, SMALL):
            (project / f"{content['name']}.yaml").write_text(yaml.safe_dump(content))
        packages = ("snakemake", "torch")
        parts = {
            "planning": Part("Planning", partial(planning, project), packages),
            "overhead": Part("Overhead", partial(overhead, project), packages),
        }
        run("jobs", parts)
