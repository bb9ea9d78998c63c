"""One Zarr v3 hierarchy per dataset: a group per grid, dimensions (sample, ...space or time...).

Independent jobs write it, each its own shard. `fill_value=NaN` and a checksum behind every chunk make a
missing or damaged one an error instead of plausible numbers. The store alone does not count: see card.py.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from datasets.errors import DatasetError
from datasets.files import readable_disk_errors
from datasets.layout import Group, Layout


def create_store(path: Path, layout: Layout) -> None:
    """Lay out an empty store at `path`, unless it is there. Safe when several jobs do it at once.

    The hierarchy is made beside and renamed into place, so that a store has all its metadata or is absent.
    """
    path = Path(path)
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        root = zarr.create_group(temporary, zarr_format=3)
        for group in layout.groups:
            _create_group(root, group, layout)
        try:
            os.rename(temporary, path)
        except OSError:
            shutil.rmtree(temporary)
            if not path.exists():
                raise


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
) -> dict[str, str]:
    """Write one shard of every array, each in a single assignment; returns the arrays' digests.

    `arrays` gives ("n512/u", values of the shard's samples), one at a time, so that a large shard need not be
    in memory at once. An assignment covers exactly one Zarr shard file, which no other job writes.
    """
    members = layout.shard_range(shard)
    root = zarr.open_group(path, mode="r+")
    digests = {}
    with readable_disk_errors(path):
        for name, values in arrays:
            if len(values) != len(members):
                raise DatasetError(f"shard {shard} of {path} wants {len(members)} samples, got {len(values)}")
            root[name][members.start : members.stop] = values
            digests[name] = digest(values)
    return digests


def digest(values: np.ndarray) -> str:
    """SHA-256 of the numbers themselves (little-endian, C order), independent of compression."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))).hexdigest()


def read_array(path: Path, name: str, members: range) -> np.ndarray:
    """Rows `members` of the array `name` ("n512/u") of the store at `path`.

    Raises
    ------
    DatasetError
        When the store or the array is missing or another's, or a chunk is missing or damaged.
    """
    if not Path(path).exists():
        raise DatasetError(f"no store at {path}; its card is there, so make the dataset again")
    try:
        array = zarr.open_group(path, mode="r")[name]
    except (KeyError, FileNotFoundError, ValueError) as error:
        raise DatasetError(f"the store {path} has no readable array '{name}' ({error})") from error
    if not isinstance(array, zarr.Array) or array.shards is None or array.dtype.kind != "f":
        raise DatasetError(f"'{name}' of the store {path} is no array of samples")
    rest = ["0"] * (array.ndim - 1)
    for shard in range(members.start // array.shards[0], -(-members.stop // array.shards[0])):
        if not Path(path, name, "c", str(shard), *rest).exists():
            raise DatasetError(f"the store {path} lacks shard {shard} of '{name}'")
    try:
        values = array[members.start : members.stop]
    except (ValueError, RuntimeError, OSError) as error:
        raise DatasetError(f"the store {path} is damaged in '{name}' ({error})") from error
    if np.isnan(values).any():
        raise DatasetError(f"the store {path} has unwritten samples in '{name}'")
    return values
