"""Sets of times at which trajectories on [0, T] are observed (Calvello et al. 2024, section 6.1)."""

from statistics import NormalDist

import numpy as np

from resolvent.solvers.common.grid import Nodes

_STREAM = 0x74696D6573  # separates random times from the random numbers of samples


def uniform(step: float, final_time: float) -> Nodes:
    """Return 0, Δt, 2Δt, … below T, as in the public code: 200 times for Δt = 0.01, T = 2, without T.

    Raises `ValueError` if `step` Δt and `final_time` T give fewer than two times.
    """
    _check_step(step, final_time)
    # Rounding must not include T if T/Δt is an integer.
    count = int(np.ceil(final_time / step - 1e-9))
    return Nodes(tuple(float(time) for time in step * np.arange(count)))


def two_rates(step: float, final_time: float) -> Nodes:
    """Return 0, Δt, 2Δt, … up to T/2, then steps of 2Δt up to T (eq. 41).

    The printed equation has, for Δt = T/N, the times nΔt for n = 0, …, N/2 and then 2nΔt for n = N/2 + 1, …,
    3N/4, which would jump and exceed T; we assume n = N/4 + 1, …, N/2, which ends at T.

    Raises `ValueError` if T / Δt is not an integer divisible by 4.
    """
    _check_step(step, final_time)
    count = round(final_time / step)
    if count % 4 or abs(count * step - final_time) > 1e-9 * final_time:
        raise ValueError(f"two rates need a number of steps divisible by 4, got {final_time / step:g}")
    steps = np.concatenate([np.arange(count // 2 + 1), 2 * np.arange(count // 4 + 1, count // 2 + 1)])
    return Nodes(tuple(float(time) for time in step * steps))


def random_times(count: int, final_time: float, seed: int) -> Nodes:
    """Draw `count` independent uniform times in (0, T), sorted: one set for all samples of a seed."""
    key = np.random.SeedSequence(seed, spawn_key=(_STREAM, count))
    times = np.sort(np.random.Generator(np.random.Philox(key)).uniform(0, final_time, count))
    return Nodes(tuple(map(float, times)))


def normal_times(count: int, final_time: float, seed: int) -> Nodes:
    """Draw `count` normal deviates, sort them, and rescale them to [0, T], with both ends.

    The rule of Calvello et al.'s public code (EdoardoCalvello/TransformerNeuralOperators at a546ae0,
    `DynSys.solve` in datasets.py, commented out): times are dense in the middle and sparse near the ends.
    """
    inverse = NormalDist().inv_cdf
    deviates = np.array([inverse(share) for share in random_times(count, 1.0, seed).positions])
    shares = (deviates - deviates[0]) / (deviates[-1] - deviates[0])
    return Nodes(tuple(map(float, final_time * shares)))


def explicit(times: tuple[float, ...]) -> Nodes:
    """Return the listed times. Raises `ValueError` if they do not increase, or one is negative."""
    nodes = Nodes(tuple(map(float, times)))
    if nodes.positions[0] < 0:
        raise ValueError(f"times must not be negative, got {nodes.positions[0]:g}")
    return nodes


def _check_step(step: float, final_time: float) -> None:
    for name, value in (("step", step), ("final_time", final_time)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    if step >= final_time:
        raise ValueError(f"step {step:g} leaves fewer than two times before {final_time:g}")
