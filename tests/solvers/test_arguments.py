"""Arrays of another kind or shape are refused in one line that gives both shapes.

Outside of the tests nothing checks annotations, so these run in a process where nothing does.
"""

import subprocess
import sys

PROGRAM = """
import numpy as np
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.controlled_ode import ControlledOde
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.lorenz63 import Lorenz63

times = Nodes((0.1, 0.2))
for call in (
    lambda: BurgersSplitStep(0.1).solve(np.zeros((2, 64))),
    lambda: BurgersEtdrk4(0.1).solve(np.zeros(33, complex)),
    lambda: cole_hopf(np.zeros((2, 64)), 0.1),
    lambda: KolmogorovEtdrk4().solve(np.zeros((2, 64, 64)), (0.1,)),
    lambda: KolmogorovSplitStep().solve(np.zeros((2, 64, 64), complex), (0.1,)),
    lambda: DarcyFivePoint().solve(np.ones((2, 8, 9))),
    lambda: DarcyFivePoint().solve([[1.0]]),
    lambda: Lorenz63().solve(np.zeros((4, 2)), times),
    lambda: ControlledOde().solve(np.zeros((4, 2)), np.zeros((4, 3)), times),
    lambda: ControlledOde().solve(np.zeros((4, 2), int), np.zeros((4, 2)), times),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""
PERIODIC = "resolvent.solvers.common.fourier.coefficients_of turns values on a circle into coefficients"
TORUS = "resolvent.solvers.common.fourier.coefficients_of_2d turns values on a grid into coefficients"
SQUARE = "resolvent.solvers.common.cosine_series.observe_cosine gives a field on a grid"
BURGERS = "must be a complex array of shape (batch, modes), got"
FLOW = "initial of Kolmogorov flow must be a complex array of shape (batch, 2K + 1, K + 1), got"
DARCY = "coefficient of Darcy must be a floating-point array of shape (batch, n, n), got"
EXPECTED = f"""\
initial_coefficients of Burgers split-step {BURGERS} float64 of shape (2, 64); {PERIODIC}
initial_coefficients of Burgers ETDRK4 {BURGERS} complex128 of shape (33,); {PERIODIC}
initial_coefficients of Cole-Hopf {BURGERS} float64 of shape (2, 64); {PERIODIC}
{FLOW} float64 of shape (2, 64, 64); {TORUS}
initial of Kolmogorov flow must be of shape (batch, 2K + 1, K + 1), got (2, 64, 64); {TORUS}
{DARCY} float64 of shape (2, 8, 9); {SQUARE}
{DARCY} list; {SQUARE}
initial of Lorenz-63 must be a floating-point array of shape (batch, 3), got float64 of shape (4, 2)
frequencies of controlled ODE must be a floating-point array of shape (4, 2), got float64 of shape (4, 3)
amplitudes of controlled ODE must be a floating-point array of shape (batch, terms), got int64 of shape (4, 2)
"""


def test_other_arrays_are_refused_in_one_line():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.stdout == EXPECTED, run.stderr
