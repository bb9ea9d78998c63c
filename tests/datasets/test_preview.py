"""The numbers in the preview of a dataset, and power by wavenumber: known waves, Parseval on every grid."""

import numpy as np
import pytest

from resolvent.datasets import preview
from resolvent.datasets.loading import load_arrays
from resolvent.datasets.preview import _facts_of, _spectra, write_preview
from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.solvers.common.grid import Grid, Nodes, Product

TIMES = Nodes(tuple(np.arange(64) / 32))


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
        ((5, 4, 3), Product((Nodes((0.0, 0.1, 0.2, 0.9)), Grid("nodes", 3)))),
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
    amplitudes = np.random.default_rng(0).permutation(41)
    facts = _facts_of("v", np.sqrt(amplitudes)[:, None] * np.ones(16), ["x"], Grid("periodic", 16))
    for word, expected in {"low": 2, "median": 20, "high": 38}.items():
        assert facts[f"spectrum/v/{word}"][0] == pytest.approx(expected)


def test_the_first_test_samples_are_shown_on_the_finest_grid(card_of, tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "SHOWN", 1)
    card = card_of("burgers")
    write_preview(card, tmp_path / "preview.npz")
    finest = load_arrays(card, "n128", "test")
    with np.load(tmp_path / "preview.npz") as found:
        assert found["samples"].tolist() == ["test 0"]
        for role, name in (("input", "initial_velocity"), ("target", "final_velocity")):
            np.testing.assert_array_equal(found[f"{role}/{name}"], finest[name][:1])
            assert found[f"histogram/{name}/counts"].sum() == finest[name].size
            assert found[f"histogram/{name}/edges"][[0, -1]].tolist() == pytest.approx(
                [finest[name].min(), finest[name].max()]
            )


def test_without_test_samples_those_of_the_next_split_are_shown(card_of, tmp_path):
    card = card_of("controlled_ode", samples={"train": 3, "validation": 2, "test": 0})
    write_preview(card, tmp_path / "preview.npz")
    with np.load(tmp_path / "preview.npz") as found:
        assert found["samples"].tolist() == ["validation 0", "validation 1"]


def square(kind, points, length=1.0):
    """The grid, and its coordinates x and y, to broadcast."""
    grid = Grid(kind, points, length, dimension=2)
    return grid, grid.coordinates[None, :], grid.coordinates[:, None]


@pytest.mark.parametrize("length", [1.0, 2 * np.pi])
def test_exponentials_are_in_the_shell_of_their_wavenumber(length):
    """Check |k| = 3 along an axis and k = (3, -4), for several lengths of the side."""
    grid, x, y = square("periodic", 16, length)
    x, y = (2 * np.pi * one / length for one in (x, y))
    field = 5 + 2 * np.sin(3 * x) * np.ones_like(y) + np.cos(3 * x - 4 * y)
    (power,) = powers(field[None], grid)
    expected = {0.0: 25, 3.0: 2, 5.0: 0.5}
    for wavenumber, one in zip(wavenumbers(grid), power, strict=True):
        assert one == pytest.approx(expected.get(wavenumber, 0), abs=1e-12)
