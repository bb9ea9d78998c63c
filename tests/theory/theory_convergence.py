"""Attention on a grid as a quadrature of an integral operator (Cao 2021, eqs. 8 and 14), in float64.

For smooth functions q, k, v on [0, 1] with e components (sums over the points become integrals over ξ):

- galerkin, fourier: z(x) = ∫ ⟨q(x), k(ξ)⟩ v(ξ) dξ
- softmax: z(x) = ∫ exp(⟨q(x), k(ξ)⟩/√e) v(ξ) dξ / ∫ exp(⟨q(x), k(ξ)⟩/√e) dξ
- linear: z(x) = Σⱼ softmax(q(x))ⱼ ∫ exp(kⱼ(ξ)) v(ξ) dξ / ∫ exp(kⱼ(ξ)) dξ

Attention weights all points equally. Other weights enter through the keys: as a factor, or as a logarithm
inside the exponential.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas
import torch

from resolvent.models.layers import attention

OUTPUTS = 16  # points x of the errors, common to all grids
GAUSS_POINTS = 200  # of the reference quadrature
POLE = 1.1  # in 1/(POLE - cos 2πx): sets the distance from the real line to the poles of the periodic v
ROUNDING = 1e-13  # smaller relative errors are not fitted
SHIFTS = np.array([0.1, 0.35, 0.8])  # one for each component
ATTENTIONS = ("galerkin", "fourier", "softmax", "linear")
RULES = {"periodic": "rate", "left_rectangle": "order", "trapezoid": "order"}  # fitted quantity


def periodic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return analytic q, k, v (points, 3) of period one; only v has poles, equally far from the real line."""
    angle = 2 * np.pi * (x[:, None] - SHIFTS)
    return np.cos(angle), np.sin(angle) + 0.5, 1 / (POLE - np.cos(angle))


def non_periodic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return analytic, non-periodic q, k, v (points, 3)."""
    y = x[:, None] + SHIFTS
    return np.cos(y), np.exp(-y), y**2 + np.sin(3 * y)


def errors(points: list[int]) -> pandas.DataFrame:
    """Return relative errors with respect to Gauss-Legendre quadrature.

    Errors are root mean squares over 16 outputs and all components. Rules: `periodic` and `left_rectangle`
    are unchanged attention on x = i/n, i < n, for periodic and non-periodic functions; `trapezoid` is the
    trapezoidal rule on x = i/n, i ≤ n, with weighted keys. `points` is n, the number of intervals.
    """
    rows = []
    for name in ATTENTIONS:
        for rule in RULES:
            functions = periodic if rule == "periodic" else non_periodic
            exact = reference(name, functions)
            for n in points:
                nodes = np.arange(n + (rule == "trapezoid")) / n
                q, k, v = functions(nodes)
                if rule == "trapezoid":
                    relative = np.full(n + 1, (n + 1) / n)  # relative to the weights 1/(n + 1) of attention
                    relative[[0, -1]] /= 2
                    q, k, v = weighted(name, q, k, v, relative)
                z = attend(name, q, k, v)[: n : n // OUTPUTS, : exact.shape[1]]
                rows.append((name, rule, n, np.linalg.norm(z - exact) / np.linalg.norm(exact)))
    return pandas.DataFrame(rows, columns=["attention", "rule", "points", "error"])


def attend(name: str, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Apply the function `name` of `models.layers.attention` to matrices."""
    heads = (torch.from_numpy(matrix)[None, None] for matrix in (q, k, v))
    return getattr(attention, name)(*heads)[0, 0].numpy()


def weighted(
    name: str, q: np.ndarray, k: np.ndarray, v: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q, K, V such that attention has the quadrature `weights`, given relative to equal weights.

    Softmax needs one more component: ⟨q, k⟩/√e + log w = ⟨q', k'⟩/√(e + 1).
    """
    column = weights[:, None]
    if name in ("galerkin", "fourier"):
        return q, k * column, v
    if name == "linear":
        return q, k + np.log(column), v
    e = q.shape[1]
    constant = np.full_like(column, np.sqrt(e + 1))
    return (
        np.hstack([q * np.sqrt((e + 1) / e), constant]),
        np.hstack([k, np.log(column)]),
        np.hstack([v, np.zeros_like(column)]),
    )


def reference(name: str, functions: Callable[[np.ndarray], tuple[np.ndarray, ...]]) -> np.ndarray:
    """Return z at the outputs (16, e) by Gauss-Legendre quadrature of the formulas above."""
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS_POINTS)  # on [-1, 1]
    _, k, v = functions((nodes + 1) / 2)
    q = functions(np.arange(OUTPUTS) / OUTPUTS)[0]
    weights = weights[:, None] / 2
    if name in ("galerkin", "fourier"):
        return (q @ k.T) @ (weights * v)
    if name == "softmax":
        kernel = np.exp(q @ k.T / np.sqrt(q.shape[1]))
        return kernel @ (weights * v) / (kernel @ weights)
    shares = np.exp(q) / np.exp(q).sum(axis=1, keepdims=True)
    return shares @ ((np.exp(k).T @ (weights * v)) / (np.exp(k).T @ weights))
