"""Registry of all discretisations; `tests/solvers/test_registry.py` runs its tests for each line.

Closed forms (`solvers.burgers.cole_hopf`, `solvers.controlled_ode`) have no order of convergence, and
separate tests.
"""

SOLVERS = (
    "resolvent.solvers.burgers.split_step:BurgersSplitStep",
    "resolvent.solvers.burgers.etdrk4:BurgersEtdrk4",
    "resolvent.solvers.darcy.five_point:DarcyFivePoint",
    "resolvent.solvers.kolmogorov.etdrk4:KolmogorovEtdrk4",
    "resolvent.solvers.kolmogorov.split_step:KolmogorovSplitStep",
    "resolvent.solvers.lorenz63:Lorenz63",
)
