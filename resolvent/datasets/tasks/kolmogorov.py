"""The Kolmogorov task: vorticity at one time → vorticity a little later (Calvello et al. 2024, 6.2.3)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Axis, Layout, Variable, group_name, space_group
from resolvent.datasets.tasks.common import SPLITS
from resolvent.datasets.tasks.settings import KolmogorovDataset
from resolvent.datasets.tasks.stored import Stored, error_facts, relative_errors
from resolvent.solvers.common.fourier import observe_2d
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.common.lanes import lanes_here
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.flow import LANES
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.random_fields.torus import PeriodicGaussianField2d

INPUT, TARGET, WINDOW = "vorticity", "later_vorticity", "vorticity_window"
REFINED_SAMPLES = 4  # each costs several times an ordinary sample


class Kolmogorov:
    """Draws initial vorticities, lets the flow develop, and observes pairs or windows of it."""

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = True

    @property
    def batch(self) -> int:
        """Samples solved together."""
        return max(2, lanes_here(LANES))

    def __init__(self, settings: KolmogorovDataset):
        self.settings = settings
        distribution = settings.initial_distribution
        self.field = PeriodicGaussianField2d(
            sigma=distribution.sigma,
            tau=distribution.tau,
            gamma=distribution.gamma,
            zero_mean=distribution.zero_mean,
            orthonormal=distribution.orthonormal,
            num_modes=settings.num_modes,
        )
        self.times = tuple(
            settings.spin_up_time + frame * settings.lead_time for frame in range(settings.frames + 1)
        )
        variables = [
            Variable(INPUT, f"vorticity at time {self.times[0]:g}"),
            Variable(TARGET, f"vorticity at time {self.times[1]:g}"),
        ]
        more = ()
        if settings.frames > 1:
            more = (Axis("time", np.array(self.times), "time of observation"),)
            variables.append(Variable(WINDOW, "vorticity at all times", axes=("time",)))
        self.layout = Layout(
            groups=tuple(
                space_group(Grid("periodic", n, 2 * np.pi, dimension=2), *variables, more=more)
                for n in settings.resolutions
            ),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
            dtype="float32",
        )

    def initial_coefficients(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Fourier coefficients of the initial vorticities."""
        seed = self.settings.seed
        return np.stack(
            [self.field.coefficients(seed, SPLITS.index(split), index) for split, index in samples]
        )

    def _solver(self, method: str, num_modes: int, step: float):
        settings = self.settings
        flow = {
            "viscosity": settings.viscosity,
            "forcing_wavenumber": settings.forcing_wavenumber,
            "num_modes": num_modes,
        }
        if method == "etdrk4":
            return KolmogorovEtdrk4(**flow, step=step)
        return KolmogorovSplitStep(**flow, largest_step=step)

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "n416/vorticity" → (len(samples), 416, 416), and so on."""
        settings = self.settings
        solver = self._solver(settings.method, settings.num_modes, settings.step)
        coefficients = solver.solve(self.initial_coefficients(samples), self.times)
        arrays = {}
        for points in settings.resolutions:
            window = observe_2d(coefficients, points)
            arrays[f"{group_name(points)}/{INPUT}"] = window[:, 0]
            arrays[f"{group_name(points)}/{TARGET}"] = window[:, 1]
            if settings.frames > 1:
                arrays[f"{group_name(points)}/{WINDOW}"] = window
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        """Errors of the stored vorticities on the finest stored grid.

        Of both against a run of the exponential integrator with 3/2 of the modes and half the step, from the
        initial field on. Of the later one also against the other scheme over the lead time alone: second
        order, it would need days to spin up as accurately.
        """
        settings, points = self.settings, max(self.settings.resolutions)
        positions = stored.random_positions(REFINED_SAMPLES)
        initial = self.initial_coefficients(stored.names(positions))
        refined = self._solver("etdrk4", settings.num_modes * 3 // 2, settings.step / 2)
        at_both = refined.solve(initial, self.times[:2])
        other = "split-step" if settings.method == "etdrk4" else "etdrk4"
        marched = self._solver(other, settings.num_modes * 3 // 2, settings.lead_time / 256).solve(
            at_both[:, 0], (settings.lead_time,)
        )
        group = group_name(points)
        first, later = (stored.values(f"{group}/{name}", positions) for name in (INPUT, TARGET))
        return {
            "observed_on": group,
            "against_refined_run": error_facts(relative_errors(first, observe_2d(at_both[:, 0], points))),
            "against_refined_run_later": error_facts(
                relative_errors(later, observe_2d(at_both[:, 1], points))
            ),
            "against_other_scheme_over_the_lead_time": {
                "scheme": other,
                **error_facts(relative_errors(later, observe_2d(marched[:, 0], points))),
            },
        }

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings, distribution = self.settings, self.settings.initial_distribution
        n = settings.forcing_wavenumber
        return {
            "equation": {
                "in_words": "Kolmogorov flow: the incompressible Navier-Stokes equations in two dimensions, "
                f"driven by the body force sin({n}y) along x; no drag",
                "in_symbols": f"∂ω/∂t + u·∇ω = νΔω - {n} cos({n}y),  -Δψ = ω,  u = (∂ψ/∂y, -∂ψ/∂x),  "
                "(x, y) in [0, 2π]² periodic",
                "parameters": {"viscosity ν": settings.viscosity},
                "operator": f"ω(·, {self.times[0]:g}) ↦ ω(·, {self.times[1]:g})",
                "source": "Calvello et al. 2024 (arXiv:2406.06486), section 6.2.3",
            },
            "distribution_of_the_initial_vorticity": {
                "in_symbols": "N(0, σ²(-Δ + τ²I)^{-γ}) on the torus",
                "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
                "mean_mode": "absent" if distribution.zero_mean else "drawn",
                "modes": "orthonormal functions"
                if distribution.orthonormal
                else "exponentials of unit modulus",
                "pointwise_variance": float(f"{self.field.variance():.6g}"),
            },
            "solver": {
                "method": {
                    "etdrk4": "pseudo-spectral, 2/3-dealiased; exponential time differencing, Runge-Kutta 4",
                    "split-step": "pseudo-spectral, 2/3-dealiased; Crank-Nicolson diffusion, Heun advection, "
                    "step bounded by the CFL condition (Chandler and Kerswell 2013)",
                }[settings.method],
                "modes_along_each_axis": settings.num_modes,
                "largest_step": settings.step,
            },
        }
