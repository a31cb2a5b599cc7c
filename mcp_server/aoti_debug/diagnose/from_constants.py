"""Candidates from constants loaded after the model: the runtime compares their names only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import at_place
from aoti_debug.diagnose.observations import (
    CRASHES,
    Candidate,
    Kind,
    Observations,
    UpdatePlayed,
    headline,
)
from aoti_debug.examine import weights_words
from aoti_debug.examine.weights_words import DIES
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fault, Fix, SourceLine, source_of
from aoti_debug.plain import few

if TYPE_CHECKING:
    from aoti_debug.package.documents import Use
    from aoti_debug.package.record import CompiledModel, Constant
    from aoti_debug.read.event_records import Call, Given, Phase
    from aoti_debug.record.run_seen import RunSeen

GUIDE = "guides/constants.md"
NAN_GUIDE = "guides/wrong-results.md#nan-and-inf"
MISMATCH = Kind("constants_mismatch", "constants", Tier.CONTRACT, GUIDE, confidence="proved")
MISSING = Kind("constants_missing", "run", Tier.CONTRACT, GUIDE, confidence="proved")
SPOILT = Kind("nan_or_inf", "output", Tier.CONTRACT, NAN_GUIDE)
LOAD_ALL = Fix(
    what="call load_constants(state_dict, check_full_update=True) right after loading",
    why="the first call reads null pointers otherwise",
)
NAMED = 2  # constants in a headline
SIBLINGS = 3  # given ones for each that was not, at least
_DIGITS = re.compile(r"\d+")
INLINED = 8  # elements; a constant of one dimension and no more of them becomes a literal


def candidates(observations: Observations) -> Iterator[Candidate]:
    run, model = observations.run, observations.model
    yield from from_spoilt(observations)
    ignored: set[str] = set()
    for load in run.of("constants"):
        ignored.update(load.details.ignored or ())
        yield from from_ignored(load)
    for update in observations.updates:
        stale = {one.constant for one in update.report.findings if one.proved}
        if update.wrong and not (stale and stale <= ignored):
            yield from_update(update, observations)
    yield from from_released(run)
    yield from from_another_instance(run)
    yield from from_written(run)
    call = run.call
    if model is None or model.wrapper is None:
        return
    loads = [p for p in run.of("constants") if of_package(p, call)]
    known = {constant.fqn or constant.name: constant for constant in model.wrapper.constants}
    known = {name: constant for name, constant in known.items() if not constant.folded}
    for load in loads:
        yield from from_load(load, known)
    yield from from_siblings(loads, known)
    if call is not None and model.wrapper.weights_in_library is False:
        yield from from_gaps(observations, call, model, known, loads)


def from_update(update: UpdatePlayed, observations: Observations) -> Candidate:
    """The update was played: constants that calls use are not the ones that were given, or not
    those of the checkpoint; that may be meant, where the script does not fail."""
    report = update.report
    found = [one for one in report.findings if one.proved]
    first = found[0] if found else None
    number = report.at if first is None else first.step
    phase = update.phases[number - 1] if 0 < number <= len(update.phases) else None
    made = [one.details.caller for one in update.phases[:number] if one is not None]
    place = next((caller for caller in reversed(made) if caller is not None), None)
    if first is None:
        said, fixes = DIES.format(signal=update.signal, step=number), list[Fix]()
    else:
        said = weights_words.headline(found, NAMED)
        fixes = [Fix(what=weights_words.words_of(first).fix)]
    step = report.steps[number - 1].step if 0 < number <= len(report.steps) else ""
    tied = {one.constant: one.detail for one in found if one.reason == "tied"}
    if code := weights_words.safe_code(report, tied):
        why = "played on this package: constants and outputs are then those of the new weights"
        fixes.append(Fix(what=code, why=why))
    shown = report.steps[-1].agrees is False or (first is not None and first.reason == "null")
    meant = first is not None and first.reason == "not_given" and not observations.failed
    explained = first is None or first.reason != "outputs"  # no constant is wrong
    missing = first is not None and first.reason in ("not_given", "null", "tied")
    kind = replace(MISMATCH, category="constants_missing") if missing else MISMATCH
    return kind.found(
        headline(said, after=at_place(place)),
        *([phase.span] if phase is not None else []),
        update.artifact,
        confidence="proved" if (shown and explained and not meant) or update.died else "likely",
        means=f"step {number} of {len(report.steps)}: {step}" if step else None,
        source=source_of(place),
        fixes=fixes,
    )


def spoilt_weights(observations: Observations) -> dict[str, tuple[Phase, Given]]:
    """Return the weights that were given to the model of the failing call with NaN in them."""
    return {
        given.name: (load, given)
        for load in observations.run.of("constants")
        if load.ok and of_package(load, observations.run.call)
        for given in load.details.constants or ()
        if given.nan > 0
    }


def from_spoilt(observations: Observations) -> Iterator[Candidate]:
    """A checkpoint with NaN was loaded into the model, and its calls return NaN."""
    outputs = [output for call in observations.run.calls for output in call.outputs]
    compared = observations.checks.compare  # a replay, which is given these weights too
    repeated = any(one.package.nan for one in compared.outputs) if compared is not None else False
    returned = repeated or any(output.nan for output in outputs)
    if outputs and not returned and all(output.nan is not None for output in outputs):
        return
    for order, (name, (load, given)) in enumerate(spoilt_weights(observations).items()):
        use = observations.uses.get(name)
        where = f"; {use.op} uses it" if use is not None else ""
        then = "calls return NaN since" if returned else "what calls returned was not counted"
        yield SPOILT.found(
            f"{name}, given to load_constants, holds {given.nan} NaN{where}: {then}",
            load.span,
            confidence="proved" if returned else "likely",
            constant=name,
            ops=[use.op] if use is not None else [],
            source=lines_of(use) if use is not None else [],
            fixes=[Fix(what=f"repair {name} in the checkpoint, with torch.isfinite as the test")],
            order=order,
        )


def lines_of(use: Use) -> list[SourceLine]:
    """Return the model's own lines, the innermost first."""
    own = [one for one in use.places if one.owner != "torch"] or list(use.places)
    return source_of(*own[:-4:-1])


