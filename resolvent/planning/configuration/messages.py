"""Words of the messages about a configuration."""

from __future__ import annotations

import reprlib
import typing
from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ValidationError

from resolvent.datasets.tasks.registry import TASKS
from resolvent.models.registry import unknown
from resolvent.planning.configuration.old_spellings import RENAMED
from resolvent.training.settings import TrainingSettings

NO_MAPPING = ("dict_type", "model_type", "model_attributes_type")  # pydantic's words for it


def explain(root: type[BaseModel], problems: list[dict], prefix: tuple = ()) -> Iterator[str]:
    """Yield entries of a `ValidationError.errors()` as lines: key, what is wrong, what is accepted."""
    for problem in problems:
        location = problem["loc"]
        if location[-1:] == ("[key]",) and problem["type"] != "extra_forbidden":
            location = location[:-1]  # pydantic's word for a problem of the key itself
        keys, beside = _walk(root, location)
        if problem["type"] == "boolean":
            keys.append(problem["ctx"]["key"])
        where = ".".join(map(str, (*prefix, *keys)))
        if problem["type"] == "extra_forbidden":
            new = RENAMED.get(str(keys[-1]))
            renamed = f"called '{new}' now" if new in beside else None
            yield f"{where}: {renamed or unknown('key', str(keys[-1]), beside)}"
        elif problem["type"] == "missing":
            yield f"{where}: required, but absent"
        elif problem["type"] == "union_tag_not_found":
            yield f"{where}.equation: required, but absent; accepted: {', '.join(TASKS)}"
        elif problem["type"] == "union_tag_invalid":
            yield f"{where}.equation: {unknown('equation', problem['ctx']['tag'], TASKS)}"
        elif problem["type"] == "value_error":
            yield f"{where}: {problem['ctx']['error']}"
        elif problem["type"] == "boolean":
            yield f"{where}: {problem['msg']}"
        elif problem["type"] in NO_MAPPING:
            yield f"{where}: a mapping of keys belongs here, got {shown(problem['input'])}"
        else:
            yield f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}, got {shown(problem['input'])}"


def partial_problems(settings: dict, location: tuple) -> Iterator[str]:
    """Yield what is wrong with training settings that override others; every key has a default."""
    try:
        TrainingSettings.model_validate(settings)
    except ValidationError as error:
        yield from explain(TrainingSettings, error.errors(), location)


def shown(value: object) -> str:
    """Show a value of the user's, as YAML gave it, however large."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def _walk(root: type[BaseModel], location: tuple) -> tuple[list, list[str]]:
    """Return the keys of `location` as the user wrote them, and the names accepted beside the last one.

    Pydantic puts the chosen equation into the location of a dataset's problem: it is no key, and is left out.
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
    """Return what stands at an annotation: a union of settings classes as a dictionary by equation."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    classes = [part for part in typing.get_args(annotation) if isinstance(part, type)]
    if classes and all("equation" in getattr(part, "model_fields", {}) for part in classes):
        return {typing.get_args(part.model_fields["equation"].annotation)[0]: part for part in classes}
    return annotation
