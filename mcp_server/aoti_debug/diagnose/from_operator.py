"""Candidates from operators: torch's own in a failed call, custom ones that raise or mislead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import (
    at_line,
    is_users,
    name_of,
    path_and_line,
    raised_at,
    users_frame,
)
from aoti_debug.diagnose.from_program import OUT_OF_BOUNDS, last_line_of
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, headline, hint
from aoti_debug.explain.out_of_bounds import Blame, of_value, value_fixes, within
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fix, Kernel, source_of
from aoti_debug.read.record import RuntimeMessage, ShimException
from aoti_debug.symptom import agreeing
from aoti_debug.vocabulary import is_torchs

if TYPE_CHECKING:
    from aoti_debug.read.check_report import Mismatch
    from aoti_debug.read.event_records import Call
    from aoti_debug.vocabulary import Leaf, Place

# How ATen's kernels refuse an index, on the CPU.
_INDEX = tuple(
    re.compile(pattern)
    for pattern in (
        r"index (?P<value>-?\d{1,19}) is out of bounds for dimension \d{1,3} with size "
        r"(?P<upper>\d{1,19})",
        r"Index \d{1,19} of input takes value (?P<value>-?\d{1,19}) which is not in the valid "
        r"range \[(?P<lower>-?\d{1,19}), (?P<upper>\d{1,19})\)",
        r"INDICES element is out of DATA bounds, id=(?P<value>-?\d{1,19}) "
        r"axis_dim=(?P<upper>\d{1,19})",
        r"Target (?P<value>-?\d{1,19}) is out of bounds",
        r"index out of range in self",
    )
)
_CALLED = re.compile(r"\baoti_torch_[a-z]{2,10}_(\w{1,100}?)\(")


def candidates(observations: Observations) -> Iterator[Candidate]:
    call = observations.run.call
    if call is None or call.error is None:
        return
    recorded = matched(call.error.message)
    printed = (matched(raised.message) for raised in observations.of(ShimException))
    found = recorded or next(filter(None, printed), None)
    if found is not None:
        yield from_index(observations, call, found.groupdict(), proved=recorded is not None)


def matched(message: str) -> re.Match[str] | None:
    return next((m for pattern in _INDEX if (m := pattern.search(message[:4000]))), None)


def from_index(
    observations: Observations, call: Call, said: dict[str, str | None], *, proved: bool
) -> Candidate:
    value, upper, lower = (number(said.get(name)) for name in ("value", "upper", "lower"))
    op = operator(observations)
    culprit = holding(call, value) if value is not None else None
    where = f" in {op}" if op else ""
    if culprit is not None and value is not None and upper is not None:
        own, low = (culprit.index, culprit.name), lower or 0
        place = culprit.max_at if value == culprit.max else culprit.min_at
        blame = of_value(*own, value, place, upper, lower=low, given=culprit, where=where)
    else:
        size = upper if upper is not None else "the size"
        name = name_of(culprit) if culprit is not None else "the index"
        what = f"{name} {value}" if value is not None else "an index"
        bounds = within("index", lower or 0, size) if upper is not None else "the indexed dimension"
        blame = Blame(f"{what} is outside {bounds}{where}", None, value_fixes(name, size, culprit))
    return OUT_OF_BOUNDS.found(
        blame.summary,
        call.span,
        confidence="proved" if proved else "likely",
        ops=[op] if op else [],
        input=blame.input,
        fixes=blame.fixes,
        order=1,
    )


def operator(observations: Observations) -> str | None:
    """Return the operator that the generated code called when the call failed."""
    called = (_CALLED.search(said.message) for said in observations.of(RuntimeMessage))
    return next((f"aten.{found[1]}" for found in called if found is not None), None)


def holding(call: Call, value: int) -> Leaf | None:
    """Return the only input of integers whose least or largest element is this."""
    found = [given for given in call.inputs if value in (given.min, given.max)]
    found = [given for given in found if "int" in (given.dtype or "")]
    return found[0] if len(found) == 1 else None


def number(digits: str | None) -> int | None:
    return int(digits) if digits else None


RAISED = "guides/custom-ops.md#an-op-that-raises"
SHIMLESS = "guides/lowering-and-cpp.md#ops-without-a-shim"
REFUSED = hint("lowering_error", "run", Tier.GENERAL_TEXT, SHIMLESS)
RAISED_INSIDE = Kind("user_code", "run", Tier.RAISED, RAISED, confidence="proved")
PROMISE_BROKEN = Kind(
    "custom_op_fake_kernel", "run", Tier.CONTRACT, "guides/custom-ops.md", confidence="proved"
)


def in_shims(observations: Observations) -> Iterator[Candidate]:
    raised, call = observations.of(ShimException), observations.run.call
    for position, found in enumerate(raised):
        places = raised_at(found.message)[1]
        wrapped = any(place.file.endswith("custom_ops.py") for place in places)
        if wrapped or (places and is_users(places[0].file)):
            yield from_python(observations, found, places, position)
            return
    known = any(observations.signature_at(r.span, ("cause", "symptom")) for r in raised)
    if raised and call is not None and call.error is not None and not known:
        yield refused(observations, call, raised[0])


def refused(observations: Observations, call: Call, found: ShimException) -> Candidate:
    """An operator of torch raised inside the model, and nothing says that the call is to blame."""
    op = operator(observations)
    words = (found.message.strip().splitlines() or ["no reason"])[0][:200]
    return REFUSED.found(
        "an operator inside the model refused what the generated code gave it: " + words,
        found.span,
        call.span,
        means="Where the model itself, uncompiled, takes these inputs, the generated code "
        "calls the operator wrongly: a fault of the release.",
        ops=[op] if op else [],
        fixes=[Fix(what="keep the operator out of the package, or compile with another torch")],
    )


def from_python(
    observations: Observations, found: ShimException, places: Sequence[Place], position: int
) -> Candidate:
    """A custom operator written in Python raised: its own words and line."""
    own = users_frame(reversed(places))
    where = f" in {own.function}{at_line(own.file, own.line)}" if own else ""
    said = raised_at(found.message)[0].splitlines()[0][:200]
    return RAISED_INSIDE.found(
        f"a custom operator raised{where}: {said}",
        found.span,
        signature=observations.signature_at(found.span, ("cause", "symptom")),
        source=source_of(own),
        fixes=[Fix(what="correct the operator; call it alone, on the same tensors, to test it")],
        order=position,
    )


def raised_alike(observations: Observations) -> Iterator[Candidate]:
    """A custom operator raises in the exported program what the compiled model's call raised."""
    guards, call = observations.checks.guards, observations.run.call
    if guards is None or guards.where != "model" or guards.exception is None or guards.node is None:
        return
    words, op = guards.exception.headline, guards.node.op[:200]
    if call is None or call.error is None or not words or words not in call.error.message:
        return
    if not is_custom(op):
        return
    own = users_frame(reversed(raised_at(call.error.message)[1]))
    yield RAISED_INSIDE.found(
        headline(f"{op.removesuffix('.default')} raised {guards.exception.type}: ", words),
        guards.artifact,
        call.span,
        kernel=Kernel(name=op, kind="custom_op"),
        ops=[op],
        source=[*last_line_of(guards.node.stack), *source_of(own)],
        means="The exported program raises it too, without AOTInductor.",
        fixes=[
            Fix(
                what="give the operator values that it accepts, or correct the operator",
                where=path_and_line(own),
            )
        ],
    )


