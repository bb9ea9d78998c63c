"""Code of users, named in a configuration as `module:name`: found, and refused in one line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

MOST_NAMES = 24  # in a message
_LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def find(location: str, kind: type | None = None) -> Any:
    """Import what is at "module:name"; of the class `kind`, where one is given.

    Raises `ValueError`, in one line, if there is nothing, or something else.
    """
    module, _, name = location.partition(":")
    try:
        imported = import_module(module)
    except Exception as error:  # whatever a module from outside may raise
        raise ValueError(why_not(module, error)) from error
    if not hasattr(imported, name):
        raise ValueError(unknown(f"name in module {module}:", name, _public_names(imported)))
    found = getattr(imported, name)
    if kind is not None and not isinstance(found, kind):
        raise ValueError(f"{location} is no {kind.__module__}.{kind.__qualname__}, but {found!r:.80}")
    return found


def check_location(location: str) -> str:
    """Return `location`, if it reads "module:name" and that module's file defines the name.

    The module is looked for, not imported: a configuration is read often, and torch takes seconds.

    Raises
    ------
    ValueError
        In one line, if not.
    """
    if not _LOCATION.fullmatch(location):
        raise ValueError(f"{location!r}; accepted: module:name of your own")
    module, _, name = location.partition(":")
    try:
        spec = find_spec(module)
    except Exception as error:
        raise ValueError(f"{location!r}: {why_not(module, error)}") from error
    if spec is None:
        missing = ModuleNotFoundError(name=module)
        raise ValueError(f"{location!r}: {why_not(module, missing)}")
    if spec.origin and spec.origin.endswith(".py"):
        try:
            defined = _defined_in(Path(spec.origin))
        except (SyntaxError, UnicodeDecodeError) as error:
            raise ValueError(f"{location!r}: {why_not(module, error)}") from error
        if name not in defined:
            raise ValueError(f"{location!r}: {unknown('name', name, defined)}")
    return location


# A name that the experiments of a configuration give of code from outside of the checkout.
Location = Annotated[str, AfterValidator(check_location)]


def unknown(kind: str, name: str, accepted: Iterable[str]) -> str:
    """Say that a name is unknown, the nearest known one, and all of those, unless they fill the screen."""
    accepted = list(accepted)
    near = get_close_matches(name, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    more = len(accepted) - MOST_NAMES
    names = ", ".join(accepted[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"unknown {kind} {name!r}; {hint}accepted: {names or 'none'}"


def why_not(module: str, error: Exception) -> str:
    """Say in one line why a module could not be imported."""
    if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
        return f"no module {error.name}; it must be installed, or its folder be on PYTHONPATH"
    words = " ".join(str(error).split())
    return f"module {module} cannot be imported: {type(error).__name__}: {words}"


def _defined_in(file: Path) -> list[str]:
    """Return the public names that the statements of a file bind, in their order."""
    names: list[str] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.Import(names=those) | ast.ImportFrom(names=those):
                names += [one.asname or one.name for one in those]
            case _:
                names += [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def _public_names(module: Any) -> list[str]:
    own = vars(module).items()
    return [
        name
        for name, value in own
        if getattr(value, "__module__", None) == module.__name__ and name[0] != "_"
    ]
