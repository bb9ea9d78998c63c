"""What Snakemake adds to the work itself: planning, and the start and end of every job.

    python -m benchmarks.jobs [--only planning overhead] [--rounds 3] [--output docs/performance.md]

Takes about ten minutes on two cores, and wants a machine with nothing else to do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path

import yaml

from benchmarks.runner import Part, digits, interleaved, run, table

ROOT = Path(__file__).resolve().parents[1]
PAPER = "config/cao2021.yaml"
MORE_SEEDS = range(18)
MORE = {"name": "more", "experiments": {"burgers": {"seeds": list(MORE_SEEDS)}}}  # some 2,000 jobs
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
    """Dry runs of a paper's configuration, and of the same with more seeds."""
    overlays = {
        f"`{PAPER}`": [PAPER],
        f"`{PAPER}`, {len(MORE_SEEDS)} seeds of `burgers`": [PAPER, "more.yaml"],
    }
    words = ("-m", "snakemake", "-n", "--cores", "16", "--resources", "gpu=2", "--configfile")
    runs = [partial(python, project, *words, *files) for files in overlays.values()]
    jobs = [int(re.search(r"^total +(\d+)", run(), re.MULTILINE)[1]) for run in runs]
    times = interleaved(runs, given.rounds)
    rows = [
        (name, f"{n:,}", digits(t.middle / 1e3)) for name, n, t in zip(overlays, jobs, times, strict=True)
    ]
    said = "`snakemake -n`, from the start of its process to its end: median."
    return f"{said}\n\n{table(('configuration', 'jobs', 'seconds'), rows)}"


def overhead(project: Path, given: Namespace) -> str:
    """Evaluations at the size of a test through Snakemake, and the same calls in processes of their own."""
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
        ("as jobs of one Snakemake, without its planning", digits(through - planned)),
        ("each called in a process of its own: imports and work", digits(calls)),
        ("the same with Python's own settings of its garbage collector", digits(usual)),
        ("**added to a job**: the first less the second", digits(through - planned - calls)),
    ]
    said = f"{len(targets)} evaluations of a small FNO, one after the other; medians, of one."
    return f"{said}\n\n{table(('', 'seconds'), rows)}"


def python(project: Path, *words: str) -> str:
    """Return what Python says in the folder `project`; raise it where it fails."""
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
        for name in names.stdout.rstrip("\0").split("\0"):  # what git knows, as it is now
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name, follow_symlinks=False)
        for content in (MORE, SMALL):
            (project / f"{content['name']}.yaml").write_text(yaml.safe_dump(content))
        packages = ("snakemake", "torch")
        parts = {
            "planning": Part("Planning", partial(planning, project), packages),
            "overhead": Part("Overhead", partial(overhead, project), packages),
        }
        run("jobs", parts)