def is_custom(op: str) -> bool:
    """Tell a custom operator, NAMESPACE.NAME.OVERLOAD, from torch's own."""
    return op.count(".") == 2 and not is_torchs(op)


def of_fakes(observations: Observations) -> Iterator[Candidate]:
    if (fakes := observations.checks.fakes) is not None:
        spared = harmless(observations)
        for order, found in enumerate(fakes.mismatches):
            if found not in spared:
                yield from_mismatch(found, fakes.artifact, order)


def harmless(observations: Observations) -> list[Mismatch]:
    """Return layouts that are not as promised, where no result depends on it in the calls that were
    tried: a kernel that writes where it reads keeps the real one."""
    fakes = observations.checks.fakes
    if fakes is None or not agreeing(observations):
        return []
    return [one for one in fakes.mismatches if one.property == "stride" and not one.smaller]


def said_of(found: Mismatch) -> str:
    return (
        f"{found.op[:200]} returns {found.property} {found.got[:200]}, its fake kernel promises "
        f"{found.expected[:200]}" + (f", at {found.count} places" if found.count > 1 else "")
    )


def from_mismatch(found: Mismatch, artifact: str, order: int) -> Candidate:
    op, said = found.op[:200], said_of(found)
    return PROMISE_BROKEN.found(
        said,
        artifact,
        kernel=Kernel(name=op, kind="custom_op"),
        ops=[op],
        source=[*last_line_of(found.stack), *source_of(found.places.real, found.places.fake)],
        fixes=fixes(found, op),
        order=order,
    )


def fixes(found: Mismatch, op: str) -> list[Fix]:
    """Name both sides: which of them is wrong, only the author knows."""
    if found.property == "stride":
        operator = "return its result in the layout that the fake kernel promises"
        how = f"{operator}, often with .contiguous() at its end"
        harm = "the compiled model goes through the result by the promised strides"
    else:
        how = f"return the {found.property} that the fake kernel promises"
        harm = "the compiled model takes the fake kernel's word for the result"
        harm += " and reads past its end" if found.smaller else ""
    return [
        Fix(
            what=f"make {op} itself {how}",
            where=path_and_line(found.places.real),
            why=f"{harm}; this needs no recompile: register the changed operator, then call the "
            "package as it is",
        ),
        Fix(
            what=f"or make the fake kernel of {op} promise what the operator returns, and compile "
            "again; torch.library.opcheck tests both against each other",
            where=path_and_line(found.places.fake),
            why="right if the operator is correct",
        ),
    ]
