"""Files that cannot be imported: each is one line that names the file, what is expected and what was found.

Nothing is left of such an import: planning refuses the dataset before anything is written, or the job that
reads it ends before a shard is.
"""

import pickle
import re
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
import zarr
from array_files import COUNT, POINTS, arrays, write_hdf5, write_npz, write_zarr

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.storage.generation import generate_shard
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan

SETTINGS = {
    "equation": "arrays", "input": "a", "target": "u", "axes": ["sample", "x"], "finest": POINTS,
    "grid": "periodic", "samples": {"train": 8, "validation": 2, "test": 3},
}  # fmt: skip
EVOLUTION = {"input": "u", "target": "u", "axes": ["sample", "time", "x"]}
SERIES = np.random.default_rng(0).normal(size=(COUNT, 5, POINTS))


class Command:
    """What runs a command when it is unpickled."""

    def __reduce__(self):
        return Path("ran").touch, ()


def npz(**changes):
    """Return a function that writes an .npz with these arrays in the place of others."""
    values = {name: one for name, one in (arrays() | changes).items() if one is not None}
    return lambda folder: write_npz(folder / "data.npz", values)


def hdf5(**changes):
    return lambda folder: write_hdf5(folder / "data.h5", arrays() | changes)


def with_nan(folder):
    values = arrays()
    values["u"][2, 5] = np.nan
    return write_npz(folder / "data.npz", values)


def written(name: str, content: bytes):
    def write(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return write


def truncated(write, part: float):
    def write_part(folder):
        path = write(folder)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(part * len(whole))])
        return path

    return write_part


def npy_of_objects(folder):
    np.save(folder / "data.npy", np.array([Command(), 1], dtype=object), allow_pickle=True)
    return folder / "data.npy"


def group_of_hdf5(folder):
    with h5py.File(folder / "data.h5", "w") as file:
        file["a/values"] = arrays()["a"]
        file["u"] = arrays()["u"]
    return folder / "data.h5"


