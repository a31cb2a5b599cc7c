"""Read Python's tracebacks, and the lines that speak of an error where no reader knows anything."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from aoti_debug.read.blocks import LINE_LIMIT, MARK, BlockReader, Blocks, MultiSearch, chunks
from aoti_debug.read.record import (
    QUOTE_LIMIT,
    Chain,
    ErrorLine,
    Line,
    PythonException,
    SaidLine,
    Span,
)
from aoti_debug.vocabulary import Place

_WORDS = b"ERROR FATAL Fatal fatal error Failed failed FAILED Aborted aborted Panic panic".split()
_SPEAKS = re.compile(rb"(?:Error|Exception|\b(?:%s))\b" % b"|".join(_WORDS))
_HARMLESS = re.compile(rb"\b(?:0|no) (?:errors?|failed|failures?)\b", re.IGNORECASE)
_LOOKED = 64 << 20  # bytes of lines with such words, and 100 for each
_KEPT = 20


def error_lines(stream: BinaryIO, artifact: str) -> list[ErrorLine]:
    """Return the first of those lines; LINE_LIMIT bytes of each are looked at."""
    found: list[ErrorLine] = []
    search, looked = MultiSearch([b"Error", b"Exception", *_WORDS]), 0
    for block in Blocks(stream):
        data, number, end = block.data, block.first, 0  # where the next line begins
        for begin in search.begins(data):
            if begin < end:
                continue
            number += data.count(b"\n", end, begin)
            start = data.rfind(b"\n", 0, begin) + 1
            end = data.find(b"\n", begin) + 1 or len(data)
            line = data[start : min(end, start + LINE_LIMIT)]
            looked += len(line) + 100
            if _SPEAKS.search(line) and not _HARMLESS.search(line):
                quote = line.decode("utf-8", "replace").strip()[:QUOTE_LIMIT]
                found.append(ErrorLine(Span(artifact, number, number, quote)))
            if len(found) >= _KEPT or looked > _LOOKED:
                return found
            number += 1
    return found


# What `python -m torch.utils.collect_env` says of a machine, frames, code and Markdown's fences.
_NO_WORDS = re.compile(
    rb"\s{4}|\s*(?:File [\"\xe2]|[\^~-]{3}|```|Traceback )|\s*$|\[(?:pip3?|conda)\] |Vulnerability "
    rb"|(?:PyTorch|GCC|Clang|CMake|Libc|Python|CUDA|cuDNN|HIP|MIOpen|Nvidia)(?: \w{1,8})? version: "
    rb"|(?:CUDA|ROCM) used to build |Is (?:debug|CUDA|XNNPACK|XPU) (?:build|available): "
)
_SAID = 40
_GOES_ON = 2


def said_lines(stream: BinaryIO, artifact: str) -> list[SaidLine]:
    """Return the first and last lines that are neither frames nor code, each with the two that
    follow; a long log is looked at in its first and last 64 KiB."""
    head = stream.read(1 << 16)
    lines = list(enumerate(head.split(b"\n"), 1))
    rest, skipped = b"", 0
    for piece in chunks(stream):
        whole = rest + piece
        rest = whole[-(1 << 16) :]
        skipped += whole.count(b"\n") - rest.count(b"\n")
    if rest:
        lines += enumerate(rest.split(b"\n"), head.count(b"\n") + skipped + 1)
    words = [(number, line) for number, line in lines if not _NO_WORDS.match(line)]
    found = []
    for at, (number, line) in enumerate(words):
        if _SAID // 2 <= at < len(words) - _SAID // 2:
            continue
        follow = [next_line for _, next_line in words[at + 1 : at + 1 + _GOES_ON]]
        text = b" ".join([line, *follow])[:1000].decode("utf-8", "replace")
        quote = line.decode("utf-8", "replace").strip()[:QUOTE_LIMIT]
        found.append(SaidLine(Span(artifact, number, number, quote), text))
    return found


_START = "Traceback (most recent call last):"
_RELATIONS: tuple[tuple[str, Chain], ...] = (
    ("The above exception was the direct cause of the following exception:", "cause"),
    ("During handling of the above exception, another exception occurred:", "context"),
)
_FRAME = re.compile(r'  File "([^"]{1,2000})", line (\d{1,9})(?:, in (.{1,500}))?\s{0,8}$')
_NAME = re.compile(r"([A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){0,20})(?:: (.*)|:?$)", re.DOTALL)
_USUAL = re.compile(
    r"(Error|Exception|Warning|Interrupt|Exit|Iteration|Group|Failed|Failure|Fault|Timeout|"
    r"Expired|Cancelled|Unsupported|Violation|Abort|Skipped)$"
)
_MARKS = re.compile(r"[ ^~]{1,16384}$")
_LOGGER = re.compile(r"(?:[EWIF]\d{4} [\d:.]{1,20} \d{1,12} \S{1,300}:\d{1,9}\]|\[rank\d{1,6}\]:) ")
_GROUP = re.compile(r"^ {0,80}[|+] ")
# What other writers put at the start of a line ends a message.
_FOREIGN = (
    "terminate called",
    "Failed to destroy CUDA",
    "Failed to free GPU",
    "Fatal Python error",
    "=========",
    "Error: input_handles",
    "[ before_launch",
    "[ after_launch",
    "[  before_launch",
    "[  after_launch",
    "aoti_torch_save_tensor_handle:",
    "Exception ignored in",
    "$ ",
    "Segmentation fault",
    "Aborted",
    "```",
    "free(): ",
    "double free",
    "malloc()",
)
_MESSAGE = 4000  # characters
_LINES = 80  # of a message
_NOISE = 200  # foreign lines within the frames
_NOISE_HEADLESS = 3
_FRAMES = 400  # kept of one traceback
# Exceptions whose message holds paragraphs: commands, compiler output, nested tracebacks.
_PARAGRAPHS = tuple(
    """
    InductorError CompileError CompilationError BackendCompilerFailed LoweringException
    Unsupported TorchRuntimeError UserError SerializeError AcceleratorError CalledProcessError
    GuardOnDataDependentSymNode ConstraintViolationError RuntimeError
    """.split()
)


def _frame(found: re.Match[str]) -> Place:
    return Place(found[1], int(found[2]), found[3].strip() if found[3] else "<module>", None)


@dataclass(slots=True)
class _Traceback:
    """One exception in the making."""

    last: Line
    prefix: str
    headless: bool = False  # its beginning was cut off: only an exception makes it one
    lines: list[Line] = field(default_factory=list)
    frames: list[Place] = field(default_factory=list)
    type: str = ""
    message: list[str] = field(default_factory=list)
    size: int = 0
    noise: int = 0
    blank: int = 0
    candidate: re.Match[str] | None = None

    def __post_init__(self) -> None:
        self.lines.append(self.last)

    def strip(self, text: str) -> str | None:
        """Take a logger's prefix off; None when the line is another writer's."""
        for prefix in (self.prefix, self.prefix.rstrip()):
            if self.prefix and text.startswith(prefix):
                return text[len(prefix) :]
        if self.prefix and len(self.lines) > 1:
            return None
        self.prefix = ""  # the first line was glued to other output
        return text


class TracebackReader(BlockReader[PythonException]):
    """Give every exception of every traceback; of very many the first and last."""

    triggers = (_START, '  File "')
    keeps = (300, 300)

    def begin(self) -> None:
        self._now: _Traceback | None = None
        self._ended: PythonException | None = None  # may yet be the cause of a next one
        self._after = 0

    def feed(self, line: Line) -> bool:
        at = line.text.find(_START)
        if at >= 0:
            self._start(line, _GROUP.sub("", line.text[:at]), at)
            return True
        if self._now is not None:
            if self._feed_open(self._now, line):
                return True
            self._end()
        if self._ended is not None:
            return self._feed_between(self._ended, line)
        logger = _LOGGER.match(line.text)
        prefix = logger[0] if logger else ""
        found = _FRAME.match(line.text[len(prefix) :])
        if found is None:
            return False
        # A SyntaxError of the script itself has no header either, and its frame no function.
        self._now = _Traceback(line, prefix, headless=found[3] is not None)
        self._now.frames.append(_frame(found))
        return True

    def end(self) -> None:
        self._end()
        self._release(None)

    def _start(self, line: Line, before: str, at: int) -> None:
        self._end()
        if self._ended is not None:
            self._release(self._ended.relation)
        group = "Group" in before or _GROUP.match(line.text) is not None
        logger = _LOGGER.match(line.text)
        prefix = logger[0] if logger else line.text[:at]
        self._now = _Traceback(line, "" if group else prefix)

    def _feed_open(self, now: _Traceback, line: Line) -> bool:
        raw = _GROUP.sub("", line.text) if _GROUP.match(line.text) else line.text
        text = now.strip(raw)
        if text is None:
            now.noise += 1
            return now.noise < _NOISE
        if len(now.lines) < 8:
            now.lines.append(line)
        took = self._feed_message(now, text) if now.type else self._feed_frames(now, text)
        if took and text.strip():
            now.last = line
        return took

    def _feed_frames(self, now: _Traceback, text: str) -> bool:
        found = _FRAME.match(text)
        if found:
            now.candidate = None
            if len(now.frames) >= _FRAMES:
                del now.frames[_FRAMES // 2]
            now.frames.append(_frame(found))
            return True
        if text.startswith("    ") and now.frames:
            if now.frames[-1].text is None and not _MARKS.match(text):
                now.frames[-1] = replace(now.frames[-1], text=text.strip()[:500])
            return True
        name = _NAME.match(text)
        if name and (_USUAL.search(name[1]) or "." in name[1]):
            self._name(now, name)
            return True
        now.candidate = now.candidate or name
        now.noise += 1
        limit = _NOISE_HEADLESS if now.headless else _NOISE
        return now.noise < limit and not text.startswith(_FOREIGN)

    def _name(self, now: _Traceback, name: re.Match[str]) -> None:
        now.type = name[1]
        now.message = [name[2] or ""]
        now.size = len(now.message[0])

    def _feed_message(self, now: _Traceback, text: str) -> bool:
        if any(mark in text for mark, _ in _RELATIONS):
            return False
        if not text.strip():
            now.blank += 1
            return now.blank < 3
        ends = (
            text.startswith(_FOREIGN)
            or text.lstrip().startswith("+-")
            or MARK.match(text) is not None
        )
        paragraphs = now.type.endswith(_PARAGRAPHS)
        full = now.size > _MESSAGE or len(now.message) >= _LINES
        if ends or full or (now.blank and not paragraphs):
            return False
        if text.startswith("frame #"):  # C++ frames are ShimReader's
            return True
        now.message.extend([""] * now.blank)
        now.blank = 0
        now.message.append(text.rstrip())
        now.size += len(text) + 1
        return True

    def _end(self) -> None:
        now, self._now = self._now, None
        if now is None:
            return
        if not now.type and now.candidate is not None and not now.headless:
            self._name(now, now.candidate)
        if not now.type and (now.headless or not now.frames):
            return
        span = replace(self.span(*now.lines), last=now.last.number)
        message = "\n".join(now.message).strip()[:_MESSAGE]
        if now.type and message:
            span = replace(span, quote=f"{now.type}: {message}"[:300])
        if self._ended is not None:
            self._release(self._ended.relation)
        self._ended = PythonException(span, now.type, message, tuple(now.frames), None, True)
        self._after = 0

    def _feed_between(self, ended: PythonException, line: Line) -> bool:
        """Look for the sentence that ties an exception to the next, past blank lines."""
        for mark, relation in _RELATIONS:
            if mark in line.text:
                self._ended = replace(ended, relation=relation, last=False)
                return True
        self._after += 1
        if self._after > 40 or (self._after > 3 and ended.relation is None):
            self._release(None)
        return self._ended is not None

    def _release(self, relation: Chain | None) -> None:
        if self._ended is not None:
            ended, self._ended = self._ended, None
            self.found.add(replace(ended, relation=relation, last=relation is None))
