"""Explain one kernel of a package: what it is, what it gets, what it checks, whose line it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from aoti_debug.answers import ExplainAnswer
from aoti_debug.explain import describe
from aoti_debug.explain import index as indices
from aoti_debug.explain.accesses import IndexCheck, checks
from aoti_debug.explain.code import Argument, Code, arguments_of, described
from aoti_debug.explain.find import Program, Texts, Wanted, chain_of, code_of, producers_of
from aoti_debug.explain.meaning import KernelReader
from aoti_debug.explain.names import read_names
from aoti_debug.model import SourceLine
from aoti_debug.package.record import CompiledModel, KernelOrigin, Launch
from aoti_debug.plain import few, named
from aoti_debug.vocabulary import Leaf

_GENERATED = "@triton_heuristics.user_autotune("


def is_users(code: Code) -> bool:
    """Tell whether a Triton kernel was written by the user rather than by Inductor."""
    return code.language == "triton" and any(_GENERATED in line for line in code.lines[:200])


def find_in(
    code: Code, name: str, place: int | None, files: Iterable[tuple[str, str]]
) -> SourceLine | None:
    """Return the user's line of a kernel: where the body of `def NAME(` is that of the copy.

    `place` is the line in question within the copy, None for the kernel itself; `files` are paths
    and texts.
    """
    starts = [(n, line.lstrip()) for n, line in enumerate(code.lines)]
    own = next((n for n, line in starts if line.startswith(f"def {name}(")), None)
    if own is None:  # Inductor numbers kernels (`scale_0`) and leaves the function its name
        defined = (n for n, line in starts if line.startswith("def "))
        own = next((n for n in defined if starts[n - 1][1].startswith("@triton.jit")), None)
    if own is None:
        return None
    head = code.lines[own].lstrip().partition("(")[0] + "("
    copy = _body(code.lines[own:])
    for path, text in files:
        if head not in text:
            continue
        lines = text.split("\n")
        for begin, line in enumerate(lines):
            if line.lstrip().startswith(head) and _alike(copy, _body(lines[begin:])):
                return _line(code, own, place, path, lines, begin)
    return None


def _body(lines: Iterable[str]) -> list[str]:
    """Return the statements of a function, without comments, blanks and layout."""
    kept: list[str] = []
    margin: int | None = None
    for line in lines:
        text = line.partition("#")[0].strip()
        indent = len(line) - len(line.lstrip())
        if not text:
            continue
        if margin is None:
            margin = indent
        elif indent <= margin and not text.startswith(")"):
            break
        kept.append("".join(text.split()))
    return kept


def _alike(copy: list[str], body: list[str]) -> bool:
    # The copy of an old package may differ in annotations of the head; its statements may not.
    return "".join(copy) == "".join(body) or (len(copy) > 2 and copy[1:] == body[1:])


def _line(
    code: Code, own: int, place: int | None, path: str, lines: list[str], begin: int
) -> SourceLine:
    at = begin
    if place is not None and place > own:
        wanted = "".join(code.lines[place].split())
        near = begin + (place - own)
        order = sorted(range(begin, min(len(lines), begin + 2000)), key=lambda n: abs(n - near))
        at = next((n for n in order if "".join(lines[n].split()) == wanted), begin)
    return SourceLine(file=path, line=at + 1, text=lines[at].strip())


Files = Callable[[], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Looked:
    """A kernel as its launches call it, and the check in question with its place."""

    program: Program
    launches: Sequence[Launch]
    code: Code | None
    arguments: Sequence[Argument]  # of the first launch
    reader: KernelReader | None
    check: IndexCheck | None
    place: int | None


def look(model: CompiledModel, texts: Texts, wanted: Wanted, inputs: Sequence[Leaf] = ()) -> Looked:
    """Read the source of a kernel and what its launches give it."""
    assert model.wrapper is not None
    program = Program(model, texts, read_names(model.wrapper, texts.wrapper, inputs))
    own = [launch for launch in model.wrapper.launches if launch.kernel == wanted.name]
    launches = [one for one in own if one.number == wanted.launch] or own
    code = code_of(program, wanted.name)
    names = program.names
    arguments = arguments_of(texts.wrapper, launches[0], code, names) if launches else []
    by_name = {argument.parameter: argument for argument in arguments}
    reader = KernelReader(code, by_name, names) if code is not None else None
    return Looked(program, launches, code, arguments, reader, *check_of(code, wanted))


def explain(
    model: CompiledModel,
    texts: Texts,
    wanted: Wanted,
    inputs: Sequence[Leaf] = (),
    files: Files = lambda: (),
) -> ExplainAnswer:
    """Explain a kernel from the package, and from the inputs of a call where one was seen. `files`
    yields the user's modules, asked only for a kernel that the user wrote."""
    seen = look(model, texts, wanted, inputs)
    program, launches, code, reader = seen.program, seen.launches, seen.code, seen.reader
    arguments, check, place, names = seen.arguments, seen.check, seen.place, program.names
    launch = launches[0] if launches else None
    found = None
    if reader is not None and check is not None:
        producers = list(producers_of(reader, check, program))
        found = indices.read_index(reader, check, producers, inputs)
    blame = None
    if found is not None and wanted.condition is not None:
        ops = [op for producer in found.producers for op in producer.launch.ops]
        blame = indices.blame(found, names, [*ops, *(launch.ops if launch is not None else ())])
    origin = model.origin_of(wanted.name, launch)
    users = None
    if code is not None and is_users(code):
        users = find_in(code, wanted.name, place, files())
    return ExplainAnswer(
        kernel=describe.kernel_record(wanted, code, launch, place),
        summary=blame.summary if blame else summary(named(wanted.name), launches, origin),
        category="index_out_of_bounds" if blame else None,
        confidence=("proved" if found and found.leaves else "likely") if wanted.condition else None,
        input=blame.input if blame else None,
        source=describe.lines_of(origin, found, names),
        user_kernel=users,
        ops=list(dict.fromkeys(op for one in launches for op in one.ops))[: describe.LISTED],
        nodes=list(origin.nodes if origin else launch.nodes if launch else ())[: describe.LISTED],
        launches=[one.number for one in launches][: describe.LISTED],
        launches_count=len(launches),
        arguments={
            a.parameter: described(a.value, names) if a.value else names.words(a.given)
            for a in arguments[: describe.LISTED]
        },
        sizes=describe.sizes_of(arguments, names),
        checked=describe.checked_words(reader) if reader else [],
        unchecked=describe.unchecked_words(reader) if reader else [],
        slice=describe.slice_lines(code, found) if code and found else [],
        chain=chain_of(launch, arguments, program),
        code=describe.numbered(code, place) if code else None,
        fixes=blame.fixes if blame else [],
        notes=describe.notes(code, launches, origin),
    )


def check_of(code: Code | None, wanted: Wanted) -> tuple[IndexCheck | None, int | None]:
    """Return the check in question and its place: on the named line, else with the condition."""
    if code is None:
        return None, None
    named = wanted.line is not None and wanted.generated == PurePosixPath(code.file).name
    place = code.at(wanted.line) if named and wanted.line is not None else None
    if wanted.condition is None:
        return None, place
    having = [check for check in checks(code) if check.condition == wanted.condition]
    if not having:
        return None, place
    chosen = next((check for check in having if check.place == place), having[0])
    return chosen, chosen.place


def summary(name: str, launches: Sequence[Launch], origin: KernelOrigin | None) -> str:
    """Say of which operators a kernel is made, and how often it is launched."""
    ops = list(dict.fromkeys(op for launch in launches for op in launch.ops))
    nodes = (origin.nodes_before or origin.nodes) if origin is not None else ()
    parts = ops or [f"node {node}" for node in nodes]
    what = few(parts, 8) or "no operators named"
    count = len(launches)
    times = {0: "not launched", 1: "launched once"}.get(count, f"launched {count} times")
    line = f"; from {origin.source[0]}" if origin and origin.source else ""
    return f"{name}: {what}; {times}{line}"
