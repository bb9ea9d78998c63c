"""Layouts of files made elsewhere, rebuilt small: what the check proposes, what it asks, what it refuses."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import xarray
import yaml
import zarr
from array_files import write_hdf5, write_npz, write_pdebench, write_torch, write_well
from test_import_check import waves

from resolvent.datasets.imported.check import Report, check_file
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of

from dataset_fixtures import make_dataset  # isort: skip

TIMES, X = np.linspace(0, 1, 11), np.arange(64) / 64


def block_of(report: Report) -> dict:
    assert report.problem is None
    (block,) = report.configuration["datasets"].values()
    return block


def checked(path: Path, **values) -> Report:
    return check_file(write_npz(path / "data.npz", values))


def moved(values: np.ndarray, order: str, new: str) -> np.ndarray:
    """Return an array whose axes have one letter each in another order."""
    return np.einsum(f"{order}->{new}", values)


@pytest.mark.parametrize("order", ["stx", "sxt", "tsx", "txs", "xts", "xst"])
def test_lengths_of_coordinates_say_which_axis_is_which_in_any_order(order, tmp_path):
    values = moved(waves(11 * 40, 64).reshape(11, 40, 64), "tsx", order)
    block = block_of(checked(tmp_path, u=values, t=TIMES, x=X))
    words = {"s": "sample", "t": "time", "x": "x"}
    assert block["axes"] == [words[letter] for letter in order]
    assert (block["finest"], block["target_times"]) == (64, [10])
    assert block["coordinates"] == {"x": "x"}


@pytest.mark.parametrize("sides", [(32, 128), (32, 48)])
def test_a_rectangle_is_no_evolution_without_a_word(sides, tmp_path):
    report = checked(tmp_path, T=waves(60, *sides))
    assert "state the axes of 'T'" in report.problem
    assert "a rectangular field [sample, y, x] is not supported" in report.problem
    assert "    # axes: [sample, time, x]\n    # finest" in report.text()
    assert "    # axes: [sample, x, time]\n" in report.text()
    assert yaml.safe_load(report.text())["datasets"]["own_data"]["equation"] == "arrays"


def test_coordinates_of_each_sample_that_are_alike_are_coordinates(tmp_path):
    x, times = np.tile(np.arange(64) / 2, (50, 1)), np.tile(np.arange(21) * 0.2, (50, 1))
    path = write_hdf5(tmp_path / "ks.h5", {"train/u": waves(50, 21, 64), "train/x": x, "train/t": times})
    block = block_of(check_file(path))
    assert (block["axes"], block["length"]) == (["sample", "time", "x"], 32.0)
    assert block["coordinates"] == {"x": "train/x"}
    settings_of(block).with_contents()


def test_meshes_are_coordinates(tmp_path):
    x, y = np.meshgrid(np.linspace(0, 2, 9), np.linspace(0, 2, 9))
    report = checked(tmp_path, a=waves(40, 9, 9), u=waves(40, 9, 9, seed=1), X=x, Y=y)
    assert (block_of(report)["length"], block_of(report)["coordinates"]) == (2.0, {"x": "X"})


def test_one_evolution_with_vectors_of_matlab_is_cut_into_windows(tmp_path):
    values = {
        "usol": waves(100, 64).T,
        "x": np.linspace(-1, 1, 64)[:, None],
        "t": TIMES[-1] * np.arange(100.0),
    }
    scipy.io.savemat(tmp_path / "shock.mat", values)
    block = block_of(check_file(tmp_path / "shock.mat"))
    assert (block["axes"], block["finest"], block["length"]) == (["x", "time"], 64, 2.0)
    assert block["window_every"] == 2


def test_points_are_those_of_the_other_function(tmp_path):
    """The Burgers file of the package neuraloperator 0.3: no times, 17 of them beside 16 points."""
    path = write_torch(tmp_path / "burgers.pt", {"input": waves(60, 16), "output": waves(60, 17, 16)})
    block = block_of(check_file(path))
    assert block["axes"] == {"input": ["sample", "x"], "output": ["sample", "time", "x"]}
    assert block["target_times"] == [16]


def test_pressures_show_that_two_valued_coefficients_are_not_periodic(tmp_path):
    """The Darcy files of neuraloperator 0.3 have every 26th of 421 nodes, the first on the boundary."""
    nodes = np.linspace(0, 1, 17)[:-1]
    bump = np.sin(np.pi * nodes)[:, None] * np.sin(np.pi * nodes)
    pressure = bump * np.random.default_rng(0).uniform(0.5, 1.5, (40, 1, 1))
    coefficient = np.where(waves(40, 16, 16) > 0, 12.0, 3.0)
    report = checked(tmp_path, x=coefficient, y=pressure)
    assert block_of(report)["grid"] == "nodes"
    assert "grid: nodes  # guess: 'y' is zero at an end, where it has a kink: not periodic" in report.text()
    report = checked(tmp_path, x=coefficient, y=np.where(waves(40, 16, 16, seed=5) > 0, 1.0, 0.0))
    assert "grid: nodes  # guess: functions of few values do not show whether" in report.text()


def test_pressures_on_cell_centres_are_not_periodic(tmp_path):
    cells = np.sin(np.pi * (np.arange(32) + 0.5) / 32)
    pressure = cells[:, None] * cells * np.random.default_rng(0).uniform(0.5, 1.5, (40, 1, 1))
    nu = np.where(waves(40, 32, 32) > 0, 1.0, 0.1)
    path = write_pdebench(tmp_path / "darcy.hdf5", pressure[:, None], nu=nu)
    assert block_of(check_file(path))["grid"] == "cell_centres"


def test_vector_fields_are_proposed_whole(tmp_path):
    velocity = waves(60, 5, 16, 16)[..., None] * [1.0, 2.0]
    path = write_well(tmp_path / "flow.hdf5", {"p": waves(60, 5, 16, 16)}, {"velocity": velocity})
    report = check_file(path)
    assert block_of(report)["input"] == "t0_fields/p"
    assert "left out: t1_fields/velocity; add what belongs to input and to target" in report.found
    report = checked(tmp_path, velocity=velocity, t=np.arange(5.0))
    assert block_of(report)["input"] == ["velocity[0]", "velocity[1]"]
    assert block_of(report)["target"] == ["velocity[0]", "velocity[1]"]


def test_falling_coordinates_flip_the_axis(tmp_path):
    root, values = zarr.create_group(tmp_path / "falling.zarr"), waves(40, 64)
    for name, one in {"a": values, "u": 2 * values, "x": 1 - X}.items():
        root.create_array(name, data=one)
    report = check_file(tmp_path / "falling.zarr")
    assert "In falling.zarr 'x' falls from 1 to 0.015625: x is flipped, and rises." in report.warnings
    given = settings_of(block_of(report) | {"samples_per_shard": 40}).with_contents()
    card = make_dataset(tmp_path / "made", given, name="mine")
    np.testing.assert_array_equal(load_samples(card, 64, "train", 28).inputs, values[:28, ::-1])
    assert "x is flipped, and rises" in "".join(read_card(card)["imported"]["warnings"])


def test_latitudes_fall_and_begin_elsewhere(tmp_path):
    coordinates = {
        "latitude": np.linspace(55, 43.25, 48),
        "longitude": np.arange(48) / 4,
        "time": np.arange(60),
    }
    data = xarray.Dataset({"t2m": (("time", "latitude", "longitude"), waves(60, 48, 48))}, coordinates)
    data.to_netcdf(tmp_path / "region.nc", engine="h5netcdf")
    report = check_file(tmp_path / "region.nc")
    assert block_of(report)["axes"] == ["time", "y", "x"]
    assert block_of(report)["coordinates"] == {"x": "longitude"}
    assert any("y is flipped" in words for words in report.warnings)


@pytest.mark.parametrize("scale", [(101325.0, 10.0), (0.0, 1e-12), (0.0, 1e5)], ids=str)
def test_data_far_from_mean_0_and_size_1_are_normalised_by_the_proposal(scale, tmp_path):
    mean, deviation = scale
    report = checked(tmp_path, before=waves(300, 64), after=3 + waves(300, 64, seed=1), x=X)
    assert "normalisation" not in report.text()
    report = checked(tmp_path, before=mean + deviation * waves(300, 64), after=waves(300, 64, seed=1), x=X)
    assert report.configuration["experiments"]["own_data"]["training"]["normalisation"] == "scalar"
    line = next(line for line in report.text().splitlines() if line.startswith("    training: "))
    assert "# 'before' has the mean" in line
    (words,) = [one for one in report.warnings if "train with normalisation: scalar" in one]
    assert words.startswith("'before' has the mean")


def test_where_only_a_person_knows_there_is_a_block_to_fill_in(tmp_path):
    path = write_npz(tmp_path / "fields.npz", {"T": waves(20, 24), "p": waves(20, 24), "q": waves(20, 24)})
    report = check_file(path)
    assert report.problem.startswith(f"{path}: state input and target, which the file does not say: 'T' (20")
    (block,) = yaml.safe_load(report.text())["datasets"].values()
    keys = ["equation", "source", "input", "target", "axes", "finest", "grid", "length", "samples"]
    assert list(block) == keys
    assert "    input:  # of T: 20 × 24, double precision; p: 20 × 24" in report.text()
    filled = {"input": "T", "target": "p", "axes": ["sample", "x"], "finest": 24, "grid": "periodic"}
    settings_of(block | filled | {"samples": {"train": 15, "validation": 2, "test": 3}}).with_contents()


def test_rectangles_are_refused_before_input_and_target_are_asked_for(tmp_path):
    report = checked(tmp_path, a=waves(60, 32, 48), u=waves(60, 32, 48), y=np.arange(32.0), x=np.arange(48.0))
    assert "not supported: crop or interpolate 'a' (60 × 32 × 48)" in report.problem
    fields = {name: (("time", "lat", "lon"), waves(1, 24, 40)) for name in ("T", "q", "z")}
    xarray.Dataset(fields).to_netcdf(tmp_path / "one.nc", engine="h5netcdf")
    assert (
        "rectangular grids are not supported: crop or interpolate 'T'"
        in check_file(tmp_path / "one.nc").problem
    )


def test_names_of_axes_that_are_not_known_are_asked_for(tmp_path):
    data = xarray.Dataset({"fice": (("time", "hlat", "hlon"), waves(30, 24, 40))})
    data.to_netcdf(tmp_path / "ice.nc", engine="h5netcdf")
    problem = check_file(tmp_path / "ice.nc").problem
    assert "state the axes of 'fice' (30 × 24 × 40): the file names them time, hlat, hlon" in problem
