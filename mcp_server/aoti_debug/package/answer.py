"""Turn what was found into the answer of `inspect_package`: flat, lists with their counts."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

from aoti_debug.answers import (
    EnvironmentAnswer,
    PackageAnswer,
    PackageConstant,
    PackageDim,
    PackageInput,
    PackageLaunch,
    PackageModel,
    Problem,
)
from aoti_debug.model import SourceLine
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.contract import contract, one_line
from aoti_debug.package.graph_capture import blockers
from aoti_debug.package.host_facts import host_facts
from aoti_debug.package.record import CompiledModel, Input, Launch, Library, Package, Wrapper

FORMATS = {
    "root": ".pt2, entries at the root",
    "prefixed": ".pt2, entries below one folder",
    "library": "bare shared library",
    "directory": "directory",
    "exported_program": "exported program (torch.export.save)",
    "unknown": "not a package",
}
CHECKS = {
    "environment": "only while AOTI_RUNTIME_CHECK_INPUTS=1 is set at the first call",
    "always": "at every call (compiled with AOT_INDUCTOR_DEBUG_COMPILE=1)",
    "none": "never: compile again with torch 2.7 or later, or AOT_INDUCTOR_DEBUG_COMPILE=1",
}
INPUTS, LAUNCHES, MODELS, ITEMS = 40, 60, 12, 20  # described of each; the counts are whole


def answer(
    package: Package,
    environment: EnvironmentAnswer | None = None,
    *,
    check_inputs: str | None = None,
) -> PackageAnswer:
    """Return the answer for a package on this machine; `check_inputs` as in `inspect.answer`."""
    problems = will_it_load(package, host_facts(environment))
    return PackageAnswer(
        package=str(package.path)[:500],
        format=FORMATS[package.layout],
        bytes=package.bytes,
        written_by=f"torch {package.written_by}" if package.written_by else None,
        models=[_model(model) for model in package.models[:MODELS]],
        models_count=len(package.models),
        problems=[_short(problem) for problem in problems[:ITEMS]],
        problems_count=len(problems),
        loads_here=_verdict(package, problems, environment),
        check_inputs=check_inputs,
    )


def _verdict(
    package: Package, problems: list[Problem], environment: EnvironmentAnswer | None
) -> Literal["yes", "no", "may fail", "unknown"]:
    proved = any(p.severity == "breaks" and p.confidence == "proved" for p in problems)
    if proved or not package.models:
        return "no"
    if any(p.severity in ("breaks", "may_break") for p in problems):
        return "may fail"
    return "yes" if environment is not None and environment.torch else "unknown"


def _short(problem: Problem) -> Problem:
    cut = {"what": problem.what[:400], "message": problem.message and problem.message[:400]}
    return problem.model_copy(update=cut)


def _model(model: CompiledModel) -> PackageModel:
    wrapper, library = model.wrapper or Wrapper("", 0), model.library or Library("")
    inputs, launches, constants = wrapper.inputs, wrapper.launches, wrapper.constants
    build = wrapper.build
    return PackageModel(
        name=model.name,
        device=model.device,
        metadata={k[:60]: v[:120] for k, v in list(model.metadata.items())[:12]},
        inputs=[_input(one) for one in inputs[:INPUTS]],
        inputs_count=len(inputs),
        outputs_count=wrapper.outputs,
        arguments_count=wrapper.leaves,
        symbols={s.name: s.expression[:120] for s in wrapper.symbols[:20]},
        input_checks=CHECKS[wrapper.checks] if model.wrapper else None,
        launches=[_launch(model, one) for one in launches[:LAUNCHES]],
        launches_count=len(launches),
        triton_kernels=len(wrapper.kernels),
        architectures=sorted({a for b in model.binaries for a in b.architectures})[:20],
        constants=[
            PackageConstant(name=c.fqn or c.name, dtype=c.dtype, shape=list(c.shape), kind=c.kind)
            for c in constants[:ITEMS]
        ],
        constants_count=len(constants),
        constants_bytes=sum(c.bytes for c in constants),
        constants_where=_where(model),
        custom_ops=list(dict.fromkeys(op.target[:100] for op in model.custom_ops))[:20],
        needs=list(library.needed[:20]),
        versions=dict(library.versions),
        machine=library.machine,
        compiled_by=f"{build.compiler}, {build.torch}"[:300] if build else None,
        notes=_notes(model),
    )


def _input(one: Input) -> PackageInput:
    return PackageInput(
        index=one.index,
        name=one.name[:100],
        dtype=one.dtype,
        device=one.device,
        dims=[PackageDim(**vars(d)) for d in one.dims] if one.dims is not None else None,
        text=one_line(one)[:300],
    )


def _launch(model: CompiledModel, one: Launch) -> PackageLaunch:
    origin = model.origin_of(one.kernel, one)
    source = origin.source[:2] if origin else ()
    kernels = model.wrapper.kernels if model.wrapper else ()
    known = next((k for k in kernels if k.name == one.kernel), None)
    return PackageLaunch(
        number=one.number,
        kernel=(model.operator_of(one) if one.kind == "custom_op" else one.kernel)[:150],
        kind=one.kind,
        ops=list(one.ops[:8]),
        nodes=list((one.nodes or (origin.nodes_before if origin else ()))[:8]),
        source=[
            SourceLine(file=one.file[-200:], line=one.line, text=(one.text or "")[:160])
            for one in source
        ],
        binary=known.binary if known else None,
    )


def _where(model: CompiledModel) -> str | None:
    wrapper = model.wrapper
    if wrapper is None or not wrapper.constants:
        return None
    if wrapper.weights_in_library is False:
        return "beside the library, in the package" if model.weights else "not in the package"
    return "in the library"


def _notes(model: CompiledModel) -> list[str]:
    found: list[str] = []
    wrapper = model.wrapper
    if wrapper is None:
        return ["no wrapper source: inputs, kernels and constants are not known"]
    others = contract(wrapper).others
    if others:
        found.append(
            f"{others} argument(s) of a call are no tensors: their values at export are "
            "compiled in, other values are ignored silently"
        )
    barred = [one for one in blockers(model) if one.blocks]
    if barred:
        more = f" and {len(barred) - 1} more" if len(barred) > 1 else ""
        found.append(f"a CUDA graph cannot hold its calls: {barred[0].what}{more}")
    if wrapper.truncated:
        found.append("the wrapper's source is very long: only its beginning was read")
    if wrapper.printer:
        found.append("compiled with the intermediate value printer: slow, prints at every call")
    if model.library and PurePosixPath(model.library.member).suffix == "" and not wrapper.inputs:
        found.append("the model takes no tensor")
    return found
