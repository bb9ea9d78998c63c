"""What a prediction says of its own error, by symmetries and by bounds."""

import numpy as np
import pytest
from dataset_fixtures import copied_once, small
from training_fixtures import SMALL_FNO_2D, finished_run

import resolvent
from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.symmetries import shifts_and_reflection
from resolvent.evaluation.without_labels import asked, under_symmetries
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.bounds import energy_norm
from resolvent.training.errors import TrainingError

FEW = {"train": 3, "validation": 1, "test": 2}
SCALED = {"normalisation": "scalar", "epochs": 2}


@pytest.fixture(scope="module")
def darcy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("darcy")
    card = copied_once(tmp_path_factory, "darcy", folder / "data/darcy")
    where = folder / "results/tiny/darcy/fno2d/n33/seed3"
    run = finished_run(card, where, 33, (33,), "fno2d", SMALL_FNO_2D, FEW, batch_size=2, **SCALED)
    return resolvent.load_run(run, data=folder / "data")


def test_the_mean_over_symmetries_is_that_of_all_images_and_closer():
    """Predictions that are off by a fixed function, whose mean over the symmetries is smaller."""
    random = np.random.default_rng(0)
    inputs = random.standard_normal((3, 32))
    off = random.standard_normal(32)
    off *= 0.01 / np.linalg.norm(off)
    symmetries = shifts_and_reflection()
    prediction = 1.5 * inputs + off
    mean = under_symmetries(lambda a: 1.5 * a + off, inputs, prediction, symmetries)
    images = np.array([one.back(one.inputs(inputs) * 1.5 + off) for one in symmetries] + [prediction])
    np.testing.assert_allclose(mean, images.mean(axis=0))
    assert np.all(relative_l2(mean, 1.5 * inputs) < relative_l2(prediction, 1.5 * inputs))


def test_bounds_steps_and_symmetries_of_darcy_flow(darcy):
    samples = resolvent.open_dataset(darcy.data / "darcy/darcy.json", "test", 33).load()
    coefficient, truth = samples["coefficient"], samples["pressure"].values
    prediction, known = darcy.predict(coefficient, certify=True)
    np.testing.assert_array_equal(prediction, darcy.predict(coefficient))

    def energy_error(values):
        return energy_norm(coefficient.values, values - truth) / energy_norm(coefficient.values, truth)

    assert known["energy_error"].attrs["kind"] == "theorem"
    assert known["to_solver"].attrs["kind"] == "estimate"
    error = energy_error(prediction.values)
    assert np.all(known["energy_error"].sel(bound="lower") <= error)
    assert np.all(error <= known["energy_error"].sel(bound="upper"))

    corrected, known = darcy.predict(coefficient.values, correct=3, certify=True)
    assert np.all(energy_error(corrected) < 0.05 * error)
    assert np.all(energy_error(corrected) <= known["energy_error"].sel(bound="upper"))
    symmetrised = darcy.predict(coefficient.values, symmetrise=True)
    np.testing.assert_allclose(
        symmetrised.swapaxes(1, 2),
        darcy.predict(np.ascontiguousarray(coefficient.values.swapaxes(1, 2)), symmetrise=True),
        atol=1e-6 * abs(symmetrised).max(),
    )


def test_a_ball_is_calibrated_by_fresh_samples(here):
    run = resolvent.load_run("tiny/burgers/fno")
    ball = run.calibrate(0.8, 20)
    data = resolvent.open_dataset("burgers")
    inputs, targets = data.numpy("test", 64)
    assert 0.2 < np.mean(relative_l2(targets, run.predict(inputs))) / ball.radius < 1.5
    assert ball.band.shape == (64,)
    assert run.calibrate(0.8, 20, resolution=128).band.shape == (128,)


def test_what_is_not_known_is_said_in_one_line(here, darcy, tmp_path):
    velocity = resolvent.open_dataset("burgers", "test", 64)["initial_velocity"].load()
    run = resolvent.load_run("tiny/burgers/fno")
    _, known = run.predict(velocity, certify=True)
    assert list(known) == ["to_solver"]
    assert all(one.attrs["kind"] == "estimate" for one in known.values())
    with pytest.raises(EvaluationError, match=r"correct=2: burgers has no iterative solver"):
        run.predict(velocity, correct=2)
    unknown = resolvent.load_run("tiny/burgers/fno", data=tmp_path)
    with pytest.raises(
        TrainingError, match="the card of the dataset burgers, which names the equation, was not found"
    ):
        unknown.predict(velocity, certify=True)
    with pytest.raises(EvaluationError, match="no symmetries are known for controlled_ode"):
        asked(lambda a: a, np.ones((1, 5)), Grid("nodes", 5), small("controlled_ode"), symmetrise=True)
