"""Read what the probe saw in the user's process: `events.jsonl`, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeVar

from aoti_debug.read.event_fields import (
    dicts,
    guards_of,
    input_of,
    inside,
    integer,
    node_of,
    output_of,
    real,
    string,
    texts,
    values,
)
from aoti_debug.read.event_records import (
    Call,
    Counted,
    CustomOps,
    Events,
    Failure,
    Fields,
    Input,
    Note,
    Output,
    PackageSeen,
    Phase,
    Process,
    Torch,
)
from aoti_debug.read.record import QUOTE_LIMIT, Span

__all__ = [
    "Call",
    "CustomOps",
    "Events",
    "Failure",
    "Input",
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
_TEXT = 4000


def read_events(stream: BinaryIO, artifact: str = "events.jsonl") -> Events:
    """Read all events; lines that are none are counted, never an error."""
    reader = _EventReader(artifact)
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
    described: dict[tuple[int, int], tuple[Input, ...]] = field(default_factory=dict)
    open: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
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
            # Written before any line of the target's own was run.
            self.key = string(event.get("key")) or ""
        if pid is None or (self.key and event.get("key") != self.key):
            self.unreadable += 1
            return
        span = Span(self.artifact, number, number, _quote(raw))
        kind = event.get("event")
        if kind == "process":
            _keep(self.processes, _process(span, pid, event))
        elif kind == "torch":
            _keep(self.torches, _torch(span, pid, event))
        elif kind == "begin":
            self._begin(span, pid, event)
        elif kind == "end":
            self._end(span, pid, event)
        elif kind == "note":
            what, why = string(event.get("what")) or "", string(event.get("why")) or ""
            _keep(self.notes, Note(span, pid, what, why))
        elif kind == "custom_ops":
            _keep(self.custom_ops, _custom_ops(span, pid, event))
        elif kind == "tally":
            file, names = inside(event.get("file")), (event.get("now"), event.get("latest"))
            if file is not None:
                _keep(self.counted, Counted(pid, file, *map(inside, names)))
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
            details=_details(event),
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
        ok, seconds, error = event.get("ok") is True, real(event.get("seconds")), _error(event)
        old = self.phases.get(key)
        if old is not None:
            whole = replace(old.span, last=span.first)
            details = {**old.details, **_details(event)}
            self.phases[key] = replace(
                old, span=whole, ok=ok, seconds=seconds, error=error, details=details
            )
        call = self.calls.get(key)
        if call is not None:
            outputs = tuple(output_of(o) for o in dicts(event.get("outputs")))
            whole = replace(call.span, last=span.first)
            self.calls[key] = replace(
                call,
                span=whole,
                ok=ok,
                seconds=seconds,
                error=error,
                outputs=outputs,
                captured=inside(event.get("captured")) or call.captured,
            )
        self._package(span, pid, event)

    def _call(self, span: Span, pid: int, id_: int, event: Fields) -> Call:
        call = _call(span, pid, id_, event)
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
                package["path"][:_TEXT],
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


def _process(span: Span, pid: int, event: Fields) -> Process:
    return Process(
        span,
        pid,
        integer(event.get("ppid")),
        tuple(a[:_TEXT] for a in values(event.get("argv")) if isinstance(a, str)),
        string(event.get("executable")),
        string(event.get("python")),
        string(event.get("cwd")),
    )


def _torch(span: Span, pid: int, event: Fields) -> Torch:
    get = event.get
    names = (get("cuda"), get("git"), get("path"), get("triton"))
    return Torch(span, pid, string(get("version")) or "", *(string(n) for n in names))


def _custom_ops(span: Span, pid: int, event: Fields) -> CustomOps:
    groups = list(dicts(event.get("namespaces")))
    return CustomOps(
        span,
        pid,
        modules=texts(g.get("module") for g in groups),
        files=texts(g.get("file") for g in groups),
        ops=texts(op for g in groups for op in values(g.get("ops"))),
        libraries=texts(values(event.get("libraries"))),
    )


def _call(span: Span, pid: int, id_: int, event: Fields) -> Call:
    return Call(
        span,
        pid,
        id_,
        call=integer(event.get("call")),
        package=string(event.get("package")),
        model=string(event.get("model")) or "model",
        inputs=tuple(input_of(i) for i in dicts(event.get("inputs"))),
        outputs=(),
        captured=inside(event.get("captured")),
        why_not=string(event.get("why_not")),
        seconds=None,
        ok=None,
        error=None,
        group=integer(event.get("group")),
        breaks=texts(values(event.get("breaks"))),
        keywords=tuple(k for k in values(event.get("keywords")) if isinstance(k, str)),
    )


def _details(event: Fields) -> dict[str, Any]:
    known = {"t", "pid", "key", "event", "id", "phase", "name", "ok", "seconds", "error"}
    known |= {"inputs", "outputs", "call", "node", "guards"}
    details = {k: v for k, v in event.items() if k not in known}
    if isinstance(details.get("package"), dict):  # a record of its own
        del details["package"]
    if "exported_program" in details:
        details["exported_program"] = inside(details["exported_program"])
    return details


def _error(event: Fields) -> Failure | None:
    error = event.get("error")
    if not isinstance(error, dict):
        return None
    return Failure(
        string(error.get("type")) or "",
        string(error.get("message")) or "",
        node_of(event.get("node")),
        guards_of(event.get("guards")),
    )
