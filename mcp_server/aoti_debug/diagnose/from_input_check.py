"""Candidates from the model's own input check (`input_handles[N]: ...`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aoti_debug.diagnose.calls import input_named, name_of, writes_to
from aoti_debug.diagnose.observations import HEADLINE, Candidate, Kind, Observations, headline
from aoti_debug.facts.categories import OF_A_PROPERTY, Tier
from aoti_debug.model import Confidence, Evidence, Fix, InputFinding
from aoti_debug.read.record import InputCheck, Span
from aoti_debug.signatures import Signature
from aoti_debug.vocabulary import Break

WRITTEN = "the model writes to this input, so other elements of the caller's memory change"
LOWER_BOUND_2 = (
    "a lower bound of 2 usually comes from the exporter's 0/1 specialization, not from a kernel: "
    "possibly a false alarm"
)
GUIDE = "guides/input-contracts.md"


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, check in enumerate(observations.of(InputCheck)):
        name = input_named(observations, check.input)
        broken = Break(
            check.input,
            name,
            check.property,
            words(check),
            check.got,
            dim=check.dim,
            relation=check.relation,
        )
        false_alarm = reason_for_false_alarm(observations, check)
        written = check.property == "stride" and writes_to(observations, check.input)
        why = false_alarm or (WRITTEN if written else None)
        broken = judged(broken, harmless=false_alarm is not None, reason=why)
        known = observations.signature_at(check.span)
        yield breaking(broken, Tier.OWN_CHECK, check.span, known=known, order=position)


def judged(broken: Break, *, harmless: bool, reason: str | None) -> Break:
    """Return a break with why it is one, or none; a size over the bound may fit all the same."""
    doubtful = harmless or is_over_bound(broken)
    sure: Confidence = "likely" if doubtful else "proved"
    return replace(broken, harmless=harmless, reason=reason or "", confidence=sure)


def is_over_bound(broken: Break) -> bool:
    return broken.property == "size" and broken.relation == "max"


def finding_of(broken: Break, otherwise: int = 0) -> InputFinding:
    """Return a break as a finding: by the runtime's index of a tensor, else by the leaf's place."""
    places = (broken.index, broken.position)
    return InputFinding(
        index=next((place for place in places if place is not None), otherwise),
        name=broken.name,
        property=broken.property,
        dim=broken.dim,
        expected=broken.expected[:200],
        got=broken.got[:200],
    )


def breaking(
    broken: Break,
    tier: Tier,
    *proofs: Evidence | Span | str,
    order: int,
    known: Signature | None = None,
) -> Candidate:
    """Say that an input breaks the contract, or only seems to where that is harmless; of a text as
    a proof, the report that shows it. A size over the bound has a tier of its own."""
    finding, harmless = finding_of(broken, order), broken.harmless
    over_bound = is_over_bound(broken)
    return Kind(
        "false_alarm" if harmless else OF_A_PROPERTY.get(broken.property, "contract_argument"),
        "run",
        Tier.OVER_BOUND if over_bound else Tier.RANK if broken.property == "rank" else tier,
        known.guide if known else GUIDE,
        role="symptom" if harmless else "cause",
    ).found(
        summary(finding),
        *proofs,
        means=broken.reason or None,
        confidence=broken.confidence,
        signature=known,
        input=finding,
        fixes=fixes_for(finding, derived=broken.relation == "derived"),
        over_bound=over_bound,
        order=order,
    )


def refused(observations: Observations) -> str:
    """Say what the model's own check, which is off unless asked for, would refuse for nothing."""
    check = observations.first(InputCheck)
    if check is None:
        return ""
    name = input_named(observations, check.input) or f"input {check.input}"
    at = f" at dim {check.dim}" if check.dim is not None else ""
    return (
        f" (the model's own input check, off by default, would refuse {name}: {check.property}{at} "
        f"is {check.got}, not {words(check)})"
    )


def words(check: InputCheck) -> str:
    relation = {"equal": "", "min": ">= ", "max": "<= "}[check.relation]
    return f"{relation}{check.expected}"


