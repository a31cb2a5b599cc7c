"""Steps after all replays: for wrong values, and for a compile that stopped in a trial."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio

from aoti_debug import symptom
from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import at_line, base_name
from aoti_debug.diagnose.from_calls import counts
from aoti_debug.diagnose.from_trial import outcome, settings_of
from aoti_debug.diagnose.observations import OlderPackage, PutBack
from aoti_debug.examine.launches import launch_words, launches_in, model_of
from aoti_debug.experiments import smallest_wrong
from aoti_debug.explain.culprit import ISSUE, draft, part
from aoti_debug.explain.nodes import read_report
from aoti_debug.explain.values import Found, read_bisection, vanished
from aoti_debug.facts.trials import without
from aoti_debug.hypotheses import tolerance
from aoti_debug.model import Diagnosis, Fix, SourceLine, Step, source_of
from aoti_debug.read.check_report import CompareReport
from aoti_debug.read.culprit import read_culprit
from aoti_debug.read.record import DeviceAssert, PythonException
from aoti_debug.read.trial_report import read_trial
from aoti_debug.record.outputs import always
from aoti_debug.run.files import write_atomically
from aoti_debug.triage.captured_call import Captured, with_custom_ops
from aoti_debug.triage.captured_program import older_package, passed_over, program_kept, script_of
from aoti_debug.triage.put_back import paired, put_back, stored
from aoti_debug.triage.replay import check_call, limit, probed
from aoti_debug.triage.run_state import RunState
from aoti_debug.triage.source_text import LOADERS, calls_of, read
from aoti_debug.vocabulary import Check

_FILES, _BESIDE = 8, 40  # in which an index that sorts twice is looked for, and its sort


@dataclass(frozen=True, slots=True)
class LaterStep:
    """A step after all replays. It adds to the observations and records its Step; its errors are
    noted and end only itself."""

    name: str
    budget_s: float
    take: Callable[[RunState, Observations, Captured], Awaitable[Observations]]
    when: Callable[[Observations, Diagnosis], bool]


WHY_NODES = "finds the operation of the exported program where it first appears; compiles nothing"


def nodes_can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether running the exported program node by node can add to the answer."""
    call, run = observations.run.call, observations.run
    if best.category == "no_fault" and call is not None:
        return always(run, call) and "NaN" in counts(call)
    if best.category == "user_code" and observations.walked is None:
        return symptom.unasked(observations)  # a weight may hold them
    return best.category in ("nan_or_inf", "index_out_of_bounds") and best.input is None


async def take_nodes(state: RunState, observations: Observations, call: Captured) -> Observations:
    if impossible := call.why_no_exported or call.why_no_inputs:
        state.impossible("nodes", WHY_NODES, impossible)
        return observations
    plain = replace(call, package=None)  # the package itself is not run here
    ran, report, artifact = await probed(state, "nodes", "walk", plain, timeout_s=limit(state))
    inputs = observations.run.call.inputs if observations.run.call is not None else ()
    numbers = {i.name: i.index for i in inputs if i.name is not None and i.index is not None}
    found = read_report(report, numbers, nan=returns_nan(observations)) if report else None
    if found is not None:
        found = brought(replace(found, artifact=artifact), observations)
    clean = "every value is finite, every index fits" if report else "the process left no report"
    state.done(state.step("nodes", WHY_NODES, ran, found.summary if found else clean))
    if found is not None and found.input is not None and observations.expects_nan:
        return replace(observations, meant=True)
    origin = (report or {}).get("origin")
    tested = isinstance(origin, dict) and origin.get("tested") is True and not observations.failed
    meant = report is not None and (report.get("meant") is True or tested)
    return replace(observations, walked=found, meant=meant)


