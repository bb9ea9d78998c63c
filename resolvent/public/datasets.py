"""Finished datasets: found by name, as xarray sees them, and as arrays for torch, JAX and NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Split, places_of, read_card
from resolvent.datasets.storage.addresses import (
    LOCAL_FOLDER,
    checked_address,
    is_address,
    local_folder,
    located,
)
from resolvent.datasets.storage.layout import group_name, resolution_of
from resolvent.datasets.storage.object_store import opened
from resolvent.datasets.storage.reading import UNREADABLE, open_store
from resolvent.datasets.verify import check_layout

ENDINGS = (".json", ".zarr")  # of a card, and of its store


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
        Points along each axis, or the name of a set of times: one Dataset, whose attributes say what it is
        and have the whole card, as JSON, so that files written from it keep them. None: the DataTree of all,
        which also gives arrays for torch, JAX and NumPy (`StoredDataset`).
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
        members = places_of(card, split)
        tree = tree.map_over_datasets(
            lambda group: (
                group.isel(sample=slice(members.start, members.stop)) if "sample" in group.dims else group
            )
        )
    if resolution is None:
        return tree
    if group_name(resolution) not in tree.children:
        raise DatasetError(f"{name} has nothing at {resolution!r}; it has {', '.join(tree.children)}")
    chosen = tree[group_name(resolution)].to_dataset()
    facts = {key: card[key] for key in ("dataset", "content_hash", "stated_accuracy", "precision")}
    facts |= {key: card["equation"][key] for key in ("in_words", "in_symbols", "operator")}
    return chosen.assign_attrs(**facts, split=split or "all", card=json.dumps(dict(card)))


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
        samples = self._split(split, n).all()
        return samples.inputs, samples.targets

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

        return (Streaming if streaming else InMemory)(self._split(split, n))

    def _split(self, split: str, n: int | str | None) -> Split:
        try:
            place = object.__getattribute__(self, "_place")
        except AttributeError:
            raise DatasetError(
                "a selection has no arrays for torch, JAX and NumPy: open the whole dataset, by "
                "resolvent.open_dataset without a split"
            ) from None
        card, count = self.attrs, len(places_of(self.attrs, split))
        stored = [name for name, group in card["groups"].items() if card["inputs"][0] in group["variables"]]
        if n is None and len(stored) > 1:
            accepted = ", ".join(str(resolution_of(name)) for name in stored)
            raise DatasetError(
                f"{card['dataset']} is stored at {accepted}: choose one, n={resolution_of(stored[0])}"
            )
        return Split(place, resolution_of(stored[0]) if n is None else n, split, count, card=card)


def _opened(name: Path | str, data: Path | str) -> StoredDataset:
    """Return the tree of a dataset, whose attributes are its card."""
    if is_address(str(name)):
        try:
            place: Any = checked_address(str(name).removesuffix(".json").removesuffix(".zarr") + ".zarr")
        except ValueError as error:
            raise DatasetError(str(error)) from None
    else:
        card = card_of(name, data)
        facts, place = read_card(card), card.with_suffix(ENDINGS[1])
        check_layout(open_store(place), facts, place)
    where: Any = opened(located(place))
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


def card_of(name: Path | str, data: Path | str = LOCAL_FOLDER) -> Path:
    """Return the path of the card of a dataset, of one in the folder `data` where `name` is no path.

    The path is that of the card, `data/<name>/<hash>.json`, or of the store beside it, `<hash>.zarr`. Else it
    is a name, "burgers"; a hash, "965d059ce5e5", or its beginning; or both, "burgers/965d059ce5e5".
    """
    path = Path(name)
    if path.suffix in ENDINGS:
        return path.with_suffix(".json")
    root = local_folder(str(data))
    # Those of finished datasets: each has its receipts beside it, and a store, or had one.
    cards = [
        card
        for card in sorted(root.glob("*/*.json"))
        if card.with_suffix(".zarr").exists() or card.with_suffix(".shards").exists()
    ]
    folder, _, beginning = str(name).rpartition("/")
    found = [
        card
        for card in cards
        if (
            card.parent.name == folder and card.stem.startswith(beginning)
            if folder
            else card.parent.name == beginning or (len(beginning) >= 6 and card.stem.startswith(beginning))
        )
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{card.parent.name}/{card.stem}" for card in found)
        raise DatasetError(f"{data} has {len(found)} datasets called '{name}': open one of {names}")
    there = ", ".join(dict.fromkeys(card.parent.name for card in cards)) or "none"
    raise DatasetError(
        f"{data} has no finished dataset '{name}'; finished there: {there}. Accepted: a name, a hash, or the "
        "path of a card"
    )


def card_with_content(content_hash: str, name: str, roots: list[Path]) -> dict | None:
    """Return the card of the dataset `name` with this content, from the first of `roots` that has it."""
    for root in roots:
        for path in sorted(root.glob(f"{name}/*.json")):
            try:
                card = read_json(path, "the dataset card")
            except FileError:
                continue
            if card.get("content_hash") == content_hash:
                return card
    return None
