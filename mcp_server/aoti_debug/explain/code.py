"""The source of one kernel: Triton text from the wrapper, C++ from the kernels' file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aoti_debug.package.record import TritonKernel

_CPP = re.compile(r'^extern "C"\s{1,9}void\s{1,9}(\w{1,300})\(')
_DEF = re.compile(r"^def (\w{1,300})\(", re.MULTILINE)
_PARAMETER = re.compile(r"(\w{1,300})\s{0,9}(?::\s{0,9}tl\.constexpr\s{0,9})?$")
LINES_LIMIT = 20_000
LINE_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of one kernel; `first` is the 1-based line of `file` where they begin."""

    language: Literal["triton", "cpp"]
    file: str
    first: int
    lines: tuple[str, ...]
    parameters: tuple[str, ...]
    pointers: tuple[tuple[str, str], ...] = ()  # parameter -> type

    def at(self, line: int) -> int | None:
        """Return the index of a line of the file; None outside of this kernel."""
        place = line - self.first
        return place if 0 <= place < len(self.lines) else None


def triton_code(kernel: TritonKernel, member: str, wrapper: Sequence[str]) -> Code | None:
    """Return the code of a Triton kernel as the wrapper carries it (torch 2.8 and later)."""
    if kernel.first_line is None:
        return None
    found_lines: list[str] = []
    for line in wrapper[kernel.first_line - 1 : kernel.first_line - 1 + LINES_LIMIT]:
        if line.strip() == "*/":
            break
        found_lines.append(line[:LINE_LIMIT])
    lines = tuple(textwrap.dedent("\n".join(found_lines)).split("\n"))
    text = "\n".join(lines)
    found = _DEF.search(text)
    parameters: tuple[str, ...] = ()
    if found is not None:
        head = text[found.end() : found.end() + 20_000].partition("):")[0]
        words = (_PARAMETER.search(word.strip()) for word in head.split(","))
        parameters = tuple(word[1] for word in words if word)
    types = tuple(re.findall(r"'(\w{1,100})': '(\*?\w{1,40})'", text[:40_000]))
    return Code("triton", member, kernel.first_line, lines, parameters, types)


def cpp_code(member: str, lines: Sequence[str], first: int | None) -> Code | None:
    """Return the code of a C++ kernel; `lines` are those of the package's kernel file, `first` is
    the 0-based one where it begins."""
    if first is None:
        return None
    last = len(lines)
    for number in range(first, min(len(lines), first + LINES_LIMIT)):
        if lines[number].startswith("}"):
            last = number + 1
            break
    kept = tuple(line[:LINE_LIMIT] for line in lines[first:last])
    head = "\n".join(kept[:400]).partition("(")[2].partition(")\n")[0]
    words = [part.strip() for part in head.split(",")]
    found = [(m[1], word[: m.start()].strip()) for word in words if (m := _PARAMETER.search(word))]
    names = tuple(name for name, _ in found)
    return Code("cpp", member, first + 1, kept, names, tuple(found))


def cpp_kernels(lines: Sequence[str]) -> dict[str, int]:
    """Return the C++ kernels of a file and the 0-based lines where they begin."""
    heads = ((n, _CPP.match(line)) for n, line in enumerate(lines) if line.startswith("extern"))
    return {head[1]: n for n, head in heads if head}


def kernel_at(lines: Sequence[str], line: int) -> str | None:
    """Return the C++ kernel that a line of its file belongs to."""
    for number in range(min(line, len(lines)) - 1, -1, -1):
        if m := _CPP.match(lines[number]):
            return m[1]
    return None
