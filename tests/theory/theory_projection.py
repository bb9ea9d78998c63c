"""Galerkin attention as a projection (Cao 2021, Sections 4.1.3 and D.3), in float64 on x = i/n, i < n.

Columns of Q, K, V are functions at the points. The inner product is the quadrature ⟨u, w⟩ = uᵀw/n (eq. 32),
and b(w, q) = ⟨w, q⟩ (assumption D₁₂).
"""

from __future__ import annotations

import numpy as np
import pandas
import torch
from theory_convergence import attend

from resolvent.models.cao2021.encoder import ProjectionNorm

FEATURES = 8  # columns of Q, K and V as bases of one space
VALUES, KEYS = 6, 10  # r and d of Theorem 4.3: the test space must be at least as large
MODES = 12  # of the random functions
DRAWS = 5  # of random bases
LAYER_NORM_EPSILON = 1e-5


def distances(points: list[int], seed: int) -> pandas.DataFrame:
    """Return the distance from Q(KᵀV)/n to the projection of V onto span(Q), for five forms of one basis.

    `distance` is relative, in the quadrature norm; `distance_rescaled` is the distance after multiplying the
    output of attention by the best number, which a learned scale could represent.
    """
    rows = []
    for n in points:
        generator = np.random.default_rng(seed)  # the same functions on every grid
        basis, functions = (random_functions(FEATURES, n, generator) for _ in "QV")
        for name, (q, k, v) in treatments(basis, functions).items():
            z = attend("galerkin", q, k, v)
            projection = project(basis, v)
            scale = np.vdot(z, projection) / np.vdot(z, z)
            off = [np.linalg.norm(one - projection) / np.linalg.norm(projection) for one in (z, scale * z)]
            rows.append((name, n, *off))
    return pandas.DataFrame(rows, columns=["basis", "points", "distance", "distance_rescaled"])


def treatments(basis: np.ndarray, v: np.ndarray) -> dict[str, tuple[np.ndarray, ...]]:
    """Return Q, K, V for five forms of one basis of span(Q); in exact arithmetic the first two project."""
    orthonormal = np.linalg.qr(basis)[0] * np.sqrt(len(basis))
    dual = basis @ np.linalg.inv(basis.T @ basis / len(basis))
    unit = basis / np.sqrt((basis**2).mean(axis=0))
    return {
        "orthonormal": (orthonormal, orthonormal, v),
        "dual_keys": (basis, dual, v),
        "unit_columns": (unit, unit, v),
        "layer_norm": (basis, *layer_normed(basis, v)),
        "as_drawn": (basis, basis, v),
    }


@torch.no_grad()
def layer_normed(*keys_and_values: np.ndarray) -> list[np.ndarray]:
    """Return K and V normalised as in the Galerkin transformer (eq. 6), with initial scale and shift."""
    normalise = ProjectionNorm(1, 1, FEATURES, LAYER_NORM_EPSILON).double()
    heads = (torch.from_numpy(matrix)[None, :, None] for matrix in keys_and_values)
    return [normalise(head, index)[0, :, 0].numpy() for index, head in enumerate(heads, 1)]


def quasi_optimality(points: list[int], seed: int) -> pandas.DataFrame:
    """Measure both sides of ‖f - p‖ ≤ c⁻¹ min ‖f - q‖ over q in span(Q); p is Galerkin attention of f.

    p is the attention of eq. 40 applied to the responses b(vⱼ, f): the q with responses nearest to the
    responses of f. With c = min over q of max over v of b(v, q)/(‖v‖ ‖q‖) (eq. 30), f ↦ p is a projection of
    norm at most c⁻¹, which gives the bound. Theorem 4.3 as printed uses the responses of f's best
    approximation f_h instead: its min-max term is then zero, and it states that attention reproduces f_h
    (`reproduction` is the error).

    Theorem 4.4 (eq. 42) is about the same p. Its keys are K, and f is a column of V: `misfit` is the distance
    from the responses of p = Q̃(KᵀV)/n to the responses of f, and `least_misfit` is the minimum over all q,
    computed without attention.
    """
    rows = []
    for n in points:
        functions = targets(np.arange(n) / n)
        v = np.pad(np.stack(list(functions.values()), axis=1), ((0, 0), (0, KEYS - len(functions))))
        for spaces, draw, values, keys in bases(n, seed):
            updated = petrov_galerkin(values, keys)
            attention = attend("galerkin", updated, keys, v)
            c = inf_sup(values, keys)
            for (target, f), p in zip(functions.items(), attention.T, strict=False):  # other columns are zero
                best, wanted = project(values, f), responses(keys, f)
                error, bound = norm(f - p), norm(f - best) / c
                reproduction = norm(updated @ (keys.T @ best / n) - best) / norm(best)
                misfit = np.linalg.norm(responses(keys, f - p))
                least = np.linalg.norm(wanted - project(responses(keys, values), wanted))
                sizes = (c, error, norm(f - best), bound, error / bound, reproduction, misfit, least)
                rows.append((spaces, draw, target, n, *sizes))
    columns = ["spaces", "draw", "target", "points", "inf_sup", "error", "best", "bound", "ratio"]
    return pandas.DataFrame(rows, columns=[*columns, "reproduction", "misfit", "least_misfit"])


