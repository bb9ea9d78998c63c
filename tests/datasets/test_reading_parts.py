"""Any part of a variable, in any format, is what NumPy has there; what cannot be read is named."""

import shutil

import fsspec
import h5py
import numpy as np
import pytest
import torch
from array_files import WRITERS, write_hdf5, write_netcdf, write_npz, write_pdebench, write_torch, write_well

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import kind_of
from resolvent.datasets.imported.readers.source import is_remote, open_source

ROWS, POINTS = 14, 16
VALUES = np.random.default_rng(0).normal(size=(ROWS, 3, POINTS))
SELECTIONS = [
    (),
    (slice(3, 7),),
    (slice(0, ROWS), slice(1, 2)),
    (slice(13, 14), slice(0, 3), slice(2, 9)),
]


@pytest.mark.parametrize("name", WRITERS)
def test_parts_of_a_variable_are_what_numpy_has_there(name, tmp_path):
    file = open_source(WRITERS[name](tmp_path / name, {"a": VALUES[:, 0], "u": VALUES[:, 1]}))
    assert dict(file.shapes)["a"] == (ROWS, POINTS)
    assert file.name == name
    for selection in ((), (slice(3, 7),), (slice(13, 14), slice(2, 9))):
        np.testing.assert_array_equal(file.read("u", selection), VALUES[:, 1][selection])
        np.testing.assert_array_equal(file.read("a", selection), VALUES[:, 0][selection])
    assert file.variables["a"].single is False
    whole = name in ("data.npz", "data.mat")
    assert file.variables["a"].in_memory == (8 * ROWS * POINTS if whole else 0)


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_parts_of_three_axes_are_read(selection, tmp_path):
    for path in (
        write_hdf5(tmp_path / "data.h5", {"u": VALUES}),
        write_npz(tmp_path / "data.npz", {"u": VALUES}),
        WRITERS["data73.mat"](tmp_path / "data73.mat", {"u": VALUES}),
        write_torch(tmp_path / "data.pt", {"u": VALUES}),
    ):
        np.testing.assert_array_equal(open_source(path).read("u", selection), VALUES[selection])


@pytest.mark.parametrize(
    ("value", "good"),
    [
        (np.float64("nan"), False), (np.float32("-inf"), False), (np.float64(1e300), True),
        (np.int64(2**53), True), (np.int64(2**53 + 1), False), (np.int64(-(2**53)), True),
        (np.int64(-(2**53) - 1), False), (np.uint64(2**53), True), (np.uint64(2**53 + 1), False),
        (np.int32(-5), True),
    ],
)  # fmt: skip
def test_a_value_that_float64_does_not_have_is_refused_with_its_row(value, good, tmp_path):
    values = np.zeros((ROWS, 4), type(value))
    values[8, 1] = value
    file = open_source(write_npz(tmp_path / "data.npz", {"u": values}))
    if good:
        assert file.read("u", (slice(5, 10),))[3, 1] == float(value)
        return
    for selection in ((), (slice(5, 10),), (slice(8, 9), slice(1, 2))):
        with pytest.raises(DatasetError, match="in row 9 of 14; expected"):
            file.read("u", selection)
    np.testing.assert_array_equal(file.read("u", (slice(9, 14),)), 0)


def test_a_number_that_is_not_finite_is_the_only_value(tmp_path):
    file = open_source(write_npz(tmp_path / "data.npz", {"u": np.array(np.nan)}))
    with pytest.raises(DatasetError, match="is not finite in its only value"):
        file.read("u", ())


def test_the_kind_of_an_array_is_named():
    kinds = {
        "f8": None, "i4": None, "u1": None, "?": None, "c16": "complex", "O": "an array of Python objects",
        "U3": "text", "S3": "text", "M8[s]": "dates", "m8[s]": "spans of time", "V4": "a structured array",
    }  # fmt: skip
    assert {name: kind_of(np.dtype(name)) for name in kinds} == kinds
    assert kind_of(np.dtype([("real", "f8"), ("imag", "f8")])) == "complex"
    assert kind_of(np.dtype([("a", "f8")])) == "a structured array"


@pytest.mark.parametrize(
    ("source", "remote"),
    [
        ("https://a.org/b.h5", True), ("s3://bucket/b", True), ("a+b.c-1://x", True), ("data.h5", False),
        ("/a/b://c", False), ("1s://a", False), ("C:\\data", False),
    ],
)  # fmt: skip
def test_an_address_begins_with_its_protocol(source, remote):
    assert is_remote(source) is remote


