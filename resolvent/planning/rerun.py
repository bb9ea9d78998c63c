"""Digest of a module and of every project module it imports: the rerun trigger that Snakemake lacks.

Snakemake notices a changed script, not a changed module behind it. Rules carry this digest as a parameter, so
that editing a solver, model or loss reruns exactly what depends on it. Comments and docstrings do not count,
nor do modules that no result depends on; nor those of settings and the registry of architectures: the values
they give are parameters of the rules themselves.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = ("settings", "registry")  # ends of the names of modules whose values are parameters
WITHOUT_RESULT = ("progress", "watchdog", "interruption", "addresses", "object_store")
PACKAGE = "resolvent"


@cache
def code_digest(*modules: str) -> str:
    """Sixteen hexadecimal digits for `modules` ("resolvent.training.fit", …) and their imports within the
    project.

    Raises
    ------
    ModuleNotFoundError
        When a module named here does not exist.
    """
    for module in modules:
        if _file_of(module) is None:
            raise ModuleNotFoundError(f"no module {module} in {ROOT}")
    content = hashlib.sha256()
    for name in sorted(_closure(modules)):
        content.update(f"{name}\0{_meaning(_file_of(name))}\0".encode())
    return content.hexdigest()[:16]


def _closure(modules: tuple[str, ...]) -> set[str]:
    waiting, seen = list(modules), set()
    while waiting:
        module = waiting.pop()
        file = _file_of(module)
        if module in seen or file is None or file.stem.endswith(PARAMETERS + WITHOUT_RESULT):
            continue
        seen.add(module)
        waiting += _imports(file)
        if "." in module:  # importing a.b runs a/__init__.py as well
            waiting.append(module.rpartition(".")[0])
    return seen


@cache
def _file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """Project modules that `file` imports, also inside functions. The project uses absolute imports only."""
    names = []
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.partition(".")[0] == PACKAGE)


@cache
def _meaning(file: Path) -> str:
    """The syntax tree without docstrings, as text."""
    tree = _tree(file)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            node.body = body[1:] or [ast.Pass()]
    return ast.dump(tree, annotate_fields=False)
