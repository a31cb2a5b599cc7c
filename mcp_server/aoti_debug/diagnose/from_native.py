"""What a native stack says: the phase, the kernel, and the place in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import LIBRARIES, spot
from aoti_debug.diagnose.from_package import launch_at_crash, launch_named
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Evidence, Fault, Fix, Kernel, Phase, SourceLine, source_of
from aoti_debug.plain import times
from aoti_debug.read.record import FaultHandlerDump, NativeBacktrace, NativeFrame

if TYPE_CHECKING:
    from aoti_debug.read.check_report import Overrun

KERNEL = re.compile(r"(?:void )?(cpp_[a-z]\w{1,500}|triton_[a-z]\w{1,500})")
LOADING = ("AOTIModelPackageLoader::AOTIModelPackageLoader", "AOTInductorModelContainerCreate")
# Where the C and C++ of torch, of Python and of a build's own machine lies.
OF_OTHERS = (
    *LIBRARIES,
    "/usr/include/",
    "../",
    "./",
    "/build/",
    "/Python-3.",
    "Python/",
    "Modules/",
    "Objects/",
)
ABOUT = 160


WRITES_OUTSIDE = Kind("host_segfault", "run", Tier.MEMORY_CHECK, "guides/host-crash.md#heap-errors")
OTHER_FORM = Fix(
    what="compile with inductor_configs={'cpp.simdlen': 1}, or write the operators of this kernel "
    "in another form (a clone between them), and verify",
    why="Inductor's vectorized code stores whole vectors, also where a buffer ends",
)


def overran(one: Overrun) -> str:
    """Say which kernel writes outside which buffer, and how far."""
    sides = (("past the end", one.behind), ("before the start", one.ahead))
    said = " and ".join(f"{times(count, 'byte')} {side}" for side, count in sides if count)
    name = f" {one.argument}" if one.argument else ""
    return f"{one.kernel} writes {said} of its buffer{name} of {times(one.bytes, 'byte')}"


def of_redzones(observations: Observations) -> Iterator[Candidate]:
    """Yield the kernel that wrote into the red zone of a buffer."""
    report = observations.checks.redzones
    one = report.overrun if report is not None else None
    if report is None or one is None:
        return
    launch, model = launch_named(observations, one.kernel), observations.model
    if launch is not None and model is not None and launch.kind == "custom_op":
        one = one.model_copy(update={"kernel": model.operator_of(launch)})
    kernel = Kernel(name=one.kernel, launch=launch.number if launch is not None else None)
    signal = observations.ending.signal if observations.ending is not None else None
    yield WRITES_OUTSIDE.found(
        overran(one),
        report.artifact,
        confidence="proved",
        kernel=kernel,
        fault=Fault(signal=signal),
        fixes=[OTHER_FORM] if one.kernel.startswith("cpp_") else [],
    )


def stack_of(observations: Observations) -> NativeBacktrace | None:
    """Return the stack that reaches into the model, else the first: of the thread that stopped,
    or of the main thread where all were taken."""
    stacks = [stack for stack in observations.of(NativeBacktrace) if stack.frames]
    inside = (stack for stack in stacks if stack.in_model or kernel_frame(stack))
    return next(inside, stacks[0] if stacks else None)


def kernel_frame(stack: NativeBacktrace) -> NativeFrame | None:
    """Return the innermost frame of a generated kernel: all that a worker thread has of a model."""
    return next((frame for frame in stack.frames if KERNEL.match(frame.function)), None)


def native_kernel(observations: Observations) -> Kernel | None:
    """Return the kernel that the stack was in: its own frame, else the launch of its line."""
    stack = stack_of(observations)
    frame = kernel_frame(stack) if stack is not None else None
    if frame is not None and (name := KERNEL.match(frame.function)):
        launch = launch_named(observations, name[1])
        return Kernel(
            name=name[1],
            kind="cpp" if name[1].startswith("cpp_") else "triton",
            file=frame.file,
            line=frame.line,
            launch=launch.number if launch else None,
        )
    crashed = launch_at_crash(observations)
    if crashed is None:
        return None
    return Kernel(name=crashed.kernel, kind=crashed.kind, launch=crashed.number)


def native_phase(observations: Observations) -> Phase | None:
    stack = stack_of(observations)
    if stack is None:
        return None
    if stack.in_model or kernel_frame(stack):
        return "run"
    return "load" if any(word in f.function for f in stack.frames for word in LOADING) else None


def place(observations: Observations) -> str:
    """Say in words where the native stack was; empty when there is none."""
    stack = stack_of(observations)
    if stack is None:
        return ""
    kernel = native_kernel(observations)
    inside = stack.in_model
    line = ""
    if inside is not None and inside.line and (inside.file or "").endswith(".cpp"):
        line = f"line {inside.line} of the model's wrapper.cpp"
    if kernel is not None:
        at = f" ({where})" if (where := spot(kernel.file, kernel.line)) else ""
        return ", ".join(word for word in (f"kernel {kernel.name}{at}", line) if word)
    if line:
        return line
    frame = users_frame(stack) or (None if python_tells(observations) else stack.frames[0])
    if frame is None:
        return ""
    at = f" ({where})" if (where := spot(frame.file, frame.line)) else ""
    return f"{frame.function[:ABOUT]}{at}"


def python_tells(observations: Observations) -> bool:
    """Tell whether the Python stack is known, which says more than the interpreter's frames."""
    return any(dump.frames for dump in observations.of(FaultHandlerDump))


def users_frame(stack: NativeBacktrace) -> NativeFrame | None:
    """Return the innermost frame of the user's own C++ files."""
    return next(
        (f for f in stack.frames if f.file and not any(part in f.file for part in OF_OTHERS)), None
    )


def native_source(observations: Observations) -> list[SourceLine]:
    stack = stack_of(observations)
    frame = users_frame(stack) if stack is not None else None
    if frame is None or frame.file is None or frame.line is None:
        return []
    generated = frame.file.endswith((".wrapper.cpp", ".kernel.cpp")) or KERNEL.match(frame.function)
    return [] if generated else source_of((frame.file, frame.line))


def native_evidence(observations: Observations) -> list[Evidence]:
    """Quote the frame that tells most: the kernel's or the model's own, else the innermost."""
    stack = stack_of(observations)
    if stack is None:
        return []
    shown = [frame for frame in (kernel_frame(stack), stack.in_model) if frame is not None]
    if not shown and users_frame(stack) is None and python_tells(observations):
        return []
    lines = (stack.span.first, stack.span.last)
    return [
        Evidence(artifact=stack.span.artifact, lines=lines, quote=quote(frame))
        for frame in dict.fromkeys(shown or [users_frame(stack) or stack.frames[0]])
    ]


def quote(frame: NativeFrame) -> str:
    at = f" at {frame.file}:{frame.line}" if frame.file else ""
    return f"#{frame.index} {frame.function[:ABOUT]}{at}"