def test_an_at_sign_behind_the_first_slash_is_no_credential(tmp_path):
    with pytest.raises(DatasetError) as error:
        open_source("http://127.0.0.1:9/a@b/data.h5")
    assert "credentials" not in str(error.value)
    with pytest.raises(DatasetError, match=r"^an address on s3:// has a '@' before its first '/'; creden"):
        open_source("s3://name:word@bucket/a")


def test_a_damaged_store_at_an_address_is_called_damaged():
    fsspec.filesystem("memory").pipe("/damaged.zarr/zarr.json", b"{")
    with pytest.raises(DatasetError, match=r"^memory://damaged\.zarr: not a Zarr store, or damaged \("):
        open_source("memory://damaged.zarr")


def test_tensors_have_the_names_of_their_places(tmp_path):
    torch.save(
        {"a": torch.ones(2, 3), "more": [torch.zeros(4), {"b": torch.full((1,), 7.0)}], "n": 3},
        tmp_path / "data.pt",
    )
    file = open_source(tmp_path / "data.pt")
    assert file.shapes == {"a": (2, 3), "more/0": (4,), "more/1/b": (1,)}
    np.testing.assert_array_equal(file.read("more/1/b", ()), [7.0])
    torch.save(torch.arange(6.0).reshape(2, 3).to(torch.bfloat16), tmp_path / "one.pt")
    file = open_source(tmp_path / "one.pt")
    assert file.shapes == {"tensor": (2, 3)}
    assert (file.variables["tensor"].single, file.variables["tensor"].kind) == (True, None)
    np.testing.assert_array_equal(file.read("tensor", (slice(1, 2),)), [[3, 4, 5]])
    torch.save({"a": torch.eye(3).to_sparse(), "b": torch.tensor(2.0)}, tmp_path / "sparse.pt")
    file = open_source(tmp_path / "sparse.pt")
    assert (file.variables["a"].kind, file.variables["b"].kind) == ("sparse", None)


def test_the_layouts_of_pdebench_and_the_well_are_distinguished(tmp_path):
    path = write_pdebench(tmp_path / "pde.h5", VALUES)
    assert (open_source(path).version, open_source(path).boundary) == ("HDF5 (PDEBench)", None)
    fields = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    path = write_well(tmp_path / "well.hdf5", {"p": fields}, {"v": np.stack([fields] * 2, axis=-1)})
    file = open_source(path)
    assert (file.version, file.boundary) == ("HDF5 (The Well)", "periodic")
    assert file.variables["dimensions/x"].dims() is None
    shutil.copy(path, tmp_path / "other.hdf5")
    with h5py.File(tmp_path / "other.hdf5", "a") as file:
        file["boundary_conditions/x_periodic"].attrs["bc_type"] = "WALL"
        file["t0_fields/p"].attrs.update(time_varying=False, dim_varying=[True, False])
        file["t1_fields/v"].attrs["sample_varying"] = False
    file = open_source(tmp_path / "other.hdf5")
    assert file.boundary == "other"
    assert file.variables["t0_fields/p"].dims() == ("sample", "x")
    assert file.variables["t1_fields/v"].dims() == ("time", "x", "y", "channel")


def test_a_file_in_hdf5_is_netcdf_by_its_ending_or_by_its_mark(tmp_path):
    write_netcdf(tmp_path / "marked.h5", {"a": VALUES[:, 0]})
    shutil.copy(tmp_path / "marked.h5", tmp_path / "plain.h5")
    with h5py.File(tmp_path / "plain.h5", "a") as file:
        del file.attrs["_NCProperties"]
    shutil.copy(tmp_path / "plain.h5", tmp_path / "named.nc4")
    names = ("plain.h5", "marked.h5", "named.nc4")
    assert [open_source(tmp_path / name).version for name in names] == ["HDF5", "NetCDF", "NetCDF"]


def test_the_numbers_of_matlab_are_read_and_nothing_else(tmp_path):
    import scipy.io

    values = {
        "double": VALUES[:, 0], "single": VALUES[:, 0].astype("float32"),
        "int16": np.arange(6, dtype="int16"),
        "complex": VALUES[:, 0] + 1j, "text": "words", "cell": np.array([{}, 1], dtype=object),
    }  # fmt: skip
    scipy.io.savemat(tmp_path / "data.mat", values)
    file = open_source(tmp_path / "data.mat")
    assert [file.variables[name].single for name in ("double", "single", "int16")] == [False, True, True]
    assert file.variables["text"].kind == "text"
    assert file.variables["cell"].kind == "a cell array"
    with pytest.raises(DatasetError, match="variable 'complex' is complex; expected: an array of real"):
        file.read("complex", ())
    np.testing.assert_array_equal(file.read("int16", ()), np.arange(6))
