"""Places in source files where a mutant has one small error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_PAIRS = [
    ("<", "<="),
    (">", ">="),
    ("==", "!="),
    ("and", "or"),
    ("+", "-"),
    ("*", "/"),
    ("+=", "-="),
    ("*=", "/="),
    ("min", "max"),
    ("minimum", "maximum"),
    ("any", "all"),
]
SWAPS = {"//": "*"}
for _first, _second in _PAIRS:
    SWAPS[_first] = _second
    SWAPS[_second] = _first
_SEQUENCES = ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple
_OPERATOR = re.compile(rb"[-+*/<>=!]+|and|or|#")
_MESSAGE = re.compile(r"(Error|[Ww]arn\w*)$")


class Change(NamedTuple):
    """New text for the bytes from ``start`` to ``stop`` of a file."""

    operator: str
    start: int
    stop: int
    text: str


class Place(NamedTuple):
    """A change of a file, with what decides which tests can detect it."""

    path: str
    change: Change
    line: int
    """The line, as a bit of an integer."""
    in_function: bool
    """Whether the place is not run when the file is imported."""
    function_lines: int
    """The bits of all lines in functions of the file."""


def find_places(path: str) -> list[Place]:
    """Return the places of a file that a mutant can change."""
    source = _Source((ROOT / path).read_bytes())
    places = []
    for change in source.find_changes():
        line = 2 << source.content.count(b"\n", 0, change.start)
        in_function = source.is_in_function(change.start)
        places.append(Place(path, change, line, in_function, source.function_lines))
    return places


class _Source:
    """A parsed file, with the bytes of its nodes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        lengths = map(len, content.splitlines(keepends=True))
        self._line_starts = list(accumulate(lengths, initial=0))
        self._nodes = list(_walk(ast.parse(content)))
        self._functions = []
        self._bodies = []
        self.function_lines = 0
        for node in self._nodes:
            if isinstance(node, ast.FunctionDef):
                self._functions.append(node)
                self._bodies += map(self._span, node.body)
                for line in range(node.body[0].lineno, node.end_lineno + 1):
                    self.function_lines |= 1 << line
            elif isinstance(node, ast.Lambda):
                self._bodies.append(self._span(node.body))

    def is_in_function(self, position: int) -> bool:
        """Return whether a byte is in the body of a function."""
        return any(start <= position < stop for start, stop in self._bodies)

    def find_changes(self) -> list[Change]:
        """Return all changes. A function without other changes returns None instead."""
        changes = []
        for node in self._nodes:
            changes += self._swap_operators(node)
            changes += self._negate_conditions(node)
            changes += self._change_value(node)
        for function in self._functions:
            start, stop = self._span(function)
            if not any(start <= change.start < stop for change in changes):
                changes += self._return_none(function)
        return changes

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        start = self._line_starts[node.lineno - 1] + node.col_offset
        stop = self._line_starts[node.end_lineno - 1] + node.end_col_offset
        return start, stop

    def _swap_operators(self, node: ast.AST) -> Iterator[Change]:
        for left, right in pairwise(_operands(node)):
            start = self._span(left)[1]
            match = _OPERATOR.search(self.content[start : self._span(right)[0]])
            operator = match[0].decode() if match else ""
            if operator in SWAPS:
                text = SWAPS[operator]
                first = start + match.start()
                last = start + match.end()
                yield Change(f"{operator} to {text}", first, last, text)

    def _negate_conditions(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.If | ast.IfExp):
            conditions = [node.test]
        else:
            conditions = getattr(node, "ifs", [])
        for condition in conditions:
            if not _has_other_change(condition):
                start, stop = self._span(condition)
                text = f"not ({self.content[start:stop].decode()})"
                yield Change("if negated", start, stop, text)

    def _change_value(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.UnaryOp(op=ast.Not()):
                start = self._span(node)[0]
                yield Change("not dropped", start, start + len("not"), "")
            case ast.Constant(value=bool(value)):
                text = str(not value)
                yield Change(f"{value} to {text}", *self._span(node), text)
            case ast.Constant(value=int(value) | float(value)) if value + 1 != value:
                yield Change("constant + 1", *self._span(node), repr(value + 1))
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in SWAPS:
                stop = self._span(node)[1]
                text = SWAPS[name]
                yield Change(f"{name} to {text}", stop - len(name), stop, text)

    def _return_none(self, function: ast.FunctionDef) -> Iterator[Change]:
        for node in _walk(function):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            start, stop = self._span(node.value)
            if self.content[start:stop] != b"None":
                newlines = "\n" * self.content.count(b"\n", start, stop)
                yield Change("return None", start, stop, f"(None{newlines})")


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes below it, without messages, annotations and decorators."""
    yield node
    for part in _parts(node):
        yield from _walk(part)


def _parts(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.arg():
            return []
        case ast.keyword(arg="slots" | "strict"):
            return []  # These flags have an effect only if the code is wrong.
        case ast.Call() if _MESSAGE.search(ast.unparse(node.func)):
            return []
        case ast.FunctionDef():
            return [node.args, *node.body]
        case ast.ClassDef():
            return list(node.body)
        case ast.AnnAssign():
            return [node.value] if node.value else []
    return list(ast.iter_child_nodes(node))


def _operands(node: ast.AST) -> list[ast.expr]:
    """Return the operands between which operators are swapped."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.BoolOp():
            return node.values
        case (
            ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right)
        ):
            is_concatenation = _is_sequence(left) or _is_sequence(right)
            return [] if is_concatenation else [left, right]
    return []


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, _SEQUENCES)


def _has_other_change(condition: ast.expr) -> bool:
    """Return whether another change of a condition is its negation."""
    if isinstance(condition, ast.Compare):
        return isinstance(condition.ops[0], ast.Eq | ast.NotEq)
    return isinstance(condition, ast.UnaryOp)
