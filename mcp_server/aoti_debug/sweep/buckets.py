"""Group failures that are alike, and hold the groups of two sweeps together."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from aoti_debug.plain import times
from aoti_debug.sweep.answer import Bucket
from aoti_debug.sweep.row import TEXT, Row, rows_of
from aoti_debug.vocabulary import Fingerprint, Place, normalised

NAMES = 20
COMPARED = 200  # buckets of a kind; a failure beyond these is only found where it is the same
# Of these the category, with the broken property of the input, is the cause: what follows from it
# (an exception here, a signal or a wrong number there) is chance.
CAUSES = frozenset(
    """
    contract_shape contract_dtype contract_stride contract_device contract_guard
    contract_argument constants_missing constants_mismatch package_incompatible
    missing_kernel_binary out_of_memory device_unavailable false_alarm hang
    """.split()
)
# Of these our own sentence is: a loader prints this of one broken archive, that of the next.
BY_SUMMARY = frozenset(("package_corrupt",))
_NUMBER = re.compile(r"\d+")
# Fused into every other kernel: two failures that share them need not have anything in common.
COMMON = frozenset(
    """
    add addmm mul sub div mm bmm linear relu gelu silu tanh sigmoid layer native norm rsqrt mean
    pow sum view reshape permute transpose t expand clone copy to convert element type unsqueeze
    squeeze slice split cat arange ones zeros full lt le gt ge eq ne where softmax dropout
    default tensor scalar
    """.split()
)

Kind = tuple[str | None, ...]


def kind_of(row: Row) -> Kind:
    """Return what two failures must have in common in any case."""
    return (row.outcome, row.category, row.broken)


def signature_of(row: Row) -> Fingerprint:
    """Return what tells a failure from others of its kind; little where the kind is the cause."""
    found = row.signature or Fingerprint(None, None)
    if row.category in CAUSES:
        return Fingerprint(None, row.category)
    if row.outcome == "error":
        return Fingerprint(None, "error", row.summary[:80])
    if row.category in BY_SUMMARY:
        return Fingerprint(None, row.category, _NUMBER.sub("_", row.summary)[:200])
    if row.category == "nan_or_inf" and row.constant is not None:
        # A checkpoint with NaN is one cause, whichever weight holds it.
        return Fingerprint(None, row.category, "given to load_constants")
    # A triage that names no exception has one kind all the same: its category.
    kind = found.kind or row.category
    if found.message is None and not found.operators:
        line = Place("", 0, text=row.text) if row.text else found.place
        return replace(found, kind=kind, operators=_telling(map(_operator, row.ops)), place=line)
    return replace(found, kind=kind, operators=_telling(found.operators), place=None)


def _telling(operators: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in operators if name not in COMMON)


def _operator(op: str) -> str:
    """Return the name of `aten.add.Tensor` without its library and overload."""
    parts = op.split(".")
    return parts[1] if len(parts) > 1 else op


def alike(one: Fingerprint, other: Fingerprint) -> bool:
    """Tell whether two failures of a kind are the same, by their lines if nothing else differs."""
    lines = {one.place, other.place} - {None}
    return one.same(other) and len(lines) < 2


@dataclass(slots=True)
class Group:
    kind: Kind
    signature: Fingerprint
    first: Row
    smallest: Row
    targets: int = 0
    attempts: int = 0
    failures: int = 0
    flaky: int = 0
    proved: int = 0
    names: list[str] = field(default_factory=list)
    state: Literal["new", "still", "gone"] | None = None
    since: str | None = None

    @property
    def id(self) -> str:
        words = (
            *self.kind,
            self.signature.phase,
            self.signature.kind,
            normalised(self.signature.message),
            *self.signature.operators,
            self.signature.place and (self.signature.place.text or str(self.signature.place)),
        )
        text = "\0".join(str(word) for word in words)
        return f"b-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def add(self, row: Row) -> None:
        self.targets += 1
        self.attempts += row.attempts
        self.failures += row.failures
        self.flaky += row.flaky
        self.proved += row.confidence == "proved"
        if len(self.names) < NAMES:
            self.names.append(row.target)

    def answer(self) -> Bucket:
        first, smallest = self.first, self.smallest
        return Bucket(
            **first.model_dump(include=Row.model_fields.keys() & Bucket.model_fields.keys()),
            id=self.id,
            state=self.state,
            targets=self.targets,
            failure=str(first.signature)[:300] if first.signature else None,
            since=self.since,
            flaky=f"{self.failures} of {self.attempts} attempts failed" if self.flaky else None,
            first=first.target[:TEXT],
            smallest=smallest.target[:TEXT] if smallest is not first else None,
            smallest_run=smallest.run if smallest is not first else None,
            names=[name[:TEXT] for name in self.names[:5]],
        )


class Groups:
    """All buckets of a sweep. Memory grows with the buckets, not with the targets."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._groups: dict[Kind, list[Group]] = {}
        self._same: dict[tuple[Kind, Fingerprint], Group] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> list[str]:
        """Put a failure where it belongs; return the runs that need not be kept any more: a
        bucket's are its first target's and its smallest's."""
        if row.outcome == "ok":
            return []
        kind, signature = kind_of(row), signature_of(row)
        group = self.find(kind, signature)
        if group is None:
            group = Group(kind, signature, row, row)
            self._groups.setdefault(kind, []).append(group)
            self._same[kind, signature] = group
        group.add(row)
        had = {group.first.run, group.smallest.run, row.run}
        if row.index < group.first.index:  # which one ends first is chance
            group.first = row
        if (row.size or 1 << 62) < (group.smallest.size or 1 << 62):
            group.smallest = row
        return [run for run in had - {group.first.run, group.smallest.run} if run]

    def find(self, kind: Kind, signature: Fingerprint) -> Group | None:
        if (same := self._same.get((kind, signature))) is not None:
            return same
        known = self._groups.get(kind, ())[:COMPARED]
        return next((group for group in known if alike(group.signature, signature)), None)

    def __iter__(self) -> Iterator[Group]:
        every = [group for groups in self._groups.values() for group in groups]
        return iter(sorted(every, key=lambda group: (-group.targets, group.first.index)))

    def __len__(self) -> int:
        return sum(len(groups) for groups in self._groups.values())


def compare(now: Groups, before: Groups, since: Mapping[str, str], here: str, was: str) -> Groups:
    """Say of each bucket whether it is new, and return those that are gone. `since` has what the
    baseline knew of its buckets' beginning; `here` and `was` name the two sweeps."""
    seen: set[str] = set()
    for group in now:
        old = before.find(group.kind, group.signature)
        group.state = "new" if old is None else "still"
        group.since = here if old is None else since.get(old.id, was)
        if old is not None:
            seen.add(old.id)
    gone = Groups()
    for group in before:
        if group.id not in seen:
            gone._groups.setdefault(group.kind, []).append(group)
            group.state, group.since = "gone", since.get(group.id, was)
    return gone


def regressed(groups: Groups, baseline: Path) -> list[str]:
    """Say how many targets of buckets that are not new are new in them."""
    failed = {row.target for row in rows_of(baseline) if row.outcome != "ok"}
    known = [name for group in groups if group.state == "still" for name in group.names]
    fresh = [name for name in known if name not in failed]
    more = " or more" if any(len(group.names) < group.targets for group in groups) else ""
    what = f"{times(len(fresh), 'target')}{more} failed in a known way, and had not"
    return [f"{what}: {', '.join(fresh[:3])}"] if fresh else []
