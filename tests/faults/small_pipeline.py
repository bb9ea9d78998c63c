"""A pipeline small enough to be broken again and again: two shards, one model, one report.

What it makes must be the same, byte for byte, whatever has happened on the way. Two undisturbed builds differ
in what is measured by the clock, and in nothing else:

    cost.json                 seconds of training and of baselines, and the memory of the process
    tensorboard/              events carry the time of day, and the process in their name
    figures/cost_scatter.*    errors over seconds of training
    *.sha256                  of the tables with such numbers

These are left out. Of models.csv, table.csv, leaderboard.csv and the pages such numbers are, and that figure,
and the command line that study.json and a page quote; all else of them is compared.
"""

import base64
import contextlib
import csv
import io
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pipeline_project import Project

from resolvent.common.files import read_json

NAME = "faults"
SMALL = {
    "name": NAME,
    "build": {"experiments": ["burgers"], "datasets": []},
    "datasets": {
        "burgers": {
            "resolutions": [64],
            "samples": {"train": 112, "validation": 8, "test": 8},
            "samples_per_shard": 64,  # two batches
            "num_steps": 400,
        }
    },
    "experiments": {
        "burgers": {
            "models": ["fno"],
            "shown": "fno",
            "shows": {"cao2021": []},
            "samples": {"train": 48},
            "training": {"epochs": 6},
        }
    },
}
EXPERIMENT = f"results/{NAME}/burgers"
RUN = f"{EXPERIMENT}/fno/n64/seed1127802"
STAGES = {
    "generation": ("solve_dataset", "finalise_dataset"),
    "training": ("train",),
    "evaluation": ("evaluate",),
    "report": ("compare", "report", "preview_dataset", "dataset_page"),
}

STAGE_OF = {job[:15]: stage for stage, jobs in STAGES.items() for job in jobs}  # as the system names them

LEFT_OUT = re.compile(
    r"/tensorboard/|/cost\.json$|/(cost_scatter|inference)\.(svg|png|pdf)$|/inference\.csv(\.sha256)?$|"
    r"/(models\.csv|table\.html)\.sha256$"  # digests of files with timings
)
CLOCK_COLUMNS = {
    "models.csv": ["train_seconds", "seconds_per_step", "seconds_to_error"],
    "table.csv": ["n = 64: training", "n = 64: training (validation error reached)"],
    "leaderboard.csv": ["train_seconds", "break_even_queries", "break_even_solver"],
}
CLOCK = re.compile(
    r'data-(value|sort)="[0-9.e-]+">[0-9.]+ (s|min|h)(?=<)|'  # a cell of the table
    r'<span class="interval">[0-9.e-]+ in [0-9.]+ [a-zµ]+[^<]*</span>|'
    r"Training took [0-9.]+ (s|min|h) in total|"
    r"<p>[0-9.]+ (s|min|h) on |"
    r'<span class="muted">[0-9.]+ (s|min|h), config|'
    r"<h3[^>]*>Cost of a query.*?</table>|"
    r'<script type="application/json">[^<]*"training time"[^<]*</script>|'  # the interactive cost_scatter
    r"cost\.json</a> \([0-9]+ bytes\)|"
    r"<pre>__main__\.py [^<]*</pre>|<(code|pre)[^>]*>snakemake [^<]*<|"
    r"<dt>(train seconds|seconds per step|peak memory bytes)</dt>\s*<dd>[^<]*<",
    re.DOTALL,
)


class SmallPipeline(Project):
    """A project that makes the small pipeline; `build()` is the plain command.

    `made` are the artefacts of an undisturbed build, `work` what each stage has taken in it: seconds of all
    cores, which do not depend on what else the machine does. The files of the dataset start with `data`.
    """

    config = SMALL
    made: dict[str, bytes]
    work: dict[str, float]
    data: str

    def build_undisturbed(self) -> None:
        process, meter = self.start_build(), Meter()
        while process.poll() is None:
            meter.read(process)
            time.sleep(0.2)
        self.work = meter.work
        assert process.returncode == 0, process.stdout.read()[-3000:]
        self.made = self.artefacts()
        (preview,) = (name for name in self.made if name.endswith(".preview.npz"))
        self.data = preview.removesuffix(".preview.npz")

    def start_build(self, *targets: str) -> subprocess.Popen:
        return self.start(*targets, "--cores", "2", "--resources", "gpu=0")

    def forget(self, *folders: str) -> None:
        for folder in folders:
            shutil.rmtree(self.folder / folder)

    @property
    def preview(self) -> str:
        return f"{self.data}.preview.npz"

    @property
    def whole_data(self) -> tuple[str, str]:
        return self.preview, f"{self.data}.motion.npz"

    def assert_undisturbed(self) -> None:
        self.build()
        found = self.artefacts()
        names = sorted(found.keys() | self.made.keys())
        different = [name for name in names if found.get(name) != self.made.get(name)]
        assert not different, different

    def artefacts(self) -> dict[str, bytes]:
        made = {
            f"{folder}/{name}": content
            for folder in ("data", f"results/{NAME}")
            for name, content in self.contents(folder).items()
        }
        return {name: self._timeless(name, made[name]) for name in made if not LEFT_OUT.search(name)}

    def _timeless(self, name: str, content: bytes) -> bytes:
        file = Path(name).name
        if file in CLOCK_COLUMNS:
            rows = list(csv.DictReader(io.StringIO(content.decode())))
            return repr(
                [{k: v for k, v in row.items() if k not in CLOCK_COLUMNS[file]} for row in rows]
            ).encode()
        if file == "study.json":
            return repr(read_json(self.folder / name, "the plan") | {"command": ""}).encode()
        if file.endswith((".html", "run.js")):
            picture = (self.folder / EXPERIMENT / "figures/cost_scatter.svg").read_bytes()
            text = content.decode().replace(base64.b64encode(picture).decode(), "")
            return CLOCK.sub("", text).encode()
        return content


class Meter:
    def __init__(self):
        self._of_jobs: dict[tuple[str, int], float] = {}

    def read(self, process: subprocess.Popen) -> set[str]:
        running = set()
        for job in Project.jobs(process, *STAGE_OF):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                stage = STAGE_OF[job.name()[:15]]
                self._of_jobs[stage, job.pid] = sum(job.cpu_times()[:2])
                running.add(stage)
        return running

    @property
    def work(self) -> dict[str, float]:
        work = dict.fromkeys(STAGES, 0.0)
        for (stage, _), seconds in self._of_jobs.items():
            work[stage] += seconds
        return work


def wait(process: subprocess.Popen, until: Callable[[], bool]) -> None:
    while not until():
        if process.poll() is not None:
            pytest.fail(f"it ended before: {process.stdout.read()[-3000:]}")
        time.sleep(0.05)
