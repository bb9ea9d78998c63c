"""Readers of files: any part of a variable is what NumPy has there; what is no array of numbers is named."""

import re
import shutil

import fsspec
import h5py
import numpy as np
import pytest
import torch
import xarray
import zarr
from array_files import (
    COUNT,
    POINTS,
    WRITERS,
    arrays,
    write_hdf5,
    write_netcdf,
    write_npz,
    write_pdebench,
    write_well,
    write_zarr,
)
from chosen import chosen
from public_files import FORMATS, write_mat

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.tasks.registry import settings_of

VALUES = np.random.default_rng(0).normal(size=(COUNT, 3, POINTS))
PARTS = [(), (slice(3, 7),), (slice(13, 14), slice(1, 3)), (slice(2, 5), slice(0, 3), slice(2, 9))]


@pytest.mark.parametrize("name", WRITERS)
def test_parts_of_a_variable_are_what_numpy_has_there(name, tmp_path):
    for values in (VALUES[:, 0], VALUES):
        path = WRITERS[name](tmp_path / f"{values.ndim}{name}", {"a": values, "u": 2 * values})
        file = open_source(path)
        assert (file.name, file.shapes) == (path.name, {"a": values.shape, "u": values.shape})
        for part in [one for one in PARTS if len(one) <= values.ndim]:
            np.testing.assert_array_equal(file.read("a", part), values[part])
            np.testing.assert_array_equal(file.read("u", part), 2 * values[part])
        assert file.variables["a"].single is False
        assert file.variables["a"].in_memory == (values.nbytes if name in ("data.npz", "data.mat") else 0)


NUMBERS = [
    (np.float64("nan"), "is not finite"), (np.float32("-inf"), "is not finite"), (np.float64(1e38), ""),
    (np.int64(2**53), ""), (np.int64(2**53 + 1), "an integer beyond 2"), (np.int64(-(2**53)), ""),
    (np.int64(-(2**53) - 1), "an integer beyond 2"), (np.uint64(2**53), ""),
    (np.uint64(2**53 + 1), "an integer beyond 2"), (np.int32(-5), ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "said"), NUMBERS)
def test_a_value_that_float64_does_not_have_is_refused_with_its_row(value, said, tmp_path):
    values = np.zeros((COUNT, 4), type(value))
    values[8, 1] = value
    file = open_source(write_npz(tmp_path / "data.npz", {"u": values, "one": np.array(np.nan)}))
    if not said:
        assert file.read("u", (slice(5, 10),))[3, 1] == float(value)
        return
    for part in ((), (slice(5, 10),), (slice(8, 9), slice(1, 2))):
        with pytest.raises(DatasetError, match=f"{said}.* in row 9 of 14; expected: .*; (fill|save) "):
            file.read("u", part)
    np.testing.assert_array_equal(file.read("u", (slice(9, 14),)), 0)
    with pytest.raises(DatasetError, match="is not finite in its only value"):
        file.read("one", ())


def bytes_for_words(values):
    return {name: one.astype("S5") if one.dtype.kind == "U" else one for name, one in values.items()}


def netcdf(path, values):
    data = xarray.Dataset({name: ("sample", one) for name, one in values.items()})
    data.to_netcdf(path, engine="h5netcdf", invalid_netcdf=True)
    return path


WRITE_WORDS = {
    "data.npz": write_npz,
    "data.h5": lambda path, values: write_hdf5(path, bytes_for_words(values)),
    "data.nc": netcdf,
    "objects.nc": lambda path, values: netcdf(path, values | {"words": values["words"].astype(object)}),
    "data.zarr": lambda path, values: write_zarr(path, bytes_for_words(values), 2),
}


@pytest.mark.filterwarnings("ignore:You are writing invalid netcdf features")
@pytest.mark.parametrize("name", WRITE_WORDS)
def test_words_and_complex_numbers_are_no_real_numbers(name, tmp_path):
    values = {
        "real": np.arange(3.0),
        "words": np.array(["one", "two", "three"]),
        "complex": np.arange(3) * 1j,
    }
    file = open_source(WRITE_WORDS[name](tmp_path / name, values))
    found = {one: file.variables[one].kind for one in values}
    assert found == {"real": None, "words": "text", "complex": "complex"}
    with pytest.raises(DatasetError, match=r"variable 'complex' is complex; expected: .* as two arrays"):
        file.shape("complex")


