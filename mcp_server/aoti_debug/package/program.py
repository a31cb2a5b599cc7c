"""Read an exported program's graph as JSON: which operation uses a weight, from which lines."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoti_debug.package.documents import JSON_LIMIT, DocumentError, load_document

_MODEL = re.compile(r"[^\n]{0,300}/models/[^/\n]{1,200}\.json")
_LINE = re.compile(
    r'File "([^"\n]{1,1000})", line (\d{1,7}), in [^\n]{1,300}\n[ \t]*([^\n]{0,200})'
)
_LINES = 12


@dataclass(frozen=True, slots=True)
class Use:
    """The first operation that takes a weight, and the lines it comes from, outermost first."""

    op: str
    lines: tuple[tuple[str, int, str], ...]


def uses(path: Path, weights: Collection[str]) -> dict[str, Use]:
    """Return for each of these weights the operation that uses it; {} where that is not told."""
    try:
        with zipfile.ZipFile(path) as archive:
            name = next((n for n in archive.namelist() if _MODEL.fullmatch(n)), None)
            if name is None or archive.getinfo(name).file_size >= JSON_LIMIT:
                return {}
            document = load_document(archive.read(name))
        module = document["graph_module"]
        names = dict(_arguments(module["signature"]["input_specs"], weights))
        return dict(_uses(module["graph"]["nodes"], names))
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError,
            DocumentError, KeyError, TypeError, AttributeError, ValueError):  # fmt: skip
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
            held = given["arg"].get("as_tensor")
            weight = left.pop(held["name"], None) if isinstance(held, dict) else None
            if weight is None:
                continue
            stack = str(node["metadata"].get("stack_trace", ""))
            lines = [(f, int(n), text.strip()) for f, n, text in _LINE.findall(stack)]
            op = str(node["target"]).removeprefix("torch.ops.")[:200]
            yield weight, Use(op, tuple(lines[-_LINES:]))
