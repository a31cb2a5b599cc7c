"""What helps against an index out of bounds: only what fits the case."""

from __future__ import annotations

from collections.abc import Sequence

from aoti_debug.explain.index import Index, is_position, sizing
from aoti_debug.explain.names import Names
from aoti_debug.model import Fix

IGNORED = -100  # what training code marks labels with that do not count
COMPUTED = {
    "bucketize": "bucketize returns 0 to len(boundaries), one more than there are boundaries: give "
    " {table} len(boundaries) + 1 rows, or clamp",
    "searchsorted": "searchsorted returns 0 to len(boundaries): give {table} len(boundaries) + 1 "
    "rows, or clamp",
    "cumsum": "a running sum of ones begins at 1 and ends at the length: subtract 1, and keep the "
    "length within {table}",
    "argmax": "argmax is over a dimension of another size than {table} has: compare the two, or "
    "clamp",
    "topk": "topk is over a dimension of another size than {table} has: compare the two, or clamp",
}
COMPUTES = "the model computes this index itself"


def fixes(index: Index, names: Names, ops: Sequence[str]) -> list[Fix]:
    """Return what helps in this case, and nothing that helps in others."""
    table = names.called(index.table) if index.table is not None else "what it selects from"
    if index.upper == 0:
        what = (
            f"do not call the model with an empty {table}, or give that dimension a lower bound at "
            "export (Dim(min=1))"
        )
        return [Fix(what=what, why="an empty dimension has no element to select")]
    if is_position(index):
        return of_position(index, names, table)
    loaded = [s.argument for s in index.meaning.sources if s.argument is not None]
    inputs = [a.value for a in loaded if a.value is not None and a.value.kind == "input"]
    if len(inputs) == len(loaded) == 1:
        return of_value(index, names.called(inputs[0]), table)
    for op, words in COMPUTED.items():
        if any(op in one for one in ops):
            return [Fix(what=words.format(table=table), why=COMPUTES)]
    what = (
        f"clamp the computed index to the size of {table} in the model, or make it right where it "
        "is computed (see the slice)"
    )
    return [Fix(what=what, why=COMPUTES)]


def of_position(index: Index, names: Names, table: str) -> list[Fix]:
    limit = index.upper if index.upper is not None else index.check.upper
    symbol = sizing(index, names)
    where = (names.origin(symbol) if symbol else None) or "the length of the input"
    return [
        Fix(
            what=f"keep {where} at or below {limit}: cut the input, and export with "
            f"Dim(max={limit}) so that a longer one is refused",
            why="the index counts positions; its largest is the length less one",
        ),
        Fix(what=f"or make {table} longer and compile again"),
    ]


def of_value(index: Index, name: str, table: str) -> list[Fix]:
    upper = index.upper if index.upper is not None else index.check.upper
    culprit = index.culprit
    if culprit is not None and culprit.minimum == IGNORED:
        what = (
            f"replace {IGNORED} in {name} (a label that is to be ignored) before the call, or mask "
            "those positions inside the model"
        )
        return [Fix(what=what)]
    what = f"check {name} before the call: 0 <= value < {upper}"
    found = [Fix(what=what, why="the value comes in from outside the model")]
    highest = culprit.maximum if culprit is not None else None
    if highest is not None and index.upper is not None and highest >= index.upper:
        what = (
            f"or give {table} at least {int(highest) + 1} rows (a tokenizer or vocabulary of "
            "another size than the model's is the usual reason)"
        )
        found.append(Fix(what=what))
    return found
