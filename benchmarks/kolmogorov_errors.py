"""How good the estimated errors of pairs of Kolmogorov flow are, and what they cost.

    python -m benchmarks.kolmogorov_errors [--only demo laptop full-resolution] \
        [--output docs/equations/kolmogorov.md]

Makes samples of the dataset `kolmogorov` of a configuration. Their estimates (`Kolmogorov.pair_errors`) are
compared with errors against a run over the lead time that is far more refined: three times the modes, 1/16 of
the step.
Seconds are of the processor, of all cores, after a first batch that compiles.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.tables import digits, machine, measure_parts, table, versions
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.kolmogorov import Kolmogorov
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.solvers.common.fourier import observe_2d

OVERLAYS = {
    "demo": ["config/demo.yaml"],
    "laptop": [],
    "full-resolution": ["config/full_resolution.yaml"],
}
SAMPLES = {"demo": 8, "laptop": 8, "full-resolution": 2}
INTRODUCTION = """
The estimate of a pair's error beside the error against a run over the lead time with three times the modes
and 1/16 of the step ("true"); and the processor time of the estimate as a share of what making the samples
took.
"""


@dataclass(frozen=True)
class Measured:
    """Errors of each sample, (samples,), and processor seconds of all together.

    estimated  by the dataset's own estimate.
    true       against the far more refined run.
    making     seconds that the samples took, without the estimates.
    estimating seconds that the estimates took.
    """

    estimated: np.ndarray
    true: np.ndarray
    making: float
    estimating: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=OVERLAYS, default=list(OVERLAYS), metavar="PART")
    parser.add_argument("--output", type=Path, help="write the table into this Markdown page")
    given = parser.parse_args()
    parts = {name: partial(body, name) for name in OVERLAYS}
    measure_parts("pair-errors", INTRODUCTION, parts, given.only, given.output)


def body(name: str) -> str:
    """Return the table of a configuration, and what made it."""
    task = Kolmogorov(
        load_configuration(read_configuration(list(map(Path, OVERLAYS[name])))).datasets["kolmogorov"]
    )
    settings, found = task.settings, measured(task, SAMPLES[name])
    ratio = found.estimated / found.true
    row = [
        f"{name}: {settings.num_modes} modes, step {settings.step:g}, {max(settings.resolutions)}²",
        str(len(ratio)),
        f"{found.estimated.min():.1e} to {found.estimated.max():.1e}",
        f"{ratio.min():.4f} to {ratio.max():.4f}",
        f"{digits(found.making / len(ratio))} s",
        f"{found.estimating / found.making:.1%}",
    ]
    header = [
        "setting",
        "samples",
        "estimated errors",
        "estimated / true",
        "making a sample",
        "the estimate, of that",
    ]
    command = f"`python -m benchmarks.kolmogorov_errors --only {name}`"
    return f"{table(header, [row])}\n\n{command} on {machine()}; {versions(['jax', 'numpy', 'scipy'])}."


def measured(task: Kolmogorov, samples: int) -> Measured:
    """Make the first samples of the dataset in batches, as generation does, and measure."""
    settings, points = task.settings, max(task.settings.resolutions)
    far = task._solver("etdrk4", 3 * settings.num_modes, settings.step / 16)
    task.pair_errors(task.march(task.draw([("train", 0)])))  # compiles
    estimated, true, making, estimating = [], [], 0.0, 0.0
    for start in range(0, samples, task.batch):
        names = [task.layout.split_of(index) for index in range(start, min(start + task.batch, samples))]
        clock = process_time()
        coefficients = task.march(task.draw(names))
        stored = task.observed(coefficients)
        made = process_time()
        estimated.append(task.pair_errors(coefficients))
        making, estimating = making + made - clock, estimating + process_time() - made
        later = far.solve(coefficients[:, 0], (settings.lead_time,))[:, 0]
        target = stored[f"n{points}/later_vorticity"].astype(task.dtype)
        true.append(relative_l2(target, observe_2d(later, points)))
    return Measured(np.concatenate(estimated), np.concatenate(true), making, estimating)


if __name__ == "__main__":
    main()
