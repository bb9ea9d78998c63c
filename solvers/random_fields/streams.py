"""Random numbers of a sample, determined by seed, split and index.

Fields use `standard_normal` or `scatter_normal`: bits from PCG64DXSM, which NumPy guarantees to keep stable,
and machine-independent deviates from `solvers.random_fields.deviates`. (The first version used Philox and
NumPy's ziggurat.) Ordinary differential equations, with few numbers, use `generator`.
"""

import numpy as np
from jaxtyping import Float, Int

_AT_ONCE = 8192  # deviates per block, whose bits fit into the cache


def generator(seed: int, split: int, index: int) -> np.random.Generator:
    """Return the random stream of sample `index` of split number `split`."""
    return np.random.Generator(np.random.Philox(_key(seed, split, index)))


def standard_normal(seed: int, split: int, index: int, count: int) -> Float[np.ndarray, " count"]:
    """Draw the first `count` standard normal deviates of a sample's stream."""
    deviates = np.empty(count)
    scatter_normal(seed, split, index, np.arange(count), np.ones(count), deviates)
    return deviates


def scatter_normal(
    seed: int,
    split: int,
    index: int,
    places: Int[np.ndarray, " count"],
    factors: Float[np.ndarray, " count"],
    values: Float[np.ndarray, " size"],
) -> None:
    """Draw deviates of a sample's stream, and set values[places[i]] to factors[i] times the i-th deviate."""
    from resolvent.solvers.random_fields.deviates import scatter_deviates  # Numba is slow to import

    bits = np.random.PCG64DXSM(_key(seed, split, index))
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        words = bits.random_raw(len(some) + len(some) % 2)  # deviates come in pairs
        scatter_deviates(words, some, factors[start : start + _AT_ONCE], values)


def _key(seed: int, split: int, index: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(split, index))
