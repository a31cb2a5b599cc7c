"""Read what the probe saw in the user's process: `events.jsonl`, one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeVar

from aoti_debug.read import event_records as records
from aoti_debug.read.event_records import Call, Details, Failure, Fields, Phase, Reference
from aoti_debug.read.record import QUOTE_LIMIT, Record, Span
from aoti_debug.read.typed import integer, json_object, real, string, strings, take, taken
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.vocabulary import Leaf

_LINE_LIMIT = 4 << 20  # bytes
ARTIFACT = "events.jsonl"
_KEPT = 20_000  # events of one kind
# What each kind of event is, where `RunSeen` holds it, and what it must hold.
KINDS: dict[str, tuple[type[Any], str, str]] = {
    "process": (records.Process, "processes", "pid"),
    "torch": (records.Torch, "torches", "pid"),
    "note": (records.Note, "notes", "pid"),
    "custom_ops": (records.CustomOps, "custom_ops", "pid"),
    "reference": (Reference, "references", "pid"),
    "rows": (records.RowApart, "like_rows", "apart"),
    "weights": (records.Weights, "weights", "pid"),
    "handed": (records.Handed, "handed", "pid"),
    "held": (records.Held, "held", "what"),
    "ended": (records.Ended, "ended", "pid"),
    "tally": (records.Counted, "counted", "file"),
    "outputs": (records.ModelRow, "rows", "row"),
    "returned": (records.Odd, "returned", "pid"),
    "cpp_file": (records.CppFile, "cpp_files", "began"),
}
SETTINGS = {
    "autocast": "autocast",
    "precision": "the precision of float32 products",
    "default_dtype": "the default dtype",
}


def read_events(stream: BinaryIO, key: str | None = None) -> RunSeen:
    """Read all events and count the lines that are none. Each event carries the run's secret `key`;
    where it is unknown, the first line's counts."""
    reader = _EventReader(key=key)
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
    found: dict[str, list[Any]] = field(default_factory=dict)  # by the field of `RunSeen`
    phases: dict[tuple[int, int, int], Phase] = field(default_factory=dict)
    calls: dict[tuple[int, int, int], Call] = field(default_factory=dict)
    described: dict[tuple[int, int], tuple[Leaf, ...]] = field(default_factory=dict)
    open: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    key: str | None = None  # the run's secret; empty: the events carry none
    unreadable: int = 0

    def feed(self, number: int, raw: bytes) -> None:
        event = json_object(raw) or {}
        pid = integer(event.get("pid"))
        if pid is not None and self.key is None:
            self.key = string(event.get("key")) or ""
        if pid is None or (self.key and event.get("key") != self.key):
            self.unreadable += 1
            return
        try:
            self._feed(Span(ARTIFACT, number, number, _quote(raw)), pid, event)
        except (TypeError, ValueError, OverflowError):  # a field of another type
            self.unreadable += 1

    def _feed(self, span: Span, pid: int, event: Fields) -> None:
        kind = string(event.get("event")) or ""
        if kind in ("begin", "end") and (id_ := integer(event.get("id"))) is not None:
            (self._begin if kind == "begin" else self._end)(span, pid, id_, event)
        elif kind == "memory":
            self._memory(pid, event)
        elif kind in KINDS:
            self._plain(kind, span, event)
        else:
            self.unreadable += 1

    def events(self) -> RunSeen:
        found: dict[str, Any] = {name: tuple(items) for name, items in self.found.items()}
        seen: tuple[Reference, ...] = found.pop("references", ())
        training = {(one.pid, one.caller) for one in seen if one.trains}
        return RunSeen(
            references=tuple(one for one in seen if (one.pid, one.caller) not in training),
            phases=tuple(self.phases.values()),
            calls=tuple(self.calls.values()),
            unreadable=self.unreadable,
            **found,
        )

    def _keep(self, place: str, item: object) -> None:
        """Append, and drop from the middle what is too many."""
        items = self.found.setdefault(place, [])
        items.append(item)
        if len(items) > _KEPT:
            del items[_KEPT // 2]

    def _plain(self, kind: str, span: Span, event: Fields) -> None:
        """Keep what is one event alone."""
        record, place, needed = KINDS[kind]
        known: dict[str, object] = {"span": span} if issubclass(record, Record) else {}
        if record is records.Ended:
            known["error"] = failure_of(event)
        elif record is records.CustomOps:
            known |= _custom_ops(event.get("namespaces"), event.get("registered"))
        elif record is Reference:
            known["settings"] = tuple(_settings(event))
        if needed in taken(record, event):
            self._keep(place, take(record, event, **known))

    def _begin(self, span: Span, pid: int, id_: int, event: Fields) -> None:
        stack = self.open.setdefault(pid, [])
        key = (pid, id_, span.first)  # a pid may be used twice
        phase = take(
            Phase,
            event,
            span=span,
            parent=stack[-1][1] if stack else None,
            seconds=None,
            ok=None,
            error=None,
            details=take(Details, event),
        )
        stack.append(key)
        del stack[:-1000]
        _store(self.phases, key, phase)
        if phase.phase == "run":
            _store(self.calls, key, self._call(span, pid, id_, event))
        if phase.phase == "load":
            self._package(span, event)

    def _end(self, span: Span, pid: int, id_: int, event: Fields) -> None:
        stack = self.open.get(pid, [])
        key = next((k for k in reversed(stack) if k[1] == id_), None)
        if key is None:
            self.unreadable += 1
            return
        stack.remove(key)
        ended: dict[str, Any] = {
            "ok": event.get("ok") is True,
            "seconds": real(event.get("seconds")),
            "error": failure_of(event),
        }
        if (phase := self.phases.get(key)) is not None:
            told = {k: value for k, value in taken(Details, event).items() if value is not False}
            details: Details = replace(phase.details, **told)  # type: ignore[arg-type]
            whole = replace(phase.span, last=span.first)
            self.phases[key] = replace(phase, span=whole, details=details, **ended)
        if (call := self.calls.get(key)) is not None:
            memory = event.get("memory")
            seen = taken(Call, {"outputs": event.get("outputs"), "captured": event.get("captured")})
            seen |= taken(Call, memory if isinstance(memory, dict) else {})
            whole = replace(call.span, last=span.first)
            self.calls[key] = replace(call, span=whole, **{**seen, **ended})
        self._package(span, event)

    def _memory(self, pid: int, event: Fields) -> None:
        """Add what a device's call is known to have done once the device was through it."""
        number, memory = integer(event.get("call")), event.get("memory")
        known = (key for key in reversed(self.calls) if key[0] == pid)
        key = next((key for key in known if self.calls[key].call == number), None)
        if key is not None and isinstance(memory, dict):
            seen: dict[str, Any] = taken(Call, memory)
            self.calls[key] = replace(self.calls[key], **seen)

    def _call(self, span: Span, pid: int, id_: int, event: Fields) -> Call:
        call = take(
            Call,
            {**event, "captured": event.get("kept") or event.get("captured")},
            span=span,
            model=string(event.get("model")) or "model",
            outputs=(),
            seconds=None,
            ok=None,
            error=None,
        )
        call = replace(call, nesting=tuple(replace(b, index=b.index or 0) for b in call.nesting))
        same = integer(event.get("inputs_of"))  # described once, at an earlier call of this process
        if call.inputs:
            _store(self.described, (pid, id_), call.inputs)
        elif same is not None:
            call = replace(call, inputs=self.described.get((pid, same), ()))
        return call

    def _package(self, span: Span, event: Fields) -> None:
        package = event.get("package")
        if isinstance(package, dict) and string(package.get("path")) is not None:
            self._keep("packages", take(records.PackageSeen, package, span=span, pid=event["pid"]))


def failure_of(event: Fields) -> Failure | None:
    """Return the exception in which something ended; None without one."""
    error = event.get("error")
    if not isinstance(error, dict):
        return None
    node = event.get("node")
    known = isinstance(node, dict) and bool(string(node.get("op")))
    read = {"node": node if known else None, "guards": event.get("guards")}
    return take(Failure, {**error, **read})


# What brings an operator back: MODULE, MODULE:FUNCTION, MODULE:FUNCTION=NAMESPACE::OPERATOR.
_WORD = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(=\w+::\w+)?)?")


