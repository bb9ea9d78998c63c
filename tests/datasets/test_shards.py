"""Samples straight from shards, in a folder and in an object store: the numbers of Zarr, or one line."""

import itertools
import os
import struct
from types import SimpleNamespace

import fsspec
import google_crc32c
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, GzipCodec

import resolvent.datasets.storage.layout
import resolvent.datasets.storage.reading
import resolvent.datasets.storage.store
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import link
from resolvent.datasets.storage.layout import Layout, Variable, space_group
from resolvent.datasets.storage.reading import StoredArray, open_store, read_array
from resolvent.datasets.storage.store import create_store, write_shard
from resolvent.solvers.common.grid import Grid

NAME, POINTS = "n16/u", 16
GROUP = space_group(Grid("periodic", POINTS), Variable("u", "u"))
SAMPLES = np.random.default_rng(0).standard_normal((25, POINTS))
SAMPLES[9:14] = np.round(SAMPLES[9:14, :1])  # which Blosc makes smaller
FORMER = {"cname": "zstd", "clevel": 3, "shuffle": "shuffle"}  # how stores were written before


@pytest.fixture(params=["folder", "object store"])
def place(request, tmp_path, server):
    """Where a store is laid out: its path, and a file system that has its files below a root."""
    path = tmp_path / "burgers/0123.zarr"
    if request.param == "folder":
        yield SimpleNamespace(path=path, files=fsspec.filesystem("file"), root=str(path))
    else:
        link(path, "s3://resolvent/shards/burgers/0123.zarr")
        yield SimpleNamespace(path=path, files=server, root="resolvent/shards/burgers/0123.zarr")
        server.rm("resolvent/shards", recursive=True)


@pytest.fixture
def laid_out(place, monkeypatch):
    """Return a function that makes a store of 4 shards of 8 samples, the last of one, in chunks of 1 or 2."""

    def make(dtype="float64", blosc=None, samples=SAMPLES, per_chunk=2):
        size = per_chunk * POINTS * np.dtype(dtype).itemsize
        monkeypatch.setattr(resolvent.datasets.storage.layout, "CHUNK_BYTES", size)
        if blosc:
            written = lambda **_: BloscCodec(**blosc)  # noqa: E731
            monkeypatch.setattr(resolvent.datasets.storage.store, "BloscCodec", written)
        layout = Layout((GROUP,), {"train": 20, "test": 5}, 8, dtype)
        create_store(place.path, layout)
        for shard in range(4):
            here = layout.shard_range(shard)
            write_shard(place.path, layout, shard, [(NAME, samples[here.start : here.stop].astype(dtype))])
        return place

    return make


def at(places, *names):
    """Parametrize a test by the place and by what else is named."""
    return pytest.mark.parametrize(("place", *names), places, indirect=["place"])


# From an object store the same bytes are fetched in another way; what is done with them does not differ.
KINDS = [*itertools.product(["folder"], ["float64", "float32"], [2], [None, FORMER])]
KINDS += [("folder", "float64", 1, None), ("object store", "float32", 1, FORMER)]
ORDERS = [range(25), range(3, 5), range(24, 25), np.array([24, 0, 13, 13, 9, 2, 1]), np.arange(24, -1, -2)]


@at(KINDS, "dtype", "per_chunk", "blosc")
def test_samples_in_any_order_are_those_that_were_written(dtype, per_chunk, blosc, laid_out):
    place = laid_out(dtype, blosc, per_chunk=per_chunk)
    array = StoredArray(place.path, NAME)
    assert (array.shape, array.dtype, array.per_chunk) == ((25, POINTS), np.dtype(dtype), per_chunk)
    for members in ORDERS:
        found = array.read(members)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, SAMPLES[np.asarray(members)].astype(dtype))
        rounded = array.read(members, "float32")
        assert rounded.dtype == "float32"
        np.testing.assert_array_equal(rounded, found.astype("float32"))
    np.testing.assert_array_equal(open_store(place.path)[NAME][:], SAMPLES.astype(dtype))  # Zarr's own reader


