"""Trained runs on distributions that they were not trained on."""

import numpy as np
import pandas
import pytest
from dataset_fixtures import make_dataset, small
from pydantic import ValidationError
from training_fixtures import finished_run

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.common.records import STRESS_COLUMNS
from resolvent.datasets.tasks.registry import build_task, settings_class
from resolvent.evaluation.stress import measure_stress
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.experiment.stress import draw_stress, read_stress, without_labels
from resolvent.planning.configuration.settings import Stress

EQUATIONS = {
    "burgers": ["amplitude", "length_scale", "viscosity", "horizon"],
    "darcy": ["length_scale", "contrast"],
    "kolmogorov": ["amplitude", "viscosity", "horizon"],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    card = make_dataset(folder / "data/burgers", small("burgers"))
    runs = [finished_run(card, folder / f"results/tiny/burgers/fno/n64/seed{seed}") for seed in (3, 4)]
    return card, runs, folder


def test_the_labels_of_a_shift_are_those_of_the_equation_that_it_names(study):
    card, runs, folder = study
    shifts = [("viscosity", 2.0), ("amplitude", 0.5)]
    measure_stress(card, runs, folder / "stress.csv", shifts=shifts, samples=3, threads=1, gpus=0)
    table = pandas.read_csv(folder / "stress.csv", keep_default_na=False)
    assert list(table.columns) == list(STRESS_COLUMNS)
    assert list(table.groupby(["shift", "factor"], sort=False).groups) == [("none", 1.0), *shifts]
    settings = small("burgers")
    arrays = build_task(settings.shifted("viscosity", 2.0)).compute([("test", index) for index in range(3)])
    again = resolvent.solve(
        "burgers",
        arrays["n128/initial_velocity"],
        viscosity=2 * settings.viscosity,
        final_time=settings.final_time,
    )
    assert np.all(relative_l2(arrays["n128/final_velocity"], again) < 1e-6)
    run = resolvent.load_run(runs[0], data=folder / "data")
    expected = relative_l2(run.predict(arrays["n64/initial_velocity"]), arrays["n64/final_velocity"])
    found = table.query("seed == 3 and shift == 'viscosity'")["relative_l2"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    unshifted = pandas.read_csv(runs[0] / "errors.csv").query("resolution == 64")["relative_l2"][:3]
    np.testing.assert_allclose(
        table.query("seed == 3 and shift == 'none'")["relative_l2"], unshifted, rtol=1e-4
    )
    assert (table["scatter"] > 0).all()


def test_the_figure_has_a_panel_for_each_shift_and_the_table_says_how_much_larger(study):
    card, runs, folder = study
    shifts = [("viscosity", 0.5), ("viscosity", 2.0), ("horizon", 2.0)]
    measure_stress(card, runs, folder / "more.csv", shifts=shifts, samples=4, threads=1, gpus=0)
    stress = read_stress(folder / "more.csv")
    looks = appearances(read_runs([runs[0]]))
    figure = draw_stress(stress, looks)
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["viscosity", "horizon"]
    rows = without_labels(stress).rows
    assert [row[2].text for row in rows] == ["as trained", "viscosity × 0.5", "viscosity × 2", "horizon × 2"]
    assert rows[0][4].text == "1.00"


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_shift_changes_what_it_names_and_others_are_refused(equation):
    settings = small(equation)
    assert list(settings.shifts) == EQUATIONS[equation]
    for shift in settings.shifts:
        assert settings.shifted(shift, 1.0) == settings
        assert settings.shifted(shift, 2.0) != settings
    with pytest.raises(ValueError, match=f"{equation} cannot be shifted in colour; accepted: "):
        settings.shifted("colour", 2.0)


def test_a_stretched_field_has_the_same_variance_and_other_gradients():
    for name, field in (("burgers", "initial_distribution"), ("darcy", "distribution")):
        settings, shifted = small(name), small(name).shifted("length_scale", 0.25)
        assert getattr(shifted, field).tau == 4 * getattr(settings, field).tau
        draws = [
            np.stack([build_task(one).draw_one(0, 0, index) for index in range(400)])
            for one in (settings, shifted)
        ]
        sizes = [np.mean(abs(one.reshape(400, -1)) ** 2) for one in draws]
        assert sizes[1] == pytest.approx(sizes[0], rel=0.1), name


def test_what_was_read_from_files_has_no_other_solutions():
    for equation in ("burgers", "darcy", "darcy_inverse"):
        assert settings_class(equation, imported=True).shifts == {}


def test_factors_are_positive():
    assert Stress(viscosity=[0.5, 2.0]).shifts == [("viscosity", 0.5), ("viscosity", 2.0)]
    with pytest.raises(ValidationError, match="greater than 0"):
        Stress(viscosity=[0.0])
    with pytest.raises(ValidationError, match="stress names no shift"):
        Stress(samples=4)
