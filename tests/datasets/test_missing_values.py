"""Values that a file declares to be missing are missing in every format, and codes for them are warned of."""

import h5py
import numpy as np
import pytest
import xarray
import zarr
from array_files import POINTS, arrays, write_hdf5, write_npz, write_zarr

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source

SAID = (
    r"data\.\w+: variable 'u' has a missing value \(_FillValue\) in row 4 of 14; expected: finite numbers; "
)


def with_gap(value: float = -9999.0, kind: str = "float64") -> dict[str, np.ndarray]:
    values = {name: (100 * one).astype(kind) for name, one in arrays().items()}
    values["u"][3, 5:8] = value
    return values


def hdf5(path, values, key="_FillValue"):
    write_hdf5(path, values)
    with h5py.File(path, "a") as file:
        for name in values:
            file[name].attrs[key] = np.asarray(-9999, values[name].dtype)
    return path


def plain_zarr(path, values, key="_FillValue"):
    write_zarr(path, values)
    for _, array in zarr.open_group(path).arrays():
        array.attrs[key] = -9999
    return path


def by_xarray(path, values, **given):
    data = xarray.Dataset({name: (("sample", "x"), one) for name, one in values.items()})
    encoding = {name: {"_FillValue": -9999} for name in values}
    if path.suffix == ".nc":
        data.to_netcdf(path, engine="h5netcdf", encoding=encoding)
    else:
        data.to_zarr(path, encoding=encoding, consolidated=False, **given)
    return path


WRITERS = {
    "data.h5": hdf5,
    "data.nc": by_xarray,
    "data.zarr": plain_zarr,
    "xarray2 data.zarr": lambda path, values: by_xarray(path, values, zarr_format=2),
    "xarray3 data.zarr": lambda path, values: by_xarray(path, values, zarr_format=3),
}


@pytest.mark.parametrize("kind", ["float64", "float32", "int32"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_value_that_is_declared_missing_is_missing(name, kind, tmp_path):
    path = WRITERS[name](tmp_path / name.split()[-1], with_gap(kind=kind))
    file = open_source(path)
    for selection in ((), (slice(2, 6),), (slice(3, 4), slice(6, 7))):
        with pytest.raises(DatasetError, match=SAID):
            file.read("u", selection)
    assert file.read("u", (slice(4, 14),)).shape == (10, POINTS)
    report = check_file(path)
    assert report.configuration is None
    assert "variable 'u' has a missing value (_FillValue) in row 4 of 14" in report.problem


@pytest.mark.parametrize("write", [hdf5, plain_zarr])
def test_missing_value_is_the_same_and_a_code_of_another_type_is_none(write, tmp_path):
    path = tmp_path / ("data.h5" if write is hdf5 else "data.zarr")
    write(path, with_gap(), "missing_value")
    with pytest.raises(DatasetError, match=r"has a missing value \(missing_value\) in row 4"):
        open_source(path).read("u", ())
    bytes_ = {"u": np.full((3, 4), 241, "uint8")}  # what -9999 is in a byte
    (tmp_path / "bytes").mkdir()
    path = write_zarr(tmp_path / "bytes/data.zarr", bytes_)
    zarr.open_group(path)["u"].attrs["_FillValue"] = -9999
    np.testing.assert_array_equal(open_source(path).read("u", ()), 241)


def test_packed_numbers_of_hdf5_are_refused_as_those_of_zarr(tmp_path):
    path = write_hdf5(tmp_path / "data.h5", arrays())
    with h5py.File(path, "a") as file:
        file["u"].attrs["scale_factor"] = 0.1
    with pytest.raises(DatasetError, match=r"variable 'u' is packed \(scale_factor\); expected"):
        open_source(path).shape("u")


@pytest.mark.parametrize("code", [-9999.0, 1e20, 9.969209968386869e36, -1e30])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_code_for_missing_values_is_counted_once(code, kind, tmp_path):
    file = open_source(write_npz(tmp_path / "data.npz", with_gap(code, kind)))
    for selection in ((), (slice(2, 6),), (slice(3, 4),), ()):
        file.read("u", selection)
    (note,) = file.notes
    assert note == (
        f"'u' has the value {np.dtype(kind).type(code):.6g} 3 times in the values read, often a code for "
        "missing ones; if it is, fill them or leave their samples out"
    )
    assert any(note in one for one in check_file(file.path).warnings)


def test_a_number_that_occurs_once_or_amid_others_is_no_code(tmp_path):
    values = np.arange(-20000.0, 20000.0).reshape(4, -1)
    for written in (values, np.array([[0.0, -9999.0], [1.0, 2.0]]), np.repeat(values, 2, axis=1)):
        file = open_source(write_npz(tmp_path / "data.npz", {"u": written}))
        file.read("u", ())
        assert file.notes == []
