"""Tell whether values were looked up in a table that the script had before it was fixed.

The tables are expressions, cut out of the script, which has been run as a whole before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import neighbours
from .describe import is_float
from .lazy import torch

_FEWEST = 3  # entries: fewer may be anything


def looked_up(path: str, drawn: neighbours.Limited, before: list[Any], now: list[Any]) -> bool:
    """Tell whether a call is given other integers than before only where one table has them for
    those, and nothing out of bounds is left."""
    pairs: set[tuple[int, int]] = set()
    for place, (one, other) in enumerate(zip(before, now)):
        if not isinstance(one, torch.Tensor):
            if one != other:
                return False
            continue
        if one.shape != other.shape or one.is_floating_point() != other.is_floating_point():
            return False
        differs = one != other
        bad = neighbours.outside(drawn, place, one)
        if bad is not None and not bool(differs[bad != 0].all()):
            return False
        if bool(differs.any()) and (one.is_floating_point() or bad is None):
            return False
        pairs |= set(zip(one[differs].tolist(), other[differs].tolist()))
    tables = _tables(json.loads(Path(path).read_text("utf-8")))
    return bool(pairs) and any(all(_has(table, *pair) for pair in pairs) for table in tables)


def corrected(drawn: neighbours.Limited, before: list[Any], now: list[Any]) -> bool:
    """Tell whether a call is given other values for what was out of bounds alone, all of them
    legal."""
    found = False
    for place, (one, other) in enumerate(zip(before, now)):
        if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
            if one is not other and one != other:
                return False
            continue
        bad = neighbours.outside(drawn, place, one)
        if bad is None:
            bad = torch.zeros(one.shape, dtype=torch.bool)
        if one.shape != other.shape or not bool(((one != other) == (bad != 0)).all()):
            return False
        if neighbours.outside(drawn, place, other) is not None:
            return False
        found = found or bool(bad.any())
    return found


def corrected_rows(results: list[Any], before: list[Any], now: list[Any]) -> bool:
    """Tell whether a call is given other values in just the rows whose results were not finite."""
    floats = [one for one in results if is_float(one) and one.ndim]
    rows = {len(one) for one in floats}
    if len(rows) != 1:
        return False
    bad = torch.zeros(rows.pop(), dtype=torch.bool)
    other = bad.clone()
    for result in floats:
        bad |= ~result.cpu().isfinite().reshape(len(bad), -1).all(1)
    for one, given in zip(before, now):
        if not isinstance(one, torch.Tensor) or not isinstance(given, torch.Tensor):
            if one is not given and one != given:
                return False
            continue
        differs = one != given if one.shape == given.shape else None
        if differs is None or (bool(differs.any()) and one.shape[:1] != bad.shape):
            return False
        if bool(differs.any()):
            other |= differs.cpu().reshape(len(bad), -1).any(1)
    return bool(bad.any()) and bool((bad == other).all())


def _tables(sources: list[str]) -> Iterator[Any]:
    for source in sources:
        known: dict[str, Any] = {}
        try:
            exec(source, known)
            table = known["table"]()
            table = table.tolist() if hasattr(table, "tolist") else table
            if len(table) >= _FEWEST:
                yield table if isinstance(table, Mapping) else list(table)
        except Exception:
            continue


def _has(table: Any, value: int, row: int) -> bool:
    """Tell whether a table has this row for a value: by either, or as one of its pairs."""
    if isinstance(table, Mapping):
        return table.get(value) == row or table.get(row) == value
    ends = [(value, row), (row, value)]
    return any(0 <= at < len(table) and table[at] == to for at, to in ends) or any(
        pair in table or list(pair) in table for pair in ends
    )
