"""What reports of the probe's runs say of values, and why those of a compiled model are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aoti_debug.explain import culprit
from aoti_debug.model import Category, Fix, InputFinding, SourceLine, ValueRow, source_of
from aoti_debug.plain import digits, few, times
from aoti_debug.read.culprit import read_culprit
from aoti_debug.vocabulary import Place

Report = Mapping[str, Any]
BEFORE, AFTER = 6, 5  # rows around the node in question that are all kept
BOTH = "package", "eager"  # of a comparison
ALONG = 48  # rows along the whole model, for a plot


@dataclass(frozen=True, slots=True)
class Found:
    """A cause that the run showed. `decided`: proved, for it was seen to happen."""

    category: Category
    summary: str
    node: str = ""
    op: str = ""
    source: list[SourceLine] = field(default_factory=list)
    input: InputFinding | None = None
    fixes: list[Fix] = field(default_factory=list)
    values: list[ValueRow] = field(default_factory=list)
    artifact: str = "report.json"
    headline: str = ""  # of the summary, where that is longer
    weight: str = ""  # that holds NaN or Inf
    decided: bool = True


def place(at: Any) -> str:
    first = at[0] if isinstance(at, list) and at else []
    return "[" + ", ".join(map(str, first)) + "]" if isinstance(first, list) else f"[{first}]"


def lines(stack: Any) -> list[SourceLine]:
    """Return the model's line, then the user's own where that is another; torch's have no part."""
    frames = [
        Place(str(f[0]), f[1], text=str(f[2]) or None)
        for f in stack or []
        if isinstance(f, list) and len(f) == 3 and isinstance(f[1], int)
    ]
    models = [place for place in frames if place.owner != "torch"]
    own = [place for place in models if place.owner == "user"]
    kept = dict.fromkeys([*models[-1:], *own[-1:]] or frames[-1:])
    return source_of(*kept)


def rows(report: Report, node: str, mark: str) -> list[ValueRow]:
    """Return the values along the model: all around the node, the others thinned out."""
    every = [row for row in report.get("rows") or [] if isinstance(row, dict)]
    at = next((n for n, row in enumerate(every) if row.get("node") == node), None)
    first = at if at is not None else next((n for n, r in enumerate(every) if r.get("nan")), 0)
    marks = {at: f"first {mark}"} if at is not None else {}
    return [row_of(every[n], n + 1, marks.get(n)) for n in thinned(len(every), first)]


