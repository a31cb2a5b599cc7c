"""Which launches made what a kernel reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aoti_debug.explain.accesses import Check
from aoti_debug.explain.arguments import Argument, arguments_of
from aoti_debug.explain.code import Code, cpp_code, triton_code
from aoti_debug.explain.index import Producer
from aoti_debug.explain.meaning import Reader
from aoti_debug.explain.names import Names, Value
from aoti_debug.package.record import CompiledModel, Launch

CHAIN = 6


@dataclass(frozen=True, slots=True)
class Texts:
    """The generated sources of a model: the wrapper, and the file of its C++ kernels."""

    wrapper: Sequence[str] = ()
    cpp: Sequence[str] = ()
    cpp_file: str = ""
    starts: Mapping[str, int] = field(default_factory=dict)  # C++ kernel -> 0-based line


def code_of(model: CompiledModel, texts: Texts, name: str) -> Code | None:
    """Return the source of a kernel, None for extern kernels and stripped packages."""
    wrapper = model.wrapper
    if wrapper is None:
        return None
    kernel = next((k for k in wrapper.kernels if k.name == name), None)
    if kernel is not None and kernel.first_line is not None:
        return triton_code(kernel, wrapper.member, texts.wrapper)
    return cpp_code(texts.cpp_file, texts.cpp, name, texts.starts.get(name))


def producers_of(
    code: Code,
    check: Check,
    arguments: Mapping[str, Argument],
    model: CompiledModel,
    texts: Texts,
    names: Names,
) -> Iterable[Producer]:
    """Yield the launches that made the buffers which a checked index is loaded from."""
    meaning = Reader(code, arguments, names).meaning(check.index, check.place)
    for source in meaning.sources:
        value = source.argument.value if source.argument is not None else None
        if value is not None and value.kind == "buffer":
            made = maker_of(value.name, model, texts, names)
            if made is not None:
                yield Producer(made[0], tuple(made[1]))


def maker_of(
    buffer: str, model: CompiledModel, texts: Texts, names: Names, before: int | None = None
) -> tuple[Launch, list[str]] | None:
    """Return the last launch that writes a buffer, and the tensors it reads."""
    root = names.root(buffer)
    if root is None or model.wrapper is None:
        return None
    named = re.compile(rf"\b(?:{re.escape(buffer)}|{re.escape(root.name)})\b")
    for launch in reversed(model.wrapper.launches):
        if before is not None and launch.line >= before:
            continue
        text = texts.wrapper[launch.line - 1] if launch.line <= len(texts.wrapper) else ""
        if not named.search(text):
            continue
        arguments = arguments_of(texts.wrapper, launch, code_of(model, texts, launch.kernel), names)
        ours = [a for a in arguments if a.value is not None and roots(a.value, names) == root.name]
        if any(writes(a, launch) for a in ours):
            reads = [
                names.called(names.root(a.value.name) or a.value)
                for a in arguments
                if a.value is not None and a not in ours and not writes(a, launch)
            ]
            return launch, list(dict.fromkeys(reads))
    return None


def roots(value: Value, names: Names) -> str:
    return (names.root(value.name) or value).name


def writes(argument: Argument, launch: Launch) -> bool:
    if argument.direction is not None:
        return argument.direction != "in"
    return argument.given.startswith("&") or (
        launch.kind == "triton" and not argument.parameter.startswith("in_")
    )


def chain_of(
    launch: Launch | None,
    arguments: Sequence[Argument],
    model: CompiledModel,
    texts: Texts,
    names: Names,
) -> list[str]:
    """Say which launches made the buffers that a launch reads."""
    if launch is None:
        return []
    found = []
    for argument in arguments:
        value = argument.value
        if value is None or value.kind != "buffer" or argument.direction == "out":
            continue
        made = maker_of(value.name, model, texts, names, launch.line)
        if made is not None:
            ops = f" ({', '.join(made[0].ops[:4])})" if made[0].ops else ""
            reads = f" from {', '.join(made[1][:4])}" if made[1] else ""
            by = f"launch {made[0].number} {made[0].kernel}{ops}{reads}"
            found.append(f"{argument.parameter} {value.name}: {by}")
        if len(found) >= CHAIN:
            break
    return found
