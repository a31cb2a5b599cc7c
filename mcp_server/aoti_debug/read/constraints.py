"""Read what torch.export says of dynamic dimensions that a model cannot keep."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from aoti_debug.read.record import Line, Record
from aoti_debug.read.text import Ends, span_of

_HEAD = "Constraints violated ("
_SIZE = r"(?:(?P<{0}name>[^=\s]{{1,80}}) = )?(?P<{0}source>L\[.{{1,200}}?\.size\(\)\[\d{{1,3}}\])"
_VALUES = re.compile(
    rf"Not all values of {_SIZE.format('')} in the specified range ?(?P<range>.{{0,120}}?) ?"
    r"(?:satisfy the generated guard|are valid because \S{1,200} was inferred to be) "
    r"(?P<guard>.{1,600})"
)
_RELATED = re.compile(
    rf"The values of {_SIZE.format('')} and {_SIZE.format('other')} must always be equal"
)
_CONSTANT = re.compile(
    r"You marked (?P<name>.{1,200}?) as dynamic but your code specialized it to be a constant "
    r"\((?P<value>-?\d{1,19})\)"
)
_FIX = re.compile(r"^ {1,8}(?P<name>[^\s=]{1,200}) = (?P<value>.{1,200})$")
_PLACE = re.compile(r"L\['(?P<input>[^']{1,100})'\](?P<path>.{0,80})\.size\(\)\[(?P<dim>\d{1,3})\]")
_LINES = 60


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a promised dimension breaks."""

    dim: str  # the Dim's name, or the size itself
    size: str | None  # as torch writes it: L['x'].size()[1]
    guard: str  # with torch's names of the sizes
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class ConstraintsViolated(Record):
    reasons: tuple[Reason, ...]
    fixes: tuple[tuple[str, str], ...]  # torch's suggestions: a name and what it should be

    @property
    def names(self) -> dict[str, str]:
        """Return the Dim's name of each size that has one."""
        return {r.size: r.dim for r in self.reasons if r.size is not None}


class ConstraintsReader:
    """Give one record for each block of reasons; torch prints the same block twice."""

    triggers: tuple[str, ...] = (_HEAD,)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._lines: list[Line] = []
        self._found: Ends[ConstraintsViolated] = Ends(20, 20)

    def feed(self, line: Line) -> bool:
        if self._lines:
            if line.text[:2] in ("  ", "Su") and len(self._lines) < _LINES:
                self._lines.append(line)
                return True
            self._end()
        if _HEAD in line.text:
            self._lines = [line]
        return bool(self._lines)

    def finish(self) -> Iterable[Record]:
        self._end()
        return list(self._found)

    def _end(self) -> None:
        lines, self._lines = self._lines, []
        texts = [line.text for line in lines]
        at = next((i for i, t in enumerate(texts) if t.startswith("Suggested")), len(texts))
        reasons = [reason for text in texts[:at] if (reason := _reason(text)) is not None]
        fixes = [(f["name"], f["value"]) for t in texts[at:] if (f := _FIX.match(t))]
        if reasons:
            span = span_of(self._artifact, lines)
            self._found.add(ConstraintsViolated(span, tuple(reasons), tuple(fixes)))


def _reason(text: str) -> Reason | None:
    if found := _CONSTANT.search(text):
        name = found["name"]
        return Reason(name, None, f"{name} == {found['value']}", int(found["value"]))
    if found := _VALUES.search(text):
        guard = found["guard"].removesuffix(".")
        value = re.fullmatch(r"a constant \((-?\d{1,19})\)", guard)
        size, name = found["source"], found["name"] or found["source"]
        if value:
            return Reason(name, size, f"{size} == {value[1]}", int(value[1]))
        return Reason(name, size, guard)
    if found := _RELATED.search(text):
        other = found["othersource"]
        return Reason(
            found["name"] or found["source"], found["source"], f"{found['source']} == {other}"
        )
    return None


def in_words(size: str) -> str:
    """Say which dimension of which input `L['x'].size()[1]` is."""
    found = _PLACE.fullmatch(size)
    return f"dimension {found['dim']} of {found['input']}{found['path']}" if found else size


def named(guard: str, names: dict[str, str]) -> str:
    """Write a guard with the user's names of the sizes."""
    for size in sorted(names, key=len, reverse=True):
        guard = guard.replace(size, names[size])
    return re.sub(r"L\['([^']{1,100})'\]([^ ]{0,80}?)\.size\(\)\[(\d{1,3})\]",
                  r"\1\2.shape[\3]", guard)  # fmt: skip
