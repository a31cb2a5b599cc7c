"""Read a package's JSON members: metadata, extern nodes, weights, kernel provenance."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from aoti_debug.package.archive import ZIP_ERRORS, open_archive
from aoti_debug.package.record import CustomOp, KernelOrigin
from aoti_debug.vocabulary import Place, model_places, places_in

_MODEL = re.compile(r"models/[^/\n]{1,200}\.json")
_LINES = 12
_NODES = 5000  # of one kernel


@dataclass(frozen=True, slots=True)
class Use:
    """The first operation that takes a weight, and where it comes from, outermost first."""

    op: str
    places: tuple[Place, ...]


def uses(path: Path, weights: Collection[str]) -> dict[str, Use]:
    """Return for each of these weights the operation that uses it; {} where that is not told."""
    document = _program(path)
    try:
        module = document["graph_module"]
        names = dict(_arguments(module["signature"]["input_specs"], weights))
        return dict(_uses(module["graph"]["nodes"], names))
    except (KeyError, TypeError, AttributeError, ValueError):
        return {}


def _arguments(specs: list[Any], weights: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (placeholder, weight) for the weights that are wanted."""
    for spec in specs:
        for kind in ("parameter", "buffer", "tensor_constant"):
            held = spec.get(kind)
            weight = held.get(f"{kind}_name") if isinstance(held, dict) else None
            if isinstance(weight, str) and weight in weights:
                yield held["arg"]["name"], weight


def _uses(nodes: list[Any], names: dict[str, str]) -> Iterator[tuple[str, Use]]:
    left = dict(names)
    for node in nodes:
        for given in node["inputs"]:
            for name in _tensors(given["arg"]):
                weight = left.pop(name, None)
                if weight is None:
                    continue
                stack = str(node["metadata"].get("stack_trace", ""))
                places = places_in(stack)[-_LINES:]
                op = str(node["target"]).removeprefix("torch.ops.")[:200]
                yield weight, Use(op, tuple(places))


