"""Where the time goes: shares of a training step, and of a solver's time, into docs/performance.md.

    python -m benchmarks.profiles [--only step-profiles ...] [--rounds 3] [--output docs/performance.md]

Takes five minutes. Shares are of the processor's time, which other processes do not lengthen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile
from tqdm import tqdm

from benchmarks.attention.cases import Case, learner
from benchmarks.rounds import interleaved
from benchmarks.tables import arguments, digits, machine, measure_parts, table, versions
from benchmarks.training import cases as cao2021
from resolvent.measurements.step_cost import Learner, training_step
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import observe_2d
from resolvent.solvers.darcy.conjugate_gradients import workspace
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.darcy.multigrid import apply, fill_hierarchy, levels, store_conductances, v_cycle
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import NeumannGaussianField, PeriodicGaussianField2d, lognormal
from resolvent.training.devices import keep_memory

INTRODUCTION = """\
## Where the time goes

Of the training steps and solvers whose lead over the fastest other code is smallest, or smaller than we aim
at. Processor time on one thread; the machine may be shared: read the shares. Parts of solvers are called
alone, so that their shares need not add up to 100 %."""
KINDS = {  # of what torch computes, by parts of the names of its operations
    "fused attention": ("scaled_dot_product",),
    "matrix products": ("mm", "linear"),
    "Fourier transforms": ("fft",),
    "convolutions": ("conv",),
    "exponentials, softmax": ("exp", "softmax"),
    "copies": ("copy", "cat", "clone", "fill", "zero"),
}
REST = "all else, element by element"
CPU = torch.device("cpu")
STEPS = {
    "`tno1d`, 200 times, batch 64": lambda: learner(Case("tno1d", 200, 64, {}), CPU),
    "`tno2d`, 64²": lambda: learner(Case("tno2d", 64, 1, {}), CPU),
    "`vit_no`, 208²": lambda: learner(Case("vit_no", 208, 1, {"patches": 13, "modes": 8}), CPU),
    "Galerkin, n = 8,192, batch 4": lambda: cao2021.learner(
        cao2021.Case("transformer1d", "galerkin", 8192, 4), CPU
    ),
}

COUNTED = 2  # steps


def main() -> None:
    options = arguments("Profile steps and solvers.", PARTS, rounds=3).parse_args()
    torch.set_flush_denormal(True)
    torch.set_num_threads(1)
    keep_memory(large=True)
    parts = {part: partial(described, part, options.rounds) for part in PARTS}
    measure_parts("profiles", INTRODUCTION, parts, options.only, options.output)


def described(part: str, rounds: int) -> str:
    """Return a part as Markdown, with the command that measures it."""
    title, measure, packages = PARTS[part]
    command = f"`python -m benchmarks.profiles --only {part} --rounds {rounds}`"
    return f"### {title}\n\n{measure(rounds)}\n\n{command} on {machine()}; {versions(packages)}."


def of_steps(rounds: int) -> str:
    """Measure the shares of the kinds of operations; the number of rounds does not matter."""
    rows = []
    for name, make in tqdm(STEPS.items(), leave=False):
        shares = shares_of_step(make())
        rows.append((name, *(f"{shares[kind]:.0%}" for kind in (*KINDS, REST))))
    return table(("step", *KINDS, REST), rows)


def shares_of_step(of: Learner) -> dict[str, float]:
    """Return the share of each kind of operations in the time of a step, by torch's profiler."""
    step = training_step(of)
    step()
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(COUNTED):
            step()
    seconds = dict.fromkeys((*KINDS, REST), 0.0)
    for operation in recorded.key_averages():
        seconds[kind_of(operation.key)] += operation.self_cpu_time_total
    return {kind: part / sum(seconds.values()) for kind, part in seconds.items()}


def kind_of(operation: str) -> str:
    """Return the kind of an operation of torch, by its name."""
    return next((kind for kind, parts in KINDS.items() if any(part in operation for part in parts)), REST)


def of_solvers(rounds: int) -> str:
    """Measure the shares of the parts of solvers, each called alone as often as solving a sample calls it."""
    rows = []
    for name, parts in (
        *((f"Darcy, multigrid, {points}²", parts_of_darcy(points)) for points in (421, 832)),
        ("Neumann field, 421²", parts_of_neumann_field(421)),
        ("periodic field, 416²", parts_of_periodic_field(416)),
    ):
        times = interleaved(list(parts.values()), rounds, warm_up=1, clock=process_time)
        whole = times[0].fastest
        shares = [f"{part} {one.fastest / whole:.0%}" for part, one in zip(parts, times, strict=True)][1:]
        rows.append((name, digits(whole), ", ".join(shares)))
    return table(("solver", "ms a sample", "parts"), rows)


def parts_of_darcy(points: int) -> dict[str, Callable[[], object]]:
    """Return the whole, and its parts."""
    named = DISTRIBUTIONS["calvello_darcy"]
    field = NeumannGaussianField(named.sigma, named.tau, named.gamma, num_modes=points - 1)
    coefficient = lognormal(observe_cosine(field.coefficients(0, 0, 0)[None], points, "nodes"))
    solver = DarcyFivePoint()
    _, (iterations,) = solver._multigrid(coefficient, np.ones_like(coefficient))
    hierarchy = levels(points, "nodes")
    stored, across, along, direction, image = workspace(hierarchy.sizes, coefficient.dtype)
    direction[1:-1, 1:-1] = 1

    def set_up() -> None:
        store_conductances(coefficient[0], False, False, across, along)
        fill_hierarchy(stored, coefficient[0], across, along, *hierarchy, False)

    def repeated(call: Callable[[], object]) -> Callable[[], object]:
        return lambda: [call() for _ in range(iterations)]

    set_up()
    return {
        "whole": lambda: solver.solve(coefficient),
        "grids and conductances": set_up,
        f"{iterations} V-cycles": repeated(lambda: v_cycle(stored, *hierarchy)),
        "products with the matrix": repeated(lambda: apply(direction, across, along, image)),
    }


def parts_of_neumann_field(points: int) -> dict[str, Callable[[], object]]:
    """Return the whole, and its parts."""
    named = DISTRIBUTIONS["cao_darcy"]
    field = NeumannGaussianField(named.sigma, named.tau, named.gamma, num_modes=points - 1)
    return _drawn_and_evaluated(field, lambda draw: observe_cosine(draw, points, "nodes"))


def parts_of_periodic_field(points: int) -> dict[str, Callable[[], object]]:
    """Return the whole, and its parts."""
    named = DISTRIBUTIONS["calvello_kolmogorov"]
    field = PeriodicGaussianField2d(
        named.sigma, named.tau, named.gamma, num_modes=points // 2 - 1, orthonormal=named.orthonormal
    )
    return _drawn_and_evaluated(field, lambda draw: observe_2d(draw, points))


def _drawn_and_evaluated(field, evaluate: Callable) -> dict[str, Callable[[], object]]:
    draw = field.coefficients(0, 0, 0)
    return {
        "whole": lambda: evaluate(field.coefficients(0, 0, 0)),
        "normal deviates, scaled": lambda: field.coefficients(0, 0, 0),
        "transform": lambda: evaluate(draw),
    }


PARTS = {
    "step-profiles": ("Training steps by kind of operation", of_steps, ("torch",)),
    "solver-profiles": ("Solvers by part", of_solvers, ("numba", "numpy")),
}


if __name__ == "__main__":
    main()
