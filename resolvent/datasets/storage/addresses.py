"""Where a store lies: in a folder, or at the address of an object store. Light to import.

A store at an address has at the path of a local one, `<hash>.zarr`, a text file with that address. What
Snakemake watches (receipts, card, preview) and what changes often (batches, locks) stays beside it.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from resolvent.common.files import write_atomically
from resolvent.datasets.errors import DatasetError, damaged

PACKAGES = {"s3": "s3fs"}  # what fsspec needs for the protocols that are accepted
LOCAL_FOLDER = "data"  # of what stays local: data/s3/bucket/folder

_PLACE = re.compile(
    r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.\.?(/|$))[A-Za-z0-9._-]{1,255})*"
)  # bucket/folder


def is_address(root: str) -> bool:
    """Say whether `root` is written as an address, right or wrong."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", root) is not None


def checked_address(root: str) -> str:
    """Check `root`, such as "s3://bucket/folder", and return it without a slash at its end.

    Raises `ValueError` when it is not one that a store can have. The message repeats no credentials.
    """
    protocol, _, rest = root.partition("://")
    if set(rest) & set("@:?"):
        raise ValueError(
            "an address has no '@', ':' or '?'; credentials and the server are environment variables, such "
            "as AWS_PROFILE and AWS_ENDPOINT_URL"
        )
    if protocol not in PACKAGES or not _PLACE.fullmatch(rest.rstrip("/")):
        accepted = ", ".join(f"{name}://bucket/folder" for name in PACKAGES)
        raise ValueError(
            f"{root!r} is no address of a store; accepted: {accepted}, the bucket of 3 to 63 lower-case "
            "letters, digits, '.' and '-', folders with capitals and '_' too; or a folder on this disk"
        )
    return root.rstrip("/")


def check_installed(address: str) -> None:
    """Raise `DatasetError` when the package for the protocol of `address` is missing."""
    package = PACKAGES[address.partition("://")[0]]
    if importlib.util.find_spec(package) is None:
        raise DatasetError(
            f"{address} needs the package {package}: pip install -c constraints.txt -e '.[cloud]'"
        )


def local_folder(root: str) -> Path:
    """Give the folder of what stays local of the data at `root`: itself, or one that mirrors an address."""
    return Path(LOCAL_FOLDER, *re.split("://|/", root)) if is_address(root) else Path(root)


def link(path: Path, address: str) -> None:
    """Make `path` stand for the store at `address`."""
    write_atomically(path, lambda temporary: temporary.write_text(f"{address}\n", encoding="utf-8"))


def located(path: Path | str) -> Path | str:
    """Find where the store at `path`, which may be an address itself, lies: an address, or the path.

    Raises `DatasetError` when `path` is a file, and no address is in it.
    """
    if is_address(str(path)):
        return str(path)
    path = Path(path)
    if not path.is_file():
        return path
    try:
        return checked_address(path.read_text(encoding="utf-8").removesuffix("\n"))
    except ValueError as error:
        raise damaged(path, f"leads nowhere ({error})") from None


def card_beside(address: str) -> str:
    """Give the address of the card of the store at `address`."""
    return address.removesuffix(".zarr") + ".json"
