"""Device, precision and memory of a job, and their names in the results."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from resolvent.common.machine import memory_share


def choose_device(gpus: int) -> torch.device:
    """Return the GPU if the job was granted one and CUDA finds it, else the CPU; deterministic on both.

    Forbids TF32, which torch allows by default for convolutions on a GPU, except inside of `tf32`.
    Flushes denormal numbers (below 1e-38) to zero on the CPU: Adam's averages for units that never fire
    decay into that range, where arithmetic is slow (an epoch of the FNO took 48 s instead of 4 s).
    """
    torch.set_flush_denormal(True)
    keep_memory(large=False)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is deterministic only with it
    torch.set_deterministic_debug_mode("error")  # `use_deterministic_algorithms` would import the compiler
    # Otherwise torch fills each new array with NaN before an operation writes it: a kernel more for each.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda" if gpus > 0 and torch.cuda.is_available() else "cpu")


def forward_precision(device: torch.device, precision: str) -> AbstractContextManager:
    """Return the context of a forward pass: autocast to bfloat16, or none."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else nullcontext()


@contextmanager
def tf32(allowed: bool) -> Iterator[None]:
    """Allow or forbid TF32 (operands rounded to 10 bits) for float32 products and convolutions on a GPU.

    The body must include the backward pass.
    """
    # Not `fp32_precision`, the newer name: torch.export refuses to run after it was used for convolutions.
    switches: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [switch.allow_tf32 for switch in switches]
    try:
        for switch in switches:
            switch.allow_tf32 = allowed
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.allow_tf32 = value


# Options of glibc's mallopt (malloc.h), its largest accepted threshold, its default number of mapped arrays.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
LARGE, MAPPED = 2**25, 2**16
# Keeping large arrays fragments the memory: peaks of training steps rise by a factor of 1.1 to 2.4 (on
# 416 x 416 points from 6.3 to 8.6 GB for AFNO, from 7.6 to 18 GB for ViT-NO).
GAPS = 2.5


def keep_memory(large: bool) -> None:
    """Make glibc, if present, keep freed memory for the next arrays.

    By default glibc returns large freed blocks to the system and requests them again, which zeroes each
    page: 5 to 50 % of the time of a training step on a CPU. Arrays of at least `LARGE` bytes are kept only
    with `large`, since they fragment the memory.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, -1)
        mallopt(M_MMAP_THRESHOLD, LARGE)
        mallopt(M_MMAP_MAX, 0 if large else MAPPED)


def keep_large_arrays(processes: int) -> None:
    """Also keep large arrays if `GAPS` times the peak memory so far fits into the share of each process."""
    peak, threads = peak_memory_bytes(torch.device("cpu")), torch.get_num_threads()
    if GAPS * peak <= memory_share(threads, processes):
        keep_memory(large=True)


def device_name(device: torch.device) -> str:
    """Return the model name of the GPU or CPU, for tables of costs."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()} (CPU)"
    return f"{platform.machine()} (CPU)"


def peak_memory_bytes(device: torch.device) -> int:
    """Return the peak memory so far in bytes: of torch's allocator on a GPU, else of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes; Linux counts in kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an exception means out of memory; on a CPU torch raises a plain RuntimeError."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)
