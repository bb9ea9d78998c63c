"""Types of values in a configuration: names, texts, folders, resolutions and lists."""

from __future__ import annotations

import os
from pathlib import Path
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
        raise ValueError("empty, but shown in figures and tables; write a text")
    if "$" in value:
        raise ValueError(f"{value!r}: '$' starts mathematics in figures; write the symbol itself, such as ν")
    return value


def _folder(value: str) -> str:
    there = next((one for one in (Path(value), *Path(value).parents) if os.path.lexists(one)), None)
    outside = not os.path.isabs(value) and os.path.normpath(value).split("/")[0] == ".."
    for wrong, message in (
        (is_address(value), "an address; accepted: a folder"),
        (value[:1] == "~" or "$" in value, f"{value!r}: '~' and '$' are not expanded; write the whole path"),
        (set(value) & set("{}*?"), f"{value!r}: '{{', '}}', '*' and '?' are Snakemake patterns; remove them"),
        (not value.strip(), "empty; '.' is the working folder"),
        (outside, f"{value!r} is outside the working folder; to use it, write the absolute path"),
        (
            there is not None and not there.is_dir(),
            f"{str(there)!r} is a file or a broken link; accepted: a folder, existing or new",
        ),
    ):
        if wrong:
            raise ValueError(message)
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


def each_once(values: list) -> list:
    """Return `values`. Raises `ValueError` if an entry is repeated."""
    if repeated := [one for one in values if values.count(one) > 1]:
        raise ValueError(f"{repeated[0]} is named {len(repeated)} times")
    return values


def _shifted(values: list) -> list:
    if 1 in values:
        raise ValueError("1 is the training distribution, which is always tested; remove it")
    return values


def _in_labels(values: list) -> list:
    for one in values:
        _words(str(one))
    return values


# Name of a dataset, model, experiment or configuration.
Name = Annotated[str, Field(pattern="^[a-z0-9_]{1,64}$")]
# Text in figures and tables.
Words = Annotated[str, AfterValidator(_words)]
# Points along each axis of a grid, or name of a set of times.
Resolution = Annotated[int | str, PlainValidator(_resolution)]
# Folder for files: a path below the working folder, or an absolute path.
Folder = Annotated[str, AfterValidator(_folder)]
# Folder for stores: as above, or an address in an object store.
DataRoot = Annotated[str, AfterValidator(_data_root)]
# Lists of an experiment: sizes, values that become part of labels, and factors of a parameter.
Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(each_once)]
Values = Annotated[list[Any], Field(min_length=1), AfterValidator(each_once), AfterValidator(_in_labels)]
Factors = Annotated[
    list[Annotated[float, Field(gt=0)]],
    Field(min_length=1),
    AfterValidator(each_once),
    AfterValidator(_shifted),
]
