"""Which kernel of a package is meant, and which launches made what it reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from aoti_debug.errors import UnknownKernel
from aoti_debug.explain.accesses import IndexCheck
from aoti_debug.explain.code import Argument, Code, arguments_of, cpp_code, kernel_at, triton_code
from aoti_debug.explain.index import Producer
from aoti_debug.explain.meaning import KernelReader
from aoti_debug.explain.names import ModelNames, NamedTensor
from aoti_debug.package.record import CompiledModel, Launch
from aoti_debug.read.record import DeviceAssert

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


def kernel_names(model: CompiledModel) -> list[str]:
    """Return the names of all that the model launches or holds, each once, in program order."""
    wrapper = model.wrapper
    launched = [launch.kernel for launch in wrapper.launches] if wrapper else []
    held = [kernel.name for kernel in wrapper.kernels] if wrapper else []
    ops = [op.target for op in model.custom_ops]
    return list(dict.fromkeys([*launched, *held, *ops]))


def find(asked: str | DeviceAssert, model: CompiledModel, texts: Texts, package: str) -> Wanted:
    """Return the kernel of the package that `asked` means: by its name, a launch, a line of the C++
    kernels' file, or a failed check, as it was read or as text.

    Raises:
        UnknownKernel: it has no such kernel; the nearest names are told.
    """
    if isinstance(asked, DeviceAssert):
        kernels = [asked.function] if asked.function else []
        return find_check(asked.condition, asked.file, asked.line, kernels, model, texts)
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
    named = [name for name in names if name in text]
    place = _PLACE.search(text)
    file, line = (place[1], int(place[2])) if place is not None else (None, None)
    if (said := _CONDITION.search(text)) is not None:
        return find_check(said[1], file, line, named, model, texts)
    if file is not None and line is not None and texts.holds(file):
        name = kernel_at(texts.cpp, line)
        if name is not None:
            return Wanted(name, line=line, generated=texts.cpp_file)
    if named:
        return Wanted(max(named, key=len))
    operator = text.replace("::", ".").removesuffix(".default")
    custom = [name for name in names if operator in name.replace("::", ".")]
    if len(custom) == 1:
        return Wanted(custom[0])
    near = ", ".join(nearest(text, names))
    raise UnknownKernel(
        f"{package} has no kernel {' '.join(asked[:200].split())[:120]!r}",
        help=f"The nearest: {near}." if near else "It launches no kernel.",
    )


def nearest(text: str, names: Sequence[str]) -> list[str]:
    asked = text[:200].lower()
    parts = [part for part in re.split(r"[\W_]+", asked) if len(part) > 2]
    holding = [name for name in names if any(part in name.lower() for part in parts)]
    return difflib.get_close_matches(asked, (holding or names)[:4000], NEAREST, 0.0)


def find_check(
    condition: str,
    file: str | None,
    line: int | None,
    kernels: Sequence[str],
    model: CompiledModel,
    texts: Texts,
) -> Wanted:
    """Find the kernel with a check: by the line that is named, else the only one (of those)."""
    condition, cpp = condition.removeprefix("index out of bounds: ").strip(), texts.cpp
    generated = PurePosixPath(file).name if file is not None else None
    if file is not None and line is not None and texts.holds(file):
        name = kernel_at(cpp, line)
        # The text of another model's kernel may name a line that exists here by chance.
        if name is not None and any(condition in one for one in cpp[max(0, line - 3) : line + 2]):
            return Wanted(name, condition, line, generated)
    triton = [
        one.name for one in (model.wrapper.checking(condition, line) if model.wrapper else ())
    ]
    inside = [n for n, one in enumerate(cpp, 1) if f'"index out of bounds: {condition}"' in one]
    holding = list(dict.fromkeys([*triton, *(k for n in inside if (k := kernel_at(cpp, n)))]))
    for names in ([name for name in kernels if name in holding], holding):
        if len(names) == 1:
            own = line if names[0] in triton else None
            return Wanted(names[0], condition, own, generated)
    if holding:
        why = f"{len(holding)} kernels check {condition}: name one of them"
        raise UnknownKernel(why, help=f"The nearest: {', '.join(holding[:NEAREST])}.")
    raise UnknownKernel(
        f"no kernel of this package checks {condition}: it is another model's",
        help="Give the package of the call that failed, or a kernel's name.",
    )


CHAIN = 6


@dataclass(frozen=True, slots=True)
class Texts:
    """The generated sources of a model: the wrapper, and the file of its C++ kernels."""

    wrapper: Sequence[str] = ()
    cpp: Sequence[str] = ()
    cpp_file: str = ""
    starts: Mapping[str, int] = field(default_factory=dict)  # C++ kernel -> 0-based line

    def holds(self, file: str) -> bool:
        """Tell whether a file, wherever it lies, is the one of the C++ kernels."""
        return bool(self.cpp_file) and PurePosixPath(file).name == self.cpp_file


@dataclass(frozen=True, slots=True)
class Program:
    """A model of a package, its generated sources, and what the names in them stand for."""

    model: CompiledModel
    texts: Texts
    names: ModelNames


def code_of(program: Program, name: str) -> Code | None:
    """Return the source of a kernel, None for extern kernels and stripped packages."""
    wrapper, texts = program.model.wrapper, program.texts
    if wrapper is None:
        return None
    kernel = next((k for k in wrapper.kernels if k.name == name), None)
    if kernel is not None and kernel.first_line is not None:
        return triton_code(kernel, wrapper.member, texts.wrapper)
    return cpp_code(texts.cpp_file, texts.cpp, texts.starts.get(name))


def producers_of(reader: KernelReader, check: IndexCheck, program: Program) -> Iterable[Producer]:
    """Yield the launches that made the buffers which a checked index is loaded from."""
    for source in reader.meaning(check.index, check.place).sources:
        value = source.argument.value if source.argument is not None else None
        made = maker_of(value, program) if value is not None and value.kind == "buffer" else None
        if made is not None:
            yield made


def maker_of(buffer: NamedTensor, program: Program, before: int | None = None) -> Producer | None:
    """Return the last launch that writes a buffer, and the tensors it reads."""
    names, wrapper, lines = program.names, program.model.wrapper, program.texts.wrapper
    root = names.root(buffer)
    named = re.compile(rf"\b(?:{re.escape(buffer.name)}|{re.escape(root.name)})\b")
    for launch in reversed(wrapper.launches if wrapper else ()):
        if before is not None and launch.line >= before:
            continue
        text = lines[launch.line - 1] if launch.line <= len(lines) else ""
        if not named.search(text):
            continue
        arguments = arguments_of(lines, launch, code_of(program, launch.kernel), names)
        tensors = [(a, names.root(a.value)) for a in arguments if a.value is not None]
        ours = [a for a, of in tensors if of.name == root.name]
        if any(writes(a, launch) for a in ours):
            others = (of for a, of in tensors if a not in ours and not writes(a, launch))
            return Producer(launch, tuple(dict.fromkeys(map(names.called, others))))
    return None


def writes(argument: Argument, launch: Launch) -> bool:
    if argument.direction is not None:
        return argument.direction != "in"
    return argument.given.startswith("&") or (
        launch.kind == "triton" and not argument.parameter.startswith("in_")
    )


def chain_of(launch: Launch | None, arguments: Sequence[Argument], program: Program) -> list[str]:
    """Say which launches made the buffers that a launch reads."""
    if launch is None:
        return []
    found = []
    for argument in arguments:
        value = argument.value
        if value is None or value.kind != "buffer" or argument.direction == "out":
            continue
        made = maker_of(value, program, launch.line)
        if made is not None:
            ops = f" ({', '.join(made.launch.ops[:4])})" if made.launch.ops else ""
            reads = f" from {', '.join(made.reads[:4])}" if made.reads else ""
            by = f"launch {made.launch.number} {made.launch.kernel}{ops}{reads}"
            found.append(f"{argument.parameter} {value.name}: {by}")
        if len(found) >= CHAIN:
            break
    return found
