"""Candidates from index assertions of generated kernels."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.calls import base_name, input_named, phase_at_end
from aoti_debug.diagnose.from_trial import candidate, in_trial
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence
from aoti_debug.explain.out_of_bounds import Blame, of_value, size_finding, worst
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Evidence, Fault, Fix, Kernel
from aoti_debug.read.record import DeviceAssert, GpuException
from aoti_debug.vocabulary import Leaf

GUIDE = "guides/triton-index-out-of-bounds.md"
FIND = Fix(
    what="find the index: the model computes it, or it comes from an input that was not "
    "recorded; compare it with the size of the indexed dimension"
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    asserts = observations.of(DeviceAssert)
    trial = bool(asserts) and in_trial(observations)
    for position, found in enumerate(asserts):
        if found.upper is None:
            continue
        if found.block is not None and trial:
            yield of_trial(observations, found)
            return
        known = observations.signature_at(found.span)
        suspects = outside(observations, found)
        long = None if compared(observations, found, suspects) else longer(observations, found)
        culprit = suspects[0] if len(suspects) == 1 and long is None else None
        sure = culprit is None or is_certain(observations, found)
        blame = blamed(observations, found, suspects)
        if long is not None:
            sure, blame = False, of_length(observations, found, *long)
        yield Kind(
            "index_out_of_bounds",
            phase_at_end(observations) or "run",
            Tier.ASSERTION,
            known.guide if known else GUIDE,
        ).found(
            blame.summary,
            found.span,
            *held(observations, culprit),
            confidence="proved" if sure else "likely",
            signature=known,
            kernel=Kernel(
                name=kernel_name(observations, found),
                kind="cpp" if found.block is None else "triton",
                file=found.file,
                line=found.line,
            ),
            input=blame.input,
            fault=Fault(access="assert", block=found.block, thread=found.thread),
            fixes=blame.fixes,
            order=position,
        )


def of_trial(observations: Observations, found: DeviceAssert) -> Candidate:
    dumped = next((e.kernel for e in observations.of(GpuException) if e.kernel), None)
    name = dumped or kernel_name(observations, found)
    kernel = Kernel(name=name, kind="triton", file=found.file, line=found.line)
    return candidate(observations, found, kernel, f"{found.lower or 0} <= index < {found.upper}")


def held(observations: Observations, culprit: Leaf | None) -> list[Evidence]:
    """Return what the probe recorded of the value, in a call that did not return."""
    call = observations.run.call if culprit is not None else None
    return [evidence(call.span)] if call is not None and not call.ok else []


def users_name(observations: Observations, given: Leaf) -> str | None:
    """Return the user's name of an input, as far as it is known."""
    known = input_named(observations, given.index) if given.index is not None else None
    return known or given.name


def kernel_name(observations: Observations, found: DeviceAssert) -> str:
    """Return the kernel's name: as printed, else of the package's only kernel with this assertion
    (of several, in this line), else its file's."""
    if found.function and found.function != "unknown":
        return found.function
    models = observations.package.models if observations.package else ()
    wrappers = (one.wrapper for one in models if one.wrapper is not None)
    checking = (one.checking(found.condition, found.line) for one in wrappers)
    names = {kernel.name for kernels in checking for kernel in kernels}
    return names.pop() if len(names) == 1 else base_name(found.file)


def bound(text: str | None) -> int | None:
    """Return a bound that is a plain number (`1000`, `1000L`); None for a symbol like `ks0`."""
    digits = (text or "").strip().rstrip("Ll")
    return int(digits) if digits.lstrip("-").isdigit() and len(digits) < 20 else None


