"""Code of users, named in a configuration as `module:name`: found, and refused in one line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from resolvent.common.errors import Words

MOST_NAMES = 24  # in a message
_LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class NoSuchModule(ValueError):
    """A module of a user's own is not to be found."""


def find(location: str, kind: type | None = None) -> Any:
    """Import what is at "module:name"; of the class `kind`, where one is given.

    Raises `ValueError`, in one line, if there is nothing, or something else.
    """
    module, _, name = location.partition(":")
    try:
        imported = import_module(module)
    except Exception as error:  # whatever a module from outside may raise
        raise not_imported(module, error) from error
    if not hasattr(imported, name):
        own = [
            one
            for one, value in vars(imported).items()
            if getattr(value, "__module__", None) == module and one[0] != "_"
        ]
        raise ValueError(unknown(f"name in module {module}:", name, own))
    found = getattr(imported, name)
    if kind is not None and not isinstance(found, kind):
        there = [one for one, value in vars(imported).items() if isinstance(value, kind)]
        raise ValueError(
            f"{location} is no {kind.__module__}.{kind.__qualname__}, but {found!r:.80}; accepted: "
            f"{', '.join(there) or 'none'}"
        )
    return found


def check_location(location: str, kind: str = "") -> str:
    """Return `location`, if it reads "module:name" and that module's file defines the name.

    The module is looked for, not imported: a configuration is read often, and torch takes seconds. Of a
    `kind`, the name of a class, only objects are suggested that the file makes by calling that class, if
    there are any. Raises `ValueError`, in one line, if not.
    """
    if not _LOCATION.fullmatch(location):
        raise ValueError(f"{location!r}; accepted: module:name of your own")
    module, _, name = location.partition(":")
    try:
        spec = find_spec(module)
    except Exception as error:
        raise not_imported(module, error, f"{location!r}: ") from error
    if spec is None:
        raise not_imported(module, ModuleNotFoundError(name=module), f"{location!r}: ")
    if spec.origin and spec.origin.endswith(".py"):
        try:
            bound = _bound_in(Path(spec.origin))
        except (SyntaxError, UnicodeDecodeError) as error:
            raise not_imported(module, error, f"{location!r}: ") from error
        if name not in bound:
            made = [one for one, called in bound.items() if called == kind] if kind else []
            raise ValueError(f"{location!r}: {unknown(kind or 'name', name, made or bound)}")
    return location


# Names that the experiments of a configuration give of code from outside of the checkout, by what they are.
MetricLocation = Annotated[str, AfterValidator(partial(check_location, kind="Metric"))]
BaselineLocation = Annotated[str, AfterValidator(partial(check_location, kind="Baseline"))]
FigureLocation = Annotated[str, AfterValidator(partial(check_location, kind="Exhibit"))]


def unknown(kind: str, name: str, accepted: Iterable[str]) -> Words:
    """Say that a name is unknown, the nearest known one, and all of those, unless they fill the screen."""
    accepted = list(accepted)
    near = get_close_matches(name, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    more = len(accepted) - MOST_NAMES
    names = ", ".join(accepted[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"unknown {kind} {name!r}; {hint}accepted: {names or 'none'}"


def not_imported(module: str, error: Exception, before: str = "") -> ValueError:
    """Return the error to raise, of one line, where a module could not be imported, or is not there."""
    if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
        missing: Words = f"no module {error.name}; it must be installed, or its folder be on PYTHONPATH"
        return NoSuchModule(before + missing)
    words = " ".join(str(error).split())
    return ValueError(f"{before}module {module} cannot be imported: {type(error).__name__}: {words}")


def _bound_in(file: Path) -> dict[str, str]:
    """Map the public names that the statements of a file bind to what their value calls, or to nothing."""
    bound: dict[str, str] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        called = ""
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
            case ast.Import(names=those) | ast.ImportFrom(names=those):
                names = [one.asname or one.name for one in those]
            case _:
                stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
                names = [one.id for one in stored if isinstance(one.ctx, ast.Store)]
                if isinstance(value := getattr(node, "value", None), ast.Call):
                    called = ast.unparse(value.func).rpartition(".")[2]
        bound |= {name: called for name in names if not name.startswith("_")}
    return bound
