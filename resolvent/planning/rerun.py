"""Digest of what a job does and of all in the project that it reaches: the trigger of its rule to run again.

It is derived from syntax trees: of the job, of the functions, classes and constants that it uses, of what
these use in turn, and of what the modules on the way do when they are imported; and from the files that these
read. Messages are no part of it, nor what only watches a job, nor the times of files (docs/jobs.md). What a
job chooses by name when it runs is named by its rule.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import write_json
from resolvent.planning.places import HOME, PACKAGE

# Where the files of the project's packages are; a wheel has the workflow inside of resolvent.
ROOTS = {"resolvent": PACKAGE.parent, "workflow": HOME}
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
JOBS = "workflow.scripts.jobs"  # has a function for each job

# Tables from names to what a job looks up in them: rules name the entry that their job takes.
TABLES = (
    "resolvent.datasets.tasks.registry:EQUATIONS",
    "resolvent.datasets.tasks.registry:IMPORTED",
    "resolvent.figures.papers.registry:PAPERS",
    "resolvent.models.registry:ARCHITECTURES",
)
# Rooms and modules, by the last part of their name, on which no result depends: what is planned reaches a job
# as its parameters, and the others watch it, speak for it, or carry its files.
WITHOUT_RESULT = {"planning", "errors", "progress", "interruption", "addresses", "object_store"}
# Functions that predict a cost: a better prediction is no reason to run anything again.
PREDICTIONS = {"cost", "seconds_per_sample", "seconds_of_checks", "bytes_of_checks", "bytes_of_solving"}
# Methods that count only where a rule names them, "module:motion": a film is no part of the samples, nor is
# what is known of errors of predictions, and what `resolvent.solve` calls is part of no job.
ESTIMATES = ("cheap_answer", "corrected", "energy_error", "error_bounds", "symmetries")
APART = {"motion", "solve_values", *ESTIMATES}
# What the class of an architecture says of figures, tests and examples: jobs get it as a parameter.
SHOWN = {"look", "cut_off", "example", "variants"}
# Calls, and keywords of calls, whose arguments are said to a person.
SAID = re.compile("print|warn|progress_bar|.*(Error|Warning|Exception)")
SAID_KEYWORDS = {"description", "symptom", "remedy", "hint"}
WORDS = "Words"  # annotation of what is said
# Decorators that do nothing but to the function or class that they decorate.
LOCAL_DECORATORS = {
    "cache", "compiled", "compiled_exactly", "contextmanager", "dataclass", "intrinsic", "jit",
    "lru_cache", "no_grad", "partial", "runtime_checkable", "wraps",
}  # fmt: skip
# Files that modules read beside the results: patterns, from the root of the project or, of a wheel, as ROOTS.
FILES_READ = {
    f"resolvent.figures.{module}": tuple(f"resolvent/figures/{one}" for one in patterns)
    for module, *patterns in (
        ("common.assets", "assets/*"),
        (
            "common.page",
            *(f"templates/{name}" for name in ("macros.html.j2", "base.html.j2", "references.bib")),
        ),
        ("dataset.card", "templates/references.bib"),
        ("dataset.croissant", "templates/croissant_context.json"),
        ("dataset.page", "templates/dataset.html.j2"),
        ("experiment.report", "templates/report.html.j2"),
        ("front.page", "templates/front.html.j2"),
        ("papers.page", "templates/paper.html.j2"),
        ("published.tables", "papers/*/tables/*.csv"),
        ("run.page", "templates/run.html.j2", "templates/compare.html.j2"),
        ("stability.page", "templates/stability.html.j2"),
        ("theory.page", "templates/theory.html.j2"),
    )
}
# What a module imports from all modules that it finds by listing a folder.
FOUND = {"resolvent.figures.published.beside": ("resolvent/figures/papers/*/reported.py", "EXAMPLES")}

IMPORT, WHOLE = ":", ":*"  # after the name of a module: what its import does, and all that is in it
# "module:function", or a module of the project, imported when it is called or run.
LOCATION = re.compile(r"(\w+(?:\.\w+)+)(:\w+)?")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KEPT = Path(cache_from_source(__file__)).with_suffix(".json")


def does(job: str, *names: str | Callable) -> dict[str, object]:
    """Return the parameters of a rule that say what its job does: the function, and the digest of its code.

    `names` are as for `script_digest`, or one function of the wildcards that returns them.
    """
    if names and callable(of := names[0]):
        return {"job": job, "code": lambda wildcards: script_digest(job, *of(wildcards))}
    return {"job": job, "code": script_digest(job, *names)}


@cache
def script_digest(job: str, *names: str) -> str:
    """Return sixteen hexadecimal digits for what a `job` does ("train", …) and what it chooses by name.

    `names` are modules or what is in them, "module:name"; and versions of packages, "name==1.0". Raises
    `ModuleNotFoundError` for one that does not exist.
    """
    kept, key = _kept(), "\0".join((job, *names))
    if key in kept["digests"]:
        return kept["digests"][key]
    reached = sorted(everything_reached(job, *names))
    content = hashlib.sha256(repr(names).encode())
    for name in reached:
        content.update(f"{name}\0{_meaning(name)}\0".encode())
    for file in files_read(reached):
        content.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    digest = content.hexdigest()[:16]
    # Of files of a user's own the state of the project's does not know.
    if all(_module_of(name).partition(".")[0] in ROOTS for name in reached) and not sys.dont_write_bytecode:
        kept["digests"][key] = digest
        with suppress(OSError, FileError):  # it only saves time
            write_json(KEPT, kept)
    return digest


@cache
def _kept() -> dict:
    """Return the state of the project's files, and the digests that are known for it."""
    state = state_of((folder / root for root, folder in ROOTS.items()), TABLES, FILES_READ)
    with suppress(OSError, ValueError):
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.get("state") == state:
            return kept
    return {"state": state, "digests": {}}


