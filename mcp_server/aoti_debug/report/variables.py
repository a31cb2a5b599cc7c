"""The guide on environment variables, written from the table of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from aoti_debug.facts.flags import Flag, Moment
from aoti_debug.facts.versions import OLDEST, Release

_HEAD = """\
# Environment variables

Which variables matter to AOTInductor, and the moment at which each one is read. Set later than that
moment, or in the other process, a variable does nothing and says nothing. Given are the torch
releases that read it, where not all of {oldest} to {newest} do. This page is generated from the
table that the tools use; do not edit it.
"""
_COMPILING = """\
## While compiling

Read in the process that compiles, when `torch._inductor.config` is imported unless another moment
is given, and baked into the package: for a finished package they come too late. In place of the
variable `inductor_configs={"NAME": value}` works: `aot_inductor.x` for `AOT_INDUCTOR_X`, `x` for
`TORCHINDUCTOR_X`, or the name in brackets.
"""
_RUNNING = """\
## While loading or running

Read in the process that loads and calls the package, by the driver and Python below it, or in both
processes. No recompile is needed.
"""
_WHEN: dict[Moment, str] = {
    "import": "import of Inductor's config",
    "compile": "each compile",
    "load": "load",
    "first_run": "first call",
    "every_run": "each call",
    "first_allocation": "first CUDA allocation",
    "process_start": "process start",
}


def write_guide(flags: Iterable[Flag], newest: Release) -> str:
    """Return guides/environment-variables.md."""
    table = tuple(flags)
    compiling = [f for f in table if f.side == "compiling"]
    running = [f for f in table if f.side != "compiling"]
    parts = [
        _HEAD.format(oldest=OLDEST, newest=newest),
        _COMPILING,
        _list(compiling, usual="import"),
        _RUNNING,
        _list(running),
    ]
    return "\n".join(parts)


def _list(flags: Iterable[Flag], usual: Moment | None = None) -> str:
    """List variables; what is believed wrongly of several of them is left to the text above."""
    told = [(f, (*f.misconceptions, *_notes(f))) for f in flags]
    counts = Counter(trap for _, traps in told for trap in traps)
    lines = []
    for flag, traps in told:
        moments = dict.fromkeys(_WHEN[r.when] for r in flag.readings if r.when != usual)
        facts = [f for f in (_attribute(flag), _releases(flag), *moments) if f]
        head = f"- `{flag.name}`" + (f" ({'; '.join(facts)})" if facts else "")
        own = (trap for trap in traps if counts[trap] == 1)
        lines.append(f"{head}: {' '.join((flag.does, *own))}")
    return "\n".join(lines) + "\n"


def _attribute(flag: Flag) -> str:
    """Return the config name where it does not follow from the variable's."""
    plain = flag.name.lower().replace("aot_inductor_", "aot_inductor.", 1)
    usual = plain.removeprefix("torchinductor_")
    return "" if flag.attribute in (None, usual) else f"`{flag.attribute}`"


def _notes(flag: Flag) -> Iterator[str]:
    for reading in flag.readings:
        if not reading.note:
            continue
        partial = (reading.since, reading.until) != (flag.since, flag.until)
        if partial and not any(c.isdigit() for c in reading.note):
            yield f"{_range(reading.since, reading.until, flag)}: {reading.note}"
        else:
            yield reading.note


def _range(since: Release, until: Release | None, flag: Flag) -> str:
    if until is None:
        return f"From {since}"
    if since == until:
        return str(since)
    return f"Up to {until}" if since == flag.since else f"{since} to {until}"


def _releases(flag: Flag) -> str:
    if flag.until is None:
        return "" if flag.since == OLDEST else f"{flag.since}+"
    return str(flag.since) if flag.since == flag.until else f"{flag.since} to {flag.until}"