def brought(found: Found, observations: Observations) -> Found:
    """Say of a weight that is not finite which file held it so, else which line set it."""
    name = found.weight
    seen = [
        one
        for one in (observations.run.weights if name else ())
        if any(f".{n}".endswith(f".{name}") or name.endswith(f".{n}") for n in one.names)
    ]
    if not seen:
        return found
    one = next((w for w in seen if w.file), seen[0])
    at = at_line(*one.caller) if one.caller is not None else ""
    said = f"already in {base_name(one.file)}, read" if one.file else "already when it was set"
    fix = Fix(
        what=f"fix {name} in {one.file or 'the argument of load_state_dict'}: test it with "
        "torch.isfinite when it is written and when it is read",
        where=":".join(map(str, one.caller)) if one.caller is not None else None,
    )
    return replace(
        found,
        summary=f"{found.summary}; {said}{at}",
        source=[*found.source, *source_of(one.caller)],
        fixes=[fix],
    )


def returns_nan(observations: Observations) -> bool:
    """Tell whether a call returned NaN or Inf: inside a model it may be intended and masked."""
    run, compared = observations.run, observations.checks.compare
    outputs = compared.outputs if compared is not None else ()
    returned = any(call.holds_nonfinite for call in run.calls)
    return returned or any(one.package.not_finite or one.lost for one in outputs)


WHY_BISECT = "finds the first value inside the model that is compiled wrong"


def bisect_can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether values inside the model can add: they differ, and nothing explains it yet."""
    compared = observations.checks.compare
    differs = compared is not None and compared.verdict == "differs"
    differs = differs or smallest_wrong(observations) is not None
    differs = differs or any(map(tolerance.jumps, symptom.compared(observations)))
    differs = differs or left_wrong(observations) is not None
    differs = differs or (compared is not None and not compared.near)
    unexplained = observations.walked is None and best.input is None
    if best.kernel is not None and best.kernel.kind == "custom_op":
        return False  # an operator of the user's is to blame: no compile tells more
    return best.category == "wrong_result" and unexplained and differs


def left_wrong(observations: Observations) -> str | None:
    """Return a buffer that calls of the package write and leave wrong, whose own results are
    right."""
    compared, repeats = observations.checks.compare, observations.checks.repeats
    right = compared is not None and compared.verdict == "agrees"
    if not right or repeats is None or repeats.left is None:
        return None
    return repeats.left.name if repeats.left.name not in repeats.lost else None


async def take_bisection(
    state: RunState, observations: Observations, call: Captured
) -> Observations:
    budget = state.request.search_s
    if (smaller := smallest_wrong(observations)) is not None:
        call = replace(call, call=smaller.call, inputs=smaller.inputs)
    no_time = "a budget of 0 s allows no compile" if budget == 0 else ""
    if impossible := call.why_no_exported or call.why_no_inputs or no_time:
        state.impossible("bisect", WHY_BISECT, impossible)
        return observations
    lowered = observations.run.of("lower")  # with the settings of the last compile
    settings = json.dumps(dict((lowered[-1].details.settings if lowered else None) or {}))
    seconds = str(budget or state.request.timeout_s)
    limits = ("--whole", "--blame", seconds) if budget else ("--compiles", "1")
    more = ["--settings", settings, "--seconds", seconds, *limits]
    if (left := left_wrong(observations)) is not None:
        more += ["--state", left]
    if call.package is not None:
        model = await anyio.to_thread.run_sync(model_of, call)
        more += launch_words(model, state.directory.path)
    longest = (budget or 0.0) + state.request.timeout_s
    ran, report, artifact = await probed(state, "bisect", "bisect", call, *more, timeout_s=longest)
    told = report or {}
    found, culprit = read_bisection(told), read_culprit(told)
    if left is not None and (culprit is None or not part(culprit)):
        found = None  # the buffer says more
    if found is not None and culprit is not None:
        at = (state.directory.path / artifact).with_name(ISSUE)
        text = draft(culprit, found.summary, str(told.get("script"))).encode()
        await anyio.to_thread.run_sync(write_atomically, at, text)
    said = found.summary if found else vanished(told)
    state.done(state.step("bisect", WHY_BISECT, ran, said))
    return replace(observations, walked=replace(found, artifact=artifact) if found else None)


WHY_OLDER = "checks whether the package loaded earlier was stale"


def older_can_tell(observations: Observations, best: Diagnosis) -> bool:
    return best.category == "no_fault" and observations.agrees is not None


async def take_older(state: RunState, observations: Observations, call: Captured) -> Observations:
    """Repeat the call with the package that had this path before, if its kernels differ: a package
    that was only trained again has the same ones."""
    if call.package is None or call.call is None or call.call.package is None:
        return observations
    find = partial(older_package, observations.run, call.call, state.directory.path)
    older = await anyio.to_thread.run_sync(find)
    if older is None:
        return observations
    packages, model = (older[0], call.package), call.call.model
    launches = [await anyio.to_thread.run_sync(launches_in, one, model) for one in packages]
    was, now = (dict.fromkeys(one.kernel for one in found) for found in launches)
    if not was or not now or was.keys() == now.keys():
        return observations
    again = replace(call, package=older[0], constants=(), others=())
    said = f"the package of run {older[1].id} and this exported program: "
    report = await differing(state, OLDER, WHY_OLDER, again, said)
    if report is None:
        return observations
    found = OlderPackage(
        older[1].id,
        call.call.package,
        report.artifact,
        report,
        tuple(name for name in was if name not in now),
        tuple(name for name in now if name not in was),
        tuple(loaded_at(observations)),
    )
    return replace(observations, older=found)


async def differing(
    state: RunState, step: LaterStep, why: str, call: Captured, said: str, *, guarded: bool = False
) -> CompareReport | None:
    """Compare a package with a program and return the comparison where they differ; `guarded`: only
    if the program accepts the call."""
    names: tuple[Check, ...] = ("guards", "compare") if guarded else ("compare",)
    label = step.name.replace(" ", "-")
    reports, processes = await check_call(state, call, names, label)
    takes = not guarded or (reports.guards is not None and reports.guards.passed)
    report = reports.compare if takes else None
    said += (report.verdict or report.state) if report is not None else "not compared"
    state.done(state.step(step.name, why, processes[-1], said))
    return report if report is not None and report.verdict == "differs" else None


WHY_UNUSED = "the script fails, and it never loads the newer package that it made"


def rejects_unexplained(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether the script itself rejects what came of calls that nothing else explains."""
    ending, raised = observations.ending, observations.of(PythonException)
    rejects = not raised or raised[-1].type == "AssertionError"
    plain = ending is not None and ending.signal is None and not ending.timed_out
    open_ = best.category in ("user_code", "false_alarm", "wrong_result")
    proved = best.confidence == "proved"
    return plain and rejects and open_ and not proved and observations.failed


