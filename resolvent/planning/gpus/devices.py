"""Which GPUs a job may use: those that nvidia-smi lists, as far as CUDA_VISIBLE_DEVICES shows them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from resolvent.common.errors import ResolventError

VISIBLE = "CUDA_VISIBLE_DEVICES"


class GpuError(ResolventError):
    """A job cannot have the GPUs that it asks for."""


@dataclass(frozen=True)
class Gpu:
    """A GPU, or the instances that it is cut into (MIG), which are then all that CUDA can use of it."""

    index: str
    name: str
    instances: tuple[str, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        return self.instances or (self.name,)


def devices_for(gpus: int, report: Callable[[str], None]) -> list[str]:
    """Return the visible devices that a job of `gpus` devices may choose from, as CUDA_VISIBLE_DEVICES names
    them.

    None where there is no GPU, or none is visible. CUDA gives a process at most one MIG instance: a job of
    several devices chooses among whole GPUs.

    Raises
    ------
    GpuError
        When there are devices, but too few, or CUDA_VISIBLE_DEVICES names one that there is not.
    """
    visible = visible_devices(installed(report))
    devices = [device for device in visible if gpus == 1 or not device.startswith("MIG-")]
    if visible and len(devices) < gpus:
        one = "; a job can have only one MIG instance" if len(devices) < len(visible) else ""
        raise GpuError(f"asks for {gpus} GPUs, but only {', '.join(visible)} can be seen{one}")
    return devices


def visible_devices(gpus: list[Gpu]) -> list[str]:
    """Return the names of the devices that CUDA_VISIBLE_DEVICES shows, in its order; all, where it is not
    set.

    Raises
    ------
    GpuError
        When it names a device that is not among `gpus`. (CUDA would silently use those before it.)
    """
    value = os.environ.get(VISIBLE)
    if value is None:
        return [device for gpu in gpus for device in gpu.devices]
    devices: list[str] = []
    for name in value.split(",") if gpus and value.strip() else []:
        if name.strip() == "-1":  # ends the list, by CUDA's rule
            break
        devices += _named(name.strip(), gpus)
    return list(dict.fromkeys(devices))


def _named(name: str, gpus: list[Gpu]) -> tuple[str, ...]:
    """Return the devices behind an index or a name; like CUDA, takes the beginning of a name where it is
    unambiguous."""
    named: dict[str, tuple[str, ...]] = {instance: (instance,) for gpu in gpus for instance in gpu.instances}
    named |= {gpu.name: gpu.devices for gpu in gpus}
    indices = {gpu.index: gpu.devices for gpu in gpus}
    found = [devices for full, devices in named.items() if name and full.startswith(name)]
    for devices in (named.get(name), indices.get(name), found[0] if len(found) == 1 else None):
        if devices:
            return devices
    raise GpuError(f"{VISIBLE} names '{name}', which is none of this host's GPUs: {', '.join(named)}")


def installed(report: Callable[[str], None]) -> list[Gpu]:
    """Return the GPUs of this host, by index; RESOLVENT_GPUS (names separated by commas) stands in for
    nvidia-smi.

    None without nvidia-smi. Indices are nvidia-smi's; CUDA's are the same where all GPUs are of one model, or
    with CUDA_DEVICE_ORDER=PCI_BUS_ID.
    """
    given = os.environ.get("RESOLVENT_GPUS")
    if given is not None:
        names = dict.fromkeys(name.strip() for name in given.split(",") if name.strip())
        return [Gpu(str(index), name) for index, name in enumerate(names)]
    try:
        answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except OSError:
        return []
    gpus = listed(answer.stdout)
    if answer.returncode and not gpus:
        fault = " ".join((answer.stdout + answer.stderr).split())
        report(f"computes on the CPU, for nvidia-smi finds no GPU ({fault})\n")
    return gpus


def smallest_memory() -> float | None:
    """Return the bytes of the GPU of this host that has least; None without nvidia-smi."""
    question = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True)
    except OSError:
        return None
    sizes = [int(line) for line in answer.stdout.split() if line.isdigit()]
    return min(sizes) * 2.0**20 if sizes else None


def listed(text: str) -> list[Gpu]:
    """Return GPUs and their MIG instances from what `nvidia-smi -L` prints."""
    gpus: list[Gpu] = []
    for line in text.splitlines():
        if gpu := re.match(r"GPU (\d+): .*\(UUID: (GPU-\S+)\)", line):
            gpus.append(Gpu(gpu[1], gpu[2]))
        elif gpus and (instance := re.match(r"\s+MIG .*\(UUID: (MIG-\S+)\)", line)):
            parent = gpus.pop()
            gpus.append(Gpu(parent.index, parent.name, (*parent.instances, instance[1])))
    return gpus
