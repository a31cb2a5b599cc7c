"""Repeat the captured call in a fresh process, without the user's code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.from_native import place, stack_of
from aoti_debug.model import Step
from aoti_debug.read.record import SanitizerError
from aoti_debug.run.machine import find_tool
from aoti_debug.run.target import Target
from aoti_debug.triage import debuggers
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.launch import PROBE, watched
from aoti_debug.triage.observe import REPORT, report_of
from aoti_debug.triage.plan import Name, Planned
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.stage import times
from aoti_debug.triage.symptoms import failure_of

SHORTEST_LIMIT_S = 120.0
SANITIZER = ("memcheck", "initcheck", "racecheck", "synccheck")


@dataclass(frozen=True, slots=True)
class Replay:
    """How one kind of replay is run: which of the probe's programs, and around it what."""

    program: str
    flags: Mapping[str, str]
    wrap: Callable[[Path, RunState], tuple[str, ...]] = lambda directory, work: ()
    exported: bool = False
    package: bool = True


def _sanitizer(check: str) -> Callable[[Path, RunState], tuple[str, ...]]:
    def wrap(directory: Path, work: RunState) -> tuple[str, ...]:
        target = work.request.target
        tool = find_tool("compute-sanitizer", target.env, target.python)
        assert tool is not None  # the plan has looked
        return debuggers.sanitizer(tool, check, directory / "sanitizer.xml")

    return wrap


def _gdb(directory: Path, work: RunState) -> tuple[str, ...]:
    tool = find_tool("gdb", work.request.target.env) or find_tool(
        "cuda-gdb", work.request.target.env
    )
    assert tool is not None  # the plan has looked
    return debuggers.gdb(tool)


CHECKS = {"AOTI_RUNTIME_CHECK_INPUTS": "1"}
REPLAYS: dict[Name, Replay] = {
    "contract": Replay("replay.py", CHECKS),
    "guards": Replay("contract.py", {}, exported=True, package=False),
    "compare": Replay("compare.py", {}, exported=True),
    "fakes": Replay("fakes.py", {}, exported=True, package=False),
    "again": Replay("replay.py", {}),
    "native": Replay("replay.py", {}, _gdb),
    "memcheck": Replay("replay.py", {}, _sanitizer("memcheck")),
    "initcheck": Replay("replay.py", {}, _sanitizer("initcheck")),
    "racecheck": Replay("replay.py", {}, _sanitizer("racecheck")),
    "synccheck": Replay("replay.py", {}, _sanitizer("synccheck")),
}


async def replay(work: RunState, planned: Planned, captured: Captured, directory: Path) -> Ran:
    """Run one replay; its observations hold what it wrote in its report too."""
    how = REPLAYS[planned.name]
    target = work.request.target
    python = str(target.python) if target.python else "python3"
    argv = (*how.wrap(directory, work), python, str(PROBE / how.program))
    argv += arguments(how, captured, directory, work)
    environment = watched(target.env, directory, work.directory.id, capture=False)
    environment.update(how.flags)
    if "sanitizer" in argv[0]:
        environment = debuggers.sanitizer_environment(environment)
    ran = await work.run(
        f"replay: {planned.name}",
        argv,
        environment,
        directory,
        timeout_s=limit(work),
    )
    return with_report(ran, work)


def limit(work: RunState) -> float:
    """Return how long a replay may take: three times the first run, which did more."""
    first = next((s.wall_s for s in work.steps if s.name == "first run" and s.wall_s), 0.0)
    return min(max(SHORTEST_LIMIT_S, 3 * first), work.request.timeout_s)


def arguments(how: Replay, captured: Captured, directory: Path, work: RunState) -> tuple[str, ...]:
    words = ["--inputs", str(captured.inputs), "--report", str(directory / REPORT)]
    if how.package:
        words += ["--package", str(captured.package)]
        words += ["--model", captured.call.model] if captured.call is not None else []
    if how.exported:
        words += ["--exported", str(captured.exported)]
    for module in (*captured.modules, *work.request.imports):
        words += ["--import", module]
    for library in captured.libraries:
        words += ["--library", library]
    for folder in import_paths(work.request.target):
        words += ["--import-path", str(folder)]
    return (*words, *definitions(captured, work))


