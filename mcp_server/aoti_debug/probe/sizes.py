"""Sizes of an exported program: numbers, or expressions of symbols that a call gives values to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

ENDLESS = 1 << 40  # a bound that is no smaller is none


def expression(size: Any) -> Any:
    """Return the sympy expression of a symbolic size; None of a number."""
    found = getattr(getattr(size, "node", None), "expr", None)
    return None if found is None or found.is_number else found


def is_symbol(size: Any) -> bool:
    return bool(getattr(expression(size), "is_symbol", False))


def written(size: Any) -> int | str:
    """Return a size as JSON has it: a number, or the text of its expression."""
    found = expression(size)
    return int(size) if found is None else str(found)


def bounds(program: Any, symbol: Any) -> tuple[int | None, int | None]:
    """Return the least and the largest value of a symbol; None where there is none."""
    found = program.range_constraints.get(symbol)
    return (_bound(found.lower), _bound(found.upper)) if found is not None else (None, None)


def _bound(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return number if abs(number) < ENDLESS else None


def number(size: Any, symbols: dict[Any, int]) -> int | None:
    """Return a size as a number; None where it has a symbol that is not known."""
    found = expression(size)
    known = size if found is None else found.subs(symbols)
    return int(known) if found is None or known.is_Integer else None


def numbers(sizes: Iterable[Any], symbols: dict[Any, int]) -> list[int] | None:
    """Return sizes as numbers; None where one has a symbol that is not known."""
    found = [number(size, symbols) for size in sizes]
    return None if None in found else [size for size in found if size is not None]


def learn(declared: Any, given: Any, symbols: dict[Any, int]) -> None:
    """Take the sizes of an input, or a number that is one, as values of the program's symbols."""
    if hasattr(declared, "shape") != hasattr(given, "shape"):
        return
    pairs = zip(getattr(declared, "shape", (declared,)), getattr(given, "shape", (given,)))
    for size, actual in pairs:
        if is_symbol(size):
            symbols.setdefault(expression(size), int(actual))
