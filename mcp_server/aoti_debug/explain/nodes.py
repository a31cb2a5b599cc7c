"""Read the report of a run of the exported graph: the first NaN, an index out of bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aoti_debug.explain.out_of_bounds import blamed
from aoti_debug.explain.undeclared import undeclared
from aoti_debug.explain.values import Found, Report, at_node, lines, place, rows
from aoti_debug.model import Fix, InputFinding, SourceLine
from aoti_debug.read.check_report import read_part
from aoti_debug.vocabulary import OutOfBounds, Reason, ReasonKind


def read_report(report: Report, inputs: Mapping[str, int], *, nan: bool = True) -> Found | None:
    """Return the cause that the report shows; `inputs` numbers the inputs by name. Without `nan`
    a NaN inside the model is no cause."""
    if isinstance(index := report.get("index"), dict):
        return index_found(index, inputs)
    if nan and isinstance(origin := report.get("origin"), dict):
        return origin_found(origin, report, inputs)
    wrote = next(iter(report.get("written") or ()), None)
    return write_found(wrote) if isinstance(wrote, dict) else None


def write_found(wrote: Report) -> Found:
    said, fix = undeclared(wrote.get("op"), str(wrote.get("argument")))
    summary = f"{said} (seen at {place([wrote.get('at')])} of {wrote.get('from')})"
    return at_node(wrote, "", summary, fix)


def origin_found(origin: Report, report: Report, inputs: Mapping[str, int]) -> Found:
    node, op = str(origin.get("node")), str(origin.get("op"))
    what = origin.get("what") if isinstance(origin.get("what"), dict) else None
    word = "NaN" if origin.get("kind") == "nan" else "Inf"
    at = place(origin.get("at"))
    count, total = origin.get("count"), origin.get("elements")
    found_input, headline = None, ""
    if what is not None:
        kind, name = what.get("kind"), str(what.get("name"))
        summary = f"{kind} {name} holds {count} {word} of {total} elements, first at {at}"
        if isinstance(reader := origin.get("reader"), str):
            summary += f"; {reader[:200]} reads it first"
        if kind == "input" and name in inputs:
            found_input = InputFinding(
                index=inputs[name],
                name=name,
                property="value",
                expected="finite numbers",
                got=f"{word} at {at}",
            )
    else:
        why = reason(origin).text or "its inputs are finite"
        headline = f"{word} first appears at {node} ({op}): {why}"
        summary = f"{headline}; first at {at}, {count} of {total} elements"
    if isinstance(then := origin.get("then"), dict) and then.get("node") != node:
        summary += f"; this causes the NaN at {then.get('node')} ({reason(then).text})"
    where, fixes = lines(origin.get("stack")), nan_fixes(origin, what)
    if isinstance(wrapped := origin.get("wrapped"), dict):
        made = lines(wrapped.get("stack"))
        where, fixes = [*made, *where], [wider(wrapped, made)]
        headline = f"{wrapped.get('node')} ({wrapped.get('op')}) exceeds 2**31 in int32; {headline}"
    return Found(
        "nan_or_inf",
        summary,
        node,
        op,
        where,
        found_input,
        fixes,
        rows(report, node, word),
        headline=headline,
        weight=str(what.get("name")) if what and what.get("kind") == "parameter" else "",
    )


DIVISOR = "keep the divisor away from zero: clamp_min(eps), or a default result where it is zero"
FIXES: Mapping[ReasonKind, str] = {
    "masked_row": "fill masks with torch.finfo(dtype).min in place of -Inf, or keep one element "
    "of such a row unmasked and zero its result",
    "zero_by_zero": DIVISOR,
    "division_by_zero": DIVISOR,
    "logarithm": "clamp_min(eps) before the logarithm; log_softmax or xlogy where they fit",
    "exponential": "subtract the largest value first, as softmax and logsumexp do",
    "square_root": "clamp_min(0) before the root",
    "reciprocal_root": "add eps before the root",
    "unit_interval": "clamp(-1, 1) before it: rounding alone can pass the ends",
    "fractional_power": "clamp_min(0) before the power",
    "negative_variance": "load the statistics of this normalisation again: a variance cannot be "
    "negative",
    "one_element": "use correction=0, or refuse an input with one element in this dimension",
    "written": "nothing, if these NaN are meant and masked later; else write another value there",
    "no_elements": "refuse an empty input, or return a default for it",
}
IN_FLOAT16 = (
    "compute this part in bfloat16 or float32, or scale the values down: float16 ends at 65504"
)
GUARD = "guard this operation against these inputs"


def reason(origin: Report) -> Reason:
    """Return why a value is not finite, as the probe says it."""
    return read_part(Reason, origin.get("reason")) or Reason("other", "")


def nan_fixes(origin: Report, what: Report | None) -> list[Fix]:
    if what is not None:
        name = what.get("name")
        fix = f"pass no NaN or Inf in {name}: it comes from outside"
        if what.get("kind") == "parameter":
            fix = (
                f"load a checkpoint in which {name} is finite: it was broken when it was trained, "
                "converted or copied"
            )
        return [Fix(what=fix)]
    where, why = lines(origin.get("stack")), reason(origin)
    fix = FIXES.get(why.kind, GUARD)
    if why.kind == "overflow" and why.dtype == "float16":
        fix = IN_FLOAT16
    at = f"{where[0].file}:{where[0].line}" if where else None
    return [Fix(what=fix, where=at, why=why.text)]


def wider(wrapped: Report, made: Sequence[SourceLine]) -> Fix:
    """Propose int64 for an integer that wraps."""
    exact, kept = wrapped.get("exact"), wrapped.get("wrapped")
    at = f"{made[0].file}:{made[0].line}" if made else None
    what = "compute it in int64: call .long() on its input first"
    return Fix(what=what, where=at, why=f"{exact} does not fit into int32, which holds {kept}")


def index_found(report: Report, inputs: Mapping[str, int]) -> Found | None:
    index = read_part(OutOfBounds, report)
    if index is None:
        return None
    chain = [one for one in report.get("chain") or [] if isinstance(one, dict)]
    blame, where = blamed(index, list(chain_words(chain)), inputs), lines(report.get("stack"))
    about = blame.summary, index.node, index.op, where, blame.input, blame.fixes
    return Found("index_out_of_bounds", *about)


def chain_words(chain: Sequence[Report]) -> Iterator[str]:
    for one in chain[:6]:
        kind = {"placeholder": "input ", "get_attr": "buffer "}.get(str(one.get("kind")), "")
        op = str(one.get("op")).removeprefix("aten.").partition(".")[0]
        yield kind + (op if one.get("kind") == "call_function" else str(one.get("node")))
