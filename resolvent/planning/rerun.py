"""Digest of a rule's script and of all in the project that it reaches: the rule's trigger to run again.

Every rule carries the digest of its script as a parameter, so that an edited solver, model, loss or template
runs again exactly what depends on it. It is derived from the syntax trees of the script and, through imports
(also those within functions), of project modules, and from the files that these modules read. Comments,
docstrings, descriptions of settings, and the times of files do not count.

What a script chooses by name when it runs is no import: the equation of a dataset, the architecture of a
model, the item of a paper. The tables with these names are left out, and a rule names the chosen entry.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from resolvent.planning.kept_digests import keep, read_kept, state_of
from resolvent.planning.places import HOME, PACKAGE

# Where the files of the project's packages are; a wheel has the workflow inside of resolvent.
ROOTS = {"resolvent": PACKAGE.parent, "workflow": HOME}
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
SCRIPTS = "workflow.scripts"

# Tables from names to what a job looks up in them: rules name the entry that their job takes.
TABLES = (
    "resolvent.datasets.motion.registry:MOTIONS",
    "resolvent.datasets.tasks.registry:EQUATIONS",
    "resolvent.datasets.tasks.registry:IMPORTED",
    "resolvent.figures.papers.registry:PAPERS",
    "resolvent.models.registry:ARCHITECTURES",
)
# Modules with the settings of many things: of these and of the tables' modules only the definitions that are
# used count, and what those use.
SETTINGS = (
    "resolvent.common.settings",
    "resolvent.datasets.tasks.settings",
    "resolvent.models.afno.settings",
    "resolvent.models.calvello2024.patched_settings",
    "resolvent.models.calvello2024.settings",
    "resolvent.models.cao2021.settings",
    "resolvent.models.deeponet.settings",
    "resolvent.models.fno.settings",
    "resolvent.models.neuraloperator.settings",
    "resolvent.models.settings",
    "resolvent.models.transolver.settings",
    "resolvent.models.unet.settings",
    "resolvent.training.settings",
    "resolvent.measurements.settings",
)
# Modules on which no result depends. What is planned with the configuration reaches a job as its parameters,
# or as a prediction of its cost, and a better prediction is no reason to write a report again.
WITHOUT_RESULT = (
    "resolvent",  # the names of `import resolvent`
    "resolvent.datasets.storage.addresses",
    "resolvent.common.errors",
    "resolvent.datasets.errors",
    "resolvent.datasets.storage.object_store",
    "resolvent.common.progress",
    "resolvent.common.watchdog",
    "resolvent.figures.common.errors",
    "resolvent.models.cost",
    "resolvent.solvers.common.errors",
    "resolvent.training.epoch_progress",
    "resolvent.training.errors",
    "resolvent.training.interruption",
    "resolvent.planning.configuration.load",
    "resolvent.planning.configuration.read",
    "resolvent.planning.job",
    "resolvent.planning.prediction.needs",
    "resolvent.planning.plan",
)
# Methods of settings that predict a cost: a better prediction is no reason to run anything again.
PREDICTIONS = ("cost", "seconds_per_sample", "seconds_of_checks", "bytes_of_checks", "bytes_of_solving")
# Files that modules read beside the results: patterns, from the root of the project or, of a wheel, as ROOTS.
FILES_READ = {
    "resolvent.figures.common.assets": ("resolvent/figures/assets/*",),
    "resolvent.figures.common.page": (
        "resolvent/figures/templates/macros.html.j2",
        "resolvent/figures/templates/base.html.j2",
        "resolvent/figures/templates/references.bib",
    ),
    "resolvent.figures.dataset.citation": ("resolvent/figures/templates/references.bib",),
    "resolvent.figures.dataset.croissant": ("resolvent/figures/templates/croissant_context.json",),
    "resolvent.figures.dataset.page": ("resolvent/figures/templates/dataset.html.j2",),
    "resolvent.figures.front.page": ("resolvent/figures/templates/front.html.j2",),
    "resolvent.figures.papers.page": ("resolvent/figures/templates/paper.html.j2",),
    "resolvent.figures.experiment.report": ("resolvent/figures/templates/report.html.j2",),
    "resolvent.figures.run.page": (
        "resolvent/figures/templates/run.html.j2",
        "resolvent/figures/templates/compare.html.j2",
    ),
    "resolvent.figures.stability.page": ("resolvent/figures/templates/stability.html.j2",),
    "resolvent.figures.theory.page": ("resolvent/figures/templates/theory.html.j2",),
    "resolvent.figures.published.tables": ("resolvent/figures/published/*.csv",),
    "resolvent.planning.captions": ("workflow/report/captions.yaml",),
}

STRIPPED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.Call)
LIBRARIES_SEEN: set[str] = (
    set()
)  # whose files were looked for, and which are libraries where a digest is kept
LOCATION = re.compile(r"(\w+(?:\.\w+)+):\w+")  # "module:function", imported when it is called


@cache
def script_digest(script: str, *names: str) -> str:
    """Return sixteen hexadecimal digits for the rule's `script` ("train", …) and what it chooses by name.

    `names` are modules or what is in them, "module:name", of which the constants above leave out none; and
    versions of packages, "name==1.0".

    Raises
    ------
    ModuleNotFoundError
        When the script or a module named here does not exist.
    """
    kept, key = _kept(), "\0".join((script, *names))
    if key not in kept["digests"]:
        reached = everything_reached(script, *names)
        digest = _digest(reached, names)
        if not all(_module_of(name).partition(".")[0] in ROOTS for name in reached):
            return digest  # with files that the state of the project's does not know
        kept["libraries"] = sorted(one for one in LIBRARIES_SEEN if not _of_project(one))
        kept["digests"][key] = digest
        keep(kept)
    return kept["digests"][key]


@cache
def _kept() -> dict:
    """Return the digests that are known, of the files as they are."""
    rules = (TABLES, SETTINGS, WITHOUT_RESULT, PREDICTIONS, FILES_READ)
    kept = read_kept(state_of((folder / root for root, folder in ROOTS.items()), *rules))
    if any(map(_of_project, kept["libraries"])):  # one is developed beside the project now
        kept = {**kept, "libraries": [], "digests": {}}
    return kept


def _digest(reached: Iterable[str], names: tuple[str, ...]) -> str:
    content = hashlib.sha256(repr(names).encode())
    reached = sorted(reached)
    for name in reached:
        content.update(f"{name}\0{_meaning(name)}\0".encode())
    for file in files_read(reached):
        content.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return content.hexdigest()[:16]


def location_of(definition: type) -> str:
    """Return the name, as `script_digest` takes it, of a class."""
    return f"{definition.__module__}:{definition.__qualname__}"


@cache
def everything_reached(script: str, *names: str) -> frozenset[str]:
    """Return the modules, and of modules of settings and tables "module:definition", that count for the
    digest."""
    names = tuple(name for name in names if "==" not in name)
    waiting, seen = [f"{SCRIPTS}.{script}", *names], set()
    for module in map(_module_of, waiting):
        if _file_of(module) is None:
            raise ModuleNotFoundError(f"no module {module} in {HOME}, nor installed")
    waiting, chosen = [_whole(name) for name in waiting], set(map(_whole, names))
    while waiting:
        name = waiting.pop()
        module = _module_of(name)
        cut = module in WITHOUT_RESULT or name in TABLES
        if name in seen or _file_of(module) is None or (cut and name not in chosen):
            continue
        seen.add(name)
        waiting += _used_by(name)
        if "." in module:  # importing a.b runs a/__init__.py as well
            waiting.append(module.rpartition(".")[0])
    return frozenset(seen)


def files_read(modules: Iterable[str]) -> list[Path]:
    """Return the files that these modules read beside the results."""
    patterns = {pattern for module in modules for pattern in FILES_READ.get(module, ())}
    return sorted({file for pattern in patterns for file in ROOTS[pattern.partition("/")[0]].glob(pattern)})


def partial_modules() -> set[str]:
    """Return the modules of which only the definitions that are used count."""
    return {*SETTINGS, *map(_module_of, TABLES)}


def _module_of(name: str) -> str:
    return name.partition(":")[0]


def _whole(name: str) -> str:
    """Return the module of `name`, unless single definitions of that module count."""
    return name if _module_of(name) in partial_modules() else _module_of(name)


@cache
def _file_of(module: str) -> Path | None:
    root, *parts = module.split(".")
    if root not in ROOTS:
        return _file_outside(module)
    path = ROOTS[root].joinpath(root, *parts)
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


def _file_outside(module: str) -> Path | None:
    """Return the file of a module that is not the project's, such as a model or an equation of one's own."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _tree(file: Path) -> ast.Module:
    """Return the syntax tree without docstrings, imports for type checkers, descriptions and predictions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    _strip(tree)
    return tree


# Plans look at every node of the project: ast.walk and NodeTransformer take twice as long.
def _strip(node: ast.AST) -> None:
    """Take from a tree, in place, what `_tree` leaves out."""
    for key in node._fields:
        value = getattr(node, key, None)
        if isinstance(value, ast.AST):
            _strip(value)
        elif isinstance(value, list):
            value[:] = [one for one in value if not _is_prediction(one)]
            for one in value:
                if isinstance(one, ast.AST):
                    _strip(one)
    if isinstance(node, STRIPPED):
        _strip_here(node)


def _is_prediction(node: object) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in PREDICTIONS


def _strip_here(node: ast.AST) -> None:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            node.body = []
        case ast.Call(func=ast.Name(id="Field")):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        case ast.If() | ast.Call():
            pass
        case ast.AST(body=[ast.Expr(value=ast.Constant(value=str())), *rest]):
            node.body = rest


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the tree and every node in it, as ast.walk does, but for those without content."""
    found = [tree]
    for node in found:
        for key in node._fields:
            value = getattr(node, key, None)
            if isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                found.append(value)
    return found


