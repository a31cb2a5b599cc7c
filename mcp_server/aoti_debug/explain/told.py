"""What is said of a kernel: its arguments, sizes, checks, code and what the package lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aoti_debug.explain import index as indices
from aoti_debug.explain.accesses import checks, unchecked
from aoti_debug.explain.index import Index
from aoti_debug.explain.names import Names, Value
from aoti_debug.explain.package import Code
from aoti_debug.model import Kernel, SourceLine
from aoti_debug.package.record import KernelOrigin, Launch

if TYPE_CHECKING:
    from aoti_debug.explain.find import Wanted

CODE_LINES = 80
LISTED = 40
SAID = 12  # checks


def kernel_record(
    wanted: Wanted, code: Code | None, launch: Launch | None, place: int | None
) -> Kernel:
    kind = launch.kind if launch is not None else code.language if code is not None else None
    line = (
        code.first + place
        if code is not None and place is not None
        else code.first
        if code is not None
        else None
    )
    text = code.lines[place].strip() if code is not None and place is not None else None
    return Kernel(
        name=wanted.name,
        kind=kind,
        launch=launch.number if launch is not None else None,
        file=base_name(code.file) if code is not None else None,
        line=line,
        text=text,
    )


def argument_words(argument: Argument, names: Names) -> str:
    if argument.value is not None:
        return described(argument.value, names)
    return names.words(argument.given)


def sizes_of(arguments: Sequence[Argument], names: Names) -> dict[str, str]:
    """Trace size parameters and the symbols in tensors' sizes to the inputs' dimensions."""
    found = {a.parameter: names.words(a.given) for a in arguments if a.kind == "size"}
    text = " ".join(" ".join(a.value.size or ()) for a in arguments if a.value is not None)
    for symbol, _ in names.symbols.items():
        if symbol in text and (origin := names.origin(symbol)) is not None:
            known = names.known.get(symbol)
            found.setdefault(symbol, origin + (f" = {known}" if known is not None else ""))
    return dict(list(found.items())[:LISTED])


def checked_words(code: Code | None, arguments: Mapping[str, Argument], names: Names) -> list[str]:
    if code is None:
        return []
    found = []
    for check in checks(code):
        one = indices.read_index(code, check, arguments, names, (), ())
        lower = "" if check.lower is None else f"{check.lower} <= "
        what = f"{lower}index < {one.bound}; the index is {indices.described(one, names)}"
        found.append(f"line {code.first + check.place}: {what}")
    return list(dict.fromkeys(found))[:SAID]


def unchecked_words(
    code: Code | None, arguments: Mapping[str, Argument], names: Names
) -> list[str]:
    if code is None:
        return []
    found = []
    for access in unchecked(code):
        argument = arguments.get(access.pointer)
        called = (
            names.called(argument.value)
            if argument is not None and argument.value is not None
            else access.pointer
        )
        found.append(
            f"line {code.first + access.place}: {access.how} of {called} at {access.offset}"
        )
    return list(dict.fromkeys(found))[:SAID]


def slice_lines(code: Code | None, found: Index | None) -> list[str]:
    if code is None or found is None:
        return []
    places = [*found.slice, found.check.place]
    if found.access is not None:
        places.append(found.access.place)
    return [
        f"{code.first + place}: {code.lines[place].strip()}"[:300]
        for place in dict.fromkeys(places)
    ][:24]


def numbered(code: Code | None, place: int | None) -> str | None:
    """Return the kernel's lines with their numbers, those around the line in question if long."""
    if code is None:
        return None
    first = 0
    if len(code.lines) > CODE_LINES:
        first = max(0, min((place or 0) - CODE_LINES // 2, len(code.lines) - CODE_LINES))
    shown = []
    for n in range(first, min(len(code.lines), first + CODE_LINES)):
        mark = ">" if n == place else " "
        shown.append(f"{mark}{code.first + n:5d} {code.lines[n][:240]}")
    if first + CODE_LINES < len(code.lines):
        shown.append(f"       … {len(code.lines) - first - CODE_LINES} more lines")
    return "\n".join(shown)


NO_PROVENANCE = (
    "the package holds no provenance: compile with INDUCTOR_PROVENANCE=1 (torch 2.9 and later; "
    "stage `provenance`) to have the model's lines"
)
NO_SOURCE = (
    "the package holds no source of this kernel (Triton's is in packages of torch 2.8 and later; a "
    "stripped package has none): compile again, TORCH_LOGS=output_code names the files"
)
EXTERN = "an extern kernel is a call of ATen: it has no generated source"
CUSTOM = "a custom operator called through the proxy executor: its source is the user's"


def notes(code: Code | None, launches: Sequence[Launch], origin: KernelOrigin | None) -> list[str]:
    """Say what the package does not hold, and what would."""
    found = []
    launch = launches[0] if launches else None
    if origin is None and not (launch is not None and launch.nodes):
        found.append(NO_PROVENANCE)
    if code is None and (launch is None or launch.kind in ("triton", "cpp", "cuda")):
        found.append(NO_SOURCE)
    if launch is not None and launch.kind in ("extern", "aten"):
        found.append(EXTERN)
    if launch is not None and launch.kind == "custom_op":
        found.append(CUSTOM)
    if len(launches) > 1:
        found.append(f"the arguments are those of launch {launches[0].number}")
    return found


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def lines_of(origin: KernelOrigin | None, found: Index | None, names: Names) -> list[SourceLine]:
    """Return the model's lines; of an index the one that calls the module of its table first."""
    frames = list(origin.source) if origin is not None else []
    if found is not None and found.table is not None:
        module = names.called(found.table).split(".")[-2:][0]
        frames.sort(key=lambda frame: 0 if f".{module}(" in frame[2] else 1)
    return [SourceLine(file=file, line=line, text=text) for file, line, text in frames[:8]]


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