def summary(finding: InputFinding) -> str:
    name, got = name_of(finding), finding.got
    at = f" at dim {finding.dim}" if finding.dim is not None else ""
    if finding.property == "nesting":
        return nested(finding)
    if finding.property == "bit":
        return f"{name} is {got} by a bit that the package does not read"
    if finding.property == "aliasing":
        return f"{name} has no memory of its own{at} ({got})"
    breaks = f"breaks a guard{at}: {got}"
    how = breaks if finding.property in ("guard", "other") else f"has {finding.property} {got}{at}"
    return f"{name} {how}, compiled for {finding.expected}"


def nested(finding: InputFinding) -> str:
    """Say how an argument is nested otherwise than at the export, both side by side."""
    name, expected, got = name_of(finding), finding.expected or "", finding.got or ""
    if expected in ("a tensor", "no tensor"):
        return f"{name} is {got}, exported with {expected}"
    if sorted(expected.split(", ")) != sorted(got.split(", ")):
        return headline(f"{name} holds {got}, exported with {expected}")
    said = f"{name} has its keys in the order {got}, exported with {expected}"
    return said if len(said) <= HEADLINE else f"{name} has its keys in another order than exported"


def reason_for_false_alarm(observations: Observations, check: InputCheck) -> str | None:
    """Say why a violation may be none. The check knows bounds that the kernels do not need: a
    lower bound of 2 comes from the export's 0/1 specialisation, and the stride of a dimension of
    size 1 is never used."""
    if check.property == "size" and check.relation == "min" and check.expected == "2":
        return LOWER_BOUND_2
    if check.property == "stride" and check.dim is not None:
        call = observations.run.call
        given = call.input(check.input) if call else None
        shape = given.shape if given else None
        if shape is not None and check.dim < len(shape) and shape[check.dim] == 1:
            return "the stride of a dimension of size 1 is never used: a false alarm"
    return None


# By the property of an input that breaks the contract: what to do about it, and why that helps.
FIXES: dict[str, tuple[str, str | None]] = {
    "dtype": ("cast {name} to {expected} before the call", None),
    "device": (
        "move {name} to {expected}, or compile the model for the device it runs on",
        "the package runs on the device type it was compiled for",
    ),
    "stride": (
        "pass {name} in the layout it was exported with (often .contiguous())",
        "strides are baked into the kernels",
    ),
    "rank": (
        "give {name} {expected} dimensions (unsqueeze or reshape), or the input meant for it",
        "the number of dimensions is fixed at export",
    ),
    "bit": (
        "pass {name}.new_empty_strided({name}.shape, {name}.stride()).copy_({name})",
        "that writes the values into memory; resolve_neg() does, too, but makes it contiguous",
    ),
    "aliasing": (
        "pass a copy of {name} (.clone()), or make the model write to a result instead of its "
        "input",
        "the compiled model was planned for inputs that share no memory",
    ),
    **dict.fromkeys(
        ("value", "type", "count"),
        (
            "call the model with {name} as exported, or export it again for this value",
            "arguments that are no tensors are baked into the compiled model",
        ),
    ),
    "derived": (
        "give {name} the size that the other dimension asks for, or, where that one is wrong, "
        "repeat its rows (.expand(...).contiguous())",
        "the export made one size depend on another; which of the two is wrong, it cannot tell",
    ),
}


def fixes_for(finding: InputFinding, *, derived: bool = False) -> list[Fix]:
    """Return what to do about an input that breaks the contract."""
    name, expected = name_of(finding), finding.expected or ""
    if finding.property == "nesting":
        return [nested_fix(name, expected, finding.got or "")]
    known = FIXES.get(finding.property) or (FIXES["derived"] if derived else None)
    if known is not None:
        what, why = known
        return [Fix(what=what.format(name=name, expected=finding.expected), why=why)]
    dimension = f"dimension {finding.dim} of {name}" if finding.dim is not None else name
    return [
        Fix(
            what=f"export again with {dimension} dynamic (dynamic_shapes=...); the bounds "
            "must include every size that you serve",
            why="a static size is baked into the kernels",
        ),
        Fix(what=f"or give {name} the size it was compiled for (pad or slice)"),
    ]


def nested_fix(name: str, expected: str, got: str) -> Fix:
    keys = expected.split(", ")
    what = f"give {name} the entries {expected}"
    if keys[0] in ("a tensor", "no tensor"):
        what = f"give {name} {keys[0]}"
    elif sorted(keys) == sorted(got.split(", ")):
        what = f"pass {{key: {name}[key] for key in {keys}}}"
    return Fix(what=what, why="a package takes the tensors of a call by position, not name")
