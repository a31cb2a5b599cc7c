"""Cut a stream into blocks of whole lines, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

CHUNK = 1 << 20
LINE_LIMIT = 16 << 10  # bytes of a line that are looked at; the rest is dropped


@dataclass(slots=True)
class Block:
    first: int  # number of its first line
    data: bytes
    lines: int  # newlines in it


class Blocks:
    """Cut a stream into blocks that end with a line; drop what exceeds LINE_LIMIT in a line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._carry = b""
        self._dropping = False
        self.bytes = 0
        self.cut_lines = 0
        self._next = 1

    def __iter__(self) -> Blocks:
        return self

    def __next__(self) -> Block:
        while data := self._stream.read(CHUNK):
            self.bytes += len(data)
            block = self._add(data)
            if block:
                return self._number(block)
        if not self._carry:
            raise StopIteration
        block, self._carry = self._carry, b""
        return self._number(block)

    def notes(self) -> list[str]:
        if not self.cut_lines:
            return []
        return [f"{self.cut_lines} lines were cut after {LINE_LIMIT} bytes"]

    def _number(self, block: bytes) -> Block:
        lines = block.count(b"\n")
        first, self._next = self._next, self._next + lines
        return Block(first, block, lines)

    def _add(self, data: bytes) -> bytes:
        if self._dropping:
            ends = [i for i in (data.find(b"\n"), data.find(b"\r")) if i >= 0]
            if not ends:
                return b""
            self._dropping = False
            data = data[min(ends) :]
        data = self._carry + data
        cut = data.rfind(b"\n") + 1
        if len(data) - cut > LINE_LIMIT:
            # Progress bars write one endless line; its parts are looked at like lines. The last
            # byte is left: a newline may follow it.
            cut = max(cut, data.rfind(b"\r", 0, len(data) - 1) + 1)
        self._carry = data[cut:]
        if len(self._carry) > LINE_LIMIT:
            self._carry = self._carry[:LINE_LIMIT]
            self._dropping = True
            self.cut_lines += 1
        return data[:cut]
