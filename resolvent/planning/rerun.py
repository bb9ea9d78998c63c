"""Compute the digest of a job's code, including all project code it reaches: a change reruns its rule.

The digest covers the syntax trees of the job, of the functions, classes and constants that it uses directly
or indirectly, and of the module-level code that runs on import, and the contents of the files they read. It
ignores messages, code that only monitors a job, and modification times (docs/jobs.md). Names looked up at run
time (equations, architectures, papers) are not imports, so each rule lists the names it uses.
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

# Parent folders of the project's packages; a wheel has the workflow inside resolvent.
ROOTS = {"resolvent": PACKAGE.parent, "workflow": HOME}
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
JOBS = "workflow.scripts.jobs"  # has a function for each job

# Registries that a job looks names up in. Not covered as a whole: rules list the entry that their job uses.
TABLES = (
    "resolvent.datasets.tasks.registry:EQUATIONS",
    "resolvent.datasets.tasks.registry:IMPORTED",
    "resolvent.figures.papers.registry:PAPERS",
    "resolvent.models.registry:ARCHITECTURES",
)
# Packages and modules, by the last part of their name, that no result depends on: plans reach a job as its
# parameters; the others monitor it, print messages, or transfer its files.
WITHOUT_RESULT = {"planning", "errors", "progress", "interruption", "addresses", "object_store"}
# Functions that predict a cost: a better prediction must not rerun anything.
PREDICTIONS = {"cost", "seconds_per_sample", "seconds_of_checks", "bytes_of_checks", "bytes_of_solving"}
# Methods that count only for rules that list them ("module:motion"): films and error estimates do not affect
# the samples, and no job calls the methods of `resolvent.solve`.
ESTIMATES = ("cheap_answer", "corrected", "energy_error", "error_bounds", "symmetries")
APART = {"motion", "solve_values", *ESTIMATES}
# Attributes of architectures for figures, tests and examples: jobs receive them as parameters.
SHOWN = {"look", "cut_off", "example", "variants"}
# Calls, and keywords of calls, whose arguments are messages to users.
SAID = re.compile("print|warn|progress_bar|.*(Error|Warning|Exception)")
SAID_KEYWORDS = {"description", "symptom", "remedy", "hint"}
WORDS = "Words"  # annotation of strings that are messages
# Decorators without effects outside the decorated function or class.
LOCAL_DECORATORS = {
    "cache", "compiled", "compiled_exactly", "contextmanager", "dataclass", "intrinsic", "jit",
    "lru_cache", "no_grad", "partial", "runtime_checkable", "wraps",
}  # fmt: skip
# Files of the project that modules read at run time: patterns relative to ROOTS.
FILES_READ = {
    f"resolvent.figures.{module}": tuple(f"resolvent/figures/{one}" for one in patterns)
    for module, *patterns in (
        ("common.assets", "assets/*"),
        ("common.page", "templates/macros.html.j2", "templates/base.html.j2", "templates/references.bib"),
        ("dataset.card", "templates/references.bib"),
        ("dataset.croissant", "templates/croissant_context.json"),
        ("dataset.page", "templates/dataset.html.j2"),
        ("experiment.report", "templates/report.html.j2"),
        ("front.page", "templates/front.html.j2"),
        ("papers.page", "templates/paper.html.j2"),
        ("published.tables", "papers/*/tables/*.csv"),
        ("run.page", "templates/run.html.j2", "templates/compare.html.j2"),
    )
}
# Names that a module imports from every module found by listing a folder.
FOUND = {
    "resolvent.figures.published.reported_numbers": ("resolvent/figures/papers/*/reported.py", "EXAMPLES")
}

IMPORT, WHOLE = ":", ":*"  # suffixes of a module's name: its import-time code, and its whole content
# A string "module:function", or the name of one of the project's modules, that is imported at run time.
LOCATION = re.compile(r"(\w+(?:\.\w+)+)(:\w+)?")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KEPT = Path(cache_from_source(__file__)).with_suffix(".json")


def does(job: str, *names: str | Callable) -> dict[str, object]:
    """Return the rule parameters `job` and `code`; `names` may be one function of the wildcards."""
    if names and callable(of := names[0]):
        return {"job": job, "code": lambda wildcards: script_digest(job, *of(wildcards))}
    return {"job": job, "code": script_digest(job, *names)}


@cache
def script_digest(job: str, *names: str) -> str:
    """Return 16 hexadecimal digits for the code of a `job` ("train", …) and for what it looks up by name.

    `names` are modules, definitions ("module:name") and versions of packages ("name==1.0"). Raises
    `ModuleNotFoundError` for an unknown job or module.
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
    # The cache is keyed by the state of the project's files, which does not cover a user's own modules.
    if all(_module_of(name).partition(".")[0] in ROOTS for name in reached) and not sys.dont_write_bytecode:
        kept["digests"][key] = digest
        with suppress(OSError, FileError):  # the cache only saves time
            write_json(KEPT, kept)
    return digest


@cache
def _kept() -> dict:
    """Return the cached digests for the current state of the project's files."""
    state = state_of((folder / root for root, folder in ROOTS.items()), TABLES, FILES_READ)
    with suppress(OSError, ValueError):
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.get("state") == state:
            return kept
    return {"state": state, "digests": {}}