def test_an_index_is_read_once(laid_out, monkeypatch):
    array, reads, read = StoredArray(laid_out().path, NAME), [], StoredArray._fetch
    monkeypatch.setattr(
        StoredArray, "_fetch", lambda self, *given: reads.extend(given[0]) or read(self, *given)
    )
    for _ in range(2):
        array.read(np.array([0, 9, 1]))
    assert [first < 0 for _, first, _ in reads] == [True, True, False, False, False, False]


@at([("folder",)])
def test_few_files_stay_open_and_none_behind_the_array(laid_out, monkeypatch):
    def opened():
        return sum("/c/" in os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd"))

    monkeypatch.setattr(resolvent.datasets.storage.reading, "OPEN", 2)
    array = StoredArray(laid_out().path, NAME)
    for _ in range(2):
        np.testing.assert_array_equal(array.read(range(25)), SAMPLES)
        assert opened() == 2
    del array
    assert opened() == 0


SIZE = 16 * 4 + 4  # of an index: four chunks, and a checksum


def indexed(content, number, first, length, size=SIZE):
    """A shard whose index says where its chunk `number` is, and whose checksum is right."""
    index = bytearray(content[-size:-4])
    struct.pack_into("<QQ", index, 16 * number, first, length)
    return content[:-size] + index + struct.pack("<I", google_crc32c.value(bytes(index)))


def chunk_of(content, number, size=SIZE):
    first, length = struct.unpack_from("<QQ", content[-size:], 16 * number)
    return first, content[first : first + length]


def headed(content, place, value, size=SIZE):
    """A shard whose first chunk has another number at `place` of its header, and whose checksum is right."""
    first, chunk = chunk_of(content, 0, size)
    changed = bytearray(chunk[:-4])
    struct.pack_into("<I", changed, place, value)
    changed += struct.pack("<I", google_crc32c.value(bytes(changed)))
    return content[:first] + changed + content[first + len(chunk) :]


def flipped(content, place):
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


DAMAGED = {
    "a flipped byte in a chunk": (lambda c: flipped(c, chunk_of(c, 0)[0] + 30), "a chunk does not match"),
    "a flipped index byte": (
        lambda c: flipped(c, -20),
        "index of shard 0 does not match its checksum",
    ),
    "an empty shard": (lambda c: b"", "c/0/0 ends too early"),
    "less than an index": (lambda c: c[-20:], "c/0/0 ends too early"),
    "the first half": (lambda c: c[: len(c) // 2], "index of shard 0 does not match its checksum"),
    "the end": (lambda c: c[-SIZE:], "is damaged"),
    "a chunk behind the end": (lambda c: indexed(c, 0, 2**40, 100), "c/0/0 ends too early"),
    "a chunk across the end": (lambda c: indexed(c, 0, len(c) - 50, 100), "c/0/0 ends too early"),
    "a chunk behind all files": (lambda c: indexed(c, 0, 2**63, 100), "index of shard 0 is invalid"),
    "a chunk that is too long": (lambda c: indexed(c, 0, 0, 2**50), "index of shard 0 is invalid"),
    "a chunk without a header": (lambda c: indexed(c, 0, 0, 19), "index of shard 0 is invalid"),
    "a place without a length": (lambda c: indexed(c, 0, 2**64 - 1, 0), "index of shard 0 is invalid"),
    "no chunk": (lambda c: indexed(c, 0, 2**64 - 1, 2**64 - 1), f"has unwritten samples in '{NAME}'"),
    "fewer numbers": (lambda c: headed(c, 4, 8), "the length of a chunk does not match its header"),
    "more numbers": (lambda c: headed(c, 4, 2**31 - 1), "the length of a chunk does not match its header"),
    "more bytes": (lambda c: headed(c, 12, 2**31 - 1), "the length of a chunk does not match its header"),
    "copied numbers": (lambda c: headed(c, 0, 0x08020102), "the length of a chunk does not match its header"),
    "too large blocks": (lambda c: headed(c, 8, 2**31 - 1), "is damaged"),
}


FETCHED = ("a flipped byte in a chunk", "an empty shard", "less than an index", "a chunk behind the end")


@at([("folder", one) for one in DAMAGED] + [("object store", one) for one in FETCHED], "damage")
def test_a_damaged_or_hostile_shard_is_one_line_with_the_remedy(damage, laid_out):
    place = laid_out(blosc=FORMER, samples=np.round(SAMPLES))
    change, said = DAMAGED[damage]
    shard = f"{place.root}/{NAME}/c/0/0"
    place.files.pipe_file(shard, change(place.files.cat_file(shard)))
    with pytest.raises(DatasetError, match=rf"0123\.zarr .*{said}.*; regenerate it with snake") as raised:
        read_array(place.path, NAME, range(20))
    assert len(str(raised.value).splitlines()) == 1


PLAIN = {  # of the first of 8 chunks of a sample, as it is
    "a flipped byte": (lambda c: flipped(c, 30), "a chunk does not match its checksum"),
    "a flipped byte of the header": (lambda c: flipped(c, 0), "a chunk does not match its checksum"),
    "a flipped checksum": (lambda c: flipped(c, 16 + 8 * POINTS), "a chunk does not match its checksum"),
    "other numbers": (lambda c: headed(c, 4, 8, 132), "the length of a chunk does not match its header"),
    "other bytes": (lambda c: headed(c, 12, 8, 132), "the length of a chunk does not match its header"),
    "no numbers as they are": (
        lambda c: headed(c, 0, 0x08000102, 132),
        "is damaged in",
    ),
    "a chunk across the end": (lambda c: indexed(c, 0, len(c) - 50, 148, 132), "c/0/0 ends too early"),
}


@at([("folder", one) for one in PLAIN] + [("object store", "a chunk across the end")], "damage")
def test_damage_of_samples_that_are_not_compressed_is_one_line(damage, laid_out):
    place = laid_out(per_chunk=1)
    change, said = PLAIN[damage]
    shard = f"{place.root}/{NAME}/c/0/0"
    place.files.pipe_file(shard, change(place.files.cat_file(shard)))
    with pytest.raises(DatasetError, match=rf"0123\.zarr .*{said}.*; regenerate it with snake"):
        read_array(place.path, NAME, np.array([4, 0]))
    np.testing.assert_array_equal(read_array(place.path, NAME, range(1, 3)), SAMPLES[1:3])


def test_a_missing_shard_among_others_is_named(laid_out):
    place = laid_out()
    place.files.rm_file(f"{place.root}/{NAME}/c/2/0")
    with pytest.raises(DatasetError, match=f"lacks shard 2 of '{NAME}'; regenerate it with snakemake"):
        read_array(place.path, NAME, range(25))
    np.testing.assert_array_equal(read_array(place.path, NAME, range(16)), SAMPLES[:16])


LAYOUTS = {
    "other codecs": {"compressors": [GzipCodec()]},
    "no codecs": {"compressors": None},
    "parts of samples": {"chunks": (2, 8)},
    "no shards": {"shards": None},
    "integers": {"dtype": "int64"},
    "keys of another kind": {"chunk_key_encoding": {"name": "v2", "separator": "."}},
}


@pytest.mark.parametrize("what", LAYOUTS)
def test_an_array_of_another_layout_is_refused(what, tmp_path):
    root = zarr.create_group(tmp_path / "burgers.zarr", zarr_format=3)
    given = {"shape": (24, POINTS), "chunks": (2, POINTS), "shards": (8, POINTS), "dtype": "float64"}
    root.create_group("n16").create_array("u", **given | LAYOUTS[what])
    with pytest.raises(DatasetError, match=f"has no array of samples '{NAME}'"):
        StoredArray(tmp_path / "burgers.zarr", NAME)


@at([("folder",)])
def test_a_disk_that_fails_is_one_line(laid_out, monkeypatch):
    def fail(*_):
        raise OSError("Input/output error")

    path = laid_out().path
    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(DatasetError, match=rf"is damaged in '{NAME}' \(Input/output error\); regenerate it"):
        read_array(path, NAME, range(2))
