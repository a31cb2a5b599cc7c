"""What is said of a kernel: its arguments, sizes, checks, code and what the package lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from aoti_debug.explain import index as indices
from aoti_debug.explain.accesses import checks, unchecked
from aoti_debug.explain.code import Argument, Code
from aoti_debug.explain.find import Wanted
from aoti_debug.explain.index import Index
from aoti_debug.explain.meaning import KernelReader
from aoti_debug.explain.names import ModelNames
from aoti_debug.model import Kernel, SourceLine, source_of
from aoti_debug.package.record import KernelOrigin, Launch
from aoti_debug.plain import window

CODE_LINES = 80
LISTED = 40
SAID = 12  # checks


def kernel_record(
    wanted: Wanted, code: Code | None, launch: Launch | None, place: int | None
) -> Kernel:
    number = launch.number if launch is not None else None
    kind = launch.kind if launch is not None else code.language if code is not None else None
    if code is None:
        return Kernel(name=wanted.name, kind=kind, launch=number)
    return Kernel(
        name=wanted.name,
        kind=kind,
        launch=number,
        file=PurePosixPath(code.file).name,
        line=code.first + (place or 0),
        text=code.lines[place].strip() if place is not None else None,
    )


def sizes_of(arguments: Sequence[Argument], names: ModelNames) -> dict[str, str]:
    """Trace size parameters and the symbols in tensors' sizes to the inputs' dimensions."""
    found = {a.parameter: names.words(a.given) for a in arguments if a.kind == "size"}
    text = " ".join(" ".join(a.value.size or ()) for a in arguments if a.value is not None)
    for symbol in names.symbols:
        if symbol in text and (origin := names.origin(symbol)) is not None:
            known = names.known.get(symbol)
            found.setdefault(symbol, origin + (f" = {known}" if known is not None else ""))
    return dict(list(found.items())[:LISTED])


def checked_words(reader: KernelReader) -> list[str]:
    found = []
    for check in checks(reader.code):
        one = indices.read_index(reader, check)
        lower = "" if check.lower is None else f"{check.lower} <= "
        what = f"{lower}index < {one.bound}; the index is {indices.described(one)}"
        found.append(f"line {reader.code.first + check.place}: {what}")
    return list(dict.fromkeys(found))[:SAID]


def unchecked_words(reader: KernelReader) -> list[str]:
    found = []
    for access in unchecked(reader.code):
        argument = reader.arguments.get(access.pointer)
        value = argument.value if argument is not None else None
        called = reader.names.called(value) if value is not None else access.pointer
        line = reader.code.first + access.place
        found.append(f"line {line}: {access.how} of {called} at {access.offset}")
    return list(dict.fromkeys(found))[:SAID]


def slice_lines(code: Code, found: Index) -> list[str]:
    used = [found.access.place] if found.access is not None else []
    places = dict.fromkeys([*found.slice, found.check.place, *used])
    return [f"{code.first + n}: {code.lines[n].strip()}"[:300] for n in places][:24]


def numbered(code: Code, place: int | None) -> str:
    """Return the kernel's lines with their numbers, those around the line in question if long."""
    count = len(code.lines)
    part = range(count)[window(place or 0, count, CODE_LINES)]
    marks = {place: ">"}
    shown = [f"{marks.get(n, ' ')}{code.first + n:5d} {code.lines[n][:240]}" for n in part]
    if left := count - part.stop:
        shown.append(f"       … {left} more lines")
    return "\n".join(shown)


NO_PROVENANCE = (
    "the package holds no provenance: compile with INDUCTOR_PROVENANCE=1 (torch 2.9 and later; "
    "stage `provenance`) to have the model's lines"
)
NO_SOURCE = (
    "the package holds no source of this kernel (Triton's is in packages of torch 2.8 and later; a "
    "stripped package has none): compile again, TORCH_LOGS=output_code names the files"
)
OF_ATEN = "an extern kernel is a call of ATen: it has no generated source"
WITHOUT_SOURCE = {
    "extern": OF_ATEN,
    "aten": OF_ATEN,
    "custom_op": "a custom operator called through the proxy executor: its source is the user's",
}


def notes(code: Code | None, launches: Sequence[Launch], origin: KernelOrigin | None) -> list[str]:
    """Say what the package does not hold, and what would."""
    found = []
    kind = launches[0].kind if launches else None
    if origin is None and not (launches and launches[0].nodes):
        found.append(NO_PROVENANCE)
    if code is None and kind in (None, "triton", "cpp", "cuda"):
        found.append(NO_SOURCE)
    if kind in WITHOUT_SOURCE:
        found.append(WITHOUT_SOURCE[kind])
    if len(launches) > 1:
        found.append(f"the arguments are those of launch {launches[0].number}")
    return found


def lines_of(
    origin: KernelOrigin | None, found: Index | None, names: ModelNames
) -> list[SourceLine]:
    """Return the model's lines; of an index the one that calls the module of its table first."""
    frames = list(origin.source) if origin is not None else []
    if found is not None and found.table is not None:
        module = names.called(found.table).split(".")[-2:][0]
        frames.sort(key=lambda frame: 0 if f".{module}(" in (frame.text or "") else 1)
    return source_of(*frames[:8])
