"""Lease GPUs to concurrent jobs, by file locks that end with the job's process.

Snakemake's `--resources gpu=2` only counts jobs. Here a job takes a kernel file lock (flock) on each device
that it uses, all of them or none, in a folder shared by all processes of the host. Jobs that see the same
devices take them in turn, so a job that needs two GPUs cannot starve (docs/gpus.md).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, takewhile
from pathlib import Path

from resolvent.common.errors import ResolventError
from resolvent.common.machine import is_alive

VISIBLE = "CUDA_VISIBLE_DEVICES"
# Not tempfile.gettempdir(): Snakemake sets TMPDIR to the resource `tmpdir` of a job, which may differ.
FOLDER = "/tmp/resolvent-leases"
FIRST_DELAY, LONGEST_DELAY = 0.005, 0.5  # seconds between two attempts to lock devices

_held: set[int] = set()  # descriptors of this process's locks


class GpuError(ResolventError):
    """A job asks for GPUs that it can never get."""


def _forget_locks() -> None:
    """Close the lock files in a forked child, which may outlive the job (exec closes them anyway)."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_locks)


def devices_for(gpus: int, report: Callable[[str], None]) -> list[str]:
    """Return the visible devices for a job with `gpus` GPUs, by their names for CUDA_VISIBLE_DEVICES.

    CUDA gives a process at most one MIG instance, so a job with several devices gets whole GPUs. Raises
    `GpuError` if some, but too few, devices are visible, or if CUDA_VISIBLE_DEVICES names an unknown device:
    CUDA would silently ignore it and all devices after it.
    """
    there, value = installed(report), os.environ.get(VISIBLE)
    if value is None:
        visible = [device for devices in there.values() for device in devices]
    else:
        names = [name.strip() for name in value.split(",")] if value.strip() and there else []
        named = takewhile(lambda name: name != "-1", names)  # CUDA ignores all devices after it
        visible = list(dict.fromkeys(device for name in named for device in _named(name, there)))
    devices = [device for device in visible if gpus == 1 or not device.startswith("MIG-")]
    if visible and len(devices) < gpus:
        one = "; a job can have only one MIG instance" if len(devices) < len(visible) else ""
        raise GpuError(f"asks for {gpus} GPUs, but only {', '.join(visible)} are visible{one}")
    return devices


def _named(name: str, there: dict[tuple[str, str], list[str]]) -> list[str]:
    """Return the devices for an index, a name, or, as in CUDA, a unique prefix of a name."""
    named = {device: [device] for devices in there.values() for device in devices}
    named |= {gpu: devices for (_, gpu), devices in there.items()}
    indices = {index: devices for (index, _), devices in there.items()}
    begun = [devices for full, devices in named.items() if name and full.startswith(name)]
    found = named.get(name) or indices.get(name) or (begun[0] if len(begun) == 1 else [])
    if not found:
        raise GpuError(f"{VISIBLE} names '{name}', which is not a GPU of this host: {', '.join(named)}")
    return found


def installed(report: Callable[[str], None]) -> dict[tuple[str, str], list[str]]:
    """Return the devices of this host by index and name of the GPU; empty without nvidia-smi."""
    if (given := os.environ.get("RESOLVENT_GPUS")) is not None:
        names = dict.fromkeys(name.strip() for name in given.split(",") if name.strip())
        return {(str(index), name): [name] for index, name in enumerate(names)}
    try:
        answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except OSError:
        return {}
    gpus: dict[tuple[str, str], list[str]] = {}
    for line in answer.stdout.splitlines():
        if gpu := re.match(r"GPU (\d+): .*\(UUID: (GPU-\S+)\)", line):
            gpus[gpu[1], gpu[2]] = []
        elif gpus and (instance := re.match(r"\s+MIG .*\(UUID: (MIG-\S+)\)", line)):
            gpus[list(gpus)[-1]].append(instance[1])
    if answer.returncode and not gpus:
        fault = " ".join((answer.stdout + answer.stderr).split())
        report(f"computes on the CPU: nvidia-smi finds no GPU ({fault})\n")
    # CUDA cannot use a GPU partitioned by MIG as a whole, only its instances.
    return {(index, name): instances or [name] for (index, name), instances in gpus.items()}


@contextmanager
def lease(gpus: int, jobs_per_device: int, report: Callable[[str], None]) -> Iterator[None]:
    """Hold `gpus` devices while the body runs, each shared by up to `jobs_per_device` jobs.

    Sets CUDA_VISIBLE_DEVICES to these devices, or to nothing if there are none or `gpus` is 0. CUDA reads
    the variable once, so call this before torch or JAX looks for devices; the variable stays set. Waits
    while the devices are taken, and reports the holders once. Raises `GpuError` if the job can never get
    them.
    """
    # Without surplus devices SLURM has assigned them to this job, and nothing is leased. More devices are
    # shared by several jobs: a group, or all jobs of a Snakemake inside an allocation.
    assigned = os.environ.get(VISIBLE) if "SLURM_JOB_ID" in os.environ else None
    if gpus and assigned is not None and len(assigned.split(",")) <= gpus:
        yield
        return
    devices = devices_for(gpus, report) if gpus else []
    taken: dict[str, list[int]] = {}
    try:
        if devices:
            folder = Path(os.environ.get("RESOLVENT_LEASES", FOLDER))
            try:
                taken = _Request(folder, devices, gpus, jobs_per_device).wait(report)
            except OSError as error:
                remedy = "set RESOLVENT_LEASES to another folder of this host"
                raise GpuError(f"cannot lock GPUs in {folder}: {error.strerror}; {remedy}") from error
        os.environ[VISIBLE] = ",".join(device for device in devices if device in taken)
        yield
    finally:
        _release(taken)


