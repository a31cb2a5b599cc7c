"""Read the reason that the model's entry point prints before a call is said to have failed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aoti_debug.read.record import Line, RuntimeMessage
from aoti_debug.read.text import Ends, span_of

# Text of the program that did not end its line, then the runtime's message.
_GLUED = re.compile(r"\s(Error: (?:input_handles\[|CUDA |index out of bounds: |\w{1,80}\())")


class RuntimeMessageReader:
    """Keep the first and last messages; equal ones once."""

    triggers: tuple[str, ...] = ("Error: ",)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[RuntimeMessage] = Ends(200, 50)
        self._seen: set[str] = set()

    def feed(self, line: Line) -> bool:
        text = line.text.strip()
        glued = _GLUED.search(text)
        if glued:
            text = text[glued.start(1) :]
        if not text.startswith("Error: "):
            return False
        key = text[:1000]
        if key in self._seen:
            return False
        if len(self._seen) < 5000:
            self._seen.add(key)
        span = span_of(self._artifact, [line])
        self._found.add(RuntimeMessage(span, text[len("Error: ") :][:4000]))
        return False

    def finish(self) -> Iterable[RuntimeMessage]:
        return list(self._found)