def location_of(definition: type | Callable) -> str:
    """Return the name, as `script_digest` takes it, of a class or function."""
    return f"{definition.__module__}:{definition.__qualname__}"


@cache
def everything_reached(job: str, *names: str) -> frozenset[str]:
    """Return all that counts for the digest: "module:definition", and "module:" of what is imported."""
    if not _parts(f"{JOBS}:{job}"):
        raise ModuleNotFoundError(f"no module or function {job} in {JOBS}")
    waiting = [f"{JOBS}:{job}"]
    waiting += [name if ":" in name else name + WHOLE for name in names if "==" not in name]
    chosen, seen = set(waiting), set()
    for module in map(_module_of, waiting):
        if _file_of(module) is None:
            raise ModuleNotFoundError(f"no module {module} in {HOME}, nor installed")
    while waiting:
        name = waiting.pop()
        module = _module_of(name)
        root, *parts = module.split(".")
        if root not in ROOTS:  # code of a user's own may do anything
            name = module + WHOLE
        no_result = root in ROOTS and not WITHOUT_RESULT.isdisjoint(parts) and module not in FILES_READ
        left_out = no_result or name in TABLES
        if name in seen or _file_of(module) is None or (left_out and name not in chosen):
            continue
        seen.add(name)
        waiting += [module + IMPORT, *_used_by(name)]
        if module in FOUND:
            pattern, definition = FOUND[module]
            found = (
                file.relative_to(PACKAGE.parent).with_suffix("") for file in PACKAGE.parent.glob(pattern)
            )
            waiting += [f"{'.'.join(file.parts)}:{definition}" for file in found]
        if "." in module:  # importing a.b imports a
            waiting.append(module.rpartition(".")[0] + IMPORT)
    return frozenset(seen)


def files_read(names: Iterable[str]) -> list[Path]:
    patterns = {pattern for name in names for pattern in FILES_READ.get(_module_of(name), ())}
    return sorted({file for pattern in patterns for file in ROOTS[pattern.partition("/")[0]].glob(pattern)})


def _module_of(name: str) -> str:
    return name.partition(":")[0]


@cache
def _file_of(module: str) -> Path | None:
    root, *parts = module.split(".")
    if root not in ROOTS:  # a model or an equation of a user's own, say
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            return None
        return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
    path = ROOTS[root].joinpath(root, *parts)
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


@cache
def _of_project(module: str) -> bool:
    """Say whether a module's code counts: the project's, and other code that is no installed library."""
    top = module.partition(".")[0]
    if top in ROOTS:
        return True
    file = _file_of(top)
    return file is not None and not any(file.is_relative_to(folder) for folder in LIBRARIES)


@cache
def _tree(file: Path) -> ast.Module:
    """Return the syntax tree without what is said, imports for type checkers, and predictions of costs."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    _strip(tree)
    for owner in [node for node in tree.body if isinstance(node, ast.ClassDef)]:
        for method in [one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name in APART]:
            owner.body.remove(method)
            method.decorator_list = []
            tree.body.append(method)
    return tree


# `NodeTransformer` takes twice as long.
def _strip(node: ast.AST) -> None:
    _strip_here(node)
    for key in node._fields:
        value = getattr(node, key, None)
        if isinstance(value, ast.AST):
            _strip(value)
        elif isinstance(value, list):
            value[:] = [one for one in value if not _without_result(node, one)]
            for one in value:
                if isinstance(one, ast.AST):
                    _strip(one)


def _without_result(owner: ast.AST, node: object) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return name in PREDICTIONS or (isinstance(owner, ast.ClassDef) and name in SHOWN)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return isinstance(owner, ast.ClassDef) and name in SHOWN
    return False


def _strip_here(node: ast.AST) -> None:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            node.body = []
        case ast.Raise(exc=ast.Call() as error):
            error.args, error.keywords = [], []
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if SAID.fullmatch(name):
            node.args, node.keywords = [], []
        case ast.Call():
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in SAID_KEYWORDS]
        case ast.AnnAssign(value=ast.Dict() as table, annotation=annotation) if _are_words(annotation):
            table.values = []
        case ast.AnnAssign(annotation=annotation) if _are_words(annotation):
            node.value = None
        case ast.FunctionDef(returns=annotation) if _are_words(annotation):
            node.body = []
        case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                    node.body = rest


def _are_words(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        isinstance(node, ast.Name) and node.id == WORDS for node in ast.walk(annotation)
    )


@cache
def _contents(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module by the name that they define; under "" what its import does.

    A decorator that could enter its function in a list elsewhere makes it part of the import.
    """
    contents: dict[str, list[ast.stmt]] = {"": []}
    for node in _tree(_file_of(module)).body:
        for name in _defined_by(node) or {""}:
            contents.setdefault(name, []).append(node)
        if isinstance(node, DEFINITIONS) and not all(map(_is_local, node.decorator_list)):
            contents[""].append(node)
    return contents


