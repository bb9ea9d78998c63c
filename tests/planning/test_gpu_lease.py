"""Jobs on one host have GPUs of their own: real processes, invented devices."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from resolvent.planning.gpus import GpuError, lease

ROOT = Path(__file__).resolve().parents[2]
# A job: says its devices, and holds them until its standard input ends.
HOLDER = """
import os, subprocess, sys, time
from resolvent.planning.gpus import lease
with lease(int(sys.argv[1]), int(sys.argv[2]), lambda message: print(message, end="", flush=True)):
    print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    {inside}
    sys.stdin.read()
"""


class Host:
    """Invented GPUs, and a folder for the leases. `close` ends its processes and theirs."""

    def __init__(self, folder: Path, gpus: str):
        self.environment = {**os.environ, "RESOLVENT_LEASES": str(folder / "leases"), "RESOLVENT_GPUS": gpus}
        for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
            self.environment.pop(name, None)
        self.processes: list[subprocess.Popen] = []

    def job(self, gpus: int, jobs_per_device: int = 1, inside: str = "pass") -> subprocess.Popen:
        """A job that prints a message if it waits, its devices, what `inside` prints, and ends with `end`."""
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER.format(inside=inside), str(gpus), str(jobs_per_device)],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def end(job: subprocess.Popen) -> None:
    """Let a job end by itself."""
    job.communicate("")
    assert job.returncode == 0


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path, gpus="a,b")
    yield host
    host.close()


@pytest.fixture
def messages(monkeypatch, tmp_path):
    monkeypatch.setenv("RESOLVENT_LEASES", str(tmp_path / "leases"))
    monkeypatch.setenv("RESOLVENT_GPUS", "a,b,c")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")  # for it to be as before after the test
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return []


def test_jobs_that_share_spread_over_the_devices(host):
    jobs = []
    for device in ("a\n", "b\n", "a\n", "b\n"):
        jobs.append(host.job(1, jobs_per_device=2))
        assert jobs[-1].stdout.readline() == device
    fifth = host.job(1, jobs_per_device=2)
    processes = ", ".join(str(pid) for pid in sorted(job.pid for job in jobs))
    assert fifth.stdout.readline() == f"waits for 1 of the GPUs a, b; held by process {processes}\n"
    end(jobs[3])
    assert fifth.stdout.readline() == "b\n"


def test_a_device_is_not_shared_with_a_job_that_wants_it_alone(host):
    host.environment["RESOLVENT_GPUS"] = "a"
    sharing = host.job(1, jobs_per_device=2)
    assert sharing.stdout.readline() == "a\n"
    alone = host.job(1, jobs_per_device=1)
    assert alone.stdout.readline() == f"waits for 1 of the GPUs a; held by process {sharing.pid}\n"
    sharing.kill()
    assert alone.stdout.readline() == "a\n"
    sharing.wait()
    late = host.job(1, jobs_per_device=3)
    assert late.stdout.readline() == f"waits for 1 of the GPUs a; held by process {alone.pid}\n"


def test_a_job_of_two_devices_is_not_overtaken(host):
    holders = []
    for device in ("a\n", "b\n"):
        holders.append(host.job(1))
        assert holders[-1].stdout.readline() == device
    large = host.job(2)
    assert large.stdout.readline().startswith("waits for 2 of the GPUs a, b; held by process ")
    small = host.job(1)
    assert small.stdout.readline().startswith("waits for 1 of the GPUs a, b; held by process ")
    end(holders[0])
    time.sleep(0.3)  # the small one could start now
    end(holders[1])
    assert large.stdout.readline() == "a,b\n"
    end(large)
    assert small.stdout.readline() in ("a\n", "b\n")  # as the large one gives back one after the other


def test_a_killed_job_gives_its_device_back_though_its_child_lives_on(host):
    host.environment["RESOLVENT_GPUS"] = "a"
    killed = host.job(1, inside="child = os.fork(); print(child, flush=True) if child else time.sleep(60)")
    assert killed.stdout.readline() == "a\n"
    survivor = int(killed.stdout.readline())
    try:
        killed.kill()
        killed.wait()
        assert host.job(1).stdout.readline() == "a\n"
        os.kill(survivor, 0)  # still there
    finally:
        os.kill(survivor, signal.SIGKILL)


def test_a_child_that_ends_leaves_the_lease_to_the_job(host):
    host.environment["RESOLVENT_GPUS"] = "a"
    parent = host.job(1, inside="child = os.fork(); child and os.waitpid(child, 0); child or sys.exit()")
    assert parent.stdout.readline() == "a\n"
    second = host.job(1)
    assert second.stdout.readline() == f"waits for 1 of the GPUs a; held by process {parent.pid}\n"


def test_the_folder_of_the_leases_is_open_to_all_users(messages, tmp_path):
    mask = os.umask(0o077)
    try:
        with lease(1, 2, messages.append):
            files = list((tmp_path / "leases").iterdir())
    finally:
        os.umask(mask)
    assert (tmp_path / "leases").stat().st_mode & 0o7777 == 0o1777
    assert {file.stat().st_mode & 0o7777 for file in files} == {0o666}
    assert "a.0.slot" in {file.name for file in files}


def test_a_folder_that_cannot_be_is_reported_in_one_line(messages, monkeypatch, tmp_path):
    monkeypatch.setenv("RESOLVENT_LEASES", str(tmp_path / "absent/leases"))
    with pytest.raises(
        GpuError, match=r"^cannot lock GPUs in .*: No such file or directory; set RESOLVENT_LEASES"
    ):
        lease(1, 1, messages.append).__enter__()


@pytest.mark.parametrize(
    ("gpus", "assigned", "leased"),
    [
        (1, "2", "2"),
        (2, "0,1", "0,1"),
        (1, "", ""),
        (1, "NoDevFiles", "NoDevFiles"),
        (1, "1,2", "b"),
        (0, "1", ""),
    ],
)
def test_devices_that_slurm_assigned_are_left_unless_they_are_of_several_jobs(
    messages, monkeypatch, tmp_path, gpus, assigned, leased
):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", assigned)
    with lease(gpus, 1, messages.append):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == leased
        assert (tmp_path / "leases").exists() == (leased == "b")
    assert messages == []


def test_without_a_gpu_a_job_sees_none(messages, monkeypatch):
    monkeypatch.setenv("RESOLVENT_GPUS", "")
    with lease(2, 1, messages.append):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
