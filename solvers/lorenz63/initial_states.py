"""Initial states of Lorenz's model, in the box that the attractor fills."""

import numpy as np
from jaxtyping import Float

from resolvent.solvers.random_fields.streams import generator


def initial_condition(seed: int, split: int, index: int) -> Float[np.ndarray, "3"]:
    """Draw the initial state of sample `index` of split number `split`: x, y ~ U(-15, 15), z ~ U(0, 40).

    Calvello et al. 2024, arXiv:2406.06486, section 6.1, names no distribution; this is its public code's.
    """
    deviates = generator(seed, split, index).uniform(size=3)
    return np.array([-15.0, -15.0, 0.0]) + np.array([30.0, 30.0, 40.0]) * deviates
