"""Parameters that are impossible are refused in one line, with the value and what is accepted."""

from functools import partial

import numpy as np
import pytest

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.cosine_series import cosine_coefficients_of, observe_cosine
from resolvent.solvers.common.grid import Grid, Nodes, check_restriction, restrict_by_stride
from resolvent.solvers.common.observation_times import (
    explicit,
    normal_times,
    random_times,
    two_rates,
    uniform,
)
from resolvent.solvers.controlled_ode import ControlledOde, draw_control
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.lorenz63 import Lorenz63
from resolvent.solvers.random_fields.gaussian import (
    NeumannGaussianField,
    PeriodicGaussianField,
    PeriodicGaussianField2d,
)

NAN = float("nan")
SIZES = "nested sizes: 211, 141, 106, ..."
# Function, keywords, and the message of the refusal; {} is the value of the last keyword.
REFUSED = [
    (BurgersSplitStep, {"viscosity": -0.1}, "viscosity must be .*, got {}"),
    (BurgersEtdrk4, {"viscosity": 0.0}, "viscosity must be .*, got {}"),
    (BurgersEtdrk4, {"viscosity": 0.1, "final_time": 0.0}, "final_time must be .*, got {}"),
    (BurgersSplitStep, {"viscosity": 0.1, "length": -1.0}, "length must be .*, got {}"),
    (BurgersSplitStep, {"viscosity": 0.1, "num_modes": 0}, "num_modes must be .*, got {}"),
    (BurgersEtdrk4, {"viscosity": 0.1, "num_steps": 0}, "num_steps must be .*, got {}"),
    (BurgersEtdrk4, {"viscosity": 0.1, "num_steps": 12}, "num_steps must be a multiple of 8, got {}"),
    (partial(cole_hopf, np.zeros((1, 5), complex)), {"viscosity": 0.0}, "viscosity must be positive, got {}"),
    (partial(cole_hopf, np.zeros((1, 5), complex), 0.1), {"length": 0.0}, "length must be positive, got {}"),
    (Lorenz63, {"sigma": 0.0}, "sigma must be .*, got {}"),
    (Lorenz63, {"rho": -1.0}, "rho must be .*, got {}"),
    (Lorenz63, {"beta": 0.0}, "beta must be .*, got {}"),
    (Lorenz63, {"tolerance": -1e-8}, "tolerance must be .*, got {}"),
    (Lorenz63, {"order": 1}, "order must be .*, got {}"),
    (Lorenz63, {"step": NAN}, "step must be .*, got {}"),
    (partial(Lorenz63().solve, np.ones((1, 3))), {"times": Nodes((-0.1, 1.0))}, "times must not be .*-0.1"),
    (KolmogorovEtdrk4, {"step": -0.1}, "step must .*, got {}"),
    (KolmogorovSplitStep, {"courant": 0.0}, "courant must .*, got {}"),
    (KolmogorovSplitStep, {"largest_step": 0.0}, "largest_step must .*, got {}"),
    (KolmogorovEtdrk4, {"viscosity": 0.0}, "viscosity must .*, got {}"),
    (KolmogorovSplitStep, {"forcing_wavenumber": 0}, "forcing_wavenumber must .*, got {}"),
    (KolmogorovEtdrk4, {"num_modes": 3}, "num_modes must .*, got {}"),
    (DarcyFivePoint, {"grid": "periodic"}, "unknown grid '{}'; accepted: 'nodes', 'cell_centres'"),
    (DarcyFivePoint, {"face_mean": "geometric"}, "unknown .* '{}'; accepted: 'arithmetic', 'harmonic'"),
    (DarcyFivePoint, {"method": "direct"}, "unknown method '{}'; accepted: 'multigrid', 'sine'"),
    (DarcyFivePoint, {"stride": 3}, "a grid of nodes has no stride {}; accepted: 1"),
    (DarcyFivePoint, {"tolerance": 1.0}, "tolerance must be between 0 and 1, got {}"),
    (DarcyFivePoint, {"tolerance": NAN}, "tolerance must be between 0 and 1, got {}"),
    (ControlledOde, {"initial_value": float("inf")}, "initial_value must be finite, got {}.*"),
    (partial(draw_control, 0, 0, 0), {"num_terms": 0}, "num_terms must be at least 1, got {}"),
    (partial(draw_control, 0, 0, 0), {"decay": "square"}, "unknown decay '{}'; accepted: 'inverse', 'none'"),
    (explicit, {"times": ()}, ".*at least two positions, got 0"),
    (explicit, {"times": (0.0, 1.0, 0.5)}, ".*must increase, but 0.5 follows 1"),
    (explicit, {"times": (NAN, 1.0)}, ".*must increase, but 1 follows nan"),
    (explicit, {"times": (-0.25, 1.0)}, ".*must not be negative, got -0.25"),
    (partial(random_times, 1, 2.0, 0), {}, ".*at least two positions, got 1"),
    (partial(normal_times, 1, 2.0, 0), {}, ".*at least two positions, got 1"),
    (partial(uniform, final_time=2.0), {"step": -0.1}, ".*step must be positive, got {}"),
    (partial(uniform, 0.1), {"final_time": 0.0}, ".*final_time must be positive, got {}"),
    (partial(two_rates, 1.0, 1.0), {}, ".*step 1 leaves fewer than two times before 1"),
    (partial(two_rates, 0.3, 2.0), {}, ".*divisible by 4, got 6.66667"),
    (partial(Grid, "chebyshev", 8), {}, ".*'chebyshev'; accepted: 'periodic', 'nodes', 'cell_centres'"),
    (partial(Grid, "nodes", 2), {}, ".*at least 3 points along each axis; got 2"),
    (partial(Grid, "periodic", 8), {"dimension": 4}, "dimension must be 1, 2 or 3, got {}"),
    (partial(Grid, "periodic", 9), {}, ".*even number of points, at least 2; got 9"),
    (partial(Grid, "periodic", 8), {"length": -1.0}, "length must be positive, got {}"),
    (partial(Grid, "nodes", 8), {"stride": 2}, "a grid of nodes has no stride {}; accepted: 1"),
    (Grid("periodic", 8).derivative, {"values": np.zeros(6)}, "values have 6 points, the grid has 8"),
    (partial(Grid("nodes", 421).restricted, 128), {}, f"128 nodes are not nested in 421: .* 420; {SIZES}"),
    (partial(restrict_by_stride, np.zeros(12), 8), {}, ".*12 .* to 8 by stride; nested sizes: 6, 4, 2"),
    (partial(check_restriction, 8192, 3000, "stride"), {}, ".* to 3000 by stride; nested sizes: 4096, .*"),
    (partial(check_restriction, 512, 1024, "spectral"), {}, ".*to 1024: a .* has at most 512 points"),
    (partial(check_restriction, 512, 256, "strided"), {}, ".*'strided'; accepted: 'spectral', 'stride'"),
    (partial(observe_cosine, np.zeros((2, 2)), 2, "nodes"), {}, ".*got 2"),
    (partial(cosine_coefficients_of, np.zeros((2, 2)), "periodic"), {}, ".*'nodes' or 'cell.*got 'periodic'"),
    *((partial(solver().solve, np.zeros((1, 7, 4), complex)), {"times": times},
       f"times must increase from 0, but {times[-1]:g} follows.*")
      for solver in (KolmogorovEtdrk4, KolmogorovSplitStep) for times in ((0.0,), (0.2, 0.1), (0.1, NAN))),
    *((partial(field, sigma=2.0, tau=3.0, gamma=2.0), changes, words)
      for field in (NeumannGaussianField, PeriodicGaussianField, PeriodicGaussianField2d)
      for changes, words in (
          ({"sigma": 0.0}, "sigma must be positive, got {}"),
          ({"tau": -1.0}, "tau must not be negative, got {}"),
          ({"zero_mean": False, "tau": 0.0}, "tau must be positive unless zero_mean"),
          ({"gamma": 0.5}, "gamma must exceed .* got {}"),
          ({"num_modes": 0}, "num_modes must be at least 1, got {}"),
      )),
]  # fmt: skip


@pytest.mark.parametrize(("call", "changes", "words"), REFUSED)
def test_what_is_impossible_is_refused(call, changes, words):
    value = next(reversed(changes.values()), None)
    with pytest.raises(ValueError, match=f"^{words.format(value)}"):
        call(**changes)
