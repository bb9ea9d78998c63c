"""Equations and random fields → arrays. JAX and NumPy only: no files, no PyTorch, no configuration.

Import the module you need (`solvers.grid`, `solvers.fourier`, `solvers.random_fields`, `solvers.burgers`,
`solvers.cole_hopf`). This file imports nothing, so that the grid costs a training job no JAX.
"""