def location_of(definition: type | Callable) -> str:
    """Return the name of a class or function in the form that `script_digest` accepts."""
    return f"{definition.__module__}:{definition.__qualname__}"


@cache
def everything_reached(job: str, *names: str) -> frozenset[str]:
    """Return everything the digest covers: "module:definition", and "module:" for import-time code."""
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
        if root not in ROOTS:  # a user's own code may have side effects: cover the whole module
            name = module + WHOLE
        no_result = root in ROOTS and not WITHOUT_RESULT.isdisjoint(parts) and module not in FILES_READ
        left_out = no_result or name in TABLES
        if name in seen or _file_of(module) is None or (left_out and name not in chosen):
            continue
        seen.add(name)
        waiting += [module + IMPORT, *_used_by(name)]
        if module in FOUND:
            pattern, definition = FOUND[module]
            found = [file.relative_to(PACKAGE.parent) for file in PACKAGE.parent.glob(pattern)]
            waiting += [f"{'.'.join(file.with_suffix('').parts)}:{definition}" for file in found]
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
    if root not in ROOTS:  # for example a user's own model or equation
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            return None
        return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
    path = ROOTS[root].joinpath(root, *parts)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


@cache
def _of_project(module: str) -> bool:
    """Return whether the digest covers a module: project code, and user code outside installed libraries."""
    top = module.partition(".")[0]
    if top in ROOTS:
        return True
    file = _file_of(top)
    return file is not None and not any(file.is_relative_to(folder) for folder in LIBRARIES)


@cache
def _tree(file: Path) -> ast.Module:
    """Return the syntax tree without messages, imports for type checkers, and cost predictions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    _strip(tree)
    for owner in [node for node in tree.body if isinstance(node, ast.ClassDef)]:
        for method in [one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name in APART]:
            owner.body.remove(method)
            method.decorator_list = []
            tree.body.append(method)
    return tree


# Not `ast.NodeTransformer`, which takes twice as long.
def _strip(node: ast.AST) -> None:
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
    for key in node._fields:
        value = getattr(node, key, None)
        if isinstance(value, list):
            value[:] = [one for one in value if not _without_result(node, one)]
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                _strip(one)


def _without_result(owner: ast.AST, node: object) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return name in PREDICTIONS or (isinstance(owner, ast.ClassDef) and name in SHOWN)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return isinstance(owner, ast.ClassDef) and name in SHOWN
    return False


def _are_words(annotation: ast.expr | None) -> bool:
    nodes = ast.walk(annotation) if annotation else ()
    return any(isinstance(node, ast.Name) and node.id == WORDS for node in nodes)


@cache
def _contents(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module by the name they define, and under "" its import-time code."""
    contents: dict[str, list[ast.stmt]] = {"": []}
    for node in _tree(_file_of(module)).body:
        for name in _defined_by(node) or {""}:
            contents.setdefault(name, []).append(node)
        # A decorator that may register the function elsewhere has an effect on import.
        if isinstance(node, DEFINITIONS) and not all(map(_is_local, node.decorator_list)):
            contents[""].append(node)
    return contents


def _defined_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines; empty if it also has other effects."""
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
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "attr", getattr(called, "id", "")) in LOCAL_DECORATORS


@cache
def _parts(name: str) -> tuple[ast.stmt, ...]:
    """Return the statements of "module:definition", "module:" or "module:*"."""
    module, _, definition = name.partition(":")
    if definition == "*":
        return tuple(_tree(_file_of(module)).body)
    return tuple(_contents(module).get(definition, ()))


@cache
def _meaning(name: str) -> str:
    parts = (part for part in _parts(name) if not isinstance(part, ast.Import | ast.ImportFrom))
    return "\n".join(map(_text, parts))


def _text(value: object) -> str:
    """Return a syntax tree as text that does not depend on the version of Python."""
    if isinstance(value, ast.AST):
        fields = [(key, getattr(value, key, None)) for key in value._fields]
        texts = [f"{key}={_text(one)}" for key, one in fields if one is not None and one != []]
        return f"{type(value).__name__}({','.join(texts)})"
    return f"[{','.join(map(_text, value))}]" if isinstance(value, list) else repr(value)


@cache
def _used_by(name: str) -> frozenset[str]:
    """Return the names that a definition, or the import of a module, uses, in its own and other modules."""
    module, _, definition = name.partition(":")
    contents, bound = _contents(module), _bound_in(module)
    if definition not in ("", "*", *contents):  # imported from another module, or created at run time
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
    """Return the names bound by import statements in `nodes`, each with its project definitions."""
    bound: dict[str, set[str]] = {}
    for node in (one for one in nodes if isinstance(one, ast.Import | ast.ImportFrom)):
        for name, target in _imported(node):
            bound.setdefault(name, set()).add(target)
    return bound


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an absolute import binds, with the project module or definition it refers to."""
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
    """Return the hash of all files below `folders`, except `__pycache__`, and of `names`."""
    content = hashlib.sha256(repr(names).encode())
    for folder in folders:
        for where, inner, files in os.walk(folder, followlinks=True):
            inner[:] = sorted(set(inner) - {"__pycache__"})
            for name in sorted(files):
                file = Path(where, name)
                with suppress(OSError):  # editors mark open files with dangling links
                    found = file.read_bytes()
                    content.update(f"{file.relative_to(folder)}\0{len(found)}\0".encode() + found)
    return content.hexdigest()
