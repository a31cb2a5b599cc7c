"""Build dataclasses from untrusted JSON by the types of their fields. What has another type than
its field is left out; texts and lists are cut to a length that any real one has."""

from __future__ import annotations

import dataclasses
import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

TEXT_LIMIT = 4000
_ITEMS = 2000
_DIMENSIONS = 64

T = TypeVar("T")
Convert = Callable[[object], object]  # None: it is not such a value


def take(kind: type[T], document: object, **known: object) -> T:
    """Return a dataclass of what an object (or a list in the order of its fields) holds; `known`
    fields are not looked for. What is not held is the field's default, or empty."""
    found = {**taken(kind, document), **known}
    needed = (field for field in _plan(kind) if field.needed and field.name not in found)
    return kind(**found, **{field.name: field.empty for field in needed})


def taken(kind: type[Any], document: object) -> dict[str, object]:
    """Return those fields of a dataclass that an object holds with the right type."""
    plan = _plan(kind)
    if isinstance(document, list):
        document = dict(zip((field.key for field in plan), document, strict=False))
    if not isinstance(document, Mapping):
        return {}
    read = {field.name: field.convert(document.get(field.key)) for field in plan}
    return {name: value for name, value in read.items() if value is not None}


class _Field:
    """How a field is read: `Annotated[TYPE, "KEY"]` has another name in JSON, and in
    `Annotated[TYPE, FUNCTION]` the function reads it."""

    def __init__(self, field: dataclasses.Field[Any], hint: Any) -> None:
        marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        self.name = field.name
        self.key = next((mark for mark in marks if isinstance(mark, str)), field.name)
        self.convert = _converter(hint)
        self.needed = field.default is MISSING and field.default_factory is MISSING
        self.empty = _EMPTY.get(get_origin(hint) or hint)


_EMPTY: dict[object, object] = {str: "", int: 0, bool: False, tuple: ()}


_plans: dict[type[Any], tuple[_Field, ...]] = {}


def _plan(kind: type[Any]) -> tuple[_Field, ...]:
    if kind not in _plans:
        hints = get_type_hints(kind, include_extras=True)
        _plans[kind] = tuple(_Field(one, hints[one.name]) for one in fields(kind))
    return _plans[kind]


def _converter(hint: Any) -> Convert:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next((mark for mark in arguments[1:] if callable(mark)), _converter(arguments[0]))
    if origin in (Union, types.UnionType):
        wide_last = sorted(arguments, key=lambda one: one is float)  # an int is a float, too
        choices = [_converter(one) for one in wide_last if one is not types.NoneType]
        return lambda value: next(
            (found for one in choices if (found := one(value)) is not None), None
        )
    if origin is Literal:
        return lambda value: value if value in arguments else None
    if origin is tuple:
        return _several(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if arguments[1] in (object, Any):
            return lambda value: value if isinstance(value, dict) else None
        item = _converter(arguments[1])
        return lambda value: (
            {key: one for key, found in value.items() if (one := item(found)) is not None}
            if isinstance(value, dict)
            else None
        )
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda value: take(hint, value) if isinstance(value, (dict, list)) else None
    return _SCALARS.get(hint, lambda _: None)


def _several(arguments: tuple[Any, ...]) -> Convert:
    if arguments[-1] is not Ellipsis:
        each = [_converter(one) for one in arguments]
        optional = [types.NoneType in get_args(one) for one in arguments]

        def read_few(value: object) -> object:
            if not isinstance(value, list) or len(value) != len(each):
                return None
            found = tuple(one(item) for one, item in zip(each, value, strict=True))
            missing = (one is None and not may for one, may in zip(found, optional, strict=True))
            return None if any(missing) else found

        return read_few
    item = _converter(arguments[0])
    keeps = types.NoneType in get_args(arguments[0])

    def read_all(value: object) -> object:
        if not isinstance(value, list):
            return None
        if arguments[0] is int and len(value) > _DIMENSIONS:
            return None
        found = [item(one) for one in value[:_ITEMS]]
        if arguments[0] is int:  # a shape without one of its sizes is none
            return None if None in found else tuple(found)
        return tuple(one for one in found if keeps or one is not None)

    return read_all


def integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def real(value: object) -> float | None:
    try:
        known = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if known else None  # type: ignore[arg-type]
    except OverflowError:
        return None


def json_object(data: bytes) -> dict[str, Any] | None:
    """Parse untrusted JSON; None for what is no object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def string(value: object) -> str | None:
    return value[:TEXT_LIMIT] if isinstance(value, str) else None


def strings(value: object) -> tuple[str, ...] | None:
    """Return the texts of a list or of an object's keys, each once."""
    if not isinstance(value, (list, dict)):
        return None
    items = list(value)[:_ITEMS]
    return tuple(dict.fromkeys(text for item in items if (text := string(item)) is not None))


_INSIDE = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+){0,3}")


def inside(value: object) -> str | None:
    """Return a name within the run's directory; None for a path that could lead out of it."""
    return value if isinstance(value, str) and _INSIDE.fullmatch(value) else None


_SCALARS: dict[object, Convert] = {
    str: string,
    int: integer,
    float: real,
    bool: lambda value: value if isinstance(value, bool) else None,
    object: lambda value: value,
    Any: lambda value: value,
}
Kept = Annotated[str | None, inside]  # a file within the run's directory
Texts = Annotated[tuple[str, ...], strings]  # each once