def outside(observations: Observations, found: DeviceAssert) -> list[Leaf]:
    """Return the integer inputs of the failing call that may have been the index: the one that the
    kernel's source loads it from, where that is known, else all that leave the asserted bounds.
    Generated code wraps negative indices once, so -upper is still inside."""
    call, upper = observations.run.call, bound(found.upper)
    if call is None or upper is None:
        return []
    known = observations.origins.get((found.file, found.line, found.condition))
    return [
        given
        for given in call.inputs
        if leaves(given, upper)
        and (known is None or given.index == known.index)
        # What an earlier call held too, and returned, is not what the kernel refused.
        and (known is not None or not any(leaves(i, upper) for i in before(observations, given)))
    ]


def leaves(given: Leaf, upper: int) -> bool:
    """Tell whether an input holds an integer that is no index below `upper`."""
    low, high = given.min, given.max
    return low is not None and high is not None and (int(high) >= upper or int(low) < -upper)


def before(observations: Observations, given: Leaf) -> list[Leaf]:
    """Return what this input was in the calls of the same model that had returned before. The
    integers of the failing call were read, so the GPU had done with those."""
    run, call = observations.run, observations.run.call
    if call is None or call.ok:
        return []
    return [
        one
        for other in run.calls
        if (other.pid, other.model, other.package, other.ok)
        == (call.pid, call.model, call.package, True)
        and (other.call or 0) < (call.call or 0)
        for one in other.inputs
        if one.index == given.index
    ]


def compared(observations: Observations, found: DeviceAssert, suspects: list[Leaf]) -> bool:
    """Tell whether these inputs were the index for sure, or hold what no call before them held:
    of a call that returned on a GPU the values are not always known."""
    if (found.file, found.line, found.condition) in observations.origins:
        return bool(suspects)
    return any(one.max is not None for i in suspects for one in before(observations, i))


def longer(observations: Observations, found: DeviceAssert) -> tuple[Leaf, int] | None:
    """Return the first input with a dimension that is larger than the bound, as in no call that
    returned before, and that dimension: positions are counted from a size."""
    call, upper = observations.run.call, bound(found.upper)
    if call is None or upper is None:
        return None
    for given in call.inputs:
        earlier = [one.shape for one in before(observations, given)]
        for dim, size in enumerate(given.shape or ()):
            fit = [len(shape) > dim and shape[dim] <= upper for shape in earlier if shape]
            if size > upper and fit and all(fit):
                return given, dim
    return None


def of_length(observations: Observations, found: DeviceAssert, given: Leaf, dim: int) -> Blame:
    name, size = users_name(observations, given), (given.shape or ())[dim]
    words = (
        f"an index that the model computes is outside 0 <= index < {found.upper}: "
        f"{name or f'input {given.index}'} has {size} elements in dimension {dim}, and in the "
        f"calls before at most {found.upper}"
    )
    return Blame(words, size_finding(given.index, name, dim, found.upper or "", size), [FIND])


def is_certain(observations: Observations, found: DeviceAssert) -> bool:
    """Tell whether the input that is named must be the index: by its source, or as the only one."""
    call = observations.run.call
    integers = [given for given in call.inputs if given.max is not None] if call else []
    return (found.file, found.line, found.condition) in observations.origins or len(integers) < 2


def blamed(observations: Observations, found: DeviceAssert, suspects: list[Leaf]) -> Blame:
    """Blame the input that holds the index; say where it comes from, if several may, or none."""
    upper = bound(found.upper)
    if len(suspects) == 1 and upper is not None:
        given = suspects[0]
        own = given.index, users_name(observations, given)
        return of_value(*own, *worst(given, upper), upper, given=given)
    words = (
        f"an index is out of bounds: {found.lower or 0} <= {found.index or 'index'} < "
        f"{found.upper} does not hold"
    )
    known = observations.origins.get((found.file, found.line, found.condition))
    if suspects:
        names = [users_name(observations, one) or f"input {one.index}" for one in suspects[:4]]
        words += f" ({' and '.join(names)} hold such values)"
    elif known is not None and known.index is None:
        words += "; the index is computed inside the model"
    elif known is not None and known.index is not None:
        name = input_named(observations, known.index) or f"input {known.index}"
        words += f"; the index is an element of {name}"
    return Blame(words, None, [FIND])
