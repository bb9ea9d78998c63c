"""One Zarr v3 hierarchy per dataset: a group per grid, dimensions (sample, ...space or time...).

It lies in a folder, or in an object store (`resolvent.datasets.storage.addresses`). Independent jobs write
it, each its own shard. `fill_value=NaN` and a checksum behind every chunk make a missing or damaged one an
error instead of plausible numbers. The store alone does not count: see `resolvent.datasets.card`.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from resolvent.common.files import partial_path, read_json, readable_disk_errors, remove
from resolvent.datasets.errors import DatasetError, damaged, gone, in_one_line
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import Group, Layout
from resolvent.datasets.storage.object_store import opened, upload
from resolvent.datasets.storage.object_store import remove as remove_object

# What zarr raises of metadata that it has not written, and of chunks that they do not fit.
UNREADABLE = ValueError, LookupError, AttributeError, TypeError, AssertionError, NotImplementedError


def create_store(path: Path, layout: Layout) -> None:
    """Lay out an empty store at `path`; where there is one, mend all of it but the samples.

    The hierarchy is made beside and renamed into place, or put to its address, so that a store has all its
    metadata or is absent. Safe when several jobs do it at once.
    """
    place = located(path)
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = partial_path(path)
        try:
            root = zarr.create_group(temporary, zarr_format=3)
            for group in layout.groups:
                _create_group(root, group, layout)
            if isinstance(place, str):
                upload(temporary, place)
            else:
                try:
                    os.rename(temporary, path)
                except OSError:
                    if not path.exists():
                        raise
                    for file in sorted(temporary.rglob("*")):  # what is missing there, or is another
                        there = path / file.relative_to(temporary)
                        if file.is_file() and not (there.is_file() and filecmp.cmp(file, there, False)):
                            there.parent.mkdir(parents=True, exist_ok=True)
                            os.replace(file, there)
        finally:
            remove(temporary)


def _create_group(root: zarr.Group, content: Group, layout: Layout) -> None:
    group = root.create_group(content.name)
    for axis in content.axes:
        group.create_array(
            axis.name,
            data=np.asarray(axis.coordinates, dtype="float64"),
            dimension_names=(axis.name,),
            attributes={"long_name": axis.long_name, "units": axis.units},
        )
    splits = np.array([name for name, size in layout.samples.items() for _ in range(size)], dtype=object)
    split = group.create_array("split", shape=splits.shape, dtype=str, dimension_names=("sample",))
    split[:] = splits
    for variable in content.variables:
        shape = content.shape(variable)
        group.create_array(
            variable.name,
            shape=(layout.num_samples, *shape),
            chunks=(layout.samples_per_chunk(shape), *shape),
            shards=(layout.samples_per_shard, *shape),
            dtype=layout.dtype,
            fill_value=np.nan,
            compressors=[BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"), Crc32cCodec()],
            config={"write_empty_chunks": True},
            dimension_names=("sample", *variable.axes),
            attributes={"long_name": variable.long_name, "units": variable.units, "coordinates": "split"},
        )


def write_shard(
    path: Path, layout: Layout, shard: int, arrays: Iterable[tuple[str, np.ndarray]]
) -> tuple[dict[str, str], dict[str, list[int]]]:
    """Write one shard of every array, each in a single assignment; returns digests and `checksums` by array.

    `arrays` gives ("n512/u", values of the shard's samples), one at a time, so that a large shard need not be
    in memory at once. An assignment covers exactly one Zarr shard file, which no other job writes.
    """
    members, place = layout.shard_range(shard), located(path)
    root = zarr.open_group(opened(place), mode="r+", zarr_format=3)
    digests, sums = {}, {}
    with readable_disk_errors(path):
        for name, values in arrays:
            if len(values) != len(members):
                raise DatasetError(
                    f"shard {shard} of {place} wants {len(members)} samples, got {len(values)}"
                )
            array: Any = root[name]
            _remove_present(path, array, shard)
            array[members.start : members.stop] = values
            digests[name], sums[name] = digest(values), checksums(values)
    return digests, sums


def _remove_present(path: Path, array: zarr.Array, shard: int) -> None:
    """Remove a shard, also one that a killed job left half written beside.

    The last one is seldom full, and of such a one Zarr would read what is there, which may be damaged.
    """
    place, chunk = located(path), "/".join(["c", str(shard), *["0"] * (array.ndim - 1)])
    if isinstance(place, str):
        remove_object(f"{place}/{array.path}/{chunk}")
        return
    file = place / array.path / chunk
    for left in [file, *file.parent.glob(f"{file.name}.*.partial")]:
        left.unlink(missing_ok=True)


def digest(values: np.ndarray) -> str:
    """Digest the numbers themselves (little-endian, C order) by SHA-256, independent of compression."""
    content: Any = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return hashlib.sha256(content).hexdigest()


def checksums(values: np.ndarray) -> list[int]:
    """Return the CRC-32C of the numbers of each sample (little-endian, C order)."""
    rows = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).reshape(len(values), -1)
    return [google_crc32c.value(row) for row in rows.view(np.uint8)]  # of the array itself: no copy


def read_array(path: Path | str, name: str, members: range | np.ndarray) -> np.ndarray:
    """Read rows `members`, in this order, of the array `name` ("n512/u") of the store at `path`.

    Raises `DatasetError` when the store, the array or a chunk is missing or damaged, or the numbers of a
    sample are not those of which its shard's receipt, where there is one, has the checksum.
    """
    root, place = open_store(path), located(path)
    try:
        array = root[name]
    except (*UNREADABLE, OSError) as error:
        raise damaged(place, f"has no readable array '{name}' ({in_one_line(error)})") from error
    if not isinstance(array, zarr.Array) or array.shards is None or array.dtype.kind != "f":
        raise damaged(place, f"has no array of samples '{name}'")
    if array.shape[0] <= max(members):
        raise damaged(place, f"has {array.shape[0]} samples in '{name}'; asked for number {max(members)}")
    if isinstance(place, Path):  # an object store says so itself
        for shard in sorted({member // array.shards[0] for member in members}):
            if not Path(place, name, "c", str(shard), *["0"] * (array.ndim - 1)).exists():
                raise damaged(place, f"lacks shard {shard} of '{name}'")
    try:
        if isinstance(members, range):
            values = np.asarray(array[members.start : members.stop])
        else:  # chunk by chunk: Zarr's own way takes four times as long
            values, size = np.empty((len(members), *array.shape[1:]), array.dtype), array.chunks[0]
            for chunk in np.unique(members // size):
                here = members // size == chunk
                rows = array[chunk * size : (chunk + 1) * size]
                values[here] = np.asarray(rows)[members[here] - chunk * size]
    except (*UNREADABLE, RuntimeError, OSError) as error:
        raise damaged(place, f"is damaged in '{name}' ({in_one_line(error)})") from error
    _check_numbers(path, name, members, values, array.shards[0])
    return values


def _check_numbers(
    path: Path | str, name: str, members: range | np.ndarray, values: np.ndarray, per_shard: int
) -> None:
    """Raise `DatasetError` when samples are not those that were written: a file of another shard is whole.

    What was never written reads as NaN. Samples with a checksum need not be searched for it.
    """
    shards, rows = np.divmod(np.asarray(members), per_shard)
    written: dict[int, list[int]] = {}
    for shard in np.unique(shards).tolist():
        receipt = Path(path).with_suffix(".shards") / f"{shard}.json"
        # A copy may be the store and its card alone.
        found = _checksums_of(receipt, receipt.stat().st_mtime_ns) if receipt.exists() else {}
        written[shard] = found.get(name, [])
    if not all(written.values()) and np.isnan(values).any():
        raise damaged(located(path), f"has unwritten samples in '{name}'")
    if not any(written.values()):
        return
    for member, shard, row, checksum in zip(members, shards, rows, checksums(values), strict=True):
        if written[shard] and written[shard][row] != checksum:
            raise damaged(
                located(path),
                f"is damaged: shard {shard} of '{name}' is not what was written (sample {member})",
            )


@lru_cache(maxsize=256)
def _checksums_of(receipt: Path, changed: int) -> dict[str, list[int]]:
    """Return the checksums in a receipt, which is read again when it has `changed`."""
    return read_json(receipt, "the receipt").get("checksums", {})


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


class Stored:
    """The samples in `store` as a task reads them back. Positions count along their axis, over all splits.

    errors  of every sample, estimated when it was solved, by name: (num_samples,) each.
    """

    def __init__(self, store: Path, layout: Layout, seed: int, errors: dict[str, np.ndarray] | None = None):
        self.store, self.layout, self.seed = store, layout, seed
        self.errors = errors or {}

    def random_positions(self, count: int) -> list[int]:
        """Choose `count` different positions (or all, if there are fewer), the same for the same seed."""
        size = min(count, self.layout.num_samples)
        chosen = np.random.default_rng(self.seed).choice(self.layout.num_samples, size, replace=False)
        return sorted(map(int, chosen))

    @property
    def all_positions(self) -> range:
        """Return every position."""
        return range(self.layout.num_samples)

    def names(self, positions: list[int] | range) -> list[tuple[str, int]]:
        """Give the split and the index of each position: what a task computes a sample from."""
        return [self.layout.split_of(position) for position in positions]

    def values(self, name: str, positions: list[int] | range) -> np.ndarray:
        """Read rows of the array `name`, such as "n512/final_velocity"."""
        if isinstance(positions, range):
            return read_array(self.store, name, positions)
        return np.concatenate([read_array(self.store, name, range(p, p + 1)) for p in positions])
