"""Solvers of equations and random fields, with JAX, NumPy, SciPy and Numba.

No files, no PyTorch and no configuration here. Importing a module does not change JAX's settings: solvers
enable double precision only in their own scope.

Import the module you need, such as `solvers.common.grid` or `solvers.burgers.split_step`. The packages import
nothing, so that training jobs can use grids without importing JAX.
"""
