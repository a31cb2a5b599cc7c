"""Take values of the expected type out of untrusted JSON, and records of them; else None."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from aoti_debug.probe.nesting import PROPERTY
from aoti_debug.read.event_records import (
    Call,
    CustomOps,
    Details,
    Failure,
    Fields,
    Given,
    GraphNode,
    Guard,
    Odd,
    Output,
    Process,
    Reference,
    Torch,
    Weights,
)
from aoti_debug.read.record import Span
from aoti_debug.vocabulary import Break, Leaf, Place

TEXT_LIMIT = 4000
_ITEMS = 2000


def dicts(value: object) -> Iterable[Fields]:
    return [v for v in value[:_ITEMS] if isinstance(v, dict)] if isinstance(value, list) else []


def ints(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 64:
        return None
    numbers = [integer(v) for v in value]
    return None if None in numbers else tuple(n for n in numbers if n is not None)


def integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def real(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, (int, float)) else None
    except OverflowError:
        return None


def number(value: object) -> float | int | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, str):
        return value[:TEXT_LIMIT]
    return value if isinstance(value, (bool, int, float)) else None


def string(value: object) -> str | None:
    return value[:TEXT_LIMIT] if isinstance(value, str) else None


_INSIDE = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+){0,3}")


def inside(value: object) -> str | None:
    """Return a name within the run's directory; None for a path that could lead out of it."""
    return value if isinstance(value, str) and _INSIDE.fullmatch(value) else None


def values(value: object) -> Sequence[object]:
    return value[:_ITEMS] if isinstance(value, list) else ()


def texts(items: Iterable[object]) -> tuple[str, ...]:
    """Return the texts among `items`, each once."""
    found = [text for item in items if (text := string(item)) is not None]
    return tuple(dict.fromkeys(found))[:_ITEMS]


def leaf_of(leaf: Fields) -> Leaf:
    get = leaf.get
    return Leaf(
        index=integer(get("index")),
        position=integer(get("position")),
        name=string(get("name")),
        kind=string(get("kind")) or "other",
        shape=ints(get("shape")),
        stride=ints(get("stride")),
        dtype=string(get("dtype")),
        device=string(get("device")),
        storage_offset=integer(get("storage_offset")),
        storage_bytes=integer(get("storage_bytes")),
        alignment=integer(get("alignment")),
        min=number(get("min")),
        max=number(get("max")),
        min_at=ints(get("min_at")),
        max_at=ints(get("max_at")),
        value=scalar(get("value")),
        type=string(get("type")),
        overlaps=ints(get("overlaps")),
        nan=integer(get("nan")),
        inf=integer(get("inf")),
    )


def nesting_of(broken: Fields) -> Break:
    get = broken.get
    return Break(
        index=integer(get("index")) or 0,
        name=string(get("name")),
        property=PROPERTY,
        expected=string(get("expected")) or "",
        got=string(get("got")) or "",
        reason=string(get("reason")) or "",
        position=integer(get("position")),
        order=ints(get("order")),
    )


def output_of(leaf: Fields) -> Output:
    get = leaf.get
    return Output(
        ints(get("shape")),
        string(get("dtype")),
        string(get("device")),
        integer(get("nan")),
        integer(get("inf")),
    )


def node_of(value: object) -> GraphNode | None:
    if not isinstance(value, dict) or not (op := string(value.get("op"))):
        return None
    outputs = [_operand(v) for v in dicts([value.get("output")])]
    return GraphNode(
        string(value.get("name")) or "",
        op,
        tuple(_operand(v) for v in dicts(value.get("inputs"))),
        next(iter(outputs), None) or None,
        string(value.get("during")) or "lowering",
        texts(values(value.get("fused"))),
        _places(value.get("frames")),
    )


