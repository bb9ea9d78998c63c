"""Films are short, small, the same twice, and show what they are given."""

from fractions import Fraction

import av
import numpy as np
import pytest
from run_files import save_arrays

from resolvent.figures.common import film as module
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.film import Film, write_film
from resolvent.figures.common.results import read_arrays
from resolvent.figures.common.style import new_figure
from resolvent.figures.dataset.film import draw as draw_motion
from resolvent.figures.experiment.samples import ROLLOUT

TIMES = np.linspace(0, 1, 5)
KINDS = {
    "curve": (np.sin(2 * np.pi * (np.arange(32) / 32 - TIMES[:, None])), ["u"]),
    "field": (np.random.default_rng(0).normal(size=(5, 16, 16)), ["ω"]),
    "path": (np.stack([np.cos(6 * TIMES), np.sin(6 * TIMES)], axis=1), ["x", "z"]),
}


def pictures(path) -> tuple[np.ndarray, float]:
    """Return the frames, (frames, height, width, 3), and the seconds that they last."""
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        return np.stack(frames).astype(float), container.duration / av.time_base


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_motion_is_a_small_film_that_moves(kind, tmp_path):
    values, names = KINDS[kind]
    arrays = {"times": TIMES, "values": values, "coordinates": np.arange(values.shape[-1]) / values.shape[-1]}
    save_arrays(tmp_path / "motion.npz", kind=kind, names=np.array(names), **arrays)
    motion = read_arrays(tmp_path / "motion.npz")
    film, poster = write_film(tmp_path / "film.mp4", draw_motion(motion))
    frames, seconds = pictures(film)
    assert (len(frames), seconds) == (5, pytest.approx(5 / 25, abs=0.05))
    assert film.stat().st_size < 400_000
    assert (poster.name, poster.stat().st_size > 1000) == ("film.png", True)
    assert min(abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))) > 0.01
    if kind == "curve":
        first = film.read_bytes()
        write_film(film, draw_motion(motion))
        assert film.read_bytes() == first


def test_what_does_not_move_stays_as_it_was_drawn(tmp_path):
    figure, ((left, right),) = new_figure(1, 2, size=(4, 2))
    (line,) = left.plot([0, 1], [0, 0], color="black", lw=4)
    left.set_ylim(-1, 1)
    right.plot([0, 1], [0, 1], color="black", lw=4)
    change = lambda frame: line.set_ydata([0, frame - 1.0])  # noqa: E731
    write_film(tmp_path / "a.mp4", Film(figure, [line], change, 3, Fraction(5), 0))
    frames, _ = pictures(tmp_path / "a.mp4")
    middle = frames.shape[2] // 2
    moved, still = (abs(frames[0] - frames[-1])[:, part].max() for part in (np.s_[:middle], np.s_[middle:]))
    assert moved > 150
    assert still < 40  # of 255: what the compression changes


def test_a_film_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    figure, ((panel,),) = new_figure(1, 1, size=(2, 2))
    (line,) = panel.plot([0, 1], [0, 1])
    monkeypatch.setattr(module, "LARGEST", 100)
    with pytest.raises(ResultError, match="more than 100 bytes"):
        write_film(tmp_path / "a.mp4", Film(figure, [line], lambda frame: None, 2, Fraction(1), 0))
    assert not (tmp_path / "a.mp4").exists()


def rollout(folder, prediction) -> tuple[np.ndarray, float]:
    steps, generator = len(prediction), np.random.default_rng(0)
    save_arrays(
        folder / "rollout.npz", times=0.1 * np.arange(1, steps + 1), sample=np.array(1),
        prediction=prediction, error=generator.uniform(0.01, 1, (2, steps)),
        initial=generator.normal(size=(16, 16)), target=generator.normal(size=(steps, 16, 16)),
    )  # fmt: skip
    ROLLOUT.write(Sources({}, rollout=read_arrays(folder / "rollout.npz")), folder / "rollout.mp4")
    return pictures(folder / "rollout.mp4")


@pytest.mark.parametrize("lost", [False, True])
def test_a_rollout_is_shown_beside_the_truth_and_what_blew_up_is_white(tmp_path, lost):
    prediction = np.random.default_rng(1).normal(size=(5, 16, 16))
    frames, seconds = rollout(tmp_path, np.full_like(prediction, np.nan) if lost else prediction)
    assert (len(frames), seconds <= 6) == (6, True)
    third = frames.shape[2] // 3
    if lost:
        assert frames[-1][80:-80, third : third * 3 // 2].mean() > 240
        return
    first, last = (abs(frame[60:-20, 2 * third : -90] - 247).mean() for frame in frames[[0, -1]])
    assert first < 25 < last  # no difference at first, of which the colour is nearly white
