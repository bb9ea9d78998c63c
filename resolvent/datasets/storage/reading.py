"""Samples of a store, in any order and straight from its shards: the Zarr library takes 2 ms for a chunk.

A shard is a file or an object: chunks one behind the other, and at its end an index, of two integers a chunk
(its first byte and its length), with a checksum (the codec "sharding_indexed" of Zarr's specification,
version 3). The index is read once; then a chunk is one read of a range of bytes, whatever the place.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numcodecs import blosc
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec

from resolvent.common.files import read_json
from resolvent.datasets.errors import DatasetError, damaged, gone, in_one_line
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.object_store import opened, ranges_of

# What zarr raises of metadata that it has not written.
UNREADABLE = ValueError, LookupError, AttributeError, TypeError, AssertionError, NotImplementedError
CHECKSUM = 4  # bytes of a checksum, behind a chunk or an index
HEADER = 16  # bytes before what Blosc has compressed, and the most that it adds
COPIED = 2  # the flag of a header before numbers that are not compressed, because they would not be smaller
UNWRITTEN = 2**64 - 1  # in an index, where there is no chunk
Part = tuple[str, int, int]  # a shard below the array, the first byte (negative: from its end), their number


class StoredArray:
    """The array of samples `name` ("n512/u") of the store at `path`.

    The indices and receipts of its shards are read once: a store is finished before it is read.

    shape, dtype  of all samples.
    per_chunk     samples that are read together.

    Raises `DatasetError` when the store or the array is missing or damaged, or not as `create_store` lays it
    out.
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

    def read(self, members: range | np.ndarray) -> np.ndarray:
        """Read the samples `members`, in this order.

        Raises `DatasetError` when a chunk is missing or damaged, or the numbers of a sample are not those of
        which its shard's receipt, where there is one, has the checksum: a file of another shard is whole.
        """
        members = np.asarray(members)
        if self.shape[0] <= (last := int(members.max())):
            raise damaged(
                self.place, f"has {self.shape[0]} samples in '{self.name}'; asked for number {last}"
            )
        values = np.empty((len(members), *self.shape[1:]), self.dtype)
        rows = values.reshape(len(members), -1)
        order = np.argsort(members, kind="stable")
        chunks, firsts = np.unique(members[order] // self.per_chunk, return_index=True)
        self._open(np.unique(chunks // self.chunks_per_shard).tolist())
        groups = np.split(order, firsts[1:])
        parts = [self._part(chunk) for chunk in chunks.tolist()]
        targets: list[np.ndarray | None] = [None] * len(parts)
        if self.per_chunk == 1 and isinstance(self.place, Path):  # what is not compressed needs no copy
            for number, (places, (_, _, length)) in enumerate(zip(groups, parts, strict=True)):
                if len(places) == 1 and length == rows[0].nbytes + HEADER + CHECKSUM:
                    targets[number] = rows[places[0]].view(np.uint8)
        unpacked = np.empty((self.per_chunk, rows.shape[1]), self.dtype)
        for places, target, chunk in zip(groups, targets, self._fetch(parts, targets), strict=True):
            if target is not None:
                self._check(int(members[places[0]]), rows[places[0]], self._checked_in_place(chunk, target))
                continue
            numbers = self._unpack(chunk, unpacked)
            for place, member in zip(places.tolist(), members[places].tolist(), strict=True):
                sample = rows[place] = numbers[member % self.per_chunk]
                self._check(member, sample, checksum(sample))
        return values

    def _open(self, shards: list[int]) -> None:
        """Read the indices and receipts of these shards, unless that was done before."""
        shards = [shard for shard in shards if shard not in self.indices]
        size = 16 * self.chunks_per_shard + CHECKSUM
        parts = [(self._key(shard), -size, size) for shard in shards]
        for shard, content in zip(shards, self._fetch(parts, [None] * len(parts)), strict=True):
            index = self._checked(content, f"the index of shard {shard}")
            receipt = Path(self.path).with_suffix(".shards") / f"{shard}.json"
            # A copy may be the store and its card alone.
            facts = read_json(receipt, "the receipt") if receipt.exists() else {}
            self.receipts[shard] = facts.get("checksums", {}).get(self.name, [])
            self.indices[shard] = index.view("<u8").reshape(-1, 2).copy()

    def _key(self, shard: int) -> str:
        return "/".join(["c", str(shard), *["0"] * (len(self.shape) - 1)])

    def _part(self, chunk: int) -> Part:
        """Return where a chunk lies. An index of others may say anything."""
        shard, number = divmod(chunk, self.chunks_per_shard)
        first, length = self.indices[shard][number].tolist()
        if first == length == UNWRITTEN:
            raise damaged(self.place, f"has unwritten samples in '{self.name}'")
        most = self.per_chunk * math.prod(self.shape[1:]) * self.dtype.itemsize + HEADER + CHECKSUM
        if not (HEADER + CHECKSUM < length <= most and first < 2**62):
            raise self._damaged(f"the index of shard {shard} leads nowhere")
        return self._key(shard), first, length

    def _fetch(self, parts: list[Part], targets: list[np.ndarray | None]) -> Iterator[np.ndarray]:
        """Yield the bytes of every part, each until the next is asked for.

        Of a chunk that has a target the numbers go there, and header and checksum are what is yielded.
        """
        folder = f"{self.place}/{self.name}"
        if isinstance(self.place, str):
            contents = ranges_of(folder, parts)
        else:
            contents = _ranges_of_files(folder, parts, targets)
        try:
            for (key, _, length), target, content in zip(parts, targets, contents, strict=True):
                if len(content) != (length if target is None else HEADER + CHECKSUM):
                    raise self._damaged(f"{key} ends too early")
                yield content
        except FileNotFoundError as error:
            shard = str(error.filename).rpartition("/c/")[2].partition("/")[0]
            raise damaged(self.place, f"lacks shard {shard} of '{self.name}'") from None
        except OSError as error:
            raise self._damaged(in_one_line(error)) from error

    def _unpack(self, chunk: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers of a chunk, (per_chunk, values of a sample): in `numbers`, or where they are."""
        content = self._checked(chunk, "a chunk")
        if self._is_copied(content[:HEADER], numbers.nbytes, len(content)):
            return content[HEADER:].view(self.dtype).reshape(numbers.shape)
        try:
            blosc.decompress(content, numbers)
        except (RuntimeError, ValueError) as error:
            raise self._damaged(in_one_line(error)) from error
        return numbers

    def _checked_in_place(self, chunk: np.ndarray, numbers: np.ndarray) -> int:
        """Return the checksum of the numbers of a chunk; `chunk` is its header and checksum."""
        header, found = chunk[:HEADER], google_crc32c.value(numbers)
        if not self._is_copied(header, numbers.nbytes, HEADER + numbers.nbytes):
            raise self._damaged("a chunk of another length than its header says")
        # The code is linear: a header adds the same to the checksum of any numbers behind it, as of zeros.
        if (before := header.tobytes()) not in self.added:
            zeros = bytes(numbers.nbytes)
            self.added[before] = google_crc32c.value(before + zeros) ^ google_crc32c.value(zeros)
        if found ^ self.added[before] != int(chunk[HEADER:].view("<u4")[0]):
            raise self._damaged("a chunk is not what its checksum is of")
        return found

    def _is_copied(self, header: np.ndarray, size: int, length: int) -> bool:
        """Say whether the numbers behind a header of Blosc are as they were; it must fit: Blosc trusts it."""
        copied = bool(header[2] & COPIED)
        fitting = header[4:8].view("<u4")[0] == size and header[12:].view("<u4")[0] == length
        if not fitting or (copied and length != size + HEADER):
            raise self._damaged("a chunk of another length than its header says")
        return copied

    def _checked(self, content: np.ndarray, what: str) -> np.ndarray:
        """Return what stands before its checksum."""
        if google_crc32c.value(content[:-CHECKSUM]) != int(content[-CHECKSUM:].view("<u4")[0]):
            raise self._damaged(f"{what} is not what its checksum is of")
        return content[:-CHECKSUM]

    def _check(self, member: int, numbers: np.ndarray, found: int) -> None:
        """Hold the numbers of a sample, of the checksum `found`, to its receipt. NaN was never written."""
        shard, row = divmod(member, self.per_chunk * self.chunks_per_shard)
        written = self.receipts[shard]
        if not written and np.isnan(numbers).any():
            raise damaged(self.place, f"has unwritten samples in '{self.name}'")
        if written and written[row : row + 1] != [found]:
            raise damaged(
                self.place,
                f"is damaged: shard {shard} of '{self.name}' is not what was written (sample {member})",
            )

    def _damaged(self, how: str) -> DatasetError:
        return damaged(self.place, f"is damaged in '{self.name}' ({how})")


def open_store(path: Path | str) -> zarr.Group:
    """Open the root of the store at `path`, or at an address, for reading.

    Raises `DatasetError` when there is none, or its metadata cannot be read.
    """
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
    return google_crc32c.value(content.reshape(-1).view(np.uint8))  # of the array itself: no copy


def read_array(path: Path | str, name: str, members: range | np.ndarray) -> np.ndarray:
    """Read samples `members`, in this order, of a `StoredArray`, and raise as that does."""
    return StoredArray(path, name).read(members)


def _is_of_samples(array: zarr.Array) -> bool:
    """Say whether an array is laid out as `create_store` does it."""
    codecs: Any = getattr(array.metadata, "codecs", ())
    if array.dtype.kind != "f" or [type(codec) for codec in codecs] != [ShardingCodec]:
        return False
    chains = codecs[0].codecs, codecs[0].index_codecs
    inner, index = ([codec.to_dict() for codec in chain] for chain in chains)
    little, checked = BytesCodec(endian="little").to_dict(), Crc32cCodec().to_dict()
    return (
        [one["name"] for one in inner] == ["bytes", "blosc", "crc32c"]
        and inner[0] == little
        and index == [little, checked]
        and codecs[0].index_location.value == "end"
        and array.chunks[1:] == array.shape[1:]
        and array.dtype.itemsize * math.prod(array.chunks) < 2**31  # the most that Blosc takes
        and array.metadata.encode_chunk_key((0, 0)) == "c/0/0"
    )


def _ranges_of_files(
    folder: str, parts: list[Part], targets: list[np.ndarray | None]
) -> Iterator[np.ndarray]:
    """Yield parts of the files in a folder as `StoredArray._fetch`, what there is of them, in one buffer."""
    buffer = np.empty(HEADER + CHECKSUM, np.uint8)
    for (key, first, length), target in zip(parts, targets, strict=True):
        descriptor = os.open(f"{folder}/{key}", os.O_RDONLY)
        try:
            size = os.fstat(descriptor).st_size
            first = max(first + size, 0) if first < 0 else first
            length = min(length, size)  # which may be that of others: nothing is allocated for it
            if target is not None:
                around = buffer[:HEADER].data, target.data, buffer[HEADER : HEADER + CHECKSUM].data
                read = os.preadv(descriptor, around, first)
                yield buffer[: HEADER + CHECKSUM if read == HEADER + target.nbytes + CHECKSUM else 0]
                continue
            buffer = buffer if len(buffer) >= length else np.empty(length, np.uint8)
            yield buffer[: os.preadv(descriptor, [buffer[:length].data], first)]
        finally:
            os.close(descriptor)
