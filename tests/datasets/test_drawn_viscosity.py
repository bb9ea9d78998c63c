"""Burgers data whose samples have viscosities of their own, drawn log-uniformly: a second input."""

import numpy as np
import pandas
import pytest
from dataset_fixtures import make_dataset, small_settings
from scipy.integrate import solve_ivp
from training_fixtures import SMALL_FNO, described

from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import build_task
from resolvent.datasets.tasks.settings import CHEAP
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.planning.configuration.settings import given_by_data
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

LEAST, LARGEST = 0.004, 0.4
COUNTS = {"train": 16, "validation": 4, "test": 6}
NAMES = [("train", index) for index in range(16)]
FIXED = {"num_modes": 96, "num_steps": 64}


def drawn(**changes):
    given = {"viscosity": LEAST, "viscosity_to": LARGEST, "samples": COUNTS, "samples_per_shard": 13}
    return small_settings(**given | changes)


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    return make_dataset(tmp_path_factory.mktemp("family"), drawn())


def test_every_label_is_the_closed_form_at_its_own_viscosity(card):
    samples = load_samples(card, 128, "train", COUNTS["train"])
    velocity, viscosity = samples.inputs[:, 0], samples.inputs[:, 1]
    assert np.ptp(viscosity, axis=1).max() == 0
    assert viscosity.min() >= LEAST
    assert LARGEST >= viscosity.max() > 10 * viscosity.min()
    errors = []
    for initial, final, number in zip(velocity, samples.targets, viscosity[:, 0], strict=True):
        try:
            exact = cole_hopf(coefficients_of(initial[None]), float(number), drawn().final_time)
        except SolverError:
            continue
        errors.append(relative_l2(observe(exact, 128), final[None])[0])
    assert len(errors) > 10
    assert max(errors) < 1e-4
    budget = read_card(card)["error_budget"]
    assert budget["against_refined_run"]["largest_relative_l2"] < 1e-4
    assert 20 < budget["against_cole_hopf"]["samples"] <= 26


def test_a_label_is_the_solution_of_a_method_of_lines_by_scipy():
    settings = drawn(accuracy=1e-7)
    arrays = build_task(settings).compute([("test", 0)])
    initial, final, viscosity = (
        arrays[f"n128/{name}"][0] for name in ("initial_velocity", "final_velocity", "viscosity")
    )
    fine, wavenumbers = observe(coefficients_of(initial[None]), 512)[0], 2j * np.pi * np.arange(257)

    def slope(_, u):
        flux = np.fft.rfft(0.5 * u**2)
        return np.fft.irfft(viscosity * wavenumbers**2 * np.fft.rfft(u) - wavenumbers * flux)

    run = solve_ivp(slope, (0, settings.final_time), fine, method="LSODA", rtol=1e-9, atol=1e-10)
    assert relative_l2(run.y[None, ::4, -1], final[None])[0] < 1e-6


@pytest.mark.parametrize("method", ["split-step", "etdrk4", "cole-hopf"])
def test_a_sample_is_bit_for_bit_that_of_a_dataset_with_its_viscosity_alone(method):
    given = {"method": method, "viscosity": 0.02} | (FIXED if method != "cole-hopf" else {})
    family = build_task(drawn(**given)).compute(NAMES)
    for index in (0, 11):
        number = float(family["n64/viscosity"][index])
        alone = build_task(small_settings(**given | {"viscosity": number})).compute([NAMES[index]])
        for name, values in alone.items():
            np.testing.assert_array_equal(family[name][index], values[0])


def test_settings_with_one_viscosity_have_the_hash_of_before():
    assert "viscosity_to" not in small_settings().model_dump()
    assert build_task(small_settings()).inputs == ("initial_velocity",)
    assert (small_settings().in_channels, small_settings().initial_channels) == (1, 0)


def test_solvers_and_estimates_read_the_viscosity_of_each_input(card):
    task, samples = build_task(drawn()), load_samples(card, 128, "test", COUNTS["test"])
    for name, solve in task.baselines().items():
        assert relative_l2(solve(samples.inputs, samples.grid), samples.targets).max() < 1e-2, name
    every = task.classical_solvers()
    fine = every["ETDRK4, 128 modes, 104 steps"](samples.inputs, samples.grid)
    assert relative_l2(fine, samples.targets).max() < 1e-2
    cheap = task.settings.cheap_answer(samples.inputs, samples.targets, samples.grid)
    assert relative_l2(cheap, samples.targets).max() < 2 * CHEAP
    for symmetry in task.settings.symmetries():
        mapped = symmetry.inputs(samples.inputs)
        np.testing.assert_array_equal(mapped[:, 1], samples.inputs[:, 1])
        back = symmetry.back(task.settings.cheap_answer(mapped, samples.targets, samples.grid))
        assert relative_l2(back, cheap).max() < 1e-6
    with pytest.raises(SolverError, match="a viscosity among the inputs is not positive"):
        task.settings.cheap_answer(-samples.inputs, samples.targets, samples.grid)
    assert task.motion(("test", 0)).values.shape[1] == 512


def test_both_bounds_are_shifted_and_the_prediction_of_time_is_between_theirs():
    settings = drawn()
    shifted = settings.shifted("viscosity", 0.5)
    assert (shifted.viscosity, shifted.viscosity_to) == (LEAST / 2, LARGEST / 2)
    bounds = [small_settings(viscosity=number).seconds_per_sample() for number in (LEAST, LARGEST)]
    assert bounds[1] < settings.seconds_per_sample() < bounds[0]


def test_an_fno_of_two_channels_is_trained_and_evaluated_on_it(card, tmp_path):
    channels = given_by_data("fno1d", 64, drawn())
    assert channels["in_channels"] == 2
    training = TrainingSettings(epochs=1, batch_size=16, gradient_weight=0.0).model_dump(mode="json")
    run = {"architecture": "fno1d", "settings": {**SMALL_FNO, "in_channels": 2}, "grids": "stored",
           "noise": 0.0, "noise_samples": 16, "training": training, "samples": COUNTS}  # fmt: skip
    train_run(card, tmp_path, 64, seed=3, run=run, code_versions={}, threads=1, gpus=0)
    evaluate_run(card, tmp_path, described(run, 64, 3, COUNTS), threads=1, gpus=0)
    errors = pandas.read_csv(tmp_path / "errors.csv")
    assert len(errors) == COUNTS["test"]
    assert np.isfinite(errors["relative_l2"]).all()
