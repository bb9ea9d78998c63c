"""Common parts of the solvers: grids, series on them, an exponential integrator, checks of results."""
