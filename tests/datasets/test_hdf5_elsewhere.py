"""A file has its own numbers: what lies in other files, or was never written, is refused or warned of."""

import re

import h5py
import numpy as np
import pytest
from array_files import COUNT, POINTS, arrays, write_hdf5, write_zarr

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source

NAMES = ("data.h5", "data.mat", "data.nc")


def secret(folder):
    (folder / "other").mkdir(exist_ok=True)
    path = folder / "other/secret"
    path.write_bytes(b"root:x:0:0:" * 400)
    return path


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


SAID = {
    external_storage: r"'u' is stored outside of the file; .* save a copy",
    external_link: r"'u' is a link to linked\.h5; .* give that file as a source, or copy",
    virtual: r"'u' is virtual, in parts of other files; .* give these as a list",
}


def write(name, more, folder):
    path = folder / name
    with h5py.File(path, "w", userblock_size=512 if name.endswith("mat") else 0) as file:
        file["a"] = arrays()["a"]
        more(file, folder)
    if name.endswith("mat"):
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("more", SAID)
def test_numbers_of_other_files_are_refused(name, more, tmp_path):
    path = write(name, more, tmp_path)
    for act in ("shape", "values"):
        with pytest.raises(DatasetError, match=SAID[more]) as error:
            getattr(open_source(path), act)("u")
        assert "\n" not in str(error.value)
    report = check_file(path)
    assert report.configuration is None
    assert re.search(SAID[more], report.problem)


def test_a_group_of_a_sample_that_lies_elsewhere_is_refused(tmp_path):
    write_hdf5(tmp_path / "linked.h5", {"data": np.ones(POINTS)})
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["0000/data"] = np.ones(POINTS)
        file["0001"] = h5py.ExternalLink("linked.h5", "/")
    with pytest.raises(DatasetError, match=r"'0001' is a link to linked\.h5"):
        open_source(tmp_path / "data.h5").shape("0001")
    with pytest.raises(DatasetError, match="there is no variable '0001/data'"):
        open_source(tmp_path / "data.h5").shape("0001/data")


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

    return write("data.mat", half, folder)


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
    assert file.notes == lacks
    if make is not mat_with_gap:
        assert f"In {path.name} {lacks[-1]}." in check_file(path).warnings


def test_chunks_of_zarr_that_are_links_out_of_the_store_are_refused(tmp_path):
    store = write_zarr(tmp_path / "data.zarr", arrays())
    (store / "u/c/0/0").unlink()
    (store / "u/c/0/0").symlink_to(store / "u/c/1/0")
    assert open_source(store).shape("u") == (COUNT, POINTS)
    (store / "u/c/0/0").unlink()
    (store / "u/c/0/0").symlink_to(secret(tmp_path))
    said = (
        r"data\.zarr: u/c/0/0 is a link out of the store; copy the store with what its links lead to: cp -rL"
    )
    with pytest.raises(DatasetError, match=said):
        open_source(store)
    (tmp_path / "named.zarr").symlink_to(write_zarr(tmp_path / "other/real.zarr", arrays()))
    assert open_source(tmp_path / "named.zarr").shape("u") == (COUNT, POINTS)
