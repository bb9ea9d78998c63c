"""Burgers' equation: initial velocity → velocity at the final time (Cao 2021, section 5.1 and C.2)."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Group, Variable, group_name, space_group
from resolvent.datasets.tasks.distributions import GaussianDistribution, OnCircle, named
from resolvent.datasets.tasks.error_budget import chosen_facts, error_facts
from resolvent.datasets.tasks.settings import (
    ACCURACY,
    CHEAP,
    LEAST_PRECISE,
    CirclePoints,
    Known,
    SpaceDataset,
    check_least_accuracy,
)
from resolvent.datasets.tasks.symmetries import Symmetry, shifts_and_reflection
from resolvent.datasets.tasks.task import FRAMES, Arrays, Baseline, Motion, Task
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import AnyGrid, Grid, check_restriction, restrict_by_stride
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField
from resolvent.solvers.random_fields.streams import generator

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.burgers.equation import BurgersSolver, Pilot

INPUT, VISCOSITY, TARGET = "initial_velocity", "viscosity", "final_velocity"
PUBLIC_FILE_TIME = 1 / (2 * math.pi)  # final time of Cao 2021's public data (docs/equations/burgers.md)
METHODS = {
    "split-step": "Strang split-step: heat equation exactly in Fourier space, (u²/2)_x dealiased; "
    "one Richardson extrapolation in the step",
    "etdrk4": "exponential time differencing, Runge-Kutta, dealiased; one Richardson extrapolation",
    "cole-hopf": "closed form: Cole-Hopf transformation to the heat equation",
}
NUM_MODES, NUM_STEPS = 192, 480  # defaults if only one of the two is given, and for values on a grid
LEAST_ACCURACY = 1e-12  # best adaptive accuracy; rounding errors are near 1e-13
FEWEST_STEPS = 8  # the lowest rung of the adaptive choice
MOST_MODES = 8000  # adaptive limit: three quarters of the highest rung
MOST_DECAY = 10  # of the longest wave; the solvers were measured to fail once e^-11 to e^-30 of it is left
CAO_DEVIATION = GaussianDistribution(sigma=25.0, tau=5.0, gamma=2.0).deviation  # of cao_burgers
PILOT = 8  # samples that determine the first discretisation of all samples
CHOSEN_BATCH = 256  # samples solved together adaptively; large, for full vector lanes
MARCHES = ((12, 8), (24, 16), (48, 32), (96, 48), (128, 104))  # modes and steps of the timed solvers
FILM_POINTS, FILM_MODES, FILM_STEPS = 512, 192, 8  # least modes, and least steps between two frames
WORK_POINTS = 1024  # of Cole-Hopf
PART = 256  # samples evaluated at once on a fine grid
SCHEME_SECONDS = 8e-4  # for ETDRK4's coefficients of one mode, if each sample has a viscosity of its own
REFINED_SAMPLES = 64  # samples solved again with twice the modes and steps


class BurgersSettings(SpaceDataset):
    """Viscous Burgers on the unit circle, with a Gaussian random field as initial velocity."""

    quantities = ("initial velocity", "velocity at the final time")
    moves = True
    film_caption = (
        "The first test sample in time, from its initial velocity (grey) to the operator's output. Waves "
        "steepen into fronts, and viscosity damps them, short waves first."
    )
    shifts: ClassVar = {
        "amplitude": lambda self, by: {"initial_distribution": self.initial_distribution.louder(by)},
        "length_scale": lambda self, by: {"initial_distribution": self.initial_distribution.stretched(by, 1)},
        "viscosity": lambda self, by: {"viscosity": by * self.viscosity},
        "horizon": lambda self, by: {"final_time": by * self.final_time},
    }

    equation: Literal["burgers"] = Field(description="the equation solved")
    viscosity: float = Field(0.1 / (2 * math.pi), ge=1e-9, le=1e3, description="ν")
    final_time: float = Field(
        PUBLIC_FILE_TIME,
        gt=0,
        description="time of the target; the default is the time of Cao 2021's public data file, although "
        "the paper's text says 1",
    )
    initial_distribution: OnCircle = Field(
        named("cao_burgers"), description="distribution of the initial velocity: a name, numbers, or both"
    )

    def symmetries(self) -> tuple[Symmetry, ...]:
        return shifts_and_reflection()


class BurgersDataset(BurgersSettings):
    """Viscous Burgers on the unit circle: the map from u(·,0) to u(·,final_time) (Cao 2021, eq. 18)."""

    version, checks_version = 1, 1
    example: ClassVar = {
        "resolutions": [64, 128],
        "finest": 512,
        "samples": {"train": 20, "validation": 4, "test": 6},
        "samples_per_shard": 10,
    }
    known: ClassVar[Known] = Known("initial velocity", ("n",), "observe", fewest_modes=192)
    shifts: ClassVar = BurgersSettings.shifts | {
        "viscosity": lambda self, by: {
            name: by * value
            for name in ("viscosity", "viscosity_to")
            if (value := getattr(self, name)) is not None
        }
    }

    viscosity_to: float | None = Field(
        None,
        ge=1e-9,
        le=1e3,
        description="largest ν; if given, each sample has a ν of its own, drawn log-uniformly between "
        "`viscosity` and this number, which is its second input",
        exclude_if=lambda largest: largest is None,  # keeps the hash of older settings without this key
    )
    resolutions: Annotated[list[CirclePoints], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    finest: CirclePoints = Field(
        8192, description="points of the finest grid; all modes of the distribution are below finest / 2"
    )
    restriction: Literal["spectral", "stride"] = Field(
        "spectral",
        description="restriction to coarser grids. spectral: without the modes that the grid cannot "
        "represent; stride: every k-th value of the finest grid, as in the papers (which aliases)",
    )
    method: Literal["split-step", "etdrk4", "cole-hopf"] = Field(
        "split-step", description="split-step and etdrk4 march in time; cole-hopf is the closed form"
    )
    num_modes: int | None = Field(
        None,
        ge=4,
        description="number of Fourier modes (split-step, etdrk4); none: adaptive for each sample to reach "
        f"`accuracy`, or {NUM_MODES} if num_steps is given",
    )
    num_steps: int | None = Field(
        None,
        ge=FEWEST_STEPS,
        le=10**7,
        description="number of time steps (split-step, etdrk4); none: adaptive for each sample to reach "
        f"`accuracy`, or {NUM_STEPS} if num_modes is given",
    )
    accuracy: float = Field(1e-7, ge=1e-15, le=LEAST_PRECISE, description=ACCURACY)

    @property
    def marches(self) -> bool:
        return self.method != "cole-hopf"

    @property
    def chosen(self) -> bool:
        """Return whether modes and steps are chosen adaptively for each sample."""
        return self.marches and self.num_modes is None

    @property
    def in_channels(self) -> int:  # type: ignore[override]
        return 1 + self.initial_channels

    @property
    def initial_channels(self) -> int:  # type: ignore[override]
        return 0 if self.viscosity_to is None else 1

    def symmetries(self) -> tuple[Symmetry, ...]:
        return shifts_and_reflection(constants=self.initial_channels)

    def physics(self, viscosities: np.ndarray | None = None) -> dict[str, Any]:
        """Return the parameters of the solvers; `viscosities` (samples,) are those of samples, if drawn."""
        viscosity = self.viscosity if viscosities is None else viscosities
        return {"viscosity": viscosity, "final_time": self.final_time}

    def expected_discretisation(self, viscosity: float | None = None) -> tuple[int, int]:
        """Return modes and steps, given or estimated to a factor of two (docs/equations/burgers.md).

        By default they are those of the smallest viscosity.
        """
        if self.num_modes and self.num_steps:
            return self.num_modes, self.num_steps
        speed = self.initial_distribution.deviation / CAO_DEVIATION
        thin = max(1.0, 0.02 * speed / (viscosity or self.viscosity))
        digits = max(1.0, -math.log10(self.accuracy))
        order, per_digit = (4, 6) if self.method == "split-step" else (5, 2)
        return round(15 * digits**0.9 * thin), round(per_digit * 10 ** (digits / order) * thin)

    @model_validator(mode="after")
    def _solution_is_in_reach(self):
        # If only one of the two is given, the other gets its default.
        if (self.num_modes is None) != (self.num_steps is None):
            self.__dict__["num_modes"] = self.num_modes or NUM_MODES
            self.__dict__["num_steps"] = self.num_steps or NUM_STEPS
        largest = self.viscosity if self.viscosity_to is None else self.viscosity_to
        if self.viscosity_to is not None and largest <= self.viscosity:
            raise ValueError(
                f"viscosity_to {largest:g} must exceed viscosity {self.viscosity:g}; leave it out if all "
                "samples have the same"
            )
        decay = (2 * math.pi) ** 2 * largest
        if decay * self.final_time > MOST_DECAY:
            raise ValueError(
                f"final_time {self.final_time:g} leaves nothing of the velocity, whose longest wave decays "
                f"as exp(-{decay:.3g} t); accepted at viscosity {largest:g}: at most "
                f"{MOST_DECAY / decay:.3g}"
            )
        modes, steps = self.expected_discretisation()
        if self.chosen:
            check_least_accuracy(self.accuracy, LEAST_ACCURACY)
        if self.chosen and modes > MOST_MODES:
            minutes = self._seconds_at(self.viscosity) / 60
            raise ValueError(
                f"viscosity {self.viscosity:g} is too small for accuracy {self.accuracy:g}: a sample would "
                f"need {modes:,} modes, {steps:,} steps and {minutes:.2g} minutes; "
                f"accepted: {self.viscosity * modes / MOST_MODES:.2g} or more, a larger accuracy, or "
                "your own num_modes and num_steps"
            )
        for points in self.resolutions:
            check_restriction(self.finest, points, self.restriction)
        drawn, below = self.initial_distribution.num_modes or 0, self.finest // 2
        for key, modes in (("num_modes", self.num_modes or 0), ("initial_distribution.num_modes", drawn)):
            if modes >= below:
                raise ValueError(
                    f"{key} {modes} is too large for finest {self.finest}; accepted: at most {below - 1}"
                )
        if self.method == "etdrk4" and (self.num_steps or 0) % 8:
            raise ValueError(f"num_steps of etdrk4 must be a multiple of 8, got {self.num_steps}")
        return self

    def task(self) -> Burgers:
        return Burgers(self)

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Solve from the values on the grid by the exponential integrator, to the accuracy `CHEAP`."""
        solver = stepper("etdrk4")
        few, physics_of_few = self.read(inputs[:PILOT])
        pilot = solver.pilot(CHEAP, coefficients_of(few), **physics_of_few)
        velocities, physics = self.read(inputs)
        solved = solver.solve_to(CHEAP, coefficients_of(velocities), pilot, **physics)
        return np.concatenate([observe(solution[None], inputs.shape[-1]) for solution in solved.solutions])

    def read(self, inputs: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Return velocities (samples, points), and parameters of the solvers, from inputs as in `Samples`.

        Raises `SolverError` if a viscosity is not positive.
        """
        if self.viscosity_to is None:
            return inputs, self.physics()
        viscosity = inputs[:, 1, 0].astype(np.float64)
        if not (viscosity > 0).all():
            raise SolverError("Burgers: a viscosity among the inputs is not positive", "give positive ones")
        return inputs[:, 0], self.physics(viscosity)

    def seconds_per_sample(self) -> float:
        if self.viscosity_to is None:
            return self._seconds_at(self.viscosity)
        every = np.geomspace(self.viscosity, self.viscosity_to, 9)
        return float(np.mean([self._seconds_at(viscosity) for viscosity in every]))

    def _seconds_at(self, viscosity: float) -> float:
        modes, steps = self.expected_discretisation(viscosity) if self.marches else (NUM_MODES, NUM_STEPS)
        own_scheme = self.method == "etdrk4" and self.viscosity_to is not None
        return 1e-2 * modes / NUM_MODES * steps / NUM_STEPS + own_scheme * SCHEME_SECONDS * modes

    def bytes_of_solving(self) -> float:
        if self.viscosity_to is None or self.method != "split-step":
            return 0.0
        return 2 * 64 * math.prod(self.expected_discretisation())  # heat of eight samples, in all steps

    def bytes_of_checks(self) -> float:
        return 4 * self.bytes_of_solving()

    @staticmethod
    def solve_values(
        values: np.ndarray,
        *,
        viscosity: float = 0.1 / (2 * math.pi),
        final_time: float = PUBLIC_FILE_TIME,
        length: float = 1.0,
        method: str = "split-step",
        num_steps: int = NUM_STEPS,
    ) -> np.ndarray:
        """Solve the viscous Burgers equation on the circle: velocity at time 0 → velocity at `final_time`.

        Parameters
        ----------
        values
            (samples, n) or (n,), on the periodic grid x_j = j · length / n with an even number of points. The
            initial velocity is their trigonometric interpolant, with all its modes.
        viscosity, final_time, length
            ν, T and the period, all positive. The defaults are those of the dataset `burgers`.
        method
            "split-step", "etdrk4" or "cole-hopf" (closed form).
        num_steps
            Number of time steps.

        Raises
        ------
        ValueError, SolverError
            As `resolvent.solve`.
        """
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}; accepted: {', '.join(METHODS)}")
        points = values.shape[-1]
        final = solve_by(
            method,
            coefficients_of(values),
            {"viscosity": viscosity, "final_time": final_time, "length": length},
            num_modes=BurgersDataset.known.num_modes(points),
            num_steps=num_steps,
            work_points=max(1024, 4 * points),
        )
        return observe(final, points)


class Burgers(Task):
    """Draw initial velocities, solve for the final velocities, and evaluate both on every grid."""

    settings: BurgersDataset

    inputs: tuple[str, ...] = (INPUT,)
    targets = (TARGET,)
    input_answers = True
    on_gpu = False

    def __init__(self, settings: BurgersDataset):
        super().__init__(settings)
        distribution = settings.initial_distribution
        num_modes = distribution.num_modes or settings.finest // 2 - 1
        self.field = PeriodicGaussianField(**distribution.covariance, num_modes=num_modes)
        if settings.viscosity_to is not None:
            self.inputs, self.input_answers = (INPUT, VISCOSITY), False
        if settings.chosen:
            self.batch = CHOSEN_BATCH

    def groups(self) -> tuple[Group, ...]:
        time = self.settings.final_time
        initial = Variable(INPUT, "velocity at time 0", time=0.0)
        final = Variable(TARGET, f"velocity at time {time:g}", time=time)
        numbers = [Variable(VISCOSITY, "viscosity ν")] * (VISCOSITY in self.inputs)
        grids = (Grid("periodic", points) for points in self.settings.resolutions)
        return tuple(space_group(grid, initial, final, numbers=numbers) for grid in grids)

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the Fourier coefficients (modes,) of an initial velocity; a drawn viscosity comes last."""
        coefficients, settings = self.field.coefficients(seed, split, index), self.settings
        if settings.viscosity_to is None:
            return coefficients
        least, largest = settings.viscosity, settings.viscosity_to
        share = generator(seed, split, index).uniform()  # another generator than the field's
        return np.append(coefficients, least * (largest / least) ** share)

    def _parts(self, drawn: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Return initial coefficients, and parameters of the solvers, from random numbers."""
        if VISCOSITY not in self.inputs:
            return drawn, self.settings.physics()
        return drawn[:, :-1], self.settings.physics(drawn[:, -1].real)

    def drawn_inputs(self, drawn: np.ndarray) -> Arrays:
        initial, physics = self._parts(drawn)
        arrays = Arrays()
        for points in self.settings.resolutions:
            arrays[f"n{points}/{INPUT}"] = self._observe(initial, points)
            if VISCOSITY in self.inputs:
                arrays[f"n{points}/{VISCOSITY}"] = physics["viscosity"]
        return arrays

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        return self._solved(drawn)[0]

    def compute_with_errors(self, samples: list[tuple[str, int]]) -> tuple[Arrays, Arrays]:
        return self._solved(self.draw(samples))

    def _solved(self, drawn: np.ndarray) -> tuple[Arrays, Arrays]:
        """Return every stored array, and the adaptive choices for each sample, if any."""
        settings, arrays, chosen = self.settings, self.drawn_inputs(drawn), Arrays()
        initial, physics = self._parts(drawn)
        if settings.chosen:
            from resolvent.solvers.common.accuracy import MODES

            solver = stepper(settings.method)
            solved = solver.solve_to(settings.accuracy, initial, self.pilot, **physics)
            final = np.zeros((len(initial), max(map(len, solved.solutions))), complex)
            for row, solution in zip(final, solved.solutions, strict=True):
                row[: len(solution)] = solution
            chosen = {
                "modes": np.array(MODES)[solved.rungs[:, 0]],
                "steps": np.array(solver.steps)[solved.rungs[:, 1]],
                "estimated": solved.errors,
                "work": solved.work,
            }
        else:
            modes, steps = settings.num_modes or 0, settings.num_steps or 0  # Cole-Hopf has none
            final = solve_by(settings.method, initial, physics, num_modes=modes, num_steps=steps)
        for points in settings.resolutions:
            arrays[f"n{points}/{TARGET}"] = self._observe(final, points)
        return arrays, chosen

    @cached_property
    def pilot(self) -> Pilot:
        """Solve the dataset's first samples to find the first discretisation for all samples."""
        solver, accuracy = stepper(self.settings.method), self.settings.accuracy
        initial, physics = self._parts(self.draw_first(PILOT))
        return solver.pilot(accuracy, initial, **physics)

    def _by_cole_hopf(self, drawn: np.ndarray) -> np.ndarray:
        """Return the final coefficients: NaN where a drawn viscosity is too small for Cole-Hopf."""
        if VISCOSITY not in self.inputs:
            return solve_by("cole-hopf", *self._parts(drawn))
        final = np.full((len(drawn), WORK_POINTS // 2), complex(np.nan))
        for row in range(len(drawn)):
            with suppress(SolverError):
                final[row] = solve_by("cole-hopf", *self._parts(drawn[row : row + 1]))[0]
        return final

    def _refined(self, drawn: np.ndarray, modes: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return the final coefficients, solved with twice the modes and steps of each sample."""
        method = self.settings.method if self.settings.marches else "split-step"
        final = np.zeros((len(drawn), 2 * int(modes.max()) + 1), complex)
        for pair in np.unique(np.stack([modes, steps], axis=1), axis=0):
            rows = (modes == pair[0]) & (steps == pair[1])
            num_modes, num_steps = (2 * int(number) for number in pair)
            final[rows, : num_modes + 1] = solve_by(
                method, *self._parts(drawn[rows]), num_modes=num_modes, num_steps=num_steps
            )
        return final

    def _observe(self, coefficients: np.ndarray, points: int) -> np.ndarray:
        if self.settings.restriction == "spectral":
            return observe(coefficients, points)
        return restrict_by_stride(observe(coefficients, self.settings.finest), points)

    def error_budget(self, stored: Stored) -> dict:
        """Measure the errors of the stored final velocities on the finest stored grid.

        A random subset is solved with twice the modes and steps (data by Cole-Hopf: by split-step).
        Cole-Hopf, exact to rounding, checks every sample for whose viscosity it can be used.
        """
        points, settings = max(self.settings.resolutions), self.settings
        name, total = f"{group_name(points)}/{TARGET}", stored.layout.num_samples
        subset = stored.random_positions(REFINED_SAMPLES)
        modes = np.full(len(subset), settings.num_modes or NUM_MODES)
        steps = np.full(len(subset), settings.num_steps or NUM_STEPS)
        if settings.chosen:
            modes, steps = (stored.errors[name][subset].astype(int) for name in ("modes", "steps"))

        def errors(positions, final: np.ndarray) -> np.ndarray:
            return relative_l2(stored.values(name, positions), self._observe(final, points))

        budget: dict = {"observed_on": group_name(points)}
        if settings.chosen:
            budget["chosen_for_each_sample"] = chosen_facts(stored.errors, ("modes", "steps"))
        drawn = self.draw(stored.names(subset))
        check = "against_refined_run" if settings.marches else "against_split_step"
        budget[check] = error_facts(errors(subset, self._refined(drawn, modes, steps)), total)
        if settings.marches:
            try:
                every, exact = stored.all_positions, []
                for part in (every[start : start + PART] for start in range(0, len(every), PART)):
                    solved = self._by_cole_hopf(self.draw(stored.names(part)))
                    exact.append(errors(part, solved)[np.isfinite(solved).all(axis=1)])
                if not any(map(len, exact)):
                    raise SolverError("Cole-Hopf: every viscosity is too small for it")
                budget["against_cole_hopf"] = error_facts(np.concatenate(exact), total)
            except SolverError as error:
                budget["against_cole_hopf"] = {"not_available": str(error)}
        start = self._observe(self._parts(drawn)[0], points)
        ratio = np.linalg.norm(stored.values(name, subset), axis=-1) / np.linalg.norm(start, axis=-1)
        budget["norm_ratio_final_to_initial"] = float(f"{np.mean(ratio):.3g}")
        return budget

    def baselines(self) -> dict[str, Baseline]:
        return {"interpolation_oracle": self.solve_interpolated, "coarse_solve": self.solve_on_grid}

    def classical_solvers(self) -> dict[str, Baseline]:
        from resolvent.solvers.burgers.cole_hopf import cole_hopf

        def closed_form(values: np.ndarray, grid: AnyGrid) -> np.ndarray:
            velocities, physics = self.settings.read(values)
            return observe(cole_hopf(coefficients_of(velocities), **physics), values.shape[-1])

        marched = {
            f"ETDRK4, {modes} modes, {steps} steps": self.marched(modes, steps) for modes, steps in MARCHES
        }
        return marched | {"closed form (Cole-Hopf)": closed_form}

    def marched(self, modes: int, steps: int) -> Baseline:
        """Return the exponential integrator as a map of values on a grid, without checks of resolution."""
        from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4

        def march(values: np.ndarray, grid: AnyGrid | None) -> np.ndarray:
            velocities, physics = self.settings.read(values)
            solver = BurgersEtdrk4(**physics, num_modes=modes, num_steps=steps)
            return observe(solver.march(coefficients_of(velocities), steps)[0], values.shape[-1])

        return march

    def solve_on_grid(self, values: np.ndarray, grid: AnyGrid | None = None) -> np.ndarray:
        """Solve from inputs with only the modes of their grid, cheaply if it is coarse."""
        modes, steps = self.settings.expected_discretisation()
        march = self.marched(min(modes, values.shape[-1] // 2 - 1), 8 * math.ceil(steps / 8))
        return march(values, grid)

    def solve_interpolated(self, values: np.ndarray, grid: AnyGrid | None = None) -> np.ndarray:
        """Interpolate the velocities linearly to the finest grid, solve, and restrict."""
        velocities, physics = self.settings.read(values)
        fine, coarse = Grid("periodic", self.settings.finest), Grid("periodic", values.shape[-1])
        upsampled = np.stack(
            [np.interp(fine.coordinates, coarse.coordinates, row, period=coarse.length) for row in velocities]
        )
        modes, steps = self.settings.expected_discretisation()
        steps = 8 * math.ceil(steps / 8) if self.settings.chosen else steps
        solver = stepper(self.settings.method)(**physics, num_modes=modes, num_steps=steps)
        return self._observe(solver.unchecked(coefficients_of(upsampled)), coarse.points)

    def motion(self, sample: tuple[str, int]) -> Motion:
        initial, physics = self._parts(self.draw([sample]))
        return velocity_in_time(initial, float(np.max(physics["viscosity"])), self.settings.final_time)

    def description(self) -> dict:
        settings, distribution = self.settings, self.settings.initial_distribution
        of_public_file = math.isclose(settings.final_time, PUBLIC_FILE_TIME)
        solver: dict = {"method": METHODS[settings.method]}
        if settings.chosen:
            words = "as many for each sample as the stated accuracy takes"
            solver |= {"modes": words, "steps": words}
        elif settings.marches:
            solver |= {"modes": settings.num_modes, "steps": settings.num_steps}
        parameters = {"viscosity ν": settings.viscosity, "final time T": settings.final_time}
        inputs, inputs_in_latex = "u(·, 0)", r"u(\cdot, 0)"
        drawn: dict[str, dict] = {}
        if settings.viscosity_to is not None:
            inputs, inputs_in_latex = "(u(·, 0), ν)", r"\bigl(u(\cdot, 0),\, \nu\bigr)"
            drawn["distribution_of_the_viscosity"] = {
                "in_symbols": "ln ν ~ U(ln ν₀, ln ν₁)",
                "in_latex": r"\ln \nu \sim U(\ln \nu_0,\, \ln \nu_1)",
                "parameters": {"ν₀": parameters.pop("viscosity ν"), "ν₁": settings.viscosity_to},
            }
        return {
            "equation": {
                "in_words": "viscous Burgers' equation on the circle of length 1",
                "in_symbols": "∂u/∂t + u ∂u/∂x = ν ∂²u/∂x²,  x in (0, 1) periodic,  0 < t ≤ T",
                "in_latex": r"\frac{\partial u}{\partial t} + u\,\frac{\partial u}{\partial x}"
                r" = \nu\,\frac{\partial^2 u}{\partial x^2},"
                r" \quad x \in (0, 1)\ \text{periodic}, \quad 0 < t \le T",
                "parameters": parameters,
                "operator": f"{inputs} ↦ u(·, T)",
                "operator_in_latex": rf"{inputs_in_latex} \mapsto u(\cdot, T)",
                "source": "Cao 2021 (arXiv:2105.14995), eq. 18 and section C.2"
                + ", at the time of the public file behind its numbers" * of_public_file,
            },
            "distribution_of_the_input": {
                "in_symbols": "N(0, σ²(-Δ + τ²I)^{-γ})",
                "in_latex": r"u(\cdot, 0) \sim N\bigl(0,\, \sigma^2(-\Delta + \tau^2 I)^{-\gamma}\bigr)",
                "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
                "mean_mode": "absent" if distribution.zero_mean else "drawn",
                "truncation": f"modes up to {self.field.num_modes}",
                "pointwise_variance": float(f"{self.field.variance():.6g}"),
            },
            **drawn,
            "restriction": settings.restriction,
            "solver": solver,
        }


def solve_by(
    method: str,
    initial: np.ndarray,
    physics: dict[str, Any],
    *,
    num_modes: int = 0,
    num_steps: int = 0,
    work_points: int = WORK_POINTS,
) -> np.ndarray:
    """Return the final coefficients by one of `METHODS`; `physics` has viscosity, times and length."""
    from resolvent.solvers.burgers.cole_hopf import cole_hopf

    if method == "cole-hopf":  # has `work_points` instead of modes and steps
        return cole_hopf(initial, **physics, work_points=work_points)
    return stepper(method)(**physics, num_modes=num_modes, num_steps=num_steps).solve(initial)


def stepper(method: str) -> type[BurgersSolver]:
    from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
    from resolvent.solvers.burgers.split_step import BurgersSplitStep

    return BurgersEtdrk4 if method == "etdrk4" else BurgersSplitStep


def velocity_in_time(initial: np.ndarray, viscosity: float, final_time: float, length: float = 1.0) -> Motion:
    """Solve from initial coefficients (1, modes) by the split-step method, to the accuracy `CHEAP`."""
    from resolvent.solvers.common.accuracy import MODES

    interval, states, march = final_time / (FRAMES - 1), [initial], stepper("split-step")
    whole = viscosity, final_time, length
    ((modes, steps),) = march.solve_to(CHEAP, initial, march.pilot(CHEAP, initial, *whole), *whole).rungs
    num_modes, num_steps = max(FILM_MODES, MODES[modes]), -(-march.steps[steps] // (FRAMES - 1))
    solver = march(viscosity, interval, num_modes, max(FILM_STEPS, num_steps), length)
    for _ in range(FRAMES - 1):
        states.append(solver.unchecked(states[-1]))
    return Motion(
        kind="curve",
        times=interval * np.arange(FRAMES),
        values=np.concatenate([observe(state, FILM_POINTS) for state in states]),
        names=("velocity u",),
        coordinates=length * np.arange(FILM_POINTS) / FILM_POINTS,
    )
