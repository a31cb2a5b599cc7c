"""Candidates from the package itself: what breaks its loading, and its contract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import input_named, opaque, phase_at_end
from aoti_debug.diagnose.from_input_check import breaking
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Evidence, Fix
from aoti_debug.probe.nesting import PROPERTY
from aoti_debug.read.record import NativeBacktrace, PythonException, RuntimeMessage

if TYPE_CHECKING:
    from aoti_debug.package.record import CompiledModel, Flaw, Launch, Package
    from aoti_debug.read.event_records import Call
    from aoti_debug.vocabulary import Break, Place

INTERNAL = re.compile(r"arg\d+_\d+")
LOAD = "guides/package-and-load.md"
LOADING = ("load", "constants", "run", "package")


def candidates(observations: Observations) -> Iterator[Candidate]:
    package = observations.package
    if package is None:
        return
    yield from from_flaws(observations, package)
    call, model = observations.run.call, observations.model
    if call is not None and model is not None:
        yield from from_contract(observations, package, model, call)


def from_flaws(observations: Observations, package: Package) -> Iterator[Candidate]:
    """What the package's files say would break; it counts when the process did die of loading."""
    loading = opaque(observations) or phase_at_end(observations) in LOADING
    if not (observations.failed and loading):
        return
    for position, flaw in enumerate(package.flaws):
        if flaw.severity == "breaks" or (flaw.severity == "may_break" and said(observations, flaw)):
            yield from_flaw(package, flaw, position)


def said(observations: Observations, flaw: Flaw) -> bool:
    """Tell whether the process failed in the very words that this flaw leads to."""
    words = [one.message for one in observations.of(PythonException)]
    words += [one.message for one in observations.of(RuntimeMessage)]
    return bool(flaw.message) and any(str(flaw.message) in text for text in words)


def from_flaw(package: Package, flaw: Flaw, position: int) -> Candidate:
    guide = "guides/toolchain.md" if flaw.category == "toolchain" else LOAD
    return Kind(flaw.category, "load", Tier.PACKAGE_FILE, guide).found(
        flaw.what,
        evidence(artifact_of(package), flaw.where or flaw.what),
        confidence=flaw.confidence,
        fixes=[Fix(what=flaw.fix)] if flaw.fix else [],
        order=position,
    )


def device_index(observations: Observations, call: Call) -> int | None:
    """Return the device that the package of a call was loaded for, where the script named one."""
    own = observations.run.of_package(call, "load")
    return own[-1].details.device_index if own else None


def from_contract(
    observations: Observations, package: Package, model: CompiledModel, call: Call
) -> Iterator[Candidate]:
    for position, broken in enumerate(broken_by(observations, model, call)):
        proofs = artifact_of(package), described(call, broken.index)
        found = breaking(broken, Tier.CONTRACT, *proofs, order=position)
        nested = broken.property == PROPERTY
        yield found.but(source=observations.run.source(call)) if nested else found


def broken_by(observations: Observations, model: CompiledModel, call: Call) -> list[Break]:
    """Hold a call against the contract that the package's own source states; inputs have the names
    by which the user knows them."""
    from aoti_debug.package.contract import check_call, contract  # a log needs none, and is fast

    device = device_index(observations, call)
    found = check_call(contract(model), call.inputs, device, call.nesting)
    return [as_the_user_names_it(observations, one) for one in found]


def as_the_user_names_it(observations: Observations, broken: Break) -> Break:
    """Replace the compiler's own name of an input (`arg2_1`) by the user's, or by none."""
    known = input_named(observations, broken.index) if broken.index is not None else None
    renamed = known is not None or INTERNAL.fullmatch(broken.name or "")
    if broken.property == PROPERTY or not renamed:  # the first: of an argument that holds several
        return broken
    return replace(broken, name=known)


def artifact_of(package: Package) -> str:
    """Return the package's name among the run's artifacts, or its path where it is not kept."""
    path = package.path
    return f"capture/{path.name}" if path.parent.name == "capture" else str(path)


def described(call: Call, index: int | None) -> Evidence:
    """Point to the call, quoting what the probe wrote of one input where that is within reach."""
    quote = call.span.quote
    at = max(0, quote.find(f'"index": {index},'))
    return evidence(replace(call.span, quote=quote[at:]))


def launch_named(observations: Observations, kernel: str) -> Launch | None:
    """Return the first launch of a kernel in the package's wrapper."""
    return next((one for one in launches(observations) if one.kernel == kernel), None)


def launch_at_crash(observations: Observations) -> Launch | None:
    """Return the launch that a native stack died in: the last at or above its wrapper line."""
    stacks = observations.of(NativeBacktrace)
    inside = next((stack.in_model for stack in stacks if stack.in_model), None)
    if inside is None or inside.line is None or not (inside.file or "").endswith(".cpp"):
        return None
    above = [one for one in launches(observations) if one.line <= inside.line]
    return max(above, key=lambda one: one.line, default=None)


def launches(observations: Observations) -> tuple[Launch, ...]:
    model = observations.model
    return model.wrapper.launches if model is not None and model.wrapper is not None else ()


def model_lines(observations: Observations, kernel: str) -> tuple[Place, ...]:
    """Return the model's lines that a kernel was made of, when the package has them."""
    models = observations.package.models if observations.package is not None else ()
    origins = (model.origin_of(kernel) for model in models)
    return next((origin.source for origin in origins if origin is not None), ())
