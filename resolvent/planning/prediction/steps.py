"""Whether a step of training fits into the memory of its device: predicted from the arrays that it makes.

To count them takes torch and a fraction of a second, so it is done for those steps only that may not fit: by
the formula of `resolvent.planning.prediction.costs`, which is good to a factor of three.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from resolvent.common.counts import counted
from resolvent.common.machine import machine_memory
from resolvent.planning.gpus.devices import smallest_memory

DOUBT = 3.0  # how far the formula may be off


@dataclass(frozen=True)
class Step:
    """A step of training: `guess` are its bytes on the device by the formula, `samples` those of all samples.

    `settings` are those of the architecture, as JSON. `processes` share the batch.
    """

    name: str
    architecture: str
    settings: str
    points: int
    batch: int
    precision: str
    processes: int
    guess: float
    samples: float


def steps_that_do_not_fit(steps: Iterable[Step], gpu: bool) -> Iterator[str]:
    """Say which steps need more memory than the GPU has, or the machine, and what becomes of them."""
    memory = smallest_memory() if gpu else machine_memory()
    if not memory:
        return
    place = "a GPU here has" if gpu else "this machine has"
    for step in dict.fromkeys(steps):
        if DOUBT * step.guess + step.samples <= memory:
            continue
        part = -(-step.batch // step.processes)
        needed = step_bytes(step, part)
        if needed <= memory:
            continue
        fitting = part // 2
        while fitting and step_bytes(step, fitting) > memory:
            fitting //= 2
        then = (
            f"they are taken {fitting} at a time" if fitting else "not even one fits: choose a smaller model"
        )
        yield (
            f"a step of {step.name} needs {needed / 1e9:,.1f} GB for {counted(part, 'sample')} and {place} "
            f"{memory / 1e9:,.1f} GB; {then}"
        )


def step_bytes(step: Step, batch: int) -> float:
    """Predict the bytes that a step of `batch` samples takes, with all samples that are held."""
    from resolvent.training.memory import step_memory

    settings = json.loads(step.settings)
    return step.samples + step_memory(step.architecture, settings, step.points, batch, step.precision).peak
