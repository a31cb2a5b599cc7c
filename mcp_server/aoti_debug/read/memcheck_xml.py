"""Read the XML that compute-sanitizer saves (`--xml --save FILE`). It holds what the text holds but
for the distance to the nearest allocation."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from aoti_debug.errors import UnreadableInput
from aoti_debug.read.blocks import Alike
from aoti_debug.read.memcheck import ALIKE, FRAMES, KEPT, access_of
from aoti_debug.read.record import SanitizerError, Span, Tool

_ROOT = "ComputeSanitizerOutput"
_LIMIT = 64 << 20  # bytes of a file that are looked at
_RECORDS = 200_000
_DEPTH = 32
_TEXT = 20_000  # characters of one element
_TOOLS: dict[str, Tool] = {
    "initcheck": "initcheck",
    "synccheck": "synccheck",
    "analysis": "racecheck",
    "hazard": "racecheck",
    "race": "racecheck",
}

Element = dict[str, list["Element | str"]]


def read_memcheck_xml(data: bytes, artifact: str) -> tuple[SanitizerError, ...]:
    """Return the findings of a sanitizer's XML file; those alike are counted.

    A truncated file gives what is complete. Raises UnreadableInput when it is no such file, and
    when it declares a document type or entities, which the tool never does.
    """
    collector = _Collector(artifact)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.text
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    collector.line = lambda: parser.CurrentLineNumber
    try:
        parser.Parse(data[:_LIMIT], len(data) <= _LIMIT)
    except expat.ExpatError as error:
        if not collector.rooted:
            raise UnreadableInput(f"{artifact} is not compute-sanitizer's XML: {error}") from error
    if not collector.rooted:
        raise UnreadableInput(f"{artifact} is not compute-sanitizer's XML")
    return tuple(collector.found)


def _refuse(*_: object) -> None:
    raise UnreadableInput("The XML declares a document type or entities")


class _Collector:
    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._stack: list[Element] = []
        self._names: list[str] = []
        self._text = ""
        self._first = 0
        self._count = 0
        self.rooted = False
        self.line: Callable[[], int] = lambda: 0
        self.found: Alike[SanitizerError] = Alike(*ALIKE, most=KEPT)

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        if not self._names and name != _ROOT:
            raise UnreadableInput(f"{self._artifact} is not compute-sanitizer's XML")
        self.rooted = True
        if len(self._names) >= _DEPTH:
            raise UnreadableInput(f"{self._artifact} is nested too deeply")
        if name == "record" and len(self._names) == 1:
            self._first = self.line()
        self._names.append(name)
        self._stack.append({})
        self._text = ""

    def text(self, characters: str) -> None:
        if len(self._text) < _TEXT:
            self._text += characters

    def end(self, name: str) -> None:
        element = self._stack.pop()
        self._names.pop()
        text, self._text = self._text.strip()[:_TEXT], ""
        if name == "record" and len(self._names) == 1:
            self._count += 1
            if self._count <= _RECORDS:
                self._add(element)
        elif len(self._names) > 1:
            values = self._stack[-1].setdefault(name, [])
            if len(values) < 2 * FRAMES:
                values.append(element or text)

    def _add(self, record: Element) -> None:
        kind = _text(record, "kind").lower()
        if kind not in ("api", "api error"):
            self.found.add(self._error(record, kind))

    def _error(self, record: Element, kind: str) -> SanitizerError:
        what, who = _child(record, "what"), _child(record, "who")
        common, thread0 = _child(what, "common"), _child(what, "thread0")
        source = _child(what, "source")
        where = _child(record, "where") or _child(source, "where") or _child(thread0, "where")
        words = [_text(what, "text") or _text(what, "exception"), _text(what, "type")]
        text = ": ".join(word for word in words if word)[:1000]
        direction = _text(what, "direction") or _text(source, "direction")
        leak = kind == "leak"
        return SanitizerError(
            Span(self._artifact, self._first, self.line(), text[:300]),
            tool=_TOOLS.get(kind, "memcheck"),
            what=text,
            access=access_of(direction or _text(thread0, "access") or text),
            size=None if leak else _int(_text(what, "size")),
            kernel=_text(where, "func") or None,
            offset=_int(_text(where, "pc")),
            file=_text(where, "path") or None,
            line=_int(_text(where, "line")),
            block=_axes(_child(who, "blockIdx") or _child(common, "blockIdx")),
            thread=_axes(_child(who, "threadIdx") or _child(thread0, "threadIdx")),
            address=_int(_text(what, "address") or _text(common, "address")),
            allocation_size=_int(_text(what, "size")) if leak else None,
            frames=_frames(record),
        )


def _child(element: Element, name: str) -> Element:
    value = next(iter(element.get(name, ())), None)
    return value if isinstance(value, dict) else {}


def _text(element: Element, name: str) -> str:
    value = next(iter(element.get(name, ())), None)
    return value if isinstance(value, str) else ""


def _int(text: str) -> int | None:
    try:
        return int(text[:40], 16 if text.lower().startswith("0x") else 10)
    except ValueError:
        return None


def _axes(element: Element) -> tuple[int, int, int] | None:
    x, y, z = (_int(_text(element, axis)) for axis in "xyz")
    return None if x is None or y is None or z is None else (x, y, z)


def _frames(record: Element) -> tuple[str, ...]:
    frames: list[str] = []
    for stack, word in (("deviceStack", "Device"), ("hostStack", "Host")):
        for frame in _child(record, stack).get("frame", ()):
            if isinstance(frame, dict) and len(frames) < FRAMES:
                name = _text(frame, "func") or _text(frame, "pc")
                frames.append(f"{word} Frame: {name} in {_text(frame, 'module')}"[:1000])
    return tuple(frames)
