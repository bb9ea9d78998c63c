"""A sample at many moments, from which the film of a dataset's page is drawn: computed, and written as .npz.

sample              which sample, "test 0"
kind                "curve", "field" or "path"
times (frames)      in the unit of the equation
values              float32: of a curve (frames, points), of a field (frames, points, points), [y, x], of a
                    path in a plane (frames, 2)
coordinates         of the points along an axis; of a path empty
names               what the values are: one name, or two of a path
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from resolvent.common.digests import save_arrays
from resolvent.datasets.loading import read_card
from resolvent.datasets.motion.registry import motion_of
from resolvent.datasets.tasks.registry import build_task, settings_of

FRAMES = 100  # four seconds at 25 frames a second


@dataclass(frozen=True)
class Motion:
    """A sample at `times`; the module's docstring has the shapes."""

    kind: Literal["curve", "field", "path"]
    times: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    coordinates: np.ndarray = field(default_factory=lambda: np.zeros(0))


def write_motion(card_path: Path, output: Path) -> None:
    """Solve the first test sample of the dataset at `card_path` again, and write it at `FRAMES` moments.

    Where there are no test samples it is the first of validation, or of training.

    Raises
    ------
    DatasetError
        When the card is missing or damaged.
    KeyError
        When the equation has no film.
    SolverError
        When the sample cannot be solved.
    """
    card = read_card(card_path)
    split = next(name for name in ("test", "validation", "train") if card["samples"][name])
    motion = motion_of(build_task(settings_of(card["settings"])), (split, 0))
    content = {
        "sample": np.array(f"{split} 0"),
        "kind": np.array(motion.kind),
        "times": motion.times,
        "values": motion.values.astype(np.float32),
        "coordinates": motion.coordinates,
        "names": np.array(motion.names),
    }
    save_arrays(output, content)
