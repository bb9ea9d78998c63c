"""Kolmogorov flow: vorticity at one time → vorticity a little later (Calvello et al. 2024, 6.2.3)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.counts import counted
from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Axis, Group, Variable, group_name, space_group
from resolvent.datasets.tasks.distributions import OnTorus, named
from resolvent.datasets.tasks.error_budget import chosen_facts, error_facts
from resolvent.datasets.tasks.settings import (
    ACCURACY,
    CHEAP,
    FEW_SAMPLES,
    LEAST_PRECISE,
    Known,
    SpaceDataset,
    SquareGrids,
    check_least_accuracy,
)
from resolvent.datasets.tasks.symmetries import Symmetry, of_shear_forcing
from resolvent.datasets.tasks.task import FRAMES, Arrays, Baseline, Motion, Task
from resolvent.solvers.common.fourier import check_points, coefficients_of_2d, observe_2d
from resolvent.solvers.common.grid import AnyGrid, Grid
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.kolmogorov.etdrk4 import Pilot
    from resolvent.solvers.kolmogorov.flow import FlowSolver

INPUT, TARGET, WINDOW = "vorticity", "later_vorticity", "vorticity_window"
PAIR = "over_the_lead_time"  # name of the error estimated for every sample
FEWEST_REFINED, MOST_REFINED = 8, 59  # samples solved again from the initial field, at several times the cost
MARCHES = ((10, 1), (16, 2), (24, 4), (40, 5), (71, 10))  # modes and steps of the timed solvers
FILM_POINTS = 128  # along each side
FEWEST_FILM_MODES = 64  # the initial random field needs more modes than the developed flow
NUM_MODES, STEP = 71, 0.01  # defaults if only one is given; without either, modes of the random field
LEAST_ACCURACY = 2e-7  # best adaptive accuracy: numbers are stored in single precision
MOST_MODES = 500  # adaptive limit, with which a sample takes hours
PILOT = 4  # samples that determine the first number of modes of all samples
CHOSEN_BATCH = 8  # samples solved together adaptively
CHOSEN = "as the stated accuracy takes, for each sample"
OTHER_TIME, OTHER_STEPS = 0.1, 256  # longest time that the other, second-order scheme checks, and its steps
PAIR_COST = 9  # cost of the error estimate of a pair, in units of the solution over one lead time


class KolmogorovDataset(SpaceDataset):
    """Kolmogorov flow: the map from ω(·,T) to ω(·,T + lead_time) (Calvello 2024, section 6.2.3)."""

    version, checks_version = 1, 1
    dimension = 2
    quantities = ("vorticity", "vorticity a moment later")
    moves = True
    film_caption = (
        "The vorticity of the first test sample from its random initial field to the time of the operator's "
        "input: small vortices merge, and the force stretches them into bands. Red turns counter-clockwise, "
        "blue clockwise."
    )
    shifts: ClassVar = {
        "amplitude": lambda self, by: {"initial_distribution": self.initial_distribution.louder(by)},
        "viscosity": lambda self, by: {"viscosity": by * self.viscosity},
        "horizon": lambda self, by: {"lead_time": by * self.lead_time},
    }
    example: ClassVar = FEW_SAMPLES | {
        "resolutions": [32, 48],
        "viscosity": 0.05,
        "num_modes": 16,
        "step": 0.02,
        "spin_up_time": 0.4,
        "accuracy": 0.002,
    }
    known: ClassVar[Known] = Known("vorticity", ("n", "n"), "observe_2d", fewest_modes=42)

    equation: Literal["kolmogorov"] = Field(description="the equation solved")
    viscosity: float = Field(1 / 70, ge=1e-9, le=1e3, description="ν")
    forcing_wavenumber: int = Field(4, ge=1, description="n of the body force sin(n y)")
    spin_up_time: float = Field(11.0, gt=0, description="T, the time of the input")
    lead_time: float = Field(0.1, gt=0, description="time from the input to the target")
    frames: int = Field(
        1, ge=1, description="number of targets, lead_time apart; more than 1 also stores a window of frames"
    )
    initial_distribution: OnTorus = Field(
        named("calvello_kolmogorov"),
        description="distribution of the initial vorticity: a name, numbers, or both",
    )
    resolutions: SquareGrids = Field([416], description="points along each side of the grids stored")
    method: Literal["etdrk4", "split-step"] = Field(
        "etdrk4", description="exponential Runge-Kutta, or Crank-Nicolson and Heun as in the paper"
    )
    num_modes: int | None = Field(
        None,
        ge=4,
        description="number of Fourier modes along each axis; none: adaptive for each sample to reach "
        f"`accuracy` (etdrk4), or {NUM_MODES} if step is given",
    )
    step: float | None = Field(
        None,
        gt=0,
        description="largest time step; none: adaptive for each sample to reach `accuracy` (etdrk4), or "
        f"{STEP:g} if num_modes is given",
    )
    accuracy: float = Field(2e-5, ge=1e-15, le=LEAST_PRECISE, description=ACCURACY)

    @property
    def chosen(self) -> bool:
        """Return whether modes and step are chosen adaptively for each sample."""
        return self.num_modes is None

    def expected_discretisation(self) -> tuple[int, float]:
        """Return the given modes and step, or estimates, measured at ν = 1/70 with modes ∝ ν^{-1/2}."""
        if self.num_modes and self.step:
            return self.num_modes, self.step
        digits, thin = max(1.0, -math.log10(self.accuracy)), (70 * self.viscosity) ** -0.5
        modes = max(self.forcing_wavenumber, round((9 + 9.5 * digits) * thin))
        return modes, min(0.8 / modes, 0.35 * self.accuracy**0.25)

    @model_validator(mode="after")
    def _solution_is_in_reach(self):
        # If only one of the two is given, the other gets its default.
        if self.method == "split-step" or (self.num_modes is None) != (self.step is None):
            self.__dict__["num_modes"] = self.num_modes or NUM_MODES
            self.__dict__["step"] = self.step or STEP
        modes, step = self.expected_discretisation()
        if self.chosen:
            check_least_accuracy(self.accuracy, LEAST_ACCURACY, "", "single precision, in which it is stored")
        if self.chosen and modes > MOST_MODES:
            hours = self.seconds_per_sample() / 3600
            raise ValueError(
                f"viscosity {self.viscosity:g} is too small for accuracy {self.accuracy:g}: a sample would "
                f"need {modes:,} modes, steps of {step:.2g} and {hours:.2g} hours; "
                f"accepted: {self.viscosity * (modes / MOST_MODES) ** 2:.2g} or more, a larger accuracy, or "
                "your own num_modes and step"
            )
        if self.num_modes is not None and self.num_modes < self.forcing_wavenumber:
            least = f"at least forcing_wavenumber, {self.forcing_wavenumber}"
            raise ValueError(f"num_modes {self.num_modes} is too small; accepted: {least}")
        for points in self.resolutions:
            check_points(points)
        return self

    def task(self) -> Kolmogorov:
        return Kolmogorov(self)

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Solve over the lead time from the values on the grid, to the accuracy `CHEAP`."""
        from resolvent.solvers.kolmogorov.etdrk4 import pilot, solve_to

        initial, times = coefficients_of_2d(inputs), (self.lead_time,)
        flow = self.viscosity, self.forcing_wavenumber
        solved, _ = solve_to(CHEAP, initial, times, pilot(CHEAP, initial[:PILOT], times, *flow), *flow)
        return np.concatenate([observe_2d(solution, inputs.shape[-1]) for solution in solved.solutions])

    def symmetries(self) -> tuple[Symmetry, ...]:
        return of_shear_forcing(self.forcing_wavenumber, tuple(self.resolutions))

    def seconds_per_sample(self) -> float:
        modes, step = self.expected_discretisation()
        steps = (self.spin_up_time + (self.frames + PAIR_COST) * self.lead_time) / step
        return 1.5e-6 * modes**2 * steps

    def bytes_of_solving(self) -> float:
        # `largest_array` is one frame; the window of a shard is copied as often, in single precision.
        frames = self.frames + 1 if self.frames > 1 else 0
        return 16.0 * frames * self.largest_array * min(self.samples_per_shard, self.samples.total)

    def bytes_of_checks(self) -> float:
        return self.bytes_of_solving()

    def seconds_of_checks(self) -> float:
        return 7 * refined_samples(self.samples.total) * self.seconds_per_sample()

    @staticmethod
    def solve_values(
        values: np.ndarray,
        *,
        final_time: float = 0.1,
        viscosity: float = 1 / 70,
        forcing_wavenumber: int = 4,
        step: float = 0.01,
    ) -> np.ndarray:
        """Solve Kolmogorov flow on the torus [0, 2π)²: vorticity at time 0 → vorticity at `final_time`.

        Parameters
        ----------
        values
            (samples, n, n) or (n, n), axes (y, x), on the periodic grid x_j = 2πj/n, n even, with all modes
            of the grid.
        final_time, viscosity, forcing_wavenumber
            T, ν and n of the body force sin(ny).
        step
            Largest time step, halved for samples that need it.

        Raises
        ------
        ValueError, SolverError
            As `resolvent.solve`.
        """
        from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4

        points = values.shape[-1]
        solver = KolmogorovEtdrk4(
            viscosity=viscosity,
            forcing_wavenumber=forcing_wavenumber,
            num_modes=KolmogorovDataset.known.num_modes(points),
            step=step,
        )
        return observe_2d(solver.solve(coefficients_of_2d(values), (final_time,))[:, 0], points)


