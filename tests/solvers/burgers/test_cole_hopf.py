import numpy as np
import pytest
from burgers_problem import CAO_VISCOSITY, initial_fields

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid


@pytest.mark.parametrize("length", [1.0, 2.5])
@pytest.mark.parametrize("mean", [0.0, 0.7])
def test_a_single_mode_of_the_potential_has_a_closed_form(mean, length):
    viscosity, final_time, amplitude, wavenumber = 0.02, 0.8, 0.9, 2 * np.pi / length
    grid = Grid("periodic", 256, length)

    def closed_form(time):
        angle = wavenumber * (grid.coordinates - mean * time)
        decayed = amplitude * np.exp(-viscosity * wavenumber**2 * time)
        return mean + 2 * viscosity * wavenumber * decayed * np.sin(angle) / (1 + decayed * np.cos(angle))

    initial = coefficients_of(closed_form(0.0)[None])
    solution = observe(cole_hopf(initial, viscosity, final_time, length), 256)
    np.testing.assert_allclose(solution[0], closed_form(final_time), atol=1e-14)


def test_a_sample_has_the_same_bits_in_any_batch():
    initial = initial_fields(23)
    together = cole_hopf(initial, CAO_VISCOSITY)
    np.testing.assert_array_equal(cole_hopf(initial[17:18], CAO_VISCOSITY)[0], together[17])
    np.testing.assert_array_equal(cole_hopf(initial[15:18], CAO_VISCOSITY)[2], together[17])


@pytest.mark.parametrize(
    ("given", "initial", "said"),
    [
        # U₀ = 2 · 2 sin(2πx)/2π has range 4/π; divided by 2 · 0.01 that is 63.7.
        ((0.01,), [[0, 0.1], [0, 2.0]], r"reaches 63\.7, above 45, .* rows 1\); use the time stepper"),
        # The potential spans e^40 at first, of which rounding leaves nothing.
        ((0.01, 1e-4), [[0, 0.1], [0, 0.4 * np.pi]], r"potential falls below .* rows 1\); use the"),
        ((0.1,), [[0, np.nan]], r"initial field is not finite \(sample rows 0\)"),
        (
            (CAO_VISCOSITY, 1.0, 1.0, 32),
            initial_fields(2),
            r"the highest eighth .* \(sample rows 0, 1\); use more work_points \(now 32\)",
        ),
    ],
)
def test_what_it_cannot_solve_in_double_precision_is_refused(given, initial, said):
    with pytest.raises(SolverError, match=f"^Cole-Hopf: .*{said}"):
        cole_hopf(np.array(initial, complex), *given)
