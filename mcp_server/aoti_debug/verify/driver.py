"""The road of a verification: run the fix, hold its package against what it never saw, judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Literal

import anyio.to_thread

from aoti_debug.answers import Check, VerifyAnswer
from aoti_debug.diagnose import Observations
from aoti_debug.examine.launches import launches_in
from aoti_debug.hypotheses.reference import left_out, loaded
from aoti_debug.minify.material import Material, ended_well, failure_kept, unexported
from aoti_debug.minify.request import NothingToMinify
from aoti_debug.model import Category
from aoti_debug.read.event_records import Call, Reference
from aoti_debug.read.record import PythonException
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.target import Target, script_and_args, tree_of
from aoti_debug.symptom import agreeing, far, rejects, verdict
from aoti_debug.triage.captured_call import Captured, captured, inputs_file, kind_of
from aoti_debug.triage.fingerprint import of_run
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.rerun import HANDED_OVER, LOST_WRITES, NOT_COPIED
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.script_files import kept_sources, script_files
from aoti_debug.triage.spawn import hold_gpus, spawn
from aoti_debug.verify.held_out import Others, Report, held_out
from aoti_debug.verify.judge import CORRECTABLE, Facts, HeldOut, failed_calls, judge
from aoti_debug.verify.noticed import AGAIN, failed_check, rewritten, unnoticed
from aoti_debug.verify.patch import files_of
from aoti_debug.verify.request import VerifyRequest
from aoti_debug.verify.script_checks import Changes, changes
from aoti_debug.verify.sessions import (
    asked_all,
    asked_else,
    asked_less,
    asked_same,
    given_the_same,
    longest,
    of_reference,
    read_early,
    read_late,
    rows_of,
    same_results,
    shared_memory,
    single,
)
from aoti_debug.verify.slower import same_file, slower
from aoti_debug.verify.tree import as_they_were, patched_target, put_back, sources
from aoti_debug.vocabulary import Fingerprint

# What the probe calls a break, for each category that says so.
CONTRACT: Mapping[str, tuple[str, ...]] = {
    "contract_shape": ("size", "rank"),
    "contract_dtype": ("dtype",),
    "contract_stride": ("stride",),
    "contract_device": ("device",),
    "contract_guard": ("guard", "size"),
    "contract_argument": ("count", "nesting"),
}
FIXED_RUN = "fixed run"
GENERATED = ("triton", "cpp", "cuda")


@dataclass(frozen=True, slots=True)
class Before:
    """The failure that the fix is for."""

    run: str
    material: Material
    observations: Observations
    signature: Fingerprint
    failing_call: int | None
    call: Captured
    path: Path  # of its directory

    @property
    def category(self) -> Category | None:
        return self.material.diagnosis.category if self.material.diagnosis else None

    @property
    def rewrites(self) -> bool:
        """Tell whether the script was seen to write memory again before it was read."""
        steps = map(events_of, self.path.glob(f"steps/*-{HANDED_OVER}"))
        return any(one.late for step in steps for one in step.handed)

    @property
    def applied(self) -> RunSeen | None:
        """Return the last run in which lost writes were applied, or copies made real."""
        found = [self.path.glob(f"steps/*-{one.folder}") for one in (NOT_COPIED, LOST_WRITES)]
        return next(map(events_of, chain(*found)), None)

    @property
    def wrong_call(self) -> int | None:
        """Return the number of the failing call if that is known to be wrong, not only the last."""
        call, seen = self.call.call, self.observations
        if call is None:
            return None
        compared = seen.checks.compare
        bad = not call.ok or bool(call.breaks) or call.holds_nonfinite
        bad = bad or (compared is not None and compared.verdict not in ("agrees", "random"))
        bad = bad or any((one.pid, one.call) == (call.pid, call.call) for one in far(seen))
        return self.failing_call if bad else None

    @property
    def nonfinite(self) -> Literal["nan", "inf"]:
        """Return which of both its calls returned; NaN where that is not known of each."""
        bad = [one for one in self.observations.run.calls if one.holds_nonfinite]
        known = bad and all(any(out.inf for out in one.outputs) for one in bad)
        return "inf" if known and not any(o.nan for one in bad for o in one.outputs) else "nan"

    @property
    def operator(self) -> str | None:
        """Return the custom operator that the results were wrong by."""
        found = self.material.diagnosis
        kernel = found.kernel if found is not None and self.category == "wrong_result" else None
        return kernel.name if kernel is not None and kernel.kind == "custom_op" else None


async def verify(state: RunState, request: VerifyRequest) -> VerifyAnswer:
    """Run the fixed script and judge it. Raise NothingToMinify where the run shows no failure, is
    of another torch, or has no program to compare with; BadPatch where the patch does not apply."""
    before = await anyio.to_thread.run_sync(_before, state, request)
    changed: list[str] = []
    target = request.target
    copy = state.directory.path / "tree"
    there = frozenset[Path]()
    if request.patch is not None:
        target, changed = await anyio.to_thread.run_sync(
            patched_target, target, request.patch, copy
        )
        there = frozenset(path.relative_to(copy) for path in files_of(copy))
    # No process sees the original tree; the run stops at the failing call if that is bad again.
    state.request = replace(request, target=target, stop_at_first=True)
    state.bad_enough = lambda: bool(_still(before, events_of(state.directory.path)))
    was, checks = await anyio.to_thread.run_sync(_changes, request, before.path, copy)
    async with hold_gpus(state):
        ran = await _fixed_run(state, target, before)
        call = captured(ran.observations, state.directory.path, state.home)
        now = call.inputs
        if before.failing_call is not None:
            now = same_call(ran.observations, before.failing_call, state.directory.path)
        session = longest(before.observations.run)
        calls = _calls_beside(before, ran, state.directory.path, session)
        await anyio.to_thread.run_sync(put_back, state, request, copy, there)
        parts = split(before.call.call, ran.observations.run.calls)
        seen = before.observations.run.custom_ops
        files = {file for one in seen for file in one.files if file.endswith(".py")}
        place = state.directory.path / "tree-before"
        operators = await anyio.to_thread.run_sync(as_they_were, was, files, place)
        rest = _calls_after(before, ran, state.directory.path, len(parts) - 1)
        mixed = before.observations.checks.trials
        others = Others(
            now,
            before.failing_call,
            session,
            rest,
            parts,
            bool(mixed and mixed.mixing),
            checks,
            calls,
            operators,
        )
        report = Report()
        if not _fails_again(before, ran):
            report = await held_out(state, request, before.material, ran, call, others)
        facts = await anyio.to_thread.run_sync(_facts, before, ran, call, report, target, checks)
        found = judge(facts)
        if before.rewrites and not ran.observations.failed:
            late, reused = await rewritten(state, request, ran)
            facts = replace(facts, rewritten=late, reused=reused)
            found = judge(facts)
        if facts.checked and found.verdict == "fixed" and not facts.now.failed:
            failed = failed_check(before.observations, was.values())
            number, bad = before.wrong_call, before.nonfinite if facts.nonfinite else ""
            said = await unnoticed(state, request, ran, failed, number, nonfinite=bad)
            found = judge(replace(facts, unnoticed=said))
        slow = ""
        if found.verdict == "fixed":
            both = before.observations.run.calls, ran.observations.run.calls
            slow = await slower(state, before.call.package, call, *both)
    reference = facts.alone or before.material.exported or call.exported
    if not reference and found.verdict in ("fixed", "undecided"):
        raise unexported(before.run, before.material)
    reason = "; ".join(filter(None, (found.reason, slow)))
    state.found = f"{found.verdict}: {reason}"
    return VerifyAnswer(
        run=state.directory.id,
        status="done",
        diagnosis=before.material.diagnosis,
        verdict=found.verdict,
        reason=reason,
        against=before.run,
        checks=[Check(what=f.what, result=f.result, finding=f.finding) for f in found.findings],
        changed=changed,
        cost=_cost(state, before, ran),
        steps=state.steps,
        artifacts=state.artifacts(),
        notes=state.notes,
    )


def _before(state: RunState, request: VerifyRequest) -> Before:
    directory = RunDirectory.open(request.against, state.home)
    material = failure_kept(directory, request.target, state.home)
    observations = material.observations
    if observations is None or (ended_well(material) and not rejects(observations)):
        raise NothingToMinify(
            f"run {request.against} shows no failure, so there is nothing to verify a fix against",
            help="Triage the failing script as it was, and give that run.",
        )
    call = captured(observations, directory.path, state.home)
    number = call.call.call if call.call is not None else None
    signature = of_run(observations, material.diagnosis)
    return Before(request.against, material, observations, signature, number, call, directory.path)


def _changes(request: VerifyRequest, run: Path, copy: Path) -> tuple[Mapping[str, str], Changes]:
    """Return the script's files as they were, as the run keeps them, and how its checks changed."""
    script, _ = script_and_args(request.target)
    if script is None:
        return {}, Changes()
    tree = tree_of(request.target, script)
    if request.patch is not None:
        was = {str(path.relative_to(tree)): text for path, text in sources(tree).items()}
        return was, changes(was.values(), sources(copy).values())
    was = kept_sources(run)
    return was, changes(was.values(), script_files(script, tree).values()) if was else Changes()


