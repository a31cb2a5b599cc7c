"""An index that left its bounds: its source, what it selects from, what broke it, what helps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aoti_debug.explain.accesses import Access, IndexCheck, indexed_by, slice_of
from aoti_debug.explain.meaning import IndexMeaning, KernelReader
from aoti_debug.explain.names import ModelNames, NamedTensor
from aoti_debug.explain.out_of_bounds import (
    Blame,
    computed_fixes,
    empty_fixes,
    of_value,
    size_finding,
    size_fixes,
    value_fixes,
    worst,
)
from aoti_debug.package.record import Launch
from aoti_debug.vocabulary import Leaf


@dataclass(frozen=True, slots=True)
class Producer:
    """A launch that computes a tensor which an index comes from."""

    launch: Launch
    reads: tuple[str, ...]  # tensors, as the user calls them


@dataclass(frozen=True, slots=True)
class Index:
    """All that the package, and the call where one was seen, tell about a checked index."""

    check: IndexCheck
    meaning: IndexMeaning
    bound: str  # in words
    upper: int | None
    table: NamedTensor | None
    dimension: int | None
    access: Access | None
    slice: tuple[int, ...]  # places in the kernel's lines
    producers: tuple[Producer, ...] = ()
    culprit: Leaf | None = None
    reach: int | None = None  # how far a position counts in the call

    @property
    def leaves(self) -> bool:
        """Tell whether it is seen to leave its bounds."""
        if self.upper is None:
            return False
        return self.culprit is not None or self.upper == 0 or (self.reach or 0) > self.upper


def read_index(
    reader: KernelReader,
    check: IndexCheck,
    producers: Sequence[Producer] = (),
    inputs: Sequence[Leaf] = (),
) -> Index:
    """Follow a check of a kernel; `producers` are launches behind the buffers it loads from."""
    names = reader.names
    meaning = reader.meaning(check.index, check.place)
    upper_text = reader.size(check.upper) if check.upper is not None else None
    upper = names.number(upper_text) if upper_text is not None else None
    access, table, dimension = selected(reader, check, upper_text)
    bound = bound_words(upper_text, table, dimension, names)
    return Index(
        check,
        meaning,
        bound,
        upper,
        table,
        dimension,
        access,
        tuple(slice_of(reader.code, check.index, check.place)),
        tuple(producers),
        culprit_of(meaning, inputs, upper),
        reach_of(meaning, names),
    )


def selected(
    reader: KernelReader, check: IndexCheck, upper: str | None
) -> tuple[Access | None, NamedTensor | None, int | None]:
    """Return the access that uses the index, the tensor and the dimension it selects from."""
    for access in indexed_by(reader.code, check):
        argument = reader.arguments.get(access.pointer)
        if argument is None or argument.value is None:
            continue
        value = reader.names.root(argument.value)
        return access, value, dimension_of(value, upper, access, check, reader.names)
    for argument in reader.arguments.values():  # the use may be vectorised beyond recognition
        table = argument.value
        if table is not None and table.kind == "constant" and table.size and upper in table.size:
            return None, table, table.size.index(upper)
    return None, None, None


def dimension_of(
    value: NamedTensor, upper: str | None, access: Access, check: IndexCheck, names: ModelNames
) -> int | None:
    """Return which dimension of `value` has the checked size; by its stride where several do."""
    if value.size is None or upper is None:
        return None
    known, sizes = names.number(upper), list(enumerate(value.size))
    same = [d for d, size in sizes if size == upper]
    if not same and known is not None:
        same = [d for d, size in sizes if names.number(size) == known]
    for d in same if len(same) > 1 and value.stride is not None else ():
        step = value.stride[d] if value.stride is not None else "1"
        factor = rf"\b{re.escape(step)}\*" if step != "1" else r"(?<!\*)\b"
        if re.search(rf"{factor}{check.index}\b", access.offset):
            return d
    return same[0] if same else None


def bound_words(
    upper: str | None, table: NamedTensor | None, dimension: int | None, names: ModelNames
) -> str:
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


def culprit_of(meaning: IndexMeaning, inputs: Sequence[Leaf], upper: int | None) -> Leaf | None:
    """Return the one input that the index was loaded from, where its values leave the bounds."""
    loaded = [
        s.argument.value for s in meaning.sources if s.argument is not None and s.argument.value
    ]
    numbers = {value.index for value in loaded if value.kind == "input"}
    if len(numbers) != 1 or upper is None or any(value.kind == "buffer" for value in loaded):
        return None
    number = numbers.pop()
    given = next((one for one in inputs if one.index == number), None)
    computed = meaning.text.startswith("(")  # from it: its own values prove nothing
    if given is None or given.max is None or given.min is None or computed:
        return None
    lowest = -upper if meaning.wrapped is not None else 0
    return given if given.max >= upper or given.min < lowest else None


def reach_of(meaning: IndexMeaning, names: ModelNames) -> int | None:
    limits = [names.number(s.limit) for s in meaning.sources if s.position and s.limit]
    known = [limit for limit in limits if limit is not None]
    return known[0] if len(known) == 1 and len(meaning.sources) == 1 else None


def blame(index: Index, names: ModelNames, ops: Sequence[str]) -> Blame:
    """Say what left which bounds, by which input, and what helps; `ops` may compute the index."""
    table = names.called(index.table) if index.table is not None else None
    selected = table or "what it selects from"
    limit = index.upper if index.upper is not None else index.check.upper or ""
    symbol = sizing(index, names) or ""
    place, sized = names.dimension(symbol), None
    if place is not None:
        size = names.known.get(symbol)
        sized = size_finding(place[0], names.users.get(place[0]), place[1], limit, size)
    if index.upper == 0:
        what = (
            f"dimension {index.dimension} of {table}" if table else "the dimension it selects from"
        )
        words = f"{what} is empty in this call: no index fits it ({index.bound})"
        return Blame(words, sized, empty_fixes(selected))
    if (found := index.culprit) is not None and index.upper is not None:
        name = names.users.get(found.index or 0) or found.name
        element = found.index, name, *worst(found, index.upper), index.upper
        return of_value(*element, given=found, where=f": {index.bound}", table=selected)
    words = f"the index is {described(index)}; it must be below {index.bound}"
    if is_position(index):
        if index.reach is not None and index.upper is not None and index.reach > index.upper:
            words = positions(index, index.reach, table, place, names)
        where = names.origin(symbol) or "the length of the input"
        return Blame(words, sized, size_fixes(where, limit, selected))
    loaded = [s.argument for s in index.meaning.sources if s.argument is not None]
    inputs = [a.value for a in loaded if a.value is not None and a.value.kind == "input"]
    if len(inputs) == len(loaded) == 1:
        return Blame(words, None, value_fixes(names.called(inputs[0]), limit, None, selected))
    return Blame(words, None, computed_fixes(ops, selected, f"the size of {selected}"))


def positions(
    index: Index, reach: int, table: str | None, place: tuple[int, int] | None, names: ModelNames
) -> str:
    """Say that an index counts more positions than there are to select from."""
    counts = f"the index counts 0 to {reach - 1}"
    if place is None or table is None:
        source = names.words(index.meaning.sources[0].limit or "")
        return f"{counts} ({source}), but the bound is {index.bound}"
    name = names.users.get(place[0]) or f"input {place[0]}"
    has = f"{name} has {reach} positions (dimension {place[1]}), {table} has {index.upper}"
    return f"{has}: {counts}"


def described(index: Index) -> str:
    """Say what the index is made of."""
    text = index.meaning.text
    if index.meaning.wrapped is not None:
        text += f", plus {index.meaning.wrapped} where it is negative"
    for producer in index.producers[:3]:
        ops = ", ".join(producer.launch.ops) or producer.launch.kernel
        reads = f" of {', '.join(producer.reads[:4])}" if producer.reads else ""
        text += f" <- {ops}{reads} (launch {producer.launch.number})"
    return text


def is_position(index: Index) -> bool:
    """Tell whether an index counts positions and nothing else."""
    return bool(index.meaning.sources) and all(s.position for s in index.meaning.sources)


def sizing(index: Index, names: ModelNames) -> str | None:
    """Return the size symbol that decides: of the bound where it is empty, else of the position."""
    if index.upper == 0:
        candidates = [index.bound]
    elif is_position(index):
        candidates = [s.limit or "" for s in index.meaning.sources]
    else:
        return None
    words = re.findall(r"\b[a-z]{1,3}\d{1,5}\b", " ".join(candidates))
    return next((word for word in words if word in names.symbols), None)
