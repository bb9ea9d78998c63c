"""Eigenfunctions of the Darcy operator by bilinear finite elements.

    -∇·(a∇φ) = λφ in (0, 1)²,    φ = 0 on the boundary

a(x, y)  coefficient, > 0, one value per element;  φ  eigenfunction, ∫φ² = 1;  λ  eigenvalue, > 0, in units of
a over squared length.

Convention: m × m square elements of side h = 1/m; nodal values are (y, x) on (m + 1) × (m + 1) nodes,
including the boundary. The element matrices are exact: with the consistent mass matrix M and the stiffness
matrix K, Kφ = λMφ on the inner nodes.

Expect: upper bounds of eigenvalues, of second order in h if a jumps only along element edges: for a = 1, λ₁ =
2π² within 0.3 % on 21 nodes. A coefficient that jumps inside elements is averaged (`element_means`), which
loses an order. Eigenfunctions of a multiple eigenvalue (a = 1: the second and third) are an arbitrary basis
of their space. Source: Cao 2021, arXiv:2105.14995, Figure 13 (e, f); Strang and Fix 1973, chapter 6.
"""

import numpy as np
import scipy.sparse as sparse
from jaxtyping import Float
from scipy.sparse.linalg import eigsh

# Matrices of a square element, nodes in the order (y, x) = 00, 01, 10, 11; free of h, and in units of h².
STIFFNESS = np.array([[4, -1, -1, -2], [-1, 4, -2, -1], [-1, -2, 4, -1], [-2, -1, -1, 4]]) / 6
MASS = np.array([[4, 2, 2, 1], [2, 4, 1, 2], [2, 1, 4, 2], [1, 2, 2, 4]]) / 36


def eigenfunctions(
    coefficient: Float[np.ndarray, "m m"], count: int = 2
) -> tuple[Float[np.ndarray, " count"], Float[np.ndarray, "count nodes nodes"]]:
    """Return the `count` smallest eigenvalues, ascending, and their eigenfunctions, zero on the boundary.

    The value of largest modulus of an eigenfunction is positive.

    Raises `ValueError` if a coefficient is not positive, or the grid has too few unknowns for `count`
    eigenfunctions.
    """
    elements = len(coefficient)
    if not (np.isfinite(coefficient) & (coefficient > 0)).all():
        raise ValueError("the coefficient must be positive and finite in every element")
    unknowns = (elements - 1) ** 2
    if not 1 <= count < unknowns:
        raise ValueError(
            f"{elements} x {elements} elements have {unknowns} unknowns: count must be between 1 and "
            f"{unknowns - 1}, got {count}"
        )
    inner = np.arange((elements + 1) ** 2).reshape(elements + 1, -1)[1:-1, 1:-1].ravel()
    stiff, mass = stiffness(coefficient)[inner][:, inner], mass_matrix(elements)[inner][:, inner]
    # Lanczos with K⁻¹M finds the smallest first; the fixed start makes results reproducible.
    values, vectors = eigsh(stiff.tocsc(), count, mass.tocsc(), sigma=0.0, v0=np.ones(unknowns))
    order = np.argsort(values)
    functions = np.zeros((count, elements + 1, elements + 1))
    functions[:, 1:-1, 1:-1] = vectors.T[order].reshape(count, elements - 1, elements - 1)
    return values[order], with_fixed_sign(functions)


def stiffness(coefficient: Float[np.ndarray, "m m"]) -> sparse.csr_array:
    """Return K of all nodes, boundary included: uᵀKv = ∫ a ∇u·∇v for bilinear u and v."""
    return _assembled(np.multiply.outer(coefficient.ravel(), STIFFNESS), len(coefficient))


def mass_matrix(elements: int) -> sparse.csr_array:
    """Return M of all nodes, boundary included: uᵀMv = ∫ u v for bilinear u and v."""
    return _assembled(np.broadcast_to(MASS / elements**2, (elements**2, 4, 4)), elements)


def element_means(values: Float[np.ndarray, "n n"], elements: int) -> Float[np.ndarray, "m m"]:
    """Return the means over elements of a coefficient on n × n nodes, constant on the cell around each node.

    The cells end halfway to the neighbours and on the boundary; n and `elements` need not be nested.
    """
    nodes = np.linspace(0, 1, len(values))
    edges = np.concatenate([[0.0], (nodes[1:] + nodes[:-1]) / 2, [1.0]])
    ends = np.linspace(0, 1, elements + 1)
    # Share of each element that lies in the cell of each node.
    overlap = np.minimum(edges[1:], ends[1:, None]) - np.maximum(edges[:-1], ends[:-1, None])
    shares = np.maximum(overlap, 0) * elements
    return shares @ values @ shares.T


def with_fixed_sign(
    functions: Float[np.ndarray, "count nodes nodes"],
) -> Float[np.ndarray, "count nodes nodes"]:
    """Return each function with the sign that makes its value of largest modulus positive.

    Of several that differ by rounding, the first counts: rounding must not choose the sign.
    """
    flat = functions.reshape(len(functions), -1)
    size = np.abs(flat)
    first = (size >= (1 - 1e-6) * size.max(axis=1, keepdims=True)).argmax(axis=1)
    largest = np.take_along_axis(flat, first[:, None], axis=1)
    return functions * np.where(largest < 0, -1.0, 1.0)[:, :, None]


def _assembled(matrices: Float[np.ndarray, "elements 4 4"], elements: int) -> sparse.csr_array:
    nodes = np.arange((elements + 1) ** 2).reshape(elements + 1, -1)
    corners = np.stack([nodes[:-1, :-1], nodes[:-1, 1:], nodes[1:, :-1], nodes[1:, 1:]], axis=-1).reshape(
        -1, 4
    )
    rows, columns = np.repeat(corners, 4, axis=1), np.tile(corners, (1, 4))
    entries = (np.ravel(matrices), (rows.ravel(), columns.ravel()))
    return sparse.coo_array(entries, shape=(nodes.size, nodes.size)).tocsr()
