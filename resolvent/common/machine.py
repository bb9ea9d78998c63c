"""Memory and processes of this machine, and the limits on one job."""

import os
from contextlib import suppress
from pathlib import Path

# Environment variables that jobs inherit from the planning process; changing them reruns no job.
DASK_SCHEDULER = "RESOLVENT_DASK_SCHEDULER"  # address of a dask.distributed scheduler for statistics
SAMPLES_GB = "RESOLVENT_SAMPLES_GB"  # memory available to the samples of a job
CONTAINER = (  # memory limit of a container in bytes: control groups version 2 and 1
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def machine_memory() -> int:
    """Return the bytes of main memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_share(threads: int, processes: int) -> float:
    """Return the bytes of main memory for each of the job's `processes`, with `threads` threads each.

    This is the machine's memory in proportion to its cores, and at most an equal share of the job's limit
    in a container or under SLURM.
    """
    limits = [machine_memory() * threads * processes / (os.cpu_count() or 1)]
    for file in CONTAINER:
        with suppress(OSError, ValueError):  # no such file, or no limit: "max"
            limits.append(int(file.read_text()))
    if slurm := os.environ.get("SLURM_MEM_PER_NODE"):
        limits.append(int(slurm) * 2**20)
    return min(limits) / processes


def is_alive(process: int) -> bool:
    """Return whether a process with this ID, of any user, runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's process
        pass
    return True
