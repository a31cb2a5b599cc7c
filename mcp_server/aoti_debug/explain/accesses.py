"""The loads, stores and checks of a kernel's source: which indices are checked and which not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from aoti_debug.explain.code import Code

TEMPORARY = re.compile(r"\btmp\d{1,6}\b")
ASSIGNED = re.compile(
    r"^\s*(?:const |auto |float |double |bool |int64_t |int32_t |half |bfloat16 ){0,3}"
    r"(\w{1,100}) = (.{1,4000}?);?$"
)
_TRITON = re.compile(r"tl\.(load|store|atomic_\w{1,20})\((\w{1,300}) \+ \((.{1,2000})")
_CPP_INDEX = re.compile(r"\b(\w{0,100}ptr\d{1,4})\[static_cast<int64_t>\((.{1,1000}?)\)\]( = )?")
_CPP_VECTOR = re.compile(
    r"(?:::(load)u|\.store)\((\w{0,100}ptr\d{1,4}) \+ "
    r"static_cast<int64_t>\((.{1,1000}?)\)(?:, |\))"
)
_CPP_ATOMIC = re.compile(
    r"atomic_add\w{0,20}\(&(\w{0,100}ptr\d{1,4})\[static_cast<int64_t>\((.{1,1000}?)\)\]"
)
How = Literal["load", "store", "atomic"]
_TRITON_HOW: dict[str, How] = {"load": "load", "store": "store"}
_CHECK = re.compile(r'"index out of bounds: ([^"]{1,300})"')
_BOUNDS = re.compile(r"^(?:(.{1,80}?) <= )?(.{1,80}?)(?: < (.{1,80}))?$")


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """An assertion that an index keeps its bounds; None stands for a side that is not checked."""

    place: int  # 0-based, within the kernel's lines
    condition: str
    index: str
    lower: str | None
    upper: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store of a pointer at an offset."""

    place: int
    how: How
    pointer: str
    offset: str


SLICE = 60  # lines
CHECKS = 500  # no compiler writes more; what each one reads is looked for


def checks(code: Code) -> list[IndexCheck]:
    """Return the kernel's checks of indices, the first of very many."""
    found: list[IndexCheck] = []
    for place, line in enumerate(code.lines):
        if "index out of bounds" in line and (said := _CHECK.search(line)):
            text = said[1].strip()
            sides = _BOUNDS.match(text)  # `LOWER <= INDEX < UPPER`, or one of the two
            lower, index, upper = sides.groups() if sides else (None, text, None)
            bounds = (plain(side) if side is not None else None for side in (lower, upper))
            found.append(IndexCheck(place, text, index, *bounds))
            if len(found) == CHECKS:
                break
    return found


def plain(text: str) -> str:
    """Take the suffix off C++ literals: `10L`."""
    return re.sub(r"\b(\d{1,19})L\b", r"\1", text.strip())


def accesses(code: Code, first: int = 0, end: int | None = None) -> Iterator[Access]:
    """Yield the loads and stores of the lines `first` to `end` in their order."""
    for place, line in enumerate(code.lines[first:end], first):
        if code.language == "triton":
            for found in _TRITON.finditer(line):
                how = _TRITON_HOW.get(found[1], "atomic")
                yield Access(place, how, found[2], _balanced(found[3]))
        elif "ptr" in line:
            for found in _CPP_VECTOR.finditer(line):
                yield Access(place, "load" if found[1] else "store", found[2], plain(found[3]))
            for found in _CPP_ATOMIC.finditer(line):
                yield Access(place, "atomic", found[1], plain(found[2]))
            for found in _CPP_INDEX.finditer(line) if "atomic_add" not in line else ():
                yield Access(place, "store" if found[3] else "load", found[1], plain(found[2]))


def _balanced(text: str) -> str:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return text[:place]
    return text


def definition(code: Code, name: str, before: int) -> tuple[int, str] | None:
    """Return where `name` got its value, looking up from a place: (place, right side)."""
    for place in range(before - 1, max(-1, before - 4000), -1):
        line = code.lines[place]
        if name in line and (found := ASSIGNED.match(line)) and found[1] == name:
            return place, found[2]
    return None


def slice_of(code: Code, name: str, before: int) -> dict[int, str]:
    """Return the lines that `name` is computed from: place -> the name that is made there."""
    found: dict[int, str] = {}
    wanted = [(name, before)]
    seen: set[str] = set()
    while wanted and len(found) < SLICE:
        one, at = wanted.pop()
        if one in seen:
            continue
        seen.add(one)
        made = definition(code, one, at)
        if made is None:
            continue
        found[made[0]] = one
        wanted += [(word, made[0]) for word in names_in(made[1])]
    return dict(sorted(found.items()))


def names_in(text: str) -> list[str]:
    """Return the temporaries and positions that an expression reads."""
    return re.findall(r"\b(?:tmp\d{1,6}|[xyzr]\d{1,3}(?:_\d{1,3})?|[xyzr]\d?_?index)\b", text)


def indexed_by(code: Code, check: IndexCheck) -> list[Access]:
    """Return the accesses below a check that use the checked index."""
    made = slice_of(code, check.index, check.place)
    # Generated code may check a converted or wrapped copy and then use either.
    used = {check.index, *(n for n in made.values() if n.startswith("tmp"))}
    follow = definition(code, check.index, check.place)
    if follow is not None and not TEMPORARY.search(follow[1]):
        used.update(names_in(follow[1]))
    near = accesses(code, check.place + 1, check.place + 61)
    below = [access for access in near if used & set(names_in(access.offset))]
    strong = [a for a in below if check.index in names_in(a.offset)]
    return strong or below


def unchecked(code: Code) -> list[Access]:
    """Return the accesses whose offset comes from data and which no check stands before."""
    guarded: set[str] = set()
    for check in checks(code):
        guarded |= {check.index, *slice_of(code, check.index, check.place).values()}
    read = ((access, TEMPORARY.findall(access.offset)) for access in accesses(code))
    return [access for access, names in read if names and guarded.isdisjoint(names)]
