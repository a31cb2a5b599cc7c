"""Read GPU core dumps: the driver's progress messages and what `cuda-gdb -batch` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from aoti_debug.read.blocks import BlockReader, span_of, triple
from aoti_debug.read.record import GpuException, Line

_DETECTED = "Detected an exception of type "
_TYPE = re.compile(r"Detected an exception of type (\w{1,100})")
_DRIVER_FRAME = re.compile(
    r"coredump:\s{1,20}#\d{1,4}\s{1,20}0x[0-9a-fA-F]{1,20}\s{1,20}(\S{1,2000})"
)
_FOCUS = re.compile(
    r"focus set to CUDA kernel \d{1,9}, grid \d{1,12}, block (\([\d,]{1,40}\)), "
    r"thread (\([\d,]{1,40}\))"
)
_EXCEPTION = re.compile(r"(?:CUDA Exception: (.{1,200})|(Assertion failed)\.)$")
_TRIGGERED = re.compile(
    r"The exception was triggered at PC 0x[0-9a-fA-F]{1,20}(?:\s{1,8}(.{1,3000}))?"
)
_PLACE = re.compile(r"\(([^()]{1,1000}):(\d{1,9})\)$")
_FRAME = re.compile(r"#\d{1,4}\s{1,8}(?:0x[0-9a-f]{1,20} in )?(.{1,3000})")
_LAUNCH = re.compile(r"<<<\([\d,]{1,40}\),\([\d,]{1,40}\)>>>")
_AT = re.compile(r"\) at (.{1,2000}):(\d{1,9})$")
_SOURCE = re.compile(r"(\d{1,9})\t(.{0,2000})")
_INSTRUCTION = re.compile(r"\*> 0x[0-9a-fA-F]{1,20}[^:]{0,2000}:\s{1,8}(.{1,500})")
_LINE = re.compile(r'Line (\d{1,9}) of "([^"]{1,2000})"')
_DRIVER_LINES = 60  # looked at after an exception
_GDB_LINES = 400  # looked at after the focus


@dataclass(slots=True)
class _Parts:
    """What is known of an exception so far."""

    source: Literal["driver", "cuda-gdb"]
    lines: list[Line]
    known: dict[str, Any] = field(default_factory=dict)  # fields of the record
    fault: tuple[str, int] | None = None  # file and line of the faulting instruction
    full: dict[int, str] = field(default_factory=dict)  # line -> full file name
    text: dict[int, str] = field(default_factory=dict)  # line -> source text
    frame: tuple[str, int] | None = None  # file and line where the kernel stands now
    count: int = 0

    def record(self, artifact: str) -> GpuException:
        file, line = self.fault or self.frame or (None, None)
        start_only = self.source == "cuda-gdb" and self.fault is None and line is not None
        if line is not None:
            file = self.full.get(line, file)
            self.known["text"] = None if start_only else self.text.get(line)
        known = {"exception": "", **self.known, "file": file, "line": line}
        span = span_of(artifact, *self.lines)
        return GpuException(span, self.source, start_only=start_only, **known)


def kernel_name(told: str) -> str:
    """Return a kernel's own name: cuda-gdb takes two underscores for Ada's way of writing a dot."""
    name = told.strip()
    return name.replace(".", "__") if name.startswith("triton_") else name


class CoreDumpReader(BlockReader[GpuException]):
    """Give each exception once, with how often the driver met it."""

    triggers = (_DETECTED, "focus set to CUDA kernel", "CUDA Exception: ")
    alike = ("source", "exception", "kernel", "file", "line")
    spans = False

    def begin(self) -> None:
        self._now: _Parts | None = None

    def feed(self, line: Line) -> bool:
        text = line.text
        detected = _TYPE.search(text)
        if detected:
            self.end()
            self._now = _Parts("driver", [line], {"exception": detected[1]})
            return True
        focus = "focus set to CUDA kernel" in text
        old = self._now
        new = old is None or old.source == "driver" or (focus and "exception" in old.known)
        if new and (focus or "CUDA Exception: " in text):
            self.end()
            self._now = _Parts("cuda-gdb", [line])
        now = self._now
        if now is None:
            return False
        now.count += 1
        driver = now.source == "driver"
        took = self._feed_driver(now, text) if driver else self._feed_gdb(now, text)
        limit = _DRIVER_LINES if driver else _GDB_LINES
        if took and len(now.lines) < 30:
            now.lines.append(line)
        if now.count > limit:
            self.end()
        return self._now is not None

    def _feed_driver(self, now: _Parts, text: str) -> bool:
        if "coredump:" not in text:
            return False
        if (frame := _DRIVER_FRAME.search(text)) and "kernel" not in now.known:
            now.known["kernel"] = frame[1]
        elif "has finished state collection" in text:
            now.count = _DRIVER_LINES + 1
            return False
        return True

    def _feed_gdb(self, now: _Parts, text: str) -> bool:
        if focus := _FOCUS.search(text):
            now.known |= {"block": triple(focus[1]), "thread": triple(focus[2])}
        elif exception := _EXCEPTION.search(text.rstrip()):
            now.known["exception"] = (exception[1] or exception[2]).strip()
        elif triggered := _TRIGGERED.search(text):
            self._feed_place(now, (triggered[1] or "").strip())
        elif frame := _FRAME.match(text):
            self._feed_frame(now, frame[1].rstrip())
        elif source := _SOURCE.match(text):
            now.text.setdefault(int(source[1]), source[2].strip())
        elif instruction := _INSTRUCTION.match(text.strip()):
            now.known.setdefault("instruction", instruction[1].strip())
        elif line := _LINE.search(text):
            now.full.setdefault(int(line[1]), line[2])
        else:
            return False
        return True

    def _feed_place(self, now: _Parts, text: str) -> None:
        place = _PLACE.search(text)
        if place:
            now.fault = (place[1], int(place[2]))
            text = text[: place.start()].rstrip()
        if text:
            now.known.setdefault("kernel", kernel_name(text.partition("+")[0]))

    def _feed_frame(self, now: _Parts, text: str) -> None:
        at = _AT.search(text)
        if at:
            now.frame = now.frame or (at[1], int(at[2]))
            now.full.setdefault(int(at[2]), at[1])
        launch = _LAUNCH.search(text)
        if launch:
            now.known["kernel"] = kernel_name(text[: launch.start()])

    def end(self) -> None:
        now, self._now = self._now, None
        if now is not None and ("exception" in now.known or "kernel" in now.known):
            self.found.add(now.record(self.artifact))