def of_package(load: Phase, call: Call | None) -> bool:
    path = load.details.package
    return call is None or path is None or path == call.package


def from_load(load: Phase, known: Mapping[str, Constant]) -> Iterator[Candidate]:
    """Hold what was given for each name against what the package holds for it."""
    for order, given in enumerate(load.details.constants or ()):
        constant = known.get(given.name)
        if constant is not None:
            yield from differing(load, given, constant, order)
        elif load.ok is False and known:
            yield unknown(load, given, known, order)


def differing(load: Phase, given: Given, constant: Constant, order: int) -> Iterator[Candidate]:
    shape, dtype = given.shape, given.dtype
    name = constant.fqn or constant.name
    consequence = "the package accepts it, and every later result is garbage"
    repair = f"load {name} as {constant.dtype}{list(constant.shape)}"
    if constant.dtype and dtype and dtype != constant.dtype:
        said = f"{name} was loaded as {dtype}, the package holds it as {constant.dtype}"
    elif shape is not None and shape != constant.shape:
        said = f"{name} was loaded with shape {list(shape)}, the package holds it as "
        said += str(list(constant.shape))
    elif copies_more(load, given, constant):
        said = f"{name} was loaded as a view of a storage of {given.storage_bytes} bytes, and "
        said += f"the package holds {constant.bytes} for it"
        consequence = "the whole storage is copied, past the end of the constant"
        repair = f"load {name}.clone(memory_format=torch.contiguous_format); .contiguous() keeps "
        repair += "a slice that is contiguous already"
    elif given.stride is not None and constant.reordered(given.stride):
        said = f"{name} was loaded with strides {list(given.stride)}, the package needs "
        said += f"{list(constant.stride)}"
        consequence = "its raw bytes are copied, so rows and columns are swapped"
        repair = f"load {name}.contiguous()"
    else:
        return
    yield MISMATCH.found(
        f"{said}: {consequence}",
        load.span,
        source=source_of(load.details.caller),
        fixes=[Fix(what=repair, why="load_constants checks only names")],
        order=order,
    )


def copies_more(load: Phase, given: Given, constant: Constant) -> bool:
    """Tell whether more is copied than the constant has room for: a storage is copied whole."""
    if load.details.user_managed or given.storage_bytes is None:
        return False
    return 0 < constant.bytes < given.storage_bytes


def unknown(load: Phase, given: Given, known: Mapping[str, Constant], order: int) -> Candidate:
    name, shape = given.name, given.shape
    small = shape is not None and len(shape) <= 1 and sum(shape) <= INLINED
    names = few(list(known), 8)
    what = "give only names of model.get_constant_fqns()"
    why = "the name is another (a prefix, a typo), or the compiler folded it into others"
    if small:
        what = "compile with always_keep_tensor_constants=True, or leave it out"
        why = f"it has at most {INLINED} elements, so it was inlined into the kernels, if the "
        why += "model had it, and can never be updated"
    return MISMATCH.found(
        f"{name} is not among the package's {len(known)} constants ({names}): {why}",
        load.span,
        fixes=[Fix(what=what)],
        order=order,
    )