async def take_unused(state: RunState, observations: Observations, call: Captured) -> Observations:
    """Hold the package that was called against the program of a newer one that takes the call."""
    run = observations.run
    if call.call is None or call.call.package is None or not call.replayable:
        return observations
    newer = await anyio.to_thread.run_sync(passed_over, run, call.call, state.directory.path)
    if newer is None:
        return observations
    again = replace(call, exported=newer[1], others=())
    said = f"the package that was called and the program of {base_name(newer[0])}: "
    report = await differing(state, UNUSED, WHY_UNUSED, again, said, guarded=True)
    if report is None or {one.verdict for one in report.outputs} & {"shape", "dtype"}:
        return observations  # another model, not another version of it
    loaded, path = tuple(loaded_at(observations)), call.call.package
    found = OlderPackage("", path, report.artifact, report, loaded=loaded, unused=newer[0])
    return replace(observations, older=found)


def loaded_at(observations: Observations) -> list[SourceLine]:
    """Return the line of the script that loads a package, if there is one alone."""
    script = script_of(observations.run)
    file = read(script, script.parent) if script is not None else None
    calls = calls_of(file.tree, *LOADERS) if file is not None else []
    return source_of((str(script), calls[0].lineno)) if len(calls) == 1 else []


WHY_TRIAL = "checks whether the compile ends without the trial on made-up data that stopped it"


