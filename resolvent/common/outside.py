"""Import users' own code, named `module:name` in a configuration; errors fit on one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from symtable import symtable
from typing import Annotated, Any

from pydantic import AfterValidator

MOST_NAMES = 32  # listed in a message
LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class NoSuchModule(ValueError):
    """A user's own module was not found."""


def find(location: str, kind: type | None = None, base: type | None = None) -> Any:
    """Import the object "module:name": an instance of `kind`, or a subclass of `base`, if given.

    Raises `ValueError` with a one-line message if the object is missing or of another type.
    """
    module, _, name = location.partition(":")
    try:
        imported = import_module(module)
    except Exception as error:  # a user's module may raise anything
        raise not_imported(module, error) from error
    if not hasattr(imported, name):
        public = {key: value for key, value in vars(imported).items() if key[0] != "_"}
        own = [key for key, value in public.items() if getattr(value, "__module__", None) == module]
        raise ValueError(unknown(f"name in module {module}:", name, own))

    def suits(value: object) -> bool:
        if base is not None:
            return isinstance(value, type) and issubclass(value, base)
        return kind is None or isinstance(value, kind)

    value = getattr(imported, name)
    if not suits(value):
        needed = base or kind
        assert needed is not None
        wanted = f"{'subclass of ' if base else ''}{needed.__module__}.{needed.__qualname__}"
        there = [key for key, other in vars(imported).items() if suits(other) and other is not base]
        raise ValueError(
            f"{location} is {value!r:.80}, not a {wanted}; accepted: {', '.join(there) or 'none'}"
        )
    return value


def check_location(location: str) -> str:
    """Return `location` if it has the form "module:name" and the module's file defines the name.

    The module is not imported: configurations are read often, and importing torch takes seconds. Raises
    `ValueError` with a one-line message otherwise.
    """
    if not LOCATION.fullmatch(location):
        raise ValueError(f"{location!r} is not a location; accepted: module:name of your own")
    module, _, name = location.partition(":")
    try:
        spec = find_spec(module)
        if spec is None:
            raise ModuleNotFoundError(name=module)
        file = Path(spec.origin or "")
        if file.suffix != ".py":
            return location
        symbols = symtable(file.read_text(encoding="utf-8"), file.name, "exec").get_symbols()
    except Exception as error:  # a user's module may raise anything
        raise not_imported(module, error, f"{location!r}: ") from error
    bound = [symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()]
    if name not in bound:
        public = [symbol for symbol in bound if symbol[0] != "_"]
        raise ValueError(f"{location!r}: {unknown('name', name, public)}")
    return location


Location = Annotated[str, AfterValidator(check_location)]  # in a configuration


def unknown(kind: str, name: str, accepted: Iterable[str]) -> str:
    """Return a message that a name is unknown, with the nearest and the first `MOST_NAMES` known names."""
    accepted = list(accepted)
    near = get_close_matches(name, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    more = len(accepted) - MOST_NAMES
    names = ", ".join(accepted[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"unknown {kind} {name!r}; {hint}accepted: {names or 'none'}"


def not_imported(module: str, error: Exception, before: str = "") -> ValueError:
    """Return an error with a one-line message for a module that is missing or fails to import."""
    if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
        missing = f"no module {error.name}; install it, or add its folder to PYTHONPATH"
        return NoSuchModule(before + missing)
    words = " ".join(str(error).split())
    return ValueError(f"{before}module {module} cannot be imported: {type(error).__name__}: {words}")
