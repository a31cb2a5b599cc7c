"""Hold a fixed package against eager and against the model as it was, on inputs it never saw.

For the failing call's inputs, the example's and fresh ones of other sizes: does the package agree
with the program that it was made of, and does that program compute what the original one did?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from . import (
    changed,
    compare,
    correspondence,
    eager,
    events,
    fresh,
    graph_run,
    limits,
    neighbours,
    originals,
    package_alone,
    refusals,
    standalone,
    tables,
)
from .describe import is_float
from .lazy import torch

Document = dict[str, Any]
Inputs = standalone.Inputs

_TRIALS_A_SEED = 2


def main() -> int:
    """Try the failing call, the example and fresh inputs; the report is whole after each."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--now", help="inputs of the same call of the fixed script")
    parser.add_argument(
        "--rest", action="append", default=[], help="inputs of a further call that it is split over"
    )
    parser.add_argument("--parts", type=int, nargs="+", help="rows of the calls it is split over")
    parser.add_argument("--before", help="the program as it was; none: there was none")
    parser.add_argument(
        "--call", nargs=2, action="append", default=[], help="inputs of one of both"
    )
    parser.add_argument(
        "--original", action="append", default=[], help="file that defined operators, as it was"
    )
    parser.add_argument("--tables", help="what the script as it was may look up values in")
    parser.add_argument(
        "--corrects", action="store_true", help="values that the script itself says"
    )
    parser.add_argument("--refusals", help="conditions under which the fixed script refuses")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="load", trials=[])
    with report.of_failure():
        operators = originals.taken(options.original)
        standalone.prepare(options)
        if options.exported:
            hold(options, report, *loaded(options, operators))
        else:
            package_alone.hold(options, report)
        report.update(state="done")
    return 0


def loaded(options: Any, operators: dict[str, originals.Original]) -> tuple[Any, Any]:
    """Return the program as it was, with the operators as they were, and the fixed one."""
    new = old = standalone.load_program(options)
    if options.before:  # with the same weights: the fix may be to load others
        originals.register(operators)
        old = standalone.load_program(options, options.before)
        originals.put(old, operators)
    return old, new


def hold(options: Any, report: standalone.Report, old: Any, new: Any) -> None:
    """Hold the package against both programs, and these against each other."""
    report.update(hiding=changed.hiding(old, new))
    given = given_of(options, old, new)
    match, captured = given.match, given.captured
    report.update(narrowed=changed.narrowed(old, new, match.places()), inputs=given.other)
    drawn = drawn_for(match, old, new, captured)
    if given.other and match.plain and match.agreed:
        calls = (captured.flat, given.now.flat)
        known = options.tables and tables.looked_up(options.tables, drawn, *calls)
        known = known or (options.corrects and tables.corrected(drawn, *calls))
        known = known or (options.corrects and _corrected_rows(old, captured, given.now))
        repaired = changed.repaired(*calls)
        if known or repaired:
            captured, given = given.now, given._replace(other="")
            report.update(inputs="", looked_up=bool(known), repaired=repaired)
    own = options.before or options.inputs
    first = "the failing call" if own else "the fixed script's call"
    found = [(first, captured), *held_out(old, drawn, options.seeds)]
    some = next((inputs for _, inputs in found if inputs is not None), None)
    if some is None:
        raise ValueError("there are neither captured nor example inputs")
    pair = Pair(old, new, match)
    like: list[Inputs] = []
    if captured is not None and options.before:
        like = pair.alike(drawn, captured)
        legal = [one for _, one in found[1:] if one and not pair.fails(one)]
        if options.refusals and like:
            names = [node.name for node in standalone.user_inputs(old)]
            wrong = refusals.wrong(names, options.refusals, captured, legal, like)
            report.update(wrong_refusals=wrong)
        gone = given.other and given.now is not None and match.plain
        if options.refusals and gone and refusals.drops(drawn, captured.flat, given.now.flat):
            report.update(wrong_refusals=["it drops rows that the original computes"])
    wanted = pair.given(some, None if given.other else given.now)
    report.update(**_kept(new, wanted))
    model = standalone.load_package(options, wanted, report)
    trials: list[Document] = []
    for name, inputs in found:
        if inputs is None:
            continue
        report.update(state=f"trying {name}", trying=name)
        own = given.now if inputs is captured and not given.other else None
        trials.append({"name": name, **pair.tried(model, inputs, own)})
        report.update(trials=trials)
    if match.padded and not given.other and trials[0].get("model") != "agrees":
        report.update(inputs="it is padded, and the result is another")
    if given.other and captured is not None:
        report.update(answered=pair.answered(model, captured, given.now))
    if captured is not None and not given.other and like:
        report.update(**pair.near(model, drawn, captured, like, report))


def _corrected_rows(old: Any, before: Inputs, now: Inputs) -> bool:
    try:
        results = _run(compare.unguarded(old), before)
    except Exception:
        return False
    return tables.corrected_rows(results, before.flat, now.flat)


