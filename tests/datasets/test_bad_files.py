"""Files that cannot be imported: one line names the file, what is expected and what was found."""

import gzip
import io
import os
import pickle
import re
import resource
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
import torch
import zarr
from array_files import COUNT, POINTS, SETTINGS, arrays, write_hdf5, write_npz, write_zarr

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers import arrays_file, formats
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.storage.generation import generate_shard
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan

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
    values = {name: one for name, one in (arrays() | changes).items() if one is not None}
    return lambda folder: write_hdf5(folder / "data.h5", values)


def written(name: str, content: bytes):
    def write(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return write


def truncated(write):
    def write_part(folder):
        path = write(folder)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(0.6 * len(whole))])
        return path

    return write_part


def npy(values):
    def write(folder):
        np.save(folder / "data.npy", values, allow_pickle=True)
        return folder / "data.npy"

    return write


def damaged_chunk(folder):
    noise = np.random.default_rng(0).normal(size=(COUNT, POINTS))
    path = write_hdf5(folder / "data.h5", {"a": noise, "u": noise**2})
    with h5py.File(path) as file:
        place = file["u"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[place.byte_offset + 8 : place.byte_offset + place.size - 8] = bytes(place.size - 16)
    path.write_bytes(content)
    return path


def zarr_with(act, name: str):
    """Return a function that writes a store, and does something to one of its files."""

    def write(folder):
        store = write_zarr(folder / "data.zarr", arrays())
        act(store / name)
        return store

    return write


def half_written_zarr(folder):
    root = zarr.create_group(folder / "data.zarr")
    for name, values in arrays().items():
        root.create_array(name, shape=values.shape, chunks=(2, POINTS), dtype="f8", fill_value=np.nan)
        root[name][:4] = values[:4]
    return folder / "data.zarr"


def torch_with_code(folder):
    torch.save({"a": torch.zeros(3), "code": Command()}, folder / "data.pt")
    return folder / "data.pt"


def made(name: str, act):
    """Return a function that makes something at a path that is not a regular file."""

    def make(folder):
        act(folder / name)
        return folder / name

    return make


def archive(folder):
    with zipfile.ZipFile(folder / "data.npz", "w") as file:
        file.writestr("table.csv", "a,u\n1,2\n")
    return folder / "data.npz"


GAP = arrays()["u"]
GAP[2, 5] = np.nan
TURNING = np.abs(np.linspace(-1, 1, POINTS))
UNEVEN = np.linspace(0, 1, POINTS) ** 2
GROUPS = {"variable": "part", "train": [0], "validation": [1], "test": [2]}
# What is wrong: a function that writes the file into a folder, changes of the settings, and what is said.
BAD = {
    "missing": (lambda folder: folder / "no.npz", {}, r"does not exist; paths are relative to the work"),
    "empty": (written("data.npz", b""), {}, r"data.npz: is empty; expected: NumPy"),
    "truncated npz": (truncated(npz()), {}, r"not a complete .npz or .pt file \(BadZipFile"),
    "truncated HDF5": (truncated(hdf5()), {}, r"not a complete HDF5 file \(OSError: .*truncated"),
    "truncated npy": (truncated(npy(np.zeros((COUNT, 2, POINTS)))),
        {"input": "array[0]", "target": "array[1]",
        "axes": ["sample", "channel", "x"]}, r"not a complete .npy"),
    "a table": (written("data.npz", b"a,u\n1,2\n"), {}, r"'a' has the shape \(1,\); expected: 2 axes"),
    "of no format": (written("data.npz", b"\x00a,u"), {}, r"unknown format .it begins with b'.x00a,u'"),
    "an archive": (archive, {}, r"is an archive with table.csv; unpack it first"),
    "a pickle": (written("data.pt", pickle.dumps({"a": 1})), {}, r"is a pickle, which can run code"),
    "a folder": (lambda folder: folder, {}, r"is a folder without data files; expected"),
    "a broken link": (made("data.npz", lambda path: path.symlink_to("moved.npz")), {},
        r"data.npz does not exist"),
    "a pipe": (made("data.npz", os.mkfifo), {}, r"is not a regular file"),
    "Zarr without metadata": (zarr_with(Path.unlink, "zarr.json"), {},
        r"is a folder; expected: .* zarr.json"),
    "Zarr without an array's": (zarr_with(Path.unlink, "u/zarr.json"), {},
        r"there is no variable 'u'; found: a$"),
    "a damaged chunk of Zarr": (zarr_with(lambda path: path.write_bytes(b"nine bytes"), "u/c/0/0"), {},
        r"data.zarr: variable 'u' cannot be read"),
    "chunks never written": (half_written_zarr, {}, r"variable 'a' is not finite in row 5 of 14"),
    "a damaged chunk of HDF5": (damaged_chunk, {}, r"data.h5: variable 'u' cannot be read \(OSError"),
    "a group of HDF5": (hdf5(a=None, **{"a/values": arrays()["a"]}), {},
        r"'a' is a group with values; expected"),
    "torch with code": (torch_with_code, {}, r"contains more than tensors, which could run code"),
    "pickled objects in npz": (npz(u=np.array([Command()] * COUNT, dtype=object)), {},
        r"'u' is an array of Python objects; expected: .*; bring all samples to one length, and save"),
    "pickled objects in npy": (npy(np.array([Command(), 1], dtype=object)),
        {"input": "array", "target": "array"}, r"function twice"),
    "words": (npz(u=np.full((COUNT, POINTS), "x")), {}, r"variable 'u' is text; expected: an array of real"),
    "NaN": (npz(u=GAP), {}, r"variable 'u' is not finite in row 3 of 14; .* fill"),
    "a wrong name": (npz(u=None, v=arrays()["u"]), {}, r"there is no variable 'u'; found: a, v"),
    "other points": (npz(u=np.zeros((COUNT, 8))), {},
        r"\(14, 8\), with x: 8; expected: x: 16; set finest: {x: 8}"),
    "a number of each sample": (npz(kappa=np.ones(COUNT)), {"input": ["a", "kappa"]},
        r"'kappa' has the shape \(14,\); .* for one number per sample {kappa: \[sample\], …}"),
    "other dimensions": (npz(u=np.zeros((COUNT, 4, 4))), {}, r"\(14, 4, 4\); expected: 2 axes"),
    "unequal sides": (npz(a=np.zeros((COUNT, 16, 8)), u=np.zeros((COUNT, 16, 8))),
        {"axes": ["sample", "y", "x"]},
        r"with y: 16, x: 8; expected: y: 16, x: 16; set finest: {y: 16, x: 8}"),
    "transposed": (npz(a=arrays()["a"].T, u=arrays()["u"].T), {},
        r"expected: x: 16; .* correct the order of axes"),
    "other numbers of samples": (npz(u=arrays()["u"][:9]), {}, r"'a' has 14 samples, 'u' 9"),
    "no samples": (npz(a=np.zeros((0, POINTS)), u=np.zeros((0, POINTS))), {}, r"'a' has 0 samples; expected"),
    "too few samples": (npz(), {"samples": {"train": 20}}, r"has 14 samples; samples asks for 220"),
    "no such channel": (npz(a=np.zeros((COUNT, 2, POINTS)), u=np.zeros((COUNT, 2, POINTS))),
        {"input": "a[0]", "target": "u[2]", "axes": ["sample", "channel", "x"]},
        r"has 2 channels; 'u\[2\]' asks for number 2, counted from 0; accepted: up to 1"),
    "coordinates that turn": (npz(x=TURNING), {}, r"'x' are not monotone: sort the points"),
    "coordinates that are uneven": (npz(x=UNEVEN), {}, r"'x' are not evenly spaced: set grid: uneven"),
    "coordinates of another grid": (npz(x=np.linspace(0, 1, POINTS)), {"length": 1.0},
        r"expected: grid: periodic, length: 1; as periodic they have length: 1.06"),
    "no axis of samples": (npz(a=np.ones(POINTS), u=np.ones(POINTS)), {"axes": ["x"]},
        r"no variable has a sample axis; set window_every .* or name more files in source"),
    "coordinates that are missing": (npz(), {"coordinates": {"x": "xs"}}, r"there is no variable 'xs'"),
    "no variable of groups": (npz(), {"groups": GROUPS}, r"there is no variable 'part'; found: a, u"),
    "groups without samples": (npz(part=np.zeros(COUNT)), {"groups": GROUPS},
        r"has 0 samples with 'part' in \[1.0\]; samples asks for 2 \(validation\)"),
    "groups of another length": (npz(part=np.zeros(3)), {"groups": GROUPS}, r"'part' has 3 values for 14"),
    "a time behind the end": (hdf5(u=SERIES), EVOLUTION | {"target_times": [5]},
        r"has 5 times; target_times asks for number 5, counted from 0; accepted: up to 4"),
    "windows in two splits": (hdf5(u=SERIES[0]), EVOLUTION | {"axes": ["time", "x"], "window_every": 1,
        "target_times": [1], "samples": {"train": 2, "validation": 1, "test": 1}},
        r"expected: no time in two splits; ask for fewer samples"),
    "an address that is not there": (lambda folder: "http://127.0.0.1:9/data.h5", {},
        r"the address http://127.0.0.1:9/data.h5 cannot be read"),
    "an unknown protocol": (lambda folder: "nothing://bucket/data.h5", {}, r"data.h5 cannot be read"),
    "credentials": (lambda folder: "http://me:secret@127.0.0.1/data.h5", {}, r"set credentials as env"),
}  # fmt: skip


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


PATCHED, REAL = 2**20, 2**28  # bytes from which on nothing is unpacked: in most tests, and in earnest


def tar(path):
    np.save(path.with_suffix(".npy"), np.ones(3))
    with tarfile.open(path, "w") as file:
        file.add(path.with_suffix(".npy"), "u.npy")


def torch_script(path):
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(path))


