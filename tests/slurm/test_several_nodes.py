"""Train on two hosts of their own, kill one of them on the way, and train the same on this machine."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import cluster
import psutil
import pytest
import yaml
from hosts import host_name
from runs import (
    BY_SQUEUE,
    CONFIGURED,
    ON_CPUS,
    QUICK,
    SMALL,
    Run,
    checkpoints_of,
    first_epochs,
    run_folder,
    saved_by,
    submissions_of,
)

HOSTS = 2
SEED = 1
SHARED = {"experiments": {"burgers": SMALL["experiments"]["burgers"] | {"processes": 2, "nodes": 2}}}
pytestmark = pytest.mark.timeout(900)


@dataclass
class Record:
    run: Run
    hosts: list[str]
    alone: Path


@pytest.fixture(scope="module")
def record(study, tmp_path_factory) -> Record:
    folder, alone = (study.copied_to(tmp_path_factory.mktemp(name) / "project") for name in ("two", "alone"))
    for one in (folder, alone):
        (one / "overlay.yaml").write_text(yaml.safe_dump(SMALL | SHARED))
    words = (*checkpoints_of(SEED), *ON_CPUS, *CONFIGURED)
    run = Run.start(folder, *words, *QUICK, *BY_SQUEUE)
    try:
        hosts = let_it_happen(run)
        assert run.ended() == 0, run.output[-6000:]
    finally:
        run.kill()
    here = [sys.executable, "-m", "snakemake", "--cores", "2", *words]
    finished = subprocess.run(here, cwd=alone, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return Record(run, hosts, alone)


def let_it_happen(run: Run) -> list[str]:
    """Stop the processes on their way, and kill the second host; returns where they were."""
    state = run.folder / run_folder(SEED) / "resume.pt"
    stopped: list[psutil.Process] = []

    def on_the_way() -> bool:
        found = ranks(run.folder)
        if len(found) == 2 and all(saved_by(process, state) for process in found):
            for process in found:
                process.suspend()
            stopped.extend(found)
        return bool(stopped)

    cluster.wait_until(on_the_way, 240, "the training is not on its way")
    assert not state.with_name("checkpoint.pt").exists(), "the training was too short"
    hosts = [process.environ()["SLURMD_NODENAME"] for process in stopped]
    cluster.kill_host(2)
    cluster.start_host(2)
    time.sleep(5)  # the controller first ends what it takes for lost
    cluster.start_requeued()
    return hosts


def ranks(folder: Path) -> list[psutil.Process]:
    """Return the processes of the training that compute: launchers have no rank."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if "resolvent.training.distributed.launch" in words and process.cwd() == str(folder):
                found += [process] if words[-1].isdigit() else []
        except psutil.NoSuchProcess:
            continue
    return found


def test_each_host_has_a_process_and_knows_the_other_by_name(record):
    assert sorted(record.hosts) == [host_name(1), host_name(2)]


def test_a_training_one_of_whose_hosts_dies_goes_on_from_its_last_epoch(record, fault):
    fault("a host of a training on two that dies")
    assert first_epochs(record.run.folder / run_folder(SEED))[-1] > 1
    (job,) = submissions_of(SEED, record.run.folder)
    assert (job["JobState"], job["Restarts"], job["NumNodes"]) == ("COMPLETED", "1", "2")


def test_it_ends_with_the_weights_of_two_processes_on_one_host(record):
    (path,) = checkpoints_of(SEED)
    assert (record.run.folder / path).read_bytes() == (record.alone / path).read_bytes()
