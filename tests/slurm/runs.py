"""Runs of Snakemake on the test cluster, the trainings that they start, and a small study to break."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cluster
import psutil
import yaml
from pipeline_project import Project
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

PROFILE = "workflow/profiles/slurm"
# Looks at jobs soon, and does not wait long for files; `sacct` is not asked, for it has no database here.
QUICK = ("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "5")
ON_CPUS = ("--resources", "gpu=0")  # all trainings at once; SLURM 22.05 loses GPUs when it is restarted
BY_SQUEUE = ("--slurm-status-command", "squeue")
CONFIGURED = ("--configfile", "config/test.yaml", "overlay.yaml")
NAME = "small"
SEEDS = (1, 2, 3)
SMALL = {
    "name": NAME,
    "build": {"experiments": ["burgers"], "datasets": []},
    "datasets": {
        "burgers": {
            "resolutions": [64],
            "samples": {"train": 56, "validation": 4, "test": 4},
            "samples_per_shard": 64,
            "num_steps": 400,
        }
    },
    "experiments": {
        "burgers": {
            "models": ["fno"],
            "seeds": list(SEEDS),
            "shows": {"cao2021": []},
            "samples": {"train": 48},
            "training": {"epochs": 24},
        }
    },
}  # fmt: skip


def run_folder(seed: int) -> str:
    return f"results/{NAME}/burgers/fno/n64/seed{seed}"


@dataclass(frozen=True)
class Training:
    process: psutil.Process
    job: str
    model: str
    seed: int
    devices: str


@dataclass
class Run:
    """Run Snakemake through the profile for SLURM in the folder of a project; keep the trainings seen."""

    folder: Path
    process: subprocess.Popen
    file: Path
    trainings: list[Training] = field(default_factory=list)

    @classmethod
    def start(cls, folder: Path, *words: str) -> Run:
        """Start `snakemake --workflow-profile ... WORDS`."""
        file = folder / f"output-{len(list(folder.glob('output-*')))}.txt"
        command = [sys.executable, "-m", "snakemake", "--workflow-profile", PROFILE, *words]
        with file.open("w") as output:
            process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        return cls(folder, process, file)

    @property
    def output(self) -> str:
        return self.file.read_text()

    def ended(self, seconds: float = 300) -> int:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end after {seconds} s: {self.output[-6000:]}") from None

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            print(self.output[-6000:])

    def find_trainings(self) -> list[Training]:
        known = {training.process.pid for training in self.trainings}
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid in known or process.name() != "train" or process.cwd() != str(self.folder):
                    continue
                environment = process.environ()
            except psutil.NoSuchProcess:
                continue
            job = environment["SLURM_JOB_ID"]
            model, seed = re.search(r"burgers_([a-z]+)_n64_(\d+)", job_of(job)["Comment"]).groups()
            devices = environment.get("CUDA_VISIBLE_DEVICES", "")
            found.append(Training(process, job, model, int(seed), devices))
        return found

    def suspended(self, *seeds: int) -> list[Training]:
        stopped: list[Training] = []

        def enough() -> bool:
            for training in self.find_trainings():
                folder = self.folder / run_folder(training.seed)
                if training.seed in seeds and saved_by(training.process, folder / "resume.pt"):
                    training.process.suspend()
                    assert not (folder / "checkpoint.pt").exists(), "the training was too short"
                    stopped.append(training)
                    self.trainings.append(training)
            return len(stopped) == len(seeds)

        cluster.wait_until(
            enough, 120, f"trainings of seeds {seeds} are not on their way: {self.output[-3000:]}"
        )
        return stopped


def saved_by(process: psutil.Process, file: Path) -> bool:
    return file.exists() and file.stat().st_mtime > process.create_time()


def edit_profile(path: Path) -> None:
    text = path.read_text()
    assert text.count("# slurm_partition:") == 2
    path.write_text(text.replace("# slurm_partition:", "slurm_partition:"))


def project_with(folder: Path, overlay: dict) -> Project:
    project = Project(folder)
    edit_profile(project.folder / PROFILE / "config.yaml")
    (project.folder / "overlay.yaml").write_text(yaml.safe_dump(overlay))
    return project


def job_of(number: str) -> dict[str, str]:
    return next(job for job in cluster.jobs() if job["JobId"] == number)


def submissions(what: str, folder: Path) -> list[dict[str, str]]:
    return [job for job in cluster.jobs() if what in job.get("Comment", "") and job["WorkDir"] == str(folder)]


def submissions_of(seed: int, folder: Path) -> list[dict[str, str]]:
    return submissions(f"rule_train_wildcards_burgers_fno_n64_{seed}#", folder)


def first_epochs(run: Path) -> list[int]:
    """Return the first epoch that each process of a training reported to TensorBoard, oldest first."""
    files = sorted((run / "tensorboard").iterdir(), key=lambda path: path.name.split(".")[3])
    steps = [[event.step for event in EventFileLoader(str(file)).Load() if event.step] for file in files]
    return [min(one, default=0) for one in steps]


class Study:
    """Keep the small study with its dataset, without trainings, and the weights that these end with."""

    def __init__(self, folder: Path):
        self._project = project_with(folder, SMALL)
        local = ("--cores", "1", "--resources", "gpu=0", *CONFIGURED)
        command = [sys.executable, "-m", "snakemake", *checkpoints_of(*SEEDS), *local]
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr[-3000:]
        self._weights = {path: (folder / path).read_bytes() for path in checkpoints_of(*SEEDS)}
        for name in ("results", "logs"):
            shutil.rmtree(folder / name)

    def copied_to(self, folder: Path) -> Path:
        return self._project.copied_to(folder).folder

    def assert_same(self, folder: Path, *seeds: int) -> None:
        """Check that the trainings of these seeds have ended with the same weights, to the last bit."""
        for path in checkpoints_of(*seeds):
            assert (folder / path).read_bytes() == self._weights[path], path


def checkpoints_of(*seeds: int) -> list[str]:
    return [f"{run_folder(seed)}/checkpoint.pt" for seed in seeds]
