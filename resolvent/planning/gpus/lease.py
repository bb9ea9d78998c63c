"""GPUs for jobs that run at the same time: each leases its own, by locks that end with its process.

Snakemake's `--resources gpu=2` only counts jobs. Here a job takes a kernel file lock (flock) on each device
that it uses, in a folder that all processes of the host share; the kernel drops it when the job ends, however
it ends. Locks hold between several Snakemakes and between users.

A job takes all of its devices or none, and jobs that see the same devices take them one after the other, so
that one that needs two is not overtaken for ever by those that need one. Between jobs that see different,
overlapping devices there is no such order: the one that needs more may wait long.

The variable RESOLVENT_LEASES names another folder, RESOLVENT_GPUS the devices (separated by commas) instead
of those that nvidia-smi lists.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resolvent.planning.gpus.devices import VISIBLE, GpuError, devices_for

# Not tempfile.gettempdir(): Snakemake sets TMPDIR to what a job's resource `tmpdir` says.
FOLDER = "/tmp/resolvent-leases"
FIRST_DELAY, LONGEST_DELAY = 0.005, 0.5  # seconds between two looks at the devices

_held: set[int] = set()  # descriptors of this process's locks


def _forget_locks() -> None:
    """Forget the locks in a forked child, which may outlive the job. (A program that it starts inherits
    no descriptor.)"""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_locks)


@contextmanager
def lease(gpus: int, jobs_per_device: int, report: Callable[[str], None]) -> Iterator[None]:
    """Hold `gpus` devices while the body runs, alone or beside `jobs_per_device` - 1 other jobs.

    Sets CUDA_VISIBLE_DEVICES to them, or to nothing where there are none or `gpus` is 0. CUDA reads the
    variable once, so this comes before torch or JAX looks for devices, and the variable stays set: the
    process has no other devices afterwards. Waits while the devices are taken, and reports once for whom.

    Raises
    ------
    GpuError
        When the job can never have that many devices, or the folder of the locks cannot be used.
    """
    if gpus and _assigned_by_slurm(gpus):
        yield
        return
    devices = devices_for(gpus, report) if gpus else []
    locks: list[int] = []
    try:
        if devices:
            folder = Path(os.environ.get("RESOLVENT_LEASES", FOLDER))
            try:
                taken = _waited_for(_Request(folder, tuple(devices), gpus, jobs_per_device), report)
            except OSError as error:
                raise GpuError(
                    f"no GPU can be locked in {folder}: {error.strerror}; name another folder of this host "
                    "with RESOLVENT_LEASES"
                ) from error
            locks = [lock for place in taken.values() for lock in place]
            devices = [device for device in devices if device in taken]
        os.environ[VISIBLE] = ",".join(devices)
        yield
    finally:
        _release(locks)


def _assigned_by_slurm(gpus: int) -> bool:
    """Say whether SLURM gave this job its devices. If it gave more, several jobs share them: a group, or all
    jobs of a Snakemake inside an allocation."""
    given = os.environ.get(VISIBLE)
    return "SLURM_JOB_ID" in os.environ and given is not None and len(given.split(",")) <= gpus


@dataclass(frozen=True)
class _Request:
    """`gpus` of the `devices`."""

    folder: Path
    devices: tuple[str, ...]
    gpus: int
    jobs_per_device: int

    @property
    def queue(self) -> Path:
        """The lock of the job that chooses next among these devices."""
        digest = hashlib.sha256(",".join(sorted(self.devices)).encode()).hexdigest()
        return self.folder / f"queue-{digest[:16]}.lock"

    def lock_of(self, device: str) -> Path:
        # Before driver 470 the name of a MIG instance has slashes.
        return self.folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', device)}.lock"

    def holders(self) -> list[int]:
        """Return the processes that hold these devices, as they wrote themselves into the lock files."""
        locks = [self.lock_of(device) for device in self.devices]
        files = [file for lock in locks for file in (lock, *self.folder.glob(f"{lock.stem}.*.slot"))]
        numbers = {file.read_text() for file in files if file.exists()}
        return sorted(int(number) for number in numbers if number.isdigit() and _alive(int(number)))

    def take(self) -> dict[str, list[int]]:
        """Return the locks by device, or nothing. Jobs that share devices spread: the first slots of all
        come first."""
        taken: dict[str, list[int]] = {}
        for slot in range(self.jobs_per_device):
            for device in self.devices:
                if device not in taken and (locks := self._take_slot(device, slot)):
                    taken[device] = locks
                if len(taken) == self.gpus:
                    return taken
        _release([lock for locks in taken.values() for lock in locks])
        return {}

    def _take_slot(self, device: str, slot: int) -> list[int]:
        """Lock a slot: a job alone locks the device; one of several a slot, and the device against jobs that
        want it alone (another Snakemake may have another `gpu_jobs_per_device`)."""
        if self.jobs_per_device == 1:
            return _locked(self.lock_of(device), fcntl.LOCK_EX)
        if not (shared := _locked(self.lock_of(device), fcntl.LOCK_SH)):
            return []
        if own := _locked(self.lock_of(device).with_suffix(f".{slot}.slot"), fcntl.LOCK_EX):
            return shared + own
        _release(shared)
        return []


def _waited_for(request: _Request, report: Callable[[str], None]) -> dict[str, list[int]]:
    """Return the locks by device, as soon as it is this job's turn and the devices are free."""
    with _writable_for_all():
        request.folder.mkdir(mode=0o1777, exist_ok=True)
    reported = False

    def report_once() -> None:
        nonlocal reported
        if not reported and (holders := request.holders()):
            reported = True
            devices, jobs = ", ".join(request.devices), ", ".join(map(str, holders))
            report(f"waits for {request.gpus} of the GPUs {devices}; held by process {jobs}\n")

    for delay in (0, 0.01, 0.1):  # whose turn it is may only be choosing, which is not worth a message
        time.sleep(delay)
        if turn := _locked(request.queue, fcntl.LOCK_EX):
            break
    else:
        report_once()
        turn = _locked(request.queue, fcntl.LOCK_EX, wait=True)
    try:
        delay = FIRST_DELAY
        while not (taken := request.take()):
            report_once()
            # Jobs that see other devices, and wait for the same, shall not look at the same moments.
            time.sleep(delay * random.uniform(0.5, 1.5))
            delay = min(2 * delay, LONGEST_DELAY)
        return taken
    finally:
        _release(turn)


@contextmanager
def _writable_for_all() -> Iterator[None]:
    """Let other users' jobs lock the files that are made in the body, too."""
    mask = os.umask(0)
    try:
        yield
    finally:
        os.umask(mask)


def _locked(path: Path, mode: int, wait: bool = False) -> list[int]:
    """Return the descriptor of the locked file, or nothing where another job holds it and this one does not
    wait.

    Who has a file alone writes its process number into it.
    """
    descriptor = _opened(path)
    _held.add(descriptor)
    try:
        fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
    except BlockingIOError:
        _held.remove(descriptor)
        os.close(descriptor)
        return []
    if mode == fcntl.LOCK_EX:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return [descriptor]


def _opened(path: Path) -> int:
    """Open for writing. In a protected /tmp Linux refuses O_CREAT for an existing file of another user."""
    flags = os.O_RDWR | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        pass
    try:
        with _writable_for_all():
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:  # made by another job in between
        return os.open(path, flags)


def _release(descriptors: list[int]) -> None:
    """Give locks back. A child forked since has forgotten them, and gives nothing back."""
    for descriptor in descriptors:
        if descriptor in _held:
            _held.remove(descriptor)
            os.ftruncate(descriptor, 0)
            os.close(descriptor)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