def test_addresses_have_no_credentials_and_a_damaged_store_is_named():
    with pytest.raises(DatasetError) as error:
        open_source("http://127.0.0.1:9/a@b/data.h5")
    assert "credentials" not in str(error.value)
    with pytest.raises(DatasetError, match=r"^an address on s3:// has a '@' before its first '/'; set cred"):
        open_source("s3://name:word@bucket/a")
    fsspec.filesystem("memory").pipe("/damaged.zarr/zarr.json", b"{")
    with pytest.raises(DatasetError, match=r"^memory://damaged\.zarr: not a complete Zarr store \("):
        open_source("memory://damaged.zarr")


def test_tensors_have_the_names_of_their_places(tmp_path):
    values = torch.arange(6.0).reshape(2, 3)
    more = [torch.zeros(4), {"b": torch.full((1,), 7.0)}]
    content = {"a": torch.ones(2, 3), "more": more, "n": 3, "half": values.bfloat16()}
    content |= {"gradient": values.clone().requires_grad_(), "parameter": torch.nn.Parameter(values.clone())}
    torch.save(content, tmp_path / "data.pt")
    file = open_source(tmp_path / "data.pt")
    shapes = {"a": (2, 3), "more/0": (4,), "more/1/b": (1,), "half": (2, 3), "gradient": (2, 3)}
    assert file.shapes == shapes | {"parameter": (2, 3)}
    np.testing.assert_array_equal(file.read("more/1/b", ()), [7.0])
    for name in ("half", "gradient", "parameter"):
        assert (file.variables[name].kind, file.variables[name].single) == (None, True)
        np.testing.assert_array_equal(file.read(name, (slice(1, 2),)), values[1:])
    torch.save(values, tmp_path / "one.pt")
    assert open_source(tmp_path / "one.pt").shapes == {"tensor": (2, 3)}


ODD_TENSORS = {
    "float8": (torch.zeros(2, 3).to(torch.float8_e4m3fn), r"float8_e4m3fn; .* save it as an array"),
    "meta": (torch.zeros(2, 3, device="meta"), r"a tensor without values \(meta\); .* save it"),
    "sparse": (torch.zeros(2, 3).to_sparse(), r"sparse; .* save it as an array"),
    "complex32": (torch.zeros(2, 3, dtype=torch.complex32), "complex; .* real and imaginary parts as two"),
    "nested": (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), "ragged; .* one length"),
}


@pytest.mark.parametrize("name", ODD_TENSORS)
def test_tensors_that_are_no_array_of_numbers_are_one_line(name, tmp_path):
    values, said = ODD_TENSORS[name]
    torch.save({"u": values}, tmp_path / "data.pt")
    with pytest.raises(DatasetError, match=said) as error:
        open_source(tmp_path / "data.pt").shape("u")
    assert "\n" not in str(error.value)
    assert said.partition(";")[0].replace("\\", "") in check_file(tmp_path / "data.pt").problem


def test_the_layouts_of_pdebench_and_the_well_are_distinguished(tmp_path):
    file = open_source(write_pdebench(tmp_path / "pde.h5", VALUES))
    assert (file.version, file.boundary) == ("HDF5 (PDEBench)", None)
    assert file.variables["tensor"].dims() == ("sample", "time", "x")
    fields = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    path = write_well(tmp_path / "well.hdf5", {"p": fields}, {"v": np.stack([fields] * 2, axis=-1)})
    file = open_source(path)
    assert (file.version, file.boundary) == ("HDF5 (The Well)", "periodic")
    assert file.variables["dimensions/x"].dims() is None
    assert file.variables["t1_fields/v"].dims() == ("sample", "time", "x", "y", "channel")
    path = shutil.copy(path, tmp_path / "other.hdf5")
    with h5py.File(path, "a") as file:
        file["boundary_conditions/x_periodic"].attrs["bc_type"] = "WALL"
        file["t0_fields/p"].attrs.update(time_varying=False, dim_varying=[True, False])
        file["t1_fields/v"].attrs["sample_varying"] = False
    file = open_source(path)
    assert file.boundary == "other"
    assert file.variables["t0_fields/p"].dims() == ("sample", "x")
    assert file.variables["t1_fields/v"].dims() == ("time", "x", "y", "channel")
    for number, other in enumerate(({"dimensions": [2]}, {"t0_fields/a": np.zeros((3, 4))})):
        with h5py.File(tmp_path / f"own{number}.h5", "w") as opened:  # a name of it alone makes no layout
            for name, values in (other | {"b": np.ones((3, 4))}).items():
                opened[name] = values
        file = open_source(tmp_path / f"own{number}.h5")
        assert "The Well" not in file.version
        assert [one.dims() for one in file.variables.values()] == [None, None]


