"""Profile training steps and solvers, and write the shares to docs/performance.md.

    python -m benchmarks.profiles [--only step-profiles ...] [--rounds 3] [--output docs/performance.md]

Takes five minutes. Shares are of processor time, which is not affected by other processes.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from time import process_time

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile
from tqdm import tqdm

from benchmarks.attention import PATCHES, SQUARE, TRAJECTORIES
from benchmarks.runner import Part, digits, gemm_rate, interleaved, run, table
from benchmarks.solvers.race import Field, field_of
from benchmarks.steps.cases import learner
from benchmarks.training import ATTENTIONS, case_of
from resolvent.measurements.step_cost import training_step
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import observe_2d
from resolvent.solvers.darcy.conjugate_gradients import workspace
from resolvent.solvers.darcy.five_point import MAX_ITERATIONS, DarcyFivePoint
from resolvent.solvers.darcy.multigrid import apply, fill_hierarchy, levels, store_conductances, v_cycle
from resolvent.solvers.random_fields.gaussian import lognormal
from resolvent.training.devices import keep_memory
from resolvent.training.operations import counted

KINDS = {  # kinds of torch operations, by parts of their names
    "fused attention": ("scaled_dot_product",),
    "matrix products": ("mm", "linear"),
    "Fourier transforms": ("fft",),
    "convolutions": ("conv",),
    "exponentials, softmax": ("exp", "softmax"),
    "copies": ("copy", "cat", "clone", "fill", "zero"),
}
PRODUCTS = ("fused attention", "matrix products", "convolutions")
REST = "other, elementwise"
STEPS = [
    *(case_of("transformer1d", attention, 2048) for attention in ATTENTIONS),
    case_of("transformer1d", "galerkin", 8192),
    *(case_of("transformer2d", attention, 141) for attention in ATTENTIONS),
    *TRAJECTORIES,
    *SQUARE[1:],
    *PATCHES,
]
SHARES = """\
"Of GEMM" is the rate of a step's products relative to 2048 × 2048 matrix products, which run at {gemm}
GFLOP/s here. It is the share of the time in products (matrix products, fused attention, convolutions) times
their relative rate. Products of narrow matrices, such as heads of width 16, are slower than products of large
matrices."""
HEADER = ("step", "points", "batch", "of GEMM", "in products", "rate of products, of GEMM", *KINDS, REST)
COUNTED = 2  # steps


def of_steps(given: Namespace) -> str:
    """Measure shares of kinds of operations with torch's profiler, and the rate of matrix products."""
    rows, gemm = [], gemm_rate()
    for case in tqdm(STEPS, leave=False):
        step = training_step(learner(case, torch.device("cpu")))
        step()
        (times,) = interleaved([step], given.rounds, clock=process_time)
        with profile(activities=[ProfilerActivity.CPU]) as recorded:
            for _ in range(COUNTED):
                step()
        seconds = dict.fromkeys((*KINDS, REST), 0.0)
        for operation in recorded.key_averages():
            kinds = (kind for kind, parts in KINDS.items() if any(part in operation.key for part in parts))
            seconds[next(kinds, REST)] += operation.self_cpu_time_total
        of_gemm = counted(step) / (1e-3 * times.fastest) / gemm
        shares = [part / sum(seconds.values()) for part in seconds.values()]
        in_products = sum(shares[list(KINDS).index(kind)] for kind in PRODUCTS)
        numbers = (of_gemm, in_products, of_gemm / in_products, *shares)
        rows.append((case.name, case.grid, str(case.batch), *(f"{one:.0%}" for one in numbers)))
    return f"{SHARES.format(gemm=digits(gemm / 1e9))}\n\n{table(HEADER, rows)}"


def of_solvers(given: Namespace) -> str:
    """Measure the shares of a solver's parts; each is called separately as often as for one sample."""
    neumann = field_of("cao_darcy", num_modes=420)
    periodic = field_of("calvello_kolmogorov", num_modes=207)
    solvers = {f"Darcy, multigrid, {points}²": parts_of_darcy(points) for points in (421, 832)}
    solvers["Neumann field, 421²"] = parts_of_field(neumann, lambda draw: observe_cosine(draw, 421, "nodes"))
    solvers["periodic field, 416²"] = parts_of_field(periodic, lambda draw: observe_2d(draw, 416))
    rows = []
    for name, parts in solvers.items():
        times = interleaved(list(parts.values()), given.rounds, warm_up=1, clock=process_time)
        whole = times[0].fastest
        shares = [f"{part} {one.fastest / whole:.0%}" for part, one in zip(parts, times, strict=True)][1:]
        rows.append((name, digits(whole), ", ".join(shares)))
    return table(("solver", "ms per sample", "parts"), rows)


def parts_of_darcy(points: int) -> dict[str, Callable[[], object]]:
    """Return the whole, and its parts."""
    field = field_of("calvello_darcy", num_modes=points - 1)
    coefficient = lognormal(observe_cosine(field.coefficients(0, 0, 0)[None], points, "nodes"))
    solver = DarcyFivePoint()
    _, (iterations,) = solver._multigrid(coefficient, np.ones_like(coefficient), MAX_ITERATIONS)
    hierarchy = levels(points, "nodes")
    stored, across, along, direction, image = workspace(hierarchy.sizes, coefficient.dtype)
    direction[1:-1, 1:-1] = 1

    def set_up() -> None:
        store_conductances(coefficient[0], False, 1, False, across, along)
        fill_hierarchy(stored, coefficient[0], across, along, *hierarchy, False)

    def cycles() -> None:
        for _ in range(iterations):
            v_cycle(stored, *hierarchy)

    def products() -> None:
        for _ in range(iterations):
            apply(direction, across, along, image)

    set_up()
    return {
        "whole": lambda: solver.solve(coefficient),
        "grids and conductances": set_up,
        f"{iterations} V-cycles": cycles,
        "products with the matrix": products,
    }


def parts_of_field(field: Field, evaluate: Callable) -> dict[str, Callable[[], object]]:
    """Return the whole, and its parts."""
    draw = field.coefficients(0, 0, 0)
    return {
        "whole": lambda: evaluate(field.coefficients(0, 0, 0)),
        "normal deviates, scaled": lambda: field.coefficients(0, 0, 0),
        "transform": lambda: evaluate(draw),
    }


PARTS = {
    "step-profiles": Part("Training steps by kind of operation", of_steps, ("torch",)),
    "solver-profiles": Part("Solvers by part", of_solvers, ("numba", "numpy")),
}


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    torch.set_num_threads(1)
    keep_memory(large=True)
    run("profiles", PARTS)
