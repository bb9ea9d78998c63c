"""Which files the samples of each split come from, as `source` says. Light to import."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import ZARR, is_remote

SPLIT_NAMES = ("train", "validation", "test")
ROLES = ("input", "target")
FORMS: Words = (
    "a path, a folder, a pattern such as data/*.npy, a list of these, {input: …, target: …}, or {train: …, "
    "validation: …, test: …} of any of them"
)
# What files of data end in; others in a folder are left alone.
ENDINGS = (
    *(
        ".npy",
        ".npz",
        ".mat",
        ".h5",
        ".hdf5",
        ".hdf",
        ".he5",
        ".nc",
        ".nc4",
        ".cdf",
        ".netcdf",
        ".pt",
        ".pth",
    ),
    ".zarr",
)
PATTERN = re.compile(r"[*?\[]")
_SPLIT_WORDS = {"train": "train", "val": "validation", "test": "test"}  # how names of splits begin
_ROLE_WORDS = {"in": "input", "out": "target", "target": "target"}


@dataclass(frozen=True)
class Pool:
    """Files whose samples follow each other, for one split or several; each is a path for every role."""

    splits: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def pools_of(source: Any) -> list[Pool]:
    """Return the pools of a `source` as it is written: folders and patterns among the paths.

    Raises
    ------
    ValueError
        When it has none of the accepted forms.
    """
    if isinstance(source, str):
        return [Pool(SPLIT_NAMES, _files(source))]
    if isinstance(source, list):
        if len(source) == 2:
            return [Pool(("train",), _files(source[0])), Pool(("validation", "test"), _files(source[1]))]
        return [Pool(SPLIT_NAMES, _files(source))]
    if set(source) == set(ROLES):
        return [Pool(SPLIT_NAMES, _files(source))]
    if not source or not set(source) <= set(SPLIT_NAMES):
        raise ValueError(f"source has the keys {', '.join(source) or 'none'}; accepted: {FORMS}")
    parts: dict[tuple[str, ...], Any] = {(split,): source[split] for split in SPLIT_NAMES if split in source}
    if "train" in source and "validation" not in source:
        parts = {("train", "validation"): parts.pop(("train",)), **parts}
    return [Pool(splits, _files(entry)) for splits, entry in parts.items()]


def found_pools(source: Any) -> list[Pool]:
    """Return the pools of a `source` with the files, in natural order, of every folder and pattern.

    Raises
    ------
    DatasetError
        When there is none, or it is open what each of them is.
    ValueError
        As `pools_of`.
    """
    return [Pool(pool.splits, tuple(_found(pool))) for pool in pools_of(source)]


def paths_of(source: Any) -> list[str]:
    """Return every file of a `source`, each once, in order. Raises as `found_pools`."""
    return list(
        dict.fromkeys(path for pool in found_pools(source) for pair in pool.files for path in pair.values())
    )


def parts_of_one(paths: list[str]) -> bool:
    """Say whether the names of files differ in numbers alone."""
    return len({without_numbers(path) for path in paths}) == 1


def in_natural_order(paths: list[str]) -> list[str]:
    """Sort paths as people count: `part9` before `part10`."""
    return sorted(paths, key=lambda path: [(len(one), one) if one.isdigit() else (0, one)
                                           for one in re.split(r"(\d+)", path)])  # fmt: skip


def _files(entry: Any) -> tuple[dict[str, str], ...]:
    """Return the paths of an entry, for every role; of lists for each role those that stand side by side."""
    both = dict.fromkeys(ROLES, entry) if isinstance(entry, str | list) else entry
    if isinstance(both, dict) and set(both) == set(ROLES):
        given, wanted = ([one] if isinstance(one, str) else one for one in (both["input"], both["target"]))
        lists = isinstance(given, list) and isinstance(wanted, list) and len(given) == len(wanted) > 0
        if lists and all(isinstance(path, str) for path in (*given, *wanted)):
            return tuple(dict(zip(ROLES, pair, strict=True)) for pair in zip(given, wanted, strict=True))
    raise ValueError(f"source: {entry!r}; accepted: {FORMS}")


def _found(pool: Pool):
    """Yield the files of a pool; of two patterns those with the same numbers belong together."""
    for pair in pool.files:
        given, wanted = (_expanded(pair[role]) for role in ROLES)
        if len(given) != len(wanted):
            raise DatasetError(
                f"source has {len(given)} files of inputs ({pair['input']}) and {len(wanted)} of targets "
                f"({pair['target']}); expected: as many"
            )
        for one, other in zip(given, wanted, strict=True):
            numbers = [re.findall(r"\d+", Path(path).stem) for path in (one, other)]
            if len(given) > 1 and numbers[0] != numbers[1]:
                raise DatasetError(
                    f"source puts together {one} and {other}; expected: the same numbers in both names; or "
                    "write lists of the files of each"
                )
            yield {"input": one, "target": other}


def _expanded(path: str) -> list[str]:
    """Return the files of a folder or a pattern; of any other path itself, whether there is a file or not."""
    if is_remote(path):
        if PATTERN.search(path.partition("?")[0]):
            raise DatasetError(f"{path} is a pattern at an address; expected: a list of addresses in source")
        return [path]
    place = Path(path)
    if place.is_dir() and place.suffix != ".zarr" and not any((place / name).exists() for name in ZARR):
        found = [str(one) for one in place.iterdir() if one.suffix.lower() in ENDINGS and one.name[0] != "."]
        folders = [str(one) for one in place.iterdir() if one.is_dir() and one.suffix != ".zarr"]
        if not found and not folders:
            raise DatasetError(
                f"the file {path} is a folder without files of data; expected: a file, a Zarr store with "
                f"zarr.json, or files that end in {', '.join(ENDINGS)}"
            )
        found = found or [one for one in folders if Path(one).name[0] != "."]
    elif PATTERN.search(path) and not place.exists():
        anchor = place.anchor or "."
        matches = Path(anchor).glob(str(place.relative_to(place.anchor)))
        found = [str(one) for one in matches if one.name[0] != "."]
        if not found:
            raise DatasetError(f"no file is named {path}; paths are from the working folder, or absolute")
    else:
        return [path]
    found = in_natural_order(found)
    if not parts_of_one(found) or any(Path(one).is_dir() and not _is_store(one) for one in found):
        raise DatasetError(
            f"{path} has files of more than one kind; write which is which, as in {_block(found)}"
        )
    return found


def _is_store(path: str) -> bool:
    return Path(path).suffix == ".zarr" or any((Path(path) / name).exists() for name in ZARR)


def without_numbers(path: str) -> str:
    """Return a pattern for a path and for those that differ from it in numbers alone."""
    place = Path(path)
    return re.sub(r"\d+", "*", str(place.with_suffix(""))) + place.suffix


def _block(found: list[str]) -> Words:
    """Return a `source` for files of several names, with a pattern for those that differ in numbers alone."""
    groups: dict[str, list[str]] = {}
    for path in found:
        groups.setdefault(str(Path(path).with_name(without_numbers(Path(path).name))), []).append(path)
    entries = [pattern if len(paths) > 1 else paths[0] for pattern, paths in groups.items()]
    for words in (_SPLIT_WORDS, _ROLE_WORDS):
        keys = [next((key for word, key in words.items() if Path(one).name.lower().startswith(word)), "")
                for one in entries]  # fmt: skip
        if all(keys) and len(set(keys)) == len(keys):
            ordered = sorted(
                zip(keys, entries, strict=True), key=lambda one: (*SPLIT_NAMES, *ROLES).index(one[0])
            )
            return f"source: {{{', '.join(f'{key}: {entry}' for key, entry in ordered)}}}"
    if len(entries) == 2:
        return f"source: {{input: {entries[0]}, target: {entries[1]}}}"
    return f"source: [{', '.join(entries)}]"
