"""The checks of imported Burgers data: numbers against known ones, and from where on they warn."""

import json
import re
import warnings

import numpy as np
import pytest

from resolvent.datasets.imported import burgers, labels
from resolvent.datasets.tasks.distributions import CircleDistribution
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField

STATED = CircleDistribution(sigma=25, tau=5, gamma=2)
MODES = np.arange(1, 64)  # of 128 points
ONE = labels.Searched("viscosity", 1.0)


def expected_power(sigma, tau, gamma):
    return sigma**2 * ((2 * np.pi * MODES) ** 2 + tau**2) ** -float(gamma)


def facts_of(power, constant=0.0, samples=3, stated=STATED):
    return burgers.spectrum_facts(np.array([constant, *power]), samples, stated)


def cut_at(mode, power):
    """Return the power without that of higher modes, but for the rounding of a file."""
    return np.where(mode >= MODES, power, 1e-16)


def test_the_power_of_each_band_is_compared_with_that_stated():
    factors = np.repeat([1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 9.0], [1, 2, 4, 8, 16, 1, 31])
    bands = facts_of(factors * expected_power(25, 5, 2))["power_over_that_stated_by_modes"]
    assert list(bands) == ["1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32"]  # a quarter of the points
    assert [band["ratio"] for band in bands.values()] == pytest.approx([1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    widths = np.array([1, 2, 4, 8, 16, 1])
    errors = [band["standard_error"] for band in bands.values()]
    assert errors == pytest.approx(1 / np.sqrt(3 * widths), rel=0.05)


KEY = "initial_distribution.num_modes"
# The mode at which the power is cut, that stated, and what is said.
CUTS = {
    "as stated": (20, 20, ""),
    "no cut": (None, None, ""),
    "stated above the grid": (None, 64, ""),
    "not stated": (20, None, f"no power above mode 20; stated: no cut. Set {KEY}: 20."),
    "stated too high": (20, 40, f"no power above mode 20; stated: power up to mode 40. Set {KEY}: 20."),
    "stated too low": (40, 20, f"power up to mode 40; stated: none above mode 20. Set {KEY}: 40."),
    "none where one is stated": (None, 20, f"none above mode 20. Set {KEY}: null (no cut)."),
}


@pytest.mark.parametrize("case", CUTS)
@pytest.mark.parametrize("given", [(25, 5, 2), (300, 20, 3), (1, 0, 0.6)])
def test_the_highest_mode_with_power_is_held_against_that_stated(case, given):
    cut, stated, expected = CUTS[case]
    power = cut_at(cut or 63, expected_power(*given))
    names = dict(zip(("sigma", "tau", "gamma"), given, strict=True))
    facts = facts_of(power, stated=CircleDistribution(**names, num_modes=stated))
    assert facts["highest_mode"]["with_power"] == (cut or 63)
    assert list(facts["parameters_that_fit_best"].values()) == pytest.approx(given, rel=1e-2, abs=0.02)
    ratios = [band["ratio"] for band in facts["power_over_that_stated_by_modes"].values()]
    assert ratios == pytest.approx([1.0] * len(ratios))
    last = list(facts["power_over_that_stated_by_modes"])[-1]
    assert last == ("16 to 20" if 20 in (cut, stated) else "32")
    said = burgers.distribution_warnings(facts)
    assert len(said) == bool(expected)
    assert "".join(said).endswith(expected), said


def test_a_spectrum_that_decays_into_rounding_has_no_cut():
    """The power of γ = 8 is below 1e-12 from mode 5 on, which is no end of the distribution."""
    steep = CircleDistribution(sigma=1e6, tau=5, gamma=8)
    power = expected_power(1e6, 5, 8)
    facts = facts_of(np.maximum(power, 1e-16 * power.sum()), stated=steep)
    assert facts["highest_mode"]["with_power"] < 10
    assert burgers.distribution_warnings(facts) == []
    (said,) = burgers.distribution_warnings(facts_of(power, samples=1000))
    assert said.startswith("The initial values do not fit the stated distribution")


@pytest.mark.parametrize("points", [32, 128, 8192])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_cut_is_seen_in_files_of_either_precision(points, kind):
    for cut in (20, None):
        given = CircleDistribution(sigma=25, tau=5, gamma=2, num_modes=cut)
        field = PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=cut or 4095)
        drawn = observe(np.stack([field.coefficients(0, 0, index) for index in range(8)]), points)
        power = burgers.powers(drawn.astype(kind).astype("float64")).mean(axis=0)
        facts = burgers.spectrum_facts(power, 8, given)
        if points > 32:
            assert facts["highest_mode"]["that_fits"] == (cut or burgers.NO_CUT)
        assert burgers.distribution_warnings(facts) == []


@pytest.mark.parametrize(
    ("shape", "size"),
    [("zero", 0.3), ("constant", 1e150), ("one wave", 1e-150), ("all modes", 1e150), ("all modes", 0.3)],
)
def test_no_file_and_no_distribution_makes_numpy_warn(shape, size):
    x = np.arange(64) / 64
    functions = {
        "zero": 0 * x,
        "constant": 1 + 0 * x,
        "one wave": np.sin(2 * np.pi * x),
        "all modes": np.random.default_rng(0).normal(size=64),
    }
    drawn = np.stack([size * functions[shape], 0 * x])
    stated = [
        STATED,
        CircleDistribution(sigma=1e200, tau=0, gamma=0.6, num_modes=20),
        CircleDistribution(sigma=1e-200, tau=1e9, gamma=300, zero_mean=False),
    ]

    def halved(values, cheaply):
        return burgers.differences(0.5 * drawn, burgers.solved(drawn, **values, exactly=cheaply))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not burgers.last_repeats_first(drawn)
        searched = [labels.Searched("viscosity", 0.02), labels.Searched("final_time", 0.2)]
        found = labels.best_fits(halved, searched) if size < 1 else {}
        for given in stated:
            facts = burgers.spectrum_facts(burgers.powers(drawn).mean(axis=0), 2, given)
            said = burgers.distribution_warnings(facts)
            json.dumps([found, facts], allow_nan=False)  # as the card is written
    if shape in ("zero", "constant") or not size:
        assert said == ["The initial values are constant: only their mean has power."]


def test_differences_from_zero_are_numbers_and_a_closed_grid_is_seen():
    final, ours = np.array([[0.0, 0], [1, 1], [1, 1]]), np.array([[0.0, 0], [0, 0], [2, 2]])
    assert burgers.differences(final, ours).tolist() == [0.0, 1.0, 0.5]
    x = np.linspace(0, 1, 33)
    assert burgers.last_repeats_first(np.cos(2 * np.pi * x)[None])
    assert not burgers.last_repeats_first(np.cos(2 * np.pi * x)[None, :-1])
    assert not burgers.last_repeats_first(np.ones((1, 33)))


@pytest.mark.parametrize(
    ("ratio", "error", "said"),
    [
        (1.051, 0.0001, True), (1.049, 0.0001, False), (0.949, 0.0001, True), (0.951, 0.0001, False),
        (1.5, 0.0999, True), (1.5, 0.1001, False), (0.5, 0.0999, True), (0.5, 0.1001, False),
    ],
)  # fmt: skip
def test_a_band_is_remarked_on_beyond_a_twentieth_and_five_standard_errors(ratio, error, said):
    facts = {
        "power_over_that_stated_by_modes": {
            "1": {"ratio": 1.0, "standard_error": 0.001},
            "2 to 3": {"ratio": ratio, "standard_error": error},
        },
        "parameters_that_fit_best": {"σ": 20.5, "τ": 4.0, "γ": 2.0},
        "highest_mode": {"with_power": 9, "stated": "no cut", "that_fits": "no cut"},
        "mean_mode": "absent",
        "mean_mode_stated": "absent",
    }
    found = burgers.distribution_warnings(facts)
    assert len(found) == said
    for words in (
        f"{ratio:g} (± {error:g}) times the stated power in modes 2 to 3",
        "fit is σ = 20.5, τ = 4, γ = 2",
    ):
        assert (words in "".join(found)) is said
    (*_, mean) = burgers.distribution_warnings(facts | {"mean_mode": "present"})
    assert mean.endswith("is present; stated: absent (zero_mean of the distribution).")


# The median and the largest error, the medians of the fits, and what is said.
LABELS = {
    "the viscosity": (0.3, 0.5, (1e-3, 1e-9, 1e-9), r"1e-03\. They fit the viscosity 0.02 at the stated "),
    "the time": (0.3, 0.5, (2e-3, 1e-3, 1e-9),
        r"They fit the time 0.5 at the stated viscosity, with an error of 1.0e-03: s"),
    "both": (0.3, 0.5, (None, 2e-3, 1e-4),
        r"They fit the viscosity 0.03 and the time 0.75, with an error of 1.0e-04"),
    "neither": (0.3, 0.5, (5e-2, 5e-2, 2e-3),
        r"No viscosity and time fit them; .* viscosity 0.03 and the time 0.75, with an error of 2.0e-03\."),
    "just above": (1.1e-3, 1.1e-3, (1.0, 1.0, 1.0), "^The solutions .* 0.1 and time 1 by"),
    "not solved": (None, None, (1.0, 1.0, 1.0), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", LABELS)
def test_of_wrong_labels_the_simplest_explanation_is_given(case):
    median, largest, medians, words = LABELS[case]
    labels = {"median_relative_l2": median, "largest_relative_l2": largest}
    numbers = ({"viscosity": 0.02}, {"final_time": 0.5}, {"viscosity": 0.03, "final_time": 0.75})
    names = ("viscosity_that_fits_best", "final_time_that_fits_best", "both_that_fit_best_together")
    errors = ({"not_available": "not solved"} if m is None else {"median_relative_l2": m} for m in medians)
    findings = {name: one | error for name, one, error in zip(names, numbers, errors, strict=True)}
    findings["labels_against_our_solver"] = {"not_available": "why"} if median is None else labels
    found = burgers.viscous_label_warnings(findings, 0.1, 1.0, 1e-3)
    assert len(found) == bool(words)
    assert re.search(words, "".join(found)), found


def test_burgers_is_solved_by_cole_hopf_and_where_that_fails_by_steps():
    x = np.arange(256) / 256
    initial = np.stack([np.sin(2 * np.pi * x), 0.5 * np.cos(4 * np.pi * x)])
    for viscosity, exact in ((0.05, True), (2e-3, False)):
        stepper = BurgersEtdrk4(viscosity, 0.05, num_modes=100, num_steps=1600)
        expected = observe(stepper.solve(coefficients_of(initial)), 256)
        found = burgers.solved(initial, viscosity, 0.05)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
        if exact:
            np.testing.assert_array_equal(burgers.solved(initial, viscosity, 0.05, exactly=True), found)
        else:
            with pytest.raises(SolverError):
                burgers.solved(initial, viscosity, 0.05, exactly=True)


@pytest.mark.parametrize("least", [0.0, 0.9, -1.7, 2.7, -2.7])
@pytest.mark.parametrize("from_", [-9.0, -2.0, 9.0])
def test_the_least_error_is_found_where_only_a_part_is_solved_exactly(least, from_):
    """Let the exact solver answer above `from_`, and the other everywhere."""

    def error(shift, exactly):
        return np.inf if exactly and shift < from_ else 1e-3 + (shift - least) ** 2

    assert labels.least(error, ONE) == pytest.approx(least, abs=1e-4)


def test_no_steps_are_taken_where_they_are_not_needed():
    """The error falls beyond the end of the exact solution, and ends there."""

    def error(shift, exactly):
        assert exactly or shift >= -1
        return np.inf if shift < -1 else 3 + shift

    assert labels.least(error, ONE, costly=False) == pytest.approx(-1, abs=0.1)
    assert labels.least(lambda shift, cheaply: abs(shift), ONE) == 0.0  # an exact shift of nothing is kept
