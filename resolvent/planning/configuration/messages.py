"""Words of the messages about a configuration."""

from __future__ import annotations

import reprlib
import typing
from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ValidationError

from resolvent.datasets.tasks.registry import TASKS
from resolvent.models.registry import unknown

NO_MAPPING = ("dict_type", "model_type", "model_attributes_type")  # pydantic's words for it


def explain(root: type[BaseModel], error: ValidationError, prefix: tuple = ()) -> Iterator[str]:
    """Pydantic's faults as lines: key, what is wrong, what is accepted."""
    for fault in error.errors():
        location = fault["loc"]
        if location[-1:] == ("[key]",) and fault["type"] != "extra_forbidden":
            location = location[:-1]  # pydantic's word for a fault of the key itself
        keys, beside = _walk(root, location)
        if fault["type"] == "boolean":
            keys.append(fault["ctx"]["key"])
        where = ".".join(map(str, (*prefix, *keys)))
        if fault["type"] == "extra_forbidden":
            yield f"{where}: {unknown('key', str(keys[-1]), beside)}"
        elif fault["type"] == "missing":
            yield f"{where}: required, but absent"
        elif fault["type"] == "union_tag_not_found":
            yield f"{where}.equation: required, but absent; accepted: {', '.join(TASKS)}"
        elif fault["type"] == "union_tag_invalid":
            yield f"{where}.equation: {unknown('equation', fault['ctx']['tag'], TASKS)}"
        elif fault["type"] == "value_error":
            yield f"{where}: {fault['ctx']['error']}"
        elif fault["type"] == "boolean":
            yield f"{where}: {fault['msg']}"
        elif fault["type"] in NO_MAPPING:
            yield f"{where}: a mapping of keys belongs here, got {_shown(fault['input'])}"
        else:
            yield f"{where}: {fault['msg'][0].lower()}{fault['msg'][1:]}, got {_shown(fault['input'])}"


def _shown(value: object) -> str:
    """A value of the user's, as YAML gave it, however large."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def _walk(root: type[BaseModel], location: tuple) -> tuple[list, list[str]]:
    """The keys of `location` as the user wrote them, and the names accepted beside the last one.

    Pydantic puts the chosen equation into the location of a dataset's fault: it is no key, and is left out.
    """
    keys, place, accepted = [], root, []
    for part in location:
        if isinstance(place, dict):  # settings classes by equation
            place = place[part]
            continue
        keys.append(part)
        if isinstance(place, type) and issubclass(place, BaseModel):
            accepted = list(place.model_fields)
            field = place.model_fields.get(part)
            place = _inside(field.annotation) if field else None
        else:
            place = _inside(typing.get_args(place)[-1]) if typing.get_args(place) else None
    return keys, accepted


def _inside(annotation: object) -> object:
    """What stands at an annotation: a union of settings classes as a dictionary by equation."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    classes = [part for part in typing.get_args(annotation) if isinstance(part, type)]
    if classes and all("equation" in getattr(part, "model_fields", {}) for part in classes):
        return {typing.get_args(part.model_fields["equation"].annotation)[0]: part for part in classes}
    return annotation
