"""Importing this module switches JAX to double precision: every module of this room that uses JAX does.

The switch lives here, and not in `solvers/__init__.py`, so that `solvers.grid` and `solvers.random_fields`
can be imported where JAX is not wanted (a PyTorch training job needs the grid only).
"""

import jax

# Solutions promise relative errors of 1e-7 and less: more than single precision holds over hundreds of steps.
jax.config.update("jax_enable_x64", True)