def thinned(count: int, centre: int) -> list[int]:
    """Return at most about `ALONG` of `count` places: the first, the last, all around `centre`."""
    around = range(max(0, centre - BEFORE), min(count, centre + AFTER + 1))
    left = max(1, ALONG - len(around))
    spread = {n * (count - 1) // left for n in range(left + 1)} if count else set()
    return sorted({*around, *spread})


def row_of(row: Report, at: int | None = None, mark: str | None = None) -> ValueRow:
    known = {key: row.get(key) for key in ("min", "max", "mean")}
    numbers = {key: float(one) for key, one in known.items() if isinstance(one, (int, float))}
    return ValueRow(
        number=at,
        node=str(row.get("node"))[:200],
        op=str(row.get("op") or "")[:200],
        shape=[size for size in row.get("shape") or [] if isinstance(size, int)],
        dtype=str(row.get("dtype")) if row.get("dtype") else None,
        nan=int(row.get("nan") or 0),
        inf=int(row.get("inf") or 0),
        line=str(row.get("line")) if row.get("line") else None,
        mark=mark,
        **numbers,
    )


REPORT_IT = Fix(
    what="until Inductor is fixed, write the operator in another form (a decomposition, a copy "
    "between it and its neighbors), or compile with another torch",
    why="the exported program is right, so the fault is Inductor's; the files next to the report "
    "reproduce it",
)
IN_32_BITS = Fix(
    what="compute values above 2**31 in eager and keep them as a buffer or a constant of the "
    "model, or compute them in float64",
    why="Inductor computes indices, arange and values derived from it in 32 bits, which wrap",
)


WRAPS = Fix(
    what="compute it in int64, and wrap it explicitly if the wrapped value is wanted: "
    "(x + 2**31) % 2**32 - 2**31",
    why="eager wraps int32 at 2**31; Inductor computes values derived from arange and indices "
    "without wrapping",
)


def read_bisection(report: Report) -> Found | None:
    """Return the first wrong value that the search came to; None where it found none."""
    if isinstance(reason := report.get("reason"), dict):
        read = REASONS.get(str(reason.get("kind")))
        return read(reason) if read is not None else None
    if isinstance(unstable := report.get("unstable"), dict):
        return unstable_found(unstable)
    first = report.get("first")
    if not isinstance(first, dict):
        return None
    node, op = str(first.get("node")), str(first.get("op"))
    wrong = difference(first)
    rows = [row for row in report.get("rows") or [] if isinstance(row, dict)]
    right = [str(row.get("node")) for row in rows if row.get("verdict") == "agrees"]
    compiles = len(report.get("compiles") or [])
    if first.get("state"):
        said = headline = f"{node} ({op}) leaves {first['state']} wrong in the compiled model"
    elif first.get("wide"):
        headline = f"{node} ({op}) is wrong in the compiled model"
        said = f"{headline}: at {first.get('seen_at')} {wrong}"
    elif first.get("exact"):
        headline = f"{node} ({op}) is the first value that the compiled model gets wrong"
        said = f"{headline}: {wrong}"
    else:
        after = f"after {right[-1]}" if right else "before it"
        headline = f"the compiled model is wrong from {node} ({op}) on"
        said = (
            f"{headline}: {wrong}; the first wrong value lies {after} (more compiles narrow it "
            "down: --budget SECONDS)"
        )
    alone = str(first.get("alone") or "")
    part = [str(one) for one in first.get("part") or []]
    if alone.startswith("wrong"):
        said += f"; compiled {alone}" + (f" ({', '.join(part[:8])})" if len(part) > 1 else "")
    elif alone.startswith("right"):
        said += "; right alone, wrong when fused with its neighbors"
    launch = report.get("launch")
    if isinstance(launch, dict):
        said += f"; launch {launch.get('number')} of the package, {launch.get('kernel')}, wrote it"
    if first.get("explains"):
        said += "; with its value the exported program gives the package's results"
    said += f" ({times(compiles, 'compile')})"
    fix, blamed, at = REPORT_IT, read_culprit(report), first
    if blamed is not None:
        fused = [one for one in first.get("fused") or [] if one.get("op") == blamed.op]
        lines_of = {str(one.get("stack")) for one in fused}  # one in a loop
        if len(lines_of) == 1 and op != blamed.op:
            at = fused[0]
        headline = culprit.headline(blamed, str(at.get("node"))) or headline
        said += culprit.clause(blamed)
    if first.get("overflows"):
        said += "; it overflows int32: eager wraps it, compiled code does not"
        headline, fix = (
            f"{node} ({op}) overflows int32: eager wraps it, compiled code does not",
            WRAPS,
        )
    elif wraps(first) or first.get("wide"):
        said += "; it exceeds 2**31 but is computed in 32 bits"
        headline, fix = f"{node} ({op}) exceeds 2**31 but is computed in 32 bits", IN_32_BITS
    if report.get("reproduction"):
        fix = fix.model_copy(update={"where": str(report["reproduction"])[:80]})
    fixes = [fix]
    if blamed is not None:
        why = f"{fix.why}; {culprit.ISSUE} is a draft issue for PyTorch"
        fixes = [*culprit.fixes(blamed), fix.model_copy(update={"why": why})]
    explained = first.get("explains", alone.startswith("wrong")) is not False
    decided = explained or isinstance(launch, dict) or bool(first.get("state"))
    found = at_node(at, headline + pair(first), said, fix)
    return replace(found, fixes=fixes, values=table(rows, node), decided=decided)


def at_node(part: Report, headline: str, summary: str, fix: Fix) -> Found:
    """Return a finding at the node that a part of a report is about."""
    node, op, stack = str(part.get("node")), str(part.get("op")), lines(part.get("stack"))
    return Found("wrong_result", summary, node, op, stack, fixes=[fix], headline=headline)


def copies_found(reason: Report) -> Found:
    node = str(reason.get("node"))
    headline = f"{node} is compiled without the copy of the memory that it overwrites"
    summary = f"the compiled model leaves out the copy before {node}, which writes to the memory "
    summary += "that it reads: written in order, the exported program gives the package's results"
    fix = Fix(
        what="build the new value out of place (torch.cat, torch.roll) and write or return that",
        why="Inductor drops the clone, and each row is read after the row before was written",
    )
    return at_node(reason, headline, summary, fix)


def casts_found(reason: Report) -> Found:
    where = f"{reason.get('dtype')} at {reason.get('node')}"
    headline = f"the compiled model leaves out the rounding to {where}"
    summary = f"{headline}: without it the exported program gives the package's results"
    why = "Inductor computes fused operators in float32 and rounds only the stored result"
    what, tried = "do the rounding outside of the package", reason.get("tried")
    if tried != 0:
        what = f"compile with emulate_precision_casts=True (inductor_configs), or {what}"
    if tried:
        cost = f"; takes {number(reason, 'ratio')} × the time"
        why = f"tried on {tried} inputs of the program: right{cost}; {why}"
    return at_node(reason, headline, summary, Fix(what=what, why=why))


def numbers_found(reason: Report) -> Found:
    dtype, value = str(reason.get("dtype")), number(reason, "number")
    headline = f"{reason.get('node')} is compiled with {value}, which eager rounds to {dtype}"
    summary = f"{headline}: with the number as it is the exported program gives the package's "
    fix = Fix(
        what=f"give the number as a 0-dim buffer: torch.tensor({value}, dtype=torch.{dtype})",
        why="eager rounds a Python number to the dtype of the tensor; Inductor computes in float32",
    )
    return at_node(reason, headline, summary + "results", fix)


def precision_found(reason: Report) -> Found:
    name = str(reason.get("precision"))
    headline = f"the package computes its matrix products in {name}"
    summary = (
        f"{headline}: with factors rounded to it the exported program agrees (RMS difference "
        f"{number(reason, 'left')} instead of {number(reason, 'apart')}; float32 itself is off by "
        f"{number(reason, 'eager')})"
    )
    fix = Fix(
        what='compile and run with torch.set_float32_matmul_precision("highest") and without '
        "allow_tf32, or compare within the tolerance of this precision",
        why="the exported program, run at this precision, gives the package's results",
    )
    return Found("wrong_result", summary, fixes=[fix], headline=headline)


def kept_weights_found(reason: Report) -> Found:
    """The package goes on with values of its compile for weights that were loaded anew."""
    names = [str(name) for name in reason.get("names") or []]
    count, given = reason.get("count"), reason.get("given")
    headline = f"the package still computes with compile-time values of {few(names)}"
    summary = (
        f"{headline}: load_constants changed {given} weights, of which {count} are folded into "
        "other constants"
    )
    fix = Fix(
        what="compile with aot_inductor.use_runtime_constant_folding=True, so that what is folded "
        "is computed again after load_constants; or compile again for new weights",
        why="constants that the compiler folds at compile time are not updated with their source",
    )
    return Found("constants_mismatch", summary, fixes=[fix], headline=headline)


def constants_found(reason: Report) -> Found:
    """The package holds other weights than the program that it is compared with."""
    rows = [row for row in reason.get("constants") or [] if isinstance(row, dict)]
    said = [constant_words(row) for row in rows[:3]]
    unknown = [str(name) for name in reason.get("unknown") or []]
    said += [f"{name} is in the package alone" for name in unknown[:3]]
    count = int(reason.get("differ") or 0) + len(unknown)
    more = f" and {count - len(said)} more" if count > len(said) else ""
    then = {
        True: "; with the package's weights the exported program gives the package's results",
        False: "; the weights alone do not explain the results: the graph is another too",
    }.get(reason.get("explains"), "")  # type: ignore[arg-type]
    headline = "stale package: it holds other weights than the model"
    summary = f"{headline}, {'; '.join(said)}{more}{then}"
    fix = Fix(
        what="compile the package again from the model as it is now, or load_constants(state_dict, "
        "check_full_update=True) where only values differ",
        why="the package keeps the weights and the graph of the day it was compiled",
    )
    return Found("constants_mismatch", summary, fixes=[fix], headline=headline)


REASONS: Mapping[str, Callable[[Report], Found]] = {
    "precision": precision_found,
    "constants": constants_found,
    "kept_weights": kept_weights_found,
    "casts": casts_found,
    "numbers": numbers_found,
    "copies": copies_found,
}


def constant_words(row: Report) -> str:
    name = str(row.get("name"))
    if row.get("package"):
        theirs, mine = row.get("package"), row.get("program")
        return f"{name} is {shaped(theirs)} there and {shaped(mine)} in the model"
    return f"{name} differs in {row.get('differ')} of {row.get('elements')} values"


def shaped(what: Any) -> str:
    kind, sizes = (what[0], what[1]) if isinstance(what, list) and len(what) == 2 else ("?", "")
    return f"{str(kind).removeprefix('torch.')}{sizes}"


def number(row: Report, key: str) -> str:
    value = row.get(key)
    return f"{value:.3g}" if isinstance(value, (int, float)) else "?"


def unstable_found(unstable: Report) -> Found:
    """The difference is one of rounding, which an operator of the model makes large."""
    headline = f"{unstable.get('node')} ({unstable.get('op')}) amplifies a rounding difference"
    summary = (
        f"{headline}: at {place([unstable.get('at')])} it gives {number(unstable, 'program')} in "
        f"the program's precision and {number(unstable, 'float64')} in float64 "
        f"({unstable.get('differ')} of {unstable.get('elements')} elements); the package is no "
        "further from float64 than the exported program is"
    )
    fix = Fix(
        what="keep the input of this operator away from where it jumps, by a tolerance such as "
        "floor(x + 1e-5), or compute it in float64",
        why="what rounding decides differs between any two correct implementations",
    )
    return at_node(unstable, headline, summary, fix)


def first_wrong(row: Report) -> Report:
    first = row.get("first_wrong")
    return first if isinstance(first, dict) else {}


def pair(row: Report) -> str:
    """Return the first wrong element beside the right one, short."""
    first = first_wrong(row)
    if not first or row.get("verdict") in ("shape", "dtype"):
        return ""
    return f": {digits(first.get('package'))}, not {digits(first.get('expected'))}"


def difference(row: Report) -> str:
    if row.get("verdict") in ("shape", "dtype"):
        key = str(row.get("verdict"))
        return f"{key} {row.get(key)}, not {row.get('expected')}"
    words = f"{row.get('wrong')} of {row.get('elements', '?')} elements"
    if first := first_wrong(row):
        at = place([first.get("at")])
        words += f", first at {at}: {first.get('package')}, not {first.get('expected')}"
    return words


def wraps(row: Report) -> bool:
    """Tell whether the first wrong element is a whole number whose upper bits are lost."""
    got, right = (first_wrong(row).get(key) for key in ("package", "expected"))
    if not isinstance(got, int) or not isinstance(right, int):
        return False
    return got != right and (right - got) % (1 << 32) == 0


def table(rows: Sequence[Report], node: str) -> list[ValueRow]:
    """Return the compared values as rows, with how far each is off."""
    found = []
    at = next((n for n, row in enumerate(rows) if row.get("node") == node), 0)
    for number in thinned(len(rows), at):
        row = rows[number]
        package, eager = ({**one} if isinstance(one := row.get(key), dict) else {} for key in BOTH)
        mean = eager.get("mean")
        error = row.get("max_abs_error")
        mark = "first wrong" if row.get("node") == node else None
        mark = mark or ("wrong" if row.get("verdict") != "agrees" else None)
        off = float(error) if isinstance(error, (int, float)) else None
        more = {"error": off, "eager": float(mean) if isinstance(mean, (int, float)) else None}
        found.append(row_of({**row, **package}, number + 1, mark).model_copy(update=more))
    return found


def vanished(report: Report) -> str:
    """Say what it means that nothing was wrong, where that is so."""
    if report.get("vanished"):
        return (
            "compiled with values inside the model as outputs, everything is right: the fault "
            "comes with how operators are fused"
        )
    if report.get("agrees"):
        return "the call alone, in a fresh process, is right"
    return "no value inside the model is wrong by itself" if report else "no report was left"