def bases(n: int, seed: int):
    """Yield (name, draw, Q, V): functions that are the same on every grid, except for noise."""
    x = np.arange(n) / n
    legendre = np.polynomial.legendre.legvander(2 * x - 1, VALUES - 1)
    yield "fourier", 0, fourier_functions(VALUES, x), fourier_functions(KEYS, x)
    yield "legendre_fourier", 0, legendre, fourier_functions(KEYS, x)
    for draw in range(DRAWS):
        generator = np.random.default_rng([seed, draw])
        yield "random", draw, random_functions(VALUES, n, generator), random_functions(KEYS, n, generator)
        yield "noise", draw, generator.normal(size=(n, VALUES)), generator.normal(size=(n, KEYS))


def targets(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return periodic functions: one analytic, one with a kink, and one with a jump."""
    return {
        "smooth": np.exp(np.sin(2 * np.pi * x)),
        "kink": np.abs(x - 0.4),
        "jump": np.where(x < 0.3, 1.0, 0.0),
    }


def petrov_galerkin(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the attention of eq. 40, (n, d): responses b(vⱼ, f) ↦ q in span(Q) with nearest responses.

    Its columns are the updated basis Q̃ of Theorem 4.4. Q is padded with zeros to the d columns of V; the
    block matrix Λ is zero there.
    """
    n, padding = len(values), np.zeros((len(values), keys.shape[1] - values.shape[1]))
    mass_inverse = np.linalg.inv(keys.T @ keys / n)
    b = values.T @ keys / n
    schur_inverse = np.linalg.inv(b @ mass_inverse @ b.T)
    q = np.hstack([values, padding])
    k = np.hstack([values @ schur_inverse, padding])
    return attend("galerkin", q, k, keys @ mass_inverse)


def responses(keys: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return b(·, f) on an orthonormal basis of the keys' space; its length is the functional's norm."""
    return np.linalg.qr(keys)[0].T @ f / np.sqrt(len(f))


def inf_sup(values: np.ndarray, keys: np.ndarray) -> float:
    """Return c = min over q of max over v of b(v, q)/(‖v‖ ‖q‖), the cosine of the largest principal angle."""
    orthonormal_values, orthonormal_keys = np.linalg.qr(values)[0], np.linalg.qr(keys)[0]
    return float(np.linalg.svd(orthonormal_values.T @ orthonormal_keys, compute_uv=False).min())


def project(basis: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Project onto the columns by least squares; equal weights make it orthogonal in the quadrature norm."""
    return basis @ np.linalg.lstsq(basis, f)[0]


def norm(f: np.ndarray) -> float:
    """Return √⟨f, f⟩."""
    return float(np.sqrt((f**2).mean()))


def fourier_functions(count: int, x: np.ndarray) -> np.ndarray:
    """Return the first `count` of 1, cos 2πx, sin 2πx, cos 4πx, … as columns."""
    columns = [np.ones_like(x)]
    for mode in range(1, count // 2 + 1):
        columns += [np.cos(2 * np.pi * mode * x), np.sin(2 * np.pi * mode * x)]
    return np.stack(columns[:count], axis=1)


def random_functions(count: int, n: int, generator: np.random.Generator) -> np.ndarray:
    """Draw trigonometric polynomials, with normal coefficients decaying like 1/(1 + k): (n, count)."""
    decay = 1 / (1 + (np.arange(2 * MODES + 1) + 1) // 2)
    coefficients = generator.normal(size=(2 * MODES + 1, count)) * decay[:, None]
    return fourier_functions(2 * MODES + 1, np.arange(n) / n) @ coefficients
