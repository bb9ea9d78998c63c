"""Find the card of a dataset by its name, its hash or its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import LOCAL_FOLDER, local_folder

ENDINGS = (".json", ".zarr")


def card_of(name: Path | str, data: Path | str = LOCAL_FOLDER) -> Path:
    """Return the path of the card of a dataset.

    Parameters
    ----------
    name
        A path: the card, `data/<name>/<hash>.json`, or the store beside it, `<hash>.zarr`. Or a name,
        "burgers"; a hash, "965d059ce5e5", or its beginning; or both, "burgers/965d059ce5e5".
    data
        The folder of the datasets that a name is looked for in, the `data_root` of the configuration.

    Raises
    ------
    DatasetError
        When there is no such dataset, or more than one.
    """
    path = Path(name)
    if path.suffix in ENDINGS:
        return path.with_suffix(".json")
    root = local_folder(str(data))
    cards = sorted(_cards_below(root))
    found = [card for card in cards if _is_called(card, root, str(name))]
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


def _cards_below(root: Path) -> Iterator[Path]:
    """Yield the cards of finished datasets: each has its receipts beside it, and a store, or had one."""
    for card in root.glob("*/*.json"):
        if card.with_suffix(".zarr").exists() or card.with_suffix(".shards").exists():
            yield card


def _is_called(card: Path, root: Path, name: str) -> bool:
    folder, _, beginning = name.rpartition("/")
    if folder:
        return card.parent.name == folder and card.stem.startswith(beginning)
    return card.parent.name == name or (len(name) >= 6 and card.stem.startswith(name))
