"""An index that left its bounds: where it comes from, what it selects from, what broke it, and what
helps in that case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aoti_debug.explain.accesses import Access, Check, indexed_by, slice_of
from aoti_debug.explain.code import Argument, Code
from aoti_debug.explain.meaning import Meaning, Reader
from aoti_debug.explain.names import Names, Value
from aoti_debug.model import Fix, InputFinding
from aoti_debug.package.record import Launch
from aoti_debug.read.events import Input


@dataclass(frozen=True, slots=True)
class Producer:
    """A launch that computes a tensor which an index comes from."""

    launch: Launch
    reads: tuple[str, ...]  # tensors, as the user calls them


@dataclass(frozen=True, slots=True)
class Index:
    """All that the package, and the call where one was seen, tell about a checked index."""

    check: Check
    meaning: Meaning
    bound: str  # in words
    upper: int | None
    table: Value | None
    dimension: int | None
    access: Access | None
    slice: tuple[int, ...]  # places in the kernel's lines
    producers: tuple[Producer, ...] = ()
    culprit: Input | None = None
    reach: int | None = None  # how far a position counts in the call


def read_index(
    code: Code,
    check: Check,
    arguments: Mapping[str, Argument],
    names: Names,
    producers: Sequence[Producer],
    inputs: Sequence[Input],
) -> Index:
    """Follow a check of a kernel; `producers` are launches behind the buffers it loads from."""
    reader = Reader(code, arguments, names)
    meaning = reader.meaning(check.index, check.place)
    upper_text = reader.size(check.upper) if check.upper is not None else None
    upper = names.number(upper_text) if upper_text is not None else None
    access, table, dimension = selected(code, check, arguments, names, upper_text)
    bound = bound_words(upper_text, table, dimension, names)
    return Index(
        check,
        meaning,
        bound,
        upper,
        table,
        dimension,
        access,
        tuple(slice_of(code, check.index, check.place)),
        tuple(producers),
        culprit_of(meaning, inputs, upper),
        reach_of(meaning, names),
    )


def selected(
    code: Code, check: Check, arguments: Mapping[str, Argument], names: Names, upper: str | None
) -> tuple[Access | None, Value | None, int | None]:
    """Return the access that uses the index, the tensor and the dimension it selects from."""
    for access in indexed_by(code, check):
        argument = arguments.get(access.pointer)
        if argument is None or argument.value is None:
            continue
        value = names.root(argument.value.name) or argument.value
        return access, value, dimension_of(value, upper, access, check, names)
    for argument in arguments.values():  # the use may be vectorised beyond recognition
        table = argument.value
        if table is not None and table.kind == "constant" and table.size and upper in table.size:
            return None, table, table.size.index(upper)
    return None, None, None


def dimension_of(
    value: Value, upper: str | None, access: Access, check: Check, names: Names
) -> int | None:
    """Return which dimension of `value` has the checked size; by its stride where several do."""
    if value.size is None or upper is None:
        return None
    same = [d for d, size in enumerate(value.size) if size == upper]
    if not same:
        known = names.number(upper)
        same = [
            d
            for d, size in enumerate(value.size)
            if known is not None and names.number(size) == known
        ]
    if len(same) > 1 and value.stride is not None:
        for d in same:
            step = re.escape(value.stride[d])
            factor = (
                rf"\b{step}\*{check.index}\b"
                if value.stride[d] != "1"
                else rf"(?<!\*)\b{check.index}\b"
            )
            if re.search(factor, access.offset):
                return d
    return same[0] if same else None


def bound_words(upper: str | None, table: Value | None, dimension: int | None, names: Names) -> str:
    if upper is None:
        return "no upper bound"
    words = names.words(upper)
    if table is None:
        return words
    called = names.called(table)
    if table.kind == "buffer":
        called = f"{called}, which the model computes"
    if dimension is None:
        return f"{words}, of {called}"
    return f"{words}, the size of dimension {dimension} of {called}"


def culprit_of(meaning: Meaning, inputs: Sequence[Input], upper: int | None) -> Input | None:
    """Return the one input that the index was loaded from, where its values leave the bounds."""
    loaded = [
        s.argument.value for s in meaning.sources if s.argument is not None and s.argument.value
    ]
    numbers = {value.index for value in loaded if value.kind == "input"}
    if len(numbers) != 1 or upper is None or any(value.kind == "buffer" for value in loaded):
        return None
    number = numbers.pop()
    given = next((one for one in inputs if one.index == number), None)
    if given is None or given.maximum is None or given.minimum is None:
        return None
    if meaning.text.startswith("("):  # computed from it: its own values prove nothing
        return None
    lowest = -upper if meaning.wrapped is not None else 0
    out = given.maximum >= upper or given.minimum < lowest
    return given if out else None


def reach_of(meaning: Meaning, names: Names) -> int | None:
    limits = [names.number(s.limit) for s in meaning.sources if s.position and s.limit]
    known = [limit for limit in limits if limit is not None]
    return known[0] if len(known) == 1 and len(meaning.sources) == 1 else None


def summary(index: Index, names: Names) -> str:
    """Say in one sentence what left which bounds."""
    table = names.called(index.table) if index.table is not None else None
    if index.upper == 0:
        what = (
            f"dimension {index.dimension} of {table}" if table else "the dimension it selects from"
        )
        return f"{what} is empty in this call: no index fits it ({index.bound})"
    if (found := index.culprit) is not None and index.upper is not None:
        value, place = worst(found, index.upper)
        at = f"[{', '.join(map(str, place))}]" if place else ""
        name = names.users.get(found.index or 0) or found.name or f"input {found.index}"
        return f"{name}{at} = {value} is outside 0 <= index < {index.upper}: {index.bound}"
    if index.reach is not None and index.upper is not None and index.reach > index.upper:
        symbol = sizing(index, names)
        place = names.dimension(symbol) if symbol is not None else None
        if place is not None and table is not None:
            name = names.users.get(place[0]) or f"input {place[0]}"
            return (
                f"{name} has {index.reach} positions (dimension {place[1]}), {table} has "
                f"{index.upper}: the index counts 0 to {index.reach - 1}"
            )
        source = index.meaning.sources[0].limit or ""
        return (
            f"the index counts 0 to {index.reach - 1} ({names.words(source)}), but the bound is "
            f"{index.bound}"
        )
    return f"the index is {described(index)}; it must be below {index.bound}"


def described(index: Index) -> str:
    """Say what the index is made of, and by which launches."""
    text = index.meaning.text
    if index.meaning.wrapped is not None:
        text += f", plus {index.meaning.wrapped} where it is negative"
    for producer in index.producers[:3]:
        ops = ", ".join(producer.launch.ops) or producer.launch.kernel
        reads = f" of {', '.join(producer.reads[:4])}" if producer.reads else ""
        text += f" <- {ops}{reads} (launch {producer.launch.number})"
    return text


def worst(given: Input, upper: int) -> tuple[int, Sequence[int] | None]:
    """Return the offending value and where it is."""
    assert given.maximum is not None and given.minimum is not None
    high = given.maximum >= upper
    return (int(given.maximum), given.max_at) if high else (int(given.minimum), given.min_at)


def finding(index: Index, names: Names) -> InputFinding | None:
    """Return the input that broke the bound: by a value, or by a size that makes positions."""
    if (found := index.culprit) is not None and found.index is not None and index.upper is not None:
        value, place = worst(found, index.upper)
        at = f" at [{', '.join(map(str, place))}]" if place else ""
        return InputFinding(
            index=found.index,
            name=names.users.get(found.index) or found.name,
            property="value",
            expected=f"0 <= value < {index.upper}",
            got=f"{value}{at}",
        )
    symbol = sizing(index, names)
    if symbol is None:
        return None
    place_of = names.dimension(symbol)
    if place_of is None:
        return None
    value_ = names.known.get(symbol)
    expected = (
        "> 0"
        if index.upper == 0
        else f"<= {index.upper if index.upper is not None else index.check.upper}"
    )
    return InputFinding(
        index=place_of[0],
        name=names.users.get(place_of[0]),
        property="size",
        dim=place_of[1],
        expected=expected,
        got=str(value_) if value_ is not None else None,
    )


def is_position(index: Index) -> bool:
    """Tell whether an index counts positions and nothing else."""
    return bool(index.meaning.sources) and all(s.position for s in index.meaning.sources)


def sizing(index: Index, names: Names) -> str | None:
    """Return the size symbol that decides: of the bound where it is empty, else of the position."""
    if index.upper == 0 and index.check.upper is not None:
        candidates = [index.bound]
    elif is_position(index):
        candidates = [s.limit or "" for s in index.meaning.sources]
    else:
        return None
    words = re.findall(r"\b[a-z]{1,3}\d{1,5}\b", " ".join(candidates))
    return next((word for word in words if word in names.symbols), None)


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
