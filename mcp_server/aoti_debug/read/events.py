"""Read what the probe saw in the user's process: `events.jsonl`, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeVar

from aoti_debug.read.record import QUOTE_LIMIT, Record, Span

PHASES = (
    "export", "lower", "autotune", "cpp_compile", "package", "load", "constants", "run",
)  # fmt: skip
_LINE_LIMIT = 4 << 20  # bytes
_KEPT = 20_000  # events of one kind
_INPUTS = 2000
_TEXT = 4000

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Process(Record):
    pid: int
    ppid: int | None
    argv: tuple[str, ...]
    executable: str | None
    python: str | None
    cwd: str | None


@dataclass(frozen=True, slots=True)
class Torch(Record):
    """The torch that a process imported."""

    pid: int
    version: str
    cuda: str | None
    git: str | None
    path: str | None
    triton: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Phase(Record):
    """A call that belongs to a phase of AOTInductor; `ok` None: it began and did not end."""

    pid: int
    id: int
    parent: int | None  # id of the phase of this process in which it began
    phase: str
    name: str
    begun: float | None  # unix seconds
    seconds: float | None
    ok: bool | None
    error: Failure | None
    details: Fields  # flags, cache_dir, exported_program and the like

    @property
    def unfinished(self) -> bool:
        return self.ok is None


@dataclass(frozen=True, slots=True)
class Input:
    """One leaf of a call's arguments; `index` counts tensors alone, as the runtime does."""

    index: int | None
    position: int | None
    name: str | None
    kind: str
    shape: tuple[int, ...] | None
    stride: tuple[int, ...] | None
    dtype: str | None
    device: str | None
    storage_offset: int | None
    storage_bytes: int | None
    alignment: int | None
    minimum: float | int | None
    maximum: float | int | None
    min_at: tuple[int, ...] | None
    max_at: tuple[int, ...] | None
    value: str | int | float | bool | None
    type: str | None


@dataclass(frozen=True, slots=True)
class Output:
    shape: tuple[int, ...] | None
    dtype: str | None
    device: str | None
    nan: int | None
    inf: int | None


@dataclass(frozen=True, slots=True)
class Call(Record):
    """One call of a loaded package."""

    pid: int
    id: int
    call: int | None  # 1-based, in its process
    package: str | None
    model: str  # which of the package's models
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    captured: str | None
    why_not: str | None
    seconds: float | None
    ok: bool | None
    error: Failure | None

    def input(self, index: int) -> Input | None:
        """Return the tensor that the runtime calls `input_handles[index]`."""
        return next((given for given in self.inputs if given.index == index), None)


@dataclass(frozen=True, slots=True)
class CustomOps(Record):
    """Operators that are not torch's own, grouped by the file that registers them."""

    pid: int
    modules: tuple[str, ...]  # importable, in which they are registered
    files: tuple[str, ...]
    ops: tuple[str, ...]
    libraries: tuple[str, ...]  # loaded with torch.ops.load_library


@dataclass(frozen=True, slots=True)
class PackageSeen(Record):
    pid: int
    path: str
    bytes: int | None
    mtime: float | None  # unix seconds
    captured: str | None
    why_not: str | None


@dataclass(frozen=True, slots=True)
class Note(Record):
    """Something that the probe did not do."""

    pid: int
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Events:
    processes: tuple[Process, ...] = ()
    torches: tuple[Torch, ...] = ()
    phases: tuple[Phase, ...] = ()
    calls: tuple[Call, ...] = ()
    packages: tuple[PackageSeen, ...] = ()
    notes: tuple[Note, ...] = ()
    custom_ops: tuple[CustomOps, ...] = ()
    unreadable: int = 0  # lines that are no event, a cut last one included

    @property
    def torch(self) -> Torch | None:
        return self.torches[0] if self.torches else None

    @property
    def last_call(self) -> Call | None:
        return self.calls[-1] if self.calls else None

    @property
    def unfinished(self) -> Phase | None:
        """Return the innermost phase that began and never ended, of the process that went last."""
        return max(
            (p for p in self.phases if p.ok is None), key=lambda p: p.span.first, default=None
        )

    @property
    def failed(self) -> Phase | None:
        """Return the innermost phase that first ended in an exception."""
        return min(
            (p for p in self.phases if p.ok is False), key=lambda p: p.span.last, default=None
        )


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
    open: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    unreadable: int = 0

    def feed(self, number: int, raw: bytes) -> None:
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            self.unreadable += 1
            return
        pid = _int(event.get("pid")) if isinstance(event, dict) else None
        if pid is None:
            self.unreadable += 1
            return
        span = Span(
            self.artifact, number, number, raw[:QUOTE_LIMIT].decode("utf-8", "replace").strip()
        )
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
            what, why = _str(event.get("what")) or "", _str(event.get("why")) or ""
            _keep(self.notes, Note(span, pid, what, why))
        elif kind == "custom_ops":
            _keep(self.custom_ops, _custom_ops(span, pid, event))
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
        )

    def _begin(self, span: Span, pid: int, event: Fields) -> None:
        id_ = _int(event.get("id"))
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
            phase=_str(event.get("phase")) or "",
            name=_str(event.get("name")) or "",
            begun=_float(event.get("t")),
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
        id_ = _int(event.get("id"))
        stack = self.open.get(pid, [])
        key = next((k for k in reversed(stack) if k[1] == id_), None)
        if key is None:
            self.unreadable += 1
            return
        stack.remove(key)
        ok, seconds, error = event.get("ok") is True, _float(event.get("seconds")), _error(event)
        old = self.phases.get(key)
        if old is not None:
            whole = replace(old.span, last=span.first)
            details = {**old.details, **_details(event)}
            self.phases[key] = replace(
                old, span=whole, ok=ok, seconds=seconds, error=error, details=details
            )
        call = self.calls.get(key)
        if call is not None:
            outputs = tuple(_output(o) for o in _dicts(event.get("outputs")))
            whole = replace(call.span, last=span.first)
            self.calls[key] = replace(
                call, span=whole, ok=ok, seconds=seconds, error=error, outputs=outputs
            )
        self._package(span, pid, event)

    def _call(self, span: Span, pid: int, id_: int, event: Fields) -> Call:
        call = _call(span, pid, id_, event)
        same = _int(event.get("inputs_of"))  # described once, at an earlier call of this process
        if call.inputs or same is None:
            return call
        earlier = [c for c in self.calls.values() if c.pid == pid and c.id == same]
        return replace(call, inputs=earlier[-1].inputs) if earlier else call

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
                _int(package.get("bytes")),
                _float(package.get("mtime")),
                _str(package.get("captured")),
                _str(package.get("why_not")),
            ),
        )


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
    argv = event.get("argv")
    return Process(
        span,
        pid,
        _int(event.get("ppid")),
        tuple(a[:_TEXT] for a in argv[:1000] if isinstance(a, str))
        if isinstance(argv, list)
        else (),
        _str(event.get("executable")),
        _str(event.get("python")),
        _str(event.get("cwd")),
    )


