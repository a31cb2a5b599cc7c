"""Read the exceptions that torch's C++ layers log or throw, reasons before, places named."""

from __future__ import annotations

import re
from dataclasses import replace

from aoti_debug.read.blocks import MARK, BlockReader
from aoti_debug.read.record import (
    CodePlace,
    CppThrow,
    Line,
    Record,
    RuntimeMessage,
    ShimException,
    Told,
)

_OURS = r"(?:torch|triton|torchdynamo|torchinductor)[\\/]"
_CODE_FRAMES = (
    # Of a traceback, also behind a logger's prefix or without its beginning.
    re.compile(
        rf'File ["“]([^"”]{{0,400}}{_OURS}[^"”]{{1,400}})["”], line \d{{1,9}}'
        r"(?:, in ([^\s(]{1,200}))?"
    ),
    # Of IPython: `File ~/x/torch/a.py:12, in f(…)`, `File x.py:12 in f`.
    re.compile(rf"\bFile (\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}},? in ([^\s(]{{1,200}})"),
    # Of a notebook with links: `File [~/x/torch/a.py:12](http://…), in f(…)`, or `a.py:[12](…)`.
    re.compile(
        rf"\bFile \[?(\S{{0,400}}{_OURS}\S{{1,400}}\.py):\[?\d{{1,9}}\]\([^)]{{0,400}}\)"
        r",? in ([^\s(]{1,200})"
    ),
    # Of older ones: `~/x/torch/a.py in f(…)`.
    re.compile(rf"^(\S{{0,400}}{_OURS}\S{{1,400}}\.py) in ([^\s(]{{1,200}})\("),
    # Of rich, in a box that may break the path.
    re.compile(rf"[│|] (?:❱ )?(\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}} in (\S{{1,200}})"),
    re.compile(rf"[│|] (\S{{0,400}}{_OURS}\S{{1,400}})\s{{0,4}}()[│|]$"),
    # Of pytest: `x/torch/a.py:12: in f`.
    re.compile(rf"^(\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}}: in (\S{{1,200}})"),
)
# An error in torch's own log, old and new form.
_CODE_LOGGED = re.compile(
    rf"\b[EC]\d{{4}} [\d:.]{{1,20}} \d{{1,12}} (\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}}\]"
)
# What torch's log tells on request: its stacks are no failures.
_TOLD_ON_REQUEST = re.compile(r"(?:^|\s|:)[VID]\d{4} [\d:.]{1,20} \d{1,12} \S{1,300}:\d{1,9}\]")
_LOGGED_BEFORE = re.compile(r"\] (torch(?:\.\w{1,60}){1,8}): \[(?:ERROR|CRITICAL)\]")
# The type of an exception, which may stand on a line of its own.
_TYPE = re.compile(
    r"(?<![\w./])(torch(?:\.\w{1,60}){2,8}(?:Error|Exception|Unsupported|Failed|Diagnostic))\b"
)

_CODE = (
    *("torch/_", "torch/export", "torch/fx", "torch/onnx/_internal", "torch/utils/cpp_extension"),
    *("triton/compiler", "triton/backends", "triton/language", "triton/runtime", "triton/common"),
)


class CodePlaceReader(BlockReader[CodePlace]):
    """Give the places in printed order; of very many the first and last."""

    triggers = (
        *_CODE,
        *(path.replace("/", "\\") for path in _CODE),
        *("torchinductor/", "torchdynamo/"),
        *("torch._", "torch.onnx._internal", "torch.fx.experimental"),
    )
    keeps = (200, 400)

    def feed(self, line: Line) -> bool:
        if _TOLD_ON_REQUEST.search(line.text):
            return False
        for pattern in _CODE_FRAMES:
            frames = list(pattern.finditer(line.text))  # a page may have joined all lines
            for frame in frames:
                self._add(line, frame[1], frame[2] or "", "frame")
            if frames:
                return False
        if found := _CODE_LOGGED.search(line.text):
            self._add(line, found[1], "", "log")
        elif found := _LOGGED_BEFORE.search(line.text):
            self._add(line, found[1].replace(".", "/"), "", "log")
        elif found := _TYPE.search(line.text):
            self._add(line, found[1].replace(".", "/"), "", "type")
        return False

    def _add(self, line: Line, file: str, function: str, told: Told) -> None:
        self.found.add(CodePlace(self.span(line), file, function, told))


# Text of the program that did not end its line, then the runtime's message.
_GLUED = re.compile(r"\s(Error: (?:input_handles\[|CUDA |index out of bounds: |\w{1,80}\())")


class RuntimeMessageReader(BlockReader[RuntimeMessage]):
    """Keep the first and last messages; equal ones once."""

    triggers = ("Error: ",)

    def begin(self) -> None:
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
        self.found.add(RuntimeMessage(self.span(line), text[len("Error: ") :][:4000]))
        return False


_LOGGED = "Exception in aoti_torch: "
_THROWN = "Exception raised from "
_HEAD = re.compile(r"\[[EWIF]\d{4} [\d:.]{1,30}(?: \d{1,12})? [\w./-]{1,300}:\d{1,9}\] ")
_RAISED = re.compile(r"Exception raised from .{1,2000}? at \S{1,1000}:\d{1,9}")
_FRAME = re.compile(r"frame #\d{1,6}: (.{1,16000})")
_OFFSET = re.compile(r" \+ 0x[0-9a-f]{1,20}$")
_FRAMES = 128
_MESSAGE_LINES = 60


class ShimReader(BlockReader[Record]):
    """Give a ShimException for each logged call and a CppThrow for each `Exception raised from`."""

    triggers = (_LOGGED, _THROWN)

    def begin(self) -> None:
        self.lines = []
        self._message: list[str] = []
        self._in_message = False
        self._raised = False
        self._functions: list[str] = []
        self._last = 0

    def feed(self, line: Line) -> bool:
        text = line.text
        if _LOGGED in text and _HEAD.search(text):
            self.end()
            self._message = [text[text.index(_LOGGED) + len(_LOGGED) :]]
            self._in_message = True
            self.lines, self._last = [line], line.number
            return True
        if _THROWN in text and _RAISED.search(text):
            if not self._in_message:
                self.end()
                self.lines = [line]
            self._raised, self._in_message, self._last = True, False, line.number
            return True
        if self.lines and not self._feed_open(line):
            self.end()
        return bool(self.lines)

    def _feed_open(self, line: Line) -> bool:
        if frame := _FRAME.search(line.text):
            self._in_message = False
            self._last = line.number
            if len(self._functions) < _FRAMES:
                self._functions.append(_function(frame[1]))
            return True
        if not self._in_message or MARK.match(line.text) or line.text.startswith("Error: "):
            return False
        self._message.append(line.text)
        if line.text.strip():
            self._last = line.number
        return len(self._message) < _MESSAGE_LINES

    def end(self) -> None:
        if not self.lines:
            return
        span = replace(self.span(), last=self._last)
        if self._message:
            self.found.add(ShimException(span, "\n".join(self._message).strip()[:4000]))
        if self._raised:
            self.found.add(CppThrow(span, tuple(self._functions)))
        self.begin()


def _function(text: str) -> str:
    """Take it out of `FUNCTION + 0x9d (0x7f03… in LIBRARY)`; `LIBRARY() [0x58216f]` has none."""
    return _OFFSET.sub("", text.rpartition(" (0x")[0])[:2000]
