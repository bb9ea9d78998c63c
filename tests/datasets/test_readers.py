"""The readers of files say which variables are no real numbers, what is missing, and what is in memory."""

import h5py
import numpy as np
import pytest
import torch
import xarray
from array_files import write_hdf5, write_npz, write_zarr
from public_files import FORMATS, write_mat

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import spacing_of
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.tasks.registry import settings_of

WORDS = np.array(["one", "two", "three"])


def write_netcdf(path, values):
    variables = {name: ([f"{name}{axis}" for axis in range(one.ndim)], one) for name, one in values.items()}
    xarray.Dataset(variables).to_netcdf(path, engine="h5netcdf", invalid_netcdf=True)
    return path


def write_hdf5_words(path, values):
    return write_hdf5(path, {n: v.astype("S5") if v.dtype.kind == "U" else v for n, v in values.items()})


def write_zarr_words(path, values):
    return write_zarr(path, {n: v.astype("S5") if v.dtype.kind == "U" else v for n, v in values.items()}, 2)


def write_netcdf_objects(path, values):
    return write_netcdf(path, values | {"words": values["words"].astype(object)})


@pytest.mark.filterwarnings("ignore:You are writing invalid netcdf features")
@pytest.mark.parametrize(
    ("name", "write"),
    [("data.npz", write_npz), ("data.h5", write_hdf5_words), ("data.nc", write_netcdf),
     ("data.nc", write_netcdf_objects), ("data.zarr", write_zarr_words)],
)  # fmt: skip
def test_words_and_complex_numbers_are_no_real_numbers(name, write, tmp_path):
    values = {"real": np.arange(3.0), "words": WORDS, "complex": np.arange(3) * 1j}
    file = open_source(write(tmp_path / name, values))
    kinds = {"real": None, "words": "text", "complex": "complex"}
    assert {one: file.variables[one].kind for one in values} == kinds
    assert {one: file.variables[one].text for one in values} == {
        "real": False,
        "words": True,
        "complex": False,
    }
    with pytest.raises(DatasetError, match="variable 'complex' is complex; expected: an array of real"):
        file.shape("complex")


def test_a_sparse_array_of_matlab_is_refused(tmp_path):
    path = tmp_path / "data.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        one = file.create_dataset("sparse", data=np.arange(3.0))
        one.attrs["MATLAB_class"], one.attrs["MATLAB_sparse"] = np.bytes_("double"), 3
        empty = file.create_dataset("empty", data=np.array([0, 3], dtype="uint64"))
        empty.attrs["MATLAB_class"], empty.attrs["MATLAB_empty"] = np.bytes_("double"), 1
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with pytest.raises(DatasetError, match="variable 'sparse' is sparse"):
        open_source(path).shape("sparse")
    with pytest.raises(DatasetError, match="variable 'empty' is empty"):
        open_source(path).shape("empty")


@pytest.mark.parametrize(("kind", "single"), [("float32", True), ("float64", False), ("int64", False)])
def test_an_array_of_numpy_says_whether_float32_has_its_numbers(kind, single, tmp_path):
    np.savez(tmp_path / "data.npz", u=np.zeros((3, 4), kind))
    assert open_source(str(tmp_path / "data.npz")).variables["u"].single is single


def test_dimensions_of_hdf5_have_the_names_of_their_labels_and_scales(tmp_path):
    path = tmp_path / "data.h5"
    write_hdf5(path, {"u": np.zeros((3, 4, 16)), "t": np.arange(4.0)})
    assert open_source(str(path)).variables["u"].dims() is None
    with h5py.File(path, "a") as file:
        file["t"].make_scale()
        dims = file["u"].dims
        dims[0].label, dims[2].label = "sample", "x"
        dims[1].attach_scale(file["t"])
    assert open_source(str(path)).variables["u"].dims() == ("sample", "t", "x")