async def take_trial(state: RunState, observations: Observations, _: Captured) -> Observations:
    """Compile the kept program in a separate process, as the script did but without the trial, and
    call the package with the export's example inputs."""
    run = observations.run
    program, why_not = None, "the exported program is not kept"
    if run.compiles:
        program, why_not = program_kept(run, (run.compiles[-1], state.directory.path))
    if program is None:
        state.impossible(TRIAL.name, WHY_TRIAL, why_not)
        return observations
    compiled = run.compiles[-1].details
    call = with_custom_ops(Captured(exported=program), run)
    changed = without(compiled.flags or {})
    settings = json.dumps({**(compiled.settings or {}), **changed})
    more = ("--settings", settings, *bound(observations))
    ran, document, artifact = await probed(state, TRIAL.name, "without_trial", call, *more)
    found = read_trial(document, changed, artifact)
    state.done(state.step(TRIAL.name, WHY_TRIAL, ran, f"{settings_of(changed)}: {outcome(found)}"))
    return replace(observations, without_trial=found)


def bound(observations: Observations) -> tuple[str, ...]:
    check = observations.first(DeviceAssert)
    upper = check.upper if check is not None else None
    return ("--upper", upper) if upper is not None and upper.isdecimal() else ()


WHY_PUT_BACK = "the script fails, and the package is right: looks for an index that sorts twice"


def differs_unexplained(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether it does so, or ends well and prints that results differ."""
    said = symptom.verdict(observations) is not None
    shown = said or (best.category == "no_fault" and bool(symptom.printed(observations)))
    return (shown and best.confidence != "proved") or rejects_unexplained(observations, best)


async def take_put_back(state: RunState, observations: Observations, _: Captured) -> Observations:
    """Look in the files that call the package or the reference, and in the script."""
    run = observations.run
    places = [*observations.caller, *source_of(*(one.caller for one in run.references))]
    files = [Path(one.file) for one in places]
    files = list(dict.fromkeys([*files, *filter(None, [script_of(run)])]))
    found = await anyio.to_thread.run_sync(_in, files[:_FILES])
    kept = await anyio.to_thread.run_sync(_stored, places[0]) if observations.caller else None
    observations = replace(observations, stored=kept)
    if len(found) != 1:
        return observations
    (one,) = found
    said = f"{one.name} at {base_name(one.line.file)}:{one.line.line}"
    state.done(Step(name=PUT_BACK.name, status="done", why=WHY_PUT_BACK, finding=said))
    return replace(observations, put_back=one)


def _stored(caller: SourceLine) -> SourceLine | None:
    """Find the line that keeps the results of a call. Blocks."""
    path = Path(caller.file)
    file = read(path, path.parent)
    line = stored(file.tree, caller.line) if file is not None and caller.line else None
    return source_of((caller.file, line))[0] if line else None


def _in(paths: Sequence[Path]) -> list[PutBack]:
    """Look in these files; what sorts may be in others beside the last, the script. Blocks."""
    beside = sorted(paths[-1].parent.glob("*.py"))[:_BESIDE] if paths else []
    known = {path: read(path, path.parent) for path in dict.fromkeys([*paths, *beside])}
    trees = {path: file.tree for path, file in known.items() if file is not None}
    found: list[PutBack] = []
    for path in (path for path in paths if path in trees):
        own, others = trees[path], [trees[one] for one in trees if one != path]
        for one, instead in [(one, "") for one in put_back(own, others)] + paired(own):
            found += [PutBack(one.id, source_of((str(path), one.lineno))[0], instead)]
    return found


AUTOTUNING = ("autotune", "autotune_error")
NODES = LaterStep("nodes", 300.0, take_nodes, nodes_can_tell)
BISECT = LaterStep("bisect", 7200.0, take_bisection, bisect_can_tell)
OLDER = LaterStep("older package", 300.0, take_older, older_can_tell)
UNUSED = LaterStep("unused package", 300.0, take_unused, rejects_unexplained)
PUT_BACK = LaterStep("sorted back", 60.0, take_put_back, differs_unexplained)
TRIAL = LaterStep(
    "without the trial",
    900.0,
    take_trial,
    lambda _, best: (best.phase, best.category) == AUTOTUNING and bool(best.fault),
)
