"""The energy that a training takes, where the machine counts it: a GPU by NVML, processors by RAPL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

POWERCAP = Path("/sys/class/powercap")  # of Linux: a folder for each processor, and for parts of it
SECONDS = 60.0  # between two readings: at 1 kW a counter of RAPL begins anew after four minutes or more


class Meter:
    """What has been used since it was asked last.

    A GPU is counted by itself, and processors as a whole: with all that other programs make them do.
    """

    def __init__(self, device: torch.device, powercap: Path = POWERCAP):
        counters = _of_gpu(device) if device.type == "cuda" else _of_processors(powercap)
        # Each with the number at which it begins anew, and what it was.
        self.counters = [(read, end, read()) for read, end in counters]

    def joules(self) -> float | None:
        """Return the joules since this was asked last, or since the beginning; None where nothing counts."""
        now = [read() for read, _, _ in self.counters]
        apart = [
            new - old + (end if new < old else 0)
            for new, (_, end, old) in zip(now, self.counters, strict=True)
        ]
        self.counters = [(read, end, new) for new, (read, end, _) in zip(now, self.counters, strict=True)]
        return sum(apart) if apart else None


Counter = tuple[Callable[[], float], float]


def _of_processors(powercap: Path) -> list[Counter]:
    counters: list[Counter] = []
    for folder in sorted(powercap.glob("intel-rapl:*")):  # AMD's too
        try:
            if not (folder / "name").read_text().startswith("package"):  # a part, or the whole machine
                continue
            file, end = folder / "energy_uj", float((folder / "max_energy_range_uj").read_text()) / 1e6
            file.read_text()
        except (OSError, ValueError):
            return []  # most systems let only their administrator read them
        counters.append((lambda file=file: float(file.read_text()) / 1e6, end))  # type: ignore[misc]
    return counters


def _of_gpu(device: torch.device) -> list[Counter]:
    try:
        import pynvml  # type: ignore[import-not-found]

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(device).uuid}")
        pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    except Exception:  # not installed, or a GPU without a counter: each version says it in its own way
        return []
    return [(lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3, 0.0)]
