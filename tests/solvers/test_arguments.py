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
# Of each call the argument, the shape that it should have, the one that it has, and what helps.
BURGERS = ("complex", "(batch, modes)", "coefficients_of")
FLOW = ("initial of Kolmogorov flow", "(batch, 2K + 1, K + 1)", "(2, 64, 64)", "coefficients_of_2d")
DARCY = ("coefficient of Darcy", "floating-point", "(batch, n, n)", "observe_cosine")
EXPECTED = [
    ("initial_coefficients of Burgers split-step", "float64", "(2, 64)", *BURGERS),
    ("initial_coefficients of Burgers ETDRK4", "complex128", "(33,)", *BURGERS),
    ("initial_coefficients of Cole-Hopf", "float64", "(2, 64)", *BURGERS),
    (*FLOW, "complex array", "float64"),
    FLOW,
    (*DARCY, "float64", "(2, 8, 9)"),
    (*DARCY, "got list"),
    ("initial of Lorenz-63", "floating-point", "(batch, 3)", "float64", "(4, 2)"),
    ("frequencies of controlled ODE", "floating-point", "(4, 2)", "float64", "(4, 3)"),
    ("amplitudes of controlled ODE", "floating-point", "(batch, terms)", "int64", "(4, 2)"),
]


def test_other_arrays_are_refused_in_one_line():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    for line, words in zip(run.stdout.splitlines(), EXPECTED, strict=True):
        assert all(word in line for word in words), line
