"""The energy that a training takes, where the machine counts it: a GPU by NVML, processors by RAPL."""

from __future__ import annotations

from pathlib import Path

import torch

POWERCAP = Path("/sys/class/powercap")  # of Linux: a folder for each processor, and for parts of it
SECONDS = 60.0  # between two readings: at 1 kW a counter of RAPL begins anew after four minutes or more


class Meter:
    """Count the joules between one reading and the next.

    A GPU has one counter, so nothing is counted while others compute on it. Processors are counted as
    a whole, other programs included.
    """

    def __init__(self, device: torch.device, powercap: Path = POWERCAP):
        self.device, self.powercap = device, powercap
        self.before: list[tuple[float, float]] | None = []
        self.joules()

    def joules(self) -> float | None:
        """Return the joules since this was asked last, or since the beginning; None where nothing counts."""
        if self.before is None:
            return None
        before, self.before = self.before, self._counts() or None
        if self.before is None or len(self.before) != len(before):
            return None
        apart = [(now - was, end) for (now, end), (was, _) in zip(self.before, before, strict=True)]
        return sum(one + end if one < 0 else one for one, end in apart)

    def _counts(self) -> list[tuple[float, float]]:
        """Return what every counter says, and at what it begins anew, in joules."""
        try:
            if self.device.type == "cuda":
                import pynvml  # type: ignore[import-not-found]

                pynvml.nvmlInit()
                uuid = torch.cuda.get_device_properties(self.device).uuid
                handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
                if len(pynvml.nvmlDeviceGetComputeRunningProcesses(handle)) > 1:
                    return []
                return [(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3, 0.0)]
            whole = [one for one in sorted(self.powercap.glob("intel-rapl:*")) if _is_processor(one)]
            files = [(one / "energy_uj", one / "max_energy_range_uj") for one in whole]
            return [(float(now.read_text()) / 1e6, float(end.read_text()) / 1e6) for now, end in files]
        except Exception:  # no training ends for it: most systems let only their administrator read RAPL
            return []


def _is_processor(folder: Path) -> bool:
    return (folder / "name").read_text().startswith("package")  # others are parts, or the whole machine
