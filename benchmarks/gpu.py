"""Training steps of every paper's operators on a GPU, in each precision; nothing where there is no GPU.

    python -m benchmarks.gpu [--only steps] [--rounds 20] [--output docs/performance.md]

Needs an NVIDIA GPU with 24 GB of memory.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from statistics import median

import torch
from torch.cuda import Event

from benchmarks.runner import Part, digits, run, table
from benchmarks.steps.cases import Case, learner
from resolvent.measurements.step_cost import peak_memory, training_step
from resolvent.training.devices import choose_device, device_name, forward_precision, tf32
from resolvent.training.memory import memory_of_step

WARM_UP = 3  # steps
PRECISIONS = ("float32", "tf32", "bfloat16")
CASES = [
    Case("fno2d", 141, 4, {}),
    Case("transformer1d", 8192, 4, {"attention": "galerkin"}),
    Case("transformer1d", 8192, 4, {"attention": "softmax"}),
    Case("transformer2d", 141, 4, {}),
    Case("tno1d", 200, 64, {}),
    Case("tno2d", 64, 2, {}),
    Case("neuraloperator2d", 416, 1, {}),
    Case("vit_no", 416, 1, {"patches": 13}),
    Case("fano", 416, 1, {"patches": 13}),
]
STEPS = """\
Milliseconds are medians of {rounds} steps by the events of {device}. Memory is the peak of a step beyond
weights and data, in GB: what the allocator gave out, and what was predicted without the GPU
(`resolvent/training/memory.py`), in float32."""
HEADER = ("operator", "points", "batch", *(f"{one}, ms" for one in PRECISIONS), "GB", "GB predicted")


def steps(given: Namespace) -> str:
    """Return the rows of every case in every precision."""
    device, rows = choose_device(1), []
    for case in CASES:
        times = [milliseconds(case, precision, given.rounds, device) for precision in PRECISIONS]
        step, shapes = training_step(learner(case, device)), learner(case, torch.device("meta"))
        step()
        memory = memory_of_step(
            shapes.module, lambda one=shapes: (one.predict(one.u) - one.target).square().mean()
        )
        gigabytes = (one / 1e9 for one in (peak_memory(step, device), memory.peak - memory.weights))
        rows.append((case.name, case.grid, str(case.batch), *map(digits, (*times, *gigabytes))))
    return f"{STEPS.format(rounds=given.rounds, device=device_name(device))}\n\n{table(HEADER, rows)}"


def milliseconds(case: Case, precision: str, rounds: int, device: torch.device) -> float:
    """Return the median time of a step, by events of the device."""
    one = learner(case, device)

    def predict(u: torch.Tensor) -> torch.Tensor:
        with forward_precision(device, precision):
            return one.predict(u).float()

    step, times = training_step(replace(one, predict=predict)), []
    with tf32(precision == "tf32"):
        for _ in range(rounds + WARM_UP):
            start, end = Event(enable_timing=True), Event(enable_timing=True)
            start.record()
            step()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return median(times[WARM_UP:])


if __name__ == "__main__":
    if torch.cuda.is_available():
        part = Part("Steps", steps, ("torch",), device_name(torch.device("cuda")))
        run("gpu", {"steps": part}, rounds=20)
    else:
        print("benchmarks.gpu: no GPU here, nothing is measured")
