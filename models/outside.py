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
from typing import Annotated, Any, TypeGuard

from pydantic import AfterValidator

Words = str  # what is said to a person: a result does not depend on it
MOST_NAMES = 24  # in a message


class NoSuchModule(ValueError):
    """A module of a user's own is not to be found."""


_LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


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
        raise ValueError(unknown(f"name in module {module}:", name, _public_names(imported)))
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
    there are any.

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
        raise not_imported(module, error, f"{location!r}: ") from error
    if spec is None:
        raise not_imported(module, ModuleNotFoundError(name=module), f"{location!r}: ")
    if spec.origin and spec.origin.endswith(".py"):
        try:
            defined = _defined_in(Path(spec.origin))
        except (SyntaxError, UnicodeDecodeError) as error:
            raise ValueError(f"{location!r}: {why_not(module, error)}") from error
        if name not in defined:
            made = _made_in(Path(spec.origin), kind) if kind else []
            raise ValueError(f"{location!r}: {unknown(kind or 'name', name, made or defined)}")
    return location


# Names that the experiments of a configuration give of code from outside of the checkout, by what they are.
MetricLocation = Annotated[str, AfterValidator(partial(check_location, kind="Metric"))]
BaselineLocation = Annotated[str, AfterValidator(partial(check_location, kind="Baseline"))]
FigureLocation = Annotated[str, AfterValidator(partial(check_location, kind="OwnFigure"))]


def unknown(kind: str, name: str, accepted: Iterable[str]) -> Words:
    """Say that a name is unknown, the nearest known one, and all of those, unless they fill the screen."""
    accepted = list(accepted)
    near = get_close_matches(name, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    more = len(accepted) - MOST_NAMES
    names = ", ".join(accepted[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"unknown {kind} {name!r}; {hint}accepted: {names or 'none'}"


def not_imported(module: str, error: Exception, before: str = "") -> ValueError:
    """Return the error to raise where a module could not be imported: `NoSuchModule` where there is none."""
    kind = NoSuchModule if _is_missing(error, module) else ValueError
    return kind(f"{before}{why_not(module, error)}")


def _is_missing(error: Exception, module: str) -> TypeGuard[ModuleNotFoundError]:
    return isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")


def why_not(module: str, error: Exception) -> Words:
    """Say in one line why a module could not be imported."""
    if _is_missing(error, module):
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


def _made_in(file: Path, kind: str) -> list[str]:
    """Return the names that the statements of a file bind to what a call of `kind` returns."""
    names: list[str] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            called = node.value.func
            if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == kind:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names += [one.id for one in targets if isinstance(one, ast.Name)]
    return names


def _public_names(module: Any) -> list[str]:
    own = vars(module).items()
    return [
        name
        for name, value in own
        if getattr(value, "__module__", None) == module.__name__ and name[0] != "_"
    ]
