"""Trained runs on distributions that they were not trained on."""

import numpy as np
import pandas
import pytest
from dataset_fixtures import copied_once, made_once, small
from estimates import atlas, coverage
from pydantic import ValidationError
from training_fixtures import finished_run

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.common.records import ESTIMATE_COLUMNS
from resolvent.common.runs import save_table
from resolvent.datasets.loading import load_samples
from resolvent.datasets.tasks.registry import build_task, settings_class
from resolvent.evaluation.estimates import errors_beside, measure_estimates
from resolvent.figures.common.intervals import ratio_of_means
from resolvent.figures.common.numbers import times
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.experiment.estimates import (
    degradations,
    draw_stress,
    estimates_table,
    read_estimates,
    summaries,
)
from resolvent.planning.configuration.settings import Stress

GRIDS = {64: "n = 64"}
COUNTS = {"train": 20, "validation": 4, "test": 6}
EQUATIONS = {
    "burgers": ["amplitude", "length_scale", "viscosity", "horizon"],
    "darcy": ["length_scale", "contrast"],
    "kolmogorov": ["amplitude", "viscosity", "horizon"],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    card = copied_once(tmp_path_factory, "burgers", folder / "data/burgers")
    runs = [finished_run(card, folder / f"results/tiny/burgers/fno/n64/seed{seed}") for seed in (3, 4)]
    return card, runs, folder


SHIFTS = [("viscosity", 0.5), ("viscosity", 2.0), ("amplitude", 2.0)]


def measured(study, name, samples, *shifts):
    card, runs, folder = study
    how = {"shifts": list(shifts), "samples": samples, "counts": COUNTS, "threads": 1, "gpus": 0}
    measure_estimates(card, card, runs, folder / name, **how)
    return read_estimates(folder / name)


@pytest.fixture(scope="module")
def estimates(study):
    """Return what is estimated of four samples as trained and of each of `SHIFTS`."""
    return measured(study, "estimates.csv", 4, *SHIFTS)


def test_the_labels_of_a_shift_are_those_of_the_equation_that_it_names(study, estimates):
    _, runs, folder = study
    assert list(estimates.columns) == list(ESTIMATE_COLUMNS)
    assert list(estimates.groupby(["shift", "factor"], sort=False).groups) == [("none", 1.0), *SHIFTS]
    settings = small("burgers")
    arrays = build_task(settings.shifted("viscosity", 2.0)).compute([("test", index) for index in range(4)])
    again = resolvent.solve(
        "burgers",
        arrays["n128/initial_velocity"],
        viscosity=2 * settings.viscosity,
        final_time=settings.final_time,
    )
    assert np.all(relative_l2(arrays["n128/final_velocity"], again) <= settings.accuracy)
    run = resolvent.load_run(runs[0], data=folder / "data")
    expected = relative_l2(run.predict(arrays["n64/initial_velocity"]), arrays["n64/final_velocity"])
    of_seed = estimates.query("seed == 3")
    found = of_seed.query("shift == 'viscosity' and factor == 2")["relative_l2"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    unshifted = pandas.read_csv(runs[0] / "errors.csv").query("resolution == 64")["relative_l2"][:4]
    np.testing.assert_allclose(of_seed.query("shift == 'none'")["relative_l2"], unshifted, rtol=1e-6)
    # Also where nothing was trained; of the solution of the shifted equation, not of that of training.
    np.testing.assert_allclose(estimates["to_solver"], estimates["relative_l2"], atol=1e-3)


def test_the_figure_has_a_panel_for_each_shift_and_the_table_says_how_much_larger(study, estimates):
    figure = draw_stress(estimates, appearances(read_runs([study[1][0]])))
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["viscosity", "amplitude"]
    rows = estimates_table(estimates, GRIDS).rows
    distributions = ["as trained", "viscosity × 0.5", "viscosity × 2", "amplitude × 2"]
    assert [row[2].text for row in rows] == distributions
    assert [row[4].text for row in rows] == 4 * ["a classical solver"]
    assert rows[0][3].text == "1"
    factors = degradations(estimates)
    of = estimates["model"][0], 64, "viscosity", 0.5
    shifted, trained = (
        estimates.query(f"shift == '{shift}' and factor == {factor}")["relative_l2"].to_numpy().reshape(2, 4)
        for shift, factor in (of[2:], ("none", 1.0))
    )
    np.testing.assert_equal(vars(factors[of]), vars(ratio_of_means(shifted, trained)))
    assert rows[1][3].text == times(shifted.mean() / trained.mean())
    fewer = degradations(estimates.query("shift == 'none' or sample < 3"))
    np.testing.assert_equal(vars(fewer[of]), vars(ratio_of_means(shifted[:, :3], trained[:, :3])))


def test_the_documentation_has_factors_of_degradation_and_the_coverage_of_balls(
    study, estimates, monkeypatch
):
    folder = study[2]
    some = estimates.query("shift in ('none', 'amplitude')")
    save_table(some, folder / "results/tiny/burgers/estimates.csv")
    monkeypatch.chdir(folder)
    text = atlas(folder / "results/tiny")
    (factor,) = (one for name, one in degradations(estimates).items() if name[2] == "amplitude")
    head, _, row = text.splitlines()[-3:]
    assert head.endswith("| error as trained | amplitude × 2 |")
    assert row.endswith(f"| {times(factor.value)} ({times(factor.low)} to {times(factor.high)}) |")
    trained, shifted = coverage(folder / "results/tiny").splitlines()[-2:]
    for line, bounds in ((trained, (87, 93)), (shifted, (0, 80))):
        balls = [float(cell.strip(" %")) for cell in line.split("|")[4:6]]
        assert all(bounds[0] <= one <= bounds[1] for one in balls), line


def test_without_shifts_the_table_has_what_is_known_as_trained(study):
    estimates = measured(study, "plain.csv", 64)
    assert len(estimates) == 2 * COUNTS["test"]
    table = estimates_table(estimates, GRIDS)
    assert [row[2].text for row in table.rows] == ["a classical solver"]
    assert len(table.columns) == len(table.rows[0]) == 7
    nothing = estimates_table(estimates.iloc[:0], GRIDS)
    assert not nothing.rows
    unknown = estimates_table(estimates.assign(to_solver=np.nan), GRIDS)
    assert [cell.text for cell in unknown.rows[0][2:]][::2] == ["—"] * 3


def test_a_run_is_tested_on_its_home_grid_also_of_another_dataset(tmp_path_factory, tmp_path):
    card, finer = (
        made_once(tmp_path_factory, "burgers"),
        made_once(
            tmp_path_factory, "burgers", resolutions=[256], samples={"train": 1, "validation": 1, "test": 6}
        ),
    )
    run = finished_run(card, tmp_path / "run", tested=(256,), test_card=finer)
    how = {"shifts": [("viscosity", 2.0)], "samples": 6, "counts": COUNTS, "threads": 1, "gpus": 0}
    measure_estimates(card, finer, [run], tmp_path / "estimates.csv", **how)
    estimates, (loaded,) = read_estimates(tmp_path / "estimates.csv"), read_runs([run])
    assert set(estimates["resolution"]) == {64}
    unshifted = estimates.loc[estimates["shift"] == "none", "relative_l2"]
    np.testing.assert_allclose(unshifted, loaded.errors["relative_l2"], rtol=1e-6)
    assert set(loaded.errors["resolution"]) == {256}
    shifted = estimates.loc[estimates["shift"] == "viscosity", "to_solver"]
    assert len(shifted) == 6
    assert np.isfinite(shifted).all()


def test_summaries_are_means_of_all_and_orders_within_a_seed():
    row = dict.fromkeys(ESTIMATE_COLUMNS, np.nan)
    row |= {"model": "m", "resolution": 8, "shift": "none", "factor": 1.0}
    errors = {3: [1.0, 2.0, 4.0], 4: [10.0, 20.0, 40.0]}
    known = {3: [2.0, 4.0, 8.0], 4: [40.0, 20.0, 10.0]}
    table = pandas.DataFrame(
        row | {"seed": seed, "sample": at, "relative_l2": errors[seed][at], "to_solver": known[seed][at]}
        for seed in errors
        for at in range(3)
    )
    (found,) = summaries(table).to_dict("records")
    assert found["way"] == "a classical solver"
    assert found["error"] == pytest.approx(77 / 6)
    assert found["estimate"] == pytest.approx(84 / 6)
    assert found["rank_correlation"] == pytest.approx(0)  # 1 and -1; of all six together it is 0.6
    assert found["ratio"] == 2


@pytest.mark.parametrize(
    ("equation", "resolution", "allowed"),
    [("burgers", 64, 1e-3), ("kolmogorov", 48, 1e-3), ("darcy", 33, 5e-3), ("lorenz63", "dt0.02", 1e-3),
     ("controlled_ode", "dt0.02", 1e-9)],
)  # fmt: skip
def test_the_distance_to_a_cheap_answer_is_the_error(equation, resolution, allowed, tmp_path_factory):
    """Predict what is wrong by a tenth and by a thirtieth, smoothly."""
    settings = small(equation)
    samples = load_samples(made_once(tmp_path_factory, equation), resolution, "test", 2)
    sizes = np.array([0.1, 0.03]).reshape(2, *[1] * (samples.targets.ndim - 1))
    wrong = samples.targets * (1 + sizes * np.cos(np.linspace(0, 3, samples.targets.shape[-1])))
    found = errors_beside(settings, lambda inputs: wrong, samples)
    np.testing.assert_allclose(found["to_solver"], found["relative_l2"], atol=allowed)
    if equation == "darcy":
        assert np.all(found["energy_lower"] <= found["energy_error"])
        assert np.all(found["energy_error"] <= found["energy_upper"])
    noisy = errors_beside(settings, lambda inputs: wrong, samples, clean=False)
    assert set(noisy) == {"sample", "relative_l2"}


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
    for equation in ("burgers", "darcy"):
        assert settings_class(equation, imported=True).shifts == {}


def test_factors_are_positive():
    assert Stress(viscosity=[0.5, 2.0]).shifts == [("viscosity", 0.5), ("viscosity", 2.0)]
    with pytest.raises(ValidationError, match="greater than 0"):
        Stress(viscosity=[0.0])
    assert Stress(samples=4).shifts == []
