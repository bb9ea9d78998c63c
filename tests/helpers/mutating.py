"""The mutants of a module.

Another operator, comparison, number, truth value or returned value, a negated condition, a removed statement.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is", ast.And: "or", ast.Or: "and",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """Replace the bytes from `start` to `end` of the file `path` by `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    begin: int  # the first line of the function that it is in; 0 where it is in none

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.start}-{self.end}:{' '.join(self.text.split())[:60]}"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class Mutants(ast.NodeVisitor):
    """Gather the mutants of one module."""

    def __init__(self, path: str, source: str):
        self.path, self.source, self.found = path, source.encode(), list[Mutant]()
        self.offsets = [0]
        for line in self.source.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))
        self.scopes: list[int | None] = []
        self.visit(ast.parse(source))

    def _place(self, node: ast.AST) -> tuple[int, int]:
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return self.offsets[start[0] - 1] + start[1], self.offsets[end[0] - 1] + end[1]

    def _add(self, node: ast.AST, text: str) -> None:
        start, end = self._place(node)
        if self.source[start:end].decode() != text:
            begin = (self.scopes and self.scopes[-1]) or 0
            self.found.append(Mutant(self.path, node.lineno, start, end, text, begin))

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
        self.scopes.append(None if isinstance(node, ast.ClassDef) else node.lineno + 1)
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
