"""Attention on finitely many points compared with its integral (Calvello et al. 2024, section 2), in float64.

C(u, v)(x) = ∫ e^{s(x,y)} Vv(y) dy / ∫ e^{s(x,y)} dy,   s(x, y) = ⟨Qu(x), Kv(y)⟩     (definitions 10 and 11)

with y in the domain of v; self-attention is v = u (definitions 4 and 5). Domains are [0, 1] and [0, 1]².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas
import torch

from resolvent.models.layers.continuum_attention import continuum_attention, trapezoid_log_weights
from resolvent.solvers.common.observation_times import random_times, two_rates

FEATURES = 3  # components of u, v, Qu, Kv and Vv
SCALE = 0.7  # standard deviation of the entries of Q, K and V
PHASES = (0.0, 0.5, 1.0, 1.5)  # of the functions, members of one compact set
QUERIES = np.linspace(0, 1, 17)[:, None]  # points of comparison
GAUSS_POINTS = 40  # in each half of [0, 1]: densities may jump at 1/2
QUANTILES = (0.05, 0.95)  # of the errors over the draws


def curve(x: np.ndarray, phase: float) -> np.ndarray:
    """Return values (…, 3) at x (…, 1) of a smooth, non-periodic function on [0, 1]."""
    x = x[..., 0]
    return np.stack([np.cos(3 * x + phase), np.exp(-x), np.sin(5 * x - phase) + x], axis=-1)


def surface(y: np.ndarray, phase: float) -> np.ndarray:
    """Return values (…, 3) at y (…, 2) of a smooth, non-periodic function on [0, 1]²."""
    a, b = y[..., 0], y[..., 1]
    return np.stack([np.cos(3 * a + b + phase), np.exp(-a * b), np.sin(4 * b - phase)], axis=-1)


CASES = {"self": (curve, 1), "cross": (surface, 2)}  # v, dimension of its domain


class Heads:
    """Q, K and V for a pair of functions: Qu at the queries (queries, 3), Kv and Vv at any point."""

    def __init__(self, case: str, phase: float, seed: int):
        self.v, self.dimension = CASES[case]
        self.phase = phase
        matrices = np.random.default_rng(seed).standard_normal((3, FEATURES, FEATURES))
        self.query, self.key, self.value = SCALE * matrices

    def queries(self) -> np.ndarray:
        return curve(QUERIES, self.phase) @ self.query.T

    def at(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Kv and Vv at y (…, dimension), each (…, 3)."""
        v = self.v(y, self.phase)
        return v @ self.key.T, v @ self.value.T


def monte_carlo(points: list[int], draws: int, seed: int) -> pandas.DataFrame:
    """Compare attention over independent uniform points with the integral.

    Theorem 6; theorem 12 for cross-attention. `error` is the mean over the draws of sup |difference|/sup
    |integral| over x; `low` and `high` are quantiles. `deviation` is the root mean square over draws and x,
    relative to that of the integral. `predicted` is the delta method's value of `deviation` for many points,
    without a fit: a quotient of means has the variance ∫ p(y; x)² |Vv(y) - C(x)|² dy/N with the density p of
    definition 10. `function` is a phase.
    """
    rows = []
    for case in CASES:
        for phase in PHASES:
            heads = Heads(case, phase, seed)
            exact, constant = integral(heads), delta_constant(heads)
            scale = np.sqrt((exact**2).sum(-1).mean())
            for n in points:
                generator = np.random.default_rng([seed, n, heads.dimension])
                nodes = generator.uniform(size=(draws, n, heads.dimension))
                difference = attend(heads, nodes) - exact
                error = relative_supremum(difference, exact)
                low, high = np.quantile(error, QUANTILES)
                deviation = np.sqrt((difference**2).sum(-1).mean()) / scale
                predicted = constant / np.sqrt(n) / scale
                rows.append((case, phase, n, draws, error.mean(), low, high, deviation, predicted))
    columns = ["attention", "function", "points", "draws", "error", "low", "high", "deviation", "predicted"]
    return pandas.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class NodeSet:
    """A family of node sets in [0, 1]."""

    nodes: Callable[[int, int], np.ndarray]  # (intervals, seed) → (n,), increasing
    density: Callable[[np.ndarray], np.ndarray]  # limiting density of the nodes
    random: bool  # whether nodes depend on the seed
    trapezoid: float  # order of the rule: 1 without nodes at the ends, where both end pieces are lost
    equal: float  # order of equal weights, compared with the integral with this density


def random_nodes(intervals: int, seed: int) -> np.ndarray:
    """Draw independent uniform nodes, sorted, and add both ends."""
    inner = np.random.default_rng([seed, intervals]).uniform(size=intervals - 1)
    return np.concatenate([[0.0], np.sort(inner), [1.0]])


