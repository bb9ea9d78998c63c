"""Where a job computes, and what that is called in the results."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
from pathlib import Path

import torch


def choose_device(gpus: int) -> torch.device:
    """Return CUDA when the job was granted a GPU and there is one, else the CPU; deterministic on both.

    On the CPU, numbers below 1e-38 become zero: Adam's averages for units that never fire decay into that
    range, where arithmetic is slow (an epoch of the FNO took 48 s instead of 4 s).
    """
    torch.set_flush_denormal(True)
    keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is deterministic only with it
    torch.set_deterministic_debug_mode("error")  # `use_deterministic_algorithms` would import the compiler
    return torch.device("cuda" if gpus > 0 and torch.cuda.is_available() else "cpu")


# Of glibc's mallopt (malloc.h).
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4


def keep_memory() -> None:
    """Let this process keep the main memory that it frees, for its next arrays; where glibc is.

    Of itself glibc takes every large array from the system and gives it back, a page at a time and each page
    filled with zeros: 5 to 30 % of the time of a training step on a CPU. The peak stays within some 5 %.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, -1)


def device_name(device: torch.device) -> str:
    """Return the processor's own name, for tables of costs."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()} (CPU)"
    return f"{platform.machine()} (CPU)"


def peak_memory_bytes(device: torch.device) -> int:
    """Return the largest memory so far, in bytes: of torch's allocator on a GPU, else of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in kilobytes


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an exception says that memory is used up: on a CPU torch raises a plain RuntimeError."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)


def free_unused_memory(device: torch.device) -> None:
    """Give back what torch keeps for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
