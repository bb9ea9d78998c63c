"""Measure training steps of the papers' operators, and the solvers, on a GPU; does nothing without a GPU.

    python -m benchmarks.gpu [--only gpu-steps] [--rounds 20] [--output docs/performance.md]

Needs an NVIDIA GPU with 24 GB of memory.
"""

from __future__ import annotations

import multiprocessing
from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from statistics import median

import jax
import numpy as np
import torch
from torch.cuda import Event

from benchmarks.runner import Part, digits, interleaved, run, table
from benchmarks.solvers.race import error_against, field_of
from benchmarks.steps.cases import Case, learner
from benchmarks.steps.memory import memory_of_step
from resolvent.measurements.step_cost import peak_memory, training_step
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import product_points
from resolvent.solvers.darcy.five_point import MAX_ITERATIONS, DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.random_fields.gaussian import level_set, lognormal
from resolvent.training.data import Batch
from resolvent.training.devices import choose_device, device_name, forward_precision, tf32
from resolvent.training.recorded import FIRST, Recorded

WARM_UP = FIRST + 1  # steps
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
Milliseconds are medians of {rounds} steps, measured by device events on {device}: in float32 with each kernel
launched by Python, and with the forward and backward passes replayed, as in a training. Memory is the peak of
a step in float32 minus weights and data, in GB: as measured by the allocator, and as predicted without a GPU
(`benchmarks/steps/memory.py`)."""
POINTS, PRESSURES, FLOWS = 421, 256, 64  # points per axis of a Darcy sample; numbers of samples
MODES, STEP, TIME = 71, 0.01, 11.1  # of a Kolmogorov flow
SOLVERS = """\
Samples per second: a batch in double precision, including copies from and to main memory; median of three
runs after a first run that compiles. Error: largest relative L² difference of the first two samples from
solutions on the CPU (multigrid for Darcy flow, the same integrator for Kolmogorov flow). Limit: for Darcy
flow, the rate at which {device} multiplies matrices in double precision, with four products per iteration;
for Kolmogorov flow, its copy bandwidth, if each of the 16 transforms of a step reads and writes its field
twice."""
TIMES = [f"{way}, ms" for way in ("kernel by kernel", *PRECISIONS)]
HEADER = ("operator", "points", "batch", *TIMES, "GB", "GB predicted")


def steps(given: Namespace) -> str:
    """Return the rows of every case in every precision."""
    device, rows = choose_device(1), []
    for case in CASES:
        launched = milliseconds(case, "float32", given.rounds, device, allowed=False)
        times = [launched, *(milliseconds(case, one, given.rounds, device) for one in PRECISIONS)]
        step, shapes = training_step(learner(case, device)), learner(case, torch.device("meta"))
        step()
        memory = memory_of_step(
            shapes.module, lambda one=shapes: (one.predict(one.u) - one.target).square().mean()
        )
        gigabytes = (one / 1e9 for one in (peak_memory(step, device), memory.peak - memory.weights))
        rows.append((case.name, case.grid, str(case.batch), *map(digits, (*times, *gigabytes))))
    return f"{STEPS.format(rounds=given.rounds, device=device_name(device))}\n\n{table(HEADER, rows)}"


def milliseconds(
    case: Case, precision: str, rounds: int, device: torch.device, allowed: bool = True
) -> float:
    """Return the median time of a step, measured by device events; recorded if `allowed`."""
    one, times = learner(case, device), []
    weights = list(one.module.parameters())
    optimiser = torch.optim.Adam(weights, lr=1e-4, fused=True)

    def gradients(batch: Batch) -> torch.Tensor:
        optimiser.zero_grad()
        with forward_precision(device, precision):
            prediction = one.predict(batch.inputs).float()
        loss = (prediction - batch.targets).square().mean()
        loss.backward()
        return loss.detach()

    passes, batch = Recorded(gradients, device, allowed), Batch(one.u, one.target)
    with tf32(precision == "tf32"):
        for _ in range(WARM_UP + rounds):
            start, end = Event(enable_timing=True), Event(enable_timing=True)
            start.record()
            passes(batch)
            torch.nn.utils.clip_grad_norm_(weights, 0.999)
            optimiser.step()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return median(times[WARM_UP:])


def solvers(given: Namespace) -> str:
    """Return the rows of both Darcy coefficients and of Kolmogorov flow."""
    device, square = choose_device(1), POINTS - 2
    one = torch.randn(2048, 2048, dtype=torch.float64, device=device)
    multiplied = 2 * 2048**3 / seconds_of(lambda: one @ one)
    copied = 2 * 8e9 / seconds_of(torch.empty(10**9, dtype=torch.float64, device=device).clone)
    rows = []
    for name, push_forward in (("3 or 12", level_set), ("lognormal", lognormal)):
        field = field_of("cao_darcy" if push_forward is level_set else "calvello_darcy", num_modes=POINTS - 1)
        draws = np.stack([field.coefficients(0, 0, index) for index in range(PRESSURES)])
        coefficients = push_forward(observe_cosine(draws, POINTS, "nodes"))
        solver = DarcyFivePoint(method="sine", accuracy=1e-9)
        _, iterations = solver._iterated(coefficients, np.ones_like(coefficients), MAX_ITERATIONS)
        least = 8 * square**3 * iterations.mean() / multiplied
        rows.append(solved(f"Darcy, {POINTS} × {POINTS}, coefficient {name}", solver, (coefficients,), least))
    initial = np.stack([field_of("calvello_kolmogorov").coefficients(0, 0, row) for row in range(FLOWS)])
    least = round(TIME / STEP) * 16 * 4 * 8 * product_points(MODES) ** 2 / copied
    solver = KolmogorovEtdrk4(num_modes=MODES, step=STEP)
    rows.append(solved(f"Kolmogorov flow to t = {TIME}, {MODES} modes", solver, (initial, (TIME,)), least))
    header = ("problem", "samples", "samples per second", "error", "share of limit")
    return f"{SOLVERS.format(device=device_name(device))}\n\n{table(header, rows)}"


def seconds_of(run, rounds: int = 5) -> float:
    """Return the median seconds of a call on the GPU, after an untimed first round."""
    (times,) = interleaved([lambda: (run(), torch.cuda.synchronize())], rounds, warm_up=1)
    return 1e-3 * times.middle


def solved(name: str, solver, arguments: tuple, least: float) -> tuple[str, ...]:
    """Return a row; `least` is the lower limit in seconds per sample."""
    initial, *others = arguments
    took = seconds_of(lambda: solver.solve(initial, *others), 3) / len(initial)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), on_processor) as processor:
        other = replace(solver, method="multigrid") if isinstance(solver, DarcyFivePoint) else solver
        expected = processor.submit(other.solve, initial[:2], *others).result()
    error = error_against(expected)(solver.solve(initial[:2], *others))
    return name, str(len(initial)), digits(1 / took), f"{error:.0e}", f"{least / took:.0%}"


def on_processor() -> None:
    """Hide GPUs from JAX in this process."""
    jax.config.update("jax_platforms", "cpu")  # JAX is already imported, so it ignores the environment


if __name__ == "__main__":
    if torch.cuda.is_available():
        part = Part("Steps", steps, ("torch",), device_name(torch.device("cuda")))
        beside = Part("Solvers", solvers, ("jax", "torch"), part.machine)
        run("gpu", {"gpu-steps": part, "gpu-solvers": beside}, rounds=20)
    else:
        print("benchmarks.gpu: no GPU here, nothing is measured")
