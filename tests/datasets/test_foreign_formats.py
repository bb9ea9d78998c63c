"""Formats that are not read, and archives that unpack to far more than they are: one line with the remedy."""

import gzip
import io
import re
import resource
import tarfile
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
import torch
import zarr
from array_files import arrays, write_hdf5, write_npz, write_zarr

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers import arrays_file, formats
from resolvent.datasets.imported.readers.source import open_source

PATCHED, REAL = 2**20, 2**28  # bytes from which on nothing is unpacked: in most tests, and in earnest


def npy(path, values):
    np.save(path, values)
    return path


def tar(path):
    with tarfile.open(path, "w") as file:
        file.add(npy(path.with_suffix(".npy"), np.ones(3)), "u.npy")


def torch_script(path):
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(path))


def exported(path):
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)), path)


def zipped_store(path):
    with zipfile.ZipFile(path, "w") as file:
        for one in write_zarr(path.with_name("store.zarr"), arrays()).rglob("*"):
            file.write(one, one.relative_to(path.parent / "store.zarr"))


FORMATS = {
    "data.npy.gz": (lambda path: path.write_bytes(gzip.compress(b"one")), r"is compressed by gzip.*: gunzip"),
    "data.npy.bz2": (lambda path: path.write_bytes(b"BZh91AY&SY"), r"is compressed by bzip2.*: bunzip2"),
    "data.npy.xz": (lambda path: path.write_bytes(b"\xfd7zXZ\0"), r"is compressed by xz.*: unxz"),
    "data.zst": (lambda path: path.write_bytes(b"\x28\xb5\x2f\xfd0"), r"is compressed by zstd.*: unzstd"),
    "data.tar": (tar, r"is a tar archive.*: tar -xf"),
    "data.csv": (lambda path: path.write_text("a,u\n1,2\n"), r"is text, such as CSV.*: np.savez\(.*loadtxt"),
    "data.hdf": (lambda path: path.write_bytes(b"\x0e\x03\x13\x01" * 9), r"is HDF4.*: h4toh5"),
    "data.parquet": (lambda path: path.write_bytes(b"PAR1" * 9), r"is Parquet.*: np.savez\("),
    "script.pt": (torch_script, r"is a TorchScript program; .* torch.save"),
    "model.pt2": (exported, r"is a program of torch.export; .* torch.save"),
    "store.zip": (zipped_store, r"is a Zarr store in a zip archive.*: unzip"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_that_is_not_read_is_named_with_what_to_do(name, tmp_path):
    write, said = FORMATS[name]
    write(tmp_path / name)
    with pytest.raises(DatasetError, match=rf"{name}: {said}") as error:
        open_source(tmp_path / name)
    assert "\n" not in str(error.value)
    assert str(error.value) == check_file(tmp_path / name).problem


def bomb_npz(path, huge):
    np.savez_compressed(path, a=np.zeros((huge // 8 // 64, 64)), u=np.zeros((4, 4)))


def many_arrays(path, huge):
    member = io.BytesIO()
    np.save(member, np.zeros(huge // 64))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(16):
            file.writestr(f"u{number}.npy", member.getvalue())


def bomb_mat(path, huge):
    scipy.io.savemat(path, dict.fromkeys("au", np.zeros((huge // 8 // 64, 64))), do_compression=True)


def one_chunk(path, huge):
    with h5py.File(path, "w") as file:
        for name in "au":
            values = np.zeros((huge // 8 // 64, 64))
            file.create_dataset(name, data=values, chunks=values.shape, compression=9)


def one_chunk_zarr(path, huge):
    root = zarr.create_group(path)
    for name in "au":
        root.create_array(name, data=np.zeros((huge // 8 // 64, 64)), chunks=(huge // 8 // 64, 64))


def wide_rows(path, huge):
    with h5py.File(path, "w") as file:
        for name in "au":
            file.create_dataset(name, (40, huge), "f8", chunks=(1, 2**16), compression=9)[:, :8] = 1.0


BOMBS = {
    "data.npz": bomb_npz, "many.npz": many_arrays, "data.mat": bomb_mat, "data.h5": one_chunk,
    "data.zarr": one_chunk_zarr, "wide.h5": wide_rows,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(arrays_file, "SMALL", PATCHED)
    monkeypatch.setattr(formats, "SMALL", PATCHED)
    BOMBS[name](tmp_path / name, 9 * PATCHED // 8)
    report = check_file(tmp_path / name)
    assert report.configuration is None
    assert re.search("more than 200 times its size; save it uncompressed, .* smaller chunks", report.problem)


def test_it_is_refused_before_it_is_unpacked(tmp_path):
    assert arrays_file.SMALL == REAL
    bomb_npz(tmp_path / "data.npz", 9 * REAL // 8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "more than 200 times its size" in check_file(tmp_path / "data.npz").problem
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_an_archive_that_says_less_than_it_holds_is_damaged(tmp_path):
    path = write_npz(tmp_path / "data.npz", arrays())
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 16)}
    )
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("b.npy", header.getvalue() + bytes(16))
    with pytest.raises(
        DatasetError, match=r"data.npz: 'b' has 16 bytes of values; of the shape .* expected: 1407"
    ):
        open_source(path)


def test_what_is_compressed_well_and_small_or_uncompressed_is_read(tmp_path):
    zeros = {"a": np.zeros((2**18, 8)), "u": np.zeros((2**18, 8))}
    np.savez_compressed(tmp_path / "data.npz", **zeros)
    assert open_source(tmp_path / "data.npz").read("a", (slice(0, 3),)).shape == (3, 8)
    assert open_source(write_hdf5(tmp_path / "data.h5", zeros)).shape("a") == (2**18, 8)
