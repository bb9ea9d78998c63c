"""Mutation testing, sampled: does some test fail when one operator, number or statement is another?

    python tests/mutants.py [--count 240] [--seed 0] [--results mutants] [--limit 300] [--files 12]

Run by hand, in one process. It copies the tracked files of the project to RESULTS/project, and makes one
mutant after the other of the modules in MUTATED: another operator, comparison, number, truth value or
returned value, a negated condition, a removed statement. Of each it runs the test files that reach the
module, nearest first, until one fails. Nearest is what imports the module with the fewest steps between, is
of the same room, and names what was changed.

Each mutant is a row of RESULTS/mutants.csv: caught, survived, or undecided where the limit in seconds came
before the last test file. A second run with the same words goes on where the first one stopped, with the copy
of then; a row that is deleted is done again. Texts, type hints and docstrings are not mutated.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MUTATED = (
    "resolvent/solvers", "resolvent/models", "resolvent/datasets", "resolvent/training",
    "resolvent/evaluation", "resolvent/measurements", "resolvent/figures/common/bootstrap.py",
    "resolvent/figures/common/intervals.py", "resolvent/figures/common/comparison.py",
    "resolvent/figures/common/ratios.py", "resolvent/figures/experiment/comparison.py",
    "resolvent/figures/experiment/verdict.py",
)  # fmt: skip
# Tests of the whole pipeline take minutes, and what runs by hand or needs a browser is not run either.
NOT_RUN = re.compile(r"pipeline_project|built_once|tests/(faults|slurm|browser|documentation)/")
COLUMNS = ("mutant", "outcome", "by", "seconds", "line")
MEMORY = 8 * 2**30  # of a child
FAR = 5  # steps of imports: a module may be found by a name that is put together
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is", ast.And: "or", ast.Or: "and",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: in `path`, the bytes from `start` to `end` become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    scope: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.start}-{self.end}:{' '.join(self.text.split())[:60]}"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class Mutants(ast.NodeVisitor):
    """Gathers the mutants of one module."""

    def __init__(self, path: str, source: str):
        self.path, self.source, self.found = path, source.encode(), list[Mutant]()
        self.offsets = [0]
        for line in self.source.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))
        self.scopes: list[str] = []
        self.visit(ast.parse(source))

    def _place(self, node: ast.AST) -> tuple[int, int]:
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return self.offsets[start[0] - 1] + start[1], self.offsets[end[0] - 1] + end[1]

    def _add(self, node: ast.AST, text: str) -> None:
        start, end = self._place(node)
        if self.source[start:end].decode() != text:
            scope = self.scopes[0] if self.scopes else ""
            self.found.append(Mutant(self.path, node.lineno, start, end, text, scope))

    def _between(self, node: ast.AST, left: ast.AST, right: ast.AST, operator: ast.AST) -> None:
        """Replace the operator between two operands."""
        new = OPERATORS.get(type(operator))
        if new is None:
            return
        (outer, end), (_, first), (second, last) = self._place(node), self._place(left), self._place(right)
        gap = self.source[first:second].decode()
        words = re.search(r"not\s+in|is\s+not|\*\*|//|[<>=!]=|\bin\b|\bis\b|\band\b|\bor\b|[-+*/%<>]", gap)
        if words is not None:
            whole = self.source[outer:first].decode() + gap[: words.start()] + new + gap[words.end() :]
            self._add(node, whole + self.source[second:last].decode() + self.source[last:end].decode())

    def _scoped(self, node) -> None:
        self.scopes.append(node.name)
        for one in [*node.body, *node.decorator_list]:
            self.visit(one)
        if not isinstance(node, ast.ClassDef):  # defaults, not hints
            for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                self.visit(default)
        self.scopes.pop()

    visit_FunctionDef = visit_ClassDef = visit_AsyncFunctionDef = _scoped

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_BinOp(self, node):
        texts = [one for one in (node.left, node.right) if isinstance(one, ast.JoinedStr) or _is_text(one)]
        if not texts:
            self._between(node, node.left, node.right, node.op)
        self.generic_visit(node)

    def visit_Compare(self, node):
        if len(node.ops) == 1 and "TYPE_CHECKING" not in ast.dump(node):
            self._between(node, node.left, node.comparators[0], node.ops[0])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        if len(node.values) == 2:
            self._between(node, *node.values, node.op)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        self._add(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self._add(node, str(not node.value))
        elif isinstance(node.value, int):
            self._add(node, str(node.value + 1))
        elif isinstance(node.value, float):
            self._add(node, repr(node.value * 1.5 or 1.0))

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.dump(node.test):
            self._add(node.test, f"(not ({ast.unparse(node.test)}))")
            self.generic_visit(node)

    def visit_IfExp(self, node):
        self._add(node.test, f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    def visit_Return(self, node):
        if node.value is not None and ast.unparse(node.value) != "None":
            self._add(node.value, "None")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            self._add(node, "pass")
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_AugAssign(self, node):
        self._add(node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node):  # its message is not mutated
        self._add(node, "pass")

    def visit_JoinedStr(self, node):
        pass


def sampled(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants, with as many of each module as it has of all, drawn by `seed`."""
    files = [file for place in MUTATED for file in sorted([root / place, *(root / place).rglob("*.py")])]
    found = []
    for file in (file for file in files if file.suffix == ".py"):
        path = file.relative_to(root).as_posix()
        found += Mutants(path, file.read_text(encoding="utf-8")).found
    print(f"{len(found)} mutants are possible; {count} are drawn")
    return random.Random(seed).sample(found, min(count, len(found)))


