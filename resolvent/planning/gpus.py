"""Lease GPUs to concurrent jobs, by file locks that end with the job's process (docs/gpus.md).

Snakemake's `--resources gpu=2` only counts jobs. Here each device has `SLOTS` lock files in a folder that all
processes of the host share. A job holds one slot of each of its devices, a timed job all of them.
"""

import hashlib
import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import product, takewhile
from pathlib import Path

from filelock import FileLock, Timeout

from resolvent.common.errors import ResolventError

VISIBLE = "CUDA_VISIBLE_DEVICES"
FOLDER = "/tmp/resolvent-leases"  # not tempfile's: Snakemake sets TMPDIR, perhaps differently for each job
SLOTS = 32  # the largest `gpu_jobs_per_device`


class GpuError(ResolventError):
    """A job asks for GPUs that it can never get."""


def installed(report: Callable[[str], None]) -> dict[str, list[str]]:
    """Return this host's devices by their names and their GPU's index and name; {} without nvidia-smi."""
    if (chosen := os.environ.get("RESOLVENT_GPUS")) is not None:
        names = dict.fromkeys(name.strip() for name in chosen.split(",") if name.strip())
        return {key: [name] for index, name in enumerate(names) for key in (str(index), name)}
    try:
        answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except OSError:
        return {}
    if answer.returncode and "(UUID: " not in answer.stdout:
        fault = " ".join((answer.stdout + answer.stderr).split())
        report(f"computes on the CPU: nvidia-smi finds no GPU ({fault})\n")
    devices: dict[str, list[str]] = {}
    listed = re.compile(r"^\s*(GPU|MIG)\s(\d*).*\(UUID: (\S+)\)$", re.MULTILINE)
    for kind, index, name in listed.findall(answer.stdout):
        if kind == "GPU":
            whole = name
            devices[index] = devices[name] = [name]
        else:  # CUDA cannot use a GPU partitioned by MIG as a whole, only its instances
            devices[whole][:] = [device for device in devices[whole] if device != whole] + [name]
            devices[name] = [name]
    return devices


def devices_for(gpus: int, report: Callable[[str], None]) -> list[str]:
    """Return the visible devices for a job with `gpus` GPUs, by their names for CUDA_VISIBLE_DEVICES.

    Processes on MIG instances cannot communicate, so a job with several devices gets whole GPUs. Raises
    `GpuError` if some, but too few, devices are visible, or if CUDA_VISIBLE_DEVICES has an unknown name: CUDA
    would silently ignore it and all devices after it.
    """
    known, value = installed(report), os.environ.get(VISIBLE)
    names = list(known)
    if value is not None:
        names = [name.strip() for name in value.split(",")] if known and value.strip() else []
    names = list(takewhile(lambda name: name != "-1", names))  # CUDA ignores all devices after it
    for name in names:
        if name not in known:
            raise GpuError(f"{VISIBLE} names '{name}', which is not a GPU of this host: {', '.join(known)}")
    visible = dict.fromkeys(device for name in names for device in known[name])
    devices = [device for device in visible if gpus == 1 or not device.startswith("MIG-")]
    if visible and len(devices) < gpus:
        mig = "; a job can have only one MIG instance" if len(devices) < len(visible) else ""
        raise GpuError(f"asks for {gpus} GPUs, but only {', '.join(visible)} are visible{mig}")
    return devices


def remark_without_gpu(words: list[str]) -> str:
    """Return a line if the command's `words` ask for GPUs that this host does not have, else ""."""
    asked = [word for word in words if re.fullmatch(r"gpu=[1-9]\d*", word)]
    with suppress(GpuError):  # which the jobs report
        if asked and not devices_for(1, lambda message: None):
            return f"{asked[-1]}: no GPU is visible, so trainings run on the CPU (gpu=0: one on each core)\n"
    return ""


@contextmanager
def lease(gpus: int, jobs_per_device: int, report: Callable[[str], None]) -> Iterator[None]:
    """Hold `gpus` devices while the body runs, each shared by up to `jobs_per_device` jobs.

    Sets CUDA_VISIBLE_DEVICES to these devices, or to nothing if there are none or `gpus` is 0. CUDA reads
    the variable once, so call this before torch or JAX looks for devices; the variable stays set. Waits
    while devices are taken, and reports once by whom. Raises `GpuError` if the job can never get them.
    """
    # Without surplus devices SLURM has assigned them to this job, and nothing is leased. More devices are
    # shared by several jobs: a group, or all jobs of a Snakemake inside an allocation.
    assigned = os.environ.get(VISIBLE) if "SLURM_JOB_ID" in os.environ else None
    if gpus and assigned is not None and len(assigned.split(",")) <= gpus:
        yield
        return
    devices = devices_for(gpus, report) if gpus else []
    folder = Path(os.environ.get("RESOLVENT_LEASES", FOLDER))
    with ExitStack() as leased:
        try:
            if devices:
                devices = _wait(folder, devices, gpus, jobs_per_device, leased, report)
        except OSError as error:
            remedy = "set RESOLVENT_LEASES to another folder of this host"
            raise GpuError(f"cannot lock GPUs in {folder}: {error.strerror}; {remedy}") from error
        os.environ[VISIBLE] = ",".join(devices)
        yield


def _wait(
    folder: Path, devices: list[str], gpus: int, jobs_per_device: int, leased: ExitStack, report: Callable
) -> list[str]:
    """Wait for this job's turn, then for devices; return their names, and hold their locks in `leased`."""
    folder.mkdir(exist_ok=True)
    with suppress(PermissionError):  # another user's folder
        folder.chmod(0o1777)
    # Jobs that see the same devices are served one at a time, so one that needs two GPUs cannot starve.
    queue = folder / f"queue-{hashlib.sha256(','.join(sorted(devices)).encode()).hexdigest()[:16]}.lock"
    # One slot of each device, each device's first before any second; or all slots of a device.
    slots = [[slot] for slot in range(jobs_per_device)] if jobs_per_device > 1 else [[*range(SLOTS)]]
    is_next, pause, reported = False, 0.005, False
    with ExitStack() as turn:
        while True:
            holder = "" if is_next else _lock([queue], turn)
            is_next, holders, taken = not holder, {holder}, list[str]()
            with ExitStack() as locks:
                for numbers, device in product(slots, devices) if is_next else ():
                    if device not in taken and len(taken) < gpus:
                        name = device.replace("/", "_")  # before driver 470 MIG names contain slashes
                        holder = _lock((folder / f"{name}.{number}.slot" for number in numbers), locks)
                        holders.add(holder)
                        taken += [] if holder else [device]
                if len(taken) == gpus:
                    leased.push(locks.pop_all())
                    return [device for device in devices if device in taken]
            if pause > 0.1 and not reported:  # locks are often held only for a moment
                reported, processes = True, ", ".join(sorted(holders - {""}))
                report(f"waits for {gpus} of the GPUs {', '.join(devices)}; held by process {processes}\n")
            # Random pauses, so that jobs with overlapping sets of devices do not retry in lockstep.
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, 0.5)


def _lock(files: Iterable[Path], held: ExitStack) -> str:
    """Lock all files, or none, for as long as `held` is open; return the process that has one of them."""
    with ExitStack() as locks:
        for file in files:
            try:
                locks.enter_context(FileLock(file, mode=0o666, blocking=False, fallback_to_soft=False))
            except Timeout:
                return file.read_text() or "unknown"
            with file.open("r+") as content:  # without O_CREAT, which Linux refuses for others' files in /tmp
                content.truncate()
                content.write(str(os.getpid()))
        held.push(locks.pop_all())
    return ""
