"""Which kernel of a package is meant: by name, by launch, by file, by the text of an assertion."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from aoti_debug.explain.accesses import read_condition
from aoti_debug.explain.code import kernel_at
from aoti_debug.package.record import CompiledModel, Launch

_CONDITION = re.compile(
    r"index out of bounds: ([^\"`\n]{1,300}?)[ \t]{0,9}(?:[`\"]|$)", re.MULTILINE
)
_PLACE = re.compile(r"([\w./-]{1,1000}\.(?:py|cpp)):(\d{1,7})")
_HANDLE = re.compile(r"^(\w{1,300}):(\d{1,7})$")
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: a kernel's name, and where in it, as far as that is said."""

    name: str
    condition: str | None = None
    line: int | None = None  # of the generated C++ file, or of the kernel's own generated .py
    generated: str | None = None  # base name of that file
    launch: int | None = None


@dataclass(frozen=True, slots=True)
class NotFound:
    """No kernel is meant; `nearest` are the names that come closest."""

    asked: str
    nearest: tuple[str, ...]
    why: str = ""


def kernel_names(model: CompiledModel) -> list[str]:
    """Return the names of all that the model launches or holds, each once, in program order."""
    wrapper = model.wrapper
    launched = [launch.kernel for launch in wrapper.launches] if wrapper else []
    held = [kernel.name for kernel in wrapper.kernels] if wrapper else []
    ops = [op.target for op in model.custom_ops]
    return list(dict.fromkeys([*launched, *held, *ops]))


def find(asked: str, model: CompiledModel, cpp: Sequence[str], cpp_file: str) -> Wanted | NotFound:
    """Return what `asked` means; `cpp` are the lines of the C++ kernels' file."""
    text = asked.strip()
    names = kernel_names(model)
    if text in names:
        return Wanted(text)
    if text.isdecimal() and model.wrapper and 0 < int(text) <= len(model.wrapper.launches):
        return Wanted(model.wrapper.launches[int(text) - 1].kernel, launch=int(text))
    if (handle := _HANDLE.match(text)) and handle[1] in names:
        launches = model.wrapper.launches if model.wrapper else ()
        number = next((one.number for one in launches if one.handle == text), None)
        return Wanted(handle[1], launch=number)
    if (said := _CONDITION.search(text)) is not None:
        return _assertion(said[1], text, model, cpp, cpp_file, names)
    if (place := _PLACE.search(text)) is not None and _same(place[1], cpp_file):
        name = kernel_at(cpp, int(place[2]))
        if name is not None:
            return Wanted(name, line=int(place[2]), generated=PurePosixPath(cpp_file).name)
    named = [name for name in names if name in text]
    if named:
        return Wanted(max(named, key=len))
    custom = [
        name
        for name in names
        if text.replace("::", ".").removesuffix(".default") in name.replace("::", ".")
    ]
    if len(custom) == 1:
        return Wanted(custom[0])
    return NotFound(asked[:200], nearest(text, names))


def nearest(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that look most like what was asked for."""
    asked = text[:200].lower()
    parts = [part for part in re.split(r"[\W_]+", asked) if len(part) > 2]
    holding = [name for name in names if any(part in name.lower() for part in parts)]
    pool = holding if holding else list(names)
    close = difflib.get_close_matches(asked, pool[:4000], NEAREST, 0.0)
    return tuple(close[:NEAREST])


def _assertion(
    condition: str,
    text: str,
    model: CompiledModel,
    cpp: Sequence[str],
    cpp_file: str,
    names: Sequence[str],
) -> Wanted | NotFound:
    """Find the kernel with an assertion: by the line that the text names, else the only one."""
    check = read_condition(condition)
    place = _PLACE.search(text)
    line = int(place[2]) if place is not None else None
    generated = PurePosixPath(place[1]).name if place is not None else None
    if place is not None and line is not None and _same(place[1], cpp_file):
        name = kernel_at(cpp, line)
        # The text of another model's kernel may name a line that exists here by chance.
        if name is not None and any(
            check.condition in one for one in cpp[max(0, line - 3) : line + 2]
        ):
            return Wanted(name, check.condition, line, generated)
    spoken = [name for name in names if name in text]
    triton = [
        kernel.name
        for kernel in (model.wrapper.kernels if model.wrapper else ())
        if any(check.condition in one for one in kernel.asserts)
    ]
    inside = [n for n, one in enumerate(cpp, 1) if f'"index out of bounds: {condition}"' in one]
    holding = list(dict.fromkeys([*triton, *(k for n in inside if (k := kernel_at(cpp, n)))]))
    meant = [name for name in spoken if name in holding]
    if len(meant) == 1:
        return Wanted(meant[0], check.condition, line if meant[0] in triton else None, generated)
    if len(holding) == 1:
        return Wanted(
            holding[0], check.condition, line if holding[0] in triton else None, generated
        )
    if holding:
        why = f"{len(holding)} kernels check {check.condition}: name one of them"
        return NotFound(condition, tuple(holding[:NEAREST]), why)
    return NotFound(
        condition, (), f"no kernel of this package checks {check.condition}: it is another model's"
    )


def launches_of(model: CompiledModel, wanted: Wanted) -> list[Launch]:
    """Return the launches of a kernel, or the one that was asked for."""
    launches = model.wrapper.launches if model.wrapper else ()
    own = [launch for launch in launches if launch.kernel == wanted.name]
    return [one for one in own if one.number == wanted.launch] or own


def _same(one: str, other: str) -> bool:
    return bool(other) and PurePosixPath(one).name == PurePosixPath(other).name
