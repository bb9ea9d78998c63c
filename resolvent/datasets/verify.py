"""Verify finished datasets against the specification in docs/formats.md, reading every number."""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from resolvent.common.cards import WHOLE_CARD, Check, Receipt
from resolvent.common.counts import counted
from resolvent.common.errors import ResolventError, printable
from resolvent.common.files import everything_below, read_json
from resolvent.common.records import faults_in
from resolvent.common.settings import settings_hash
from resolvent.datasets.errors import damaged, in_one_line
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import grid_from_facts, named_axes, stored_axes
from resolvent.datasets.storage.reading import UNREADABLE, StoredArray, open_store
from resolvent.datasets.storage.store import digest


def verify(paths: list[Path]) -> int:
    """Print one line for each fault of the datasets in `paths`: folders, cards or stores.

    Returns the exit status: 1 if there is a fault, or no dataset.
    """
    cards = dict.fromkeys(chain.from_iterable(map(_cards, paths)))
    faults = list(chain.from_iterable(map(faults_of_dataset, cards)))
    print(*map(printable, faults), sep="\n", end="\n" if faults else "")
    places = ", ".join(map(str, paths))
    if not cards:
        print(f"{places}: no dataset; check a study by `sha256sum --check SHA256SUMS`", file=sys.stderr)
        return 1
    result = counted(len(faults), "fault") if faults else "as specified"
    print(f"{places}: {counted(len(cards), 'dataset')}, {result}", file=sys.stderr)
    return 1 if faults else 0


def _cards(path: Path) -> list[Path]:
    """Return the cards of the stores at or below a path, also where card or store is missing."""
    if path.suffix in (".zarr", ".json"):
        return [path.with_suffix(".json")]
    below = everything_below(path)
    cards = [file.with_suffix(".json") for file in below if file.suffix == ".zarr"]
    gone = [file.with_suffix(".json") for file in below if file.suffix == ".shards"]
    return [*cards, *(card for card in gone if card.exists())]


def faults_of_dataset(card_path: Path) -> list[str]:
    """Return one line for each fault of the dataset at `card_path`, without changing anything."""
    try:
        card = read_json(card_path, "the dataset card")
        store = card_path.with_suffix(".zarr")
        root = open_store(store)
    except FileNotFoundError:
        return [f"{card_path}: is missing: the dataset is not finished"]
    except (ResolventError, OSError) as error:
        return [in_one_line(error)]
    if faults := faults_in(WHOLE_CARD, card):
        return [f"{card_path}: {fault}" for fault in faults]
    faults = [f"{card_path}: {fault}" for fault in _faults_of_card(card, card_path)]
    if dict(root.attrs) != card:
        faults.append(f"{located(store)}: its attributes differ from the card {card_path}")
    try:
        for name, group in card["groups"].items():
            faults += [
                f"{located(store)}/{name}: {fault}" for fault in _faults_of_group(root, name, group, card)
            ]
        extra = sorted(set(root.group_keys()) - set(card["groups"]))
        faults += [f"{located(store)}: the group '{name}' is not on the card" for name in extra]
        return faults or _faults_of_numbers(card, card_path, store, root)
    except (ResolventError, KeyError, ValueError, TypeError, OSError) as error:
        return [*faults, f"{located(store)}: {in_one_line(error)}"]


def _faults_of_card(card: dict, path: Path) -> list[str]:
    faults = []
    named = settings_hash(card["identity"])
    if card["settings_hash"] != named:
        faults.append(f"'settings_hash' is {card['settings_hash']}, but 'identity' has the hash {named}")
    if re.fullmatch(r"[0-9a-f]{12}", path.stem) and path.stem != card["settings_hash"]:
        faults.append(f"'settings_hash' is {card['settings_hash']}, not the name of the file")
    if not re.fullmatch(r"[0-9a-f]{64}", card["content_hash"]):
        faults.append("'content_hash' is not a SHA-256")
    checked = False
    for key, entry in card["error_budget"].items():
        entry = entry if isinstance(entry, dict) else {}
        if not key.startswith("against_") or "not_available" in entry:
            continue
        checked = True
        if wrong := faults_in(Check, entry):
            faults += [f"error_budget.{key}: {fault}" for fault in wrong]
        elif not entry["largest_relative_l2"] <= card["stated_accuracy"]:
            faults.append(
                f"error_budget.{key}: the largest error {entry['largest_relative_l2']:g} is above the stated "
                f"accuracy {card['stated_accuracy']:g}"
            )
    if not checked and "imported" not in card:
        faults.append("error_budget: no entry 'against_…': nothing was checked")
    return faults


