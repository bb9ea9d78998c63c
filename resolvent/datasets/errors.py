"""Errors of stored datasets, with one-line messages that a user can act on."""

from pathlib import Path

from resolvent.common.errors import ResolventError


class DatasetError(ResolventError):
    """A store is missing, incomplete, damaged, or lacks the requested data."""


def in_one_line(error: object) -> str:
    """Return the message of another package's error on one line."""
    return " ".join(str(error).split())


def gone(store: Path | str) -> str:
    """Return the message for a missing store whose card exists."""
    return f"the store {store} is missing; snakemake regenerates it, to the same bytes"


def damaged(store: Path | str, how: str) -> DatasetError:
    """Return the error for `store` (path or address) with what is wrong (`how`) and how to regenerate it."""
    return DatasetError(
        f"the store {store} {how}; regenerate it with snakemake -R solve_{Path(store).parent.name}"
    )
