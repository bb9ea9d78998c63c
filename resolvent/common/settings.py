"""The base of the settings classes: strict, so that a slip in a configuration is an error and not a
default."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Seed = Annotated[int, Field(ge=0, lt=2**63)]


class Settings(BaseModel):
    """Base: unknown keys are errors, numbers are finite, and true is no number."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _true_is_no_number(cls, given: Any) -> Any:
        for key, value in given.items() if isinstance(given, dict) else ():
            field = cls.model_fields.get(key)
            if isinstance(value, bool) and field is not None and field.annotation is not bool:
                words = "yes and on" if value else "no and off"
                raise PydanticCustomError(
                    "boolean", f"got {value}, which is how YAML reads {words}", {"key": key}
                )
        return given


def settings_hash(settings: BaseModel | dict) -> str:
    """Name these settings by twelve hexadecimal digits: equal settings, equal name, on every machine."""
    content = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
