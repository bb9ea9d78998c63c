"""Words of a configuration that become files and folders: names, resolutions, roots."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import check_installed, checked_address, is_address


def _resolution(value: Any) -> int | str:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"points along each axis, or the name of a set of times, got {value!r}")


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("empty, and it is what figures and tables say")
    if "$" in value:
        raise ValueError(f"{value!r}: '$' starts mathematics in figures; write the symbol itself, such as ν")
    return value


def _folder(value: str) -> str:
    if is_address(value):
        raise ValueError("an address; accepted: a folder")
    if value.startswith("~") or "$" in value:
        raise ValueError(f"{value!r}: '~' and '$' stand for nothing here; write the whole path")
    if set(value) & set("{}*?"):
        raise ValueError(
            f"{value!r}: '{{', '}}', '*' and '?' are patterns to Snakemake; choose another folder"
        )
    return value


def _data_root(value: str) -> str:
    if not is_address(value):
        return _folder(value)
    address = checked_address(value)
    try:
        check_installed(address)
    except DatasetError as error:
        raise ValueError(str(error)) from None
    return address


# What datasets, models, experiments and configurations are called.
Name = Annotated[str, Field(pattern="^[a-z0-9_]{1,64}$")]
# Of people, in figures and tables.
Words = Annotated[str, AfterValidator(_words)]
# Points along each axis of a grid, or the name of a set of times.
Resolution = Annotated[int | str, PlainValidator(_resolution)]
# Where files are written: below the working folder, or an absolute path.
Folder = Annotated[str, AfterValidator(_folder)]
# Where stores are written: a folder, or a folder of a bucket.
DataRoot = Annotated[str, AfterValidator(_data_root)]