def refined_samples(total: int) -> int:
    """Return how many of `total` samples are solved again, more finely, from the initial field.

    One in 64, at least 8, and at most 59, which give 95 % confidence that fewer than 5 % of all samples have
    an error above the largest measured error.
    """
    return min(total, max(FEWEST_REFINED, min(MOST_REFINED, total // 64)))


class Kolmogorov(Task):
    """Draw initial vorticities, solve for the developed flow, and evaluate pairs or windows of it."""

    settings: KolmogorovDataset
    inputs, targets = (INPUT,), (TARGET,)
    input_answers = True
    dtype = "float32"

    def __init__(self, settings: KolmogorovDataset):
        from resolvent.solvers.common.lanes import lanes_here
        from resolvent.solvers.kolmogorov.flow import LANES

        super().__init__(settings)
        self.batch = CHOSEN_BATCH if settings.chosen else max(2, lanes_here(LANES))
        distribution = settings.initial_distribution
        self.field = PeriodicGaussianField2d(
            **distribution.covariance,
            orthonormal=distribution.orthonormal,
            half_spectrum=distribution.half_spectrum,
            num_modes=distribution.num_modes or settings.num_modes or NUM_MODES,
        )
        self.times = tuple(
            settings.spin_up_time + frame * settings.lead_time for frame in range(settings.frames + 1)
        )

    def groups(self) -> tuple[Group, ...]:
        variables = [
            Variable(name, f"vorticity at time {time:g}", time=time)
            for name, time in zip((INPUT, TARGET), self.times, strict=False)
        ]
        more: tuple[Axis, ...] = ()
        if self.settings.frames > 1:
            more = (Axis("time", np.array(self.times), "time of observation"),)
            variables.append(Variable(WINDOW, "vorticity at all times", axes=("time",)))
        return tuple(
            space_group(Grid("periodic", n, 2 * np.pi, dimension=2), *variables, more=more)
            for n in self.settings.resolutions
        )

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the Fourier coefficients of an initial vorticity."""
        return self.field.coefficients(seed, split, index)

    def integrator(self, method: str, num_modes: int, step: float) -> FlowSolver:
        from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
        from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep

        flow = self.settings.viscosity, self.settings.forcing_wavenumber, num_modes
        if method == "etdrk4":
            return KolmogorovEtdrk4(*flow, step=step)
        return KolmogorovSplitStep(*flow, largest_step=step)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        return self.observed(self.march(drawn)[0])

    def compute_with_errors(self, samples: list[tuple[str, int]]) -> tuple[Arrays, Arrays]:
        coefficients, chosen = self.march(self.draw(samples))
        return self.observed(coefficients), {PAIR: self.pair_errors(coefficients, chosen), **chosen}

    @cached_property
    def pilot(self) -> Pilot:
        """Solve the dataset's first samples to find the first number of modes for all samples."""
        from resolvent.solvers.kolmogorov.etdrk4 import pilot

        flow = self.settings.viscosity, self.settings.forcing_wavenumber
        return pilot(self.settings.accuracy, self.draw_first(PILOT), self.times, *flow)

    def march(self, drawn: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the coefficients at `times`, (samples, times, rows, columns), and the adaptive choices."""
        settings = self.settings
        if not settings.chosen:
            modes, step = settings.expected_discretisation()
            return self.integrator(settings.method, modes, step).solve(drawn, self.times), {}
        from resolvent.solvers.common.accuracy import MODES_2D
        from resolvent.solvers.kolmogorov.etdrk4 import solve_to
        from resolvent.solvers.kolmogorov.flow import with_modes

        flow = settings.viscosity, settings.forcing_wavenumber
        solved, steps = solve_to(settings.accuracy, drawn, self.times, self.pilot, *flow)
        modes = np.array(MODES_2D)[solved.rungs[:, 0]]
        chosen = {"modes": modes, "step": steps, "estimated": solved.errors, "work": solved.work}
        return np.stack([with_modes(solution, int(modes.max())) for solution in solved.solutions]), chosen

    def _refined(
        self, initial: np.ndarray, times: tuple[float, ...], chosen: dict[str, np.ndarray], finer: int
    ) -> np.ndarray:
        """Solve by the exponential integrator with 3/2 of the modes and a step `finer` times shorter."""
        from resolvent.solvers.kolmogorov.flow import with_modes

        if not self.settings.chosen:
            modes, step = self.settings.expected_discretisation()
            return self.integrator("etdrk4", modes * 3 // 2, step / finer).solve(initial, times)
        pairs = list(zip(chosen["modes"].astype(int) * 3 // 2, chosen["step"] / finer, strict=True))
        most = max(modes for modes, _ in pairs)
        return np.concatenate(
            [
                with_modes(self.integrator("etdrk4", int(modes), step).solve(sample[None], times), int(most))
                for sample, (modes, step) in zip(initial, pairs, strict=True)
            ]
        )

    def observed(self, coefficients: np.ndarray) -> dict[str, np.ndarray]:
        """Return the stored arrays for the coefficients from `march`."""
        arrays = {}
        for points in self.settings.resolutions:
            window = observe_2d(coefficients, points)
            arrays[f"{group_name(points)}/{INPUT}"] = window[:, 0]
            arrays[f"{group_name(points)}/{TARGET}"] = window[:, 1]
            if self.settings.frames > 1:
                arrays[f"{group_name(points)}/{WINDOW}"] = window
        return arrays

    def pair_errors(self, coefficients: np.ndarray, chosen: dict[str, np.ndarray]) -> np.ndarray:
        """Estimate the error of each pair: the distance of its target from the flow that starts at its input.

        The exponential integrator solves the lead time again, with 3/2 of the modes and a quarter of the step
        (not half, since samples of fast flow already use half the step). The input's error does not enter.
        """
        settings, points = self.settings, max(self.settings.resolutions)
        later = self._refined(coefficients[:, 0], (settings.lead_time,), chosen, 4)[:, 0]
        stored = observe_2d(coefficients[:, 1], points).astype(self.dtype)
        return relative_l2(stored, observe_2d(later, points))

    def error_budget(self, stored: Stored) -> dict:
        """Measure the errors of the stored vorticities on the finest stored grid.

        For every sample, the error of the pair (`pair_errors`). For random samples, the errors including the
        spin-up, with 3/2 of the modes and half the step from the initial field; and the error of the target
        against the other scheme over the lead time only, since a spin-up by it would need days, or over the
        last OTHER_TIME of a longer one, since the scheme is less accurate than the data.
        """
        settings, points = self.settings, max(self.settings.resolutions)
        total, pairs = stored.layout.num_samples, stored.errors[PAIR]
        positions = stored.random_positions(refined_samples(total))
        initial = self.draw(stored.names(positions))
        keys = ("modes", "step", "estimated", "work") if settings.chosen else ()
        every = {key: stored.errors[key] for key in keys}
        chosen = {key: values[positions] for key, values in every.items()}
        start, end = self.times[:2]
        late, lasting = settings.lead_time > OTHER_TIME, min(settings.lead_time, OTHER_TIME)
        times = (start, end - lasting, end) if late else (start, end)
        refined = self._refined(initial, times, chosen, 2)
        other = "split-step" if settings.method == "etdrk4" else "etdrk4"
        solver = self.integrator(other, refined.shape[-1] - 1, lasting / OTHER_STEPS)
        marched = solver.solve(refined[:, -2], (lasting,))
        group = group_name(points)
        before, after = (f"vorticity at time {time:g}" for time in self.times[:2])
        (worst,) = stored.names([int(np.argmax(pairs))])

        def facts(name: str, words: str, coefficients: np.ndarray, **more: str) -> dict:
            values = stored.values(f"{group}/{name}", positions)
            errors = relative_l2(values, observe_2d(coefficients, points))
            given = {"error_of": f"{words}, as computed from the initial field", **more}
            return given | error_facts(errors, total)

        budget: dict = {"observed_on": group}
        if settings.chosen:
            budget["chosen_for_each_sample"] = chosen_facts(every, ("modes", "step"))
        return budget | {
            f"against_refined_run_{PAIR}": {
                "error_of": f"{after}, as computed from the sample's own {before}",
                **error_facts(pairs, total),
                "sample_of_the_largest": "{} {}".format(*worst),
            },
            "against_refined_run": facts(INPUT, before, refined[:, 0]),
            "against_refined_run_later": facts(TARGET, after, refined[:, -1]),
            "against_other_scheme_over_the_lead_time": facts(
                TARGET, after, marched[:, 0], scheme=other + late * f" over the last {OTHER_TIME:g}"
            ),
        }

    def classical_solvers(self) -> dict[str, Baseline]:
        lead_time, forced = self.settings.lead_time, self.settings.forcing_wavenumber

        def marched(modes: int, steps: int) -> Baseline:
            integrator = self.integrator("etdrk4", modes, lead_time / steps)
            return lambda values, grid: observe_2d(
                integrator.march(coefficients_of_2d(values), (lead_time,))[:, 0], values.shape[-1]
            )

        return {
            f"ETDRK4, {modes} modes, {counted(steps, 'step')}": marched(modes, steps)
            for modes, steps in ((max(modes, forced), steps) for modes, steps in MARCHES)
        }

    def motion(self, sample: tuple[str, int]) -> Motion:
        """Solve the spin-up, from the initial vorticity to the time of the stored input."""
        settings, drawn = self.settings, self.draw([sample])
        times = np.linspace(0, settings.spin_up_time, FRAMES)
        modes, step = settings.expected_discretisation()
        solver = self.integrator(settings.method, max(FEWEST_FILM_MODES, modes), step)
        later = solver.solve(drawn, tuple(map(float, times[1:])))[0]
        return Motion(
            kind="field",
            times=times,
            values=np.concatenate([observe_2d(drawn, FILM_POINTS), observe_2d(later, FILM_POINTS)]),
            names=("vorticity ω",),
            coordinates=2 * np.pi * np.arange(FILM_POINTS) / FILM_POINTS,
        )

    def description(self) -> dict:
        settings, distribution = self.settings, self.settings.initial_distribution
        n, modes = settings.forcing_wavenumber, self.field.num_modes
        own = modes != settings.num_modes
        doubled = {"doubled": "the variance of modes with k_y ≠ 0"} if distribution.half_spectrum else {}
        truncation = {"truncation": f"modes up to {modes} along each axis"} if own else {}
        return {
            "equation": {
                "in_words": "Kolmogorov flow: the incompressible Navier-Stokes equations in two dimensions, "
                f"driven by the body force sin({n}y) along x; no drag",
                "in_symbols": f"∂ω/∂t + u·∇ω = νΔω - {n} cos({n}y),  -Δψ = ω,  u = (∂ψ/∂y, -∂ψ/∂x),  "
                "(x, y) in [0, 2π]² periodic",
                "in_latex": r"\frac{\partial\omega}{\partial t} + u \cdot \nabla\omega = \nu\,\Delta\omega"
                rf" - {n}\cos({n}y), \quad -\Delta\psi = \omega, \quad u = \left("
                r"\frac{\partial\psi}{\partial y},\, -\frac{\partial\psi}{\partial x}\right), "
                r"\quad (x, y) \in [0, 2\pi]^2\ \text{periodic}",
                "parameters": {"viscosity ν": settings.viscosity},
                "operator": f"ω(·, {self.times[0]:g}) ↦ ω(·, {self.times[1]:g})",
                "operator_in_latex": rf"\omega(\cdot, {self.times[0]:g}) \mapsto"
                rf" \omega(\cdot, {self.times[1]:g})",
                "source": "Calvello et al. 2024 (arXiv:2406.06486), section 6.2.3",
            },
            "distribution_of_the_initial_vorticity": {
                "in_symbols": "N(0, σ²(-Δ + τ²I)^{-γ}) on the torus",
                "in_latex": r"\omega(\cdot, 0) \sim N\bigl(0,\, \sigma^2(-\Delta + \tau^2 I)^{-\gamma}\bigr)",
                "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
                "mean_mode": "absent" if distribution.zero_mean else "drawn",
                "modes": "orthonormal functions"
                if distribution.orthonormal
                else "exponentials of unit modulus",
                **doubled,
                "pointwise_variance": float(f"{self.field.variance():.6g}"),
                **truncation,
            },
            "solver": {
                "method": {
                    "etdrk4": "pseudo-spectral, 2/3-dealiased; exponential time differencing, Runge-Kutta 4",
                    "split-step": "pseudo-spectral, 2/3-dealiased; Crank-Nicolson diffusion, Heun advection, "
                    "step bounded by the CFL condition (Chandler and Kerswell 2013)",
                }[settings.method],
                "modes_along_each_axis": settings.num_modes or CHOSEN,
                "largest_step": settings.step or CHOSEN,
            },
        }
