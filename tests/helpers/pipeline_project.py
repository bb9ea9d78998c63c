"""A copy of the project in a temporary folder, driven by the user's own commands."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import yaml
from dataset_fixtures import common_folder, make_dataset, small
from filelock import FileLock
from planning_forks import build, dry_run

ROOT = Path(__file__).resolve().parents[2]
OF_WORK = (".git", ".venv", ".snakemake", ".*_cache", "*.egg-info", "build", "results", "logs")
NOT_COPIED = shutil.ignore_patterns(*OF_WORK, "__pycache__")
# What is compiled goes along, as it is the same for the same sources; what is being written does not.
HALF_WRITTEN = ("*.pyc.*", "*.tmp.*", "*.partial")
NO_GPU = ("--cores", "2", "--resources", "gpu=0")


def job_counts(output: str) -> dict[str, int]:
    """Count the jobs of each rule that a dry run lists."""
    table = output.split("Job stats:")[1].split("total")[0]
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


class Project:
    """A fresh copy of the sources."""

    config: str | dict = "config/test.yaml"  # by default

    def __init__(self, folder: Path):
        self.folder = folder
        ignored = shutil.ignore_patterns(*OF_WORK, *HALF_WRITTEN)
        shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
        shutil.rmtree(folder / "data", ignore_errors=True)

    def copied_to(self, folder: Path) -> Project:
        """A second project that has reached the same."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = copy.copy(self)
        other.folder = folder
        return other

    def configured(self, config: str | dict | None) -> list[str]:
        """Return the words that name the configuration."""
        config = self.config if config is None else config
        overlays = ["config/test.yaml"]
        if isinstance(config, dict):
            name = f"overlay-{hashlib.sha256(repr(config).encode()).hexdigest()[:8]}.yaml"
            (self.folder / name).write_text(yaml.safe_dump(config))
            overlays.append(name)
        else:
            overlays = [config]
        return ["--configfile", *overlays]

    def start(self, *words: str, config: str | dict | None = None) -> subprocess.Popen:
        """Start `snakemake WORDS --configfile CONFIG` in the folder."""
        command = [sys.executable, "-m", "snakemake", *words, *self.configured(config)]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def build(self, *targets: str, config: str | dict | None = None, succeeds: bool = True) -> str:
        """Run the user's command on a machine without a GPU to its end; return what it printed."""
        lock = self.folder / ".snakemake/run.lock"
        of_another = lock.exists()
        process = self.start(*targets, *NO_GPU, config=config)
        output, _ = process.communicate()
        assert (process.returncode == 0) == succeeds, output[-3000:]
        assert of_another or not lock.exists()
        return output

    def forked_build(self, *targets: str, config: str | dict | None = None, succeeds: bool = True) -> str:
        """Do what `build` does, with jobs as forks of a process that has imported their packages."""
        status, output = build(self.folder, *targets, *NO_GPU, *self.configured(config))
        assert (status == 0) == succeeds, output[-3000:]
        return output

    def dry_run(self, *words: str, config: str | dict | None = None) -> str:
        """Return what `snakemake --dry-run WORDS` prints."""
        status, output = dry_run(self.folder, *words, *self.configured(config))
        assert status == 0, output[-3000:]
        return output

    def planned(self, *words: str, config: str | dict | None = None) -> dict[str, int]:
        """How many jobs of each rule a dry run plans."""
        output = self.dry_run(*words, "--cores", "2", config=config)
        if "Nothing to be done" in output:
            return {}
        return job_counts(output)

    @staticmethod
    def jobs(process: subprocess.Popen, *names: str) -> list[psutil.Process]:
        """The running jobs of these functions of jobs.py."""
        found = []
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                if child.name()[:15] in names:
                    found.append(child)
        return found

    def contents(self, folder: str) -> dict[str, bytes]:
        """Every file below `folder`."""
        base = self.folder / folder
        return {str(p.relative_to(base)): p.read_bytes() for p in sorted(base.rglob("*")) if p.is_file()}


def compile_once(tmp_path_factory) -> None:
    """Have Numba compile in the checkout what each copy of it would else compile: 20 s of a core."""
    folder = common_folder(tmp_path_factory) / "compiled"
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "darcy.json").exists():  # the last card
            for equation in ("burgers", "darcy"):
                make_dataset(folder, small(equation))


def built_once(tmp_path_factory) -> Project:
    """Return a project with the test configuration built, for all processes of one run of the tests.

    It is to be read or copied, not to be changed.
    """
    folder = common_folder(tmp_path_factory) / "built"
    done = folder.with_suffix(".done")
    with FileLock(folder.with_suffix(".lock")):
        if done.exists():
            project = object.__new__(Project)
            project.folder = folder
        else:
            shutil.rmtree(folder, ignore_errors=True)
            compile_once(tmp_path_factory)
            project = Project(folder)
            project.forked_build()
            done.touch()
    return project
