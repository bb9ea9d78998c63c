"""Automatic settings from a stated accuracy: achieved error, and cost relative to the best manual setting.

    python -m benchmarks.accuracy [--only burgers darcy lorenz63 kolmogorov] [--output docs/performance.md]

The best manual setting is the fastest tried setting with the required accuracy for all samples, found with
the reference solution. Seconds are processor time, after a first run.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np
from tqdm import tqdm

from benchmarks.runner import Part, digits, interleaved, run, table
from benchmarks.solvers.race import field_of
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.burgers import PILOT, PUBLIC_FILE_TIME, BurgersDataset
from resolvent.datasets.tasks.kolmogorov import PILOT as FLOW_PILOT
from resolvent.datasets.tasks.kolmogorov import KolmogorovDataset
from resolvent.datasets.tasks.lorenz63 import Lorenz63Dataset
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.equation import difference_of_spectra
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.accuracy import MODES, MODES_2D
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import uniform
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.etdrk4 import pilot as pilot_flow
from resolvent.solvers.kolmogorov.etdrk4 import solve_to as solve_flow_to
from resolvent.solvers.kolmogorov.flow import largest_difference
from resolvent.solvers.lorenz63 import ORDERS, Lorenz63, initial_condition
from resolvent.solvers.lorenz63 import solve_to as solve_lorenz_to
from resolvent.solvers.random_fields.gaussian import level_set, lognormal

HEADER = (
    "setting", "requested", "achieved", "", "selected", "ms per sample", "best manual setting",
    "ms per sample", "ratio", "pilot",
)  # fmt: skip
FLOWS = 12
# Samples of Burgers' equation, by the most seconds predicted for one; slower rows are not run. Fewer than the
# 256 in a batch of a dataset fill fewer vector lanes, since samples on other rungs are solved separately.
BURGERS_COUNTS = {0.01: 256, 0.5: 64, 2.0: 8}
DARCY_POINTS, DARCY_SAMPLES = 141, 8
LORENZ_SAMPLES, LORENZ_COMPARED = 512, 64


@dataclass(frozen=True)
class Try:
    """A manual setting: description, function, largest error and seconds per run."""

    words: str
    solve: Callable[[], object]
    error: float
    seconds: float


def tried(words: str, solve: Callable[[], object], error: Callable[[object], float]) -> Try:
    """Run a manual setting once; its error is infinite if the solver fails."""
    start = process_time()
    try:
        found = error(solve())
    except SolverError:
        found = math.inf
    return Try(words, solve, found if np.isfinite(found) else math.inf, process_time() - start)


def row(
    setting: str, accuracy: float, samples: int, achieved: float, chosen: str,
    ours: Callable[[], object], hand: Iterable[Try], rounds: int, pilot: Callable[[], object] | None = None,
) -> list[str]:  # fmt: skip
    """Time our solver and the best manual setting alternately, and the pilot separately; return the row."""
    enough = [one for one in hand if one.error <= accuracy]
    cells = [setting, f"{accuracy:.0e}", f"{achieved:.1e}", "" if achieved <= accuracy else "miss", chosen]
    if not enough:
        (mine,) = interleaved([ours], rounds, clock=process_time)
        return [*cells, digits(mine.divided(samples).middle), "none of the settings tried", "", "", ""]
    best = min(enough, key=lambda one: one.seconds)
    mine, its = interleaved([ours, best.solve], rounds, warm_up=1, clock=process_time)
    numbers = [digits(times.divided(samples).middle) for times in (mine, its)]
    cells += [numbers[0], best.words, numbers[1], digits(mine.middle / its.middle)]
    if pilot is None:
        return [*cells, ""]
    (alone,) = interleaved([pilot], 1, clock=process_time)
    return [*cells, digits(alone.middle / mine.divided(samples).middle)]


def not_run(setting: str, accuracy: float, words: str) -> list[str]:
    """Return the row of a request that is refused or too costly."""
    return [setting, f"{accuracy:.0e}", "", "", words, *[""] * 5]


def refusal(make: Callable[[], object]) -> str:
    """Return the error message if the settings of a dataset are refused; empty if they are accepted."""
    try:
        make()
    except ValueError as error:
        return "refused: " + str(error).partition("Value error, ")[2].partition(" [type")[0]
    return ""


def span(values: np.ndarray) -> str:
    """Format minimum, median and maximum."""
    return "–".join(f"{one:.4g}" for one in (values.min(), np.median(values), values.max()))


def burgers(given: Namespace) -> str:
    """Measure split steps on fields of the default distribution."""
    field, rows, time = field_of("cao_burgers"), [], PUBLIC_FILE_TIME
    for viscosity in tqdm((0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0001), desc="burgers", leave=False):
        for accuracy in (1e-4, 1e-7, 1e-10):
            asked = {"viscosity": viscosity, "accuracy": accuracy}
            words, setting = (
                refusal(lambda asked=asked: BurgersDataset(equation="burgers", **asked)),
                f"ν = {viscosity:g}",
            )
            price = 0.0 if words else BurgersDataset(equation="burgers", **asked).seconds_per_sample()
            count = next((count for most, count in BURGERS_COUNTS.items() if price < most), 0)
            if words or not count:
                words = words or f"not run: {price:.2g} s per sample predicted"
                rows.append(not_run(setting, accuracy, words))
                continue
            initial = np.stack([field.coefficients(1127802, 0, index) for index in range(count)])
            rows.append(burgers_row(setting, viscosity, accuracy, initial, time, given.rounds))
    return table(HEADER, rows)


def burgers_row(setting, viscosity, accuracy, initial, time, rounds) -> list[str]:
    """Compare one request with manual settings: the fewest sufficient modes and steps."""

    def pilot():
        return BurgersSplitStep.pilot(accuracy, initial[:PILOT], viscosity, time)

    ours = partial(BurgersSplitStep.solve_to, accuracy, initial, pilot(), viscosity, time)

    found = ours()
    ladders = MODES, BurgersSplitStep.steps
    modes, steps = (np.array(ladder)[found.rungs[:, k]] for k, ladder in enumerate(ladders))
    try:
        exact = cole_hopf(initial, viscosity, time, work_points=4096)
    except SolverError:
        finer = BurgersEtdrk4(viscosity, time, num_modes=2 * int(modes.max()), num_steps=4 * int(steps.max()))
        exact = finer.unchecked(initial)

    def error(solutions) -> float:
        return max(difference_of_spectra(*both) for both in zip(solutions, exact, strict=True))

    hand: list[Try] = []
    for some in (one for one in MODES if modes.max() / 2 <= one <= modes.max()):
        for few in (one for one in BurgersSplitStep.steps if steps.max() / 3 <= one <= steps.max()):
            cost = min((one.seconds for one in hand if one.error <= accuracy), default=math.inf)
            one = BurgersSplitStep(viscosity, time, num_modes=some, num_steps=few)
            hand.append(tried(f"{some} modes, {few} steps", lambda one=one: one.unchecked(initial), error))
            if hand[-1].error <= accuracy or hand[-1].seconds > cost:
                break
    chosen = f"{span(modes)} modes, {span(steps)} steps"
    return row(setting, accuracy, len(initial), error(found.solutions), chosen, ours, hand, rounds, pilot)


def darcy(given: Namespace) -> str:
    """Measure conjugate gradients at several contrasts and on lognormal fields, against a direct solution."""
    rows, shape = [], {"num_modes": DARCY_POINTS - 1}

    def fields(name: str) -> np.ndarray:
        field = field_of(name, **shape)
        drawn = np.stack([field.coefficients(1, 0, index) for index in range(DARCY_SAMPLES)])
        return observe_cosine(drawn, DARCY_POINTS, "nodes")

    jumps, smooth = fields("cao_darcy"), fields("calvello_darcy")
    cases = {
        f"contrast {contrast:g}": level_set(jumps, above=float(contrast), below=1.0)
        for contrast in (2, 10, 100, 1e3, 1e4)
    } | {"lognormal": lognormal(smooth), "lognormal, field × 3": lognormal(3 * smooth)}
    for setting, coefficient in tqdm(cases.items(), desc="darcy", leave=False):
        direct = solve_direct(coefficient, grid="nodes")

        def error(pressure, direct=direct) -> float:
            return float(relative_l2(pressure, direct).max())

        def solved(coefficient=coefficient, **limit):
            return lambda: DarcyFivePoint(**limit).solve(coefficient)

        tolerances = 10.0 ** -np.arange(1, 13, 0.5)
        hand = [tried(f"tolerance {one:.1e}", solved(tolerance=one), error) for one in tolerances]
        for accuracy in (1e-3, 1e-6, 1e-9):
            ours = solved(accuracy=accuracy)
            words = "iterations", DARCY_SAMPLES, error(ours())
            rows.append(row(setting, accuracy, *words[1:], words[0], ours, hand, given.rounds))
    return table(HEADER, rows)


def lorenz63(given: Namespace) -> str:
    """Compare Taylor series of selected orders with a series in 80 bits; manual settings state the step."""
    rows = []
    initial = np.stack([initial_condition(0, 0, index) for index in range(LORENZ_SAMPLES)])
    for final_time in tqdm((2.0, 10.0, 20.0), desc="lorenz63", leave=False):
        times = uniform(0.01, final_time)
        exact = extended(initial[:LORENZ_COMPARED], times, 20)

        def error(states, exact=exact) -> float:
            apart = ((np.stack(states)[:LORENZ_COMPARED] - exact) ** 2).sum(axis=(1, 2))
            return float(np.sqrt(apart / (exact**2).sum(axis=(1, 2))).max())

        hand = []
        for parts in (1, 2):
            one = Lorenz63(step=0.01 / parts, tolerance=1e9)
            one.solve(initial, times)  # compiles
            solve = lambda one=one, times=times: one.solve(initial, times)  # noqa: E731
            hand.append(tried(f"step {one.step:.2g}", solve, error))
        for accuracy in (1e-3, 1e-5, 1e-7, 1e-9):
            setting, asked = f"T = {final_time:g}", {"final_time": final_time, "accuracy": accuracy}
            words = refusal(lambda asked=asked: Lorenz63Dataset(equation="lorenz63", **asked))
            if words:
                rows.append(not_run(setting, accuracy, words))
                continue
            ours = lambda a=accuracy, times=times: solve_lorenz_to(a, initial, times)  # noqa: E731
            found = ours()
            chosen = f"order {span(np.array(ORDERS)[found.rungs[:, 0]])}"
            facts = LORENZ_SAMPLES, error(found.solutions), chosen
            rows.append(row(setting, accuracy, *facts, ours, hand, given.rounds))
    return table(HEADER, rows)


def extended(initial: np.ndarray, times: Nodes, order: int) -> np.ndarray:
    """Solve Lorenz's equations by Taylor series in 80 bits, with one step per time: (samples, 3, times)."""
    sigma, rho, beta = np.longdouble(10), np.longdouble(28), np.longdouble(8 / 3)
    now, found = initial.T.astype(np.longdouble), []
    for step in np.diff(times.coordinates.astype(np.longdouble), prepend=np.longdouble(0)):
        x, y, z = terms = np.zeros((3, order + 1, len(initial)), np.longdouble)
        terms[:, 0] = now
        for k in range(order):
            factor = step / (k + 1)
            x[k + 1] = factor * (sigma * (y[k] - x[k]))
            y[k + 1] = factor * (rho * x[k] - y[k] - (x[: k + 1] * z[k::-1]).sum(axis=0))
            z[k + 1] = factor * ((x[: k + 1] * y[k::-1]).sum(axis=0) - beta * z[k])
        now = terms[:, ::-1].sum(axis=1)
        found.append(now)
    return np.stack(found, axis=-1).transpose(1, 0, 2)


