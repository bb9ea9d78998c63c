"""Mutation testing, sampled: does some test fail when one operator, number or statement is another?

    python tests/mutants.py [PLACE ...] [--count 60] [--seed 0] [--results mutants] [--limit 600]

Run by hand: it takes hours. It copies the tracked files to RESULTS/project, makes one mutant after the other
there, and runs the tests of the folder that mirrors the module's until one fails. Each mutant is a row of
RESULTS/mutants.csv: caught, survived, or undecided where the limit in seconds came first. A second run with
the same words goes on where the first one stopped. Texts, docstrings and messages are not mutated.
"""

import argparse
import ast
import csv
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MUTATED = (
    "solvers", "models", "resolvent/datasets", "resolvent/training", "resolvent/evaluation",
    "resolvent/measurements", "resolvent/figures/common",
)  # fmt: skip
OTHER = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutated(node: ast.AST) -> ast.AST | None:
    """Return another node for this one; None where it is not mutated."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OTHER:
            texts = [one for one in (left, right) if isinstance(getattr(one, "value", None), str)]
            return None if texts else ast.BinOp(left, OTHER[type(op)](), right)
        case ast.Compare(left=left, ops=[op], comparators=others):
            return ast.Compare(left, [OTHER[type(op)]()], others)
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(OTHER[type(op)](), values)
        case ast.UnaryOp(operand=operand):
            return operand
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            return ast.Constant(value * 1.5 or 1.0)
        case ast.If(test=test, body=body, orelse=others):
            return ast.If(ast.UnaryOp(ast.Not(), test), body, others)
        case ast.IfExp(test=test, body=body, orelse=other):
            return ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Return(value=ast.expr()):
            return ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            return ast.Pass()
    return None


class Mutator(ast.NodeTransformer):
    """Counts what can be mutated in a module; mutates what has the number `chosen`, and says it in `what`."""

    def __init__(self, chosen: int = -1):
        self.chosen, self.count, self.what = chosen, 0, ""

    def visit(self, node):
        new = mutated(node)
        if new is not None:
            self.count += 1
            if self.count - 1 == self.chosen:
                first, *_ = ast.unparse(node).splitlines()
                self.what = f"{node.lineno}: {first[:60]}"
                return ast.copy_location(new, node)
        return node if isinstance(node, ast.Raise | ast.JoinedStr) else self.generic_visit(node)


def judged(project: Path, file: Path, text: str, limit: float) -> str:
    """Return how the tests of the module's room take this text in its place."""
    tests = project / "tests" / file.relative_to(project).parent.as_posix().removeprefix("resolvent/")
    while not tests.is_dir():
        tests = tests.parent
    whole = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(tests)]
    environment = os.environ | {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=limit)
        return "caught" if done.returncode else "survived"
    except subprocess.TimeoutExpired:
        return "undecided"
    finally:
        file.write_text(whole, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", default=MUTATED, help="modules or folders to mutate")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--results", type=Path, default=Path("mutants"), help="a folder outside of the project"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds for one mutant")
    given = parser.parse_args()
    project, table = given.results.resolve() / "project", given.results.resolve() / "mutants.csv"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, project / name, follow_symlinks=False)  # rooms are links to folders
    possible = []
    for file in (
        file for place in given.places for file in [project / place, *(project / place).rglob("*.py")]
    ):
        if file.suffix == ".py":
            (counted := Mutator()).visit(ast.parse(file.read_text(encoding="utf-8")))
            possible += [(file, number) for number in range(counted.count)]
    done = set()
    if table.exists():
        with table.open(newline="") as rows:
            done = {(module, int(number)) for module, number, *_ in csv.reader(rows)}
    for file, number in random.Random(given.seed).sample(sorted(possible), min(given.count, len(possible))):
        module = file.relative_to(project).as_posix()
        if (module, number) in done:
            continue
        tree = (mutator := Mutator(number)).visit(ast.parse(file.read_text(encoding="utf-8")))
        outcome = judged(project, file, ast.unparse(ast.fix_missing_locations(tree)), given.limit)
        print(outcome, module, mutator.what, flush=True)
        with table.open("a", newline="") as rows:
            csv.writer(rows).writerow([module, number, outcome, mutator.what])


if __name__ == "__main__":
    main()
