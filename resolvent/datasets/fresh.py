"""Samples without end: drawn and solved while a network trains on those before them."""

from __future__ import annotations

from threading import Lock

import numpy as np

from resolvent.datasets.loading import Members, Split
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.solvers.common.grid import Grid


class FreshSplit(Split):
    """Training samples of the distribution and the solver of a dataset, which are not in its store.

    They follow on the stored ones: sample k has the numbers that it would have in a larger dataset of the
    same settings, whenever and wherever it is asked for. `count` is the number of samples in an epoch; the
    k-th epoch has those from (k - 1) · count.
    """

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.task = build_task(settings_of(self.card["settings"]))
        self.solving = Lock()

    def _finest(self, own: Grid, target: str, as_coded: bool) -> int:
        return own.points  # nothing finer is solved for the gradients

    def _arrays(self, names: list[str], members: Members) -> dict[str, np.ndarray]:
        first = self.card["samples"][self.name]
        with self.solving:  # solvers are not meant for several threads
            arrays = self.task.compute([(self.name, first + int(member)) for member in members])
        return {name: arrays[name].astype(self.task.layout.dtype) for name in names}
