"""Samples in groups or arrays of their own are read as one array, and coordinates of each as coordinates."""

import h5py
import numpy as np
import pytest
import torch
import zarr
from array_files import write_hdf5, write_npz
from chosen import chosen

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import line_of
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.tasks.registry import settings_of

COUNT, POINTS = 12, 32
X = np.arange(POINTS) / POINTS
PHASES = np.random.default_rng(0).uniform(0, 6, size=(COUNT, 1))
A, U = np.cos(2 * np.pi * X + PHASES), np.sin(4 * np.pi * X + PHASES)


def sample(row: int) -> dict[str, np.ndarray]:
    return {"a": A[row], "u": U[row], "nu": np.array(float(row)), "x": X}


def by_hdf5(path, groups):
    with h5py.File(path.with_suffix(".h5"), "w") as file:
        for group, values in groups.items():
            for name, one in values.items():
                file[f"{group}/{name}"] = one
    return path.with_suffix(".h5")


def by_zarr(path, groups):
    root = zarr.create_group(path.with_suffix(".zarr"))
    for group, values in groups.items():
        for name, one in values.items():
            root.create_array(f"{group}/{name}", data=np.asarray(one))
    return path.with_suffix(".zarr")


NAMES = ["traj_{:02d}", "run{}", "data/demo_{}"]


@pytest.mark.parametrize(("names", "write"), [*((names, by_hdf5) for names in NAMES), ("{}", by_zarr)])
def test_groups_of_one_prefix_are_samples(names, write, tmp_path):
    first = 1 if names == "run{}" else 0
    path = write(tmp_path / "data", {names.format(first + row): sample(row) for row in range(COUNT)})
    file = open_source(path)
    folder = "data/" if names.startswith("data/") else ""
    shapes = {f"{folder}{name}": shape for name, shape in
              {"a": A.shape, "u": U.shape, "nu": (COUNT,), "x": (COUNT, POINTS)}.items()}  # fmt: skip
    assert file.shapes == shapes
    if write is by_hdf5:
        assert file.version == "HDF5, a group for each sample"
        assert file.variables[f"{folder}a"].dims() == ("sample", "")
    np.testing.assert_array_equal(file.read(f"{folder}a", ()), A)
    np.testing.assert_array_equal(file.read(f"{folder}u", (slice(9, 12),)), U[9:])
    np.testing.assert_array_equal(file.read(f"{folder}u", (slice(1, 3), slice(4, 6))), U[1:3, 4:6])
    np.testing.assert_array_equal(file.read(f"{folder}nu", ()), np.arange(COUNT))
    np.testing.assert_array_equal(line_of(file, f"{folder}x"), X)
    report = check_file(path)
    assert report.warnings == [
        "2 test samples: of fewer than 30 the 95 % intervals can be far off; take more."
    ]
    block = chosen(report, axes=["sample", "x"], input=f"{folder}a", target=f"{folder}u", grid="periodic")
    assert block["samples"]["train"] == 9
    assert settings_of(block).with_contents().length == 1
    settings = dict(block, samples={"train": 10, "validation": 1, "test": 1})
    drawn = settings_of(settings).with_contents().task().draw([("train", row) for row in range(10)])
    np.testing.assert_array_equal(drawn[:, 0], A[:10])


@pytest.mark.parametrize("write", [write_npz, write_hdf5])
def test_arrays_named_as_samples_are_one_array(write, tmp_path):
    file = open_source(write(tmp_path / "data.npz", {f"sample_{row}": A[row] for row in range(COUNT)}))
    assert file.shapes == {"sample": A.shape}
    np.testing.assert_array_equal(file.read("sample", (slice(9, 12),)), A[9:])
    assert file.variables["sample"].in_memory == (A.nbytes if write is write_npz else 0)


def test_a_list_of_samples_of_tensors_is_one_array(tmp_path):
    torch.save([{"a": torch.tensor(one)} for one in A], tmp_path / "data.pt")
    file = open_source(tmp_path / "data.pt")
    assert file.shapes == {"a": A.shape}
    np.testing.assert_array_equal(file.read("a", ()), A)


