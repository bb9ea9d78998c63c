"""Equations and random fields → arrays, with JAX, NumPy, SciPy and Numba.

There are no files, no PyTorch and no configuration here. Importing a module has no effect on JAX: solvers
compute in double precision in a scope of their own.

Import the module you need, such as `solvers.common.grid` or `solvers.burgers.split_step`. The packages
themselves import nothing, so that the grid costs a training job no JAX.
"""
