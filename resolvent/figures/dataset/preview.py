"""What the figures of a dataset's page read: the card (JSON) and the preview (npz) beside it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from resolvent.figures.common.results import read_arrays, read_json

ROLE_COLOURS = {"input": "#0072b2", "target": "#d55e00"}
MORE_COLOURS = ("#00805e", "#b0418a", "#4b4fb5", "#a87000")  # second inputs and targets


@dataclass(frozen=True)
class PreviewVariable:
    """A stored quantity as its page shows it: `samples` (samples, ...), along `dims`."""

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
    """The card and the preview of one dataset."""

    def __init__(self, card: str | Path, preview: str | Path):
        self.card = read_json(card)
        self.content = read_arrays(preview)
        self.samples = [str(label) for label in self.content["samples"]]

    @cached_property
    def variables(self) -> list[PreviewVariable]:
        """Inputs first, then targets, each in the card's order; windows of frames are left out."""
        ordered = [("input", name) for name in self.card["inputs"]]
        ordered += [("target", name) for name in self.card["targets"]]
        spare = iter(MORE_COLOURS)
        seen, found = set(), []
        for role, name in ordered:
            colour = next(spare) if role in seen else ROLE_COLOURS[role]
            seen.add(role)
            found.append(self._variable(role, name, colour))
        return found

    @property
    def functions(self) -> list[PreviewVariable]:
        """The variables that depend on space or time."""
        return [variable for variable in self.variables if variable.dims]

    def _variable(self, role: str, name: str, colour: str) -> PreviewVariable:
        facts = next(
            group["variables"][name] for group in self.card["groups"].values() if name in group["variables"]
        )
        return PreviewVariable(
            name=name,
            role=role,
            long_name=facts["long_name"],
            colour=colour,
            samples=self.content[f"{role}/{name}"],
            dims=tuple(map(str, self.content[f"dims/{name}"])),
            axes=self._below(f"axis/{name}/"),
            histogram=self._below(f"histogram/{name}/"),
            spectrum=self._below(f"spectrum/{name}/"),
        )

    def _below(self, prefix: str) -> dict[str, np.ndarray]:
        return {
            key.removeprefix(prefix): value for key, value in self.content.items() if key.startswith(prefix)
        }