def import_paths(target: Target) -> list[Path]:
    """Return where the target's own modules are: beside its script, and where it runs."""
    scripts = (target.cwd / word for word in target.argv if word.endswith(".py"))
    beside = next((script.resolve().parent for script in scripts if script.is_file()), None)
    return [target.cwd] if beside in (None, target.cwd) else [beside, target.cwd]


def definitions(captured: Captured, work: RunState) -> tuple[str, ...]:
    """Return what makes the replay run the target as far as it defines its operators."""
    if captured.script is None:
        return ()
    argv = work.request.target.argv
    name = captured.script.name
    at = next((i for i, word in enumerate(argv) if Path(word).name == name), None)
    own = list(argv[at + 1 :]) if at is not None else []
    return ("--script", str(captured.script), "--script-args", json.dumps(own))


def with_report(ran: Ran, work: RunState) -> Ran:
    prefix = ran.directory.relative_to(work.directory.path).as_posix() + "/"
    report = report_of(ran.directory)
    observations = replace(ran.observations, report=report, prefix=prefix)
    return replace(ran, observations=observations)


def step_of(planned: Planned, ran: Ran, work: RunState, first: Observations) -> Step:
    return Step(
        name=planned.key,
        status="done",
        why=planned.why,
        finding=finding(planned, ran, first),
        exit=ran.exit.how,
        wall_s=round(ran.exit.wall_s, 2),
        artifact=ran.directory.relative_to(work.directory.path).as_posix(),
    )


def finding(planned: Planned, ran: Ran, first: Observations) -> str:
    failure, original = failure_of(ran.observations), failure_of(first)
    if planned.name == "again":
        if failure.same(original) or (failure.failed and failure.kind == original.kind):
            return "the replay fails in the same way"
        if failure.failed:
            return f"the replay fails in another way: {failure}"
        return "the replay does not fail: the fault needs something that the script does"
    if planned.name in SANITIZER:
        return found_by_sanitizer(ran.observations)
    if planned.name == "native":
        stack = stack_of(ran.observations)
        if stack is None:
            return "no signal came to the program that the debugger ran"
        at = place(replace(ran.observations, package=first.package))
        return f"{stack.signal or 'a signal'} in {at}"
    if planned.name in ("guards", "fakes", "compare"):
        return reported(planned.name, ran.observations.report) or str(failure)
    return str(failure) if failure.failed else "nothing found"


def found_by_sanitizer(observations: Observations) -> str:
    errors = observations.of(SanitizerError)
    if errors:
        count = times(sum(e.count for e in errors), "error")
        return f"{count}; the first: {errors[0].what[:120]}"
    failure = failure_of(observations)
    return f"no errors; the program ended with {failure}" if failure.failed else "no errors"


def reported(name: Name, report: dict[str, Any] | None) -> str | None:
    """Say in a few words what a program of the probe reported; None when it wrote nothing."""
    if report is None or (report.get("state") != "done" and not report.get("exception")):
        return None
    if name == "fakes":
        count = len(report.get("mismatches") or [])
        what = f"{times(count, 'result')} {'is' if count == 1 else 'are'} not what was promised"
        return what if count else "all as promised"
    if name == "compare":
        return f"package and exported program: {report.get('verdict')}"
    if different := report.get("differences"):
        return undeclared(different)
    error = report.get("exception")
    if isinstance(error, dict):
        message = str(error.get("message")).strip().split("\n")[0]
        return f"the exported program raises {error.get('type')}: {message[:120]}"
    return "the exported program takes the call"


def undeclared(differences: Sequence[Mapping[str, Any]]) -> str:
    """Count the inputs that differ from the exported program's; one may do so in several ways."""
    inputs = {(d.get("index"), d.get("position")) for d in differences if d.get("name") is not None}
    count = len(inputs)
    if not count:
        return "the number of inputs is not as declared"
    return f"{times(count, 'input')} {'is' if count == 1 else 'are'} not as declared"