@pytest.mark.parametrize(
    "groups",
    [
        {"n64": {"u": A}, "n32": {"u": A}},
        {"level1": {"u": A}, "level2": {"u": A[:, ::2]}, "level3": {"u": A[:, ::4]}},
        {"field1": {"u": A}, "field2": {"u": A}},
        {f"part-{row}": {"u": A[row]} for row in range(COUNT)},
        {f"{points}": {"u": A} for points in (16, 32, 64)},
        {"t0_fields": {"u": A}, "t1_fields": {"v": A}, "t2_fields": {"w": A}},
    ],
    ids=["resolutions", "levels", "two", "parts", "numbers", "the well"],
)
def test_groups_that_are_no_samples_are_left_apart(groups, tmp_path):
    file = open_source(by_hdf5(tmp_path / "data", groups))
    wanted = {
        f"{group}/{name}": one.shape for group, values in groups.items() for name, one in values.items()
    }
    assert file.shapes == wanted


def test_samples_of_different_lengths_are_ragged(tmp_path):
    groups = {f"sample_{row}": {"u": A[row, : POINTS - row // 6], "more": A[row]} for row in range(COUNT)}
    del groups["sample_3"]["more"]
    path = by_hdf5(tmp_path / "data", groups)
    said = (
        r"variable 'u' is ragged \(32 or 31 in a sample\); expected: an array of real numbers; "
        "bring all samples to one length, and save one array"
    )
    with pytest.raises(DatasetError, match=said):
        open_source(path).shape("u")
    with pytest.raises(DatasetError, match=r"'more' is ragged \(32 or none in a sample\)"):
        open_source(path).shape("more")
    assert "is ragged (32 or" in check_file(path).problem


@pytest.mark.parametrize("name", ["x", "grid/x"])
def test_coordinates_of_every_sample_that_are_alike_are_coordinates(name, tmp_path):
    values = {"a": A, "u": U, name: np.tile(3 * X, (COUNT, 1)), "t": np.tile(np.arange(3.0), (COUNT, 1))}
    path = write_hdf5(tmp_path / "data.h5", values)
    file = open_source(path)
    np.testing.assert_array_equal(line_of(file, name), 3 * X)
    block = chosen(check_file(path), axes=["sample", "x"], grid="periodic")
    assert settings_of(block).with_contents().length == 3


def test_coordinates_that_differ_are_refused_or_are_none(tmp_path):
    x = np.tile(X, (COUNT, 1))
    x[4, 3] = 0.5
    file = open_source(write_npz(tmp_path / "data.npz", {"a": A, "x": x, "y": A}))
    with pytest.raises(
        DatasetError, match=r"coordinates 'x' .* vary along several axes: interpolate all samples"
    ):
        line_of(file, "x")


def test_a_missing_value_and_a_chunk_in_one_group_are_found(tmp_path):
    path = by_hdf5(tmp_path / "data", {f"run{row}": {"u": A[row]} for row in range(COUNT)})
    with h5py.File(path, "a") as file:
        for row in range(COUNT):
            file[f"run{row}/u"].attrs["_FillValue"] = -1.5
        file["run7/u"][3] = -1.5
        file["run9/v"] = np.zeros(2)
        del file["run9/u"], file["run9/v"]
        file["run9"].create_dataset("u", (POINTS,), "f8")
    file = open_source(path)
    with pytest.raises(DatasetError, match=r"'u' has a missing value \(_FillValue\) in row 8 of 12"):
        file.read("u", ())
    assert list(file.notes) == ["'run9/u' lacks 1 of 1 chunks, which are read as 0.0"]


def test_joined_groups_do_not_replace_other_variables(tmp_path):
    """Neither those of the file, nor those of groups with another prefix."""
    groups = {"case0": {"u": A[0]}, "case1": {"u": A[1]}, "run0": {"u": U[0]}, "run1": {"u": U[1]}}
    found = open_source(by_hdf5(tmp_path / "two", groups))
    assert set(found.variables) == {"u", "run/u"}
    np.testing.assert_array_equal(found.read("u", ()), A[:2])
    np.testing.assert_array_equal(found.read("run/u", ()), U[:2])
    path = by_hdf5(tmp_path / "whole", {"run0": {"u": U[0]}, "run1": {"u": U[1]}})
    with h5py.File(path, "a") as file:
        file["u"] = 7 * U
    found = open_source(path)
    np.testing.assert_array_equal(found.read("u", ()), 7 * U)
    np.testing.assert_array_equal(found.read("run/u", ()), U[:2])


def test_a_store_whose_last_shard_is_not_full_lacks_nothing(tmp_path):
    array = zarr.create_group(tmp_path / "data.zarr").create_array(
        "u", shape=A.shape, chunks=(2, POINTS), shards=(8, POINTS), dtype="f8"
    )
    array[:] = A + 10  # other than the fill value
    found = open_source(tmp_path / "data.zarr")
    assert found.shape("u") == A.shape
    assert not found.notes