def _torch(span: Span, pid: int, event: Fields) -> Torch:
    get = event.get
    names = (get("cuda"), get("git"), get("path"), get("triton"))
    return Torch(span, pid, _str(get("version")) or "", *(_str(n) for n in names))


def _custom_ops(span: Span, pid: int, event: Fields) -> CustomOps:
    groups = list(_dicts(event.get("namespaces")))
    libraries = event.get("libraries")
    return CustomOps(
        span,
        pid,
        modules=_texts(g.get("module") for g in groups),
        files=_texts(g.get("file") for g in groups),
        ops=_texts(op for g in groups for op in (g.get("ops") or ())),
        libraries=_texts(libraries if isinstance(libraries, list) else ()),
    )


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    found = [text for value in values if (text := _str(value)) is not None]
    return tuple(dict.fromkeys(found))[:_INPUTS]


def _call(span: Span, pid: int, id_: int, event: Fields) -> Call:
    return Call(
        span,
        pid,
        id_,
        call=_int(event.get("call")),
        package=_str(event.get("package")),
        model=_str(event.get("model")) or "model",
        inputs=tuple(_input(i) for i in _dicts(event.get("inputs"))),
        outputs=(),
        captured=_str(event.get("captured")),
        why_not=_str(event.get("why_not")),
        seconds=None,
        ok=None,
        error=None,
    )


def _input(leaf: Fields) -> Input:
    get = leaf.get
    return Input(
        index=_int(get("index")),
        position=_int(get("position")),
        name=_str(get("name")),
        kind=_str(get("kind")) or "other",
        shape=_ints(get("shape")),
        stride=_ints(get("stride")),
        dtype=_str(get("dtype")),
        device=_str(get("device")),
        storage_offset=_int(get("storage_offset")),
        storage_bytes=_int(get("storage_bytes")),
        alignment=_int(get("alignment")),
        minimum=_number(get("min")),
        maximum=_number(get("max")),
        min_at=_ints(get("min_at")),
        max_at=_ints(get("max_at")),
        value=_scalar(get("value")),
        type=_str(get("type")),
    )


def _output(leaf: Fields) -> Output:
    get = leaf.get
    return Output(
        _ints(get("shape")),
        _str(get("dtype")),
        _str(get("device")),
        _int(get("nan")),
        _int(get("inf")),
    )


def _details(event: Fields) -> dict[str, Any]:
    known = {"t", "pid", "event", "id", "phase", "name", "ok", "seconds", "error"}
    known |= {"inputs", "outputs", "package", "call"}
    return {k: v for k, v in event.items() if k not in known}


def _error(event: Fields) -> Failure | None:
    error = event.get("error")
    if not isinstance(error, dict):
        return None
    return Failure(_str(error.get("type")) or "", _str(error.get("message")) or "")


def _dicts(value: object) -> Iterable[Fields]:
    return [v for v in value[:_INPUTS] if isinstance(v, dict)] if isinstance(value, list) else []


def _ints(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 64:
        return None
    numbers = [_int(v) for v in value]
    return None if None in numbers else tuple(n for n in numbers if n is not None)


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _float(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, (int, float)) else None
    except OverflowError:
        return None


def _number(value: object) -> float | int | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, str):
        return value[:_TEXT]
    return value if isinstance(value, (bool, int, float)) else None


def _str(value: object) -> str | None:
    return value[:_TEXT] if isinstance(value, str) else None
