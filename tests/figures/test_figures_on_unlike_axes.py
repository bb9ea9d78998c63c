"""Figures of functions on axes that differ: on their coordinates, and of a box the middle slice."""

import json
import re

import numpy as np
import pytest
import xarray
from array_files import write_npz
from dataset_fixtures import make_dataset
from model_variants import SMALL
from training_fixtures import finished_run

from resolvent.datasets.preview import write_preview
from resolvent.datasets.tasks.registry import settings_of
from resolvent.figures.common.results import Shown, read_runs, spread_of
from resolvent.figures.dataset import gallery
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.experiment import samples
from resolvent.figures.run.data import write_run_data

COUNTS = {"train": 8, "validation": 2, "test": 4}
X, Y, Z = np.arange(12) / 4, np.linspace(0, 1, 10) ** 2, np.linspace(0, 1, 9)
KINDS = {
    "rectangle": ("deeponet2d", {"y": Y, "x": X}, {"y": "uneven", "x": "periodic"}),
    "box": ("fno3d", {"z": Z, "y": np.sqrt(Y), "x": X}, {"z": "nodes", "y": "nodes", "x": "periodic"}),
}


@pytest.fixture(scope="module", params=KINDS)
def drawn(request, tmp_path_factory):
    """Return the card and the run of each kind, and its axes."""
    architecture, axes, kinds = KINDS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    u = np.random.default_rng(0).normal(size=(14, *map(len, axes.values())))
    given = {
        "equation": "arrays", "source": str(write_npz(folder / "own.npz", {"a": u, "u": u**2, **axes})),
        "input": "a", "target": "u", "axes": ["sample", *axes], "samples": COUNTS, "grid": kinds,
        "finest": {name: len(axis) for name, axis in axes.items()},
        "length": {name: 3.0 if name == "x" else 1.0 for name in axes},
    }  # fmt: skip
    card = make_dataset(folder / "own", settings_of(given).with_contents(), name="own")
    run = finished_run(card, folder / "run", 12, (12,), architecture, SMALL[architecture], COUNTS, epochs=1)
    return card, run, axes


def middle(values: np.ndarray) -> np.ndarray:
    return values if values.ndim == 2 else values[len(values) // 2]


def test_samples_are_drawn_on_their_coordinates(drawn):
    _, folder, axes = drawn
    (run,) = read_runs([folder])
    figure = samples.draw(Shown(run, None), ("a", "u"))
    stored = xarray.open_datatree(folder / "predictions.nc", engine="h5netcdf")["n12"]
    panels = [panel for panel in figure.axes if panel.collections and panel.get_label() != "<colorbar>"]
    assert len(panels) == 4 * stored.sizes["sample"]
    mesh = panels[stored.sizes["sample"]].collections[0]  # the first target
    np.testing.assert_array_equal(np.ma.getdata(mesh.get_array()), middle(stored["target"].values[0, 0]))
    corners = mesh.get_coordinates()
    for along, name in ((corners[0, :, 0], "x"), (corners[:, 0, 1], "y")):
        np.testing.assert_allclose((along[:-1] + along[1:])[1:-1] / 2, axes[name][1:-1], atol=0.05)
    spread = spread_of(run)
    assert spread is not None
    assert spread.values.shape == (10, 12)


def test_the_page_of_a_run_has_the_coordinates_of_both_axes(drawn, tmp_path):
    _, folder, axes = drawn
    (run,) = read_runs([folder])
    write_run_data(run, tmp_path / "run.js", ("a", "u"))
    data = json.loads(re.fullmatch(r'resolventData\("run", (.*)\);\n', (tmp_path / "run.js").read_text())[1])
    assert data["dimension"] == 2
    np.testing.assert_allclose(data["y"], axes["y"], atol=1e-3)
    np.testing.assert_allclose(data["x_target"], axes["x"], atol=1e-3)
    assert np.shape(data["samples"][0]["target"]) == (1, 10, 12)


def test_the_page_of_the_dataset_has_them_too(drawn, tmp_path):
    card, _, axes = drawn
    write_preview(card, tmp_path / "preview.npz")
    dataset = DatasetPreview(card, tmp_path / "preview.npz")
    given, _ = dataset.functions
    assert (given.dims, given.samples.shape) == (("y", "x"), (4, 10, 12))
    np.testing.assert_allclose(given.axes["y"], axes["y"], atol=1e-12)
    assert bool(given.spectrum) == ("z" in axes)  # uneven points have none
    assert gallery.draw(dataset).axes[0].collections
    assert np.shape(gallery.chart(dataset).data[0].z) == (10, 12)
