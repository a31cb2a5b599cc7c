"""What a search by intermediate values reported: the first value that is compiled wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoti_debug.explain.nodes import Found, lines, place, row_of
from aoti_debug.model import Fix, ValueRow

Report = Mapping[str, Any]
REPORT_IT = Fix(
    what="keep the operator out of the generated code until it is mended: compile with another "
    "form of it (a decomposition, a copy between it and its neighbours), or another torch",
    why="the exported program is right, so the fault is Inductor's; the files beside the report "
    "reproduce it",
)


def read_bisection(report: Report) -> Found | None:
    """Return the first wrong value that the search came to; None where it found none."""
    first = report.get("first")
    if not isinstance(first, dict):
        return None
    node, op = str(first.get("node")), str(first.get("op"))
    wrong = difference(first)
    rows = [row for row in report.get("rows") or [] if isinstance(row, dict)]
    right = [str(row.get("node")) for row in rows if row.get("verdict") == "agrees"]
    compiles = len(report.get("compiles") or [])
    if first.get("exact"):
        said = f"{node} ({op}) is the first value that the compiled model gets wrong: {wrong}"
    else:
        after = f"after {right[-1]}" if right else "before it"
        said = (
            f"the compiled model is wrong from {node} ({op}) on: {wrong}; the first wrong value "
            f"lies {after} (more compiles narrow it down: --budget SECONDS)"
        )
    alone = str(first.get("alone") or "")
    if alone and not alone.startswith("not tried"):
        said += f"; compiled {alone}" if alone.startswith("wrong") else f"; it is {alone}"
    said += f" ({compiles} {'compile' if compiles == 1 else 'compiles'})"
    return Found(
        "wrong_result", said, node, op, lines(first.get("stack")), None, [REPORT_IT],
        table(rows, node),
    )  # fmt: skip


def difference(row: Report) -> str:
    if row.get("verdict") in ("shape", "dtype"):
        key = str(row.get("verdict"))
        return f"{key} {row.get(key)}, not {row.get('expected')}"
    words = f"{row.get('wrong')} of {row.get('elements', '?')} elements"
    first = row.get("first_wrong")
    if isinstance(first, dict):
        at = place([first.get("at")])
        words += f", first at {at}: {first.get('package')}, not {first.get('expected')}"
    return words


def table(rows: Sequence[Report], node: str) -> list[ValueRow]:
    """Return the compared values as rows, with how far each is off."""
    found = []
    for row in rows[:60]:
        statistics = row.get("package")
        both = {**row, **(statistics if isinstance(statistics, dict) else {})}
        error = row.get("max_abs_error")
        mark = "first wrong" if row.get("node") == node else None
        mark = mark or ("wrong" if row.get("verdict") != "agrees" else None)
        off = float(error) if isinstance(error, (int, float)) else None
        found.append(row_of(both, mark).model_copy(update={"error": off}))
    return found


def vanished(report: Report) -> str:
    """Say what it means that nothing was wrong, where that is so."""
    if report.get("vanished"):
        return (
            "compiled with values inside the model as outputs, everything is right: the fault "
            "comes with how operators are fused"
        )
    return ""