async def _fixed_run(state: RunState, target: Target, before: Before) -> Ran:
    flags = {}
    if before.failing_call is not None:
        flags["AOTI_DEBUG_CAPTURE_CALL"] = str(before.failing_call)
        flags["AOTI_DEBUG_CAPTURE_EARLY"] = "1"
    ran = await spawn(
        state,
        "the fixed script, watched",
        target.argv,
        state.directory.path,
        traced=True,
        flags=flags,
        capture=True,
        reuse="any lines",
        cwd=target.cwd,
    )
    state.ended = ran.exit
    state.done(state.step(FIXED_RUN, "the fixed script as it is, watched", ran))
    return ran


def _printed(before: Before, now: Observations) -> str:
    """Return the line in which a script that ends well says, as before, that results do not fit."""
    said = verdict(now) if verdict(before.observations) is not None else None
    return "" if said is None else f"the script prints: {said.span.quote[:120]}"


def _still(before: Before, now: RunSeen) -> str:
    """Say what is bad again in the call of the failing number: the contract, or NaN and Inf."""
    number, was = before.failing_call, before.call.call
    for call in (one for one in now.calls if number is not None and one.call == number):
        if broken := _breaks([call], number, before.category):
            return f"call {number} breaks the contract again: {', '.join(broken)}"
        same = before.category == "nan_or_inf" and was is not None and _alike(was, call)
        if same and call.holds_nonfinite:
            return f"call {number} returns NaN or Inf again"
    return ""