def imports_of(file: Path) -> set[str]:
    """Return the modules of the project and the test helpers that a file imports, or names in a text."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\bresolvent(?:\.\w+)+", node.value))
    return found


class Reach:
    """How near each test file is to a module."""

    def __init__(self, root: Path):
        self.root = root
        helpers = [*(root / "tests/helpers").glob("*.py"), *(root / "tests/solvers").glob("*.py")]
        modules = [*helpers, *(root / "tests").rglob("conftest.py")]
        for room in (root / "resolvent").iterdir():  # some are links, which `rglob` does not follow
            modules += room.rglob("*.py") if room.is_dir() else [room] if room.suffix == ".py" else []
        self.texts = {self.name_of(file): file.read_text(encoding="utf-8") for file in modules}
        named = {self.name_of(file): imports_of(file) for file in modules}
        files = sorted((root / "tests").rglob("test_*.py"))
        run = [one for one in files if not NOT_RUN.search(one.as_posix() + one.read_text(encoding="utf-8"))]
        self.tests = {file: imports_of(file) | self._conftests(file) for file in run}
        self.imports = {name: found & named.keys() for name, found in named.items()}

    def _conftests(self, file: Path) -> set[str]:
        return {self.name_of(one / "conftest.py") for one in file.parents if (one / "conftest.py").is_file()}

    def name_of(self, file: Path) -> str:
        place = file.relative_to(self.root)
        if "helpers" in place.parts or place.parts[:2] == ("tests", "solvers"):
            return file.stem
        return ".".join(place.with_suffix("").parts).removesuffix(".__init__")

    def distances(self, module: str, scope: str) -> dict[Path, int]:
        """Return the steps of imports from test files to the module: FAR where no import is found.

        What imports the module without a word of `scope`, the function or class in it, does not count, unless
        nothing has such a word.
        """
        word = re.compile(rf"\b{scope}\b" if scope else "$")
        users = {name for name, found in self.imports.items() if module in found}
        users = {name for name in users if word.search(self.texts[name])} or users
        steps, front, distance = dict.fromkeys(users, 1), users, 1
        while front:
            distance += 1
            front = {name for name, found in self.imports.items() if found & front and name not in steps}
            steps |= dict.fromkeys(front - {module}, distance)
        own = {test for test, found in self.tests.items() if module in found}
        own = {test for test in own if word.search(test.read_text(encoding="utf-8"))} or (
            set() if users else own
        )
        return {
            test: 0 if test in own else min((steps[name] for name in found & steps.keys()), default=FAR)
            for test, found in self.tests.items()
        }

    def nearest(self, mutant: Mutant, count: int) -> list[str]:
        """Return the test files to run, the likeliest first."""
        words = set(re.split(r"\W|_", mutant.path.removesuffix(".py"))) - {"resolvent", "common", ""}
        distances = self.distances(self.name_of(self.root / mutant.path), mutant.scope)

        def rank(test: Path) -> tuple:
            text, place = test.read_text(encoding="utf-8"), test.relative_to(self.root).as_posix()
            named = bool(mutant.scope) and re.search(rf"\b{mutant.scope}\b", text) is not None
            common = len(words & set(re.split(r"\W|_", place)))
            other = len(set(Path(place).parts[1:-1]) - words)  # a room that the module is not in
            return (distances[test] - 2 * named - common + other, distances[test], place)

        return [test.relative_to(self.root).as_posix() for test in sorted(distances, key=rank)[:count]]


def copy_to(folder: Path) -> None:
    """Copy the tracked files to `folder`, which is there when all of them are."""
    half = folder.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        (half / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, half / name, follow_symlinks=False)  # rooms are links to folders
    half.rename(folder)


def preload() -> None:
    """Import what takes long, once for all children; nothing of the project."""
    import jax  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401
    import scipy.interpolate  # noqa: F401
    import torch
    import xarray  # noqa: F401
    import zarr  # noqa: F401

    torch.set_num_threads(1)


def passes(folder: Path, test: str, log: Path, seconds: float) -> bool | None:
    """Run one test file in a child; None when the time is over."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        with open(log, "a") as output:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
        import pytest

        words = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=150"]
        status = 1
        with contextlib.suppress(BaseException):
            status = int(pytest.main([*words, "-o", "addopts=" + ADDED, test]))
        os._exit(0 if status in (0, 5) else 1)
    end = time.monotonic() + seconds
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(child, child)
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what the tests left
            return status == 0
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