@cache
def _parts(name: str) -> tuple[ast.AST, ...]:
    """Return the module's tree, or the statements of it that define the name after the colon."""
    module, _, definition = name.partition(":")
    tree = _tree(_file_of(module))
    if not definition:
        return (tree,)
    return tuple(node for node in tree.body if definition in _defined_by(node))


def _defined_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds or changes; of a call or a block every name in it."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import() | ast.ImportFrom():
            return set()
        case ast.Assign(targets=where):
            pass
        case ast.AnnAssign(target=target):
            where = [target]
        case _:
            where = [node]
    return {name.id for one in where for name in _nodes(one) if isinstance(name, ast.Name)}


@cache
def _meaning(name: str) -> str:
    return "\n".join(map(_text, _parts(name)))


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
def _used_by(name: str) -> tuple[str, ...]:
    """Return what a module or definition imports, uses of its own module, and names as "module:function"."""
    used = []
    for part in _parts(name):
        for node in _nodes(part):
            if isinstance(node, ast.Import | ast.ImportFrom):
                used += [target for _, targets in _bound_imports(node) for target in targets]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = LOCATION.fullmatch(node.value)
                used += [_whole(node.value)] if found and _of_project(found[1]) else []
    if ":" in name:
        used += _names_of_its_module(name)
    return tuple(used)