def test_hdf5_is_netcdf_by_its_ending_or_its_mark_and_has_labels_and_scales(tmp_path):
    write_netcdf(tmp_path / "marked.h5", {"a": VALUES[:, 0]})
    shutil.copy(tmp_path / "marked.h5", tmp_path / "plain.h5")
    with h5py.File(tmp_path / "plain.h5", "a") as file:
        del file.attrs["_NCProperties"]
    shutil.copy(tmp_path / "plain.h5", tmp_path / "named.nc4")
    names = ("plain.h5", "marked.h5", "named.nc4")
    assert [open_source(tmp_path / name).version for name in names] == ["HDF5", "NetCDF", "NetCDF"]
    write_hdf5(tmp_path / "data.h5", {"u": np.zeros((3, 4, 16)), "t": np.arange(4.0)})
    assert open_source(tmp_path / "data.h5").variables["u"].dims() is None
    with h5py.File(tmp_path / "data.h5", "a") as file:
        file["t"].make_scale()
        dims = file["u"].dims
        dims[0].label, dims[2].label = "sample", "x"
        dims[1].attach_scale(file["t"])
    assert open_source(tmp_path / "data.h5").variables["u"].dims() == ("sample", "t", "x")


def test_the_names_of_axes_in_a_zarr_store_are_read(tmp_path):
    root = zarr.create_group(tmp_path / "named.zarr", zarr_format=3)
    root.create_array("u", data=np.zeros((3, 4)), dimension_names=["sample", "x"])
    root = zarr.create_group(tmp_path / "old.zarr", zarr_format=2)  # as xarray writes it
    root.create_array("u", data=np.zeros((3, 4))).attrs["_ARRAY_DIMENSIONS"] = ["sample", "x"]
    for name in ("named.zarr", "old.zarr"):
        assert open_source(tmp_path / name).variables["u"].dims() == ("sample", "x")


MATLAB = {
    "double": VALUES[:, 0], "single": VALUES[:, 0].astype("float32"), "int16": np.arange(6, dtype="int16"),
    "complex": VALUES[:, 0] + 1j, "text": "words", "cell": np.array([{}, 1], dtype=object),
}  # fmt: skip


def test_the_numbers_of_matlab_are_read_and_nothing_else(tmp_path):
    file = open_source(write_mat(tmp_path / "data.mat", MATLAB))
    assert [file.variables[name].single for name in ("double", "single", "int16")] == [False, True, True]
    assert [file.variables[name].kind for name in ("text", "cell")] == ["text", "a cell array"]
    with pytest.raises(DatasetError, match=r"variable 'complex' is complex; expected: .* as two arrays"):
        file.read("complex", ())
    np.testing.assert_array_equal(file.read("int16", ()), np.arange(6))

    def odd(file, folder):
        one = file.create_dataset("sparse", data=np.arange(3.0))
        one.attrs["MATLAB_class"], one.attrs["MATLAB_sparse"] = np.bytes_("double"), 3
        empty = file.create_dataset("empty", data=np.array([0, 3], dtype="uint64"))
        empty.attrs["MATLAB_class"], empty.attrs["MATLAB_empty"] = np.bytes_("double"), 1

    file = open_source(written("odd.mat", odd, tmp_path))
    for name in ("sparse", "empty"):
        with pytest.raises(DatasetError, match=f"variable '{name}' is {name}"):
            file.shape(name)


@pytest.mark.parametrize("version", FORMATS)
def test_vectors_of_matlab_have_one_axis_and_are_coordinates_and_times(version, tmp_path):
    x = np.arange(32) * (2 * np.pi / 32)
    u = np.cos(x + np.arange(5)[:, None] + np.random.default_rng(0).normal(size=(40, 1, 1)))
    values = {"u": u, "x": x[None], "t": np.arange(5.0)[:, None], "one": np.array([[2.5]])}
    file = open_source(write_mat(tmp_path / "data.mat", values, version))
    assert file.shapes == {"u": u.shape, "x": (32,), "t": (5,), "one": ()}
    for part in ((), (slice(3, 5),)):
        np.testing.assert_array_equal(file.read("x", part), x[part])
        np.testing.assert_array_equal(file.read("t", part), np.arange(5.0)[part])
    assert file.read("one", ()) == file.values("one") == 2.5
    block = chosen(check_file(file.path), axes=["sample", "time", "x"], grid="periodic")
    assert settings_of(block).with_contents().length == pytest.approx(2 * np.pi, abs=1e-10)
    assert block["target_times"] == [4]
    with pytest.raises(DatasetError, match=r"coordinates 'x' go from 0 to .* length: 1; as periodic they"):
        settings_of(block | {"length": 1.0, "coordinates": {}}).with_contents()


