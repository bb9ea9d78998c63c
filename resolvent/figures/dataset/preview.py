"""Read the card (JSON) and the preview (npz) of a dataset, for the figures of its page."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resolvent.common.counts import counted
from resolvent.figures.common.results import read_arrays, read_card

MEASURED = 64  # most samples of histograms and spectra, as in resolvent.datasets.preview
COLOURS = {"input": "#0072b2", "target": "#d55e00"}
MORE_COLOURS = ("#00805e", "#b0418a", "#4b4fb5", "#a87000")  # of second inputs and targets


@dataclass(frozen=True)
class PreviewVariable:
    """A stored variable: `samples` (samples, ...), with the dimensions `dims`."""

    name: str
    role: str
    long_name: str
    colour: str
    samples: np.ndarray
    dims: tuple[str, ...]
    axes: dict[str, np.ndarray]
    histogram: dict[str, np.ndarray]
    spectrum: dict[str, np.ndarray]

    @property
    def label(self) -> str:
        return f"{self.role}: {self.long_name}"


class DatasetPreview:
    """The card and preview of a dataset.

    variables  inputs, then targets, each in the card's order, without windows of frames.
    functions  the variables that depend on space or time.
    """

    def __init__(self, card: str | Path, preview: str | Path):
        self.card, self.content = read_card(card), read_arrays(preview)
        self.samples = [str(label) for label in self.content["samples"]]
        names = {"input": self.card["inputs"], "target": self.card["targets"]}
        spare = iter(MORE_COLOURS)
        self.variables = [
            self._variable(role, name, next(spare) if place else COLOURS[role])
            for role, of_role in names.items()
            for place, name in enumerate(of_role)
        ]
        self.functions = [variable for variable in self.variables if variable.dims]

    @property
    def measured(self) -> dict[str, str]:
        """Return the samples of histograms and spectra in words, for captions."""
        split = self.samples[0].split()[0]
        count = min(MEASURED, self.card["samples"][split])
        band = ": the median, and the band from the 5 % to the 95 % quantile" if count > 1 else ""
        return {"measured": counted(count, f"{split} sample"), "band": band}

    def _variable(self, role: str, name: str, colour: str) -> PreviewVariable:
        group = next(group for group in self.card["groups"].values() if name in group["variables"])
        arrays: dict[str, dict[str, np.ndarray]] = {"axis": {}, "histogram": {}, "spectrum": {}}
        for key, values in self.content.items():
            kind, _, rest = key.partition("/")
            if kind in arrays and rest.startswith(f"{name}/"):
                arrays[kind][rest.removeprefix(f"{name}/")] = values
        dims = tuple(map(str, self.content[f"dims/{name}"]))
        long_name, samples = group["variables"][name]["long_name"], self.content[f"{role}/{name}"]
        return PreviewVariable(name, role, long_name, colour, samples, dims, *arrays.values())
