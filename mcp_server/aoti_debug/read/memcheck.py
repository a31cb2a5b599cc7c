"""Read what compute-sanitizer prints (memcheck, initcheck, racecheck, synccheck)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aoti_debug.read.blocks import BlockReader, span_of, triple, whole
from aoti_debug.read.record import Access, Line, Record, SanitizerError, SanitizerSummary, Tool

_PREFIX = "========="
_START = re.compile(r"={9}(?: |\s*$)(?!.{0,8000}=\s*$)")  # a rule of some test runner ends so
KEPT = 500
_LINES = 200  # of one finding
FRAMES = 64
_SIZE = re.compile(r" of size ([\d,]{1,30}) byte")
_RACE = re.compile(r"\w{1,20} Thread (\([\d,]{1,40}\)) (at .{1,8000})")
_SHARED = re.compile(r" at __shared__ (0x[0-9a-fA-F]{1,20}) in block (\([\d,]{1,40}\))")
_LEAK = re.compile(r"(Leaked [\d,]{1,30} bytes) at (0x[0-9a-fA-F]{1,20})")
_BY = re.compile(r"by thread (\([\d,]{1,40}\)) in block (\([\d,]{1,40}\))")
_ADDRESS = re.compile(r"(?:Access to|Access at|Address) (0x[0-9a-fA-F]{1,20})")
_FAULT = re.compile(r" is (?:out of bounds|misaligned|freed)")
_DISTANCE = re.compile(r"and is ([\d,]{1,30}) bytes? (after|before) ")
_ALLOCATION = re.compile(r"allocation at (0x[0-9a-fA-F]{1,20}) of size ([\d,]{1,30}) byte")
_SUMMARY = re.compile(
    r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: .{1,80} \()([\d,]{1,30}) errors?\b(?! were not)"
)
_NOT_FINDINGS = (
    "COMPUTE-SANITIZER",
    "ERROR SUMMARY",
    "RACECHECK SUMMARY",
    "LEAK SUMMARY",
    "Target application returned",
    "Error: process didn't terminate",
    "Error: Target application",
    # What CUDA calls returned after the fault.
    "Program hit",
    "Warning:",
    "Internal Sanitizer",
    "Saving",
    "Launched",
    "Error: No attachable",
    "Default timeout",
)


@dataclass(slots=True)
class _Finding:
    """What is known of a finding so far; `known` are fields of its record."""

    lines: list[Line]
    what: str
    known: dict[str, Any] = field(default_factory=dict)
    frames: list[str] = field(default_factory=list)

    def record(self, artifact: str) -> SanitizerError:
        size = _SIZE.search(self.what)
        return SanitizerError(
            span_of(artifact, *self.lines),
            tool=tool_of(self.what),
            what=self.what[:1000],
            access=access_of(self.what),
            size=whole(size[1]) if size else None,
            frames=tuple(self.frames),
            **self.known,
        )


ALIKE = ("what", "kernel", "offset", "file", "line")  # but for thread and address


class MemcheckReader(BlockReader[Record]):
    """Count findings that are alike but for thread and address."""

    triggers = (_PREFIX,)
    alike = ALIKE
    keeps = (KEPT, 0)

    def begin(self) -> None:
        self._now: _Finding | None = None
        self._summary: SanitizerSummary | None = None

    def feed(self, line: Line) -> bool:
        if not _START.match(line.text):
            return False
        text = line.text[len(_PREFIX) :].removeprefix(" ")
        if not text.strip():
            self.end()
        elif text[0] != " ":
            self._feed_head(line, text.rstrip())
        elif self._now is not None:
            self._feed_detail(self._now, line, text.strip())
        return False

    def finish(self) -> Iterable[Record]:
        return [*super().finish(), *([self._summary] if self._summary is not None else [])]

    def _feed_head(self, line: Line, text: str) -> None:
        self.end()
        summary = _SUMMARY.search(text)
        if summary and self._summary is None:
            self._summary = SanitizerSummary(self.span(line), whole(summary[1]) or 0)
        if text.startswith(_NOT_FINDINGS):
            return
        self._now = now = _Finding([line], text)
        _, found, place = text.partition(" access at ")  # racecheck: kind and place in one line
        if found:
            now.what = text.partition(" between ")[0]
            self._feed_place(now, place)
        elif shared := _SHARED.search(text):
            now.what = text[: shared.start()]
            now.known |= {"address": int(shared[1], 16), "block": triple(shared[2])}
        elif leak := _LEAK.match(text):
            now.what, now.known["address"] = leak[1], int(leak[2], 16)

    def _feed_detail(self, now: _Finding, line: Line, text: str) -> None:
        if len(now.lines) >= _LINES:
            return
        now.lines.append(line)
        if text.startswith("at "):
            self._feed_place(now, text)
        elif race := _RACE.match(text):
            now.known.setdefault("thread", triple(race[1]))
            self._feed_place(now, race[2])
        elif by := _BY.search(text):
            now.known |= {"thread": triple(by[1]), "block": triple(by[2])}
        elif "Frame: " in text:
            if len(now.frames) < FRAMES:
                now.frames.append(text[:1000])
        else:
            if address := _ADDRESS.search(text):
                now.known["address"] = int(address[1], 16)
                fault = _FAULT.search(text)
                if fault and fault[0] not in now.what:
                    now.what += fault[0]  # as the XML words it
            if distance := _DISTANCE.search(text):
                now.known |= {"distance": whole(distance[1]), "side": distance[2]}
            elif "is inside the nearest" in text:
                now.known["side"] = "inside"
            if allocation := _ALLOCATION.search(text):
                now.known["allocation_address"] = int(allocation[1], 16)
                now.known["allocation_size"] = whole(allocation[2])

    def _feed_place(self, now: _Finding, text: str) -> None:
        if "kernel" in now.known:
            return
        kernel, _, place = text.removeprefix("at ").strip().rpartition(" in ")
        if not kernel:
            kernel, place = place, ""
        kernel, offset = split_offset(kernel)
        now.known |= {"kernel": kernel[:1000], "offset": offset}
        file, _, number = place.partition(" and ")[0].rpartition(":")
        digits = re.match(r"\d{1,9}", number)
        if file and digits:
            now.known |= {"file": file, "line": int(digits[0])}

    def end(self) -> None:
        now, self._now = self._now, None
        if now is not None:
            self.found.add(now.record(self.artifact))


def split_offset(kernel: str) -> tuple[str, int | None]:
    """Take `+0x1a0` off a kernel's name."""
    name, plus, digits = kernel.strip().rpartition("+0x")
    if plus and re.fullmatch(r"[0-9a-fA-F]{1,16}", digits):
        return name, int(digits, 16)
    return kernel.strip(), None


def tool_of(what: str) -> Tool:
    """Tell which of the tools words a finding so."""
    text = what.lower()
    if "uninitialized" in text or "unused memory" in text:
        return "initcheck"
    if "race" in text or "hazard" in text:
        return "racecheck"
    if "barrier" in text or "divergent" in text or "synccheck" in text:
        return "synccheck"
    return "memcheck"


def access_of(what: str) -> Access | None:
    """Tell the kind of access from the words of a finding."""
    text = what.lower()
    words: tuple[Access, ...] = ("atomic", "assert", "read", "write", "free")
    return next((word for word in words if re.search(rf"\b{word}\b", text)), None)
