"""Finished datasets: as xarray sees them, and as arrays for torch, JAX and NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import read_card
from resolvent.datasets.storage.addresses import LOCAL_FOLDER, checked_address, is_address, located
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.storage.object_store import opened
from resolvent.datasets.storage.store import UNREADABLE, open_store
from resolvent.datasets.verify import check_layout
from resolvent.public.cards import ENDINGS, card_of
from resolvent.public.samples import SplitReader


def open_dataset(
    name: Path | str,
    split: str | None = None,
    resolution: int | str | None = None,
    *,
    data: Path | str = LOCAL_FOLDER,
) -> StoredDataset | xarray.DataTree | xarray.Dataset:
    """Open a finished dataset lazily.

    Parameters
    ----------
    name
        Its name, "burgers", its hash, "965d059ce5e5", or "burgers/965d059ce5e5"; or the path of the card,
        `data/<name>/<hash>.json`, or of the store beside it, `<hash>.zarr`; or the address of a store,
        "s3://bucket/folder/burgers/<hash>.zarr".
    split
        "train", "validation" or "test"; none: all samples, whose coordinate `split` says which they are of.
    resolution
        Points along each axis, or the name of a set of times: one Dataset. None: the DataTree of all, which
        also gives arrays for torch, JAX and NumPy (`StoredDataset`).
    data
        The folder that names and hashes are looked for in: `data_root` of the configuration.

    Raises
    ------
    DatasetError
        When there is no such dataset or there are several, when it is not finished or is damaged, or has no
        such split or resolution.
    """
    tree = _opened(name, data)
    card = tree.attrs
    if split is not None:
        members = _members(card, split)
        tree = tree.map_over_datasets(
            lambda group: (
                group.isel(sample=slice(members.start, members.stop)) if "sample" in group.dims else group
            )
        )
    if resolution is None:
        return tree
    if group_name(resolution) not in tree.children:
        raise DatasetError(f"{name} has nothing at {resolution!r}; it has {', '.join(tree.children)}")
    return tree[group_name(resolution)].to_dataset()


class StoredDataset(xarray.DataTree):
    """A DataTree of a whole dataset, a node for each resolution; its `attrs` are the dataset card.

    `numpy`, `jax` and `torch` give the samples of one split at one resolution as pairs of input and target,
    in physical units. A selection of it is a DataTree of xarray, which does not have them.
    """

    __slots__ = ("_place",)

    def numpy(self, split: str, n: int | str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the inputs and the targets of a split, in the precision that they are stored in.

        Parameters
        ----------
        split
            "train", "validation" or "test".
        n
            Points along each axis, or the name of a set of times; it may be left out where there is one.

        Returns
        -------
        tuple
            Inputs and targets, (samples, ...space), or (samples, channels, ...space) of several functions.
            Numbers beside functions, such as initial values, are constant functions and come last.

        Raises
        ------
        DatasetError
            When there is no such split or resolution, or the store is damaged.
        """
        reader = self._reader(split, n)
        return reader.read(range(len(reader)))

    def jax(self, split: str, n: int | str | None = None) -> tuple[Any, Any]:
        """Return what `numpy` does as arrays of JAX: in float32, unless JAX computes in double precision."""
        import jax.numpy as jnp

        inputs, targets = self.numpy(split, n)
        return jnp.asarray(inputs), jnp.asarray(targets)

    def torch(self, split: str, n: int | str | None = None, *, streaming: bool = False) -> Any:
        """Return a `torch.utils.data.Dataset` of pairs (input, target), each (...space, channels) in float32.

        Its `coordinates`, (...space, dimension), are what operators of this package take beside functions.

        Parameters
        ----------
        split, n
            As in `numpy`.
        streaming
            False: a map-style dataset that holds the split in memory, for which a DataLoader shuffles. True:
            an IterableDataset that reads one chunk after another, in an order drawn anew for every epoch from
            torch's random numbers, and shuffles within chunks. Workers of a DataLoader share the chunks.

        Raises
        ------
        DatasetError
            As `numpy`.
        """
        from resolvent.public.torch_datasets import InMemory, Streaming

        return (Streaming if streaming else InMemory)(self._reader(split, n))

    def _reader(self, split: str, n: int | str | None) -> SplitReader:
        try:
            place = object.__getattribute__(self, "_place")
        except AttributeError:
            raise DatasetError(
                "a selection has no arrays for torch, JAX and NumPy: open the whole dataset, by "
                "resolvent.open_dataset without a split"
            ) from None
        return SplitReader(place, self.attrs, _members(self.attrs, split), n)


def _opened(name: Path | str, data: Path | str) -> StoredDataset:
    """Return the tree of a dataset, whose attributes are its card."""
    if is_address(str(name)):
        try:
            place: Any = checked_address(str(name).removesuffix(".json").removesuffix(".zarr") + ".zarr")
        except ValueError as error:
            raise DatasetError(str(error)) from None
    else:
        card = card_of(name, data)
        facts, store = read_card(card), card.with_suffix(ENDINGS[1])
        check_layout(open_store(store), facts, store)
        place = located(store)
    where: Any = opened(place)
    try:
        tree = xarray.open_datatree(where, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    except FileNotFoundError:
        raise DatasetError(f"there is no store at {place}") from None
    except (*UNREADABLE, OSError) as error:
        raise DatasetError(f"the store {place} cannot be opened ({error}): run snakemake again") from None
    if "content_hash" not in tree.attrs:
        raise DatasetError(f"{place} is not finished: it has no card; run snakemake again")
    result = StoredDataset.from_dict(tree.to_dict())
    object.__setattr__(result, "_place", place)
    return result


def _members(card: dict, split: str) -> range:
    """Return the positions of the samples of a split."""
    start = 0
    for one, size in card["samples"].items():
        if one == split:
            return range(start, start + size)
        start += size
    raise DatasetError(f"{card['dataset']} has no split '{split}'; it has {', '.join(card['samples'])}")
