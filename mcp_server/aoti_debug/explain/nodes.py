"""What a node-by-node run of the exported program reported: where a NaN was born, which index
left its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aoti_debug.explain.values import Found, Report, lines, named, place, rows
from aoti_debug.model import Fix, InputFinding

SAME = tuple(
    """
    reshape view flatten contiguous clone to _to_copy squeeze unsqueeze ravel unflatten
    """.split()
)


def read_report(report: Report, inputs: Mapping[str, int]) -> Found | None:
    """Return the cause that a report of `nodes` shows; `inputs` numbers the inputs by name."""
    if isinstance(index := report.get("index"), dict):
        return index_found(index, inputs)
    if isinstance(birth := report.get("birth"), dict):
        return birth_found(birth, report, inputs)
    if isinstance(wrote := report.get("wrote"), dict):
        return write_found(wrote)
    return None


def write_found(wrote: Report) -> Found:
    """A custom operator writes to what it says it only reads: compiled code relies on that."""
    node, op = str(wrote.get("node")), str(wrote.get("op"))
    argument = str(wrote.get("argument"))
    summary = (
        f"{op} writes to its argument {argument}, which its schema says it only reads (seen at "
        f"{place([wrote.get('at')])} of {wrote.get('from')})"
    )
    fix = Fix(
        what=f"declare it, mutates_args=({argument!r},), or let the operator copy {argument} first",
        why="compiled code reuses and reorders buffers by what the schema says",
    )
    return Found("wrong_result", summary, node, op, lines(wrote.get("stack")), None, [fix], [])


def birth_found(birth: Report, report: Report, inputs: Mapping[str, int]) -> Found:
    node, op = str(birth.get("node")), str(birth.get("op"))
    what = birth.get("what") if isinstance(birth.get("what"), dict) else None
    word = "NaN" if birth.get("kind") == "nan" else "Inf"
    at = place(birth.get("at"))
    count, total = birth.get("count"), birth.get("elements")
    found_input = None
    if what is not None:
        name = str(what.get("name"))
        summary = (
            f"{what.get('kind')} {name} holds {count} {word} of {total} elements, first at {at}"
        )
        if what.get("kind") == "input" and name in inputs:
            found_input = InputFinding(
                index=inputs[name],
                name=name,
                property="value",
                expected="finite numbers",
                got=f"{word} at {at}",
            )
    else:
        reason = str(birth.get("reason") or "its inputs are finite")
        summary = (
            f"{word} is born at {node} ({op}): {reason}; first at {at}, {count} of {total} elements"
        )
    if isinstance(then := birth.get("then"), dict) and then.get("node") != node:
        summary += f"; the NaN at {then.get('node')} comes of it ({then.get('reason')})"
    return Found(
        "nan_or_inf",
        summary,
        node,
        op,
        lines(birth.get("stack")),
        found_input,
        nan_fixes(birth, what),
        rows(report, node, word),
    )


FIXES: tuple[tuple[str, str], ...] = (
    (
        "wholly masked",
        "fill masks with torch.finfo(dtype).min in place of -Inf, or keep one "
        "element of such a row unmasked and zero its result",
    ),
    ("0/0", "keep the divisor away from zero: clamp_min(eps), or a default where it is zero"),
    ("division by zero", "keep the divisor away from zero: clamp_min(eps)"),
    ("log of", "clamp_min(eps) before the logarithm; log_softmax or xlogy where they fit"),
    ("exp(", "subtract the largest value first: softmax or logsumexp do"),
    ("sqrt of", "clamp_min(0) before the root"),
    ("rsqrt of", "add eps before the root"),
    ("outside -1..1", "clamp(-1, 1) before it: rounding alone can pass the ends"),
    ("fractional power", "clamp_min(0) before the power"),
    (
        "negative running variance",
        "load the statistics of this normalisation again: a variance cannot be negative",
    ),
    ("one element", "use correction=0, or refuse an input with one element in this dimension"),
    (
        "overflow of float16",
        "compute this part in bfloat16 or float32, or scale the values down: float16 ends at 65504",
    ),
)


def nan_fixes(birth: Report, what: Report | None) -> list[Fix]:
    where = lines(birth.get("stack"))
    at = f"{where[0].file}:{where[0].line}" if where else None
    if what is not None and what.get("kind") == "parameter":
        return [
            Fix(
                what=f"load a checkpoint in which {what.get('name')} is finite: it was broken "
                "when it was trained, converted or copied"
            )
        ]
    if what is not None:
        return [Fix(what=f"pass no NaN or Inf in {what.get('name')}: it comes from outside")]
    reason = str(birth.get("reason"))
    for words, fix in FIXES:
        if words in reason:
            return [Fix(what=fix, where=at, why=reason)]
    return [Fix(what="guard this operation against the values that went in", where=at, why=reason)]


def index_found(index: Report, inputs: Mapping[str, int]) -> Found:
    node, op = str(index.get("node")), str(index.get("op"))
    table, size, dim = named(index.get("table")), index.get("size"), index.get("dim")
    if size == 0:
        summary = f"dimension {dim} of {table} is empty in this call: no index fits ({op})"
        finding = empty_input(index, inputs)
        fix = f"do not call the model with an empty {table}, or export it with Dim(min=1) there"
        return Found(
            "index_out_of_bounds",
            summary,
            node,
            op,
            lines(index.get("stack")),
            finding,
            [Fix(what=fix)],
            [],
        )
    bound = f"outside 0 <= index < {size}, the size of dimension {dim} of {table}"
    chain = [one for one in index.get("chain") or [] if isinstance(one, dict)]
    value, at = index.get("value"), index.get("at")
    if (source := plain_input(chain)) is not None:
        name, shape = str(source.get("node")), source.get("shape") or []
        at = unravelled(at, index.get("shape") or [], shape)
        summary = f"{name}{place([at])} = {value} is {bound}"
        finding = None
        if name in inputs:
            finding = InputFinding(
                index=inputs[name],
                name=name,
                property="value",
                expected=f"0 <= value < {size}",
                got=f"{value} at {place([at])}",
                lower=0,
                upper=size if isinstance(size, int) else None,
            )
        fixes = [
            Fix(
                what=f"check {name} before the call: 0 <= value < {size}",
                why="the value comes in from outside the model",
            )
        ]
    elif (positions := positions_of(chain)) is not None:
        name, dimension, length = positions
        summary = f"{name} has {length} positions, {table} has {size}: index {value} is {bound}"
        finding = None
        if name in inputs:
            finding = InputFinding(
                index=inputs[name],
                name=name,
                property="size",
                dim=dimension,
                expected=f"<= {size}",
                got=str(length),
            )
        fixes = [
            Fix(
                what=f"keep dimension {dimension} of {name} at or below {size}, and export "
                f"with Dim(max={size}) so that a longer one is refused"
            ),
            Fix(what=f"or make {table} longer and compile again"),
        ]
    else:
        by = " <- ".join(chain_words(chain)) or named(index.get("index_is"))
        summary = f"{by} gives {value} at {place([at])}, {bound}"
        finding = None
        fixes = [
            Fix(
                what=f"make the computed index stay below {size}, or clamp it",
                why=computed_why(chain),
            )
        ]
    return Found(
        "index_out_of_bounds", summary, node, op, lines(index.get("stack")), finding, fixes, []
    )


def computed_why(chain: Sequence[Report]) -> str:
    from aoti_debug.explain.out_of_bounds import COMPUTED, COMPUTES

    for one in chain:
        for op, words in COMPUTED.items():
            if op in str(one.get("op")):
                return words.format(table="the table")
    return COMPUTES


def empty_input(index: Report, inputs: Mapping[str, int]) -> InputFinding | None:
    table = index.get("table")
    name = str(table.get("name")) if isinstance(table, dict) else ""
    if name not in inputs:
        return None
    dim = index.get("dim")
    return InputFinding(
        index=inputs[name],
        name=name,
        property="size",
        dim=dim if isinstance(dim, int) else None,
        expected="> 0",
        got="0",
    )


def plain_input(chain: Sequence[Report]) -> Report | None:
    """Return the input that an index is, unchanged but for its shape."""
    for one in chain:
        if one.get("kind") == "placeholder":
            return one
        op = str(one.get("op")).removeprefix("aten.").partition(".")[0]
        if op not in SAME:
            return None
    return None


def positions_of(chain: Sequence[Report]) -> tuple[str, int, int] | None:
    """Return (input, dimension, length) where an index counts the positions of an input."""
    if not any("arange" in str(one.get("op")) for one in chain):
        return None
    for one in chain:
        arguments = one.get("args") or []
        if "sym_size" in str(one.get("op")) and len(arguments) > 1 and arguments[1].isdigit():
            length = one.get("value")
            return str(arguments[0]), int(arguments[1]), length if isinstance(length, int) else 0
    return None


def chain_words(chain: Sequence[Report]) -> Iterator[str]:
    for one in chain[:6]:
        op = str(one.get("op")).removeprefix("aten.").partition(".")[0]
        what = str(one.get("node")) if one.get("kind") != "call_function" else op
        kind = {"placeholder": "input ", "get_attr": "buffer "}.get(str(one.get("kind")), "")
        if kind == "buffer ":
            what = str(one.get("node"))
        yield kind + what


def unravelled(at: Any, shape: Sequence[int], wanted: Sequence[int]) -> Any:
    """Return a place in a tensor of `shape` as a place in the same elements of shape `wanted`."""
    if not isinstance(at, list) or len(at) != len(shape) or list(shape) == list(wanted):
        return at
    flat = 0
    for one, size in zip(at, shape, strict=True):
        flat = flat * size + one
    found: list[int] = []
    for size in reversed(wanted):
        if not size:
            return at
        found.append(flat % size)
        flat //= size
    return found[::-1]
