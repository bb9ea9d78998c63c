"""The base of all settings accepts what is meant, and refuses slips."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from resolvent.common import settings as common
from resolvent.datasets.tasks.registry import EQUATIONS
from resolvent.datasets.tasks.registry import settings_class as dataset_settings
from resolvent.models.registry import ARCHITECTURES
from resolvent.models.registry import settings_class as model_settings
from resolvent.planning.configuration import settings as configuration

ACCEPTED = [
    ("integer", 64, 64),
    ("number", 0.5, 0.5),
    ("number", 2, 2.0),
    ("number", "1e-2", 0.01),
    ("number", "-1.5E+3", -1500.0),
    ("number", ".5", 0.5),
    ("number", "64", 64.0),
    ("optional", "1e-2", 0.01),
    ("optional", None, None),
    ("bounded", "9e-1", 0.9),
    ("numbers", [1, "1e-2"], [1.0, 0.01]),
    ("named", {"1e-2": "1e-2"}, {"1e-2": 0.01}),
    ("flag", True, True),
    ("word", "1e-2", "1e-2"),
    ("choice", "a", "a"),
]
REFUSED = [
    ("integer", "64"),
    ("integer", 64.0),
    ("integer", True),
    ("integer", "1e2"),
    ("integer", None),
    ("number", True),
    ("number", "inf"),
    ("number", "1e400"),
    ("number", float("nan")),
    ("number", "0.1/(2*pi)"),
    ("number", "1_000"),
    ("optional", False),
    ("bounded", "1e0"),
    ("bounded", True),
    ("numbers", [True]),
    ("numbers", "1e-2"),
    ("named", {"a": True}),
    ("flag", "yes"),
    ("word", 1),
    ("choice", "b"),
    ("unknown", 1),
]


class Example(common.Settings):
    integer: int = 1
    number: float = 1.0
    optional: float | None = None
    bounded: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
    numbers: list[Annotated[float, Field(gt=0)]] = Field([1.0])
    named: dict[str, float] = Field({})
    flag: bool = False
    word: str = ""
    choice: Literal["a"] = "a"


@pytest.mark.parametrize(("key", "given", "read"), ACCEPTED)
def test_what_is_meant_is_accepted(key, given, read):
    value = getattr(Example(**{key: given}), key)
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize(("key", "given"), REFUSED, ids=repr)
def test_slips_are_refused(key, given):
    with pytest.raises(ValidationError) as error:
        Example(**{key: given})
    assert error.value.errors()[0]["loc"][0] == key


def test_settings_do_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        Example().integer = 2


def test_no_field_of_the_project_is_laxer_than_its_base():
    """A field may not say `strict=False`, or true would be 1.0 to it."""
    seen, waiting = set(), [common.Settings, configuration.Settings]
    for settings_class, names in ((dataset_settings, EQUATIONS), (model_settings, ARCHITECTURES)):
        assert all(map(settings_class, names))  # imports them
    while waiting:
        waiting += waiting.pop().__subclasses__()
        seen |= set(waiting)
    lax = [
        f"{one.__name__}.{name}"
        for one in seen
        if one.__module__.startswith("resolvent")
        for name, field in one.model_fields.items()
        if any(getattr(note, "strict", None) is False for note in field.metadata)
    ]
    assert len(seen) > 20
    assert not lax
