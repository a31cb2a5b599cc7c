"""Show values along a model as a table, and the lines that an index is made of."""

from __future__ import annotations

from collections.abc import Sequence

from aoti_debug.model import ValueRow
from aoti_debug.report.outline import Item, Section, section

_COLUMNS = ("node", "min", "max", "mean", "nan", "inf", "")
_TABLE_ROWS = 40


def slice_section(lines: Sequence[str]) -> Section:
    """Return the backward slice of an index, line by line."""
    quote = "\n".join(lines)
    return section(
        "Slice", Item("how the index is made", quote=quote, whole=True) if lines else None
    )


def values_section(rows: Sequence[ValueRow]) -> Section:
    """Return the values along the model as a table that every renderer can show."""
    if not rows:
        return Section("Values", ())
    shown = rows[:_TABLE_ROWS]
    cells = [_COLUMNS, *(_cells(row) for row in shown)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(_COLUMNS))]
    lines = [
        "  ".join(
            cell.ljust(w) if n in (0, 6) else cell.rjust(w)
            for n, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    more = f"{len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
    return section("Values", Item("along the model", more, "\n".join(lines), whole=True))


def _cells(row: ValueRow) -> tuple[str, ...]:
    numbers = (_number(row.min), _number(row.max), _number(row.mean))
    mark = f"<- {row.mark}" if row.mark else ""
    return (row.node[:32], *numbers, str(row.nan or ""), str(row.inf or ""), mark)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
