"""Darcy flow on nodes: the 5-point equations with arithmetic means, and coefficients of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyamg
import pypardiso
import scipy.sparse as sparse
from cvxopt import cholmod, spmatrix
from cvxopt import matrix as cvxopt_matrix
from scipy.sparse.linalg import splu, spsolve
from threadpoolctl import threadpool_limits

from benchmarks.solvers.race import Contestant, Race, error_against, field_of, one_thread, traffic
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.darcy.five_point import MAX_ITERATIONS, DarcyFivePoint
from resolvent.solvers.random_fields.gaussian import level_set, lognormal

REMARK = (
    "Each solver uses one thread, except where two are stated and for the sine transforms, which use JAX's "
    "threads. Peers start from the matrix in their format, and its assembly is not timed; ours start from "
    "the coefficient. Reference: SuperLU with iterative refinement. Limit: each sweep reads or writes every "
    "array once."
)
MISSING = (
    "scikit-sparse, another interface to CHOLMOD, because pip can build it only if SuiteSparse's headers are "
    "installed (cvxopt includes CHOLMOD, with the ordering AMD)",
)
SAMPLES = 2
# The memory traffic of an iteration, in copies of an array of the finest grid in single precision. A V-cycle:
# four half-sweeps with six arrays each, the residual with five, the correction with two, and a third more for
# all coarser grids. Conjugate gradients in double precision: the product with four arrays, updates with
# eight.
COPIES = ((4 * 6 + 5 + 2) * 4 / 3 + 2 * (4 + 8)) / 2


def races() -> list[Race]:
    return [
        race("Darcy, 421 × 421, coefficient 3 or 12", 421, "cao_darcy", level_set, direct=True, sine=True),
        race("Darcy, 421 × 421, lognormal", 421, "calvello_darcy", lognormal, direct=True, sine=True),
        race("Darcy, 832 × 832, lognormal", 832, "calvello_darcy", lognormal, direct=False, sine=False),
    ]


def race(
    title: str, points: int, distribution: str, push_forward: Callable, direct: bool, sine: bool
) -> Race:
    """Return a race; `direct` adds SuperLU to the contestants, and `sine` our second method."""
    field = field_of(distribution, num_modes=points - 1)
    draws = np.stack([field.coefficients(0, 0, index) for index in range(SAMPLES)])
    coefficient = push_forward(observe_cosine(draws, points, "nodes"))
    matrices = [assembled(sample) for sample in coefficient]
    right = np.full((points - 2) ** 2, 1 / (points - 1) ** 2)

    multigrid, by_sines = DarcyFivePoint(method="multigrid"), DarcyFivePoint(method="sine")
    note = f"tolerance {multigrid.tolerance:.0e}"
    _, iterations = multigrid._multigrid(coefficient, np.ones_like(coefficient), MAX_ITERATIONS)
    limit = traffic(points**2, np.float32, COPIES * iterations.sum())
    alone = one_thread(lambda: inner(multigrid.solve(coefficient)))

    def in_two_threads() -> np.ndarray:
        with ThreadPoolExecutor(2) as pool:
            return inner(np.concatenate(list(pool.map(multigrid.solve, np.array_split(coefficient, 2)))))

    contestants = [
        ours("multigrid", alone, f"{note}, {iterations.max()} iterations", limit=limit),
        ours("multigrid", in_two_threads, f"{note}, two threads"),
        by_pardiso(matrices, right),
        by_cholmod(matrices, right),
        by_pyamg("Ruge-Stüben", pyamg.ruge_stuben_solver, matrices, right),
        by_pyamg("smoothed aggregation", pyamg.smoothed_aggregation_solver, matrices, right),
    ]
    if sine:
        contestants.insert(2, ours("sine transforms", lambda: inner(by_sines.solve(coefficient)), note))
    if direct:
        contestants += [by_superlu(matrices, right, ordering) for ordering in ("COLAMD", "MMD_AT_PLUS_A")]
    reference = np.stack([refined(matrix, right) for matrix in matrices])
    return Race(title, contestants, error_against(reference), MISSING)


def ours(name: str, run: Callable, note: str, limit: Callable | None = None) -> Contestant:
    return Contestant(name, run, SAMPLES, note, ours=True, limit=limit)


def peer(name: str, solve: Callable, matrices: list, note: str) -> Contestant:
    """Return a contestant whose `solve(matrix)` solves for one sample, with one thread."""
    run = one_thread(lambda: np.stack([solve(matrix) for matrix in matrices]))
    return Contestant(name, run, SAMPLES, note)


def inner(pressure: np.ndarray) -> np.ndarray:
    """Return the unknowns of each sample as a row."""
    return pressure[:, 1:-1, 1:-1].reshape(len(pressure), -1)


def assembled(coefficient: np.ndarray) -> sparse.csr_array:
    """Return the matrix of the inner nodes, h² times the 5-point operator."""
    nodes = len(coefficient) - 2
    difference = sparse.diags_array([1.0, -1.0], offsets=[0, -1], shape=(nodes + 1, nodes))
    across = sparse.kron(sparse.eye_array(nodes), difference)
    along = sparse.kron(difference, sparse.eye_array(nodes))
    faces_x = ((coefficient[:, 1:] + coefficient[:, :-1]) / 2)[1:-1]
    faces_y = ((coefficient[1:] + coefficient[:-1]) / 2)[:, 1:-1]
    weights_x, weights_y = sparse.diags_array(faces_x.ravel()), sparse.diags_array(faces_y.ravel())
    return sparse.csr_array(across.T @ weights_x @ across + along.T @ weights_y @ along)


def refined(matrix: sparse.csr_array, right: np.ndarray) -> np.ndarray:
    """Solve by SuperLU with iterative refinement."""
    factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    solution = factors.solve(right)
    for _ in range(3):
        solution += factors.solve(right - matrix @ solution)
    return solution


def by_superlu(matrices: list, right: np.ndarray, ordering: str) -> Contestant:
    columns = [matrix.tocsc() for matrix in matrices]
    return peer("SciPy spsolve", lambda matrix: spsolve(matrix, right, ordering), columns, ordering)


def by_pyamg(name: str, build: Callable, matrices: list, right: np.ndarray) -> Contestant:
    """Solve by conjugate gradients, with a new PyAMG hierarchy for every matrix."""

    def solve(matrix: sparse.csr_matrix) -> np.ndarray:
        return build(matrix).solve(right, tol=1e-7, accel="cg")

    return peer(f"PyAMG {name} + CG", solve, list(map(sparse.csr_matrix, matrices)), "tolerance 1e-07")


def by_pardiso(matrices: list, right: np.ndarray) -> Contestant:
    """Solve by MKL PARDISO, with one analysis for all samples, which have the same sparsity pattern."""
    solver = pypardiso.PyPardisoSolver(mtype=2)
    triangles = [sparse.csr_matrix(sparse.triu(matrix)) for matrix in matrices]
    with threadpool_limits(1):  # silently wrong if analysis and factorisation use different threads
        solver.set_phase(11)
        solver._call_pardiso(triangles[0], right)  # the public methods would analyse every matrix
        solver.set_phase(23)
    return peer(
        "MKL PARDISO", lambda matrix: solver._call_pardiso(matrix, right), triangles, "analysis reused"
    )


def by_cholmod(matrices: list, right: np.ndarray) -> Contestant:
    """Solve by CHOLMOD as cvxopt wraps it, with one symbolic analysis for all samples."""
    triangles = [sparse.coo_array(sparse.tril(matrix)) for matrix in matrices]
    own = [spmatrix(one.data, one.row, one.col, one.shape) for one in triangles]
    factors = cholmod.symbolic(own[0])

    def solve(matrix: spmatrix) -> np.ndarray:
        solution = cvxopt_matrix(right)
        cholmod.numeric(matrix, factors)
        cholmod.solve(factors, solution)
        return np.array(solution)[:, 0]

    return peer("CHOLMOD", solve, own, "analysis reused")
