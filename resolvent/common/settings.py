"""Strict base class of settings: a misspelt key in a configuration is an error, not a default."""

from __future__ import annotations

import hashlib
import json
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seed = Annotated[int, Field(ge=0, lt=2**63)]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Settings(BaseModel):
    """Base: unknown keys are errors, numbers are finite, "64" is not an integer, and true is not a number.

    YAML 1.1 reads `1e-2` as text, so a float (but no integer) may be given as text.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _numbers_in_text(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields
        return {
            key: _read_numbers(value, fields[key].annotation) if key in fields else value
            for key, value in given.items()
        }


def _read_numbers(value: Any, annotation: Any) -> Any:
    """Replace text such as "1e-2" by the number where `annotation` requires a number."""
    kind, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is float and isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if kind is list and isinstance(value, list):
        return [_read_numbers(entry, parts[0]) for entry in value]
    if kind is dict and isinstance(value, dict):
        return {key: _read_numbers(entry, parts[1]) for key, entry in value.items()}
    if kind in (typing.Annotated, typing.Union, types.UnionType):
        for part in parts[:1] if kind is typing.Annotated else parts:
            value = _read_numbers(value, part)
    return value


def without_defaults(settings: BaseModel, exclude: Iterable[str] = ()) -> dict[str, Any]:
    """Return the settings that differ from their defaults, as plain values.

    They identify results: a new setting changes nothing, and a changed default is a new version.
    """
    return settings.model_dump(mode="json", exclude=set(exclude), exclude_defaults=True)


def settings_hash(settings: BaseModel | dict) -> str:
    """Return twelve hexadecimal digits, the same for equal settings on every machine."""
    content = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


CHOOSE = "choose one of "  # begins a value that `resolvent import` leaves to the user


def choose_one_of(candidates: Iterable[str]) -> str:
    return CHOOSE + "; ".join(candidates)


def open_choices(content: Any, key: str = "") -> Iterator[str]:
    """Yield a line for each value of a configuration that the user has not chosen yet."""
    if isinstance(content, str) and content.startswith(CHOOSE):
        yield f"{key}: not chosen yet; write {content.removeprefix('choose ')}"
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield from open_choices(value, f"{key}.{name}" if key else str(name))
    elif isinstance(content, list):
        for value in content:
            yield from open_choices(value, key)