def _custom_ops(namespaces: object, registered: object) -> dict[str, object]:
    listed = namespaces if isinstance(namespaces, list) else []
    groups = [one for one in listed if isinstance(one, dict)]
    sites = [one for one in (registered if isinstance(registered, list) else []) if len(one) == 2]
    known = strings([one for one, _ in sites]) or ()
    words = [one for one in known if _WORD.fullmatch(one)]
    return {
        "modules": (*(strings([one.get("module") for one in groups]) or ()), *words),
        "files": strings([*(one.get("file") for one in groups), *(file for _, file in sites)]),
        "ops": strings([op for one in groups for op in strings(one.get("ops")) or ()]),
    }


def _settings(event: Fields) -> Iterator[tuple[str, str, str]]:
    for name, said in SETTINGS.items():
        now, then = string(event.get(name)), string(event.get(f"exported_{name}"))
        if now and then:
            yield said, now, then


def _quote(raw: bytes) -> str:
    """Return a line from what happened on: when, and in which process, says little."""
    begin = max(0, raw.find(b'"event"'))
    return raw[begin : begin + QUOTE_LIMIT].decode("utf-8", "replace").strip()


T = TypeVar("T")
K = TypeVar("K")


def _store(items: dict[K, T], key: K, item: T) -> None:
    items[key] = item
    if len(items) > _KEPT:
        del items[next(iter(items))]
