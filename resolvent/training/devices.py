"""Where a job computes, in which precision, with how much memory; and what that is called in the results."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import torch

from resolvent.common.machine import memory_share


def choose_device(gpus: int) -> torch.device:
    """Return CUDA when the job was granted a GPU and there is one, else the CPU; deterministic on both.

    On the CPU, numbers below 1e-38 become zero: Adam's averages for units that never fire decay into that
    range, where arithmetic is slow (an epoch of the FNO took 48 s instead of 4 s).
    """
    torch.set_flush_denormal(True)
    keep_memory(large=False)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is deterministic only with it
    torch.set_deterministic_debug_mode("error")  # `use_deterministic_algorithms` would import the compiler
    # Otherwise torch fills each new array with NaN before an operation writes it: a kernel more for each.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return torch.device("cuda" if gpus > 0 and torch.cuda.is_available() else "cpu")


def forward_precision(device: torch.device, precision: str) -> AbstractContextManager:
    """Return the context of a forward pass: autocast to bfloat16, or none."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else nullcontext()


@contextmanager
def tf32(allowed: bool) -> Iterator[None]:
    """Let products and convolutions of float32 numbers on a GPU round their operands to 10 bits, or not.

    By default torch allows it for convolutions and not for products. The backward pass has to be within, too.
    """
    chosen = "tf32" if allowed else "ieee"
    switches = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)  # type: ignore[attr-defined]
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = chosen
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value


# Of glibc's mallopt (malloc.h); the largest threshold that it takes, and how many arrays it maps of itself.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
LARGE, MAPPED = 2**25, 2**16
# With large arrays kept, peaks of training steps were 1.1 to 2.4 times as high (on 416 x 416 points 8.6 GB in
# place of 6.3 for AFNO, 18 in place of 7.6 for ViT-NO): the next array may fit nowhere in what is free.
GAPS = 2.5


def keep_memory(large: bool) -> None:
    """Let this process keep the main memory that it frees, for its next arrays; where glibc is.

    By default glibc returns large freed blocks to the system and requests them again, each page filled with
    zeros: 5 to 50 % of the time of a training step on a CPU. Arrays of `LARGE` bytes and more are kept only
    with `large`, for they leave gaps.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, -1)
        mallopt(M_MMAP_THRESHOLD, LARGE)
        mallopt(M_MMAP_MAX, 0 if large else MAPPED)


def keep_large_arrays(processes: int) -> None:
    """Let this process keep large arrays, too, where its share of the memory holds `GAPS` times its peak.

    `processes` train together; a process has the threads, and the share of the machine, that are torch's.
    """
    if GAPS * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 <= memory_share(
        torch.get_num_threads(), processes
    ):
        keep_memory(large=True)


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