def _names_of_its_module(name: str) -> Iterator[str]:
    """Yield what a definition refers to: other definitions of its module, and what that module imports."""
    module = _module_of(name)
    imported, defined = _bound_in(module)
    for part in _parts(name):
        for node in _nodes(part):
            if isinstance(node, ast.Name):
                yield from imported.get(node.id, ())
                if node.id in defined:
                    yield f"{module}:{node.id}"


@cache
def _bound_in(module: str) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """Return what a module imports, as `_bound_imports` has it, and the names that it defines."""
    body = _tree(_file_of(module)).body
    imported = {key: targets for statement in body for key, targets in _bound_imports(statement)}
    return imported, {one for statement in body for one in _defined_by(statement)}


def _bound_imports(node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names that an import statement binds, each with the project modules or definitions behind it.

    The project uses absolute imports only.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            if _of_project(alias.name):
                yield alias.asname or alias.name.partition(".")[0], (alias.name,)
    elif isinstance(node, ast.ImportFrom) and node.module and _of_project(node.module):
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            target = inner if _file_of(inner) else _whole(f"{node.module}:{alias.name}")
            parent = () if node.module in partial_modules() else (node.module,)
            yield alias.asname or alias.name, (*parent, target)


@cache
def _of_project(module: str) -> bool:
    """Say whether a module's code counts: the project's, and other code that is no installed library."""
    top = module.partition(".")[0]
    if top in ROOTS:
        return True
    LIBRARIES_SEEN.add(top)
    file = _file_of(top)
    return file is not None and not any(file.is_relative_to(folder) for folder in LIBRARIES)
