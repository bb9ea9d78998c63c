"""Write stores: one Zarr v3 hierarchy per dataset, with a group for each grid.

Arrays have the dimensions (sample, ...space or time...). A store is in a folder or in an object store
(`resolvent.datasets.storage.addresses`). Independent jobs write it, each its own shard. `fill_value=NaN` and
a checksum after every chunk turn missing or damaged chunks into errors instead of plausible numbers. A store
is only valid with its card (`resolvent.datasets.card`).
"""

from __future__ import annotations

import filecmp
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from resolvent.common.files import partial_path, readable_disk_errors, remove
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import Group, Layout
from resolvent.datasets.storage.object_store import opened, upload
from resolvent.datasets.storage.object_store import remove as remove_object
from resolvent.datasets.storage.reading import checksum, read_array


def create_store(path: Path, layout: Layout) -> None:
    """Create an empty store at `path`, or repair everything except the samples of an existing store.

    It is created under a temporary name and renamed, or uploaded, so that several jobs may do this at once.
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
                    for file in sorted(temporary.rglob("*")):  # replace missing or different files
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
            compressors=[BloscCodec(cname="lz4", clevel=5, shuffle="noshuffle"), Crc32cCodec()],
            config={"write_empty_chunks": True},
            dimension_names=("sample", *variable.axes),
            attributes={**variable.attributes(), "coordinates": "split"},
        )


def write_shard(
    path: Path, layout: Layout, shard: int, arrays: Iterable[tuple[str, np.ndarray]]
) -> tuple[dict[str, str], dict[str, list[int]]]:
    """Write one shard of every array; return digests of the arrays and checksums of their samples, by array.

    `arrays` yields ("n512/u", values of the shard's samples) one at a time, so that a large shard need not
    fit into memory. Each is written in a single assignment that covers one Zarr shard file.
    """
    members, place = layout.shard_range(shard), located(path)
    root = zarr.open_group(opened(place), mode="r+", zarr_format=3)
    digests, sums = {}, {}
    with readable_disk_errors(path):
        for name, values in arrays:
            if len(values) != len(members):
                raise DatasetError(
                    f"shard {shard} of {place} has {len(members)} samples, got {len(values)}: a job on "
                    "another kind of machine has saved batches of another size; delete "
                    f"{path.with_suffix('.parts')} and run snakemake"
                )
            array: Any = root[name]
            # The last shard is seldom full, and Zarr would first read a present, possibly damaged file.
            chunk = "/".join([name, "c", str(shard), *["0"] * (array.ndim - 1)])
            if isinstance(place, str):
                remove_object(f"{place}/{chunk}")
            else:
                file = place / chunk
                for left in [file, *file.parent.glob(f"{file.name}.*.partial")]:  # of a killed job
                    left.unlink(missing_ok=True)
            array[members.start : members.stop] = values
            digests[name], sums[name] = digest(values), [checksum(sample) for sample in values]
    return digests, sums


def digest(values: np.ndarray) -> str:
    """Return the SHA-256 of numbers (little-endian, C order), independent of compression."""
    content: Any = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return hashlib.sha256(content).hexdigest()


class Stored:
    """The samples in `store`, for error budgets. Positions are along the sample axis, over all splits.

    errors  errors estimated when each sample was solved, by name: (num_samples,) each.
    """

    def __init__(self, store: Path, layout: Layout, seed: int, errors: dict[str, np.ndarray] | None = None):
        self.store, self.layout, self.seed = store, layout, seed
        self.errors = errors or {}

    def random_positions(self, count: int) -> list[int]:
        """Return `count` different random positions (or all, if fewer), reproducible by the seed."""
        size = min(count, self.layout.num_samples)
        chosen = np.random.default_rng(self.seed).choice(self.layout.num_samples, size, replace=False)
        return sorted(map(int, chosen))

    @property
    def all_positions(self) -> range:
        """Return every position."""
        return range(self.layout.num_samples)

    def names(self, positions: list[int] | range) -> list[tuple[str, int]]:
        """Return split and index for each position, from which a task computes a sample."""
        return [self.layout.split_of(position) for position in positions]

    def values(self, name: str, positions: list[int] | range) -> np.ndarray:
        """Read rows of the array `name`, such as "n512/final_velocity"."""
        return read_array(self.store, name, np.asarray(positions))
