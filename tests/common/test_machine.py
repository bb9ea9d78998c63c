"""A process's share of main memory: by its threads, and what a container or SLURM lets it have."""

import pytest

from resolvent.common import machine
from resolvent.common.machine import memory_share


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "machine_memory", lambda: 64 * 2**30)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 16)
    monkeypatch.setattr(machine, "CONTAINER", (tmp_path / "memory.max",))
    monkeypatch.delenv("SLURM_MEM_PER_NODE", raising=False)


def test_the_share_is_that_of_the_threads():
    assert memory_share(threads=1, processes=1) == 4 * 2**30
    assert memory_share(threads=4, processes=1) == 16 * 2**30
    assert memory_share(threads=4, processes=2) == 16 * 2**30


@pytest.mark.parametrize(("content", "expected"), [("max\n", 16), (f"{6 * 2**30}\n", 6)])
def test_a_container_limits_it(content, expected, tmp_path):
    (tmp_path / "memory.max").write_text(content)
    assert memory_share(threads=4, processes=1) == expected * 2**30


def test_slurm_limits_all_processes_of_a_job_together(monkeypatch):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "6144")
    assert memory_share(threads=4, processes=1) == 6 * 2**30
    assert memory_share(threads=4, processes=2) == 3 * 2**30
