"""Candidates from GPU exceptions: core dumps and the memory checker."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aoti_debug.diagnose.calls import at_line, phase_at_end, traceback_phase
from aoti_debug.diagnose.from_trial import COMPILING, candidate, in_trial
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Fault, Fix, Kernel, Phase
from aoti_debug.read.record import (
    DeviceAssert,
    GpuException,
    Launches,
    PythonException,
    SanitizerError,
)

GUIDE = "guides/cuda-illegal-memory-access.md"
INDEX_GUIDE = "guides/triton-index-out-of-bounds.md"
# Part of what cuda-gdb or the driver calls the exception, lower case -> category.
EXCEPTIONS: tuple[tuple[str, Category], ...] = (
    ("misaligned", "misaligned_address"),
    ("assert", "index_out_of_bounds"),
    ("address", "illegal_memory_access"),
    ("out of range", "illegal_memory_access"),
    ("mmu", "illegal_memory_access"),
    ("stack overflow", "kernel_resources"),
    ("illegal instruction", "kernel_resources"),
)
LEAK = "Leaked "
FAR = 1 << 40  # bytes: more than any GPU has, so the pointer was never near the allocation
# An instruction that reaches memory: its operation, then what it is told, like E.128 or E.U8.
_ACCESS = re.compile(r"(?:@!?U?P\d+ )?(LDG|LD|STG|ST|ATOMG|ATOM|REDG|RED)((?:\.\w+)*) ")
_SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
BY_TOOL: dict[str, tuple[Category, str]] = {
    "memcheck": ("illegal_memory_access", "{kernel}: invalid {access}{place}"),
    "initcheck": ("wrong_result", "{kernel} reads uninitialized memory{place}"),
    "racecheck": ("concurrency", "threads of {kernel} race on shared memory{place}"),
    "synccheck": ("hang", "{kernel} uses a barrier wrongly{place}"),
}

LEAKS = "guides/memory-and-time.md#leaks"
LEAKED = Kind("performance", "run", Tier.NOTICE, LEAKS, "symptom", "proved")


def candidates(observations: Observations) -> Iterator[Candidate]:
    core = core_of(observations)
    if core is not None and core.exception and not observations.of(DeviceAssert):
        yield from_core(observations, core)
    for position, found in enumerate(observations.of(SanitizerError)):
        if found.what.startswith(LEAK):
            yield from_leak(found, position)
        elif found.access != "assert":
            yield from_sanitizer(observations, found, position)


def core_of(observations: Observations) -> GpuException | None:
    """Return the first exception; what cuda-gdb says of it before what the driver says."""
    found = observations.of(GpuException)
    return min(found, key=lambda one: one.source != "cuda-gdb", default=None)


def access_of(found: GpuException) -> tuple[str, int | None] | None:
    """Return what the faulting instruction does to memory, and to how many bytes."""
    match = _ACCESS.match(found.instruction or "")
    if match is None or found.start_only:
        return None
    if match[1].startswith(("ATOM", "RED")):
        return "atomic", None
    sizes = [_SIZES[word] for word in match[2].split(".") if word in _SIZES]
    return "read" if match[1].startswith("LD") else "write", sizes[-1] if sizes else 4


def category_of(exception: str) -> Category:
    text = exception.lower().replace("_", " ")
    return next((c for part, c in EXCEPTIONS if part in text), "illegal_memory_access")


def gpu_phase(observations: Observations) -> Phase:
    """A kernel can fault in two phases: at run time, and while Inductor times it."""
    phase = phase_at_end(observations)
    if phase is not None:
        return "autotune" if phase in COMPILING else phase
    phases = {traceback_phase(observations, e) for e in observations.of(PythonException)}
    return "autotune" if phases & {"autotune", "lower"} else "run"


def phase_unknown(observations: Observations) -> bool:
    """Tell whether nothing shows in which of the two phases it was."""
    told = any(map(observations.of, (PythonException, Launches, SanitizerError)))
    return not observations.run.probed and not told


def kernel_of(found: GpuException, *, reached: bool = False) -> Kernel | None:
    """Return the kernel of an exception. Where it only shows how far a kernel has come (`reached`:
    the core dump of a hang) or its start, the line is not the one that faulted."""
    if found.kernel is None:
        return None
    known = reached or not found.start_only
    return Kernel(
        name=found.kernel,
        kind="triton" if found.kernel.startswith("triton_") or ends_py(found.file) else "cuda",
        file=found.file,
        line=found.line if known else None,
        text=found.text if known else None,
    )


def ends_py(file: str | None) -> bool:
    return (file or "").endswith(".py")


def from_core(observations: Observations, found: GpuException) -> Candidate:
    category = category_of(found.exception)
    phase = gpu_phase(observations)
    place = at_line(found.file, found.line)
    access, size = access_of(found) or (None, None)
    place += f", {'an' if access == 'atomic' else 'a'} {access}" if access else ""
    place += f" of {size} bytes" if size else ""
    when = ", while Inductor tuned it" if phase == "autotune" else ""
    unknown = "in a call or while Inductor tuned it: this log does not show which"
    asserted = category == "index_out_of_bounds"  # generated kernels assert on indices alone
    generated = (found.kernel or "").startswith("triton_")
    kernel = kernel_of(found)
    if asserted and generated and kernel is not None and in_trial(observations):
        return candidate(observations, found, kernel)
    return Kind(category, phase, Tier.CORE_DUMP, INDEX_GUIDE if asserted else GUIDE).found(
        f"{found.exception.rstrip('.')} in kernel {found.kernel or 'unknown'}{place}{when}",
        found.span,
        confidence=("likely" if generated else "possible") if asserted else "proved",
        signature=observations.signature_at(found.span),
        means=unknown if phase_unknown(observations) else None,
        kernel=kernel,
        fault=Fault(access=access, size=size, block=found.block, thread=found.thread),
    )


def from_sanitizer(observations: Observations, found: SanitizerError, position: int) -> Candidate:
    kernel = plain_name(found.kernel) if found.kernel else "a kernel"
    place = at_line(found.file, found.line)
    known = observations.signature_at(found.span)
    access = f"{found.access} of {found.size} bytes" if found.access and found.size else found.what
    (category, words), memory = BY_TOOL[found.tool], found.tool == "memcheck"
    if memory and "misaligned" in found.what.lower():
        category = "misaligned_address"
    return Kind(
        category,
        "run",
        Tier.MEMORY_CHECK if memory else Tier.SPECIFIC_TEXT,
        GUIDE if category != "hang" else "guides/threads-streams-hangs.md",
    ).found(
        words.format(kernel=kernel, access=access, place=place),
        found.span,
        confidence="proved" if memory else "likely",
        signature=known,
        means=distance(found) if memory else None,
        kernel=Kernel(
            name=kernel,
            kind="triton" if ends_py(found.file) else "cuda",
            file=found.file,
            line=found.line,
        )
        if found.kernel
        else None,
        fault=fault_of(found),
        fixes=[Fix(what=fix) for fix in known.fixes] if known else [],
        advisory=True,
        order=position,
    )


def from_leak(found: SanitizerError, position: int) -> Candidate:
    said = found.what[0].lower() + found.what[1:]
    return LEAKED.found(f"the program {said} of GPU memory", found.span, order=position)


def distance(found: SanitizerError) -> str | None:
    """Say in words how far the access was from an allocation."""
    if found.distance is None or found.side == "inside":
        return None
    if found.distance >= FAR:
        return "far from any allocation: a host pointer or none"
    size = f" of {found.allocation_size:,} bytes" if found.allocation_size is not None else ""
    return f"{found.distance:,} bytes {found.side} an allocation{size}"


def plain_name(kernel: str) -> str:
    """Return a kernel's name without the parameter types that a C++ one is shown with."""
    return kernel.split("(")[0].strip() or kernel


def fault_of(found: SanitizerError) -> Fault:
    near = (found.distance or 0) < FAR
    begin = found.allocation_address
    return Fault(
        access=found.access,
        size=found.size,
        address=hex(found.address) if found.address is not None else None,
        distance=found.distance if near else None,
        side=found.side if near else None,
        allocation=found.allocation_size if near else None,
        allocated_at=hex(begin) if near and begin is not None else None,
        block=found.block,
        thread=found.thread,
    )
