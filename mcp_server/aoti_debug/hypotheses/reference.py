"""The hypothesis that the reference differs: its mode, its weights or its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_debug.diagnose.calls import at_place, spot, writes_to
from aoti_debug.diagnose.from_constants import given_by
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Experiment, Fix, source_of
from aoti_debug.plain import few
from aoti_debug.symptom import (
    agreeing,
    apart_after_update,
    apart_with_state,
    compared,
    complains,
    far,
    partly,
    printed,
    rejects,
    verdict,
)

if TYPE_CHECKING:
    from aoti_debug.read.check_report import Leaves, Pair
    from aoti_debug.read.event_records import Reference

GUIDE = "guides/wrong-results.md#compare-with-eager"
Words = tuple[Category, str, str]  # category, what differs, fix
UNLIKE = "inputs changed or prepared differently before the call"
AGAIN = "export and compile again after the weights change, or load them"


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield how the reference differs, where the script complains and the package is right."""
    shown = prepared_otherwise(observations)
    if not complains(observations) and not shown:
        return
    tried, pairs = agreeing(observations), compared(observations)
    run, pair = observations.run, observations.checks.pair
    if pair is not None and (moved := state_of_package(observations, pair)) is not None:
        yield moved
        return
    if only_state(observations):
        return  # a package that is given other calls than the module may be meant
    if not tried and not (pair is not None and pair.explained):
        return
    seen = {one.caller for one in pairs}
    others = [one for one in run.references if not one.paired]
    if pairs:  # what was never compared is another matter
        others = [one for one in others if one.caller in seen and (one.rows or partly(run, one))]
    if not rejects(observations):
        others = shown
    # What is called more often than the package is not given the same inputs, but parts of them.
    count = Counter(who for who, given in {(o.caller, o.given) for o in run.references if o.given})
    others = [one for one in others if not one.other or count[one.caller] <= run.made]
    fine = [one for one in pairs if not one.far]
    for one in far(observations) or others:
        one = telling(one, fine) if one.far else one
        found = words(observations, one)
        if found is not None:
            place, kind, again = one.caller, "", rewritten(observations, one)
            if again or found[0].startswith("constants_"):  # there is the fault, not here
                kind = "constants"
            elif one.rows or one.other or one.reordered:
                kind = "run"
            elif (one.changed or one.another) and stale(observations):
                kind = "load"
            place = (run.called(kind) if kind else None) or place
            reason = candidate(one, found, tried, pairs, place, pair, known=again)
            if one.of_class and pair is not None and pair.leaves is not None:
                reason = leaving(reason, pair.leaves)
            in_place = one.written and one.lazy is None
            yield with_writer(reason, observations) if in_place else reason
            return


def prepared_otherwise(observations: Observations) -> list[Reference]:
    """Return where a script that ends well, but prints a difference, gave the module some of the
    package's rows, and others of which one input is unlike."""
    rows = [o for o in observations.run.references if o.unlike_inputs and len(o.rows) == 2]
    return [o for o in rows if o.rows[0] < o.rows[1]] if printed(observations) else []


def only_state(observations: Observations) -> bool:
    """Tell whether a script that ends well has no other symptom than calls of a state."""
    others = rejects(observations) or verdict(observations) or apart_after_update(observations)
    return apart_with_state(observations) and not others


def leaving(reason: Candidate, leaves: Leaves) -> Candidate:
    """Put the lines first of the module in which reference and program differ, the program's
    before the reference's."""
    lines = source_of(*((one.file, one.line) for one in (*leaves.line, *leaves.own)))
    until = f"agree up to {leaves.after}" if leaves.after else "differ from the first on"
    because = Experiment(experiment="results of the reference's modules", result=until)
    known = reason.diagnosis
    return reason.but(
        source=[*lines, *known.source], because=[*known.because[:2], because], confidence="likely"
    )


def with_writer(reason: Candidate, observations: Observations) -> Candidate:
    """Put the line first that was seen to write to an input after the call."""
    seen = observations.handed.run.handed if observations.handed is not None else ()
    lines, source = source_of(*(one.writer for one in seen if one.after)), reason.diagnosis.source
    return reason.but(source=[*lines[:1], *(line for line in source if line not in lines[:1])])


def telling(one: Reference, fine: Sequence[Reference]) -> Reference:
    """Leave out differences that an agreeing call has too; names of weights do not show that."""
    names = ("training", "exported_training", "settings", "attributes")
    alike = (n for n in names if any(getattr(other, n) == getattr(one, n) for other in fine))
    same: dict[str, Any] = dict.fromkeys(alike, ())
    return replace(one, **same)


