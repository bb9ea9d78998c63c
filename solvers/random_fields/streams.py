"""Random numbers of a sample, from its seed, split and index alone.

Fields take `standard_normal` or `scatter_normal`: bits from PCG64DXSM, which NumPy promises to keep, and
deviates by `solvers.random_fields.deviates`, the same on every machine. This is their second version; the
first took Philox and NumPy's ziggurat. The few numbers of an ordinary differential equation take `generator`.
"""

import numpy as np
from jaxtyping import Float, Int

_AT_ONCE = 8192  # deviates whose bits stay in a processor's cache


def generator(seed: int, split: int, index: int) -> np.random.Generator:
    """Return the random stream that belongs to sample `index` of split number `split` alone."""
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
    """Draw deviates of a sample's stream, and set values[places[i]] to the i-th times factors[i]."""
    from resolvent.solvers.random_fields.deviates import scatter_deviates  # Numba, which takes its time

    bits = np.random.PCG64DXSM(_key(seed, split, index))
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        words = bits.random_raw(len(some) + len(some) % 2)  # deviates come in pairs
        scatter_deviates(words, some, factors[start : start + _AT_ONCE], values)


def _key(seed: int, split: int, index: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(split, index))