def with_gap(value: float = -9999.0, kind: str = "float64") -> dict[str, np.ndarray]:
    values = {name: (100 * one).astype(kind) for name, one in arrays().items()}
    values["u"][3, 5:8] = value
    return values


def declared(path, values, key="_FillValue"):
    if path.suffix == ".h5":
        write_hdf5(path, values)
        with h5py.File(path, "a") as file:
            for name in values:
                file[name].attrs[key] = np.asarray(-9999, values[name].dtype)
    else:
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


MISSING = {
    "data.h5": declared,
    "data.nc": by_xarray,
    "data.zarr": declared,
    "xarray2.zarr": lambda path, values: by_xarray(path, values, zarr_format=2),
    "xarray3.zarr": lambda path, values: by_xarray(path, values, zarr_format=3),
}


@pytest.mark.parametrize("kind", ["float32", "int32"])
@pytest.mark.parametrize("name", MISSING)
def test_a_value_that_is_declared_missing_is_missing(name, kind, tmp_path):
    path = MISSING[name](tmp_path / name, with_gap(kind=kind))
    file, said = open_source(path), r"'u' has a missing value \(_FillValue\) in row 4 of 14; expected: .*fill"
    for part in ((), (slice(2, 6),), (slice(3, 4), slice(6, 7))):
        with pytest.raises(DatasetError, match=said):
            file.read("u", part)
    assert file.read("u", (slice(4, 14),)).shape == (10, POINTS)
    report = check_file(path)
    assert report.configuration is None
    assert re.search(said, report.problem)


@pytest.mark.parametrize("name", ["data.h5", "data.zarr"])
def test_missing_value_is_the_same_and_packed_numbers_are_refused(name, tmp_path):
    path = declared(tmp_path / name, with_gap(), "missing_value")
    with pytest.raises(DatasetError, match=r"has a missing value \(missing_value\) in row 4"):
        open_source(path).read("u", ())
    (tmp_path / "bytes").mkdir()
    path = write_zarr(tmp_path / "bytes/data.zarr", {"u": np.full((3, 4), 241, "uint8")})
    zarr.open_group(path)["u"].attrs["_FillValue"] = -9999  # 241 is what that is in a byte
    np.testing.assert_array_equal(open_source(path).read("u", ()), 241)
    path = write_hdf5(tmp_path / "packed.h5", arrays())
    with h5py.File(path, "a") as file:
        file["u"].attrs["scale_factor"] = 0.1
    with pytest.raises(DatasetError, match=r"variable 'u' is packed \(scale_factor\); expected"):
        open_source(path).shape("u")


@pytest.mark.parametrize("code", [-9999.0, 1e20, 9.969209968386869e36, -1e30])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_code_for_missing_values_is_asked_about_once(code, kind, tmp_path):
    file = open_source(write_npz(tmp_path / "data.npz", with_gap(code, kind)))
    for part in ((), (slice(2, 6),), (slice(3, 4),), ()):
        file.read("u", part)
    (note,) = file.notes
    assert note.startswith(f"'u' has the value {np.dtype(kind).type(code):.6g}, a common fill value: if it")
    assert any(note in one for one in check_file(file.path).warnings)
    usual = np.arange(-20000.0, 20000.0).reshape(4, -1)
    for values in (usual, np.linspace(-9999.0, 9.0, 40).reshape(2, -1), np.repeat(usual, 2, axis=1)):
        file = open_source(write_npz(tmp_path / "data.npz", {"u": values}))
        file.read("u", ())
        assert not file.notes


def secret(folder):
    (folder / "other").mkdir(exist_ok=True)
    (folder / "other/secret").write_bytes(b"root:x:0:0:" * 400)
    return folder / "other/secret"


def external_storage(file, folder):
    file.create_dataset("u", (COUNT, POINTS), "u1", external=[(str(secret(folder)), 0, COUNT * POINTS)])


def external_link(file, folder):
    write_hdf5(folder / "linked.h5", {"u": arrays()["u"]})
    file["u"] = h5py.ExternalLink("linked.h5", "/u")