def state_of_package(observations: Observations, pair: Pair) -> Candidate | None:
    """Return that earlier calls changed the package's state, shown by a fresh or equal state."""
    run, repeats = observations.run, observations.checks.repeats
    if repeats is None:
        return None
    one = next((r for r in run.references if r.call == pair.call and r.kept), None)
    call = run.call_at(one.pid, pair.call) if one is not None else None
    if one is None or call is None or call.overwritten or one.written or one.reordered:
        return None
    anew = pair.anew is not None and pair.anew.agrees
    given = {r.call for r in run.references if r.paired and r.pid == one.pid}
    own = [c for c in run.calls if c.pid == one.pid and (c.call or 0) < pair.call]
    extra = [c for c in own if c.call not in given]
    # Repeats of one call may agree though it has state; what calls of the module change tells.
    stateful = repeats.stateful or bool(repeats.buffers)
    stateful = stateful or (bool(one.moved) and not loaded(observations))
    if not (anew or (extra and pair.explained and one.moved)) or not (own and stateful):
        return None
    names = few(repeats.buffers or one.moved)
    state = f"state{f' ({names})' if names else ''}"
    if extra:
        place = run.caller(extra[-1])
        which, them = f"{len(extra)} calls", "them"
        if len(extra) == 1:
            which, them = f"call {extra[0].call}", "it"
        said = f"{which}{at_place(place)} changed the package's {state} before call {pair.call}, "
        said += f"and the reference was not given {them}"
        fix = "load the package again after calls that are not to count, or give them to both"
    else:
        place = run.caller(call)
        said = f"call {pair.call} begins with the {state} that earlier calls left in the package; "
        said += "the reference begins anew"
        fix = f"load the package again, or give it {names or 'its state'} with load_constants, "
        fix += "where the reference begins anew"
    how = "the package loaded anew" if anew else "the state of the reference"
    tried = Experiment(experiment=f"call {pair.call}, with {how}", result="agrees with it")
    found = candidate(one, ("user_code", said, fix), "", (), place)
    source = [*found.diagnosis.source[:1], *last_line_of(repeats.written)]
    found = found.but(source=[*source, *found.diagnosis.source[1:]])
    because = [tried, *(b for b in found.diagnosis.because if b.result != tried.result)]
    alone = all(r.paired or r.asked or r.caller != one.caller for r in run.references)
    return found.but(because=because[:3], confidence="proved" if anew or alone else "likely")


def stale(observations: Observations) -> bool:
    """Tell whether the package was loaded again without having been compiled again."""
    phases = observations.run.phases
    kinds = [p.phase for p in phases if p.phase in ("lower", "load") and p.ok]
    return kinds[-2:] == ["load", "load"] or (bool(kinds) and "lower" not in kinds)