@pytest.mark.parametrize("by", [0.3, -0.3, 0.002, -0.002])
@pytest.mark.parametrize("at", [1, 7, 14])
def test_coordinates_in_unequal_steps_are_refused(by, at, tmp_path):
    x = np.arange(16.0)
    x[at] += by
    file = open_source(write_npz(tmp_path / "data.npz", {"x": x}))
    with pytest.raises(DatasetError, match="coordinates 'x' are not uniform: interpolate the functions"):
        spacing_of(file, "x")


def test_coordinates_in_steps_that_single_precision_makes_unequal_are_read(tmp_path):
    x = (100 + np.arange(16) / 16).astype("float32")
    x[3] = np.nextafter(x[3], np.float32(200))
    file = open_source(write_npz(tmp_path / "data.npz", {"x": x, "many": np.eye(3)}))
    np.testing.assert_array_equal(spacing_of(file, "x"), x)
    with pytest.raises(
        DatasetError, match=r"coordinates 'many' \(3, 3\) vary along several axes: all samples"
    ):
        spacing_of(file, "many")


@pytest.mark.parametrize("version", FORMATS)
def test_vectors_of_matlab_have_one_axis(version, tmp_path):
    x = np.arange(16) * (2 * np.pi / 16)
    values = {"row": x[None], "column": x[:, None], "one": np.array([[2.5]]), "field": np.ones((3, 16))}
    file = open_source(write_mat(tmp_path / "data.mat", values, version))
    assert file.shapes == {"row": (16,), "column": (16,), "one": (), "field": (3, 16)}
    for name in ("row", "column"):
        np.testing.assert_array_equal(file.read(name, ()), x)
        np.testing.assert_array_equal(file.read(name, (slice(3, 7),)), x[3:7])
        np.testing.assert_array_equal(file.values(name), x)
    assert file.read("one", ()) == 2.5


@pytest.mark.parametrize("version", FORMATS)
def test_vectors_of_matlab_are_coordinates_and_times(version, tmp_path):
    x = np.arange(32) * (2 * np.pi / 32)
    u = np.cos(x + np.arange(5)[:, None] + np.random.default_rng(0).normal(size=(40, 1, 1)))
    path = write_mat(tmp_path / "data.mat", {"u": u, "x": x[None], "t": np.arange(5.0)[:, None]}, version)
    block = check_file(path).configuration["datasets"]["own_data"]
    assert block["length"] == pytest.approx(2 * np.pi, abs=1e-12)
    assert (block["axes"], block["target_times"]) == (["sample", "time", "x"], [4])
    with pytest.raises(DatasetError, match=r"coordinates 'x' go from 0 to .* length 1 from 0"):
        settings_of(block | {"length": 1.0, "coordinates": {}}).with_contents()


def torch_file(path, values):
    torch.save({"u": values}, path)
    return open_source(path)


def test_tensors_with_gradients_and_parameters_are_read(tmp_path):
    values = torch.arange(6.0).reshape(2, 3)
    for given in (values.clone().requires_grad_(), torch.nn.Parameter(values.clone()), values.bfloat16()):
        file = torch_file(tmp_path / "data.pt", given)
        assert (file.variables["u"].kind, file.variables["u"].single) == (None, True)
        np.testing.assert_array_equal(file.read("u", ()), values)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (torch.zeros(2, 3).to(torch.float8_e4m3fn), r"float8_e4m3fn; .* save tensor.float\(\)"),
        (torch.zeros(2, 3, device="meta"), r"a tensor without values \(meta\); .* save the"),
        (torch.zeros(2, 3).to_sparse(), r"sparse; .* save it in full"),
        (torch.zeros(2, 3, dtype=torch.complex32), "complex; .* real and imaginary parts as two"),
        (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), "ragged; .* one length"),
    ],
    ids=["float8", "meta", "sparse", "complex32", "nested"],
)
def test_tensors_that_are_no_array_of_numbers_are_one_line(values, said, tmp_path):
    with pytest.raises(DatasetError, match=said) as error:
        torch_file(tmp_path / "data.pt", values).shape("u")
    assert "\n" not in str(error.value)
    report = check_file(tmp_path / "data.pt")
    assert said.partition(";")[0].replace("\\", "") in report.problem