def guards_of(value: object) -> tuple[Guard, ...]:
    found = []
    for guard in dicts(value):
        ranges = [r for r in values(guard.get("ranges")) if isinstance(r, list) and len(r) == 2]
        found.append(
            Guard(
                string(guard.get("guard")) or "",
                texts(values(guard.get("dims"))),
                tuple((integer(low) or 0, integer(high)) for low, high in ranges),
                tuple(b for item in values(guard.get("breaks")) if (b := ints(item))),
                _places(guard.get("frames")),
            )
        )
    return tuple(found)


def _operand(value: Fields) -> str:
    shape = values(value.get("shape"))
    words = [string(value.get(key)) for key in ("name", "type", "value", "dtype")]
    sizes = ", ".join(str(scalar(size)) for size in shape)
    return " ".join(w for w in words if w) + (f"[{sizes}]" if "shape" in value else "")


def _places(value: object) -> tuple[Place, ...]:
    """Read [file, line, function, text] lists."""
    found = []
    for item in values(value):
        if not isinstance(item, list) or len(item) != 4:
            continue
        file, line, function, text = item
        if isinstance(file, str) and (number := integer(line)) is not None:
            found.append(Place(file[:TEXT_LIMIT], number, string(function) or "", string(text)))
    return tuple(found)


def process_of(span: Span, pid: int, event: Fields) -> Process:
    return Process(
        span,
        pid,
        integer(event.get("ppid")),
        tuple(a[:TEXT_LIMIT] for a in values(event.get("argv")) if isinstance(a, str)),
        string(event.get("executable")),
        string(event.get("python")),
        string(event.get("cwd")),
    )


def torch_of(span: Span, pid: int, event: Fields) -> Torch:
    get = event.get
    names = (get("cuda"), get("git"), get("path"), get("triton"))
    return Torch(span, pid, string(get("version")) or "", *(string(n) for n in names))


def custom_ops_of(span: Span, pid: int, event: Fields) -> CustomOps:
    groups = list(dicts(event.get("namespaces")))
    return CustomOps(
        span,
        pid,
        modules=texts(g.get("module") for g in groups),
        files=texts(g.get("file") for g in groups),
        ops=texts(op for g in groups for op in values(g.get("ops"))),
        libraries=texts(values(event.get("libraries"))),
    )


def with_memory(call: Call, event: Fields) -> Call:
    """Add what the end of a call showed of the memory of its inputs and outputs."""
    found = event.get("memory")
    if not isinstance(found, dict):
        return call
    pairs = [ints(one) for one in values(found.get("aliases"))]
    return replace(
        call,
        overwritten=ints(found.get("overwritten")) or (),
        reused=ints(found.get("reused")) or (),
        aliases=tuple(one for one in pairs if one is not None and len(one) == 2),
        changed=tuple(
            one for pair in values(found.get("changed")) if (one := ints(pair)) and len(one) == 2
        ),
        values=tuple(tuple(map(real, values(one))) for one in values(found.get("values"))),
    )


SETTINGS = {
    "autocast": "autocast",
    "precision": "the precision of float32 products",
    "default_dtype": "the default dtype",
}


def reference_of(span: Span, pid: int, event: Fields) -> Reference:
    get = event.get
    settings = (
        (said, string(get(name)), string(get(f"exported_{name}")))
        for name, said in SETTINGS.items()
    )
    return Reference(
        span,
        pid,
        _caller(get("caller")),
        training=texts(values(get("training"))),
        exported_training=texts(values(get("exported_training"))),
        settings=tuple((said, now, then) for said, now, then in settings if now and then),
        changed=texts(values(get("changed"))),
        changed_count=integer(get("changed_count")) or 0,
        moved=texts(values(get("moved"))),
        attributes=texts(values(get("attributes"))),
        since=get("since") is True,
        another=get("another") is True,
        call=integer(get("call")),
        reordered=ints(get("reordered")) or (),
        written=ints(get("written")) or (),
        other=ints(get("other")) or (),
        rows=ints(get("rows")) or (),
        apart=real(get("apart")),
        largest=real(get("largest")) or 0.0,
        unlike=integer(get("unlike")) or 0,
        kept=inside(get("kept")),
    )