def virtual(file, folder):
    layout = h5py.VirtualLayout((COUNT, POINTS), "f8")
    write_hdf5(folder / "half.h5", {"u": arrays()["u"][:7]})
    layout[:7] = h5py.VirtualSource(str(folder / "half.h5"), "u", (7, POINTS))
    layout[7:] = h5py.VirtualSource(str(folder / "gone.h5"), "u", (7, POINTS))
    file.create_virtual_dataset("u", layout)


ELSEWHERE = {
    external_storage: r"'u' is stored outside of the file; .* save it",
    external_link: r"'u' is a link to linked\.h5; .* use that file as the source, or copy",
    virtual: r"'u' is virtual, in parts of other files; .* list these files",
}


def written(name, more, folder):
    path = folder / name
    with h5py.File(path, "w", userblock_size=512 if name.endswith("mat") else 0) as file:
        file["a"] = arrays()["a"]
        more(file, folder)
    if name.endswith("mat"):
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


@pytest.mark.parametrize("name", ["data.h5", "data.mat", "data.nc"])
@pytest.mark.parametrize("more", ELSEWHERE)
def test_numbers_of_other_files_are_refused(name, more, tmp_path):
    path = written(name, more, tmp_path)
    for act in ("shape", "values"):
        with pytest.raises(DatasetError, match=ELSEWHERE[more]) as error:
            getattr(open_source(path), act)("u")
        assert "\n" not in str(error.value)
    assert check_file(path).configuration is None


def test_a_group_of_a_sample_that_lies_elsewhere_is_refused(tmp_path):
    write_hdf5(tmp_path / "linked.h5", {"data": np.ones(POINTS)})
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["0000/data"] = np.ones(POINTS)
        file["0001"] = h5py.ExternalLink("linked.h5", "/")
    for name, said in {
        "0001": r"'0001' is a link to linked\.h5",
        "0001/data": "there is no variable",
    }.items():
        with pytest.raises(DatasetError, match=said):
            open_source(tmp_path / "data.h5").shape(name)


def store_with_gap(folder):
    store = write_zarr(folder / "data.zarr", arrays())
    (store / "a/c/0/0").unlink()
    return store


def hdf5_with_gaps(folder):
    with h5py.File(folder / "data.h5", "w") as file:
        for name, values in arrays().items():
            file.create_dataset(name, values.shape, "f8", chunks=(4, POINTS))
            file[name][: 14 if name == "a" else 8] = values[: 14 if name == "a" else 8]
        file.create_dataset("never", (14, POINTS), "f8")
    return folder / "data.h5"


def mat_with_gap(folder):
    def half(file, folder):
        file.create_dataset("u", (POINTS, COUNT), "f8", chunks=(POINTS, 7))[:, :7] = 1.0

    return written("data.mat", half, folder)


GAPS = {
    store_with_gap: ["'a' lacks 1 of 4"],
    hdf5_with_gaps: ["'never' lacks 1 of 1", "'u' lacks 2 of 4"],
    mat_with_gap: ["'u' lacks 1 of 2"],
}


@pytest.mark.parametrize("make", GAPS)
def test_chunks_that_were_never_written_are_warned_of_once(make, tmp_path):
    path, lacks = make(tmp_path), [f"{words} chunks, which are read as 0.0" for words in GAPS[make]]
    file = open_source(path)
    for name in [*file.variables] * 2:
        file.shape(name)
    assert list(file.notes) == lacks
    if make is not mat_with_gap:
        assert f"In {path.name} {lacks[-1]}." in check_file(path).warnings


def test_chunks_of_zarr_that_are_links_out_of_the_store_are_refused(tmp_path):
    store = write_zarr(tmp_path / "data.zarr", arrays())
    (store / "u/c/0/0").unlink()
    (store / "u/c/0/0").symlink_to(store / "u/c/1/0")
    assert open_source(store).shape("u") == (COUNT, POINTS)
    (store / "u/c/0/0").unlink()
    (store / "u/c/0/0").symlink_to(secret(tmp_path))
    with pytest.raises(DatasetError, match=r"data\.zarr: u/c/0/0 is a link out of the store; .*: cp -rL"):
        open_source(store)
    (tmp_path / "named.zarr").symlink_to(write_zarr(tmp_path / "other/real.zarr", arrays()))
    assert open_source(tmp_path / "named.zarr").shape("u") == (COUNT, POINTS)