def likely(load: Phase, said: str, means: str, fix: str) -> Candidate:
    """Say what an update has likely left wrong, at its line."""
    own, fixes = source_of(load.details.caller), [Fix(what=fix)]
    kind = replace(MISMATCH, confidence="likely")
    return kind.found(said, load.span, means=means, source=own, fixes=fixes)


def from_ignored(load: Phase) -> Iterator[Candidate]:
    """A container was given names of the model: it has its own, and reports no unknown one."""
    if names := load.details.ignored:
        yield likely(
            load,
            f"update_constant_buffer ignores {few(list(names), NAMED)}: names of the model",
            "a container names its constants without dots; it skips a name that it lacks",
            "give them by load_constants(), which takes the model's names",
        )


def from_released(run: RunSeen) -> Iterator[Candidate]:
    """The owner of user-managed weights took their memory away while the package uses it."""
    for one in (p for p in run.of("overwrite") if p.details.released):
        loads = [p for p in run.of("constants") if p.details.instance == one.details.instance]
        given = [w.name for load in loads[-1:] for w in load.details.constants or ()]
        yield MISMATCH.found(
            f"the owner of user-managed weights released their memory: {few(given, NAMED)}",
            *(p.span for p in loads[-1:]),
            one.span,
            confidence="likely",
            means="the package reads memory that later allocations use",
            source=source_of(loads[-1].details.caller) if loads else [],
            fixes=[Fix(what="keep the tensors as long as the model, or load copies")],
        )


def from_another_instance(run: RunSeen) -> Iterator[Candidate]:
    """Weights were given to one instance of a package, and only another one is called since."""
    loads = [p for p in run.of("constants") if p.details.instance]
    given = {(p.pid, p.details.instance) for p in loads}
    for load in (p for p in loads if p.ok):
        own, path = load.details.instance, load.details.package
        later = [c for c in run.calls if c.pid == load.pid and c.span.first > load.span.last]
        called = {(c.pid, c.instance) for c in later if c.package == path}
        if path and called and not called & given:
            yield likely(
                load,
                f"instance {own} of the package was given weights, later calls are of another one",
                "each load of a package has weights of its own",
                "give the weights to the model that serves the calls",
            )


def from_written(run: RunSeen) -> Iterator[Candidate]:
    """Calls used user-managed weights that had been written since: memory given again shows it."""
    for load in run.of("constants"):
        if load.ok and (number := load.details.written):
            yield likely(
                load,
                f"call {number} uses what the owner of user-managed weights wrote after they were "
                f"given{at_place(load.details.caller)}",
                "user-managed memory is used as it is: calls read what its owner writes",
                "give copies: value.clone(), or load_constants without user_managed",
            )
            return


def from_siblings(loads: list[Phase], known: Mapping[str, Constant]) -> Iterator[Candidate]:
    """Weights of one name but for a number were given, all but a few of them."""
    given = given_by(loads)
    if any(cut(load) or load.details.full for load in loads):
        return
    groups: dict[str, list[str]] = {}
    for name in known:
        groups.setdefault(_DIGITS.sub("#", name), []).append(name)
    for pattern, names in groups.items():
        left = [name for name in names if name not in given]
        if "#" in pattern and 0 < SIBLINGS * len(left) <= len(names) - len(left):
            yield likely(
                loads[-1],
                f"{few(left, NAMED)} was not given, unlike {len(names) - len(left)} of its like",
                "a constant that no update gives keeps its value",
                "give it too; check_full_update=True raises for what is missing",
            )


def from_gaps(
    observations: Observations,
    call: Call,
    model: CompiledModel,
    known: Mapping[str, Constant],
    loads: list[Phase],
) -> Iterator[Candidate]:
    """The library holds no constants, and the process died in a call without some of them."""
    ending = observations.ending
    if ending is None or ending.signal not in CRASHES or not known:
        return
    given = given_by(loads)
    missing = [name for name in known if name[:200] not in given]
    if not missing or any(cut(load) for load in loads):
        return
    names = few(missing, 5)
    never = "load_constants was never called" if not loads else "load_constants left them out"
    kept = "beside the library in the package" if model.weights else "nowhere in the package"
    yield MISSING.found(
        f"{len(missing)} of the model's {len(known)} constants were not loaded ({names}): the "
        f"library was compiled without them, they are {kept}, and {never}",
        loads[-1].span if loads else call.span,
        fault=Fault(signal=ending.signal),
        fixes=[LOAD_ALL],
    )


def given_by(loads: Iterable[Phase]) -> set[str]:
    return {one.name for load in loads if load.ok for one in load.details.constants or ()}


def cut(load: Phase) -> bool:
    """Tell whether more constants were given than the probe describes: the first of them."""
    return len(load.details.constants or ()) < load.details.count
