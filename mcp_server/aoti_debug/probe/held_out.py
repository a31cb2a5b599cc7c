"""Hold a fixed package against eager and against the model as it was, on inputs it never saw.

For the failing call's inputs, the example's and fresh ones of other sizes: does the package agree
with the program that it was made of, and does that program compute what the original one did? Where
the original keeps a state, each of these begins a session: a few calls in a row, of a package that
is loaded anew and of programs in their first state.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import takewhile
from typing import Any, NamedTuple

from . import (
    changed,
    compare,
    correspondence,
    describe,
    eager,
    experiments,
    fresh,
    limits,
    originals,
    package_alone,
    refusals,
    standalone,
    tables,
)
from .state import State
from .two_programs import Pair, called_eagerly, shapes

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
    parser.add_argument("--rows", action="store_true", help="rows of a batch were mixed")
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
    if options.rows:
        report.update(mixed=_mixed(new, given.now, captured, standalone.example(new)))
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


def _mixed(program: Any, *inputs: Inputs | None) -> str | None:
    """Return the operator that makes the result of a row depend on others of its batch; None where
    no batch is known."""
    for one in inputs:
        if one is not None:
            found = experiments.mixing(program, partial(standalone.copied, one))
            if found is not None:
                return str(found.get("op", ""))
    return None


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
    if told and shapes(inputs.flat) != shapes(row[0]):
        return []
    found = [drawn.like(number + place, flat) for place, flat in enumerate(row[1:])]
    return [one for one in found if one is not None]


def _corrected_rows(old: Any, before: Inputs, now: Inputs) -> bool:
    results = called_eagerly(compare.unguarded(old), before).plain
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
    before = [files for number, *files in options.call if int(number) < options.number]
    calls = [(read(was).flat, read(later).flat) for was, later in before]
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
