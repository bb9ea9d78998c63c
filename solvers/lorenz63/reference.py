"""Trajectories of Lorenz's model by an independent, adaptive integrator: a check."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from resolvent.solvers.common.grid import Nodes


def solve_diffrax(
    initial: Float[np.ndarray, "batch 3"],
    times: Nodes,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    tolerance: float = 1e-12,
) -> Float[np.ndarray, "batch 3 times"]:
    """Return the states (x, y, z) at `times` by diffrax's Dopri8, with steps for this `tolerance`."""
    import diffrax  # seconds to import, and needed for this check alone

    def rate(time, state, parameters):
        x, y, z = state
        return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    def trajectory(state):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rate),
            diffrax.Dopri8(),
            t0=0.0,
            t1=times.positions[-1],
            dt0=1e-3,
            y0=state,
            saveat=diffrax.SaveAt(ts=jnp.asarray(times.coordinates)),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=100_000,
        ).ys.T

    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.vmap(trajectory))(jnp.asarray(initial)))
