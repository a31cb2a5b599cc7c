"""Read what the probe saw in the user's process: `events.jsonl`, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import BinaryIO, TypeVar

from aoti_debug.read.event_fields import (
    TEXT_LIMIT,
    call_of,
    custom_ops_of,
    details_of,
    dicts,
    failure_of,
    inside,
    integer,
    merged,
    odd_of,
    output_of,
    process_of,
    real,
    reference_of,
    string,
    torch_of,
    weights_of,
    with_memory,
)
from aoti_debug.read.event_records import (
    Call,
    Counted,
    CustomOps,
    Ended,
    Events,
    Failure,
    Fields,
    ModelRow,
    Note,
    Odd,
    Output,
    PackageSeen,
    Phase,
    Process,
    Reference,
    Torch,
    Weights,
)
from aoti_debug.read.record import QUOTE_LIMIT, Span
from aoti_debug.vocabulary import Leaf

__all__ = [
    "Call",
    "CustomOps",
    "Events",
    "Failure",
    "Note",
    "Output",
    "PackageSeen",
    "Phase",
    "Process",
    "Torch",
    "read_events",
]

_LINE_LIMIT = 4 << 20  # bytes
_KEPT = 20_000  # events of one kind


def read_events(stream: BinaryIO, artifact: str = "events.jsonl", key: str | None = None) -> Events:
    """Read all events; lines that are none are counted, never an error.

    `key` is the run's secret, which each event then carries; unknown, it is the first line's.
    """
    reader = _EventReader(artifact, key=key)
    number = 0
    while raw := stream.readline(_LINE_LIMIT):
        number += 1
        if not raw.endswith(b"\n") and len(raw) >= _LINE_LIMIT:
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(_LINE_LIMIT)
            reader.unreadable += 1
        elif raw.strip():
            reader.feed(number, raw)
    return reader.events()


@dataclass(slots=True)
class _EventReader:
    artifact: str
    processes: list[Process] = field(default_factory=list)
    torches: list[Torch] = field(default_factory=list)
    phases: dict[tuple[int, int, int], Phase] = field(default_factory=dict)
    calls: dict[tuple[int, int, int], Call] = field(default_factory=dict)
    packages: list[PackageSeen] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    custom_ops: list[CustomOps] = field(default_factory=list)
    described: dict[tuple[int, int], tuple[Leaf, ...]] = field(default_factory=dict)
    open: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)
    rows: list[ModelRow] = field(default_factory=list)
    returned: list[Odd] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    key: str | None = None  # the run's secret; empty: the events carry none
    unreadable: int = 0

    def feed(self, number: int, raw: bytes) -> None:
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            self.unreadable += 1
            return
        pid = integer(event.get("pid")) if isinstance(event, dict) else None
        if pid is not None and self.key is None:
            self.key = string(event.get("key")) or ""
        if pid is None or (self.key and event.get("key") != self.key):
            self.unreadable += 1
            return
        span = Span(self.artifact, number, number, _quote(raw))
        kind = event.get("event")
        if kind == "process":
            _keep(self.processes, process_of(span, pid, event))
        elif kind == "torch":
            _keep(self.torches, torch_of(span, pid, event))
        elif kind == "begin":
            self._begin(span, pid, event)
        elif kind == "end":
            self._end(span, pid, event)
        elif kind == "note":
            what, why = string(event.get("what")) or "", string(event.get("why")) or ""
            _keep(self.notes, Note(span, pid, what, why))
        elif kind == "custom_ops":
            _keep(self.custom_ops, custom_ops_of(span, pid, event))
        elif kind == "reference":
            _keep(self.references, reference_of(span, pid, event))
        elif kind == "weights":
            _keep(self.weights, weights_of(span, pid, event))
        elif kind == "ended":
            _keep(self.ended, Ended(span, pid, failure_of(event)))
        elif kind == "tally":
            file, names = inside(event.get("file")), map(event.get, ("now", "latest", "pending"))
            if file is not None:
                _keep(self.counted, Counted(pid, file, *map(inside, names)))
        elif kind == "outputs":
            row, model = integer(event.get("row")), string(event.get("model")) or "model"
            if row is not None:
                _keep(self.rows, ModelRow(pid, row, string(event.get("package")), model))
        elif kind == "returned":
            _keep(self.returned, odd_of(pid, event))
        else:
            self.unreadable += 1

    def events(self) -> Events:
        return Events(
            tuple(self.processes),
            tuple(self.torches),
            tuple(self.phases.values()),
            tuple(self.calls.values()),
            tuple(self.packages),
            tuple(self.notes),
            tuple(self.custom_ops),
            self.unreadable,
            tuple(self.counted),
            references=tuple(self.references),
            weights=tuple(self.weights),
            rows=tuple(self.rows),
            returned=tuple(self.returned),
            ended=tuple(self.ended),
        )

    def _begin(self, span: Span, pid: int, event: Fields) -> None:
        id_ = integer(event.get("id"))
        if id_ is None:
            self.unreadable += 1
            return
        stack = self.open.setdefault(pid, [])
        key = (pid, id_, span.first)  # a pid may be used twice
        phase = Phase(
            span,
            pid,
            id_,
            parent=stack[-1][1] if stack else None,
            phase=string(event.get("phase")) or "",
            name=string(event.get("name")) or "",
            begun=real(event.get("t")),
            seconds=None,
            ok=None,
            error=None,
            details=details_of(event),
        )
        stack.append(key)
        del stack[:-1000]
        _store(self.phases, key, phase)
        if phase.phase == "run":
            _store(self.calls, key, self._call(span, pid, id_, event))
        if phase.phase == "load":
            self._package(span, pid, event)

    def _end(self, span: Span, pid: int, event: Fields) -> None:
        id_ = integer(event.get("id"))
        stack = self.open.get(pid, [])
        key = next((k for k in reversed(stack) if k[1] == id_), None)
        if key is None:
            self.unreadable += 1
            return
        stack.remove(key)
        ok, seconds, error = event.get("ok") is True, real(event.get("seconds")), failure_of(event)
        old = self.phases.get(key)
        if old is not None:
            whole = replace(old.span, last=span.first)
            details = merged(old.details, details_of(event))
            self.phases[key] = replace(
                old, span=whole, ok=ok, seconds=seconds, error=error, details=details
            )
        call = self.calls.get(key)
        if call is not None:
            outputs = tuple(output_of(o) for o in dicts(event.get("outputs")))
            whole = replace(call.span, last=span.first)
            self.calls[key] = replace(
                with_memory(call, event),
                span=whole,
                ok=ok,
                seconds=seconds,
                error=error,
                outputs=outputs,
                captured=inside(event.get("captured")) or call.captured,
            )
        self._package(span, pid, event)

    def _call(self, span: Span, pid: int, id_: int, event: Fields) -> Call:
        call = call_of(span, pid, id_, event)
        same = integer(event.get("inputs_of"))  # described once, at an earlier call of this process
        if call.inputs:
            _store(self.described, (pid, id_), call.inputs)
        elif same is not None:
            call = replace(call, inputs=self.described.get((pid, same), ()))
        return call

    def _package(self, span: Span, pid: int, event: Fields) -> None:
        package = event.get("package")
        if not isinstance(package, dict) or not isinstance(package.get("path"), str):
            return
        _keep(
            self.packages,
            PackageSeen(
                span,
                pid,
                package["path"][:TEXT_LIMIT],
                integer(package.get("bytes")),
                real(package.get("mtime")),
                inside(package.get("captured")),
                string(package.get("why_not")),
            ),
        )


def _quote(raw: bytes) -> str:
    """Return a line from what happened on: when, and in which process, says little."""
    begin = max(0, raw.find(b'"event"'))
    return raw[begin : begin + QUOTE_LIMIT].decode("utf-8", "replace").strip()


T = TypeVar("T")
K = TypeVar("K")


def _keep(items: list[T], item: T) -> None:
    """Append, and drop from the middle what is too many."""
    items.append(item)
    if len(items) > _KEPT:
        del items[_KEPT // 2]


def _store(items: dict[K, T], key: K, item: T) -> None:
    items[key] = item
    if len(items) > _KEPT:
        del items[next(iter(items))]