def damaged_chunk(folder):
    noise = np.random.default_rng(0).normal(size=(COUNT, POINTS))
    path = write_hdf5(folder / "data.h5", {"a": noise, "u": noise**2})
    with h5py.File(path) as file:
        place = file["u"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[place.byte_offset + 8 : place.byte_offset + place.size - 8] = bytes(place.size - 16)
    path.write_bytes(content)
    return path


def zarr_without(*names):
    def write(folder):
        store = write_zarr(folder / "data.zarr", arrays())
        for name in names:
            (store / name).unlink()
        return store

    return write


def damaged_zarr(folder):
    store = write_zarr(folder / "data.zarr", arrays())
    chunk = store / "u/c/0/0"
    chunk.write_bytes(chunk.read_bytes()[:9])
    return store


def half_written_zarr(folder):
    root = zarr.create_group(folder / "data.zarr")
    for name, values in arrays().items():
        root.create_array(name, shape=values.shape, chunks=(2, POINTS), dtype="f8", fill_value=np.nan)
        root[name][:4] = values[:4]
    return folder / "data.zarr"


def torch_with_code(folder):
    torch.save({"a": torch.zeros(3), "code": Command()}, folder / "data.pt")
    return folder / "data.pt"


def broken_link(folder):
    (folder / "data.npz").symlink_to(folder / "moved.npz")
    return folder / "data.npz"


def a_pipe(folder):
    import os

    os.mkfifo(folder / "data.npz")
    return folder / "data.npz"


def archive(folder):
    with zipfile.ZipFile(folder / "data.npz", "w") as file:
        file.writestr("table.csv", "a,u\n1,2\n")
    return folder / "data.npz"


TURNING = np.abs(np.linspace(-1, 1, POINTS))
UNEVEN = np.linspace(0, 1, POINTS) ** 2
GROUPS = {"variable": "part", "train": [0], "validation": [1], "test": [2]}
# What is wrong: a function that writes the file into a folder, changes of the settings, and what is said.
BAD = {
    "missing": (lambda folder: folder / "no.npz", {}, r"does not exist; paths are from the working folder"),
    "empty": (written("data.npz", b""), {}, r"data.npz: is empty; expected: NumPy"),
    "truncated npz": (truncated(npz(), 0.6), {}, r"not a whole .npz or .pt file \(BadZipFile"),
    "truncated HDF5": (truncated(hdf5(), 0.6), {}, r"not a whole HDF5 file \(OSError: .*truncated"),
    "truncated npy": (truncated(lambda f: _npy(f), 0.6), {"input": "array[0]", "target": "array[1]",
        "axes": ["sample", "channel", "x"]}, r"not a whole .npy"),
    "text": (written("data.npz", b"a,u\n1,2\n"), {}, r"is text, such as CSV; save arrays: np.savez\("),
    "of no format": (written("data.npz", b"\x00a,u"), {}, r"begins with b'.x00a,u', no format that is"),
    "an archive": (archive, {}, r"is an archive with table.csv; unpack it first"),
    "a pickle": (written("data.pt", pickle.dumps({"a": 1})), {}, r"is a pickle, which can run code"),
    "a folder": (lambda folder: folder, {}, r"is a folder without files of data; expected"),
    "a broken link": (broken_link, {}, r"is a link to .*moved.npz, which does not exist"),
    "a pipe": (a_pipe, {}, r"is no ordinary file"),
    "Zarr without metadata": (zarr_without("zarr.json"), {}, r"is a folder; expected: .* zarr.json"),
    "Zarr without an array's": (zarr_without("u/zarr.json"), {}, r"there is no variable 'u'; found: a$"),
    "a damaged chunk of Zarr": (damaged_zarr, {}, r"data.zarr: variable 'u' cannot be read"),
    "chunks never written": (half_written_zarr, {}, r"variable 'a' is not finite in row 5 of 14"),
    "a damaged chunk of HDF5": (damaged_chunk, {}, r"data.h5: variable 'u' cannot be read \(OSError"),
    "a group of HDF5": (group_of_hdf5, {}, r"'a' is a group with values; expected"),
    "torch with code": (torch_with_code, {}, r"has more than tensors, and could run code"),
    "pickled objects in npz": (npz(u=np.array([Command()] * COUNT, dtype=object)), {},
        r"'u' is an array of Python objects; expected: .*; bring all samples to one length, and save"),
    "pickled objects in npy": (npy_of_objects, {"input": "array", "target": "array"}, r"function twice"),
    "words": (npz(u=np.full((COUNT, POINTS), "x")), {}, r"variable 'u' is text; expected: an array of real"),
    "NaN": (with_nan, {}, r"variable 'u' is not finite in row 3 of 14; .* fill"),
    "a wrong name": (npz(u=None, v=arrays()["u"]), {}, r"there is no variable 'u'; found: a, v"),
    "other points": (npz(u=np.zeros((COUNT, 8))), {}, r"\(14, 8\); .*expected: 16 each; .* set finest: 8"),
    "a number of each sample": (npz(kappa=np.ones(COUNT)), {"input": ["a", "kappa"]},
        r"'kappa' has the shape \(14,\); .* of one number for each sample, axes: {kappa: \[sample\], …}"),
    "other dimensions": (npz(u=np.zeros((COUNT, 4, 4))), {}, r"\(14, 4, 4\); expected: 2 axes"),
    "unequal sides": (npz(a=np.zeros((COUNT, 16, 8)), u=np.zeros((COUNT, 16, 8))),
        {"axes": ["sample", "y", "x"]}, r"it has 16 × 8 points; expected: 16 each; .* crop or interpolate"),
    "transposed": (npz(a=arrays()["a"].T, u=arrays()["u"].T), {}, r"'sample' has 16: is the"),
    "other numbers of samples": (npz(u=arrays()["u"][:9]), {}, r"'a' has 14 samples, 'u' 9"),
    "no samples": (npz(a=np.zeros((0, POINTS)), u=np.zeros((0, POINTS))), {}, r"'a' has 0 samples; expected"),
    "too few samples": (npz(), {"samples": {"train": 20}}, r"has 14 samples; samples asks for 220"),
    "no such channel": (npz(a=np.zeros((COUNT, 2, POINTS)), u=np.zeros((COUNT, 2, POINTS))),
        {"input": "a[0]", "target": "u[2]", "axes": ["sample", "channel", "x"]},
        r"has 2 channels; 'u\[2\]' asks for number 2, counted from 0; accepted: up to 1"),
    "coordinates that turn": (npz(x=TURNING), {}, r"'x' neither rise nor fall throughout: sort the points"),
    "coordinates that are uneven": (npz(x=UNEVEN), {}, r"'x' are not uniform: interpolate the functions to"),
    "coordinates of another grid": (npz(x=np.linspace(0, 1, POINTS)), {}, r"expected: those of periodic"),
    "coordinates that are missing": (npz(), {"coordinates": {"x": "xs"}}, r"there is no variable 'xs'"),
    "rows that overlap": (npz(), {"rows": {"train": [0, 9], "validation": [9, 11], "test": [8, 14]}},
        r"rows.train \[0, 9\] and rows.test \[8, 14\] overlap; expected: no row in two splits"),
    "rows behind the end": (npz(), {"rows": {"train": [0, 8], "validation": [8, 10], "test": [10, 15]}},
        r"rows.test is \[10, 15\]; it has 14 rows"),
    "no variable of groups": (npz(), {"groups": GROUPS}, r"there is no variable 'part'; found: a, u"),
    "groups without samples": (npz(part=np.zeros(COUNT)), {"groups": GROUPS},
        r"0 rows have a 'part' in \[1.0\]; samples asks for 2 \(validation\); found: 0.0"),
    "groups of another length": (npz(part=np.zeros(3)), {"groups": GROUPS}, r"'part' has 3 values for 14"),
    "a time behind the end": (hdf5(u=SERIES), EVOLUTION | {"target_times": [5]},
        r"has 5 times; target_times asks for number 5, counted from 0; accepted: up to 4"),
    "windows in two splits": (hdf5(u=SERIES[0]), EVOLUTION | {"axes": ["time", "x"], "window_every": 1,
        "target_times": [1], "samples": {"train": 2, "validation": 1, "test": 1}},
        r"expected: no time in two splits; ask for fewer samples"),
    "rows of windows in two splits": (hdf5(u=np.concatenate([SERIES[0], SERIES[0]])), EVOLUTION | {
        "axes": ["time", "x"], "window_every": 2, "target_times": [2],
        "rows": {"train": [0, 2], "validation": [2, 3], "test": [3, 4]},
        "samples": {"train": 2, "validation": 1, "test": 1}},
        r"windows of train reach to time 4, those of validation begin at 4; expected: no time in two splits"),
    "an address that is not there": (lambda folder: "http://127.0.0.1:9/data.h5", {},
        r"the address http://127.0.0.1:9/data.h5 cannot be read"),
    "an unknown protocol": (lambda folder: "nothing://bucket/data.h5", {}, r"data.h5 cannot be opened"),
    "credentials": (lambda folder: "http://me:secret@127.0.0.1/data.h5", {}, r"credentials are environment"),
}  # fmt: skip


def _npy(folder):
    np.save(folder / "data.npy", np.zeros((COUNT, 2, POINTS)))
    return folder / "data.npy"


def import_first_shard(content: dict) -> None:
    """Plan the import that a configuration asks for, and run its first job."""
    task = Plan(load_configuration(content)).datasets["mine"].settings.task()
    generate_shard(task, Path("data/mine.zarr"), 0, Path("data/0.json"), "code")


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_one_line_and_nothing_is_imported(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write, changes, said = BAD[case]
    (tmp_path / "files").mkdir()
    source = str(write(tmp_path / "files"))
    dataset = SETTINGS | {"source": source} | changes
    content = {"name": "test", "datasets": {"mine": dataset}, "models": {}, "experiments": {}}
    with pytest.raises((ConfigurationError, DatasetError)) as error:
        import_first_shard(content)
    line = str(error.value)
    assert re.search(said, line), line
    assert "\n" not in line
    assert "secret" not in line
    if "twice" not in said and "credentials" not in said:
        assert source in line
    assert not Path("data/0.json").exists()
    assert not list(Path("data").glob("*/n16/[au]/c/*"))  # no chunk of samples
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("case", ["missing", "truncated HDF5", "torch with code", "NaN", "no samples"])
def test_the_check_reports_them_without_an_error(case, tmp_path):
    report = check_file(BAD[case][0](tmp_path))
    assert report.configuration is None
    assert str(tmp_path) in report.problem
    assert "\n" not in report.problem
