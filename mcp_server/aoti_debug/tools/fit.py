"""Fit an answer into what a client shows: cut deterministically, and say what was cut."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult, TextContent

from aoti_debug.model import Model
from aoti_debug.plain import window


def answer(model: Model) -> CallToolResult:
    """Return the result of a call: no nulls, under 8,000 characters."""
    fields = type(model).model_fields
    keep = {name for name, field in fields.items() if field.is_required()}
    keep |= {"diagnosis", "notes"} & fields.keys()
    document = fit(model.document(), keep=frozenset(keep))
    return CallToolResult(
        content=[TextContent(type="text", text=compact(document))], structured_content=document
    )


VALUES = 12  # rows
LIMIT = 7_900  # characters; clients cut or hide longer answers in their own ways
_LEVELS = ((2000, 60), (1000, 40), (600, 25), (400, 15), (300, 10), (200, 6), (120, 4), (80, 2))
_WHOLE = frozenset(  # names and arguments are of no use cut
    {"run", "file", "path", "name", "artifact", "guide", "where", "tool", "arguments"}
)


def size(document: dict[str, Any]) -> int:
    """Count the characters of the compact JSON text."""
    return len(compact(document))


def compact(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def fit(document: dict[str, Any], *, keep: frozenset[str], limit: int = LIMIT) -> dict[str, Any]:
    """Return the document with at most `limit` characters; `keep` names what may not go.

    Long texts lose their middle and long lists their end, the same at every place, in growing
    steps; as the last resort whole fields go, the largest first. `notes` says so.
    """
    if size(document) <= limit:
        return document
    document = with_few_values(document)
    if size(document) <= limit:
        return document
    for text_cap, list_cap in _LEVELS:
        cut = _Cut(text_cap, list_cap)
        shorter = {key: cut.value(key, item) for key, item in document.items()}
        more = "; read_artifact pages through the whole" if "run" in document else ""
        shorter = _noted(shorter, f"{cut}{more}", keep)
        if size(shorter) <= limit:
            return shorter
    dropped: list[str] = []
    while size(shorter) > limit and (left := shorter.keys() - keep - {"notes"}):
        largest = max(sorted(left), key=lambda key: size({key: shorter[key]}))
        del shorter[largest]
        dropped.append(largest)
        shorter = _noted(shorter, f"left out to fit: {', '.join(dropped)}", keep)
    return shorter


def with_few_values(document: dict[str, Any]) -> dict[str, Any]:
    """Keep of the values along the model those around the mark: the rest serves a plot."""
    shorter = dict(document)
    for key, item in document.items():
        if key == "values" and isinstance(item, list):
            marked = next((n for n, row in enumerate(item) if row.get("mark")), 0)
            shorter[key] = item[window(marked, len(item), VALUES)]
        elif key == "diagnosis" and isinstance(item, dict):
            shorter[key] = with_few_values(item)
    return shorter


class _Cut:
    """One level of cutting, and the count of what it cut."""

    def __init__(self, text_cap: int, list_cap: int) -> None:
        self.text_cap = text_cap
        self.list_cap = list_cap
        self.texts = 0
        self.lists: dict[str, int] = {}

    def value(self, key: str, value: Any) -> Any:
        if key in _WHOLE:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {name: self.value(name, item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(key, item) for item in self._list(key, value)]
        return value

    def _text(self, text: str) -> str:
        if len(text) <= self.text_cap:
            return text
        self.texts += 1
        head, tail = self.text_cap * 2 // 3, self.text_cap // 3
        return f"{text[:head]} […{len(text) - head - tail} characters…] {text[-tail:]}"

    def _list(self, key: str, items: list[Any]) -> list[Any]:
        if len(items) <= self.list_cap or not all(isinstance(item, dict | str) for item in items):
            return items  # a list of numbers is a shape, a block: wrong when cut
        self.lists[key] = self.lists.get(key, 0) + len(items) - self.list_cap
        return items[: self.list_cap]

    def __str__(self) -> str:
        parts = [f"{self.texts} long texts cut"] if self.texts else []
        parts += [f"{count} of {key} left out" for key, count in self.lists.items()]
        return f"shortened to fit: {', '.join(parts)}"


def _noted(document: dict[str, Any], note: str, keep: frozenset[str]) -> dict[str, Any]:
    if "notes" not in keep:
        return document
    notes = [text for text in document.get("notes", []) if not text.startswith("left out to fit")]
    return {**document, "notes": [*notes, note]}
