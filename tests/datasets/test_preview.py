"""The numbers in the preview of a dataset: which samples, the power of known waves, quantiles of it."""

import numpy as np
import pytest
from array_files import SAMPLES, arrays, write_npz
from dataset_fixtures import make_dataset, small

from resolvent.datasets import preview
from resolvent.datasets.loading import load_arrays
from resolvent.datasets.preview import _facts_of, _spectra, write_preview
from resolvent.datasets.tasks.registry import settings_of
from resolvent.solvers.common.grid import Grid, Nodes

TIMES = Nodes(tuple(np.arange(64) / 32))


def torus(points=16):
    """Return the coordinates x and y of the torus, to broadcast."""
    x = 2 * np.pi * np.arange(points) / points
    return x[None, None, :], x[None, :, None]


def test_the_power_of_waves_on_the_circle_is_by_their_wavenumber():
    x = np.arange(16) / 16
    axis, wavenumbers, power = _spectra(5 + 4 * np.cos(6 * np.pi * x)[None], Grid("periodic", 16))
    assert axis == "wavenumber (cycles along a side)"
    np.testing.assert_array_equal(wavenumbers, np.arange(power.shape[1]))
    expected = np.zeros(power.shape[1])
    expected[[0, 3]] = 25, 4**2 / 2  # what a wave adds to the mean square
    np.testing.assert_allclose(power[0], expected, atol=1e-12)


def test_the_power_on_the_torus_is_that_of_all_waves_of_a_length():
    x, y = torus()
    field = 2 * np.cos(3 * x) + 4 * np.sin(3 * y) + np.cos(3 * x - 4 * y) + np.cos(5 * x + 0 * y)
    _, _, power = _spectra(field, Grid("periodic", 16, dimension=2))
    expected = np.zeros(power.shape[1])
    expected[[3, 5]] = 2 + 8, 0.5 + 0.5  # squares of amplitudes, halved
    np.testing.assert_allclose(power[0], expected, atol=1e-12)


def test_wavenumbers_of_an_interval_count_cycles():
    grid = Grid("nodes", 17)
    _, wavenumbers, power = _spectra(np.cos(3 * np.pi * grid.coordinates)[None], grid)
    assert wavenumbers[np.argmax(power[0])] == 1.5


@pytest.mark.parametrize("kind", ["periodic", "nodes", "cell_centres"])
def test_waves_that_a_grid_resolves_in_part_are_left_out(kind):
    _, wavenumbers, power = _spectra(np.zeros((2, 16, 16)), Grid(kind, 16, dimension=2))
    assert 7 < wavenumbers[-1] <= 8
    assert power.shape == (2, len(wavenumbers))


def test_the_frequency_of_an_oscillation_is_per_unit_of_time():
    """Take four periods in a unit of time, of which there are two; the window keeps the mean square."""
    axis, frequencies, power = _spectra(3 * np.sin(8 * np.pi * TIMES.coordinates)[None], TIMES)
    assert axis == "frequency"
    assert frequencies[np.argmax(power[0])] == 4
    assert power[0].sum() * (frequencies[1] - frequencies[0]) == pytest.approx(9 / 2)


@pytest.mark.parametrize(
    ("shape", "grid"),
    [
        ((5, 16), Grid("periodic", 16, dimension=2)),  # a number for each sample along another axis
        ((5, 64, 2), TIMES),
        ((5, 4, 4, 4), Grid("periodic", 4, dimension=3)),
        ((5, 3), Nodes((0.0, 0.1, 0.3))),
    ],
)
def test_what_has_no_spectrum_has_a_histogram_only(shape, grid):
    values = np.random.default_rng(0).normal(size=shape)
    assert _spectra(values, grid) is None
    facts = _facts_of("v", values, [], grid)
    assert set(facts) == {"dims/v", "histogram/v/counts", "histogram/v/edges"}
    assert facts["histogram/v/counts"].sum() == values.size


def test_spectra_have_the_median_and_the_5_and_95_percent_of_samples():
    x = np.arange(16) / 16
    amplitudes = np.random.default_rng(0).permutation(41)
    facts = _facts_of("v", np.sqrt(amplitudes)[:, None] * np.ones(16), ["x"], Grid("periodic", 16))
    for word, expected in {"low": 2, "median": 20, "high": 38}.items():
        assert facts[f"spectrum/v/{word}"][0] == pytest.approx(expected)
    np.testing.assert_array_equal(facts["axis/v/x"], x)


def test_the_first_test_samples_are_shown_on_the_finest_grid(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "SHOWN", 1)
    given = small("burgers", samples={"train": 3, "validation": 2, "test": 2})
    card = make_dataset(tmp_path, given)
    write_preview(card, tmp_path / "preview.npz")
    finest = load_arrays(card, f"n{max(given.resolutions)}", "test")
    with np.load(tmp_path / "preview.npz") as found:
        assert found["samples"].tolist() == ["test 0"]
        for role, name in (("input", "initial_velocity"), ("target", "final_velocity")):
            np.testing.assert_array_equal(found[f"{role}/{name}"], finest[name][:1])
            assert found[f"histogram/{name}/counts"].sum() == finest[name].size
            assert found[f"histogram/{name}/edges"][[0, -1]].tolist() == pytest.approx(
                [finest[name].min(), finest[name].max()]
            )


def test_without_test_samples_those_of_the_next_split_are_shown(tmp_path):
    card = make_dataset(tmp_path, small("burgers", samples={"train": 3, "validation": 2, "test": 0}))
    write_preview(card, tmp_path / "preview.npz")
    with np.load(tmp_path / "preview.npz") as found:
        assert found["samples"].tolist() == ["validation 0", "validation 1"]


def test_of_a_cube_the_slice_in_its_middle_is_shown(tmp_path):
    values = arrays(3, points=8)
    given = {"equation": "arrays", "source": str(write_npz(tmp_path / "data.npz", values)), "input": "a"}
    given |= {"target": "u", "axes": ["sample", "z", "y", "x"], "finest": 8, "grid": "periodic"}
    settings = settings_of(given | {"samples": SAMPLES, "stored_as": "float32"}).with_contents()
    write_preview(make_dataset(tmp_path, settings, name="cube"), tmp_path / "preview.npz")
    with np.load(tmp_path / "preview.npz") as found:
        assert found["dims/a"].tolist() == ["y", "x"]
        shown = load_arrays(tmp_path / "cube.json", "n8", "test")["a"][:, 4]
        np.testing.assert_array_equal(found["input/a"], shown)