def weights_of(span: Span, pid: int, event: Fields) -> Weights:
    names = event.get("names")
    listed = texts(names) if isinstance(names, dict) else ()
    return Weights(span, pid, string(event.get("file")), _caller(event.get("caller")), listed)


def call_of(span: Span, pid: int, id_: int, event: Fields) -> Call:
    return Call(
        span,
        pid,
        id_,
        call=integer(event.get("call")),
        package=string(event.get("package")),
        model=string(event.get("model")) or "model",
        inputs=tuple(leaf_of(i) for i in dicts(event.get("inputs"))),
        outputs=(),
        captured=inside(event.get("kept")) or inside(event.get("captured")),
        why_not=string(event.get("why_not")),
        seconds=None,
        ok=None,
        error=None,
        group=integer(event.get("group")),
        breaks=texts(values(event.get("breaks"))),
        keywords=tuple(k for k in values(event.get("keywords")) if isinstance(k, str)),
        nested=event.get("nested") is True,
        nesting=tuple(nesting_of(one) for one in dicts(event.get("nesting"))),
    )


def odd_of(pid: int, event: Fields) -> Odd:
    return Odd(
        pid,
        call=integer(event.get("call")) or 0,
        signature=integer(event.get("signature")) or 0,
        group=integer(event.get("group")),
        captured=inside(event.get("captured")),
        why_not=string(event.get("why_not")),
    )


def failure_of(event: Fields) -> Failure | None:
    error = event.get("error")
    if not isinstance(error, dict):
        return None
    return Failure(
        string(error.get("type")) or "",
        string(error.get("message")) or "",
        node_of(event.get("node")),
        guards_of(event.get("guards")),
    )


def details_of(event: Fields) -> Details:
    get = event.get
    package, flags, settings = get("package"), get("flags"), get("settings")
    constants, files = get("constants"), get("files")
    return Details(
        caller=_caller(get("caller")),
        thread=string(get("thread")),
        package=string(package.get("path") if isinstance(package, dict) else package),
        model=string(get("model")),
        device_index=integer(get("device_index")),
        run_single_threaded=get("run_single_threaded") is True,
        num_runners=integer(get("num_runners")),
        flags=flags if isinstance(flags, dict) else None,
        settings=settings if isinstance(settings, dict) else None,
        cache_dir=string(get("cache_dir")),
        vec_isa=texts(values(get("vec_isa"))) if "vec_isa" in event else None,
        input_names=tuple(map(string, values(get("input_names")))) or None,
        files=_listed(files),
        files_of={m: texts(values(f)) for m, f in files.items()}
        if isinstance(files, dict)
        else None,
        exported_program=inside(get("exported_program")),
        exported_graph=inside(get("exported_graph")),
        captured=inside(get("captured")),
        exported_program_skipped=string(get("exported_program_skipped")),
        why_not=string(get("why_not")),
        constants=tuple(map(_given, dicts(constants))) if isinstance(constants, list) else None,
        count=integer(get("count")) or 0,
        inactive=get("inactive") is True,
        user_managed=get("user_managed") is True,
    )


def merged(begun: Details, ended: Details) -> Details:
    """Return what the beginning of a phase told, and what its end told beyond it."""
    told = {f.name: getattr(ended, f.name) for f in fields(ended)}
    return replace(
        begun, **{name: value for name, value in told.items() if value not in (None, False)}
    )


def _given(constant: Fields) -> Given:
    get = constant.get
    return Given(
        name=str(get("name"))[:200],
        shape=ints(get("shape")),
        dtype=string(get("dtype")),
        storage_bytes=integer(get("storage_bytes")),
        nan=integer(get("nan")) or 0,
    )


def _caller(value: object) -> tuple[str, int] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    file, line = string(value[0]), integer(value[1])
    return (file[:1000], line) if file is not None and line is not None else None


def _listed(value: object) -> tuple[str, ...] | None:
    return texts(values(value)) if isinstance(value, list) else None
