"""Which files the samples of each split come from, as `source` says. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SPLIT_NAMES = ("train", "validation", "test")
ROLES = ("input", "target")
FORMS = (
    "a path, a list of two, {input: …, target: …}, or {train: …, validation: …, test: …} of paths, lists or "
    "pairs"
)


@dataclass(frozen=True)
class Pool:
    """Files whose samples follow each other, for one split or several; each is a path for every role."""

    splits: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def pools_of(source: Any) -> list[Pool]:
    """Return the pools of a `source`.

    Raises
    ------
    ValueError
        When it has none of the accepted forms.
    """
    if isinstance(source, str):
        return [Pool(SPLIT_NAMES, _files(source))]
    if isinstance(source, list):
        if len(source) not in (1, 2):
            raise ValueError(f"source is a list of {len(source)}; accepted: {FORMS}")
        first, last = source[0], source[-1]
        return (
            pools_of(first)
            if len(source) == 1
            else [
                Pool(("train",), _files(first)),
                Pool(("validation", "test"), _files(last)),
            ]
        )
    if set(source) == set(ROLES):
        return [Pool(SPLIT_NAMES, _files(source))]
    if not source or not set(source) <= set(SPLIT_NAMES):
        raise ValueError(f"source has the keys {', '.join(source) or 'none'}; accepted: {FORMS}")
    parts: dict[tuple[str, ...], Any] = {(split,): source[split] for split in SPLIT_NAMES if split in source}
    if "train" in source and "validation" not in source:
        parts = {("train", "validation"): parts.pop(("train",)), **parts}
    return [Pool(splits, _files(entry)) for splits, entry in parts.items()]


def paths_of(source: Any) -> list[str]:
    """Return every path of a `source`, each once, in order. Raises as `pools_of`."""
    return list(
        dict.fromkeys(path for pool in pools_of(source) for pair in pool.files for path in pair.values())
    )


def _files(entry: Any) -> tuple[dict[str, str], ...]:
    if isinstance(entry, str):
        return (dict.fromkeys(ROLES, entry),)
    if isinstance(entry, list) and entry and all(map(_is_path, entry)):
        return tuple({role: str(path) for role in ROLES} for path in entry)
    if isinstance(entry, dict) and set(entry) == set(ROLES) and all(map(_is_path, entry.values())):
        return (dict(entry),)
    raise ValueError(f"source: {entry!r}; accepted: {FORMS}")


def _is_path(value: Any) -> bool:
    return isinstance(value, str)
