"""What reports of the probe's runs have in common: places, the model's lines, values along it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aoti_debug.model import SourceLine, ValueRow

Report = Mapping[str, Any]
BEFORE, AFTER = 6, 5  # rows around the node in question that are all kept
ALONG = 48  # rows along the whole model, for a plot
NOT_MODEL = ("/site-packages/torch/", "/dist-packages/torch/")
LIBRARY = ("/site-packages/", "/dist-packages/")


def named(what: Any) -> str:
    if not isinstance(what, dict):
        return "?"
    if what.get("kind") == "computed":
        return f"the result of {what.get('name')}"
    return str(what.get("name"))


def place(at: Any) -> str:
    first = at[0] if isinstance(at, list) and at else []
    return "[" + ", ".join(map(str, first)) + "]" if isinstance(first, list) else f"[{first}]"


def lines(stack: Any) -> list[SourceLine]:
    """Return the model's line, then the user's own where that is another; torch's have no part."""
    frames = [f for f in stack or [] if isinstance(f, list) and len(f) == 3]
    models = [f for f in frames if not any(part in str(f[0]) for part in NOT_MODEL)]
    own = [f for f in models if not any(part in str(f[0]) for part in LIBRARY)]
    chosen = [*models[-1:], *own[-1:]] or frames[-1:]
    kept = [chosen[0], *(f for f in chosen[1:] if f != chosen[0])] if chosen else []
    return [
        SourceLine(file=str(f[0]), line=int(f[1]), text=str(f[2]) or None)
        for f in kept
        if isinstance(f[1], int)
    ]


def rows(report: Report, node: str, mark: str) -> list[ValueRow]:
    """Return the values along the model: all around the node, the others thinned out."""
    every = [row for row in report.get("rows") or [] if isinstance(row, dict)]
    at = next((n for n, row in enumerate(every) if row.get("node") == node), None)
    first = at if at is not None else next((n for n, r in enumerate(every) if r.get("nan")), 0)
    marks = {at: f"first {mark}"} if at is not None else {}
    return [row_of(every[n], n + 1, marks.get(n)) for n in thinned(len(every), first)]


def thinned(count: int, centre: int) -> list[int]:
    """Return at most about `ALONG` of `count` places: the first, the last, all around `centre`."""
    around = range(max(0, centre - BEFORE), min(count, centre + AFTER + 1))
    left = max(1, ALONG - len(around))
    spread = {n * (count - 1) // left for n in range(left + 1)} if count else set()
    return sorted({*around, *spread})


def row_of(row: Report, at: int | None = None, mark: str | None = None) -> ValueRow:
    def number(key: str) -> float | None:
        value = row.get(key)
        return float(value) if isinstance(value, (int, float)) else None

    return ValueRow(
        number=at,
        node=str(row.get("node"))[:200],
        op=str(row.get("op"))[:200],
        shape=[size for size in row.get("shape") or [] if isinstance(size, int)],
        dtype=str(row.get("dtype")) if row.get("dtype") else None,
        min=number("min"),
        max=number("max"),
        mean=number("mean"),
        nan=int(row.get("nan") or 0),
        inf=int(row.get("inf") or 0),
        line=str(row.get("line")) if row.get("line") else None,
        mark=mark,
    )
