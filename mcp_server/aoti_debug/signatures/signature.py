"""What a failure signature is, and how lines are matched against all of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from aoti_debug.model import Category, Confidence, Fix, Phase
from aoti_debug.read.record import QUOTE_LIMIT, Line, Reader, Record, Span

Role = Literal["cause", "symptom", "envelope", "aftermath"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Log text and where it came from: `recorded` was printed by a run of ours, `quoted` is a
    line quoted in a public thread."""

    text: str
    origin: Literal["recorded", "quoted"]
    note: str = ""


def recorded(text: str, note: str = "") -> Sample:
    """Give a sample that a run of ours printed; `note` says with what."""
    return Sample(text, "recorded", note)


def quoted(text: str, note: str = "") -> Sample:
    """Give a sample from a public thread; `note` begins with the thread."""
    return Sample(text, "quoted", note)


def fix(what: str, where: str | None = None, why: str | None = None) -> Fix:
    """Give a fix, which keeps the tables below flat."""
    return Fix(what=what, where=where, why=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One way to fail, as it shows in a log.

    A line matches when it holds one of `anchors` (plain text, the cheap test) and one of
    `patterns` (regular expression, searched) matches it; named groups may be used in `summary`
    and in the fixes as `{name}`. `role` says what kind of line it is: a cause outranks a symptom
    (true but not the reason), an envelope (says only that something failed) and an aftermath
    (a consequence of an earlier fault). Within a role a higher `weight` wins.
    """

    id: str
    family: str  # letter of the family of failures, A to Q
    phase: Phase
    category: Category
    role: Role = "cause"
    weight: int = 50
    confidence: Confidence = "likely"
    anchors: tuple[str, ...]
    patterns: tuple[str, ...]
    summary: str
    means: str
    mistaken_for: str = ""
    check: str = ""  # the cheapest check that tells it from what it is mistaken for
    fixes: tuple[Fix, ...] = ()
    guide: str  # guides/NAME.md#anchor
    next_tool: str | None = None
    since: str | None = None  # first torch release that prints it
    until: str | None = None  # last one
    references: tuple[str, ...] = ()
    matches: tuple[Sample, ...]
    neighbours: tuple[Sample, ...] = ()  # alike, and must not match
    apart_from: tuple[str, ...] = ()  # signatures none of whose samples may match


@dataclass(frozen=True, slots=True)
class Match(Record):
    """A signature found in an artifact: where first, and how often."""

    signature: Signature
    groups: dict[str, str] = field(default_factory=dict)
    count: int = 1


@cache
def signatures() -> tuple[Signature, ...]:
    """Load the `SIGNATURE` of every module in the topics of this package, in order of id."""
    import aoti_debug.signatures as package

    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [info.name for info in modules if info.name.count(".") == 3 and not info.ispkg]
    found: list[Signature] = [importlib.import_module(name).SIGNATURE for name in names]
    return tuple(sorted(found, key=lambda s: s.id))


_DIGITS = str.maketrans("", "", "0123456789")


class _Matcher:
    def __init__(self, artifact: str, table: Iterable[Signature]) -> None:
        self._artifact = artifact
        self._table = [(s, tuple(re.compile(p) for p in s.patterns)) for s in table]
        self._found: dict[str, Match] = {}
        self._counts: dict[str, int] = {}
        self._kinds: dict[str, list[tuple[Signature, tuple[re.Pattern[str], ...]]]] = {}
        self.triggers = tuple(sorted({a for s, _ in self._table for a in s.anchors}))

    def feed(self, line: Line) -> bool:
        for signature, patterns in self._possible(line.text):
            if not any(anchor in line.text for anchor in signature.anchors):
                continue
            found = next((m for p in patterns if (m := p.search(line.text))), None)
            if found is None:
                continue
            self._counts[signature.id] = self._counts.get(signature.id, 0) + 1
            if signature.id not in self._found:
                quote = line.text.strip()[:QUOTE_LIMIT]
                span = Span(self._artifact, line.number, line.number, quote)
                groups = {k: v for k, v in found.groupdict().items() if v is not None}
                self._found[signature.id] = Match(span, signature, groups)
        return False

    def _possible(self, text: str) -> list[tuple[Signature, tuple[re.Pattern[str], ...]]]:
        """Return the rows whose anchors may be in `text`; lines alike but for digits share them."""
        kind = text.translate(_DIGITS)
        rows = self._kinds.get(kind)
        if rows is None:
            rows = [
                row
                for row in self._table
                if any(anchor.translate(_DIGITS) in kind for anchor in row[0].anchors)
            ]
            if len(self._kinds) < 1000:
                self._kinds[kind] = rows
        return rows

    def finish(self) -> Iterable[Match]:
        for id, match in self._found.items():
            yield Match(match.span, match.signature, match.groups, self._counts[id])


def matcher(artifact: str, table: Iterable[Signature] | None = None) -> Reader:
    """Return a reader that matches each line of `artifact` against all signatures."""
    return _Matcher(artifact, signatures() if table is None else table)
