"""Evaluate the small C++ integer expressions that sizes are written in; nothing is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from fractions import Fraction

LENGTH_LIMIT = 400
_CAST = re.compile(r"static_cast<(?:int64_t|int32_t|long)>")
_SUFFIX = re.compile(r"\b(\d{1,19})(?:LL|L|ULL|UL|U)\b")
_ALLOWED = re.compile(r"[\w\s+\-*/%(),.]*")
_CALLS = {"floordiv": 2, "floormod": 2, "max": 2, "min": 2}


def evaluate(text: str, known: Mapping[str, int]) -> int | None:
    """Return the value of an expression like `c10::div_floor_integer(s0, 2L) + 1L`, None when a
    name is unknown or it is more than arithmetic."""
    if len(text) > LENGTH_LIMIT:
        return None
    plain = text.replace("c10::div_floor_integer", "floordiv").replace("c10::div_mod", "floormod")
    plain = plain.replace("std::max", "max").replace("std::min", "min")
    plain = re.sub(r"(max|min)<\w{1,20}>", r"\1", _CAST.sub("", plain))
    plain = re.sub(r"(\w{1,300})\[(\d{1,3})\]", r"\1__\2", _SUFFIX.sub(r"\1", plain))
    if not _ALLOWED.fullmatch(plain):
        return None
    try:
        return int(_value(ast.parse(plain.strip(), mode="eval").body, known))  # as C++ does
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError, KeyError):
        return None


Number = int | Fraction  # a Fraction stands for a C++ double


def _value(node: ast.expr, known: Mapping[str, int]) -> Number:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Constant(value=float(number)):
            return Fraction(number)
        case ast.Name(id=name):
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _bounded(_binary(op, _value(left, known), _value(right, known)))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _CALLS:
            return _call(name, _value(left, known), _value(right, known))
    raise ValueError("not arithmetic")


def _binary(op: ast.operator, left: Number, right: Number) -> Number:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return _quotient(left, right)
        case ast.Mod():
            return left - right * _quotient(left, right)
    raise ValueError("not arithmetic")


def _quotient(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) or isinstance(right, Fraction):
        return Fraction(left) / Fraction(right)
    quotient = abs(left) // abs(right)  # C++ truncates, Python rounds down
    return quotient if (left < 0) == (right < 0) else -quotient


def _call(name: str, left: Number, right: Number) -> Number:
    match name:
        case "floordiv":
            return int(left) // int(right)
        case "floormod":
            return int(left) % int(right)
        case "max":
            return max(left, right)
    return min(left, right)


def _bounded(value: Number) -> Number:
    if not -(2**80) < value < 2**80:
        raise ValueError("too large")
    return value
