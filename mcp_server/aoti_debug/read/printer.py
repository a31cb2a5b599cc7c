"""Read what AOTInductor's intermediate value printer writes, in its three modes.

Mode 1 saves tensors and says where, mode 2 prints a block of statistics for each argument, mode 3
a line before and after each launch. A scalar argument of mode 2 ends in a backslash and an n
instead of a newline, so that the next block starts on the same line; and the program's own output
may stand anywhere between the lines of a block, or before one on the same line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from aoti_debug.read.blocks import BlockReader, Ends, integers, number, span_of, whole
from aoti_debug.read.record import (
    Launches,
    Line,
    Record,
    SavedTensor,
    Span,
    TensorStatistics,
    When,
)

_Head = tuple[Literal[2, 3], When, str, "str | None"]

_SAVED = "aoti_torch_save_tensor_handle: Saved tensor to "
_PREFIXES: dict[str, When] = {
    "before_launch": "before",
    "after_launch": "after",
    "aoti_model_inputs": "input",
}
_HEAD = re.compile(
    r"\[  (before_launch|after_launch|aoti_model_inputs) - ([^\]]{0,3000})  \](:?)"
    r"|\[ (before_launch|after_launch): ([^\]]{0,3000}) \]"
)
_ARGUMENT = re.compile(r"(.{1,1000}?)_((?:buf|arg|in_out_ptr|out_ptr)\d{1,9}(?:_\d{1,9})?)$")
_GENERATED = re.compile(r"((?:triton|cpp)_.{1,1000}?_\d{1,9})_(.{1,300})$")
_FIELD = re.compile(
    r"(Number of elements|Dtype|Mean value|Min value|Max value|Device|Size|Stride|Requires grad)"
    r": ?(.{0,600})"
)
_SUMMARY = re.compile(r"\[ [A-Za-z]\w{1,60}\{[\d,]{0,200}\} \]")
_BLOCK_LINES = 500
_VALUES = 2000  # characters
_KEYS = 20_000  # arguments of kernels that are told apart
_SAVED_KEPT = 5000


@dataclass(slots=True)
class _Block:
    line: Line
    head: tuple[When, str, str, int]  # kernel, argument, launch
    fields: dict[str, str] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    size: int = 0
    lines: int = 0
    last: int = 0

    def record(self, artifact: str) -> TensorStatistics:
        when, kernel, argument, _ = self.head
        stats = [f"{k}: {v}" for k, v in self.fields.items()]
        quote = "\n".join([f"{when} {kernel} - {argument}", *stats])[:300]
        first = self.line.number
        got = self.fields.get
        return TensorStatistics(
            Span(artifact, first, max(self.last, first), quote),
            *self.head,
            numel=whole(got("Number of elements", "")),
            dtype=got("Dtype"),
            device=got("Device"),
            mean=number(got("Mean value", "")),
            min=number(got("Min value", "")),
            max=number(got("Max value", "")),
            size=integers(got("Size", "")),
            stride=integers(got("Stride", "")),
            values="\n".join(self.values).strip()[:_VALUES] or None,
        )


@dataclass(slots=True)
class _Kept:
    """What is kept of the blocks of one argument."""

    first: TensorStatistics
    bad: TensorStatistics | None  # the first with NaN or infinity
    last: TensorStatistics


@dataclass(slots=True)
class _Order:
    """The launches of one mode: numbers them and knows which ended."""

    mode: Literal[1, 2, 3]
    total: int = 0
    kernels: dict[str, int] = field(default_factory=dict)
    pending: dict[int, str] = field(default_factory=dict)  # launch -> kernel
    now: tuple[str, str] | None = None  # phase and kernel of the last line
    last_finished: str | None = None
    lines: list[Line] = field(default_factory=list)

    def see(self, line: Line, when: When, kernel: str) -> int:
        """Take a line in; return the number of the launch that it belongs to."""
        self.lines = [*self.lines[:1], line]
        if when == "before":
            if self.mode == 3 or self.now != ("before", kernel):
                self._begin(kernel)
        elif when == "after" and self.now != ("after", kernel):
            self._finish(kernel)
        self.now = (when, kernel)
        return self._number(kernel) if when != "input" else 0

    def _begin(self, kernel: str) -> None:
        self.total += 1
        if kernel in self.kernels or len(self.kernels) < _KEYS:
            self.kernels[kernel] = self.kernels.get(kernel, 0) + 1
        self.pending[self.total] = kernel
        while len(self.pending) > 1000:
            del self.pending[next(iter(self.pending))]

    def _finish(self, kernel: str) -> None:
        launch = next((n for n, k in self.pending.items() if k == kernel), None)
        if launch is not None:
            del self.pending[launch]
        self.last_finished = kernel

    def _number(self, kernel: str) -> int:
        open_ = [n for n, k in self.pending.items() if k == kernel]
        return open_[-1] if open_ else self.total

    def record(self, artifact: str) -> Launches:
        launch = max(self.pending) if self.pending else None
        return Launches(
            span_of(artifact, *self.lines),
            mode=self.mode,
            kernels=tuple(self.kernels.items()),
            total=self.total,
            unfinished=self.pending[launch] if launch else None,
            unfinished_launch=launch,
            last_finished=self.last_finished,
        )


class PrinterReader(BlockReader[Record]):
    """Give the order of launches for each mode, and the first and last of what repeats."""

    triggers = ("_launch: ", "_launch - ", "aoti_model_inputs", _SAVED)

    def begin(self) -> None:
        self._orders: dict[int, _Order] = {}
        self._blocks: dict[tuple[str, str, str], _Kept] = {}
        self._saved: Ends[tuple[Line, str]] = Ends(_SAVED_KEPT, _SAVED_KEPT)
        self._block: _Block | None = None

    def feed(self, line: Line) -> bool:
        heads = list(_heads(line.text))
        if heads:
            self._end_block()
        elif self._block is not None:
            self._feed_block(self._block, line)
        for mode, when, kernel, argument in heads:
            launch = self._order(mode).see(line, when, kernel)
            self._end_block()
            if mode == 2 and argument is not None:
                self._block = _Block(line, (when, kernel, argument, launch))
        at = line.text.find(_SAVED)
        if at >= 0:
            self._saved.add((line, line.text[at + len(_SAVED) :].strip()))
        return self._block is not None

    def finish(self) -> Iterable[Record]:
        self._end_block()
        saved = self._read_saved()
        for mode in sorted(self._orders):
            if self._orders[mode].total:
                yield self._orders[mode].record(self.artifact)
        for kept in self._blocks.values():
            yield from {id(b): b for b in (kept.first, kept.bad, kept.last) if b}.values()
        yield from saved

    def _order(self, mode: Literal[1, 2, 3]) -> _Order:
        return self._orders.setdefault(mode, _Order(mode))

    def _feed_block(self, block: _Block, line: Line) -> None:
        block.lines += 1
        found = _FIELD.search(line.text)
        if found and found[1] not in block.fields:
            block.fields[found[1]] = found[2].strip()
            block.last = line.number
        elif not block.fields and block.size < _VALUES:
            block.values.append(line.text.rstrip())
            block.size += len(line.text) + 1
        if "Requires grad" in block.fields or block.lines > _BLOCK_LINES:
            self._end_block()

    def _end_block(self) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        if not any(_SUMMARY.search(v) for v in block.values):  # a program's own output
            block.values = []
        new = block.record(self.artifact)
        key = (new.when, new.kernel, new.argument)
        kept = self._blocks.get(key)
        if kept is not None:
            kept.last = new
            kept.bad = kept.bad or (new if _bad(new) else None)
        elif len(self._blocks) < _KEYS:
            self._blocks[key] = _Kept(new, new if _bad(new) else None, new)

    def _read_saved(self) -> list[Record]:
        names = [(line, path.strip("\"'")) for line, path in self._saved]
        split = [_split_name(path) for _, path in names]
        kernels = {kernel for _, kernel, _ in split if kernel}
        records: list[Record] = []
        for (line, path), (when, kernel, argument) in zip(names, split, strict=True):
            if when is not None and kernel is None:
                kernel, argument = _known(argument or "", kernels)
            if when is not None and when != "input" and kernel is not None:
                self._order(1).see(line, when, kernel)
            records.append(SavedTensor(self.span(line), path, when, kernel, argument))
        return records


def _heads(text: str) -> Iterator[_Head]:
    """Give mode, when, kernel and argument (None: a scalar) of each header in a line."""
    for found in _HEAD.finditer(text):
        wide, names, colon, narrow, name = found.groups()
        if narrow:
            yield 3, _PREFIXES[narrow], name, None
            continue
        kernel, named, argument = names.partition(" - ")
        if wide == "aoti_model_inputs":
            kernel, argument = "", names
        if named or not kernel:
            yield 2, _PREFIXES[wide], kernel, argument if colon else None


def _bad(block: TensorStatistics) -> bool:
    values = (block.mean, block.min, block.max)
    return any(v is not None and not math.isfinite(v) for v in values)


def _split_name(path: str) -> tuple[When | None, str | None, str | None]:
    """Take apart `…aoti_torch[/]before_launch_KERNEL_ARGUMENT_DEVICE.pt`, as far as it is clear."""
    name = path.removesuffix(".pt")
    for prefix, when in _PREFIXES.items():
        at = name.rfind(prefix + "_")
        if at < 0:
            continue
        rest = name[at + len(prefix) + 1 :].rpartition("_")[0]  # the device has no underscore
        if when == "input":
            return when, None, rest
        found = _ARGUMENT.match(rest) or _GENERATED.match(rest)
        return (when, found[1], found[2]) if found else (when, None, rest)
    return None, None, None


def _known(rest: str, kernels: set[str]) -> tuple[str | None, str | None]:
    """Split off the longest kernel name that other files have shown."""
    names = [k for k in kernels if rest.startswith(k + "_")]
    if not names:
        return None, rest or None
    kernel = max(names, key=len)
    return kernel, rest[len(kernel) + 1 :]
