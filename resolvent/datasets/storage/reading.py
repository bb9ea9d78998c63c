"""Read samples of a store in any order, directly from its shards: the Zarr library takes 2 ms per chunk.

A shard is a file or object with consecutive chunks, followed by an index of two integers per chunk (first
byte and length) and a checksum (codec "sharding_indexed" of the Zarr specification, version 3). The index is
read once; after that, a chunk is one read of a range of bytes, from a file or an object.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numcodecs import blosc
from numpy.typing import DTypeLike
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec

from resolvent.common.cards import Receipt
from resolvent.common.records import read_record
from resolvent.datasets.errors import DatasetError, damaged, gone, in_one_line
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.object_store import opened, ranges_of

# Zarr raises any of these for metadata that it has not written itself.
UNREADABLE = ValueError, LookupError, AttributeError, TypeError, AssertionError, NotImplementedError
CHECKSUM = 4  # bytes of the checksum after a chunk or an index
HEADER = 16  # bytes of Blosc's header, which is also the most that Blosc adds
COPIED = 2  # flag in Blosc's header for incompressible numbers, which are stored uncompressed
OPEN = 32  # number of files kept open for each array
UNWRITTEN = 2**64 - 1  # marks a missing chunk in an index
Part = tuple[int, int, int]  # shard, first byte (from the end if negative), number of bytes


class _File:
    """A file open for reading, closed when it is no longer referenced."""

    def __init__(self, folder: str, name: str):
        self.descriptor = -1
        self.descriptor = os.open(f"{folder}/{name}", os.O_RDONLY)
        self.size = os.fstat(self.descriptor).st_size

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


class StoredArray:
    """The array of samples `name` ("n512/u") of the store at `path`, with `per_chunk` samples in a chunk.

    Indices and receipts of shards are read only once, since finished stores do not change. Raises
    `DatasetError` if the array is missing or damaged, or does not have the layout of `create_store`.
    """

    def __init__(self, path: Path | str, name: str):
        self.path, self.name, self.place = path, name, located(path)
        root = open_store(path)
        try:
            array = root[name]
        except (*UNREADABLE, OSError) as error:
            raise damaged(self.place, f"has no readable array '{name}' ({in_one_line(error)})") from error
        if not isinstance(array, zarr.Array) or not _is_of_samples(array):
            raise damaged(self.place, f"has no array of samples '{name}'")
        assert array.shards is not None
        self.shape, self.dtype = array.shape, array.dtype
        self.per_chunk, self.chunks_per_shard = array.chunks[0], array.shards[0] // array.chunks[0]
        self.indices: dict[int, np.ndarray] = {}
        self.receipts: dict[int, list[int]] = {}
        self.added: dict[bytes, int] = {}
        self.most = self.per_chunk * math.prod(self.shape[1:]) * self.dtype.itemsize + HEADER + CHECKSUM
        self.file = lru_cache(OPEN)(partial(_File, f"{self.place}/{name}"))

    def read(self, members: range | np.ndarray, dtype: DTypeLike | None = None) -> np.ndarray:
        """Read the samples `members`, in this order, in the stored or given precision.

        Raises `DatasetError` if a chunk is missing or damaged, or a sample does not match its receipt, if
        there is one: this also detects an intact file of another shard.
        """
        if self.shape[0] <= (last := max(members := np.asarray(members).tolist())):
            how = f"has {self.shape[0]} samples in '{self.name}'; requested: number {last}"
            raise damaged(self.place, how)
        values = np.empty((len(members), *self.shape[1:]), dtype or self.dtype)
        rows = values.reshape(len(members), -1)
        wanted: dict[int, list[int]] = {}  # places in `members` of the samples of each chunk
        for place, member in enumerate(members):
            wanted.setdefault(member // self.per_chunk, []).append(place)
        self._open({chunk // self.chunks_per_shard for chunk in wanted})
        parts = [self._part(chunk) for chunk in wanted]
        targets: list[np.ndarray | None] = [None] * len(parts)
        if self.per_chunk == 1 and isinstance(self.place, Path) and rows.dtype == self.dtype:
            for number, (places, (_, _, length)) in enumerate(zip(wanted.values(), parts, strict=True)):
                if len(places) == 1 and length == self.most:  # uncompressed: read into place without a copy
                    targets[number] = rows[places[0]].view(np.uint8)
        unpacked = np.empty((self.per_chunk, rows.shape[1]), self.dtype)
        contents = self._fetch(parts, targets)
        for places, target, content in zip(wanted.values(), targets, contents, strict=True):
            numbers, crc = self._unpack(content, target, unpacked)
            for place in places:
                sample = numbers[members[place] % self.per_chunk]
                self._check(members[place], sample, checksum(sample) if crc is None else crc)
                if target is None:
                    rows[place] = sample
        return values

    def _open(self, shards: set[int]) -> None:
        """Read the indices and receipts of these shards, unless they are known."""
        new = sorted(shards - self.indices.keys())
        size = 16 * self.chunks_per_shard + CHECKSUM
        parts = [(shard, -size, size) for shard in new]
        for shard, content in zip(new, self._fetch(parts, [None] * len(parts)), strict=True):
            self._hold(google_crc32c.value(content[:-CHECKSUM]), content, f"the index of shard {shard}")
            receipt = Path(self.path).with_suffix(".shards") / f"{shard}.json"
            # A copy of a dataset may have only the store and its card.
            checksums = read_record(receipt, Receipt)["checksums"] if receipt.exists() else {}
            self.receipts[shard] = checksums.get(self.name, [])
            self.indices[shard] = content[:-CHECKSUM].view("<u8").reshape(-1, 2).copy()

    def _key(self, shard: int) -> str:
        return "/".join(["c", str(shard), *["0"] * (len(self.shape) - 1)])

    def _part(self, chunk: int) -> Part:
        """Return the location of a chunk. Checks the index, which may come from a hostile file."""
        shard, number = divmod(chunk, self.chunks_per_shard)
        first, length = self.indices[shard][number].tolist()
        if first == length == UNWRITTEN:
            raise damaged(self.place, f"has unwritten samples in '{self.name}'")
        if not (HEADER + CHECKSUM < length <= self.most and first < 2**62):
            raise self._damaged(f"the index of shard {shard} is invalid")
        return shard, first, length

    def _fetch(self, parts: list[Part], targets: list[np.ndarray | None]) -> Iterator[np.ndarray]:
        """Yield the bytes of every part, valid until the next iteration.

        If a chunk has a target, its numbers are read into it, and only header and checksum are yielded.
        """
        if isinstance(self.place, str):
            named = [(self._key(shard), first, length) for shard, first, length in parts]
            contents = ranges_of(f"{self.place}/{self.name}", named)
        else:
            contents = self._ranges_of_files(parts, targets)
        try:
            for (shard, _, length), target, content in zip(parts, targets, contents, strict=True):
                if len(content) != (length if target is None else HEADER + CHECKSUM):
                    raise self._damaged(f"{self._key(shard)} ends too early")
                yield content
        except FileNotFoundError as error:
            lost = str(error.filename).rpartition("/c/")[2].partition("/")[0]
            raise damaged(self.place, f"lacks shard {lost} of '{self.name}'") from None
        except OSError as error:
            raise self._damaged(in_one_line(error)) from error

    def _ranges_of_files(self, parts: list[Part], targets: list[np.ndarray | None]) -> Iterator[np.ndarray]:
        """Yield parts of files as `_fetch`, possibly incomplete, in one reused buffer."""
        buffer = np.empty(HEADER + CHECKSUM, np.uint8)
        for (shard, first, length), target in zip(parts, targets, strict=True):
            file = self.file(self._key(shard))
            there = 0 if target is None else len(target)
            size = min(length - there, file.size)  # a hostile index must not cause a large allocation
            buffer = buffer if len(buffer) >= size else np.empty(size, np.uint8)
            around = [buffer[:size]] if target is None else [buffer[:HEADER], target, buffer[HEADER:size]]
            first = max(first + file.size, 0) if first < 0 else first
            read = os.preadv(file.descriptor, [array.data for array in around], first)
            yield buffer[: max(read - there, 0)]

    def _unpack(
        self, content: np.ndarray, target: np.ndarray | None, unpacked: np.ndarray
    ) -> tuple[np.ndarray, int | None]:
        """Return the numbers of a chunk, (per_chunk, values), and for a single sample its checksum.

        They stay in `target` or `content`, or are decompressed into `unpacked`.
        """
        flags, size, length = struct.unpack_from("<2xBx I4xI", content.data)
        whole = len(content) + (0 if target is None else len(target))
        copied = flags & COPIED
        # Blosc trusts the header.
        fitting = size == unpacked.nbytes and length == whole - CHECKSUM
        if not fitting or (whole != self.most if copied else target is not None):
            raise self._damaged("the length of a chunk does not match its header")
        numbers = content[HEADER:-CHECKSUM] if target is None else target
        if copied and self.per_chunk == 1:
            # CRCs are linear: a header changes the checksum of the following numbers by a fixed XOR.
            if (before := content[:HEADER].tobytes()) not in self.added:
                zeros = bytes(size)
                self.added[before] = google_crc32c.value(before + zeros) ^ google_crc32c.value(zeros)
            crc = google_crc32c.value(numbers)
            self._hold(crc ^ self.added[before], content, "a chunk")
            return numbers.view(self.dtype).reshape(unpacked.shape), crc
        self._hold(google_crc32c.value(content[:-CHECKSUM]), content, "a chunk")
        if copied:
            return numbers.view(self.dtype).reshape(unpacked.shape), None
        try:
            blosc.decompress(content[:-CHECKSUM], unpacked)
        except (RuntimeError, ValueError) as error:
            raise self._damaged(in_one_line(error)) from error
        return unpacked, None

    def _hold(self, crc: int, content: np.ndarray, what: str) -> None:
        """Compare a checksum with the stored checksum at the end of `content`."""
        if crc != int.from_bytes(content[-CHECKSUM:], "little"):
            raise self._damaged(f"{what} does not match its checksum")

    def _check(self, member: int, numbers: np.ndarray, crc: int) -> None:
        """Compare the checksum `crc` of a sample with its receipt; without receipt, refuse NaN."""
        shard, row = divmod(member, self.per_chunk * self.chunks_per_shard)
        written = self.receipts[shard]
        if not written and np.isnan(numbers).any():
            raise damaged(self.place, f"has unwritten samples in '{self.name}'")
        if written and written[row : row + 1] != [crc]:
            how = f"is damaged: shard {shard} of '{self.name}' is not what was written (sample {member})"
            raise damaged(self.place, how)

    def _damaged(self, how: str) -> DatasetError:
        return damaged(self.place, f"is damaged in '{self.name}' ({how})")


def open_store(path: Path | str) -> zarr.Group:
    """Open the root of the store at `path` (a path or an address). Raises `DatasetError` if it cannot."""
    place = located(path)
    if isinstance(place, Path) and not place.exists():
        raise DatasetError(gone(place))
    try:
        return zarr.open_group(opened(place), mode="r", zarr_format=3)
    except (*UNREADABLE, OSError) as error:
        raise damaged(place, f"has no readable zarr.json ({in_one_line(error)})") from error


def checksum(values: np.ndarray) -> int:
    """Return the CRC-32C of numbers (little-endian, C order)."""
    content = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return google_crc32c.value(content.reshape(-1).view(np.uint8))  # a view, so that nothing is copied


def read_array(path: Path | str, name: str, members: range | np.ndarray) -> np.ndarray:
    """Read the samples `members` of an array, in this order, as `StoredArray.read`."""
    return StoredArray(path, name).read(members)


def _is_of_samples(array: zarr.Array) -> bool:
    """Return whether an array has the layout of `create_store`."""
    codecs: Any = getattr(array.metadata, "codecs", ())
    if array.dtype.kind != "f" or [type(codec) for codec in codecs] != [ShardingCodec]:
        return False
    chains = codecs[0].codecs, codecs[0].index_codecs
    inner, index = ([codec.to_dict() for codec in chain] for chain in chains)
    little, checked = BytesCodec(endian="little").to_dict(), Crc32cCodec().to_dict()
    return (
        [codec["name"] for codec in inner] == ["bytes", "blosc", "crc32c"]
        and inner[0] == little
        and index == [little, checked]
        and codecs[0].to_dict()["configuration"]["index_location"] == "end"
        and array.chunks[1:] == array.shape[1:]
        and array.dtype.itemsize * math.prod(array.chunks) < 2**31  # limit of Blosc
        and array.metadata.encode_chunk_key((0, 0)) == "c/0/0"
    )
