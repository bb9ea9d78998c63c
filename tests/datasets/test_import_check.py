"""Hold what `resolvent import` writes: a whole text, sizes of splits, grids, warnings, and the experiment."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import xarray
import zarr
from array_files import write_hdf5, write_npz, write_pdebench, write_well
from chosen import candidates, chosen

from resolvent.datasets.imported.arrays_checks import unscaled
from resolvent.datasets.imported.check import Report, check_file
from resolvent.datasets.tasks.registry import settings_of


def waves(count: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return periodic functions (count, *shape), a wave along each axis."""
    rng = np.random.default_rng(seed)
    values = np.zeros((count, *shape))
    for along in np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij"):
        phase, amplitude = rng.uniform(0, 6, (count, *[1] * len(shape))), rng.normal(size=count)
        values += amplitude.reshape(phase.shape) * np.cos(2 * np.pi * along + phase)
    return values


def pair(*shape: int, seed: int = 0) -> dict[str, np.ndarray]:
    return {"a": waves(*shape, seed=seed), "u": waves(*shape, seed=seed + 1)}


def checked(path: Path, **values) -> Report:
    return check_file(write_npz(path / "data.npz", values))


def dataset_of(report: Report) -> dict:
    assert report.problem is None, report.problem
    (block,) = report.configuration["datasets"].values()
    return block


TEXT = """\
# evolution.h5: HDF5
#   nu: 150, double precision
#   t: 9, double precision
#   u: 150 × 9 × 32, single precision
#   x: 32, double precision
# nu is a number for each sample: add nu to input, and write axes: {u: [sample, time, x], nu: [sample]}

name: own_evolution
build:
  experiments: [own_evolution]
datasets:
  own_evolution:
    equation: arrays
    source: evolution.h5
    input: u  # the only function of the file
    target: u  # the only function of the file
    axes: [sample, time, x]  # time has 9 coordinates; x has 32 coordinates
    finest: 32
    grid: choose one of periodic; nodes; cell_centres  # periodic: no right end; nodes: both ends; \
cell_centres: no ends
    coordinates: {x: x, time: t}
    input_times: [0]
    target_times: [8]  # the last time: change it as you need
    samples: {train: 105, validation: 15, test: 30}  # change it as you need
    stored_as: float32
experiments:
  own_evolution:
    title: own evolution
    dataset: own_evolution
    models: [fno]
    resolutions: [32]
    training: {epochs: 50, batch_size: 8, normalisation: scalar, loss_units: standardised, gradient_weight: 0}
"""


def test_the_whole_text_has_a_reason_for_each_decision_and_asks_the_rest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = {"u": waves(150, 9, 32).astype("float32"), "t": np.arange(9.0), "x": np.arange(32) / 32}
    report = check_file(write_hdf5(Path("evolution.h5"), values | {"nu": np.arange(150.0)}))
    assert report.text() == TEXT
    number = 1 + next(n for n, line in enumerate(TEXT.splitlines()) if line.startswith("    grid: "))
    assert (
        report.to_do("mine.yaml")
        == f"mine.yaml: choose in line {number}, then run: resolvent check mine.yaml"
    )


@pytest.mark.parametrize(("count", "test"), [(10, 2), (100, 20), (119, 23), (120, 30), (400, 40)])
def test_thirty_test_samples_are_taken_from_a_quarter_of_the_samples(count, test, tmp_path):
    report = checked(tmp_path, **pair(count, 32))
    block = chosen(report, axes=["sample", "x"], grid="periodic")
    assert block["samples"]["test"] == test
    assert sum(block["samples"].values()) == count


def test_windows_of_one_series_have_thirty_test_samples_too(tmp_path):
    report = checked(tmp_path, u=waves(800, 32), t=np.arange(800.0), x=np.arange(32) / 32)
    block = chosen(report, axes=["time", "x"], grid="periodic")
    assert block["samples"] == {"train": 146, "validation": 19, "test": 30}  # and 4 left out


def test_what_has_no_functions_of_space_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(Path("few.npz"), pair(2, 32) | {"x": np.arange(32.0), "split": np.array(["train"] * 2)})
    assert check_file("few.npz").problem == "few.npz: has 2 samples; expected: at least 3, one for each split"
    np.savez("numbers.npz", name=np.array("k"))
    assert check_file("numbers.npz").problem.endswith("in the file; found: name ()")
    zarr.create_group("empty.zarr")
    assert check_file("empty.zarr").problem.endswith("found: nothing")
    problem = check_file(
        write_npz(Path("one.npz"), {"u": waves(20, 20, 20), "x": np.arange(20), "y": np.arange(20)})
    )
    assert problem.problem is None  # one function, which may evolve
    data = xarray.Dataset({"u": (("sample", "x"), waves(20, 32))})
    data.to_netcdf("alone.nc", engine="h5netcdf")
    assert (
        "give a second file with the targets: the file has only one function, 'u'"
        in check_file("alone.nc").problem
    )
    values = {"a": waves(20, 32), "u": waves(20, 31)}
    problem = check_file(write_npz(Path("two.npz"), values)).problem
    assert "input and target differ in grid or number of samples, 'a' (20 × 32) and 'u' (20 × 31)" in problem