def kolmogorov(given: Namespace) -> str:
    """Compare flows with selected modes and steps with a run with 3/2 of the modes and half the step."""
    field, rows = field_of("calvello_kolmogorov", num_modes=71), []
    drawn = np.stack([field.coefficients(1, 0, index) for index in range(FLOWS)])
    flows = (
        (1 / 70, 11.0, (1e-3,), FLOWS),
        (1 / 70, 2.0, (2e-5,), FLOWS),
        (1 / 500, 0.5, (1e-3,), FLOW_PILOT),
        (1 / 500, 2.0, (1e-3,), FLOW_PILOT),
    )
    for viscosity, final_time, accuracies, count in tqdm(flows, desc="kolmogorov", leave=False):
        setting, times = f"ν = 1/{1 / viscosity:.0f}, T = {final_time:g}", (final_time, final_time + 0.1)
        initial = drawn[:count]

        def pilot(accuracy, initial=initial, times=times, viscosity=viscosity):
            return pilot_flow(accuracy, initial[:FLOW_PILOT], times, viscosity)

        firsts = {one: pilot(one) for one in accuracies}
        found = {one: solve_flow_to(one, initial, times, firsts[one], viscosity) for one in accuracies}
        most = [max(MODES_2D[k] for k in solved.rungs[:, 0]) for solved, _ in found.values()]
        step = min(steps.min() for _, steps in found.values())
        exact = KolmogorovEtdrk4(viscosity, num_modes=3 * most[-1] // 2, step=step / 2).solve(initial, times)

        def error(solutions, exact=exact) -> float:
            return max(largest_difference(*both) for both in zip(solutions, exact, strict=True))

        hand: list[Try] = []
        for modes in (one for one in MODES_2D if 0.6 * most[0] <= one <= most[-1]):
            for courant in (1.2, 1.0, 0.8, 0.65):  # K times the step: above, runs blow up
                one = KolmogorovEtdrk4(viscosity, num_modes=modes, step=courant / modes)
                solve = partial(one.march, initial, times)
                hand.append(tried(f"{modes} modes, step {one.step:.2g}", solve, error))
                if hand[-1].error <= accuracies[-1]:
                    break
        for accuracy, (solved, steps) in found.items():
            words = refusal(
                lambda a=accuracy, v=viscosity: KolmogorovDataset(
                    equation="kolmogorov", viscosity=v, accuracy=a
                )
            )
            chosen = words or f"{span(np.array(MODES_2D)[solved.rungs[:, 0]])} modes, step {span(steps)}"
            facts = len(initial), error(solved.solutions), chosen
            ours = partial(solve_flow_to, accuracy, initial, times, firsts[accuracy], viscosity)
            rows.append(row(setting, accuracy, *facts, ours, hand, 1, partial(pilot, accuracy)))
    return table(HEADER, rows)


if __name__ == "__main__":
    packages = ("numba", "numpy", "scipy")
    parts = {
        "burgers": Part("Burgers, automatic settings", burgers, packages),
        "darcy": Part("Darcy, automatic settings", darcy, packages),
        "lorenz63": Part("Lorenz-63, automatic settings", lorenz63, ("jax", *packages)),
        "kolmogorov": Part("Kolmogorov flow, automatic settings", kolmogorov, packages),
    }
    run("accuracy", parts)
