"""Order in the step, bits, single precision and an independent package are in `test_registry.py`."""

import re

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


def derivatives(vorticity):
    """u, v, ω_x and ω_y, from values (..., y, x)."""
    modes = coefficients_of_2d(vorticity)
    k_x, k_y = np.arange(POINTS // 2), rows_of(POINTS // 2 - 1)
    squares = k_x**2 + k_y**2
    stream = modes / np.where(squares > 0, squares, 1)
    factors = 1j * k_y * stream, -1j * k_x * stream, 1j * k_x * modes, 1j * k_y * modes
    return [observe_2d(factor, POINTS) for factor in factors]


def mean(values):
    return values.mean(axis=(-2, -1))


def test_advection_and_forcing_of_a_flow_written_out():
    """ψ = cos x + cos(2y) + sin(x + y): velocity, gradient and products by hand."""
    u, v = -2 * np.sin(2 * Y) + np.cos(X + Y), np.sin(X) - np.cos(X + Y)
    vorticity = np.cos(X) + 4 * np.cos(2 * Y) + 2 * np.sin(X + Y)
    gradient_x = -np.sin(X) + 2 * np.cos(X + Y)
    gradient_y = -8 * np.sin(2 * Y) + 2 * np.cos(X + Y)
    rate, speed = rate_of(vorticity)
    np.testing.assert_allclose(rate, -u * gradient_x - v * gradient_y - 4 * np.cos(4 * Y), atol=1e-12)
    assert speed == pytest.approx((abs(u) + abs(v)).max(), rel=1e-12)


def test_advection_conserves_energy_and_enstrophy(initial):
    """<ψ u·∇ω> = <ω u·∇ω> = 0, of the truncated flow as of the continuous one."""
    vorticity = observe_2d(initial[0], POINTS)
    advection = rate_of(vorticity)[0] + WAVENUMBER * np.cos(WAVENUMBER * Y)
    modes = coefficients_of_2d(vorticity)
    squares = np.arange(POINTS // 2) ** 2 + rows_of(POINTS // 2 - 1) ** 2
    stream = observe_2d(modes / np.where(squares > 0, squares, 1), POINTS)
    for field in (stream, vorticity):
        scale = np.sqrt(mean(field**2) * mean(advection**2))
        assert abs(mean(field * advection)) < 1e-14 * scale


@BOTH
def test_from_rest_to_the_laminar_flow(solver):
    """u = (sin(ny)/(νn²), 0), ω = -cos(ny)/(νn), is steady; from rest it is reached like 1 - exp(-νn²t)."""
    times = (0.5, 4.0)
    values = values_from(solver, 0 * Y, times)
    amplitudes = (1 - np.exp(-VISCOSITY * WAVENUMBER**2 * np.array(times))) / (VISCOSITY * WAVENUMBER)
    expected = -amplitudes[:, None, None] * np.cos(WAVENUMBER * Y)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 if solver is ETDRK4 else 1e-6)


@BOTH
def test_the_laminar_flow_is_steady(solver):
    laminar = -np.cos(WAVENUMBER * Y) / (VISCOSITY * WAVENUMBER)
    np.testing.assert_allclose(values_from(solver, laminar, (1.0,))[0], laminar, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", [KolmogorovEtdrk4, KolmogorovSplitStep])
def test_another_forcing_wavenumber_and_viscosity(kind):
    solver = kind(viscosity=0.5, forcing_wavenumber=3, num_modes=MODES)
    expected = -(1 - np.exp(-4.5)) / 1.5 * np.cos(3 * Y)
    atol = 1e-13 if kind is KolmogorovEtdrk4 else 1e-5
    np.testing.assert_allclose(values_from(solver, 0 * Y, (1.0,))[0], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", [KolmogorovEtdrk4, KolmogorovSplitStep])
def test_decaying_vortices_beside_the_growing_laminar_flow(kind):
    """Eigenfunctions of the Laplacian with the forcing's eigenvalue -n² = -25 do not advect one another.

    A Taylor-Green array and a wave along x decay like exp(-25νt) while the forcing drives its own mode.
    """
    solver = kind(forcing_wavenumber=5, num_modes=MODES)
    vortices = 2 * np.cos(3 * X) * np.sin(4 * Y) + np.cos(4 * X - 3 * Y + 0.3) - 0.5 * np.sin(5 * X)
    decay = np.exp(-25 * VISCOSITY * 0.7)
    expected = decay * vortices - (1 - decay) / (5 * VISCOSITY) * np.cos(5 * Y)
    atol = 1e-12 if kind is KolmogorovEtdrk4 else 1e-5
    np.testing.assert_allclose(values_from(solver, vortices, (0.7,))[0], expected, rtol=0, atol=atol)


@BOTH
def test_parallel_shear_decays_mode_by_mode(solver):
    """A flow of y alone is not advected: each wavenumber q decays like exp(-νq²t)."""
    wavenumbers, amplitudes = np.array([1, 2, 7]), np.array([1.0, -0.6, 0.3])
    profile = (amplitudes[:, None, None] * np.sin(wavenumbers[:, None, None] * Y)).sum(axis=0)
    decayed = amplitudes * np.exp(-VISCOSITY * wavenumbers**2 * 0.8)
    laminar = -(1 - np.exp(-VISCOSITY * 16 * 0.8)) / (4 * VISCOSITY) * np.cos(4 * Y)
    expected = laminar + (decayed[:, None, None] * np.sin(wavenumbers[:, None, None] * Y)).sum(axis=0)
    atol = 1e-12 if solver is ETDRK4 else 1e-6
    np.testing.assert_allclose(values_from(solver, profile, (0.8,))[0], expected, rtol=0, atol=atol)


@BOTH
def test_budgets_of_energy_and_of_enstrophy(solver, initial):
    """dE/dt = <u sin ny> - 2νZ and dZ/dt = -n<ω cos ny> - 2νP, by a fourth-order central difference.

    E = <|u|²>/2, Z = <ω²>/2, P = <|∇ω|²>/2.
    """
    step = 0.01
    for centre in (0.1, 0.6):
        times = tuple(float(centre + k * step) for k in range(-2, 3))
        vorticity = observe_2d(solver.solve(initial, times), POINTS)
        u, v, along_x, along_y = derivatives(vorticity)
        energy, enstrophy = mean(u**2 + v**2) / 2, mean(vorticity**2) / 2
        palinstrophy = mean(along_x**2 + along_y**2) / 2
        energy_rate = mean(u * np.sin(WAVENUMBER * Y)) - 2 * VISCOSITY * enstrophy
        curl = -WAVENUMBER * np.cos(WAVENUMBER * Y)
        enstrophy_rate = mean(vorticity * curl) - 2 * VISCOSITY * palinstrophy
        for amount, rate in [(energy, energy_rate), (enstrophy, enstrophy_rate)]:
            measured = amount @ np.array([1, -8, 0, 8, -1]) / (12 * step)
            np.testing.assert_allclose(measured, rate[:, 2], rtol=1e-5 if solver is ETDRK4 else 3e-4)


def test_the_two_schemes_agree(solutions):
    assert 0 < relative_error(solutions[SPLIT_STEP], solutions[ETDRK4]) < 1e-4


@BOTH
def test_mean_vorticity_stays_zero(solver, solutions):
    np.testing.assert_array_equal(solutions[solver][..., 0, 0], 0)


@BOTH
def test_mean_vorticity_is_carried_along(solver, initial, solutions):
    moved = initial.copy()
    moved[:, 0, 0] = 0.3
    difference = solver.solve(moved, TIMES) - solutions[solver]
    np.testing.assert_allclose(difference[..., 0, 0], 0.3, rtol=1e-14)
    difference[..., 0, 0] = 0
    np.testing.assert_allclose(difference, 0, atol=1e-14)


@BOTH
def test_the_solution_is_real(solver, solutions):
    """û[-k_y, 0] is the conjugate of û[k_y, 0]; the other conjugates are not stored."""
    along_y = solutions[solver][..., 0]
    np.testing.assert_allclose(along_y[..., :MODES:-1], along_y[..., 1 : MODES + 1].conj(), atol=1e-14)


def translated(coefficients, shift_x, shift_y):
    k_y = rows_of(coefficients.shape[-1] - 1)
    return coefficients * np.exp(1j * (np.arange(coefficients.shape[-1]) * shift_x + k_y * shift_y))


@BOTH
@pytest.mark.parametrize(("shift_x", "shift_y"), [(0.37, 0.0), (0.0, np.pi / 2), (1.1, -np.pi)])
def test_translations_that_leave_the_forcing_alone(solver, shift_x, shift_y, initial, solutions):
    shifted = solver.solve(translated(initial, shift_x, shift_y), TIMES)
    assert relative_error(shifted, translated(solutions[solver], shift_x, shift_y)) < 1e-12


@BOTH
def test_a_translation_that_moves_the_forcing_is_no_symmetry(solver, initial, solutions):
    shifted = solver.solve(translated(initial, 0.0, np.pi / 4), TIMES)
    assert relative_error(shifted, translated(solutions[solver], 0.0, np.pi / 4)) > 0.1


@BOTH
def test_rotation_by_half_a_turn(solver, initial, solutions):
    """ω(-x, -y): the forcing -n cos(ny) is even."""
    assert relative_error(solver.solve(initial.conj(), TIMES), solutions[solver].conj()) < 1e-12


@BOTH
def test_shift_and_reflect(solver, initial, solutions):
    """-ω(-x, y + π/n), the symmetry of Kolmogorov flow: half a wave of the forcing up, mirrored in x."""

    def mirrored(coefficients):
        k_y = rows_of(coefficients.shape[-1] - 1)
        # ω̂[k_y, -k_x] is the conjugate of ω̂[-k_y, k_x].
        return -coefficients[..., -k_y[:, 0], :].conj() * np.exp(1j * k_y * np.pi / WAVENUMBER)

    assert relative_error(solver.solve(mirrored(initial), TIMES), mirrored(solutions[solver])) < 1e-12


@BOTH
def test_a_solution_does_not_depend_on_the_other_times_asked_for(solver, initial, solutions):
    """Equal to rounding where the other times are whole steps; else the steps and their errors differ."""
    at_end = solutions[solver][:, 1:]
    assert relative_error(solver.solve(initial, (0.1, 0.24, 0.6))[:, 2:], at_end) < 1e-12
    assert relative_error(solver.solve(initial, (0.6, 0.8))[:, :1], at_end) < 1e-12
    assert relative_error(solver.solve(initial, (0.1234, 0.6))[:, 1:], at_end) < 1e-5


@BOTH
def test_stopping_and_going_on_is_one_run(solver, initial, solutions):
    halfway = solutions[solver][:, 0]
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


def test_order_in_the_courant_number(initial):
    truth = KolmogorovEtdrk4(num_modes=MODES, step=0.005).solve(initial, TIMES)
    numbers = np.array([0.16, 0.08, 0.04])
    errors = []
    for courant in numbers:
        solver = KolmogorovSplitStep(num_modes=MODES, courant=float(courant), largest_step=1.0)
        errors.append(relative_error(solver.solve(initial, TIMES), truth))
    assert np.polyfit(np.log(numbers), np.log(errors), 1)[0] == pytest.approx(2, abs=0.3), errors


@BOTH
def test_modes_beyond_those_integrated_are_dropped_and_absent_ones_are_zero(solver, initial, solutions):
    padded = np.zeros((2, 61, 31), complex)
    padded[:, rows_of(12)[:, 0], :13] = initial
    padded[:, 25, 25] = padded[:, 30, 0] = padded[:, 3, 22] = 1.0
    np.testing.assert_array_equal(solver.solve(padded, TIMES), solutions[solver])


@BOTH
def test_an_initial_field_of_the_constant_mode_alone(solver):
    constant = solver.solve(np.full((1, 1, 1), 0.3 + 0j), (0.1,))
    three_rows = np.zeros((1, 3, 2), complex)
    three_rows[0, 0, 0] = 0.3
    np.testing.assert_array_equal(constant, solver.solve(three_rows, (0.1,)))


def test_the_bits_are_the_same_for_any_number_of_threads(initial, monkeypatch):
    found = set()
    for threads in ("1", "2", "3", "64"):  # there are fewer columns to share among 64
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
    for factor in range(6, 21):
        try:
            solution = solver.solve(factor * initial[:1], (0.2,))
        except SolverError:
            continue
        errors[factor] = relative_error(solution, fine.solve(factor * initial[:1], (0.2,)))
    assert max(errors.values()) < 1e-2, errors


def refused(error, message):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize("kind", [KolmogorovEtdrk4, KolmogorovSplitStep])
def test_too_few_modes_are_refused(kind, initial):
    message = (
        "Kolmogorov flow: the highest eighth of the modes holds more than 3% of the vorticity "
        "(sample rows 0, 1); use more num_modes (now 8)"
    )
    with refused(SolverError, message):
        kind(num_modes=8).solve(initial, (0.1,))


@pytest.mark.parametrize(
    ("solver", "last_step"),
    [
        (ETDRK4, "0.005"),  # a quarter of 0.02
        (KolmogorovSplitStep(num_modes=MODES, courant=20.0, largest_step=1.0), "1"),
    ],
    ids=["etdrk4", "split-step"],
)
def test_a_diverging_run_is_refused(solver, last_step, initial):
    message = (
        "Kolmogorov flow: the solution is not finite (sample rows 1); "
        f"use a shorter step (now {last_step}), which the modes kept can follow stably"
    )
    with refused(SolverError, message):
        solver.solve(np.stack([initial[0], 1e3 * initial[1]]), (0.5, 1.0))


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_initial_field_that_is_not_finite_is_refused(solver, value, initial):
    broken = initial.copy()
    broken[1, 2, 1] = value
    message = "Kolmogorov flow: the initial field is not finite (sample rows 1); check where it comes from"
    with refused(SolverError, message):
        solver.solve(broken, TIMES)


@BOTH
@pytest.mark.parametrize(
    ("times", "message"),
    [
        ((0.0, 0.1), "times must increase from 0, but 0 follows 0"),
        ((-0.1,), "times must increase from 0, but -0.1 follows 0"),
        ((0.2, 0.1), "times must increase from 0, but 0.1 follows 0.2"),
        ((0.1, 0.1), "times must increase from 0, but 0.1 follows 0.1"),
        ((0.1, float("nan")), "times must increase from 0, but nan follows 0.1"),
    ],
)
def test_times_that_do_not_increase_are_refused(solver, times, message, initial):
    with refused(ValueError, message):
        solver.solve(initial, times)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (KolmogorovEtdrk4, {"step": -0.1}, "step must be positive, got -0.1"),
        (KolmogorovSplitStep, {"courant": 0.0}, "courant must be positive, got 0.0"),
        (KolmogorovSplitStep, {"largest_step": 0.0}, "largest_step must be positive, got 0.0"),
        *(
            (kind, changes, message)
            for kind in (KolmogorovEtdrk4, KolmogorovSplitStep)
            for changes, message in [
                ({"viscosity": 0.0}, "viscosity must be positive, got 0.0"),
                ({"forcing_wavenumber": 0}, "forcing_wavenumber must be at least 1, got 0"),
                ({"num_modes": 3}, "num_modes must reach the forcing wavenumber 4, got 3"),
            ]
        ),
    ],
)
def test_impossible_parameters_are_refused(kind, changes, message):
    with refused(ValueError, message):
        kind(**changes)
