"""The profile for whole nodes, on two hosts of their own that are one allocation.

Each host has one GPU, so that of three trainings two run at once and one waits. The host without Snakemake
dies with its training; the other's training is let end, and the next takes its place. That one is on its way
when the allocation's time is up. The second allocation, on both hosts, does the rest.
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cluster
import psutil
import pytest
from runs import CONFIGURED, SEEDS, Training, checkpoints_of, first_epochs, run_folder, saved_by

HOSTS = 2
PROFILE = "workflow/profiles/whole-nodes"
LENT = ("--nodes=2", "--mem=20000", "--time=20", "--signal=B:TERM@60")
pytestmark = pytest.mark.timeout(900)


@dataclass
class Record:
    folder: Path
    allocations: list[str]
    seen: dict[int, list[Training]] = field(default_factory=lambda: {seed: [] for seed in SEEDS})
    at_once: list[Training] = field(default_factory=list)
    waiting: str = ""
    while_down: str = ""

    def output(self, number: int) -> str:
        file = self.folder / f"slurm-{self.allocations[number]}.out"
        return file.read_text() if file.exists() else ""

    def suspended(self, number: int, wanted: int) -> list[Training]:
        """Stop so many trainings that have saved an epoch in this allocation, each as soon as it has."""
        stopped: list[Training] = []

        def enough() -> bool:
            for training in self._found():
                if saved_by(training.process, self.folder / run_folder(training.seed) / "resume.pt"):
                    training.process.suspend()
                    stopped.append(training)
                    self.seen[training.seed].append(training)
            assert not cluster.ended(self.allocations[number]), self.output(number)[-6000:]
            return len(stopped) == wanted

        failure = f"{wanted} trainings are not on their way"
        try:
            cluster.wait_until(enough, 240, failure)
        except cluster.ClusterError as error:
            raise AssertionError(f"{error}: {self.output(number)[-6000:]}") from None
        return stopped

    def _found(self) -> list[Training]:
        known = {training.process.pid for trainings in self.seen.values() for training in trainings}
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid in known or process.name() != "train" or process.cwd() != str(self.folder):
                    continue
                environment = process.environ()
                starts = " ".join(word for parent in process.parents() for word in parent.cmdline())
            except psutil.NoSuchProcess:
                continue
            seed = re.search(r"train:\S*seed=(\d+)", starts)
            host, devices = environment["SLURMD_NODENAME"], environment["CUDA_VISIBLE_DEVICES"]
            found.append(Training(process, host, "fno", int(seed[1]), devices))
        return found


@pytest.fixture(scope="module")
def record(study, tmp_path_factory) -> Record:
    folder = study.copied_to(tmp_path_factory.mktemp("whole-nodes") / "project")
    words = [f"{PROFILE}/study.sh", *checkpoints_of(*SEEDS), "--latency-wait", "5", *CONFIGURED]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    record = Record(folder, [cluster.lend(folder, environment, *LENT, *words) for _ in range(2)])
    let_it_happen(record)
    return record


def let_it_happen(record: Record) -> None:
    first, second = record.allocations
    record.at_once = sorted(record.suspended(0, wanted=2), key=lambda training: training.job)
    record.waiting = cluster.state_of(second)
    # Before the host dies: without accounting SLURM changes no job that has lost a node.
    cluster.limit_time(first, 4 + cluster.minutes_of(first))
    cluster.kill_host(2)
    record.while_down = cluster.state_of(first)
    record.at_once[0].process.resume()
    record.suspended(0, wanted=1)
    cluster.start_host(2)
    cluster.wait_until(lambda: cluster.state_of(first) == "TIMEOUT", 330, "no end of wall time")
    cluster.wait_until(lambda: cluster.ended(second), 400, f"no end: {record.output(1)[-6000:]}")


def test_the_study_goes_on_from_allocation_to_allocation_and_ends_with_the_same_weights(record, study, fault):
    fault("an allocation of whole nodes out of time")
    states = [cluster.state_of(number) for number in record.allocations]
    assert states == ["TIMEOUT", "COMPLETED"], record.output(1)[-6000:]
    assert record.waiting == "PENDING"
    assert "Will exit after finishing currently running jobs" in record.output(0)
    study.assert_same(record.folder, *SEEDS)


def test_a_host_that_dies_takes_only_its_own_jobs_with_it(record, fault):
    fault("a host of an allocation that dies")
    assert record.while_down == "RUNNING"
    lost = record.at_once[1]
    assert first_epochs(record.folder / run_folder(lost.seed))[-1] > 1


def test_each_training_has_a_gpu_of_its_host_and_the_next_takes_its_place(record):
    first, lost = record.at_once
    assert [first.job, lost.job] == ["resolvent-host1", "resolvent-host2"]
    assert all(len(one.devices.split(",")) == 1 for one in (first, lost))
    assert first_epochs(record.folder / run_folder(first.seed)) == [1]


def test_nothing_of_a_killed_job_is_left_running(record):
    assert not any(one.process.is_running() for trainings in record.seen.values() for one in trainings)
