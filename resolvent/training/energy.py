"""Measure the energy of a training, if the machine counts it: GPUs by NVML, processors by RAPL."""

from __future__ import annotations

from pathlib import Path

import torch

POWERCAP = Path("/sys/class/powercap")  # on Linux: a folder for each processor and each of its parts
SECONDS = 60.0  # between readings: at 1 kW RAPL counters wrap around after four minutes or more


class Meter:
    """Measure joules between readings, of one GPU or of all processors.

    A GPU has one counter, so nothing is counted while others compute on it. Processors are counted as
    a whole, other programs included.
    """

    def __init__(self, device: torch.device, powercap: Path = POWERCAP):
        self.device, self.powercap = device, powercap
        self.before: list[tuple[float, float]] | None = []
        self.joules()

    def joules(self) -> float | None:
        """Return the joules since the last call, or since the beginning; None without counters."""
        if self.before is None:
            return None
        before, self.before = self.before, self._counts() or None
        if self.before is None or len(self.before) != len(before):
            return None
        apart = [(now - was, end) for (now, end), (was, _) in zip(self.before, before, strict=True)]
        return sum(one + end if one < 0 else one for one, end in apart)

    def _counts(self) -> list[tuple[float, float]]:
        """Return value and wrap-around value of every counter, in joules."""
        try:
            if self.device.type == "cuda":
                import pynvml  # type: ignore[import-not-found]

                pynvml.nvmlInit()
                uuid = torch.cuda.get_device_properties(self.device).uuid
                handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
                if len(pynvml.nvmlDeviceGetComputeRunningProcesses(handle)) > 1:
                    return []
                return [(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3, 0.0)]
            counts: list[tuple[float, float]] = []
            for folder in sorted(self.powercap.glob("intel-rapl:*")):
                if (folder / "name").read_text().startswith("package"):  # others are parts of a processor
                    files = folder / "energy_uj", folder / "max_energy_range_uj"
                    now, end = (float(file.read_text()) / 1e6 for file in files)
                    counts.append((now, end))
            return counts
        except Exception:  # optional, so no error ends a training: RAPL is often readable only by root
            return []
