"""What a launch passes to a kernel: every parameter with what it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from aoti_debug.explain.code import Code
from aoti_debug.explain.names import Names, Value
from aoti_debug.package.record import Launch

_WORD = re.compile(r"[A-Za-z_]\w{0,299}")
_RUNTIME = ("this->device_idx_", "stream", "kernels", "this->cubin_dir_", "proxy_executor")
CALL_LIMIT = 20_000  # characters of one call


@dataclass(frozen=True, slots=True)
class Argument:
    """`parameter` of the kernel, what the wrapper writes there, and what that is."""

    parameter: str
    given: str
    kind: Literal["input", "constant", "buffer", "size", "other"]
    value: Value | None = None
    direction: Literal["in", "out", "in_out"] | None = None


def arguments_of(
    lines: Sequence[str], launch: Launch, code: Code | None, names: Names
) -> list[Argument]:
    """Return the arguments of a launch in their order; parameters are numbered without a source."""
    given = [part for part in call_of(lines, launch) if part not in _RUNTIME]
    parameters = list(code.parameters) if code is not None else []
    found = []
    for place, text in enumerate(given):
        parameter = parameters[place] if place < len(parameters) else f"argument {place}"
        value = tensor_in(text, names)
        kind = value.kind if value is not None else "other"
        if value is None and parameter.startswith(
            ("ks", "xnumel", "ynumel", "znumel", "r0_numel", "r1_numel", "rnumel")
        ):
            kind_of: Literal["size", "other"] = "size"
            found.append(Argument(parameter, text, kind_of))
            continue
        found.append(Argument(parameter, text, kind, value, direction(parameter, place, launch)))
    return found


def direction(parameter: str, place: int, launch: Launch) -> Literal["in", "out", "in_out"] | None:
    if parameter.startswith("in_out_ptr"):
        return "in_out"
    if parameter.startswith("in_ptr"):
        return "in"
    if parameter.startswith("out_ptr"):
        return "out"
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
    start = text.find("call_" + name + "(")
    start = start if start >= 0 else text.find(name + "(")
    start = start if start >= 0 else text.find("(")
    opened = text.find("(", start)
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


def tensor_in(text: str, names: Names) -> Value | None:
    """Return the tensor that an argument names."""
    for word in _WORD.findall(text):
        value = names.values.get(word.removesuffix("_handle"))
        if value is not None:
            return value
    return None


def described(value: Value, names: Names) -> str:
    """Say what a tensor is: `input 0 ids int64 [s23, 32]`."""
    root = names.root(value.name) or value
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
