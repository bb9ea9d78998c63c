"""Order in the step, bits, single precision and an independent package are in `test_registry.py`."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.flow import flow, tendency
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d

MODES, POINTS = 21, 64  # the points on which the products of 21 modes are formed
VISCOSITY, WAVENUMBER = 1 / 70, 4  # the defaults
FIELD = PeriodicGaussianField2d(7**1.5, 7.0, 2.5, orthonormal=False, num_modes=12)
ETDRK4 = KolmogorovEtdrk4(num_modes=MODES, step=0.02)
SPLIT_STEP = KolmogorovSplitStep(num_modes=MODES, largest_step=0.005)
BOTH = pytest.mark.parametrize("solver", [ETDRK4, SPLIT_STEP], ids=["etdrk4", "split-step"])
TIMES = (0.3, 0.6)
Y, X = np.meshgrid(*2 * [2 * np.pi / POINTS * np.arange(POINTS)], indexing="ij")


@pytest.fixture(scope="module")
def initial():
    return np.stack([FIELD.coefficients(0, 0, index) for index in range(2)])


@pytest.fixture(scope="module")
def solutions(initial):
    return {solver: solver.solve(initial, TIMES) for solver in (ETDRK4, SPLIT_STEP)}


def relative_error(coefficients, expected):
    """The largest over samples and times."""
    values, truth = observe_2d(coefficients, POINTS), observe_2d(expected, POINTS)
    return (np.linalg.norm(values - truth, axis=(-2, -1)) / np.linalg.norm(truth, axis=(-2, -1))).max()


def values_from(solver, vorticity, times):
    """Values (times, y, x) of the solution that starts from values (y, x)."""
    return observe_2d(solver.solve(coefficients_of_2d(vorticity[None]), times)[0], POINTS)


def rows_of(num_modes):
    """k_y of each row, (2K + 1, 1)."""
    return np.r_[: num_modes + 1, -num_modes:0][:, None]


def rate_of(vorticity):
    """ω_t without viscosity, and the largest |u| + |v|: values on POINTS² from values on POINTS²."""
    modes = coefficients_of_2d(vorticity)[rows_of(MODES)[:, 0], : MODES + 1]
    with jax.enable_x64(True):
        rate, speed = tendency(jnp.asarray(modes.T[None]), flow(MODES, WAVENUMBER, np.dtype(complex)), POINTS)
    return observe_2d(np.asarray(rate)[0].T, POINTS), float(speed[0])


def test_advection_and_forcing_of_a_flow_written_out():
    """ψ = cos x + cos(2y) + sin(x + y): velocity, gradient and products by hand."""
    u, v = -2 * np.sin(2 * Y) + np.cos(X + Y), np.sin(X) - np.cos(X + Y)
    vorticity = np.cos(X) + 4 * np.cos(2 * Y) + 2 * np.sin(X + Y)
    gradient_x = -np.sin(X) + 2 * np.cos(X + Y)
    gradient_y = -8 * np.sin(2 * Y) + 2 * np.cos(X + Y)
    rate, speed = rate_of(vorticity)
    np.testing.assert_allclose(rate, -u * gradient_x - v * gradient_y - 4 * np.cos(4 * Y), atol=1e-12)
    assert speed == pytest.approx((abs(u) + abs(v)).max(), rel=1e-12)


@BOTH
def test_from_rest_to_the_laminar_flow(solver):
    """u = (sin(ny)/(νn²), 0), ω = -cos(ny)/(νn), is steady; from rest it is reached like 1 - exp(-νn²t)."""
    times = (0.5, 4.0)
    values = values_from(solver, 0 * Y, times)
    amplitudes = (1 - np.exp(-VISCOSITY * WAVENUMBER**2 * np.array(times))) / (VISCOSITY * WAVENUMBER)
    expected = -amplitudes[:, None, None] * np.cos(WAVENUMBER * Y)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 if solver is ETDRK4 else 1e-6)
    laminar = -np.cos(WAVENUMBER * Y) / (VISCOSITY * WAVENUMBER)
    np.testing.assert_allclose(values_from(solver, laminar, (1.0,))[0], laminar, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", [KolmogorovEtdrk4, KolmogorovSplitStep])
def test_decaying_vortices_beside_the_growing_laminar_flow(kind):
    """Eigenfunctions of the Laplacian with the forcing's eigenvalue -n² = -25 do not advect one another.

    A Taylor-Green array and a wave along x decay like exp(-25νt) while the forcing drives its own mode.
    """
    viscosity = 0.02
    solver = kind(viscosity=viscosity, forcing_wavenumber=5, num_modes=MODES)
    vortices = 2 * np.cos(3 * X) * np.sin(4 * Y) + np.cos(4 * X - 3 * Y + 0.3) - 0.5 * np.sin(5 * X)
    decay = np.exp(-25 * viscosity * 0.7)
    expected = decay * vortices - (1 - decay) / (5 * viscosity) * np.cos(5 * Y)
    atol = 1e-12 if kind is KolmogorovEtdrk4 else 1e-5
    np.testing.assert_allclose(values_from(solver, vortices, (0.7,))[0], expected, rtol=0, atol=atol)


@BOTH
def test_mean_vorticity_stays_zero_or_is_carried_along(solver, initial, solutions):
    np.testing.assert_array_equal(solutions[solver][..., 0, 0], 0)
    # The solution is real: û[-k_y, 0] is the conjugate of û[k_y, 0]; the other conjugates are not stored.
    along_y = solutions[solver][..., 0]
    np.testing.assert_allclose(along_y[..., :MODES:-1], along_y[..., 1 : MODES + 1].conj(), atol=1e-14)
    moved = initial.copy()
    moved[:, 0, 0] = 0.3
    difference = solver.solve(moved, TIMES) - solutions[solver]
    np.testing.assert_allclose(difference[..., 0, 0], 0.3, rtol=1e-14)
    difference[..., 0, 0] = 0
    np.testing.assert_allclose(difference, 0, atol=1e-14)


def translated(coefficients, shift_x=0.0, shift_y=0.0):
    k_y = rows_of(coefficients.shape[-1] - 1)
    return coefficients * np.exp(1j * (np.arange(coefficients.shape[-1]) * shift_x + k_y * shift_y))


@BOTH
def test_symmetries(solver, initial, solutions):
    """Translations that leave the forcing alone, half a turn (the forcing is even), and shift and reflect.

    -ω(-x, y + π/n): half a wave of the forcing up, mirrored in x.
    """

    def mirrored(coefficients):
        k_y = rows_of(coefficients.shape[-1] - 1)
        # ω̂[k_y, -k_x] is the conjugate of ω̂[-k_y, k_x].
        return -coefficients[..., -k_y[:, 0], :].conj() * np.exp(1j * k_y * np.pi / WAVENUMBER)

    def error(turned):
        return relative_error(solver.solve(turned(initial), TIMES), turned(solutions[solver]))

    for turned in (
        partial(translated, shift_x=0.37),
        partial(translated, shift_y=np.pi / 2),
        np.conj,
        mirrored,
    ):
        assert error(turned) < 1e-12
    assert error(partial(translated, shift_y=np.pi / 4)) > 0.1  # which moves the forcing


@BOTH
def test_a_solution_does_not_depend_on_the_other_times_asked_for(solver, initial, solutions):
    """Equal to rounding where the other times are whole steps; else the steps and their errors differ."""
    at_end = solutions[solver][:, 1:]
    assert relative_error(solver.solve(initial, (0.1, 0.24, 0.6))[:, 2:], at_end) < 1e-12
    assert relative_error(solver.solve(initial, (0.6, 0.8))[:, :1], at_end) < 1e-12
    assert relative_error(solver.solve(initial, (0.1234, 0.6))[:, 1:], at_end) < 1e-5
    halfway = solutions[solver][:, 0]  # stopping and going on is one run
    assert relative_error(solver.solve(halfway, (0.3,))[:, 0], solutions[solver][:, 1]) < 1e-12


@pytest.mark.parametrize(("viscosity", "wavenumber", "num_steps"), [(0.02, 20, 64), (0.5, 5, 20)])
def test_split_steps_shorten_where_the_flow_is_fast(viscosity, wavenumber, num_steps):
    """A weak shear wave on the laminar flow counts the steps of Crank and Nicolson.

    N steps of h = 1/N damp it by ((1 - z)/(1 + z))^N with z = hνq²/2. The laminar flow has max|u| = 1/(νn²):
    3.125 in the first case, where a Courant number of 0.5 allows h = 0.0157, and 0.125 in the second, where
    the largest step is the bound.
    """
    solver = KolmogorovSplitStep(viscosity=viscosity, num_modes=MODES, courant=0.5, largest_step=0.05)
    laminar = -np.cos(WAVENUMBER * Y) / (viscosity * WAVENUMBER)
    start = laminar + 1e-3 * np.cos(wavenumber * Y)
    end = solver.solve(coefficients_of_2d(start[None]), (1.0,))[0, 0]
    z = viscosity * wavenumber**2 / (2 * num_steps)
    damped = ((1 - z) / (1 + z)) ** num_steps
    assert 2 * end[wavenumber, 0].real == pytest.approx(1e-3 * damped, rel=1e-6)


@BOTH
def test_modes_beyond_those_integrated_are_dropped_and_absent_ones_are_zero(solver, initial, solutions):
    padded = np.zeros((2, 61, 31), complex)
    padded[:, rows_of(12)[:, 0], :13] = initial
    padded[:, 25, 25] = padded[:, 30, 0] = padded[:, 3, 22] = 1.0
    np.testing.assert_array_equal(solver.solve(padded, TIMES), solutions[solver])
    constant = solver.solve(np.full((1, 1, 1), 0.3 + 0j), (0.1,))
    three_rows = np.zeros((1, 3, 2), complex)
    three_rows[0, 0, 0] = 0.3
    np.testing.assert_array_equal(constant, solver.solve(three_rows, (0.1,)))


def test_the_bits_are_the_same_for_any_number_of_threads(initial, monkeypatch):
    found = set()
    for threads in ("1", "3", "64"):  # there are fewer columns to share among 64
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.add(ETDRK4.solve(initial, TIMES).tobytes())
    assert len(found) == 1


def test_a_sample_too_fast_for_the_step_is_solved_with_half_of_it(initial):
    """And its companions are not: they keep the bits that they have alone."""
    solver = KolmogorovEtdrk4(viscosity=0.1, num_modes=MODES, step=0.02)
    half = KolmogorovEtdrk4(viscosity=0.1, num_modes=MODES, step=0.01)
    fast = np.stack([initial[1], 12 * initial[0]])
    together = solver.solve(fast, (0.1, 0.2))
    np.testing.assert_array_equal(together[:1], solver.solve(fast[:1], (0.1, 0.2)))
    np.testing.assert_array_equal(together[1:], half.solve(fast[1:], (0.1, 0.2)))


@pytest.mark.parametrize("viscosity", [0.1, 0.2])
def test_an_unstable_run_is_not_returned(viscosity, initial):
    """Take flows that the step can follow and flows that it cannot: a solution is right, or refused."""
    solver = KolmogorovEtdrk4(viscosity=viscosity, num_modes=MODES, step=0.02)
    fine = KolmogorovEtdrk4(viscosity=viscosity, num_modes=MODES, step=0.002)
    errors = {}
    for factor in range(6, 21, 2):
        try:
            solution = solver.solve(factor * initial[:1], (0.2,))
        except SolverError:
            continue
        errors[factor] = relative_error(solution, fine.solve(factor * initial[:1], (0.2,)))
    assert max(errors.values()) < 1e-2, errors


@BOTH
def test_what_is_not_resolved_is_refused_with_the_samples_and_the_remedy(solver, initial):
    broken = initial.copy()
    broken[1, 2, 1] = np.inf
    diverging = np.stack([initial[0], 1e3 * initial[1]])
    coarse = solver if solver is ETDRK4 else replace(solver, courant=20.0, largest_step=1.0)
    last_step = "0.005" if solver is ETDRK4 else "1"  # a quarter of 0.02
    for one, fields, times, said in (
        (replace(solver, num_modes=8), initial, (0.1,), r"more than 3% .* rows 0, 1\); use more num_modes"),
        (coarse, diverging, (0.5, 1.0), rf"not finite .* 1\); use a shorter step \(now {last_step}\)"),
        (solver, broken, TIMES, r"the initial field is not finite \(sample rows 1\)"),
    ):
        with pytest.raises(SolverError, match=f"^Kolmogorov flow: .*{said}"):
            one.solve(fields, times)
