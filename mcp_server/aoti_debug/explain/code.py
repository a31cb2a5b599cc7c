"""The source of one kernel: Triton text from the wrapper, C++ from the kernels' file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from aoti_debug.explain.names import ModelNames, NamedTensor
from aoti_debug.package.record import Launch, TritonKernel

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

    def at(self, line: int) -> int | None:
        """Return the index of a line of the file; None outside of this kernel."""
        place = line - self.first
        return place if 0 <= place < len(self.lines) else None


def triton_code(kernel: TritonKernel, member: str, wrapper: Sequence[str]) -> Code | None:
    """Return the code of a Triton kernel as the wrapper carries it (torch 2.8 and later)."""
    if kernel.first_line is None:
        return None
    first = kernel.first_line - 1
    held = takewhile(lambda line: line.strip() != "*/", wrapper[first : first + LINES_LIMIT])
    text = textwrap.dedent("\n".join(line[:LINE_LIMIT] for line in held))
    found = _DEF.search(text)
    head = text[found.end() : found.end() + 20_000].partition("):")[0] if found else ""
    return Code("triton", member, first + 1, tuple(text.split("\n")), _parameters(head))


def cpp_code(member: str, lines: Sequence[str], first: int | None) -> Code | None:
    """Return the code of a C++ kernel that begins at the 0-based line `first` of its file."""
    if first is None:
        return None
    numbers = range(first, min(len(lines), first + LINES_LIMIT))
    last = next((n + 1 for n in numbers if lines[n].startswith("}")), len(lines))
    kept = tuple(line[:LINE_LIMIT] for line in lines[first:last])
    head = "\n".join(kept[:400]).partition("(")[2].partition(")\n")[0]
    return Code("cpp", member, first + 1, kept, _parameters(head))


def _parameters(head: str) -> tuple[str, ...]:
    """Return the names of what a function takes, from the text between its parentheses."""
    words = (_PARAMETER.search(word.strip()) for word in head.split(","))
    return tuple(word[1] for word in words if word)


def cpp_kernels(lines: Sequence[str]) -> dict[str, int]:
    """Return the C++ kernels of a file and the 0-based lines where they begin."""
    heads = ((n, _CPP.match(line)) for n, line in enumerate(lines) if line.startswith("extern"))
    return {head[1]: n for n, head in heads if head}


def kernel_at(lines: Sequence[str], line: int) -> str | None:
    """Return the C++ kernel that a line of its file belongs to."""
    heads = (_CPP.match(lines[number]) for number in range(min(line, len(lines)) - 1, -1, -1))
    return next((head[1] for head in heads if head), None)


_WORD = re.compile(r"[A-Za-z_]\w{0,299}")
_RUNTIME = ("this->device_idx_", "stream", "kernels", "this->cubin_dir_", "proxy_executor")
_SIZES = ("ks", "xnumel", "ynumel", "znumel", "r0_numel", "r1_numel", "rnumel")  # parameters
CALL_LIMIT = 20_000  # characters of one call
Kind = Literal["input", "constant", "buffer", "size", "other"]
Direction = Literal["in", "out", "in_out"]
_DIRECTIONS: Mapping[str, Direction] = {"in_out_ptr": "in_out", "in_ptr": "in", "out_ptr": "out"}


@dataclass(frozen=True, slots=True)
class Argument:
    """`parameter` of the kernel, what the wrapper writes there, and what that is."""

    parameter: str
    given: str
    kind: Kind
    value: NamedTensor | None = None
    direction: Direction | None = None


def arguments_of(
    lines: Sequence[str], launch: Launch, code: Code | None, names: ModelNames
) -> list[Argument]:
    """Return the arguments of a launch in their order; parameters are numbered without a source."""
    given = [part for part in call_of(lines, launch) if part not in _RUNTIME]
    parameters = list(code.parameters) if code is not None else []
    found = []
    for place, text in enumerate(given):
        parameter = parameters[place] if place < len(parameters) else f"argument {place}"
        known = (names.values.get(word.removesuffix("_handle")) for word in _WORD.findall(text))
        value, way = next(filter(None, known), None), direction(parameter, place, launch)
        kind: Kind = "size" if parameter.startswith(_SIZES) else "other"
        kind = kind if value is None else value.kind
        found.append(Argument(parameter, text, kind, value, way))
    return found


def direction(parameter: str, place: int, launch: Launch) -> Direction | None:
    for start, way in _DIRECTIONS.items():
        if parameter.startswith(start):
            return way
    if launch.kind == "extern" and launch.kernel.endswith("_out"):
        return "out" if place == 0 else "in"
    return None


def call_of(lines: Sequence[str], launch: Launch) -> list[str]:
    """Return the arguments of the call as the wrapper writes them."""
    text = ""
    for line in lines[launch.line - 1 : launch.line + 40]:
        text += line.strip()
        if line.rstrip().endswith(";") or len(text) > CALL_LIMIT:
            break
    name = launch.kernel.partition("[")[0]
    heads = f"call_{name}(", f"{name}(", "("
    opened = text.find("(", next((text.find(head) for head in heads if head in text), 0))
    return list(split(text[opened + 1 :])) if opened >= 0 else []


def split(text: str) -> Iterator[str]:
    """Yield the arguments of a call up to its closing parenthesis."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            if depth == 0:
                if last := text[begin:place].strip():
                    yield last
                return
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1


def described(value: NamedTensor, names: ModelNames) -> str:
    """Say what a tensor is: `input 0 ids int64 [s23, 32]`."""
    root = names.root(value)
    words = [f"{root.kind} {root.index}" if root.kind == "input" else root.kind, names.called(root)]
    if root.name != value.name:
        words.append(f"(as {value.name})")
    if value.dtype:
        words.append(value.dtype)
    if value.size is not None:
        words.append("[" + ", ".join(value.size) + "]")
    if value.output is not None:
        words.append(f"= output {value.output}")
    return " ".join(words)
