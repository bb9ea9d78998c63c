"""A pipeline small enough to be broken again and again: two shards, one model, one report.

What it makes must be the same, byte for byte, whatever has happened on the way. Two undisturbed builds differ
in what is measured by the clock, and in nothing else:

    cost.json                 seconds of training and of yardsticks, and the memory of the process
    tensorboard/              events carry the time of day, and the process in their name
    figures/cost_scatter.*    errors over seconds of training

These are left out. Of comparison.csv, table.csv and the pages such numbers are, and that figure, and the
command line that a page quotes; all else of them is compared.
"""

import base64
import csv
import io
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pipeline_project import Project

NAME = "faults"
SMALL = {
    "name": NAME,
    "datasets": {
        "burgers": {
            "resolutions": [64],
            "samples": {"train": 112, "validation": 8, "test": 8},
            "samples_per_shard": 64,  # two batches
            "num_steps": 400,
        },
        "darcy_cao": None,
        "darcy_cao_inverse": None,
        "lorenz63_yz": None,
    },
    "experiments": {
        "burgers": {
            "models": ["fno"],
            "shown": "fno",
            "shows": {"cao2021": []},
            "samples": {"train": 48},
            "training": {"epochs": 6},
        },
        "darcy_inverse_noise1": None,
    },
}
EXPERIMENT = f"results/{NAME}/burgers"
RUN = f"{EXPERIMENT}/fno/n64/seed1127802"
STAGES = {
    "generation": ("solve_dataset.py", "seal_dataset.py"),
    "training": ("train.py",),
    "evaluation": ("evaluate.py",),
    "report": ("compare.py", "draw_figures.py", "report.py", "preview_dataset.py", "draw_dataset.py"),
}

LEFT_OUT = re.compile(r"/tensorboard/|/cost\.json$|/cost_scatter\.(svg|png)$")
CLOCK_COLUMNS = {"comparison.csv": ["train_seconds", "seconds_per_step"], "table.csv": ["n64_train_seconds"]}
CLOCK = re.compile(
    r'data-value="[0-9.e-]+">[0-9.]+ (s|min|h)<|'  # a cell of the table
    r"It took [0-9.]+ (s|min|h) in all|"
    r'<span class="muted">[0-9.]+ (s|min|h), config|'
    r"<pre>__main__\.py [^<]*</pre>|"
    r"<dt>(train seconds|seconds per step|peak memory bytes)</dt><dd>[^<]*<"
)


class SmallPipeline(Project):
    """A project that makes the small pipeline; `build()` is the plain command.

    `made` are the artefacts of an undisturbed build, `seconds` the time that each stage has taken in it. The
    files of the dataset start with `data`.
    """

    config = SMALL
    made: dict[str, bytes]
    seconds: dict[str, float]
    data: str

    def build_undisturbed(self) -> None:
        process, self.seconds, before = self.start_build(), dict.fromkeys(STAGES, 0.0), time.monotonic()
        while process.poll() is None:
            time.sleep(0.1)
            now = time.monotonic()
            for stage in self.running(process):
                self.seconds[stage] += now - before
            before = now
        assert process.returncode == 0, process.stdout.read()[-3000:]
        self.made = self.artefacts()
        (recipe,) = (name for name in self.made if name.endswith(".recipe.json"))
        self.data = recipe.removesuffix(".recipe.json")

    def start_build(self, *targets: str) -> subprocess.Popen:
        """`build`, not waited for."""
        return self.start(*targets, "--cores", "2", "--resources", "gpu=0")

    def forget(self, *folders: str) -> None:
        """Remove what was made in these folders."""
        for folder in folders:
            shutil.rmtree(self.folder / folder)

    def running(self, process: subprocess.Popen) -> list[str]:
        """The stages that have a running job."""
        return [stage for stage, scripts in STAGES.items() if self.jobs(process, *scripts)]

    @property
    def data_files(self) -> list[str]:
        """Targets that make all that is in the folder of data."""
        return [f"{self.data}.preview.npz", f"{self.data}.recipe.json"]

    def assert_undisturbed(self) -> None:
        """Everything that was made is there again, byte for byte, and nothing else."""
        found = self.artefacts()
        names = sorted(found.keys() | self.made.keys())
        assert [name for name in names if found.get(name) != self.made.get(name)] == []

    def artefacts(self) -> dict[str, bytes]:
        """Everything made, without what the clock decides."""
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
        if file.endswith(".html"):
            picture = (self.folder / EXPERIMENT / "figures/cost_scatter.svg").read_bytes()
            text = content.decode().replace(base64.b64encode(picture).decode(), "")
            return CLOCK.sub("", text).encode()
        return content


def wait(process: subprocess.Popen, until: Callable[[], bool]) -> None:
    """Wait until `until()`, while the process runs."""
    while not until():
        if process.poll() is not None:
            pytest.fail(f"it ended before: {process.stdout.read()[-3000:]}")
        time.sleep(0.05)
