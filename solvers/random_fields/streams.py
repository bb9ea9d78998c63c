"""Random numbers of a sample, from its seed, split and index alone."""

import numpy as np
from jaxtyping import Float


def generator(seed: int, split: int, index: int) -> np.random.Generator:
    """Return the random stream that belongs to sample `index` of split number `split` alone."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(split, index))))


def standard_normal(seed: int, split: int, index: int, count: int) -> Float[np.ndarray, " count"]:
    """Draw the first `count` standard normal deviates of a sample's stream."""
    return generator(seed, split, index).standard_normal(count)
