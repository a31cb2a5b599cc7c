"""Evaluate the small C++ integer expressions that sizes are written in; nothing is executed."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .python_source import parse_expression

LENGTH_LIMIT = 400
_CAST = re.compile(r"static_cast<(?:int64_t|int32_t|long)>")
_SUFFIX = re.compile(r"\b(\d{1,19})(?:LL|L|ULL|UL|U)\b")
_ALLOWED = re.compile(r"[\w\s+\-*/%(),.]*")


def evaluate(text: str, known: Mapping[str, int]) -> int | None:
    """Return the value of an expression like `c10::div_floor_integer(s0, 2L) + 1L`, None when a
    name is unknown or it is more than arithmetic."""
    try:
        return int(_value(_parsed(text), known))  # as C++ does
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError, KeyError):
        return None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    if len(text) > LENGTH_LIMIT:
        raise ValueError("too long")
    plain = text.replace("c10::div_floor_integer", "floordiv").replace("c10::div_mod", "floormod")
    plain = plain.replace("std::max", "max").replace("std::min", "min")
    plain = re.sub(r"(max|min)<\w{1,20}>", r"\1", _CAST.sub("", plain))
    plain = re.sub(r"(\w{1,300})\[(\d{1,3})\]", r"\1__\2", _SUFFIX.sub(r"\1", plain))
    if not _ALLOWED.fullmatch(plain):
        raise ValueError("not arithmetic")
    return parse_expression(plain.strip())


def _value(node: Any, known: Mapping[str, int]) -> Any:
    """Return an int, or a Fraction that stands for a C++ double."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return Fraction(node.value)
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, known)
    if isinstance(node, ast.BinOp):
        found = _OPERATORS[type(node.op)](_value(node.left, known), _value(node.right, known))
        if not -(2**80) < found < 2**80:
            raise ValueError("too large")
        return found
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if name in _CALLS and len(node.args) == 2 and not node.keywords:
        return _CALLS[name](*(_value(argument, known) for argument in node.args))
    raise ValueError("not arithmetic")


def _quotient(left: Any, right: Any) -> Any:
    if isinstance(left, Fraction) or isinstance(right, Fraction):
        return Fraction(left) / Fraction(right)
    quotient = abs(left) // abs(right)  # C++ truncates, Python rounds down
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Mod: lambda left, right: left - right * _quotient(left, right),
}
_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": lambda left, right: int(left) // int(right),
    "floormod": lambda left, right: int(left) % int(right),
    "max": max,
    "min": min,
}