def _fails_again(before: Before, ran: Ran) -> bool:
    """Tell whether the fixed script failed as before, which no other inputs can change."""
    if ran.exit.enough:
        return bool(_still(before, ran.observations.run))
    return not ran.exit.ok and before.signature.same(of_run(ran.observations, None))


def same_call(observations: Observations, number: int, directory: Path) -> Path | None:
    """Return the inputs of the call with the failing number; later calls may follow it."""
    events = observations.run
    alike = (call for call in events.calls if call.call == number)
    files = (inputs_file(events, call, directory)[0] for call in alike)
    return next((file for file in files if file is not None), None)


def _calls_beside(
    before: Before, ran: Ran, path: Path, first: int
) -> tuple[tuple[int, Path, Path], ...]:
    """Return the inputs that both runs kept of calls before the failing one and `first` ones."""
    failing, found = before.failing_call or 1, []
    for number in sorted({*range(1, max(failing, first + 1))} - {failing}):
        was = same_call(before.observations, number, before.path)
        now = same_call(ran.observations, number, path)
        if was is not None and now is not None:
            found.append((number, was, now))
    return tuple(found)


def _calls_after(before: Before, ran: Ran, path: Path, count: int) -> tuple[Path, ...]:
    """Return the inputs, as far as they are kept, of so many calls after the failing one."""
    first = (before.failing_call or 0) + 1
    files = (same_call(ran.observations, n, path) for n in range(first, first + count))
    return tuple(file for file in takewhile(bool, files) if file is not None)


def split(before: Call | None, now: Sequence[Call]) -> tuple[int, ...]:
    """Return the rows of the calls that the failing call's rows are split over, in order."""
    rows = [rows_of(call) for call in now if before and (call.call or 0) >= (before.call or 0)]
    wanted, found = rows_of(before) if before is not None else 0, 0
    for count, one in enumerate(rows, 1):
        found += one
        if found >= wanted:
            return tuple(rows[:count]) if count > 1 and found == wanted else ()
    return ()