def exported(path):
    with zipfile.ZipFile(path, "w") as file:  # as torch.export.save has it
        file.writestr("model/archive_format", "pt2")


def zipped_store(path):
    with zipfile.ZipFile(path, "w") as file:
        for one in write_zarr(path.with_name("store.zarr"), arrays()).rglob("*"):
            file.write(one, one.relative_to(path.parent / "store.zarr"))


FORMATS = {
    "data.npy.gz": (lambda path: path.write_bytes(gzip.compress(b"one")), r"is compressed by gzip.*: gunzip"),
    "data.zst": (lambda path: path.write_bytes(b"\x28\xb5\x2f\xfd0"), r"has an unknown format .*expected: N"),
    "data.tar": (tar, r"is a tar archive.*: tar -xf"),
    "data.csv": (lambda path: path.write_text("a,u\n1,x\n"), r"columns u of the CSV .* not numbers.*savez\("),
    "data.hdf": (lambda path: path.write_bytes(b"\x0e\x03\x13\x01" * 9), r"is HDF4.*: h4toh5"),
    "data.parquet": (lambda path: path.write_bytes(b"PAR1" * 9), r"is a Parquet table.*: np.savez\("),
    "script.pt": (torch_script, r"is a PyTorch program; .* torch.save"),
    "model.pt2": (exported, r"is a PyTorch program; .* torch.save"),
    "store.zip": (zipped_store, r"is an archive with .*: unzip"),
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


def test_a_tensor_that_repeats_its_numbers_is_refused_before_it_is_copied(tmp_path):
    numbers = torch.zeros(1).expand(10**6, 10**6)
    torch.save({"a": numbers, "u": numbers}, tmp_path / "data.pt")
    assert (tmp_path / "data.pt").stat().st_size < 4096
    report = check_file(tmp_path / "data.pt")
    assert report.configuration is None
    assert "a tensor that repeats its numbers (expanded)" in report.problem


@pytest.mark.slow
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
    with pytest.raises(DatasetError, match=r"data.npz: 'b' has 16 bytes of values; expected: 1407"):
        open_source(path)


def test_what_is_compressed_well_and_small_or_uncompressed_is_read(tmp_path):
    zeros = {"a": np.zeros((2**18, 8)), "u": np.zeros((2**18, 8))}
    np.savez_compressed(tmp_path / "data.npz", **zeros)
    assert open_source(tmp_path / "data.npz").read("a", (slice(0, 3),)).shape == (3, 8)
    assert open_source(write_hdf5(tmp_path / "data.h5", zeros)).shape("a") == (2**18, 8)
