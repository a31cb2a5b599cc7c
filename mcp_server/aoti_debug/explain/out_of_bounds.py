"""An index that is out of bounds: the value or the size that is to blame, and what helps. The
diagnosis, the generated kernel and the run of the exported program all say it with these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aoti_debug.model import Fix, InputFinding
from aoti_debug.vocabulary import GraphValue, Leaf, OutOfBounds

IGNORED = -100  # what training code marks labels with that do not count
COMPUTED = {
    "bucketize": "bucketize returns 0 to len(boundaries), one more than there are boundaries: give "
    "{table} len(boundaries) + 1 rows, or clamp",
    "searchsorted": "searchsorted returns 0 to len(boundaries): give {table} len(boundaries) + 1 "
    "rows, or clamp",
    "cumsum": "a running sum of ones begins at 1 and ends at the length: subtract 1, and keep the "
    "length within {table}",
    "argmax": "argmax is over a dimension of another size than {table} has: compare the two, or "
    "clamp",
    "topk": "topk is over a dimension of another size than {table} has: compare the two, or clamp",
}
COMPUTES = "the model computes this index itself"
OUTSIDE = "the value comes in from outside the model"


def within(what: str, lower: int, upper: int | str) -> str:
    """Return the bounds of an index. Where negative ones count from the end that is said apart:
    a model seldom means an id of -1 to be its last row."""
    if lower >= 0:
        return f"{lower} <= {what} < {upper}"
    return f"0 <= {what} < {upper} (negative ones down to {lower} wrap around)"


@dataclass(frozen=True, slots=True)
class Blame:
    """Which value or size is out of bounds, and what helps."""

    summary: str
    input: InputFinding | None
    fixes: list[Fix]


def blamed(
    found: OutOfBounds, by: Sequence[str] = (), inputs: Mapping[str, int] | None = None
) -> Blame:
    """Explain an index of the exported program: an element of an input, a count of positions, or
    computed, `by` these operators, the last first. `inputs` numbers the inputs by name."""
    table, upper, element, size = called(found.table), found.upper, found.input, found.size
    bounds = within("index", found.lower, upper)
    of = f"the size of dimension {found.dim}" if found.dim is not None else "the elements"
    outside = f"outside {bounds} in {found.op[:200]}: {of} of {table}"
    if upper == 0:
        words = (
            f"dimension {found.dim} of {table} is empty in this call: no index fits ({found.op})"
        )
        finding = size_finding((inputs or {}).get(table), table, found.dim, 0, 0)
        return Blame(words, finding, empty_fixes(table))
    if element is not None and not element.computed:
        where = f" in {found.op[:200]}: {of} of {table}"
        own = element.index, element.name
        return of_value(*own, found.value, element.at, upper, lower=found.lower, where=where)
    if size is not None and size.size > upper:
        words = f"{size.name} has {size.size} positions (dimension {size.dim}), {table} has {upper}"
        finding = size_finding(size.index, size.name, size.dim, upper, size.size)
        fixes = size_fixes(f"dimension {size.dim} of {size.name}", upper, table)
        words += f": index {found.value} is outside {bounds} in {found.op[:200]}"
        return Blame(words, finding, fixes)
    made = " <- ".join(by) or called(found.source)
    words = f"{made} gives {found.value} at {at(found.at)}, {outside}"
    if element is not None:
        words += f"; the model computes it from the elements of {element.name}"
    elif size is not None:
        words += f"; the model computes it from dimension {size.dim} of {size.name}"
    return Blame(words, None, computed_fixes(by, table, f"the size of {table}"))


def of_value(
    index: int | None,
    name: str | None,
    value: int,
    place: Sequence[int] | None,
    upper: int,
    *,
    lower: int = 0,
    given: Leaf | None = None,
    where: str = "",
    table: str = "",
) -> Blame:
    """Blame an element of an input; `given` is what is known of the input's values."""
    known = name or f"input {index}"
    words = f"{known}{at(place)} = {value} is outside {within('index', lower, upper)}{where}"
    finding = None
    if index is not None:
        finding = InputFinding(
            index=index,
            name=name,
            property="value",
            expected=within("value", lower, upper),
            got=f"{value} at {at(place)}" if place else str(value),
            lower=max(lower, 0),
            upper=upper,
        )
    return Blame(words, finding, value_fixes(known, upper, given, table, lower))


def called(value: GraphValue | None) -> str:
    if value is None:
        return "the table"
    return f"the result of {value.name}" if value.kind == "computed" else value.name


def worst(given: Leaf, upper: int) -> tuple[int, tuple[int, ...] | None]:
    """Return the value of an input that is furthest outside, and where it is."""
    low, high = given.min, given.max
    assert low is not None and high is not None
    return (int(high), given.max_at) if high >= upper else (int(low), given.min_at)


def at(place: Sequence[int] | None) -> str:
    return f"[{', '.join(map(str, place))}]" if place else ""


def size_finding(
    index: int | None, name: str | None, dim: int | None, upper: int | str, size: int | None
) -> InputFinding | None:
    """Return the input that has too many positions, or none at all where `upper` is 0."""
    if index is None:
        return None
    return InputFinding(
        index=index,
        name=name,
        property="size",
        dim=dim,
        expected="> 0" if upper == 0 else f"<= {upper}",
        got=str(size) if size is not None else None,
    )


def value_fixes(
    name: str, upper: int | str, given: Leaf | None = None, table: str = "", lower: int = 0
) -> list[Fix]:
    """Return what helps against a value that comes from outside the model."""
    if given is not None and given.min == IGNORED:
        what = (
            f"replace {IGNORED} in {name} (a label to be ignored) before the call, or mask "
            "those positions inside the model"
        )
        return [Fix(what=what)]
    wraps = "; a negative one would silently count from the end" if lower < 0 else ""
    found = [Fix(what=f"check {name} before the call: 0 <= value < {upper}", why=OUTSIDE + wraps)]
    table = table or "the table"
    highest = given.max if given is not None else None
    if highest is not None and isinstance(upper, int) and highest >= upper:
        what = (
            f"or give {table} at least {int(highest) + 1} rows (a tokenizer or vocabulary of "
            "another size than the model's is the usual reason)"
        )
        found.append(Fix(what=what))
    return found


def size_fixes(where: str, limit: int | str | None, table: str) -> list[Fix]:
    """Return what helps where the index counts the positions of an input."""
    return [
        Fix(
            what=f"keep {where} at or below {limit}: cut the input, and export with "
            f"Dim(max={limit}) so that a longer one is refused",
            why="the index counts positions; its largest is the length less one",
        ),
        Fix(what=f"or make {table} longer and compile again"),
    ]


def empty_fixes(table: str) -> list[Fix]:
    what = (
        f"do not call the model with an empty {table}, or give that dimension a lower bound at "
        "export (Dim(min=1))"
    )
    return [Fix(what=what, why="an empty dimension has no element to select")]


def computed_fixes(ops: Iterable[str], table: str, limit: str) -> list[Fix]:
    """Return what helps where the model computes the index, by the operators that do."""
    what = f"clamp the computed index to {limit} in the model, or correct its computation"
    known = (words for op in ops for name, words in COMPUTED.items() if name in op)
    words = next((words.format(table=table) for words in known), what)
    return [Fix(what=words, why=COMPUTES)]