def never_given(run: RunSeen) -> Reference | None:
    """Return the reference with rows that the package was never given, where it was given some."""
    return next((o for o in run.references if o.rows and o.rows[0] < o.rows[1]), None)


def _given_all(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether the package is given all that the reference is, which it was not before."""
    missed = never_given(before)
    if missed is None:
        return given_the_same(before, now)
    return any(one.asked == missed.asked and not one.rows for one in now.references if one.asked)


Marks = dict[tuple[str, int], object]


def _marks(run: RunSeen) -> Marks:
    """Return what each call returned, and the names of the weights that each update gave."""
    found: Marks = {
        ("call", c.call): (c.values, c.outputs) for c in run.calls if c.call and c.values
    }
    for number, one in enumerate(run.of("constants")):
        names = [given.name for given in one.details.constants or ()]
        found["update", number] = one.details.count, names
    return found


def _like_applied(before: Before, now: RunSeen) -> bool:
    """Tell whether calls and updates are those of the run with lost writes applied, or copies made
    real, which were others in the script."""
    wanted = _marks(before.applied) if before.applied is not None else {}
    own, later = _marks(before.observations.run), _marks(now)
    others = any(own.get(key) != value for key, value in wanted.items())
    return others and all(later.get(key) == value for key, value in wanted.items())


def _unchanged(before: RunSeen, now: RunSeen) -> bool:
    if any(one.reasons for one in before.references):
        return False
    was, later = _marks(before), _marks(now)
    return bool(was) and all(later.get(key) == value for key, value in was.items())


def _facts(
    before: Before, ran: Ran, call: Captured, report: Report, target: Target, changed: Changes
) -> Facts:
    events = ran.observations.run
    calls = events.calls
    was, package = before.observations.run, before.material.package
    alone = package is not None and not (before.material.exported or call.exported)
    good = _good_calls(was, events, before.failing_call, ended=ran.exit.ok) if alone else {}
    breaks = _breaks(calls, before.failing_call, before.category)
    if alone:  # what calls break that none did before
        known = {w for c in was.calls for w in c.breaks} if before.category not in CONTRACT else ()
        breaks = tuple(dict.fromkeys(w for c in calls for w in c.breaks if w not in known))
    missed = never_given(events)
    return Facts(
        **{one.name: getattr(report, one.name) for one in fields(HeldOut)},
        original=before.signature,
        category=before.category,
        now=Fingerprint(None, None) if ran.exit.ok else of_run(ran.observations, None),
        still=_still(before, events) if ran.exit.enough else _printed(before, ran.observations),
        raised_by_user=_raised_by_user(ran.observations, target),
        failing_call=before.failing_call,
        calls=max(len(calls), events.made),
        failed_calls=failed_calls(calls, before.failing_call) if ran.exit.ok else 0,
        failed_compiles=sum(c.ok is False for c in events.compiles) if ran.exit.ok else 0,
        kernels_before=_kernels(before.material.package),
        kernels=_kernels(call.package),
        other_package=bool(alone and package and not same_file(package, call.package or package)),
        operator=before.operator,
        was_wrong=_was_wrong(before),
        nonfinite=any(one.holds_nonfinite for one in before.observations.run.calls),
        checked=rejects(before.observations) or verdict(before.observations) is not None,
        was_right=bool(agreeing(before.observations)),
        never_given=missed.rows if missed is not None and never_given(was) else (),
        given_all=_given_all(was, events),
        shared_memory=shared_memory(was, events),
        unchanged=report.inputs == "" and _unchanged(before.observations.run, events),
        of_reference=of_reference(was, events, before.category, before.failing_call),
        like_applied=_like_applied(before, events),
        asked_all=asked_all(was, events),
        asked_else=asked_else(was, events),
        asked_same=asked_same(was, events),
        asked_less=asked_less(was, events),
        read_early=read_early(was, events),
        read_late=read_late(was, events) if before.category == "user_code" else 0,
        same_results=same_results(was, events),
        single=single(was, events),
        changes=changed,
        died_in=report.died_in,
        own_reference=before.material.exported is None,
        alone=alone,
        good_calls=len(good),
        other_values=tuple(number for number, same in good.items() if not same),
        breaks=breaks,
        not_given=_not_given(before, ran) if before.category == "constants_missing" else (),
        why_no_trials=report.why_no_trials,
    )


def _was_wrong(before: Before) -> bool:
    """Tell whether the package fails on the captured call in its declared dtype and layout."""
    checks = before.observations.checks
    differs = checks.compare is not None and checks.compare.verdict == "differs"
    differs = differs or (checks.trials is not None and bool(checks.trials.wrong))
    failed = before.call.call is not None and before.call.call.ok is False
    return before.category not in CORRECTABLE and (differs or failed)


def _not_given(before: Before, ran: Ran) -> tuple[str, ...]:
    """Return the weights that load_constants lacked and still lacks, as far as they change."""
    now, references = loaded(ran.observations), ran.observations.run.references
    lacked = [
        name for one in far(before.observations) for name in left_out(before.observations, one)
    ]
    if references and all(one.changed_count == len(one.changed) for one in references):
        changed = {name for one in references for name in one.changed}
        lacked = [name for name in lacked if name in changed]
    return tuple(dict.fromkeys(name for name in lacked if name not in now)) if now else ()


def _good_calls(
    before: RunSeen, now: RunSeen, failing: int | None, *, ended: bool
) -> dict[int, bool]:
    """Tell of each call that broke nothing whether it is made again and returns the same; those of
    which nothing is known, or whose rows are split, are left out."""
    found: dict[int, bool] = {}
    rest = list(now.calls)
    for one in (call for call in before.calls if call.call != failing):
        later = failing is not None and (one.call or 0) > failing and not ended
        if not (one.ok and one.values) or one.breaks or later or one.call is None:
            continue
        like = [call for call in rest if _alike(one, call)]
        again = next((call for call in like if call.values == one.values), next(iter(like), None))
        if again is not None:
            rest.remove(again)
            if again.values:
                found[one.call] = again.values == one.values
        elif not split(one, rest):
            found[one.call] = False
    return found


def _alike(one: Call, other: Call) -> bool:
    """Tell whether two calls are given the same, as far as it is known of both."""
    pairs = zip(chain(*kind_of(one)), chain(*kind_of(other)), strict=False)
    same = len(one.inputs) == len(other.inputs)
    return same and all(was == now for was, now in pairs if None not in (was, now))


def _breaks(
    calls: Sequence[Call], number: int | None, category: Category | None
) -> tuple[str, ...]:
    """Return what the call, or a later one, still breaks of the diagnosed contract."""
    wanted = CONTRACT.get(category or "no_fault", ())
    now = (call for call in calls if number is not None and (call.call or 0) >= number)
    return tuple(word for call in now for word in call.breaks if word in wanted)


def _raised_by_user(observations: Observations, target: Target) -> bool:
    """Tell whether the user's own line raised what ended the script, with no call at fault."""
    events = observations.run
    raised = observations.of(PythonException)
    if not raised or any(call.ok is False for call in events.calls):
        return False
    frames = raised[-1].frames
    script, _ = script_and_args(target)
    own = {target.cwd, script.parent} if script is not None else {target.cwd}
    file = target.cwd / frames[-1].file if frames else None
    return file is not None and any(map(file.is_relative_to, own))


def _kernels(package: Path | None) -> int:
    """Return how many generated kernels a package launches."""
    return sum(launch.kind in GENERATED for launch in launches_in(package))


def _cost(state: RunState, before: Before, ran: Ran) -> list[str]:
    runs = sum(step.name in (FIXED_RUN, *AGAIN) for step in state.steps)
    spent = state.cost()
    said = f"compiles: {spent.recompiles}, runs of the script: {runs}, {spent.wall_s:.1f} s in all"
    state.say(f"verified: {said}")
    took, peak = before.material.wall_s, before.material.peak_rss >> 20
    found = [f"this verification: {said}"]
    if took and peak:
        found.append(f"before: the script took {took:.1f} s, {peak} MiB at most")
    peak = ran.exit.peak_rss >> 20
    found.append(f"now: the script took {ran.exit.wall_s:.1f} s, {peak} MiB at most")
    for name, seen in (("before", before.observations), ("now", ran.observations)):
        seconds = [call.seconds for call in seen.run.calls if call.seconds is not None]
        if seconds:
            found.append(f"{name}: the fastest of {len(seconds)} calls took {min(seconds):.6f} s")
    return found
