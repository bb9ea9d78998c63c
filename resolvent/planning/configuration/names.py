"""Words of a configuration that become files and folders: names, resolutions, roots."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import check_installed, checked_address, is_address

NAME = re.compile(r"[a-z0-9_]{1,64}")
# Of devices of Windows, where no file or folder may have them.
DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[1-9]")
FORMULA = ("=", "+", "-", "@")  # what begins with these is computed by a spreadsheet that opens a table
COMPONENT_BYTES = 255  # of one folder's name, on every common file system


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} cannot name a folder on every machine; accepted: lower-case letters, digits and '_', "
            "at most 64"
        )
    if DEVICES.fullmatch(value):
        raise ValueError(f"{value!r} is a device on Windows, not a folder; choose another name")
    return value


def _resolution(value: Any) -> int | str:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"points along each axis, or the name of a set of times, got {value!r}")


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("empty, and it is what figures and tables say")
    if value.startswith(FORMULA):
        raise ValueError(f"{value!r}: spreadsheets compute what begins with {value[0]!r}; choose a letter")
    if "$" in value:
        raise ValueError(f"{value!r}: '$' starts mathematics in figures; write the symbol itself, such as ν")
    return value


def _folder(value: str) -> str:
    if is_address(value):
        raise ValueError("an address; accepted: a folder")
    if not value.strip():
        raise ValueError("empty; '.' is the working folder")
    if value.startswith("~") or "$" in value:
        raise ValueError(f"{value!r}: '~' and '$' stand for nothing here; write the whole path")
    if set(value) & set("{}*?"):
        raise ValueError(
            f"{value!r}: '{{', '}}', '*' and '?' are patterns to Snakemake; choose another folder"
        )
    if any(len(part.encode()) > COMPONENT_BYTES for part in value.split("/")):
        raise ValueError(f"a folder's name has at most {COMPONENT_BYTES} bytes")
    if not os.path.isabs(value) and os.path.normpath(value).split("/")[0] == "..":
        raise ValueError(f"{value!r} leaves the working folder; if that is meant, write the absolute path")
    there = next((one for one in (Path(value), *Path(value).parents) if os.path.lexists(one)), None)
    if there is not None and not there.is_dir():
        raise ValueError(f"{str(there)!r} is a file, or a link to nothing; accepted: a folder, there or not")
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
Name = Annotated[str, AfterValidator(_name)]
# Of people, in figures and tables.
Words = Annotated[str, AfterValidator(_words)]
# Points along each axis of a grid, or the name of a set of times.
Resolution = Annotated[int | str, PlainValidator(_resolution)]
# Where files are written: below the working folder, or an absolute path.
Folder = Annotated[str, AfterValidator(_folder)]
# Where stores are written: a folder, or a folder of a bucket.
DataRoot = Annotated[str, AfterValidator(_data_root)]