class _Request:
    def __init__(self, folder: Path, devices: list[str], gpus: int, jobs_per_device: int):
        self.folder, self.devices, self.gpus, self.jobs_per_device = folder, devices, gpus, jobs_per_device
        # Before driver 470 the name of a MIG instance contains slashes.
        self.locks = {one: folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', one)}.lock" for one in devices}

    def wait(self, report: Callable[[str], None]) -> dict[str, list[int]]:
        """Wait for this job's turn and for free devices; return the locks by device."""
        with _writable_for_all():
            self.folder.mkdir(mode=0o1777, exist_ok=True)
        # Only the job that holds this lock may take devices, so jobs are served one at a time.
        digest = hashlib.sha256(",".join(sorted(self.devices)).encode()).hexdigest()
        queue = self.folder / f"queue-{digest[:16]}.lock"
        reported = False

        def report_once() -> None:
            nonlocal reported
            if not reported and (holders := ", ".join(map(str, self._holders()))):
                reported = True
                devices = ", ".join(self.devices)
                report(f"waits for {self.gpus} of the GPUs {devices}; held by process {holders}\n")

        for delay in (0, 0.01, 0.1):  # the lock is often held only for a moment: wait before reporting
            time.sleep(delay)
            if turn := _locked(queue, fcntl.LOCK_EX):
                break
        else:
            report_once()
            turn = _locked(queue, fcntl.LOCK_EX, wait=True)
        try:
            delay = FIRST_DELAY
            while not (taken := self._take()):
                report_once()
                # Random delays, so that jobs with overlapping sets of devices do not retry in lockstep.
                time.sleep(delay * random.uniform(0.5, 1.5))
                delay = min(2 * delay, LONGEST_DELAY)
            return taken
        finally:
            _release({"": turn})

    def _holders(self) -> list[int]:
        files = [
            file for lock in self.locks.values() for file in (lock, *self.folder.glob(f"{lock.stem}.*.slot"))
        ]
        numbers = {file.read_text() for file in files if file.exists()}
        return sorted(int(number) for number in numbers if number.isdigit() and is_alive(int(number)))

    def _take(self) -> dict[str, list[int]]:
        """Return the locks by device, or nothing. Fills the first slot of every device before the second."""
        taken: dict[str, list[int]] = {}
        for slot in range(self.jobs_per_device):
            for device in self.devices:
                if device not in taken and (locks := self._take_slot(device, slot)):
                    taken[device] = locks
                if len(taken) == self.gpus:
                    return taken
        _release(taken)
        return {}

    def _take_slot(self, device: str, slot: int) -> list[int]:
        """Lock a slot: exclusively the device, or one slot and, shared, the device."""
        lock = self.locks[device]
        if self.jobs_per_device == 1:
            return _locked(lock, fcntl.LOCK_EX)
        # Keeps out exclusive jobs: another Snakemake may have another `gpu_jobs_per_device`.
        shared = _locked(lock, fcntl.LOCK_SH)
        own = _locked(lock.with_suffix(f".{slot}.slot"), fcntl.LOCK_EX) if shared else []
        if not own:
            _release({device: shared})
        return shared + own if own else []


@contextmanager
def _writable_for_all() -> Iterator[None]:
    """Create files in the body that other users' jobs can lock, too."""
    mask = os.umask(0)
    try:
        yield
    finally:
        os.umask(mask)


def _locked(path: Path, mode: int, wait: bool = False) -> list[int]:
    """Return the descriptor of the locked file, or nothing if another job holds it and `wait` is false."""
    flags = os.O_RDWR | os.O_NOFOLLOW
    try:  # first without O_CREAT, which Linux refuses in /tmp for existing files of other users
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        try:
            with _writable_for_all():
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:  # another job has created it in the meantime
            descriptor = os.open(path, flags)
    _held.add(descriptor)
    try:
        fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
    except BlockingIOError:
        _held.remove(descriptor)
        os.close(descriptor)
        return []
    if mode == fcntl.LOCK_EX:  # name the holder for messages of waiting jobs
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return [descriptor]


def _release(locks: dict[str, list[int]]) -> None:
    for descriptor in _held.intersection(chain.from_iterable(locks.values())):
        _held.remove(descriptor)
        os.ftruncate(descriptor, 0)
        os.close(descriptor)
