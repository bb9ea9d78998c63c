"""Training steps of every paper's operators on a GPU, in each precision; nothing where there is no GPU.

    python -m benchmarks.gpu [--only steps] [--rounds 20] [--output docs/performance.md]

Needs an NVIDIA GPU with 24 GB of memory.
"""

from __future__ import annotations

from statistics import median

import torch
from torch.cuda import Event

from benchmarks.attention.cases import Case, learner
from benchmarks.tables import arguments, digits, measure_parts, table, versions
from resolvent.measurements.step_cost import peak_memory, training_step
from resolvent.training.devices import choose_device, device_name
from resolvent.training.memory import memory_of_step
from resolvent.training.precision import forward_precision, tf32

PACKAGES = ("torch",)
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
INTRODUCTION = """\
## On a GPU

Steps of training (forward, backward, clipping of the gradient, Adam) at the papers' sizes."""
STEPS = """\
Milliseconds are medians of {rounds} steps by the events of {device}. Memory is the peak of a step beyond
weights and data, in GB: what the allocator gave out, and what was predicted without the GPU
(`resolvent/training/memory.py`), in float32."""
HEADER = ("architecture", "points", "batch", *(f"{one}, ms" for one in PRECISIONS), "GB", "GB predicted")


def main() -> None:
    options = arguments("Time training steps on a GPU.", ("steps",), 20).parse_args()
    if not torch.cuda.is_available():
        print("benchmarks.gpu: no GPU here, nothing is measured")
        return
    measure_parts("gpu", INTRODUCTION, {"steps": lambda: steps(options.rounds)}, options.only, options.output)


def steps(rounds: int) -> str:
    """Return the rows of every case in every precision."""
    device = choose_device(1)
    body = table(HEADER, [row(case, rounds, device) for case in CASES])
    command = f"`python -m benchmarks.gpu --rounds {rounds}`"
    made = f"{command} on {device_name(device)}; {versions(PACKAGES)}."
    return "\n\n".join(["### Steps", STEPS.format(rounds=rounds, device=device_name(device)), body, made])


def row(case: Case, rounds: int, device: torch.device) -> tuple[str, ...]:
    times = [milliseconds(case, precision, rounds, device) for precision in PRECISIONS]
    step = training_step(learner(case, device))
    step()
    peak = peak_memory(step, device)
    settings = ", ".join(f"{key} {value}" for key, value in case.settings.items() if key != "patches")
    name = f"`{case.architecture}`" + (f", {settings}" if settings else "")
    return (name, str(case.points), str(case.batch), *map(digits, times), digits(peak / 1e9), predicted(case))


def milliseconds(case: Case, precision: str, rounds: int, device: torch.device) -> float:
    """Return the median time of a step, by events of the device."""
    one = learner(case, device)

    def predict(u: torch.Tensor) -> torch.Tensor:
        with forward_precision(device, precision):
            return one.predict(u).float()

    step = training_step(type(one)(one.module, predict, one.u, one.target))
    times = []
    with tf32(precision == "tf32"):
        for _ in range(rounds + 3):
            start, end = Event(enable_timing=True), Event(enable_timing=True)
            start.record()
            step()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return median(times[3:])


def predicted(case: Case) -> str:
    one = learner(case, torch.device("meta"))
    memory = memory_of_step(one.module, lambda: (one.predict(one.u) - one.target).square().mean())
    return digits((memory.peak - memory.weights) / 1e9)


if __name__ == "__main__":
    main()
