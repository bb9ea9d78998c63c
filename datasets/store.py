"""One Zarr v3 hierarchy per dataset: a group per resolution, dimensions (sample, x).

Independent jobs write it, each its own shard. `fill_value=NaN` and a checksum behind every chunk make a
missing or damaged one an error instead of plausible numbers. The store alone does not count: see card.py.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from datasets.errors import DatasetError
from datasets.files import readable_disk_errors
from solvers.grid import Grid

CHUNK_BYTES = 2**20  # about 1 MB: small enough for random batches, large enough for whole reads


@dataclass(frozen=True)
class Variable:
    """A stored quantity: its name, what it is, and its units."""

    name: str
    long_name: str
    units: str


@dataclass(frozen=True)
class Layout:
    """What a store holds and how it is cut: `samples` maps each split to its size, in stored order."""

    variables: tuple[Variable, ...]
    grids: tuple[Grid, ...]
    samples: dict[str, int]
    samples_per_shard: int

    @property
    def num_samples(self) -> int:
        return sum(self.samples.values())

    @property
    def num_shards(self) -> int:
        return -(-self.num_samples // self.samples_per_shard)

    def shard_range(self, shard: int) -> range:
        """Positions on the sample axis that job `shard` writes."""
        if not 0 <= shard < self.num_shards:
            raise DatasetError(
                f"shard {shard} does not exist: the dataset has shards 0 to {self.num_shards - 1}"
            )
        start = shard * self.samples_per_shard
        return range(start, min(start + self.samples_per_shard, self.num_samples))

    def split_range(self, split: str) -> range:
        """Positions on the sample axis that belong to `split`."""
        start = 0
        for name, size in self.samples.items():
            if name == split:
                return range(start, start + size)
            start += size
        raise DatasetError(f"no split '{split}'; the splits are {', '.join(self.samples)}")

    def split_of(self, position: int) -> tuple[str, int]:
        """Split of the sample at `position`, and its index within the split."""
        for name in self.samples:
            members = self.split_range(name)
            if position in members:
                return name, position - members.start
        raise DatasetError(f"no sample {position}: the dataset has {self.num_samples}")

    def samples_per_chunk(self, points: int) -> int:
        """Largest divisor of a shard whose samples fit into CHUNK_BYTES, or 1."""
        fitting = max(1, CHUNK_BYTES // (8 * points))
        return max(
            c
            for c in range(1, self.samples_per_shard + 1)
            if self.samples_per_shard % c == 0 and c <= fitting
        )


def group_name(points: int) -> str:
    """Name of the group that holds one resolution."""
    return f"n{points}"


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
        for grid in layout.grids:
            _create_group(root, grid, layout)
        try:
            os.rename(temporary, path)
        except OSError:
            shutil.rmtree(temporary)
            if not path.exists():
                raise


def _create_group(root: zarr.Group, grid: Grid, layout: Layout) -> None:
    group = root.create_group(group_name(grid.points))
    x = group.create_array(
        "x",
        data=grid.coordinates,
        dimension_names=("x",),
        attributes={"long_name": "position; the left end is included, the right end is not", "units": "1"},
    )
    assert x.shape == (grid.points,)
    splits = np.array([name for name, size in layout.samples.items() for _ in range(size)], dtype=object)
    split = group.create_array("split", shape=splits.shape, dtype=str, dimension_names=("sample",))
    split[:] = splits
    chunk = layout.samples_per_chunk(grid.points)
    for variable in layout.variables:
        group.create_array(
            variable.name,
            shape=(layout.num_samples, grid.points),
            chunks=(chunk, grid.points),
            shards=(layout.samples_per_shard, grid.points),
            dtype="float64",
            fill_value=np.nan,
            compressors=[BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"), Crc32cCodec()],
            config={"write_empty_chunks": True},
            dimension_names=("sample", "x"),
            attributes={"long_name": variable.long_name, "units": variable.units, "coordinates": "split"},
        )


def write_shard(path: Path, layout: Layout, shard: int, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """Write one shard of every array, each in a single assignment; returns the arrays' digests.

    `arrays` maps "n512/u" to (samples of the shard, points). The assignment covers exactly one Zarr shard
    file, which no other job writes.
    """
    members = layout.shard_range(shard)
    root = zarr.open_group(path, mode="r+")
    with readable_disk_errors(path):
        for name, values in arrays.items():
            if len(values) != len(members):
                raise DatasetError(f"shard {shard} of {path} wants {len(members)} samples, got {len(values)}")
            root[name][members.start : members.stop] = values
    return {name: digest(values) for name, values in arrays.items()}


def digest(values: np.ndarray) -> str:
    """SHA-256 of the numbers themselves (little-endian float64, C order), independent of compression."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def read_array(path: Path, name: str, members: range) -> np.ndarray:
    """Rows `members` of the array `name` ("n512/u") of the store at `path`.

    Raises
    ------
    DatasetError
        When the store or the array is missing, or a chunk is missing or damaged.
    """
    if not Path(path).exists():
        raise DatasetError(f"no store at {path}; its card is there, so make the dataset again")
    try:
        array = zarr.open_group(path, mode="r")[name]
    except (KeyError, FileNotFoundError, ValueError) as error:
        raise DatasetError(f"the store {path} has no readable array '{name}' ({error})") from error
    per_shard = array.shards[0] if array.shards else len(array)
    for shard in range(members.start // per_shard, -(-members.stop // per_shard)):
        if not (Path(path) / name / "c" / str(shard) / "0").exists():
            raise DatasetError(f"the store {path} lacks shard {shard} of '{name}'")
    try:
        values = array[members.start : members.stop]
    except (ValueError, RuntimeError, OSError) as error:
        raise DatasetError(f"the store {path} is damaged in '{name}' ({error})") from error
    if np.isnan(values).any():
        raise DatasetError(f"the store {path} has unwritten samples in '{name}'")
    return values
