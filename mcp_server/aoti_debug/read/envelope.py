"""Read the messages that only say that a call failed, and the reason printed before them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aoti_debug.read.record import Envelope, Line, Record, RuntimeMessage
from aoti_debug.read.text import Ends, span_of

_FAILED = " API call failed at "
_PLACE = re.compile(r"(\S.{0,2000}?), line (\d{1,9})\b")
_CALL = re.compile(r"([A-Za-z_][\w:]{0,200})\(")
# Text of the program that did not end its line, then the runtime's message.
_GLUED = re.compile(r"\s(Error: (?:input_handles\[|CUDA |index out of bounds: |\w{1,80}\())")
_RUNNER = ("model_container_runner", "model_package_loader")


class EnvelopeReader:
    """Keep the first and last envelopes and messages; equal ones once."""

    triggers: tuple[str, ...] = (_FAILED, "Error: ")

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[Record] = Ends(200, 50)
        self._seen: set[str] = set()

    def feed(self, line: Line) -> bool:
        text = line.text.strip()
        glued = _GLUED.search(text)
        if glued:
            text = text[glued.start(1) :]
        message = text.startswith("Error: ")
        if not message and _FAILED not in text:
            return False
        key = text[:1000]
        if key in self._seen:
            return False
        if len(self._seen) < 5000:
            self._seen.add(key)
        span = span_of(self._artifact, [line])
        if message:
            self._found.add(RuntimeMessage(span, text[len("Error: ") :][:4000]))
        before, failed, after = text.rpartition(_FAILED)
        place = _PLACE.match(after)
        if failed and place:
            user_side = not any(part in place[1] for part in _RUNNER)
            self._found.add(Envelope(span, _call(before), place[1], int(place[2]), user_side))
        return False

    def finish(self) -> Iterable[Record]:
        return list(self._found)


def _call(text: str) -> str:
    """Return the name of the call that `text` ends with: `Error: aoti_torch_mm_out(a, b)`."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        if text[i] == ")":
            depth += 1
        elif text[i] == "(":
            depth -= 1
            if depth == 0:
                name = re.search(r"[\w:]{1,200}$", text[:i])
                return name[0] if name else text[-200:]
    found = _CALL.search(text)
    return found[1] if found else text[-200:]