def words(observations: Observations, one: Reference) -> Words | None:
    """Say the first way in which the reference differs, the surest first."""
    pair = observations.checks.pair
    if rewritten(observations, one):
        said = "user-managed weights were written again after load_constants: "
        held = one.changed or tuple(sorted(loaded(observations)))
        fix = "leave their memory as it is while the package uses it, or give it copies"
        return "user_code", said + few(held), fix
    if pair is not None and pair.explained:
        if one.changed:
            return weights(observations, one)
        if one.moved:
            return state(observations, one.moved)
        return "constants_mismatch", "the package holds other weights than the reference", AGAIN
    if one.training:
        said = f"the reference runs in training mode ({', '.join(one.training[:3])})"
        return "user_code", said, "call eval() on the module before it is compared"
    if one.exported_training:
        said = f"the model was exported in training mode ({', '.join(one.exported_training[:3])})"
        fix = "call model.eval() before torch.export.export, and compile again"
        return "wrong_result", said, fix
    if one.reordered:
        moved = [(n, of) for n, of in enumerate(one.reordered) if n != of]
        given = [f"{named(observations, n)} is given {named(observations, of)}" for n, of in moved]
        said = "the package is given the tensors of the module's call in other places: "
        said += ", ".join(given[:3])
        return "contract_argument", said, "pass the inputs in one order to both"
    if one.written:
        names = named(observations, *one.written[:3])
        said = f"{names} changed in place between the package's call and the reference's"
        return "user_code", said, f"give package and reference each a copy of {names}"
    if one.attributes:
        said = f"the reference has other attributes than at export: {'; '.join(one.attributes[:2])}"
        fix = "set the module's attributes before the export, and compile again after a change"
        return "user_code", said, fix
    if one.changed:
        return weights(observations, one)
    for name, now, then in one.settings:
        said = f"the reference runs with {name} {now}, the export had {then}"
        return "user_code", said, f"run the reference with {name} as it was at the export"
    if one.moved:
        return state(observations, one.moved)
    if one.other and one.call is not None:
        names = named(observations, *one.other[:3])
        if all(writes_to(observations, n) for n in one.other):
            said = (
                f"call {one.call} is given {names} as earlier calls left it, unlike the reference"
            )
            fix = f"give each sequence of calls its own copy: the model writes to {names}"
            return "user_code", said, fix
        said = f"{names}: the reference is given other values than call {one.call} of the package"
        return "user_code", said, "give both the same inputs, prepared in the same way"
    if len(one.rows) == 2:
        said = f"the package never received {one.rows[0]} of {one.rows[1]} reference rows: "
        names = named(observations, *one.unlike_inputs[:4])
        verb = "differ" if len(one.unlike_inputs) > 1 else "differs"
        said += f"{names} {verb}" if names else UNLIKE
        fix = "copy a call's inputs before their memory is written again, and prepare them in the "
        fix += "same way for package and reference"
        in_threads = any(phase.details.thread for phase in observations.run.of("run")) and not names
        return "concurrency" if in_threads else "user_code", said, fix
    if one.far and one.another and stale(observations):
        at = at_place(observations.run.called("load"))
        said = f"the package loaded{at} was compiled earlier, for another module of the class that "
        fix = "compile it again, and name a package by all that its model is made of"
        return "user_code", said + "it is compared with", fix
    if one.far and one.of_class:
        return "user_code", *of_another_class(one, pair)
    if one.far and len(one.dtypes) == 2:
        mine, theirs = one.dtypes
        said = f"the reference computes in {mine}, the exported program in {theirs}: other values"
        fix = f"compare with a module in {theirs} first; what is left is the precision of {theirs}"
        return "user_code", said, fix
    if one.far:
        which = "another module of the same class" if one.another else "the module"
        said = f"the reference, {which}, gives other values than the program that was exported"
        return "user_code", said, "compare with the module that was exported, as it was then"
    return None


def of_another_class(one: Reference, pair: Pair | None) -> tuple[str, str]:
    """Say where a reference of another class leaves the program that was exported; and the fix."""
    leaves = pair.leaves if pair is not None and pair.call == one.call else None
    said = f"the reference, a {one.of_class}, "
    if leaves is None:
        said += "gives other values than the exported program"
        return said, "compare with the module that was exported"
    kinds = f"{leaves.of}, exported as {leaves.exported}" if leaves.exported else leaves.of
    said += f"differs from the exported program in {leaves.module} ({kinds})"
    fix = f"make {leaves.module} the same in both: its code, and the weights that it is given"
    return said, fix


def weights(observations: Observations, one: Reference) -> Words:
    """Say which weights are others than at the export, and whether the package was given them."""
    moved = [name for name in one.changed if name in one.moved]
    if moved:
        return state(observations, moved)
    given, idle = loaded(observations), loaded(observations, inactive=True)
    left, pair = left_out(observations, one), observations.checks.pair
    count = one.changed_count - len(one.changed) + len(left)
    if idle and left and set(left) <= idle:
        said = f"{few(left)}: given to the package's inactive weights, which no call uses"
        fix = "give them with use_inactive=False, or swap the buffers"
        return "constants_mismatch", said, fix
    if one.swapped:
        mine, theirs = one.swapped[0]
        said = f"{len(one.swapped)} weights are given under the names of others: {mine} holds "
        said += f"{theirs} of the reference"
        fix = "pair names and tensors in one order, or store the names with the tensors"
        return "constants_mismatch", said, fix
    if given and pair is not None and left and set(left) <= {*pair.left}:
        said = f"load_constants cannot change {few(left)}: compiled into the package's code"
        fix = "compile with inductor_configs={'always_keep_tensor_constants': True}"
        return "constants_mismatch", said, fix
    if given and left:
        said = f"load_constants was not given {count} of the reference's weights: {few(left)}"
        return "constants_missing", said, "give load_constants all weights (check_full_update=True)"
    if given:
        said = "load_constants was given other values than the reference has: "
        same = "give the package and the reference the same weights"
        return "user_code", said + few(one.changed), same
    when = "its first call" if one.since else "the export"
    changed = f"{count} weight{'s' * (count > 1)}"
    said = f"{changed} of the reference changed after {when}: "
    if one.another:
        said = f"the reference is another module, with {count} other weights: "
    elif stale(observations):
        at = at_place(observations.run.called("load"))
        said = f"the package loaded{at} was compiled before {changed} changed: "
    return "user_code", said + few(left), again(observations, left)