def test_two_files_are_a_pair_or_training_and_test(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", waves(30, 32))
    np.save("out.npy", waves(30, 32, seed=2))
    block = chosen(check_file("in.npy", "out.npy"), axes=["sample", "x"], grid="periodic")
    assert block["source"] == {"input": "in.npy", "target": "out.npy"}
    write_npz(Path("one.npz"), pair(40, 20))
    write_npz(Path("two.npz"), pair(14, 20, seed=3))
    block = chosen(check_file("one.npz", "two.npz"), axes=["sample", "x"], grid="periodic")
    assert block["source"] == {"train": "one.npz", "test": "two.npz"}
    assert block["samples"] == {"train": 36, "validation": 4, "test": 14}


def test_meshgrids_are_coordinates_and_times_of_pdebench_are_one_more(tmp_path):
    x, y = np.meshgrid(np.linspace(0, 2, 9), np.linspace(0, 1, 7))
    report = checked(tmp_path, a=waves(40, 7, 9), u=waves(40, 7, 9, seed=1), X=x, Y=y)
    block = chosen(report, axes=["sample", "y", "x"], grid="nodes")
    assert settings_of(block).with_contents().length == {"y": 1.0, "x": 2.0}
    path = write_pdebench(tmp_path / "burgers.hdf5", waves(40, 5, 32))
    report = check_file(path)
    assert candidates(dataset_of(report)["grid"]) == ["periodic", "nodes", "cell_centres"]
    block = chosen(report, axes=["sample", "time", "x"], grid="cell_centres")
    assert settings_of(block).with_contents().quantities == ("tensor at time 0", "tensor at time 1.6")
    path = write_pdebench(tmp_path / "darcy.hdf5", waves(40, 1, 16, 16), nu=waves(40, 16, 16))
    block = chosen(check_file(path), input="nu", target="tensor", grid="cell_centres")
    assert block["axes"] == {"nu": ["sample", "x", "y"], "tensor": ["sample", "time", "x", "y"]}
    assert settings_of(block).with_contents().task().draw([("train", 0)]).shape == (1, 2, 16, 16)


def test_the_well_names_axes_and_boundary_and_several_fields_are_asked_for(tmp_path):
    velocity = waves(60, 5, 16, 16)[..., None] * [1.0, 2.0]
    path = write_well(tmp_path / "flow.hdf5", {"p": waves(60, 5, 16, 16)}, {"velocity": velocity})
    report = check_file(path)
    fields = ["t1_fields/velocity[0]", "t1_fields/velocity[1]"]
    assert candidates(dataset_of(report)["input"]) == ["t0_fields/p", fields, ["t0_fields/p", *fields]]
    block = chosen(report, input=fields, target=fields)
    assert (block["grid"], block["axes"]["t0_fields/p"]) == ("periodic", ["sample", "time", "x", "y"])
    assert "the boundary is periodic, as stated in the file" in report.text()
    settings_of(block).with_contents()


@pytest.mark.parametrize(
    ("mean", "deviation", "why"),
    [(0, 1, None), (0, 0.31, None), (0, 0.29, "diverge"), (0, 3.2, None), (0, 3.4, "diverge"), (0, 0, None),
     (-9, 1, None), (-11, 1, "learned nothing")],
)  # fmt: skip
def test_advice_on_normalisation_is_symmetrical_in_the_size_of_values(mean, deviation, why):
    found = unscaled({"u": (mean, deviation)})
    assert len(found) == (why is not None)
    assert all(why in words and "train with normalisation: scalar" in words for words in found)


def test_uneven_points_are_found_and_trained_on_by_what_takes_them(tmp_path):
    y = (1 - np.cos(np.linspace(0, np.pi, 17))) / 2
    values = {"a": waves(60, 17, 24), "u": waves(60, 17, 24, seed=1), "y": y, "x": np.arange(24) / 24}
    split = {
        "split": np.array(["train"] * 40 + ["val"] * 10 + ["test"] * 10)
    }  # shows which axis has the samples
    report = checked(tmp_path, **values, **split)
    grid = dataset_of(report)["grid"]
    assert (grid["y"], candidates(grid["x"])) == ("uneven", ["periodic", "nodes", "cell_centres"])
    block = dataset_of(report) | {"grid": {"y": "uneven", "x": "periodic"}}
    assert settings_of(block).with_contents().length == 1.0
    (experiment,) = report.configuration["experiments"].values()
    assert experiment["models"] == ["deeponet2d"]
    assert experiment["training"]["gradient_weight"] == 0
    values = {"a": waves(60, 24), "u": waves(60, 24, seed=1), "x": np.linspace(1, 3, 24) ** 2}
    report = checked(tmp_path, **values, **split)
    assert (dataset_of(report)["grid"], "length" in dataset_of(report)) == ("uneven", False)
    (experiment,) = report.configuration["experiments"].values()
    assert experiment["models"] == ["tno"]


@pytest.mark.parametrize("kind", ["text", "bytes", "MAT"])
def test_the_splits_of_a_file_are_taken_whatever_their_type_and_their_short_names(kind, tmp_path):
    words = np.array(["test"] * 3 + ["Training"] * 5 + ["val"] * 2)
    values = pair(10, 32) | {
        "split": words.astype("S") if kind == "bytes" else words,
        "x": np.arange(32) / 32,
    }
    if kind == "MAT":
        scipy.io.savemat(path := tmp_path / "data.mat", values)
    else:
        np.savez(path := tmp_path / "data.npz", **values)
    block = chosen(check_file(path), axes=["sample", "x"], grid="periodic")
    assert block["groups"] == {
        "variable": "split",
        "train": ["Training"],
        "validation": ["val"],
        "test": ["test"],
    }
    assert block["samples"] == {"train": 5, "validation": 2, "test": 3}
    drawn = settings_of(block).with_contents().task().draw([("test", 0), ("train", 0)])
    np.testing.assert_array_equal(drawn[:, 0], values["a"][[0, 3]])


def test_a_split_that_does_not_name_all_splits_is_not_taken(tmp_path):
    split = np.array(["test"] * 3 + ["old"] * 7)
    report = checked(tmp_path, **pair(10, 32), split=split, x=np.arange(32) / 32)
    assert "groups" not in dataset_of(report)
    assert "the variable 'split' names no train and test; state groups" in report.text()
