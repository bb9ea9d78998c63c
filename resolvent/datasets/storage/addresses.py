"""Locate stores in a folder or in an object store. Light to import.

For a store in an object store, the local path `<hash>.zarr` is a text file with its address. Files that
Snakemake watches (receipts, card, preview) or that change often (batches, locks) stay local, next to this
file.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from resolvent.common.files import write_atomically
from resolvent.datasets.errors import DatasetError, damaged

PACKAGES = {"s3": "s3fs"}  # accepted protocols, with the package that fsspec needs
LOCAL_FOLDER = "data"  # parent of the local files of an address: data/s3/bucket/folder

_PLACE = re.compile(
    r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.\.?(/|$))[A-Za-z0-9._-]{1,255})*"
)  # bucket/folder


def is_address(root: str) -> bool:
    """Return whether `root` looks like an address, valid or not."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", root) is not None


def checked_address(root: str) -> str:
    """Check the address `root`, such as "s3://bucket/folder", and return it without a trailing slash.

    Raises `ValueError` if a store cannot have this address. The message repeats no credentials.
    """
    protocol, _, rest = root.partition("://")
    if set(rest) & set("@:?"):
        raise ValueError(
            "an address must not contain '@', ':' or '?'; set credentials and the server by environment "
            "variables, such as AWS_PROFILE and AWS_ENDPOINT_URL"
        )
    if protocol not in PACKAGES or not _PLACE.fullmatch(rest.rstrip("/")):
        accepted = ", ".join(f"{name}://bucket/folder" for name in PACKAGES)
        raise ValueError(
            f"{root!r} is not an address of a store; accepted: {accepted} (bucket: 3 to 63 lower-case "
            "letters, digits, '.' and '-'; folders: also capitals and '_'), or a local folder"
        )
    return root.rstrip("/")


def check_installed(address: str) -> None:
    """Raise `DatasetError` if the package for the protocol of `address` is missing."""
    package = PACKAGES[address.partition("://")[0]]
    if importlib.util.find_spec(package) is None:
        raise DatasetError(
            f"{address} needs the package {package}: pip install -c constraints.txt -e '.[cloud]'"
        )


def local_folder(root: str) -> Path:
    """Return the folder of local files for the data at `root`: `root` itself, or a mirror of an address."""
    return Path(LOCAL_FOLDER, *re.split("://|/", root)) if is_address(root) else Path(root)


def link(path: Path, address: str) -> None:
    """Write a file at `path` that points to the store at `address`."""
    write_atomically(path, lambda temporary: temporary.write_text(f"{address}\n", encoding="utf-8"))


def located(path: Path | str) -> Path | str:
    """Return the address or the path of the store at `path`. Raises `DatasetError` for invalid addresses."""
    if is_address(str(path)):
        return str(path)
    path = Path(path)
    if not path.is_file():
        return path
    try:
        return checked_address(path.read_text(encoding="utf-8").removesuffix("\n"))
    except ValueError as error:
        raise damaged(path, f"has no valid address ({error})") from None


def card_beside(address: str) -> str:
    """Return the address of the card of the store at `address`."""
    return address.removesuffix(".zarr") + ".json"
