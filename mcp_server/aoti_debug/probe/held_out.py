"""Hold a fixed package against eager and against the model as it was, on inputs it never saw.

For the failing call's inputs, the example's and fresh ones of other sizes: does the package agree
with the program that it was made of, and does that program compute what the original one did? Where
the original keeps a state, each of these begins a session: a few calls in a row, of a package that
is loaded anew and of programs in their first state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import Any, NamedTuple

from . import (
    changed,
    compare,
    correspondence,
    describe,
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
from .sessions import State

Document = dict[str, Any]
Inputs = standalone.Inputs
Load = Callable[[], Any]  # returns a model in its first state

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
        "--call", nargs=3, action="append", default=[], help="number and inputs of one of both"
    )
    parser.add_argument("--number", type=int, default=0, help="of the failing call")
    parser.add_argument("--session", type=int, default=1, help="calls of one, where there is state")
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
        near = [*like, *pair.nearer(drawn, captured)] if options.refusals else []
        if near:
            names = [node.name for node in standalone.user_inputs(old)]
            wrong = refusals.wrong(names, options.refusals, captured, legal, near)
            report.update(wrong_refusals=wrong)
        gone = given.other and given.now is not None and match.plain
        if options.refusals and gone and refusals.drops(drawn, captured.flat, given.now.flat):
            report.update(wrong_refusals=["it drops rows that the original computes"])
    wanted = pair.given(some, None if given.other else given.now)
    report.update(**_kept(new, wanted))
    anew = partial(standalone.load_package, options, wanted, report)
    load = anew if describe.state(old) or describe.state(new) else cache(anew)
    trials: list[Document] = []
    row = in_a_row(options, old, match) if describe.state(old) else []
    if row:
        found.append(("a session of fresh inputs", drawn.like(0, row[0])))
    for number, (name, inputs) in enumerate(found):
        if inputs is None:
            continue
        report.update(state=f"trying {name}", trying=name)
        own = given.now if inputs is captured and not given.other else None
        later = following(drawn, match, row, inputs, len(row) * (number + 1))
        trials.append({"name": name, **pair.tried(load, inputs, own, later)})
        report.update(trials=trials)
    if match.padded and not given.other and trials[0].get("model") != "agrees":
        report.update(inputs="it is padded, and the result is another")
    if given.other and captured is not None:
        report.update(answered=pair.answered(load, captured, given.now))
    if captured is not None and not given.other and like:
        report.update(**pair.near(load, drawn, captured, like, report))


def in_a_row(options: Any, old: Any, match: correspondence.Correspondence) -> list[list[Any]]:
    """Return flat inputs of the original in the sizes of a session's calls: those of the script's
    first calls where they are kept, else of the example."""
    numbered = dict(_numbered(options, 0))
    example = standalone.example(old)
    files = [numbered.get(number) for number in range(1, options.session + 1)]
    known = [standalone.read_inputs(file).flat if file else None for file in files]
    most = min((len(one.values) for one in match.carried if one.result is None), default=len(known))
    found = [one if one or example is None else example.flat for one in known[:most]]
    return [one for one in found if one is not None]


def _numbered(options: Any, which: int) -> Iterator[tuple[int, str]]:
    """Yield the number and file of calls of the script as it was (0) and as it is (1)."""
    yield from ((int(number), files[which]) for number, *files in options.call)
    file = (options.inputs, options.now)[which]
    if file and options.number:
        yield options.number, file


def following(
    drawn: fresh.Fresh,
    match: correspondence.Correspondence,
    row: list[list[Any]],
    inputs: Inputs,
    number: int,
) -> list[Inputs]:
    """Return the inputs of the calls that follow in a session; none where the fixed script gives
    something call by call, and these inputs have other sizes than its own first call."""
    told = any(one.result is None for one in match.carried)
    if told and _shapes(inputs.flat) != _shapes(row[0]):
        return []
    found = [drawn.like(number + place, flat) for place, flat in enumerate(row[1:])]
    return [one for one in found if one is not None]


def _shapes(flat: list[Any]) -> list[Any]:
    return [list(getattr(leaf, "shape", ())) for leaf in flat]


def _corrected_rows(old: Any, before: Inputs, now: Inputs) -> bool:
    results = _eager(compare.unguarded(old), before).plain
    if results is None:
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
    calls = [(read(was).flat, read(later).flat) for _, was, later in options.call]
    first: list[Any] = []
    if describe.state(old):
        files = dict(_numbered(options, 1))
        numbers = takewhile(files.get, range(1, options.session + 1))
        first = [read(files[number]).flat for number in numbers]
    if captured is None or now is None:
        match = correspondence.Correspondence(old, new, calls)
        return Given(match, captured or (None if options.before else now), now, None)
    wanted = first_part(options, captured)
    match = correspondence.Correspondence(old, new, [*calls, (wanted.flat, now.flat)], first)
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
    module = program.module()
    with State(module).kept():
        seen = eager.run(module, standalone.copied(inputs))
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

    def tried(
        self, load: Load, inputs: Inputs, now: Inputs | None = None, later: Sequence[Inputs] = ()
    ) -> Document:
        """Say how the package and the programs did on these inputs, which the fixed script gives as
        `now`, and on those of `later` calls in a row, each with the state of its own calls: of the
        first of these calls that is not right, with its number, else of the first."""
        model, first = load(), Document()
        last = Called()
        old, new = State(self.plain_old), State(self.plain_new)
        with old.kept(), new.kept():
            for number, one in enumerate((inputs, *later)):
                given = self.given(one, now, number, last.fixed.plain)
                own = self.given(one, now, number, last.package)
                last = self.called(model, one, given, own)
                if number and last.before.why:
                    break  # its state does not allow the call: a session ends there
                first = first or last.found
                if _wrong(last.found):
                    return {**last.found, "call": number + 1}
                if last.before.why:
                    break
                new.put(last.fixed.after)
                if not self.same:
                    old.put(last.before.after)
        return first

    def called(self, model: Any, inputs: Inputs, given: Inputs, own: Inputs) -> Called:
        """Make a call with the original's inputs, the fixed program's and the package's."""
        found: Document = {"shapes": _shapes(inputs.flat)}
        fixed = before = _eager(self.plain_new, given)
        if not self.same:
            before = _eager(self.plain_old, inputs)
            with State(self.guarded_old).kept(), State(self.guarded_new).kept():
                accepted = eager.run(self.guarded_old, standalone.copied(inputs)).exception
                refused = eager.run(self.guarded_new, standalone.copied(given)).exception
            found["refused"] = refused if accepted is None else None
        found.update(original_raises=before.why, fixed_raises=fixed.why)
        found["finite"] = before.finite
        try:
            package = _run(model, own)
        except Exception as error:
            raised = events.describe_error(error)
            return Called(fixed, before, None, {**found, "package_raises": raised})
        if fixed.plain is not None:
            held = self.held(package, fixed.plain, fixed.exact, self.plain_new, given)
            found["package"], found["figures"] = held
        was, exact = before.plain, before.exact
        shared = self.match.shared(package)
        if not self.same and fixed.plain is not None and was is not None:
            now = self.unpadded(self.match.shared(fixed.plain), was)
            judged = where_finite(now, was, exact)
            held = self.held(judged, was, exact, self.plain_old, inputs)
            found["model"], found["model_figures"] = held
        found["package_finite"] = all(map(_finite, package))
        if was is not None:
            found.update(nonfinite_before=_nonfinite(was), nonfinite=_nonfinite(shared))
        if was is not None and exact is not None:
            found["still_nonfinite"] = sum(map(_still_nonfinite, shared, was, exact))
        return Called(fixed, before, package, found)

    def given(
        self, inputs: Inputs, now: Inputs | None = None, number: int = 0, last: Any = None
    ) -> Inputs:
        """Return inputs of the original as the fixed program takes them, in a call of this number
        of a session (from 0); `last` are the results of the call before."""
        if now is not None and not self.same and not number and not self.match.carried:
            return self.match.declared(now)
        return inputs if self.same else self.match.made(inputs, number, last)

    def unpadded(self, now: list[Any], before: list[Any]) -> list[Any]:
        """Return results of padded inputs in the sizes of those of the inputs without."""
        if not self.match.padded or len(now) != len(before):
            return now
        return [
            one[tuple(map(slice, was.shape))] if getattr(was, "ndim", 0) == one.ndim else one
            for one, was in zip(now, before)
        ]

    def answered(self, load: Load, inputs: Inputs, now: Inputs) -> bool:
        """Tell whether the package gives for other inputs what the original does for these."""
        before = _eager(self.plain_old, inputs)
        if not before.finite or not any(map(is_float, before.plain)):
            return False
        try:
            package = _run(load(), self.given(inputs, now))
        except Exception:
            return False
        held = self.held(package, before.plain, before.exact, self.plain_old, inputs)
        return held[0] == "agrees"

    def held(
        self, given: Any, right: Any, exact: Any, module: Any, inputs: Inputs
    ) -> tuple[str, list[Document]]:
        """Hold results against what a program gives; return the verdict, and a few figures."""
        outputs, _ = compare.within_rounding(given, right, exact, module, inputs)
        return compare.verdict(outputs, self.random), outputs[:2]

    def near(
        self,
        load: Load,
        drawn: fresh.Fresh,
        failing: Any,
        like: list[Inputs],
        report: standalone.Report,
    ) -> Document:
        """Say how the package does on inputs that are like the failing ones; nothing where it still
        fails on those."""
        if self.same or self._done(load(), failing) is None:
            return {}
        found = []
        for number, inputs in enumerate(like, 1):
            name = f"inputs like the failing call's, {number}"
            report.update(state=f"trying {name}", trying=name)
            found.append({"name": name, **self.tried(load, inputs)})
        invented = bool(self.beyond(drawn, failing))
        return {"near": found, "invented": invented, "trying": None}

    def alike(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs on which the original fails as on the failing ones."""
        if not self.fails(failing):
            return []
        given = [*self.beyond(drawn, failing), *neighbours.moved(drawn, failing)]
        return [one for one in given if self.fails(one)]

    def nearer(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs nearer to what the original computes than the failing ones, which it does
        not compute either."""
        if limits.grown(self.old, self.new):
            return []
        given = neighbours.nearer(drawn, failing)
        return [one for one in given if self.fails(one) or not drawn.accepts(one)]

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
        before = _eager(self.plain_old, inputs)
        return before.why is not None or not all(map(_finite, before.plain)) or not before.finite


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


class Ran(NamedTuple):
    """What a program made of a call."""

    plain: Any = None  # the flat outputs; None: it raised
    exact: Any = None  # in float64; None: an operator refuses that
    why: Document | None = None  # the error of a program that raises
    after: Any = ()  # its state

    @property
    def finite(self) -> bool:
        """Tell whether all is finite, in float64 where that is known."""
        return self.plain is not None and all(map(_finite, self.exact or self.plain))


class Called(NamedTuple):
    """What both programs and the package made of a call, and how they did."""

    fixed: Ran = Ran()
    before: Ran = Ran()
    package: Any = None  # the flat outputs; None: it raised
    found: Document = {}  # noqa: RUF012 - never written to


def _eager(module: Any, inputs: Inputs) -> Ran:
    """Call a program, which is left in its state."""
    state = State(module)
    try:
        with state.kept():
            plain, after = _run(module, inputs), state.now()
    except Exception as error:
        return Ran(why=events.describe_error(error))
    exact = eager.exact(module, inputs)
    return Ran(plain, exact["outputs"] if exact is not None else None, None, after)


def _wrong(found: Document) -> bool:
    """Tell whether a call did not go as in the original."""
    raises = "package_raises" in found and found["fixed_raises"] is None
    differs = found.get("package") != "agrees" or found.get("model", "agrees") != "agrees"
    return bool(raises or differs or found.get("refused") or found.get("still_nonfinite"))


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