def _tensors(argument: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the tensors in an argument: one tensor or a list of them."""
    held = [argument.get("as_tensor"), *(argument.get("as_tensors") or ())]
    held += [one.get("as_tensor") for one in argument.get("as_optional_tensors") or ()]
    yield from (one["name"] for one in held if isinstance(one, dict))


@dataclass(frozen=True, slots=True)
class Sizes:
    """What an exported program asks of its inputs' sizes: numbers and symbols of each, by its name,
    the bounds of the symbols, and its guards as Python."""

    inputs: tuple[tuple[str, tuple[int | str, ...]], ...]
    bounds: dict[str, tuple[int | None, int | None]]
    guards: tuple[str, ...]


_SYMBOL = re.compile(r"Symbol\('(\w{1,60})'[^()]{0,200}\)")


def sizes(path: Path) -> Sizes | None:
    """Return what a program, which takes nothing but tensors, asks of their sizes; None where that
    is not all told: torch before 2.9 leaves the guards out."""
    document = _program(path)
    try:
        module, guards = document["graph_module"], document["guards_code"]
        values = module["graph"]["tensor_values"]
        names = [n for spec in module["signature"]["input_specs"] if (n := _given(spec))]
        inputs = [(n, tuple(map(_size, values[n]["sizes"]))) for n in names]
        ranges = document["range_constraints"].items()
        bounds = {str(n): (_integer(r["min_val"]), _integer(r["max_val"])) for n, r in ranges}
        return Sizes(tuple(inputs), bounds, tuple(map(str, guards)))
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


def _program(path: Path) -> Any:
    """Return the JSON of an exported program; None where it cannot be read."""
    try:
        with open_archive(path) as (archive, source):
            found = next((m for m in archive.members if _MODEL.fullmatch(m.name)), None)
            if source is None or found is None:
                return None
            return load_document(source.read(found, JSON_LIMIT))
    except (*ZIP_ERRORS, DocumentError):
        return None


def _given(spec: dict[str, Any]) -> str | None:
    """Return the name of a tensor that a call gives, None of what the program holds itself."""
    if "user_input" in spec:
        return str(spec["user_input"]["arg"]["as_tensor"]["name"])
    if not {"parameter", "buffer", "tensor_constant"} & spec.keys():
        raise ValueError("an argument that is not a tensor")
    return None


def _size(one: dict[str, Any]) -> int | str:
    if "as_int" in one:
        return int(one["as_int"])
    symbol = _SYMBOL.fullmatch(one["as_expr"]["expr_str"])
    if symbol is None:
        raise ValueError("a size that is computed from others")
    return symbol[1]


def _integer(value: int | None) -> int | None:
    return None if value is None else int(value)


JSON_LIMIT = 32 * 1024 * 1024


class DocumentError(Exception):
    """A JSON member is not what it should be; the message says how."""


def load_document(data: bytes) -> Any:
    """Parse untrusted JSON; nesting and size are bounded."""
    if len(data) >= JSON_LIMIT:
        raise DocumentError("it is too large")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise DocumentError(f"it is not JSON ({reason})") from None


def read_metadata(data: bytes) -> dict[str, str]:
    """Return the entries of `…_metadata.json`, strings only, at most 100."""
    entries = _entries(data, 100)
    return {key[:200]: value[:2000] for key, value in entries if isinstance(value, str)}


def _entries(data: bytes, most: int) -> list[tuple[str, Any]]:
    document = load_document(data)
    if not isinstance(document, dict):
        raise DocumentError("it is not a JSON object")
    return list(document.items())[:most]


def read_custom_ops(data: bytes) -> tuple[CustomOp, ...]:
    """Return the operators of the extern nodes file, in the order of their proxy index."""
    document = load_document(data)
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise DocumentError("it lists no nodes")
    inner = [_part(node, "node") for node in nodes[:10_000]]
    return tuple(CustomOp(next(_texts([_part(one, "target")]), "?")) for one in inner)


def read_origins(data: bytes) -> tuple[KernelOrigin, ...]:
    """Return kernel → graph nodes → model lines, from kernel_information.json."""
    entries = _entries(data, 50_000)
    return tuple(_origin(key, value) for key, value in entries if isinstance(value, dict))


def _origin(key: str, value: dict[str, Any]) -> KernelOrigin:
    name, _, number = key.rpartition(":")
    numbered = bool(name) and number.isdecimal() and len(number) < 10
    traces = _texts(value.get("stack_traces"), most=20)
    return KernelOrigin(
        kernel=(name if numbered else key)[:300],
        handle=int(number) if numbered else None,
        nodes=tuple(_texts(value.get("post_grad_nodes"), 300, _NODES)),
        nodes_before=tuple(_texts(value.get("pre_grad_nodes"), 300, _NODES)),
        # The user's innermost place of each trace, or torch's own where there is no other.
        source=tuple(dict.fromkeys(p for text in traces for p in model_places(text)[-1:])),
    )


def _part(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _texts(value: Any, length: int = 20_000, most: int = 200) -> Iterator[str]:
    listed = value[:most] if isinstance(value, list) else []
    return (one[:length] for one in listed if isinstance(one, str) and one)


SOURCE_BYTES = 16 * 1024 * 1024


def line_of_member(package: Path, file: str, number: int) -> str | None:
    """Return line `number`, counted from 1, of the member named as `file` is; None without one."""
    text = member_text(package, file)
    lines = text.split("\n") if text is not None else []
    return lines[number - 1].strip() if 0 < number <= len(lines) else None


def member_text(package: Path, file: str) -> str | None:
    """Return the text of the member that has the base name of `file`; None without one."""
    name = PurePosixPath(file).name
    with open_archive(package) as (archive, source):
        alike = (m for m in archive.members if PurePosixPath(m.name).name == name)
        found = next((member for member in alike if member.size <= SOURCE_BYTES), None)
        with contextlib.suppress(*ZIP_ERRORS):
            if source is not None and found is not None:
                return source.read(found, SOURCE_BYTES).decode("utf-8", "replace")
    return None