def _defined_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines; none when it does something else as well."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    parts = [part for one in targets for part in ast.walk(one)]
    if not all(isinstance(part, ast.Name | ast.Tuple | ast.Store) for part in parts):
        return set()
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _is_local(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in LOCAL_DECORATORS


@cache
def _parts(name: str) -> tuple[ast.stmt, ...]:
    """Return the statements of "module:definition", "module:" or "module:*"."""
    module, _, definition = name.partition(":")
    if definition == "*":
        return tuple(_tree(_file_of(module)).body)
    return tuple(_contents(module).get(definition, ()))


@cache
def _meaning(name: str) -> str:
    return "\n".join(
        _text(part) for part in _parts(name) if not isinstance(part, ast.Import | ast.ImportFrom)
    )


def _text(value: object) -> str:
    """Return a syntax tree as text, the same for every version of Python that parses it alike."""
    if isinstance(value, ast.AST):
        fields = []
        for key in value._fields:
            one = getattr(value, key, None)
            if one is not None and one != []:
                fields.append(f"{key}={_text(one)}")
        return f"{type(value).__name__}({','.join(fields)})"
    return f"[{','.join(map(_text, value))}]" if isinstance(value, list) else repr(value)


@cache
def _used_by(name: str) -> frozenset[str]:
    """Return what a definition, or the import of a module, uses: of its module, and of others."""
    module, _, definition = name.partition(":")
    contents, bound = _contents(module), _bound_in(module)
    if definition not in ("", "*", *contents):  # of another module, or made when it is asked for
        return frozenset(bound.get(definition, {module + WHOLE}))
    used: set[str] = set()
    for part in _parts(name):
        nodes = list(ast.walk(part))
        here = {**bound, **_bound_by(nodes)} if definition else bound
        owners = set()
        for node in nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    used |= {_module_of(target) + IMPORT for _, target in _imported(node)}
                case ast.Attribute(value=ast.Name(id=one) as owner, attr=attribute) if one in here:
                    owners.add(owner)
                    used |= {
                        f"{_module_of(target)}:{attribute}" if target.endswith(WHOLE) else target
                        for target in here[one]
                    }
                case ast.Name(id=one) if node not in owners:
                    used |= here.get(one, set())
                    used |= {f"{module}:{one}"} if one in contents else set()
                case ast.Constant(value=str(value)):
                    found = LOCATION.fullmatch(value)
                    if found and (_of_project(found[1]) if found[2] else value.startswith("resolvent.")):
                        used.add(value if found[2] else value + WHOLE)
    return frozenset(used)


@cache
def _bound_in(module: str) -> dict[str, set[str]]:
    body = _tree(_file_of(module)).body
    return _bound_by(node for one in body if not isinstance(one, DEFINITIONS) for node in ast.walk(one))


def _bound_by(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return the names that imports among the nodes bind, each with what of the project is behind it."""
    bound: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, target in _imported(node):
                bound.setdefault(name, set()).add(target)
    return bound


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that an import statement binds, each with the project's module or definition behind it.

    The project uses absolute imports only.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            if _of_project(alias.name):
                yield alias.asname or alias.name.partition(".")[0], alias.name + WHOLE
    elif node.module and _of_project(node.module):
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            target = inner + WHOLE if _file_of(inner) else f"{node.module}:{alias.name}"
            yield alias.asname or alias.name, target


def state_of(folders: Iterable[Path], *names: object) -> str:
    """Return the hash of all files below `folders`, but for compiled ones, and of `names`."""
    content = hashlib.sha256(repr(names).encode())
    for folder in folders:
        for where, inner, files in os.walk(folder, followlinks=True):
            inner[:] = sorted(set(inner) - {"__pycache__"})
            for name in sorted(files):
                file = Path(where, name)
                with suppress(OSError):  # the link that an editor leaves beside an open file leads nowhere
                    found = file.read_bytes()
                    content.update(f"{file.relative_to(folder)}\0{len(found)}\0".encode() + found)
    return content.hexdigest()
