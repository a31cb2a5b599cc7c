"""Look at what each kernel of a package reads and writes in one call, and say which is wrong."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from aoti_debug.examine.answers import FirstWrong, KernelValues, TensorValues, ValuesAnswer
from aoti_debug.examine.launches import launch_words, launches_of, model_of, origin_of
from aoti_debug.examine.process import (
    ExamineRequest,
    examine_request,
    examined,
    extended,
    file_of,
    of_run,
    with_inputs,
)
from aoti_debug.examine.values_repro import kernel_scripts
from aoti_debug.explain.values import lines
from aoti_debug.model import SourceLine, source_of
from aoti_debug.package.record import CompiledModel, Launch
from aoti_debug.plain import digits, plain
from aoti_debug.read.examine_reports import (
    Argument,
    Compared,
    Launched,
    Like,
    Place,
    Seen,
    ValuesReport,
)
from aoti_debug.triage.run_state import RunState

ROWS = 40  # of the answer; all are in the report
NAME = 44  # characters of a kernel's name in a headline
BEFORE = 4  # of them before the one in question


@dataclass(frozen=True, slots=True)
class ValuesRequest(ExamineRequest):
    """`kernel` is a name or the number of a launch, whose tensors are kept."""

    _: KW_ONLY
    kernel: str | None = None
    against: Path | None = None


def values_request(
    what: str,
    *,
    kernel: str | None = None,
    against: str | os.PathLike[str] | None = None,
    **given: Any,
) -> ValuesRequest:
    """Resolve a package or run, and what to compare with; see `examine_request`."""
    request = with_inputs(examine_request(what, **given))
    other = file_of(against, "against", given) if against is not None else None
    return extended(ValuesRequest, request, kernel=kernel, against=other)


async def values(state: RunState, request: ValuesRequest) -> ValuesAnswer:
    """Call the package once and say what its kernels read and wrote; raise NotExamined."""
    model = await anyio.to_thread.run_sync(model_of, request.call, request.model)
    words = await anyio.to_thread.run_sync(launch_words, model, state.directory.path)
    words += ["--against", str(request.against)] if request.against is not None else []
    words += ["--kernel", request.kernel] if request.kernel is not None else []
    report, ran = await examined(state, request, "values", ValuesReport, *words)
    state.done(state.step("values", "one call, each kernel looked at", ran))
    given = report.launches, model, request.call.package, ran.directory
    scripts = await anyio.to_thread.run_sync(kernel_scripts, *given)
    return answer(state, request, report, model).model_copy(update={"kernel_scripts": scripts})


def answer(
    state: RunState, request: ValuesRequest, report: ValuesReport, model: CompiledModel | None
) -> ValuesAnswer:
    """Say what was seen, the launches around the one in question first."""
    first, nan = first_wrong(report, model), report.nan
    marks = {nan.number: "first NaN"} if nan is not None else {}
    if first is not None:
        marks[first.number] = "first wrong"
    asked = [
        one.number for one in report.launches if request.kernel in (one.kernel, str(one.number))
    ]
    centre = asked[0] if asked else min(marks, default=1)
    begin = max(0, min(centre - 1 - BEFORE, len(report.launches) - ROWS))
    rows = [row(one, model, marks.get(one.number)) for one in report.launches]
    notes = [f"{name} is called directly and was not seen" for name in report.unseen[:8]]
    if report.not_decomposed:
        notes.append(f"values within an operator have no reference: {report.not_decomposed}")
    if request.kernel is not None and not asked:
        notes.append(f"no launch is {request.kernel!r}: give a name or a number of the list")
    compared = report.compared or Compared()
    state.notes += notes
    return ValuesAnswer(
        **of_run(state, request),
        summary=summary(report, first),
        compared=compared.verdict or None,
        reference=compared.reference or None,
        first=first,
        nan=nan.number if nan is not None else None,
        launches=[rows[n - 1] for n in asked][:ROWS] or rows[begin : begin + ROWS],
        launches_count=len(report.launches),
        steps=state.steps,
    )


def summary(report: ValuesReport, first: FirstWrong | None) -> str:
    """Return the headline: the first wrong kernel, else the first NaN, else that all agrees."""
    count = f"{len(report.launches)} launches"
    if (refused := report.refused) is not None:
        return f"launch {refused.number}, {refused.kernel}, refuses its arguments: {refused.said}"
    if first is not None:
        at = f"[{', '.join(map(str, first.at))}]"
        wrong = f"{first.argument}{at} is {digits(first.got)}, not {digits(first.expected)}"
        place = f"launch {first.number}, {plain(first.kernel, NAME)}, is the first that is wrong"
        return f"{place}: {wrong}" if first.expected is not None else place
    if report.nan is not None:
        kernel = report.launches[report.nan.number - 1].kernel
        return f"NaN first appears in launch {report.nan.number}, {kernel}, which reads none"
    compared = report.compared.verdict if report.compared is not None else ""
    if compared == "agrees":
        return f"{count} seen; the results agree with the reference"
    if compared == "differs":
        return f"{count} seen; the results differ from the reference, and no launch explains it"
    return f"{count} seen"


def first_wrong(report: ValuesReport, model: CompiledModel | None) -> FirstWrong | None:
    first = report.first
    if first is None or not 0 < first.number <= len(report.launches):
        return None
    launch = report.launches[first.number - 1]
    argument = next((one for one in launch.arguments if one.name == first.argument), Argument())
    like, inside = argument.like or Like(), first.inside
    place = like.first_wrong or Place()
    stack = inside.stack if inside is not None else like.stack
    return FirstWrong(
        number=first.number,
        kernel=launch.kernel,
        argument=first.argument,
        node=like.node or None,
        op=like.op or None,
        at=list(place.at),
        got=place.package,
        expected=place.expected,
        wrong=like.wrong,
        inside=f"{inside.node}, fused into it, is {inside.exact}: {inside.wrapped} in 32 bits"
        if inside is not None
        else None,
        source=lines(stack) or model_lines(launch, model),
        then=list(first.then),
    )


def row(launch: Launched, model: CompiledModel | None, mark: str | None) -> KernelValues:
    places, known = model_lines(launch, model), stated(launch, model)
    arguments = [
        tensor(argument, seen, written=seen is argument.after)
        for argument in launch.arguments
        for seen in (argument.before, argument.after)
        if seen is not None
    ]
    return KernelValues(
        number=launch.number,
        kernel=launch.kernel,
        kind=launch.kind,
        line=f"{places[-1].file}:{places[-1].line}" if places else None,
        ops=list(known.ops[:8]) if known is not None else [],
        grid=list(launch.grid),
        sizes=launch.sizes or {},
        arguments=arguments,
        mark=mark,
    )


def stated(launch: Launched, model: CompiledModel | None) -> Launch | None:
    known, number = launches_of(model), launch.source or 0
    return known[number - 1] if 0 < number <= len(known) else None


def model_lines(launch: Launched, model: CompiledModel | None) -> list[SourceLine]:
    """Return the model's lines: as the package says them, else of the values it agrees with."""
    origin = origin_of(stated(launch, model), model)
    if origin is not None and origin.source:
        return source_of(origin.source[0])
    likes = [one.like for one in launch.arguments if one.like is not None and one.agrees]
    return next((found for like in reversed(likes) if (found := lines(like.stack))), [])


def tensor(argument: Argument, seen: Seen, *, written: bool) -> TensorValues:
    like = argument.like if written and argument.agrees else None
    held = {**asdict(seen), "digest": seen.digest or None}
    node = like.node if like is not None else None
    return TensorValues(name=argument.name, written=written, like=node, **held)
