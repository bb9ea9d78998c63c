"""Open finished datasets by name, in xarray or as arrays for torch, JAX and NumPy."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.common.cards import WHOLE_CARD, Card
from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.common.records import checked
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Split, places_of, read_card
from resolvent.datasets.storage import addresses
from resolvent.datasets.storage.layout import group_name, resolution_of
from resolvent.datasets.storage.object_store import opened
from resolvent.datasets.storage.reading import UNREADABLE, open_store
from resolvent.datasets.verify import check_layout

ENDINGS = (".json", ".zarr")  # of a card and its store


def open_dataset(
    name: Path | str,
    split: str | None = None,
    resolution: int | str | None = None,
    *,
    data: Path | str = addresses.LOCAL_FOLDER,
) -> StoredDataset | xarray.DataTree | xarray.Dataset:
    """Open a finished dataset lazily.

    Parameters
    ----------
    name
        The name "burgers", the hash "965d059ce5e5", or "burgers/965d059ce5e5"; the path of the card,
        `data/<name>/<hash>.json`, or of its store, `data/<name>/<hash>.zarr`; or the address of a store,
        "s3://bucket/folder/burgers/<hash>.zarr".
    split
        "train", "validation" or "test"; None: all samples, with the split as the coordinate `split`.
    resolution
        Points along each axis, or the name of a set of times: returns one Dataset; its attributes include the
        card as JSON, so files written from it keep the card. None: returns the DataTree of all resolutions,
        which also provides arrays for torch, JAX and NumPy (`StoredDataset`).
    data
        Folder to search for names and hashes: `data_root` of the configuration.

    Raises
    ------
    DatasetError
        If no dataset or several datasets match, or the dataset is unfinished or damaged, or lacks the split
        or resolution.
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
        raise DatasetError(f"{name} has no resolution {resolution!r}; accepted: {', '.join(tree.children)}")
    chosen = tree[group_name(resolution)].to_dataset()
    facts = {key: card[key] for key in ("dataset", "content_hash", "stated_accuracy", "precision")}
    facts |= {key: card["equation"][key] for key in ("in_words", "in_symbols", "operator")}
    return chosen.assign_attrs(**facts, split=split or "all", card=json.dumps(dict(card)))


