"""What goes wrong with a stored dataset, in one line a user can act on."""

from pathlib import Path

from resolvent.common.errors import ResolventError, Words


class DatasetError(ResolventError):
    """A store is missing, incomplete, damaged, or does not hold what was asked for."""


def in_one_line(error: object) -> Words:
    """Return the words of an error of another package."""
    return " ".join(str(error).split())


def gone(store: Path | str) -> Words:
    """Say of a store that is not there, though its card is, how it comes back."""
    return f"the store {store} is gone: snakemake makes it again, to the same bytes"


def damaged(store: Path | str, how: str) -> DatasetError:
    """Build the error that says what is wrong with `store`, a path or an address, and how to mend it."""
    return DatasetError(
        f"the store {store} {how}; make it again with snakemake -R solve_{Path(store).parent.name}"
    )
