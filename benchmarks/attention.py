"""Milliseconds of a training step of the one-dimensional transformers, and of the Fourier neural operator.

    python -m benchmarks.attention [--output docs/performance.md]

One thread, float32, batch 8, the paper's sizes (Cao 2021, arXiv:2105.14995, Example 1). Steps of all models
are interleaved, so that a busy machine slows them alike: read the ratios to galerkin, not the milliseconds.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from benchmarks.tables import machine, replaced, table
from models.build import build

MODELS = {
    "galerkin": ("transformer1d", {"attention": "galerkin"}),
    "fourier, linear order": ("transformer1d", {"attention": "fourier"}),
    "fourier, quadratic order": ("transformer1d", {"attention": "fourier", "contraction": "quadratic"}),
    "softmax": ("transformer1d", {"attention": "softmax"}),
    "linear": ("transformer1d", {"attention": "linear"}),
    "fno1d": ("fno1d", {}),
}


SECTION = """\
## Training steps

One training step (forward, backward, Adam) of the one-dimensional operators at the paper's widths, by
`python -m benchmarks.attention`: float32, batch {arguments.batch}, one thread; {machine}. Median of
{arguments.repetitions} interleaved steps; the machine is shared, so read the ratios.

{table}
"""


def training_step(architecture: str, settings: dict, n: int, batch: int):
    """A function that does one step: forward, backward, Adam."""
    operator = build(architecture, settings, seed=0)
    optimiser = torch.optim.Adam(operator.parameters(), lr=1e-4)
    u, target, x = torch.randn(batch, n, 1), torch.randn(batch, n, 1), torch.arange(n)[:, None] / n

    def step() -> None:
        optimiser.zero_grad()
        (operator(u, x) - target).square().mean().backward()
        optimiser.step()

    return step


def measure(n: int, batch: int, repetitions: int) -> dict[str, float]:
    """Median milliseconds of a step of each model."""
    steps = {name: training_step(*model, n, batch) for name, model in MODELS.items()}
    times = {name: [] for name in steps}
    for repetition in range(-2, repetitions):  # two rounds to warm up
        for name, step in steps.items():
            start = perf_counter()
            step()
            if repetition >= 0:
                times[name].append(1e3 * (perf_counter() - start))
    return {name: median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time training steps of the one-dimensional operators.")
    parser.add_argument("--points", type=int, nargs="+", default=[512, 2048], help="grid sizes")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--output", type=Path, help="write the table into this Markdown page")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    rows = []
    for n in arguments.points:
        times = measure(n, arguments.batch, arguments.repetitions)
        rows += [(str(n), name, f"{t:.0f}", f"{t / times['galerkin']:.2f}") for name, t in times.items()]
    header = ("n", "model", "ms a step", "relative to galerkin")
    section = SECTION.format(arguments=arguments, machine=machine(), table=table(header, rows))
    print(section)
    if arguments.output:
        arguments.output.write_text(replaced(arguments.output.read_text(), "attention", section))


if __name__ == "__main__":
    main()