def left_out(observations: Observations, one: Reference) -> list[str]:
    pair, given = observations.checks.pair, loaded(observations)
    unused = pair.left if pair is not None and pair.given is not None and pair.given.agrees else ()
    return [name for name in one.changed if name not in given and name not in unused]


def rewritten(observations: Observations, one: Reference) -> bool:
    """Tell whether user-managed weights were overwritten after an earlier call was right."""
    run, pair = observations.run, observations.checks.pair
    managed = any(load.details.user_managed for load in run.of("constants")[-1:])
    earlier = [r for r in compared(observations) if not r.far and (r.call or 0) < (one.call or 0)]
    own = pair is not None and (pair.explained or (pair.anew is not None and pair.anew.agrees))
    return own and bool(earlier) and managed


def again(observations: Observations, names: Sequence[str]) -> str:
    """Say what brings weights into a package; some are written into its code."""
    pair = observations.checks.pair
    inlined = [name for name in names if pair is not None and name in pair.left]
    fix = f"export and compile again: load_constants cannot give it {few(inlined)}, "
    return fix + "not among its constants" if inlined else AGAIN


def state(observations: Observations, names: Sequence[str]) -> Words:
    """Say that calls of the module change its state, and whether those of the package do so too."""
    repeats = observations.checks.repeats
    if repeats is not None and (repeats.stateful or set(names) <= set(repeats.buffers)):
        said = f"{few(names)}: calls of the module have changed it since the export; the "
        fix = "reset the module's state before the comparison, or export it again"
        return "user_code", said + "package began with its value then", fix
    said = f"each call of the module changes {few(names)}; the package keeps the value that it "
    fix = "register it as a buffer and change it in place (copy_), or pass it in and return it"
    return "wrong_result", said + "had at the export", fix


def loaded(observations: Observations, *, inactive: bool = False) -> set[str]:
    loads = observations.run.of("constants")
    return given_by(load for load in loads if load.details.inactive == inactive)


def named(observations: Observations, *inputs: int) -> str:
    call = observations.run.last_call
    return ", ".join(call.named(n) if call is not None else f"input {n}" for n in inputs)


def sure(one: Reference, pair: Pair | None) -> bool:
    """Tell whether an experiment took the difference away, or only one difference was found."""
    if pair is not None and pair.explained:
        return True
    if one.reordered or one.written:  # what was kept of the pair is what the reference was given
        anew = pair.anew if pair is not None and pair.call == one.call else None
        return anew is not None and anew.agrees
    return one.reasons == 1 and not (one.changed and pair is not None and pair.weights)


def candidate(
    one: Reference,
    found: Words,
    tried: str,
    pairs: Sequence[Reference],
    place: tuple[str, int] | None,
    pair: Pair | None = None,
    *,
    known: bool = False,  # the package is right with its weights as they were given
) -> Candidate:
    category, said, fix = found
    at = at_place(place)
    fixes = [Fix(what=fix)]
    if one.lazy is not None and one.caller is not None:
        now = "evaluate the reference at once, where the generator is created: list(…)"
        why = f"the generator runs only when its values are read, at {spot(*one.lazy)}"
        fixes.insert(0, Fix(what=now, where=spot(*one.caller), why=why))
    because = []
    if pair is not None and pair.explained:
        program = "" if pair.given is not None and pair.given.agrees else "the exported program on "
        what = f"{program}call {pair.call}, with the weights of the reference"
        because.append(Experiment(experiment=what, result="agrees with the reference"))
    if tried:
        because.append(Experiment(experiment=tried, result="agree: the package is right"))
    if one.far:
        what = f"call {one.call} and the module on the same inputs, in the script"
        because.append(Experiment(experiment=what, result=f"{one.apart:.3g} apart"))
    if fine := dict.fromkeys(pair.call for pair in pairs if not pair.far):
        calls = ", ".join(map(str, list(fine)[:4]))
        because.append(Experiment(experiment=f"call {calls}, in the same way", result="agree"))
    return Kind(category, "output", Tier.DIFFERENT_VALUES, GUIDE).found(
        said if at in said else said + at,
        one.span,
        confidence="proved" if one.far and (known or sure(one, pair)) else "likely",
        source=source_of(*dict.fromkeys((place, one.caller, one.lazy))),
        because=because,
        fixes=fixes,
    )
