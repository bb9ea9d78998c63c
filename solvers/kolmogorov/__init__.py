"""Kolmogorov flow: two-dimensional Navier-Stokes on the torus, by two integrators in time."""
