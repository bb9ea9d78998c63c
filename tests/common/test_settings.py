"""The two bases of settings, of the machinery and of the models, accept and refuse the same values."""

from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

from resolvent.common import settings as common
from resolvent.datasets.tasks.registry import EQUATIONS
from resolvent.datasets.tasks.registry import settings_class as dataset_settings
from resolvent.models import settings as models
from resolvent.models.registry import ARCHITECTURES
from resolvent.models.registry import settings_class as model_settings
from resolvent.planning.configuration import settings as configuration

BASES = {"common": common.Settings, "models": models.Settings}
ACCEPTED = {  # by key: what is given, and what is read
    "integer": [(64, 64)],
    "number": [(0.5, 0.5), (2, 2.0), ("1e-2", 0.01), ("-1.5E+3", -1500.0), (".5", 0.5), ("64", 64.0)],
    "optional": [("1e-2", 0.01), (None, None)],
    "bounded": [("9e-1", 0.9)],
    "numbers": [([1, "1e-2"], [1.0, 0.01])],
    "named": [({"1e-2": "1e-2"}, {"1e-2": 0.01})],
    "flag": [(True, True)],
    "word": [("1e-2", "1e-2")],
    "choice": [("a", "a")],
}
REFUSED = {
    "integer": ["64", 64.0, True, "1e2", None],
    "number": [True, "true", "inf", "nan", "1e400", np.inf, np.nan, "0.1/(2*pi)", "1_000", " 1", [1.0]],
    "optional": [False],
    "bounded": ["1e0", True],
    "numbers": [[True], "1e-2", (1.0,)],
    "named": [{"a": True}, {1: 1.0}],
    "flag": [0, "yes"],
    "word": [1, True],
    "choice": ["b"],
    "unknown": [1],
}


def settings_on(base: type) -> type:
    class Example(base):
        integer: int = 1
        number: float = 1.0
        optional: float | None = None
        bounded: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
        numbers: list[Annotated[float, Field(gt=0)]] = Field([1.0])
        named: dict[str, float] = Field({})
        flag: bool = False
        word: str = ""
        choice: Literal["a"] = "a"

    return Example


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("key", ACCEPTED)
def test_both_bases_accept(base, key):
    for given, read in ACCEPTED[key]:
        value = getattr(settings_on(BASES[base])(**{key: given}), key)
        assert value == read
        assert type(value) is type(read)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("key", REFUSED)
def test_both_bases_refuse(base, key):
    for given in REFUSED[key]:
        with pytest.raises(ValidationError) as error:
            settings_on(BASES[base])(**{key: given})
        assert error.value.errors()[0]["loc"][0] == key, given


@pytest.mark.parametrize("base", BASES)
def test_settings_do_not_change(base):
    settings = settings_on(BASES[base])()
    with pytest.raises(ValidationError, match="frozen"):
        settings.integer = 2


def test_no_field_of_the_project_is_laxer_than_its_base():
    """A field may not say `strict=False`, or true would be 1.0 to it."""
    seen, waiting = set(), [common.Settings, models.Settings, configuration.Settings]
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