ADDED = "--strict-markers -m 'not faults' " + (
    "--jaxtyping-packages=resolvent.solvers,resolvent.models,beartype.beartype"
)


def judged(folder: Path, mutant: Mutant, tests: list[str], log: Path, limit: float, tick: int) -> tuple:
    """Return the outcome of a mutant, and the test file that caught it."""
    file, begun = folder / mutant.path, time.monotonic()
    whole = file.read_bytes()
    changed = whole[: mutant.start] + mutant.text.encode() + whole[mutant.end :]
    try:
        ast.parse(changed)
        file.write_bytes(changed)
        os.utime(file, (tick, tick))  # no two have one date: what was compiled of another is not taken
        for test in tests:
            left = limit - (time.monotonic() - begun)
            result = passes(folder, test, log, left) if left > 0 else None
            if result is None:
                return "undecided", test
            if not result:
                return "caught", test
        return "survived", ""
    finally:
        file.write_bytes(whole)
        os.utime(file, (tick + 1, tick + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("mutants"), help="a folder outside of it")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one mutant")
    parser.add_argument("--files", type=int, default=12, help="test files for one mutant, at most")
    given = parser.parse_args()
    results = given.results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    table = results / "mutants.csv"
    done = {row["mutant"] for row in csv.DictReader(table.open())} if table.exists() else set()
    folder = results / "project"
    if not folder.exists():
        copy_to(folder)
    drawn, reach = sampled(folder, given.count, given.seed), Reach(folder)
    preload()
    mutated = results / "mutated"
    shutil.rmtree(mutated, ignore_errors=True)
    shutil.copytree(folder, mutated, symlinks=True)
    os.environ |= {"JAX_COMPILATION_CACHE_DIR": str(results / "compiled"), "PYTHONPATH": str(mutated)}
    sys.path[:] = [str(mutated), *(one for one in sys.path if Path(one).resolve() != ROOT / "tests")]
    os.chdir(mutated)
    with table.open("a", newline="") as file:
        rows = csv.writer(file)
        if not done:
            rows.writerow(COLUMNS)
        for number, mutant in enumerate(drawn):
            if mutant.name in done:
                continue
            log, begun = results / f"{number:04d}.log", time.monotonic()
            log.write_text(f"{mutant}\n")
            line = (folder / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
            tests, tick = reach.nearest(mutant, given.files), int(time.time()) + 2 * number
            outcome, by = judged(mutated, mutant, tests, log, given.limit, tick)
            rows.writerow([mutant.name, outcome, by, round(time.monotonic() - begun), line])
            file.flush()
            print(f"{number + 1}/{len(drawn)} {outcome} {mutant.name} {by}", flush=True)


if __name__ == "__main__":
    main()
