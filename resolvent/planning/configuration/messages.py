"""Turn validation errors of a configuration into messages for users."""

from __future__ import annotations

import reprlib
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError

from resolvent.common.outside import unknown
from resolvent.datasets.tasks.registry import EQUATIONS, settings_class
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.training.settings import TrainingSettings

NO_MAPPING = ("dict_type", "model_type", "model_attributes_type")  # pydantic's error types


def explain(
    root: type[BaseModel], problems: Sequence[Any], content: Any, prefix: tuple = ()
) -> Iterator[str]:
    """Yield one line for each entry of `ValidationError.errors()`: key, what is wrong, what is accepted."""
    for problem in problems:
        location = problem["loc"]
        if location[-1:] == ("[key]",) and problem["type"] != "extra_forbidden":
            location = location[:-1]  # pydantic adds "[key]" for a problem of the key itself
        keys, beside = _walk(root, location, content)
        where = ".".join(map(str, (*prefix, *keys)))
        if problem["type"] == "extra_forbidden":
            yield f"{where}: {unknown('key', str(keys[-1]), beside)}"
        elif problem["type"] == "missing":
            yield f"{where}: required, but absent"
        elif problem["type"] == "no_equation":
            yield f"{where}.equation: required, but absent; accepted: {', '.join(EQUATIONS)}"
        elif problem["type"] == "unknown_equation":
            yield f"{where}.equation: {unknown('equation', problem['ctx']['equation'], EQUATIONS)}"
        elif problem["type"] == "value_error":
            yield f"{where}: {problem['ctx']['error']}"
        elif problem["type"] == "list_type":
            given = shown(problem["input"])
            yield f"{where}: expected a list, got {given}; write [{given}]"
        elif problem["type"] in NO_MAPPING:
            yield f"{where}: expected a mapping of keys, got {shown(problem['input'])}"
        else:
            yield f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}, got {shown(problem['input'])}"


def partial_problems(settings: dict, location: tuple) -> Iterator[str]:
    """Yield the problems of training settings that override others, and so need not be complete."""
    try:
        TrainingSettings.model_validate(settings)
    except ValidationError as error:
        yield from explain(TrainingSettings, error.errors(), settings, location)


def shown(value: object) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def _walk(root: Any, location: tuple, content: Any) -> tuple[list, list[str]]:
    """Return the keys of `location` as the user wrote them, and the keys accepted at its last level."""
    accepted: list[str] = []
    keys, place = [], root
    for part in location:
        if place is DatasetSettings:
            place = settings_class(content["equation"], "source" in content)
        keys.append(part)
        content = content.get(part) if isinstance(content, dict) else None
        if isinstance(place, type) and issubclass(place, BaseModel):
            accepted = list(place.model_fields)
            field = place.model_fields.get(part)
            place = _inside(field.annotation) if field else None
        else:
            place = _inside(typing.get_args(place)[-1]) if typing.get_args(place) else None
    return keys, accepted


def _inside(annotation: Any) -> Any:
    """Return the type inside `Annotated` and optional annotations."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and len(parts) == 2 and parts[1] is types.NoneType:
        return _inside(parts[0])
    return parts[0] if origin is Annotated else annotation
