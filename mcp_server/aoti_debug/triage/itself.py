"""Run the target itself once more: where there is no captured call, or its replay says nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles
from aoti_debug.facts.stages import Setting, stage_named
from aoti_debug.run.machine import find_tool
from aoti_debug.triage import tools
from aoti_debug.triage.hang import stacks_into
from aoti_debug.triage.plan import Planned
from aoti_debug.triage.stage import installed, torch_version
from aoti_debug.triage.watch import watched
from aoti_debug.triage.work import Ran, Work

SCRIPT = b"#!"
STAGES = ("contract", "deterministic")


async def run_itself(work: Work, planned: Planned, directory: Path, first: Observations) -> Ran:
    """Run the target as it is under one tool or under the flags of one stage."""
    target = work.request.target
    environment = watched(target.env, directory, work.directory.id, capture=False)
    versions = installed(work)
    argv = target.argv
    if planned.name in STAGES:
        version = torch_version(versions.torch if versions else None)
        flags = stage_named(planned.name).environment(Setting(version, directory))
        environment.update(flags)
    elif planned.name == "native":
        gdb = find_tool("gdb", target.env) or find_tool("cuda-gdb", target.env)
        assert gdb is not None  # the plan has looked
        argv = (*tools.gdb(gdb), *executed(argv, target.env))
        environment = dict(target.env)  # gdb has a Python of its own, where the probe would start
    else:
        sanitizer = find_tool("compute-sanitizer", target.env, target.python)
        assert sanitizer is not None  # the plan has looked
        argv = (*tools.sanitizer(sanitizer, planned.name, directory / "sanitizer.xml"), *argv)
        environment = tools.sanitizer_environment(environment)
    ran = await work.run(
        f"the target itself: {planned.name}",
        argv,
        environment,
        directory,
        on_timeout=stacks_into(directory, target.env),
        torch=versions.torch if versions else None,
    )
    work.recompiles += len(compiles(first.events)) if first.events is not None else 0
    return ran


def executed(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the system executes for a command: for a file that begins with `#!` its
    interpreter. A debugger does not resolve that."""
    file = find_tool(argv[0], env) or Path(argv[0])
    try:
        with file.open("rb") as stream:
            first = stream.readline(4096)
    except OSError:
        return argv
    if not first.startswith(SCRIPT):
        return argv
    return (*shlex.split(first[2:].decode(errors="replace")), str(file), *argv[1:])
