"""Take values of the expected type out of untrusted JSON; anything else is None."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aoti_debug.read.event_records import Fields, GraphNode, Guard, Input, Output, Place

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


def input_of(leaf: Fields) -> Input:
    get = leaf.get
    return Input(
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
        minimum=number(get("min")),
        maximum=number(get("max")),
        min_at=ints(get("min_at")),
        max_at=ints(get("max_at")),
        value=scalar(get("value")),
        type=string(get("type")),
        overlaps=ints(get("overlaps")),
        nan=integer(get("nan")),
        inf=integer(get("inf")),
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
