"""Every discretisation of this room, once: the tests of `tests/solvers/test_registry.py` run for each line.

Closed forms (`solvers.cole_hopf`, `solvers.controlled_ode`) have no order of convergence, and tests of their
own.
"""

SOLVERS = (
    "resolvent.solvers.burgers:BurgersSplitStep",
    "resolvent.solvers.burgers_etdrk4:BurgersEtdrk4",
    "resolvent.solvers.darcy:DarcyFivePoint",
    "resolvent.solvers.kolmogorov_etdrk4:KolmogorovEtdrk4",
    "resolvent.solvers.kolmogorov_split_step:KolmogorovSplitStep",
    "resolvent.solvers.lorenz63:Lorenz63",
)
