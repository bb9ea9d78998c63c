"""The moments behind a film are those of the stored sample: they begin and end where it does."""

import numpy as np
import pytest
from dataset_fixtures import make_dataset, small

from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.datasets.motion.motion import FRAMES, write_motion
from resolvent.datasets.motion.registry import MOTIONS, motion_of
from resolvent.datasets.tasks.registry import EQUATIONS, build_task


@pytest.fixture(scope="module", params=sorted(MOTIONS))
def filmed(request, tmp_path_factory):
    """Return the equation, the card of a small dataset, and the moments of its first test sample."""
    folder = tmp_path_factory.mktemp(request.param)
    changes = {"resolutions": [128, 512]} if request.param == "burgers" else {}
    card = make_dataset(folder, small(request.param, **changes))
    write_motion(card, folder / "motion.npz")
    return request.param, card, dict(np.load(folder / "motion.npz"))


def stored(card, group: str, name: str) -> np.ndarray:
    return load_arrays(card, group, "test", 1)[name][0]


def test_moments_are_many_and_finite(filmed):
    _, _, motion = filmed
    assert str(motion["sample"]) == "test 0"
    assert len(motion["values"]) == len(motion["times"]) >= FRAMES
    assert np.isfinite(motion["values"]).all()
    assert (np.diff(motion["times"]) > 0).all()
    assert len(motion["names"]) == (2 if str(motion["kind"]) == "path" else 1)


def test_they_begin_and_end_at_what_is_stored(filmed):
    equation, card, motion = filmed
    values = motion["values"].astype(float)
    if equation == "burgers":
        assert relative_l2(values[:1], stored(card, "n512", "initial_velocity")[None]) < 1e-6
        assert relative_l2(values[-1:], stored(card, "n512", "final_velocity")[None]) < 1e-6
    elif equation == "kolmogorov":
        # On the points that a grid of 32 has in common with that of the film, 128.
        accuracy = read_card(card)["stated_accuracy"]
        assert relative_l2(values[-1:, ::4, ::4], stored(card, "n32", "vorticity")[None]) < 2 * accuracy
    else:
        times = np.arange(20) * 0.02
        for column, name in enumerate(
            {"lorenz63": ("x", "z"), "controlled_ode": ("control", "state")}[equation]
        ):
            at_times = np.interp(times, motion["times"], values[:, column])
            np.testing.assert_allclose(at_times, stored(card, "dt0.02", name)[:20], atol=1e-2)


def test_a_film_of_imported_velocities_begins_with_those_of_the_file():
    class Settings:
        equation, source, viscosity, final_time = "burgers", "a.mat", 0.05, 0.5

    class Imported:
        settings = Settings()

        def draw(self, samples):
            x = np.arange(256) / 256
            return np.stack([np.sin(2 * np.pi * x), np.zeros(256)])[None]

    motion = motion_of(Imported(), ("test", 0))
    np.testing.assert_allclose(motion.values[0], np.sin(2 * np.pi * motion.coordinates), atol=1e-12)
    assert abs(motion.values[-1]).max() < 0.9


def test_an_equation_without_time_has_no_film():
    assert set(EQUATIONS) - set(MOTIONS) == {"darcy", "darcy_inverse"}
    with pytest.raises(KeyError):
        motion_of(build_task(small("darcy")), ("test", 0))
