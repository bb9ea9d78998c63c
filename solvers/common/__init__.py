"""What the solvers share: grids, series of functions on them, an integrator, checks of what comes out."""
