"""Resolve `source` to the files of each split, and compute the SHA-256 of each file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolvent.common.digests import file_digest
from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import ZARR, filesystem, is_remote, unreachable
from resolvent.datasets.storage.layout import SPLITS

ROLES = ("input", "target")
FORMS = (
    "a path, a folder, a pattern such as data/*.npy, a list of these, {input: …, target: …}, or {train: …, "
    "validation: …, test: …} with any of these"
)
# Suffixes of data files; other files in a folder are ignored.
ENDINGS = (
    *(".npy", ".npz", ".mat", ".h5", ".hdf5", ".hdf", ".he5"),
    *(".nc", ".nc4", ".cdf", ".netcdf", ".pt", ".pth", ".zarr"),
)
PATTERN = re.compile(r"[*?\[]")
KNOWN = Path(".snakemake/source_digests.json")  # cache of digests in the working folder
# Metadata of remote files, by fsspec's keys.
SAID = ("size", "ETag", "etag", "LastModified", "last_modified", "mtime", "created", "blob_id", "sha")


@dataclass(frozen=True)
class Pool:
    """Files with consecutive samples for one or more splits; each entry has a path for every role."""

    splits: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def pools_of(source: Any) -> list[Pool]:
    """Return the pools of a `source`, with patterns unexpanded; `ValueError` for an unknown form."""
    parts: dict[tuple[str, ...], Any] = {SPLITS: source}
    if isinstance(source, list) and len(source) == 2:
        parts = {("train",): source[0], ("validation", "test"): source[1]}
    elif isinstance(source, dict) and set(source) != set(ROLES):
        if not source or not set(source) <= set(SPLITS):
            raise ValueError(f"source has the keys {', '.join(source) or 'none'}; accepted: {FORMS}")
        parts = {(split,): source[split] for split in SPLITS if split in source}
        if "train" in source and "validation" not in source:
            parts = {("train", "validation"): parts.pop(("train",)), **parts}
    return [Pool(splits, _files(entry)) for splits, entry in parts.items()]


def _files(entry: Any) -> tuple[dict[str, str], ...]:
    """Return the paths of an entry for every role; lists of both roles are paired in order."""
    both = dict.fromkeys(ROLES, entry) if isinstance(entry, str | list) else entry
    if isinstance(both, dict) and set(both) == set(ROLES):
        given, wanted = ([one] if isinstance(one, str) else one for one in (both["input"], both["target"]))
        lists = isinstance(given, list) and isinstance(wanted, list) and len(given) == len(wanted) > 0
        if lists and all(isinstance(path, str) for path in (*given, *wanted)):
            return tuple(dict(zip(ROLES, pair, strict=True)) for pair in zip(given, wanted, strict=True))
    raise ValueError(f"source: {entry!r}; accepted: {FORMS}")


def found_pools(source: Any) -> list[Pool]:
    """Return the pools of a `source`, with folders and patterns expanded to files in natural order.

    Files of two patterns are paired by the numbers in their names. Raises `DatasetError` if there are no
    files, or their roles are not clear.
    """
    found = []
    for pool in pools_of(source):
        files: list[dict[str, str]] = []
        for pair in pool.files:
            given, wanted = (_expanded(pair[role]) for role in ROLES)
            if len(given) != len(wanted):
                raise DatasetError(
                    f"source has {len(given)} input files ({pair['input']}) and {len(wanted)} target files "
                    f"({pair['target']}); expected: the same number"
                )
            for one, other in zip(given, wanted, strict=True):
                numbers = [re.findall(r"\d+", Path(path).stem) for path in (one, other)]
                if len(given) > 1 and numbers[0] != numbers[1]:
                    raise DatasetError(
                        f"source pairs {one} with {other}; expected: the same numbers in both names; rename "
                        "the files, or write lists of the input files and of the target files"
                    )
                files.append({"input": one, "target": other})
        found.append(Pool(pool.splits, tuple(files)))
    return found


def paths_of(source: Any) -> list[str]:
    """Return all files of a `source` in order, without duplicates. Raises as `found_pools`."""
    pools = found_pools(source)
    return list(dict.fromkeys(path for pool in pools for pair in pool.files for path in pair.values()))


def without_numbers(path: str) -> str:
    """Return a pattern for a path and all paths that differ from it only in numbers."""
    place = Path(path)
    return re.sub(r"\d+", "*", str(place.with_suffix(""))) + place.suffix


def in_natural_order(paths: list[str]) -> list[str]:
    """Sort paths by the numbers in them: `part9` before `part10`."""
    return sorted(paths, key=lambda path: [(len(one), one) if one.isdigit() else (0, one)
                                           for one in re.split(r"(\d+)", path)])  # fmt: skip


def _expanded(path: str) -> list[str]:
    """Return the files of a folder or pattern; any other path is returned even if it does not exist."""
    if is_remote(path):
        if PATTERN.search(path.partition("?")[0]):
            raise DatasetError(f"{path} is a pattern at an address; expected: a list of addresses in source")
        return [path]
    place = Path(path)
    if place.is_dir() and not _is_store(place):
        inside = [one for one in place.iterdir() if one.name[0] != "."]
        found = [one for one in inside if one.suffix.lower() in ENDINGS]
        found = found or [one for one in inside if one.suffix.lower() == ".csv" or one.is_dir()]
        if not found:
            raise DatasetError(
                f"{path} is a folder without data files; expected: a file, a Zarr store with zarr.json, or "
                f"files that end in {', '.join(ENDINGS)}"
            )
    elif PATTERN.search(path) and not place.exists():
        matches = Path(place.anchor or ".").glob(str(place.relative_to(place.anchor)))
        found = [one for one in matches if one.name[0] != "."]
        if not found:
            raise DatasetError(
                f"no file matches {path}; paths are relative to the working folder, or absolute"
            )
    else:
        return [path]
    names = in_natural_order(list(map(str, found)))
    kinds = {without_numbers(name): name for name in names}
    if len(kinds) > 1 or any(one.is_dir() and not _is_store(one) for one in found):
        raise DatasetError(
            f"{path} has files of more than one kind, such as {', '.join(list(kinds.values())[:4])}; choose "
            f"their roles in source; accepted: {FORMS}"
        )
    return names


def _is_store(place: Path) -> bool:
    return place.suffix == ".zarr" or any((place / name).exists() for name in ZARR)


def content_digest(path: Path | str) -> str:
    """Return the SHA-256 of a file, Zarr store or address.

    Hashing a large file takes seconds, and every planning needs it, so it is cached by size, inode and times
    of the file (the change time cannot be set back). A folder (a Zarr store) is hashed over names and SHA-256
    of its files. The content at an address is not read: its metadata (size, and tag or time) are hashed.
    """
    if is_remote(str(path)):
        files, place = filesystem(str(path))
        try:
            entries = files.find(place, detail=True) or {place: files.info(place)}
        except Exception as error:  # anything: servers, networks, permissions
            raise unreachable(str(path), error) from None
        said = {
            name.removeprefix(place): {key: str(entry[key]) for key in SAID if entry.get(key) is not None}
            for name, entry in entries.items()
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    path, known = Path(path), {}
    with suppress(FileNotFoundError, FileError):
        known = read_json(KNOWN, "the list of digests")
    try:
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        times = [one.stat() for one in inside]
        seen = [[now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns] for now in times]
        key = str(path.resolve())
        if known.get(key, {}).get("seen") == seen:
            return known[key]["sha256"]
        lines = (f"{one.relative_to(path).as_posix()}\0{file_digest(one)}\n" for one in inside)
        of_store = hashlib.sha256("".join(lines).encode()).hexdigest() if path.is_dir() else ""
        digest = of_store or file_digest(path)
    except OSError as error:
        raise DatasetError(f"the file {path} cannot be read ({error.strerror})") from None
    if KNOWN.parent.is_dir():
        with suppress(FileError):  # the folder may not be writable
            write_json(KNOWN, {**known, key: {"seen": seen, "sha256": digest}})
    return digest


def check_digests(
    expected: list[str] | None, paths: Sequence[Path | str], found: list[str], remedy: str
) -> None:
    """Raise `DatasetError` if a file's SHA-256 is not the expected one; None accepts any."""
    if expected is None:
        return
    if len(expected) != len(found):
        raise DatasetError(f"sha256 has {len(expected)} entries for {len(found)} files; {remedy}")
    for path, digest, wanted in zip(paths, found, expected, strict=True):
        if digest != wanted:
            raise DatasetError(f"{path}: its SHA-256 is {digest}; expected: {wanted}; {remedy}")
