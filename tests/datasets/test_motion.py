"""The moments behind a film are those of the stored sample: they begin and end where it does."""

import numpy as np
import pytest
from dataset_fixtures import small

from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.datasets.preview import write_motion
from resolvent.datasets.tasks.burgers import velocity_in_time
from resolvent.datasets.tasks.registry import EQUATIONS, settings_class
from resolvent.datasets.tasks.task import FRAMES
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.common.fourier import coefficients_of, observe


@pytest.fixture(scope="module", params=[name for name in EQUATIONS if settings_class(name).moves])
def filmed(request, card_of, tmp_path_factory):
    """Return the equation, the card of a small dataset, and the moments of its first test sample."""
    changes = {"resolutions": [128, 512]} if request.param == "burgers" else {}
    card, path = card_of(request.param, **changes), tmp_path_factory.mktemp("film") / "motion.npz"
    write_motion(card, path)
    return request.param, card, dict(np.load(path))


def stored(card, group: str, name: str) -> np.ndarray:
    return load_arrays(card, group, "test", 1)[name][0]


def test_moments_are_many_and_finite(filmed):
    _, _, motion = filmed
    assert str(motion["sample"]) == "test 0"
    assert len(motion["values"]) == len(motion["times"]) >= FRAMES
    assert np.isfinite(motion["values"]).all()
    assert (np.diff(motion["times"]) > 0).all()
    assert len(motion["names"]) == (2 if str(motion["kind"]) == "path" else 1)


PATHS = {"lorenz63": ("x", "z"), "controlled_ode": ("control", "state")}  # variables in the plane


def test_they_begin_and_end_at_what_is_stored(filmed):
    equation, card, motion = filmed
    values, facts = motion["values"].astype(float), read_card(card)
    (given, *_), (wanted, *_) = facts["inputs"], facts["targets"]
    if motion["kind"] == "curve":
        group, accuracy = f"n{values.shape[1]}", max(1e-6, facts["stated_accuracy"])
        assert relative_l2(values[:1], stored(card, group, given)[None]) < 1e-6
        assert relative_l2(values[-1:], stored(card, group, wanted)[None]) < accuracy
    elif motion["kind"] == "field":
        # On the points that a grid of 32 has in common with that of the film, 128.
        accuracy = facts["stated_accuracy"]
        assert relative_l2(values[-1:, ::4, ::4], stored(card, "n32", given)[None]) < 2 * accuracy
    else:
        times = np.arange(20) * 0.02
        for column, name in enumerate(PATHS[equation]):
            at_times = np.interp(times, motion["times"], values[:, column])
            np.testing.assert_allclose(at_times, stored(card, "dt0.02", name)[:20], atol=1e-2)


def test_a_film_of_thin_fronts_has_the_modes_that_they_need():
    """A dataset of this viscosity can be made, so its page, which needs the film, can be made too."""
    initial, physics = coefficients_of(np.sin(2 * np.pi * np.arange(64) / 64)[None]), (0.002, 0.3)
    film = velocity_in_time(initial, *physics)
    expected = BurgersEtdrk4(*physics, num_modes=700, num_steps=800).solve(initial)
    assert relative_l2(film.values[-1:], observe(expected, film.values.shape[1])) < 1e-3


def test_on_a_longer_circle_velocities_grow_with_it():
    x = np.arange(256) / 256
    unit = velocity_in_time(coefficients_of(np.sin(2 * np.pi * x)[None]), 0.05, 0.5)
    longer = velocity_in_time(coefficients_of(3 * np.sin(2 * np.pi * x)[None]), 0.45, 0.5, length=3.0)
    np.testing.assert_allclose(unit.values[0], np.sin(2 * np.pi * unit.coordinates), atol=1e-12)
    assert abs(unit.values[-1]).max() < 0.9
    np.testing.assert_allclose(longer.values, 3 * unit.values, atol=1e-12)
    np.testing.assert_allclose(longer.coordinates, 3 * unit.coordinates)


def test_an_equation_without_time_has_no_film():
    assert not settings_class("darcy").moves
    with pytest.raises(NotImplementedError, match=r"define Darcy\.motion"):
        small("darcy").task().motion(("test", 0))
