"""What this machine has, and what the configuration lets a job take of it."""

import os
from contextlib import suppress
from pathlib import Path

# Environment variables that jobs inherit from the process that plans them; no job runs again for them.
DASK_SCHEDULER = "RESOLVENT_DASK_SCHEDULER"  # address of a dask.distributed scheduler for statistics
SAMPLES_GB = "RESOLVENT_SAMPLES_GB"  # memory that the samples of a job may take
CONTAINER = (  # the most that a container may take, in bytes: of control groups, versions 2 and 1
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def machine_memory() -> int:
    """Return the bytes of main memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_share(threads: int, processes: int) -> float:
    """Return the bytes of main memory for one of the `processes` of a job, each with so many threads.

    That is the machine's memory for as many of its cores, and at most the process's part of what a container,
    or SLURM, lets the job have.
    """
    limits = [machine_memory() * threads * processes / (os.cpu_count() or 1)]
    for file in CONTAINER:
        with suppress(OSError, ValueError):  # there is none, or no limit: "max"
            limits.append(int(file.read_text()))
    if slurm := os.environ.get("SLURM_MEM_PER_NODE"):
        limits.append(int(slurm) * 2**20)
    return min(limits) / processes


def is_alive(process: int) -> bool:
    """Say whether a process of this number runs on this machine, whoever has it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True
