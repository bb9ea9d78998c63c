"""Random damage to one file of a finished study, and what its reader returns of it.

A kind of file has a pattern from the folder of the study, and the function of the project that reads it. What
the function returns is turned into plain numbers and text, to be compared with those of the whole file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

import resolvent
from resolvent.common import files
from resolvent.common.records import CostRecord, TunedRecord, read_record
from resolvent.common.runs import read_baselines_table, read_run, read_table
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.results import read_arrays, read_json
from resolvent.figures.front.study import read_study


@dataclass(frozen=True)
class Kind:
    name: str
    pattern: str
    read: Callable[[Path], object]
    mutations: tuple[str, ...]


def card_beside(path: Path) -> Path:
    for one in (path, *path.parents):
        if one.suffix in (".zarr", ".shards"):
            return one.with_suffix(".json")
    raise ValueError(f"{path} is of no dataset")


def group_of(path: Path, card: dict) -> str:
    return next((part for part in path.parts if part in card["groups"]), next(iter(card["groups"])))


def stored(path: Path) -> object:
    """Read the samples of the group by both ways: for training, and as xarray sees them."""
    beside = card_beside(path)
    card = read_card(beside)
    group = group_of(path, card)
    loaded = {split: load_arrays(beside, group, split) for split in card["samples"]}
    tree = resolvent.open_dataset(beside)
    seen = {name: one.values for name, one in tree[group].to_dataset().variables.items()}
    return card, loaded, seen


def receipt(path: Path) -> object:
    """Read a receipt, as the job that finishes a dataset does, and the samples that it vouches for."""
    receipt = files.read_json(path, "the receipt")
    return receipt["errors"], receipt["digests"], stored(path)


def read_card_for_pages(path: Path) -> object:
    return read_json(path), read_card(path)


def run(path: Path) -> object:
    found = read_run(path.parent)
    return asdict(found.record), asdict(found.cost), found.errors, found.history


def predictions(path: Path) -> object:
    found = read_run(path.parent).predictions
    return {
        f"{node.path}/{name}": one.values
        for node in found.subtree
        for name, one in node.to_dataset().variables.items()
    }


def checkpoint(path: Path) -> object:
    return resolvent.load_run(path.parent).checkpoint


def baselines(path: Path) -> object:
    record, errors = read_baselines_table(path.parent)
    return asdict(record), errors


def piece(path: Path) -> object:
    from resolvent.common.digests import check_digest

    return check_digest(path).read_text(encoding="utf-8")


TEXT, JSON = ("byte", "line"), ("byte", "line", "key")
RUN = "results/*/*/*/*/seed*"
KINDS = (
    Kind("chunks of samples", "data/*/*.zarr/*/*/c/**/*", stored, ("byte",)),
    Kind("metadata of a store", "data/*/*.zarr/**/zarr.json", stored, JSON),
    Kind("receipts", "data/*/*.shards/*.json", receipt, JSON),
    Kind("cards", "data/*/*.json", read_card_for_pages, JSON),
    Kind("previews and films", "data/*/*.npz", read_arrays, ("byte",)),
    Kind("run.json", f"{RUN}/run.json", run, JSON),
    Kind("cost.json", f"{RUN}/cost.json", run, JSON),
    Kind("errors.csv", f"{RUN}/errors.csv", run, TEXT),
    Kind("history.csv", f"{RUN}/history.csv", run, TEXT),
    Kind("predictions.nc", f"{RUN}/predictions.nc", predictions, ("byte",)),
    Kind("checkpoint.pt", f"{RUN}/checkpoint.pt", checkpoint, ("byte",)),
    Kind("cost.json of baselines", "results/*/*/baselines/cost.json", baselines, JSON),
    Kind("errors.csv of baselines", "results/*/*/baselines/errors.csv", baselines, TEXT),
    Kind("comparison.csv", "results/*/*/comparison.csv", read_comparison, TEXT),
    Kind("models.csv", "results/*/*/models.csv",
         lambda p: read_comparison(p.with_name("comparison.csv")), TEXT),
    Kind("study.json", "results/*/study.json", lambda p: asdict(read_study(p.parent)), JSON),
    Kind("tuned.json", "results/*/*/*/*/tuned.json", lambda p: asdict(read_record(p, TunedRecord)), JSON),
    Kind("cost.json of tuning", "results/**/tuning/**/cost.json",
         lambda p: asdict(read_record(p, CostRecord)), JSON),
    Kind("tables of costs", "results/*/*/cost*.csv", lambda p: read_table(p, []), TEXT),
    Kind("rollouts and bases", f"{RUN}/*.npz", read_arrays, ("byte",)),
    Kind("tables for pages", "results/*/*/table[0-9]*.html", piece, TEXT),
)  # fmt: skip


def plain(value: object) -> object:
    """Return a value as numbers, text and containers that `==` compares; NaN equals NaN."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype.kind in "OUT" else value.tobytes()
    if isinstance(value, torch.Tensor):
        return plain(value.numpy())
    if hasattr(value, "to_csv"):  # a table of pandas
        return value.to_csv()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return repr(value)


def mutated(content: bytes, how: str, draw: random.Random, file: Path) -> bytes | None:
    """Return the content of a file with one change; None where it cannot be changed so."""
    return CHANGES[how](content, draw, file)


def _byte(content: bytes, draw: random.Random, file: Path) -> bytes:
    changed = bytearray(content)
    place = draw.randrange(len(changed))
    changed[place] = draw.choice([changed[place] ^ 1 << draw.randrange(8), draw.randrange(256)])
    return bytes(changed)


def _line(content: bytes, draw: random.Random, file: Path) -> bytes:
    lines = content.splitlines(keepends=True)
    place, how = draw.randrange(len(lines)), draw.choice(("removed", "doubled", "swapped", "number", "cut"))
    digits = [number for number, byte in enumerate(lines[place]) if byte in b"0123456789"]
    if how == "removed":
        del lines[place]
    elif how == "doubled":
        lines.insert(place, lines[place])
    elif how == "swapped":
        other = draw.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    elif how == "number" and digits:
        at = draw.choice(digits)
        new = b"%d" % ((lines[place][at] - 48 + draw.randrange(1, 10)) % 10)
        lines[place] = lines[place][:at] + new + lines[place][at + 1 :]
    else:
        lines[place] = lines[place][: draw.randrange(len(lines[place]))]
    return b"".join(lines)


def _containers(value: object) -> Iterator[dict]:
    if isinstance(value, dict):
        if value:
            yield value
        for one in value.values():
            yield from _containers(one)
    elif isinstance(value, list):
        for one in value:
            yield from _containers(one)


def _key(content: bytes, draw: random.Random, file: Path) -> bytes:
    found = json.loads(content)
    chosen = draw.choice(list(_containers(found)))
    del chosen[draw.choice(sorted(chosen))]
    return json.dumps(found, indent=2, ensure_ascii=False).encode()


CHANGES: dict[str, Callable[[bytes, random.Random, Path], bytes | None]] = {
    "byte": _byte, "line": _line, "key": _key,
}  # fmt: skip