class Given(NamedTuple):
    """The failing call, as the original was given it, and as the fixed script gives it."""

    match: correspondence.Correspondence
    captured: Any  # Inputs, or None
    now: Any
    other: str | None  # how they differ; "" they do not, None: that is not known


def first_part(options: Any, captured: Inputs) -> Inputs:
    """Return a call, or the first of those that the fixed script splits it over."""
    if not options.parts:
        return captured
    flat = [changed.part(leaf, options.parts, 0) for leaf in captured.flat]
    return standalone.with_leaves(captured, flat)


def given_of(options: Any, old: Any, new: Any) -> Given:
    def read(path: str | None) -> Any:
        return standalone.read_inputs(path) if path else None

    captured, now = read(options.inputs), read(options.now)
    calls = [(read(was).flat, read(later).flat) for was, later in options.call]
    if captured is None or now is None:
        match = correspondence.Correspondence(old, new, calls)
        return Given(match, captured or (None if options.before else now), now, None)
    wanted = first_part(options, captured)
    match = correspondence.Correspondence(old, new, [*calls, (wanted.flat, now.flat)])
    other = ""
    if not match.by_values:
        other = changed.differ(*changed.by_name(wanted, now))
        match = correspondence.Correspondence(old, new, calls)
    if not other and match.plain:
        captured = now  # as the package is given them now
    return Given(match, captured, now, other)


def drawn_for(match: Any, old: Any, new: Any, captured: Inputs | None) -> fresh.Fresh:
    """Return what draws inputs from all over what the original accepts."""
    others = [captured.flat] if captured is not None else []
    given = standalone.example(new)
    flat = standalone.user_inputs(old)
    if given is not None:
        places = dict(match.places())
        others.append([given.flat[places[n]] if n in places else None for n in range(len(flat))])
    return fresh.Fresh(old, others, [*limits.constants(new), *limits.constants(old)])


def held_out(old: Any, drawn: fresh.Fresh, seeds: int) -> Iterator[tuple[str, Inputs | None]]:
    """Yield the example's inputs and fresh ones."""
    yield "the example", standalone.example(old)
    for number in range(_TRIALS_A_SEED * seeds):
        yield f"fresh inputs {number + 1}", drawn.draw(number)


def _kept(program: Any, inputs: Inputs) -> Document:
    """Say which promises of fake kernels and of schemas, and which guards, the failing call still
    breaks."""
    seen = eager.run(program.module(), standalone.copied(inputs))
    wrong = [
        f"{one['op']} returns {one['property']} {one['got']}, its fake kernel promises "
        f"{one['expected']}"
        for one in seen.mismatches
    ]
    writing = [one["op"] for one in seen.writes]
    return {"unkept": wrong, "refused": seen.broken, "writing": writing}


