"""Repeat the captured call in a fresh process, without the user's code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio

from aoti_debug.read.check_report import read_reports
from aoti_debug.read.checks import CheckReports
from aoti_debug.run.files import read_json, write_atomically
from aoti_debug.triage import debuggers
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.decision import Machine, Name
from aoti_debug.triage.environment import SCRIPT
from aoti_debug.triage.observe import SANITIZER, key_of
from aoti_debug.triage.probe_arguments import call_arguments
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.spawn import spawn
from aoti_debug.vocabulary import CHECKS, Check

SHORTEST_LIMIT_S = 120.0
REPORT = "report.json"
CHECKED = "checks"  # in the name of a step's directory
CALLS, TRIALS = "calls.json", "trials.json"
REPORT_BYTES = 64 << 20
LOST = 75  # what the probe exits with when a device's context is lost
# What is not worth a process of its own when the process died in a step: it would die there too.
DIES_TOO: dict[Check, tuple[Check, ...]] = {
    "guards": ("fakes", "compare"),
    "fakes": ("compare",),
    "contract": ("compare", "repeats", "poison", "threads"),
    "compare": ("repeats", "poison", "threads"),
    "repeats": ("poison", "threads"),
    "poison": ("threads",),
}
SANITIZERS = ("memcheck", "initcheck", "racecheck", "synccheck")


async def check_call(
    state: RunState, call: Captured, names: Sequence[Name], label: str = CHECKED
) -> tuple[CheckReports, list[Ran]]:
    """Run these checks of a captured call, in one process as long as none of them ends it. Return
    the reports by step, and the processes."""
    left = [name for name in CHECKS if name in names]
    reports, processes = CheckReports(), list[Ran]()
    while left:
        number = f"-{len(processes) + 1}" if processes else ""
        directory = state.subdirectory(label + number)
        given = (*words(state, call, directory), *besides(call, directory))
        argv = (*interpreter(state, "checks"), *given, "--steps", ",".join(left))
        name = f"replay: {', '.join(left)}"
        ran = await spawn(state, name, argv, directory, timeout_s=limit(state))
        processes.append(ran)
        found = await anyio.to_thread.run_sync(reports_of, ran, state)
        reports = reports.joined(found)
        ended_in = next((n for n in reversed(CHECKS) if found.step(n) is not None), None)
        died = bool(ran.exit.signal) or ran.exit.timed_out
        if ended_in is None or not (died or ran.exit.code == LOST):
            break
        undone = DIES_TOO.get(ended_in, ()) if died else ()
        left = [n for n in left if found.step(n) is None and n not in undone]
    return reports, processes


def besides(call: Captured, directory: Path) -> list[str]:
    """Return the arguments of checks that are not about the repeated call: calls of which only a
    description is kept, trials of calls, and how many threads call how many instances at once."""
    words: list[str] = []
    if call.others:
        told = [
            {"pid": one.pid, "call": one.call, "inputs": [asdict(given) for given in one.inputs]}
            for one in call.others
        ]
        write_atomically(directory / CALLS, json.dumps(told).encode())
        words += ["--calls", str(directory / CALLS)]
    if call.trials or call.forked or call.pair is not None:
        trials = {
            "trials": [trial.document for trial in call.trials],
            "last": (call.call.call or 0) if call.call is not None else 0,
            "rejected": call.rejected,
            "rows": call.rows,
            "forked": call.forked,
            "pair": str(call.pair) if call.pair is not None else None,
        }
        write_atomically(directory / TRIALS, json.dumps(trials).encode())
        words += ["--trials", str(directory / TRIALS)]
    if call.threads > 1:
        words += ["--threads", str(call.threads), "--runners", str(call.runners)]
    return words


def reports_of(ran: Ran, state: RunState) -> CheckReports:
    """Read what the process reported, if it came so far."""
    if (document := report_of(ran.directory)) is None:
        return CheckReports()
    signal = "a time-out" if ran.exit.timed_out else ran.exit.signal
    return read_reports(document, f"{state.below(ran.directory)}/{REPORT}", signal)


def reports_kept(run: Path) -> CheckReports:
    """Return what a run's own steps reported of its captured call, from its directory."""
    found = CheckReports()
    for step in sorted(run.glob(f"steps/*-{CHECKED}*")):
        if (document := report_of(step)) is not None:
            found = found.joined(read_reports(document, f"steps/{step.name}/{REPORT}"))
    return found


def report_of(directory: Path) -> dict[str, Any] | None:
    """Return what a program of the probe reported; None where that lacks its directory's secret."""
    document, key = read_json(directory / REPORT, REPORT_BYTES), key_of(directory)
    ours = isinstance(document, dict) and key is not None and document.get("key") == key
    return document if ours else None


async def replay(
    state: RunState, name: Name, call: Captured, directory: Path, machine: Machine
) -> Ran:
    files = words(state, replace(call, exported=None, graph=None), directory)
    argv = (*under(name, machine, directory), *interpreter(state, "replay"), *files)
    return await spawn(state, f"replay: {name}", argv, directory, timeout_s=limit(state))


def under(name: Name, machine: Machine, directory: Path) -> tuple[str, ...]:
    """Return the words that run a command under the tool of a step; none where it has none."""
    if name in SANITIZERS:
        assert machine.sanitizer is not None  # the plan has looked
        return debuggers.sanitizer(machine.sanitizer, name, directory / SANITIZER)
    if name == "native":
        assert machine.gdb is not None  # the plan has looked
        return debuggers.gdb(machine.gdb)
    return ()


async def probed(
    state: RunState,
    name: str,
    program: str,
    call: Captured,
    *more: str,
    timeout_s: float | None = None,
    flags: Mapping[str, str] | None = None,
) -> tuple[Ran, dict[str, Any] | None, str]:
    """Run a program of the probe on a call; return its report, if any, and the report's name."""
    directory = state.subdirectory(name.replace(" ", "-"))
    argv = (*interpreter(state, program), *words(state, call, directory), *more)
    ran = await spawn(state, name, argv, directory, timeout_s=timeout_s, flags=flags)
    report = await anyio.to_thread.run_sync(report_of, directory)
    return ran, report, f"{state.below(directory)}/{REPORT}"


def interpreter(state: RunState, program: str) -> tuple[str, ...]:
    python = state.request.target.python
    return str(python) if python else "python3", SCRIPT, program


def limit(state: RunState) -> float:
    """Return how long a replay may take: three times the first run, which did more."""
    first = next((s.wall_s for s in state.steps if s.name == "first run" and s.wall_s), 0.0)
    return min(max(SHORTEST_LIMIT_S, 3 * first), state.request.timeout_s)


def words(state: RunState, call: Captured, directory: Path) -> tuple[str, ...]:
    given = call_arguments(call, state.request.target, state.request.imports)
    return ("--report", str(directory / REPORT), *given)