class StoredDataset(xarray.DataTree):
    """A DataTree of a whole dataset, with one node per resolution; its `attrs` are the dataset card.

    `numpy`, `jax` and `torch` return the samples of one split at one resolution as inputs and targets in
    physical units. A selection from the tree is a plain xarray DataTree without these methods.
    """

    __slots__ = ("_place",)

    def numpy(self, split: str, n: int | str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the inputs and targets of a split in the stored precision.

        Parameters
        ----------
        split
            "train", "validation" or "test".
        n
            Points along each axis, or the name of a set of times; optional if there is only one.

        Returns
        -------
        tuple
            Inputs and targets, (samples, ...space), or (samples, channels, ...space) for several functions.
            Scalar inputs, such as initial values, are constant functions in the last channels.

        Raises
        ------
        DatasetError
            If the split or resolution does not exist, or the store is damaged.
        """
        samples = self._split(split, n).all()
        return samples.inputs, samples.targets

    def jax(self, split: str, n: int | str | None = None) -> tuple[Any, Any]:
        """Return the result of `numpy` as JAX arrays, in float32 unless JAX uses double precision.

        Warns if float32 would round away a variation around a large mean.
        """
        import jax

        stored = self._split(split, n)
        if stored.far and not jax.config.read("jax_enable_x64"):
            warnings.warn(
                f"{self.attrs['dataset']}: float32 rounds away digits of a small variation around a "
                'large mean; to keep them: jax.config.update("jax_enable_x64", True)',
                stacklevel=2,
            )
        samples = stored.all()
        return jax.numpy.asarray(samples.inputs), jax.numpy.asarray(samples.targets)

    def torch(self, split: str, n: int | str | None = None, *, streaming: bool = False) -> Any:
        """Return a `torch.utils.data.Dataset` of pairs (input, target), each (...space, channels) in float32.

        They are in float64 if float32 would round away a variation around a large mean. Its
        `coordinates`, (...space, dimension), are the second argument of this package's operators.

        Parameters
        ----------
        split, n
            As in `numpy`.
        streaming
            False: a map-style dataset with the split in memory; shuffling is left to the DataLoader. True: an
            IterableDataset that reads chunks in a new random order every epoch, drawn from torch's random
            numbers, and shuffles within chunks. Workers of a DataLoader share the chunks.

        Raises
        ------
        DatasetError
            As in `numpy`.
        """
        from resolvent.public.torch_datasets import InMemory, Streaming

        return (Streaming if streaming else InMemory)(self._split(split, n))

    def _split(self, split: str, n: int | str | None) -> Split:
        try:
            place = object.__getattribute__(self, "_place")
        except AttributeError:
            remedy = "open the whole dataset with resolvent.open_dataset, without a split"
            raise DatasetError(f"a selection cannot return arrays: {remedy}") from None
        card, count = self.attrs, len(places_of(self.attrs, split))
        if not count:
            raise DatasetError(f"{card['dataset']} has no {split} samples")
        stored = [name for name, group in card["groups"].items() if card["inputs"][0] in group["variables"]]
        if n is None and len(stored) > 1:
            accepted = ", ".join(str(resolution_of(name)) for name in stored)
            first = resolution_of(stored[0])
            raise DatasetError(f"{card['dataset']} is stored at {accepted}: choose one, n={first}")
        return Split(place, resolution_of(stored[0]) if n is None else n, split, count, card=card)


def _opened(name: Path | str, data: Path | str) -> StoredDataset:
    """Return the tree of a dataset, with its card as attributes."""
    if addresses.is_address(str(name)):
        try:
            place: Any = addresses.checked_address(
                str(name).removesuffix(".json").removesuffix(".zarr") + ".zarr"
            )
        except ValueError as error:
            raise DatasetError(str(error)) from None
    else:
        card = card_of(name, data)
        facts, place = read_card(card), card.with_suffix(ENDINGS[1])
        check_layout(open_store(place), facts, place)
    where: Any = opened(addresses.located(place))
    try:
        tree = xarray.open_datatree(where, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    except FileNotFoundError:
        raise DatasetError(f"the store {place} does not exist") from None
    except (*UNREADABLE, OSError) as error:
        raise DatasetError(f"the store {place} cannot be opened ({error}): run snakemake again") from None
    if "content_hash" not in tree.attrs:
        raise DatasetError(f"{place} is not finished: it has no card; run snakemake again")
    checked(WHOLE_CARD, dict(tree.attrs), str(place))
    result = StoredDataset.from_dict(tree.to_dict())
    object.__setattr__(result, "_place", place)
    return result


def card_of(name: Path | str, data: Path | str = addresses.LOCAL_FOLDER) -> Path:
    """Return the path of the card of a dataset.

    `name` is the path of a card, `data/<name>/<hash>.json`, or of its store, `data/<name>/<hash>.zarr`; or,
    for a dataset in the folder `data`, the name "burgers", the hash "965d059ce5e5" or its beginning, or both,
    "burgers/965d059ce5e5".
    """
    path = Path(name)
    if path.suffix in ENDINGS:
        return path.with_suffix(".json")
    root = addresses.local_folder(str(data))
    # Only cards of finished datasets: receipts are next to the card, and the store exists or existed.
    cards = [
        card
        for card in sorted(root.glob("*/*.json"))
        if card.with_suffix(".zarr").exists() or card.with_suffix(".shards").exists()
    ]
    folder, _, beginning = str(name).rpartition("/")
    matching = [card for card in cards if not folder and card.parent.name == beginning]
    if folder or len(beginning) >= 6:
        begun = [card for card in cards if card.stem.startswith(beginning) and card not in matching]
        matching += [card for card in begun if folder in ("", card.parent.name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"{card.parent.name}/{card.stem}" for card in matching)
        raise DatasetError(f"{data} has {len(matching)} datasets called '{name}': open one of {names}")
    there = ", ".join(dict.fromkeys(card.parent.name for card in cards)) or "none"
    accepted = "a name, a hash, or the path of a card"
    raise DatasetError(f"{data} has no finished dataset '{name}'; accepted: {accepted}; finished: {there}")


def cards_below(roots: list[Path], name: str) -> Iterator[Card]:
    """Yield the cards of all datasets in the folders `roots`, in each those of the dataset `name` first."""
    for root in roots:
        for path in sorted(root.glob("*/*.json"), key=lambda path: (path.parent.name != name, path)):
            with suppress(FileError, FileNotFoundError):
                yield checked(WHOLE_CARD, read_json(path, "the dataset card"), str(path))
