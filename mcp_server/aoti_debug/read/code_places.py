"""Read where in torch's or Triton's code something happened, wherever a line says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from aoti_debug.read.record import CodePlace, Line
from aoti_debug.read.text import Ends, span_of

Told = Literal["frame", "log", "type"]

_OURS = r"(?:torch|triton|torchdynamo|torchinductor)[\\/]"
_FRAMES = (
    # Of a traceback, also behind a logger's prefix or without its beginning.
    re.compile(
        rf'File "([^"]{{0,400}}{_OURS}[^"]{{1,400}})", line \d{{1,9}}(?:, in ([^\s(]{{1,200}}))?'
    ),
    # Of IPython: `File ~/x/torch/a.py:12, in f(…)`, `File x.py:12 in f`.
    re.compile(rf"\bFile (\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}},? in ([^\s(]{{1,200}})"),
    # Of older ones: `~/x/torch/a.py in f(…)`.
    re.compile(rf"^(\S{{0,400}}{_OURS}\S{{1,400}}\.py) in ([^\s(]{{1,200}})\("),
    # Of pytest: `x/torch/a.py:12: in f`.
    re.compile(rf"^(\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}}: in (\S{{1,200}})"),
)
# An error in torch's own log, old and new form.
_LOGGED = re.compile(
    rf"\b[EC]\d{{4}} [\d:.]{{1,20}} \d{{1,12}} (\S{{0,400}}{_OURS}\S{{1,400}}\.py):\d{{1,9}}\]"
)
# What torch's log tells on request: its stacks are no failures.
_TOLD_ON_REQUEST = re.compile(r"(?:^|\s|:)[VID]\d{4} [\d:.]{1,20} \d{1,12} \S{1,300}:\d{1,9}\]")
_LOGGED_BEFORE = re.compile(r"\] (torch(?:\.\w{1,60}){1,8}): \[(?:ERROR|CRITICAL)\]")
# The type of an exception, which may stand on a line of its own.
_TYPE = re.compile(
    r"(?<![\w./])(torch(?:\.\w{1,60}){2,8}(?:Error|Exception|Unsupported|Failed|Diagnostic))\b"
)


class CodePlaceReader:
    """Give the places in printed order; of very many the first and last."""

    triggers: tuple[str, ...] = (
        "torch/_", "torch\\_", "torch/export", "torch\\export", "torch/fx", "torch\\fx",
        "torch/onnx/_internal", "torch._", "torch.onnx._internal", "torch.fx.experimental",
        "triton/compiler", "triton\\compiler", "triton/backends", "triton\\backends",
        "triton/language", "triton\\language", "triton/runtime", "triton\\runtime",
        "triton/common", "triton\\common", "torchinductor/", "torchdynamo/",
    )  # fmt: skip

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[CodePlace] = Ends(200, 400)

    def feed(self, line: Line) -> bool:
        if _TOLD_ON_REQUEST.search(line.text):
            return False
        for pattern in _FRAMES:
            if found := pattern.search(line.text):
                self._add(line, found[1], found[2] or "", "frame")
                return False
        if found := _LOGGED.search(line.text):
            self._add(line, found[1], "", "log")
        elif found := _LOGGED_BEFORE.search(line.text):
            self._add(line, found[1].replace(".", "/"), "", "log")
        elif found := _TYPE.search(line.text):
            self._add(line, found[1].replace(".", "/"), "", "type")
        return False

    def finish(self) -> Iterable[CodePlace]:
        return list(self._found)

    def _add(self, line: Line, file: str, function: str, told: Told) -> None:
        self._found.add(CodePlace(span_of(self._artifact, [line]), file, function, told))
