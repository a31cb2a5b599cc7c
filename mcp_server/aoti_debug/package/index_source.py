"""Follow an index that a kernel checks back to where it was loaded from: an input, or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from aoti_debug.package.documents import member_text
from aoti_debug.package.record import CompiledModel, Launch, Wrapper

_ASSIGNED = re.compile(r"\s*(?:auto |const auto |int64_t |int32_t )?(tmp\d{1,6}) = (.{1,2000})")
_TEMPORARY = re.compile(r"\btmp\d{1,6}\b")
_POINTER = re.compile(r"\bin(?:_out)?_ptr\d{1,4}\b")
_NAME = re.compile(r"(\w{1,300})\s*(?::\s*tl\.constexpr\s*)?$")
_INPUT = re.compile(r"auto (\w{1,200}) = std::move\(inputs\[(\d{1,6})\]\);")
_BUFFER = re.compile(r"\bbuf\d{1,6}\b")
_SEARCHED = 3000  # lines above the check


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a checked index comes from: input number `index`, or with None the model itself."""

    index: int | None


def origin(
    package: Path, model: CompiledModel, file: str, line: int, condition: str, variable: str
) -> Origin | None:
    """Return what a check of `variable` in a kernel looks at; None where that cannot be followed.

    `file` and `line` are of generated C++; a Triton kernel is found by its `condition`.
    """
    wrapper = model.wrapper
    if wrapper is None:
        return None
    source, at = checked(package, wrapper, file, line, condition)
    pointer = loaded_from(source, at, variable)
    if pointer is None:
        return None
    kernel, place = parameter(source, at, pointer)
    text = member_text(package, wrapper.member)
    if place is None or text is None:
        return None
    return argument(text.split("\n"), wrapper.launches, kernel, place)


def checked(
    package: Path, wrapper: Wrapper, file: str, line: int, condition: str
) -> tuple[Sequence[str], int]:
    """Return the source of the kernel with the check, and the 0-based line of the check."""
    if PurePosixPath(file).suffix == ".cpp":
        text = member_text(package, file)
        return (text.split("\n"), line - 1) if text is not None else ((), 0)
    holding = [
        (lines, number)
        for kernel in wrapper.kernels
        for lines in [(kernel.source or "").split("\n")]
        for number, found in enumerate(lines)
        if "device_assert" in found and condition in found
    ]
    if len(holding) > 1:  # the file that Triton was given has these lines
        holding = [(lines, number) for lines, number in holding if number == line - 1]
    return holding[0] if len(holding) == 1 else ((), 0)


def loaded_from(source: Sequence[str], at: int, variable: str) -> str | None:
    """Return the one pointer that `variable` was loaded from, following what is nearest above."""
    wanted = {variable}
    found: set[str] = set()
    for line in reversed(source[max(0, at - _SEARCHED) : at]):
        assigned = _ASSIGNED.match(line)
        if assigned is None or assigned[1] not in wanted:
            continue
        wanted.discard(assigned[1])
        pointers = _POINTER.findall(assigned[2])
        found.update(pointers)
        if not pointers:
            wanted.update(_TEMPORARY.findall(assigned[2]))
        if not wanted:
            break
    return found.pop() if len(found) == 1 and not wanted else None


def parameter(source: Sequence[str], at: int, pointer: str) -> tuple[str, int | None]:
    """Return the kernel's name and the position of `pointer` among its parameters."""
    text = "\n".join(source[:at])
    head = max(text.rfind('extern "C"'), text.rfind("\ndef "), 0 if text.startswith("def ") else -1)
    if head < 0:
        return "", None
    name, opened, rest = text[head:].partition("(")
    names = [_NAME.search(word.strip()) for word in rest.partition(")")[0].split(",")]
    places = [number for number, found in enumerate(names) if found and found[1] == pointer]
    kernel = _NAME.search(name.strip())
    return (kernel[1] if kernel and opened else ""), (places[0] if places else None)


def argument(
    wrapper: Sequence[str], launches: Sequence[Launch], kernel: str, place: int
) -> Origin | None:
    """Return what the wrapper passes to a kernel that it launches once."""
    own = [launch for launch in launches if launch.kernel == kernel]
    if len(own) != 1 or own[0].line > len(wrapper):
        return None
    inputs = {found[1]: int(found[2]) for line in wrapper if (found := _INPUT.search(line))}
    words = wrapper[own[0].line - 1].partition("(")[2].split(", ")
    if place >= len(words):
        return None
    given = [inputs[name] for name in re.findall(r"\w+", words[place]) if name in inputs]
    if given:
        return Origin(given[0])
    return Origin(None) if _BUFFER.search(words[place]) else None
