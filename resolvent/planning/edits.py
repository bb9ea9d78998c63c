"""Find what is edited in this checkout, and whether its numbers moved since the release.

`versions.json` has the version of each part and the SHA-256 of each of their files at the release. Of a part
whose files differ, the golden numbers are computed (`resolvent.planning.golden`), once for each state of its
files. Nothing is imported if no file differs.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source, find_spec, resolve_name
from itertools import chain
from pathlib import Path

from resolvent.common.errors import FileError, ResolventError
from resolvent.common.files import write_json
from resolvent.planning.places import PACKAGE

TABLE = Path(__file__).with_name("versions.json")
KEPT = Path(cache_from_source(__file__)).with_suffix(".json")
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}


@cache
def table() -> dict[str, dict]:
    """Return the `versions` of all parts, and the SHA-256 of all their `files` by module, at the release."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


@cache
def changed_modules() -> frozenset[str]:
    """Return the modules of the table whose files are not those of the release."""
    return frozenset(
        module
        for module, expected in table()["files"].items()
        if (file := file_of(module)) is None or sha256_of(file) != expected
    )


def edited(parts: Mapping[str, tuple[str, ...]]) -> dict[str, dict]:
    """Return `version` and `shift` of the edited ones among `parts`, given with their modules.

    The version is a number as long as the golden numbers are those of this version, else it names the edit.
    `shift` says how far they moved, or why they could not be computed; it is empty if they did not move.
    """
    digests, changed = {}, changed_modules()
    for part, modules in parts.items():
        is_new = part not in table()["versions"]
        files = files_behind(*modules) if changed or is_new else {}
        if is_new or changed & files.keys():
            digests[part] = digest_of(files)
    if not digests:
        return {}
    kept: dict[str, dict] = {}
    with suppress(OSError, ValueError):
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
    missing = [part for part, digest in digests.items() if kept.get(part, {}).get("digest") != digest]
    if missing:
        print(f"edited: {', '.join(missing)}; computing their golden numbers", file=sys.stderr)
        command = [sys.executable, "-m", "resolvent.planning.golden", "--edited", *missing]
        paths = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": paths}
        made = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
        if made.returncode:
            raise ResolventError("the golden numbers of edited code cannot be computed; the reason is above")
        kept |= {part: facts | {"digest": digests[part]} for part, facts in json.loads(made.stdout).items()}
        with suppress(OSError, FileError):  # kept only to save time
            write_json(KEPT, kept)
    return {part: kept[part] for part in digests}


def remarks(parts: Mapping[str, tuple[str, ...]], rules: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each edited part whose numbers moved, and a line for all others together.

    `rules` names the rules that compute with a part.
    """
    lines, unmoved = [], {}
    for part, facts in edited(parts).items():
        if facts["shift"]:
            edit = f"{part} is edited, and {facts['shift']}"
            lines.append(f"{edit}: what uses it runs again, as version {facts['version']}")
        else:
            unmoved[part] = rules.get(part, ())
    if unmoved:
        again = " ".join(dict.fromkeys(chain.from_iterable(unmoved.values())))
        lines.append(
            f"edited, but with the golden numbers of the release: {', '.join(unmoved)}; results stand (-R "
            f"{again} makes them anyway)"
        )
    return lines


def files_behind(*modules: str) -> dict[str, Path]:
    """Return the files of modules, of the package or of a user, and of all such modules that they import."""
    waiting, files = list(modules), {}
    of_package = modules[0].startswith("resolvent.")
    while waiting:
        module = waiting.pop()
        if module in files or module.startswith("resolvent.") != of_package or not (file := file_of(module)):
            continue
        files[module] = file
        waiting += _imported_by(file, module)
    return files


@cache
def _imported_by(file: Path, module: str) -> tuple[str, ...]:
    """Return all modules that a file imports, except for type checkers, and names that may be modules."""
    package, names = module if file.stem == "__init__" else module.rpartition(".")[0], []
    for statement in ast.parse(file.read_bytes()).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = resolve_name("." * node.level + (node.module or ""), package)
                names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(names)


@cache
def file_of(module: str) -> Path | None:
    """Return the file of a module of the package or of a user; None for a library or an unknown name."""
    top, *parts = module.split(".")
    if top == "resolvent":
        path = PACKAGE.joinpath(*parts)
        candidates = (path.with_suffix(".py"), path / "__init__.py")
        return next((file for file in candidates if file.is_file()), None)
    if parts and _is_library(top):  # finding a submodule would import the library
        return None
    try:
        origin = getattr(find_spec(module), "origin", None) or ""
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(origin) if origin.endswith(".py") and not _in_a_library(origin) else None


@cache
def _is_library(top: str) -> bool:
    spec = find_spec(top)
    if spec is None or spec.origin is None:  # a folder without __init__.py may be a user's
        return spec is None
    return _in_a_library(spec.origin) or spec.origin == "built-in"


def _in_a_library(file: str) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in LIBRARIES)


@cache
def digest_behind(module: str) -> str:
    """Return the SHA-256 of a user's module and of the own modules that it imports."""
    return digest_of(files_behind(module))


def digest_of(files: Mapping[str, Path]) -> str:
    """Return the SHA-256 of names and contents of files."""
    lines = "".join(f"{name} {sha256_of(files[name])}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


@cache
def sha256_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