NODE_SETS = {
    "even": NodeSet(lambda n, seed: np.linspace(0, 1, n + 1), np.ones_like, False, 2, 1),
    "two_rates": NodeSet(  # steps of 1/n up to the middle, and 2/n from there
        lambda n, seed: np.array(two_rates(1 / n, 1.0).positions),
        lambda y: np.where(y < 0.5, 4 / 3, 2 / 3), False, 2, 1,
    ),
    "random": NodeSet(random_nodes, np.ones_like, True, 2, 0.5),
    "random_without_ends": NodeSet(  # like random observation times
        lambda n, seed: np.array(random_times(n, 1.0, seed).positions), np.ones_like, True, 1, 0.5
    ),
    "random_denser": NodeSet(  # by inverting the integral of the density
        lambda n, seed: (np.sqrt(1 + 8 * random_nodes(n, seed)) - 1) / 2, lambda y: 0.5 + y, True, 2, 0.5
    ),
}  # fmt: skip


def quadratures(intervals: list[int], draws: int, seed: int) -> pandas.DataFrame:
    """Compare self-attention on sets of nodes, with trapezoidal and equal weights, with integrals.

    With equal weights the limit is the integral with dy weighted by the nodes' density. `error` is relative
    to the unweighted integral, `error_to_limit` relative to the limit, and `gap` is the difference of the two
    integrals (relative sup over x; means over draws of random nodes). Trapezoidal weights have no gap.
    """
    heads = Heads("self", PHASES[0], seed)
    exact = integral(heads)
    rows = []
    for name, node_set in NODE_SETS.items():
        limits = {"trapezoid": exact, "equal": integral(heads, node_set.density)}
        count = draws if node_set.random else 1
        for n in intervals:
            nodes = np.stack([node_set.nodes(n, seed + draw) for draw in range(count)])[..., None]
            weighted = np.concatenate([attend(heads, x[None], trapezoid=True) for x in nodes])
            attended = {"trapezoid": weighted, "equal": attend(heads, nodes)}
            for weights, limit in limits.items():
                off = (relative_supremum(attended[weights] - one, exact) for one in (exact, limit))
                error, to_limit = (one.mean() for one in off)
                gap = relative_supremum(limit - exact, exact)
                rows.append((name, weights, nodes.shape[1], count, error, to_limit, gap))
    columns = ["nodes", "weights", "points", "draws", "error", "error_to_limit", "gap"]
    return pandas.DataFrame(rows, columns=columns)


def attend(heads: Heads, nodes: np.ndarray, *, trapezoid: bool = False) -> np.ndarray:
    """Return attention over each set of nodes (sets, n, dimension) at the queries: (sets, queries, 3).

    With `trapezoid`, all sets use the weights of the first set. Q is rescaled to cancel the factor 1/√3,
    which is not in the paper's s.
    """
    queries = np.stack([heads.queries() * np.sqrt(FEATURES)] * len(nodes))
    log_weights = trapezoid_log_weights(torch.from_numpy(nodes[0])) if trapezoid else None
    q, k, v = (torch.from_numpy(part)[:, None] for part in (queries, *heads.at(nodes)))
    return continuum_attention(q, k, v, log_weights)[:, 0].numpy()


def integral(heads: Heads, density: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
    """Return C(u, v) at the queries (queries, 3), computed by Gauss-Legendre quadrature without attention.

    `density` (in one dimension) replaces dy by density(y) dy.
    """
    nodes, weights = gauss_legendre(heads.dimension)
    if density is not None:
        weights = weights * density(nodes[:, 0])
    k, v = heads.at(nodes)
    kernel = np.exp(heads.queries() @ k.T) * weights
    return kernel @ v / kernel.sum(axis=1, keepdims=True)


def delta_constant(heads: Heads) -> float:
    """Return the root of the mean over x of ∫ p(y; x)² |Vv(y) - C(x)|² dy."""
    nodes, weights = gauss_legendre(heads.dimension)
    k, v = heads.at(nodes)
    kernel = np.exp(heads.queries() @ k.T)
    density = kernel / (kernel @ weights)[:, None]
    square = ((v - integral(heads)[:, None]) ** 2).sum(-1)
    return float(np.sqrt(((density**2 * square) @ weights).mean()))


def relative_supremum(difference: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return sup over x of |difference| (…, queries, 3), relative to sup |exact|: (…)."""
    supremum = np.linalg.norm(exact, axis=-1).max()
    return np.linalg.norm(difference, axis=-1).max(axis=-1) / supremum


@cache
def gauss_legendre(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (n, dimension) and weights (n,) on [0, 1]^dimension, with two panels per axis."""
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    nodes, weights = (nodes + 1) / 4, weights / 4
    nodes, weights = np.concatenate([nodes, nodes + 0.5]), np.concatenate([weights, weights])
    grid = np.stack(np.meshgrid(*[nodes] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    return grid, weights if dimension == 1 else np.outer(weights, weights).ravel()