class Pair:
    """The program as it was and as it is now, each with and without its guards."""

    def __init__(self, old: Any, new: Any, match: correspondence.Correspondence) -> None:
        self.old, self.new, self.match = old, new, match
        self.same = old is new
        self.plain_old, self.plain_new = compare.unguarded(old), compare.unguarded(new)
        self.guarded_old, self.guarded_new = old.module(), new.module()
        self.random = bool(compare.random_ops(new))

    def tried(self, model: Any, inputs: Inputs, now: Inputs | None = None) -> Document:
        """Say how the package and the programs did on these inputs, which the fixed script gives as
        `now`."""
        found: Document = {"shapes": [list(getattr(leaf, "shape", ())) for leaf in inputs.flat]}
        given = self.given(inputs, now)
        fixed, fixed_exact, why_fixed = _eager(self.plain_new, given)
        before, exact, why = fixed, fixed_exact, why_fixed
        if not self.same:
            before, exact, why = _eager(self.plain_old, inputs)
            accepted = eager.run(self.guarded_old, standalone.copied(inputs)).exception
            refused = eager.run(self.guarded_new, standalone.copied(given)).exception
            found["refused"] = refused if accepted is None else None
        found.update(original_raises=why, fixed_raises=why_fixed)
        found["finite"] = before is not None and all(map(_finite, exact or before))
        try:
            package = _run(model, given)
        except Exception as error:
            return {**found, "package_raises": events.describe_error(error)}
        if fixed is not None:
            held = self.held(package, fixed, fixed_exact, self.plain_new, given)
            found["package"], found["figures"] = held
        if not self.same and fixed is not None and before is not None:
            judged = where_finite(self.unpadded(fixed, before), before, exact)
            held = self.held(judged, before, exact, self.plain_old, inputs)
            found["model"], found["model_figures"] = held
        found["package_finite"] = all(map(_finite, package))
        if before is not None:
            found.update(nonfinite_before=_nonfinite(before), nonfinite=_nonfinite(package))
        if before is not None and exact is not None:
            found["still_nonfinite"] = sum(map(_still_nonfinite, package, before, exact))
        return found

    def given(self, inputs: Inputs, now: Inputs | None = None) -> Inputs:
        """Return inputs of the original as the fixed program takes them."""
        if now is not None and not self.same:
            return self.match.declared(now)
        return inputs if self.same else self.match.made(inputs)

    def unpadded(self, now: list[Any], before: list[Any]) -> list[Any]:
        """Return results of padded inputs in the sizes of those of the inputs without."""
        if not self.match.padded or len(now) != len(before):
            return now
        return [
            one[tuple(map(slice, was.shape))] if getattr(was, "ndim", 0) == one.ndim else one
            for one, was in zip(now, before)
        ]

    def answered(self, model: Any, inputs: Inputs, now: Inputs) -> bool:
        """Tell whether the package gives for other inputs what the original does for these."""
        before, exact, why = _eager(self.plain_old, inputs)
        floats = [one for one in before or () if is_float(one)]
        if why is not None or not floats or not all(map(_finite, exact or before)):
            return False
        try:
            package = _run(model, self.given(inputs, now))
        except Exception:
            return False
        return self.held(package, before, exact, self.plain_old, inputs)[0] == "agrees"

    def held(
        self, given: Any, right: Any, exact: Any, module: Any, inputs: Inputs
    ) -> tuple[str, list[Document]]:
        """Hold results against what a program gives; return the verdict, and a few figures."""
        outputs, _ = compare.within_rounding(given, right, exact, module, inputs)
        return compare.verdict(outputs, self.random), outputs[:2]

    def near(
        self,
        model: Any,
        drawn: fresh.Fresh,
        failing: Any,
        like: list[Inputs],
        report: standalone.Report,
    ) -> Document:
        """Say how the package does on inputs that are like the failing ones; nothing where it still
        fails on those."""
        if self.same or self._done(model, failing) is None:
            return {}
        found = []
        for number, inputs in enumerate(like, 1):
            name = f"inputs like the failing call's, {number}"
            report.update(state=f"trying {name}", trying=name)
            found.append({"name": name, **self.tried(model, inputs)})
        invented = bool(self.beyond(drawn, failing))
        return {"near": found, "invented": invented, "trying": None}

    def alike(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs on which the original fails as on the failing ones."""
        if not self.fails(failing):
            return []
        given = [*self.beyond(drawn, failing), *neighbours.moved(drawn, failing)]
        return [one for one in given if self.fails(one)]

    def beyond(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs with indices further out of bounds; none where the fix gave a table more
        rows of its own, which has another end then."""
        return [] if limits.grown(self.old, self.new) else neighbours.beyond(drawn, failing)

    def _done(self, model: Any, inputs: Inputs) -> list[Any] | None:
        """Return what the package gives; None where it raises."""
        try:
            return _run(model, self.given(inputs))
        except Exception:
            return None

    def fails(self, inputs: Inputs) -> bool:
        """Tell whether the original raises, or returns what is not finite."""
        before, exact, why = _eager(self.plain_old, inputs)
        return why is not None or not all(map(_finite, [*before, *(exact or ())]))


def where_finite(now: list[Any], before: list[Any], exact: Any) -> list[Any]:
    """Return the results of now, with what was before where that is not finite, in float64 too:
    what takes the place of those is judged apart."""

    def kept(one: Any, was: Any, truth: Any) -> Any:
        tensors = isinstance(one, torch.Tensor) and isinstance(was, torch.Tensor)
        if not tensors or not was.is_floating_point() or one.shape != was.shape:
            return one
        finite = was.isfinite() & (truth.isfinite() if truth is not None else True)
        return torch.where(finite, one, was.to(one.dtype))

    if len(now) != len(before):
        return now
    return [
        kept(one, was, exact[place] if exact is not None else None)
        for place, (one, was) in enumerate(zip(now, before))
    ]


def _eager(module: Any, inputs: Inputs) -> tuple[Any, Any, Document | None]:
    """Return the outputs as they are and in float64; with the error of a program that raises."""
    try:
        plain = _run(module, inputs)
    except Exception as error:
        return None, None, events.describe_error(error)
    exact = eager.exact(module, inputs)
    return plain, exact["outputs"] if exact is not None else None, None


def _run(model: Any, inputs: Inputs) -> list[Any]:
    """Call with copies of the inputs, which the model may write to; return flat CPU outputs."""
    with torch.no_grad():
        return list(map(graph_run.on_cpu, standalone.results(model, standalone.copied(inputs))))


def _finite(value: Any) -> bool:
    return not is_float(value) or bool(value.isfinite().all())


def _nonfinite(values: list[Any]) -> list[int]:
    """Return how many elements are NaN, and how many are infinite."""
    floating = list(filter(is_float, values))
    return [sum(int(getattr(v, test)().sum()) for v in floating) for test in ("isnan", "isinf")]


def _still_nonfinite(package: Any, before: Any, exact: Any) -> int:
    """Count the elements that were not finite, are in float64, and are not that value now."""
    if not is_float(before) or not package.shape == before.shape == exact.shape:
        return 0
    asked = ~before.isfinite() & exact.isfinite()
    if not asked.any():
        return 0
    now, right = package.double()[asked], exact.double()[asked]
    granted = 1e-2 * (right.abs() + right.abs().mean())
    return int((~((now - right).abs() <= granted)).sum())