def check_layout(root: zarr.Group, card: dict, store: Path) -> None:
    """Raise `DatasetError` if axes, splits or arrays of the store do not match its card."""
    for name, group in card["groups"].items():
        try:
            faults = _faults_of_group(root, name, group, card)
        except (*UNREADABLE, OSError, RuntimeError) as error:
            faults = [f"cannot be read ({in_one_line(error)})"]
        if faults:
            raise damaged(located(store), f"is damaged in {name}: {faults[0]}")


def _faults_of_group(root: zarr.Group, name: str, facts: dict, card: dict) -> list[str]:
    """Return the faults in the layout of a group: axes, splits, and arrays of samples."""
    if name not in root:
        return ["the group is missing"]
    group: Any = root[name]
    dimensions = [variable["dimensions"] for variable in facts["variables"].values()]
    axes = set(chain.from_iterable(dimensions)) - {"sample"}
    on_card, stored = {*axes, "split", *facts["variables"]}, set(group.array_keys())
    faults = [f"the array '{key}' is missing" for key in sorted(on_card - stored)]
    faults += [f"the array '{key}' is not on the card" for key in sorted(stored - on_card)]
    if faults:
        return faults
    # Sizes are compared before anything of the card's sizes is made: they may be those of no real data.
    sizes = {axis: group[axis].shape[0] for axis in axes}
    count, splits = group["split"].shape[0], card["samples"]
    whole = count == sum(splits.values())
    if not whole or [*group["split"][:]] != [split for split, size in splits.items() for _ in range(size)]:
        faults.append(f"'split' is not {', '.join(f'{size} {split}' for split, size in splits.items())}")
    along = named_axes(grid_from_facts(facts["grid"]))
    alike = all(along[axis].points == sizes[axis] for axis in axes & along.keys())
    own = stored_axes(facts["grid"]) if alike else {}
    for axis in sorted(axes & along.keys()):
        if not alike or not np.array_equal(group[axis][:], own[axis]):
            faults.append(f"the coordinates '{axis}' differ from the grid on the card")
    for key, words in facts["variables"].items():
        array = group[key]
        shape = (count, *(sizes[axis] for axis in words["dimensions"][1:]))
        if array.shape != shape:
            faults.append(f"'{key}' has the shape {array.shape}, the card says {shape}")
        if list(array.metadata.dimension_names or ()) != words["dimensions"]:
            faults.append(f"'{key}' has the dimensions {array.metadata.dimension_names}")
        if array.dtype not in (np.float32, np.float64) or str(array.dtype) not in card["precision"]:
            faults.append(f"'{key}' is {array.dtype}, the card says: 'precision' {card['precision']}")
        for word in ("long_name", "units", "time", "time_units", "calendar"):
            if (stored_word := array.attrs.get(word)) != (stated := words.get(word)):
                faults.append(f"'{key}' has {word} {stored_word!r}, the card says {stated!r}")
    return faults


def _faults_of_numbers(card: dict, path: Path, store: Path, root: Any) -> list[str]:
    """Read all numbers, and return one line for each that is missing or does not match its digest."""
    names = sorted(f"{group}/{key}" for group, facts in card["groups"].items() for key in facts["variables"])
    opened = cache(partial(StoredArray, store))
    content, faults, total = hashlib.sha256(), [], sum(card["samples"].values())
    for number, start in enumerate(range(0, total, step := root[names[0]].shards[0])):
        members = range(start, min(start + step, total))
        receipt_path = path.with_suffix(".shards") / f"{number}.json"
        receipt: dict = {"digests": {}}
        if receipt_path.exists():
            receipt = read_json(receipt_path, "the receipt")
            wrong = faults_in(Receipt, receipt)
            wrong += [] if wrong or receipt["shard"] == number else [f"'shard' is {receipt['shard']}"]
            if not wrong and receipt["code_versions"] != card["identity"].get("versions"):
                wrong.append("'code_versions' is of another version than the card")
            faults += [f"{receipt_path}: {fault}" for fault in wrong]
        for name in names:
            try:
                computed = digest(opened(name).read(members))
            except ResolventError as error:
                return [*faults, in_one_line(error)]
            content.update(computed.encode())
            if receipt_path.exists() and receipt.get("digests", {}).get(name) != computed:
                faults.append(f"{receipt_path}: shard {number} of '{name}' is not what was written")
    if content.hexdigest() != card["content_hash"]:
        faults.append(f"{located(store)}: the numbers do not match the content hash of the card")
    return faults
