"""The guide on environment variables, written from the table of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from aoti_debug.facts.flag import OLDEST, Flag, Moment, Release

_HEAD = """\
# Environment variables

When each variable is read. Set later, or in the other process, it does nothing and says nothing.
Releases are given where not all of {oldest} to {newest} read it. Generated: do not edit.

## The ones that matter

| variable | read | values | mind |
|---|---|---|---|
"""
_COMPILING = """\
## While compiling

Read when the compiling process imports `torch._inductor.config`, unless another moment is given,
and baked into the package. In place of a variable `inductor_configs={"NAME": value}` works:
`aot_inductor.x` for `AOT_INDUCTOR_X`, `x` for `TORCHINDUCTOR_X`, or the name in brackets; not
for those marked *environment only*.
"""
_RUNNING = """\
## While loading or running

Read in the process that loads and calls the package, or in both. No recompile is needed.
"""
# Led by a row each; the trap is the one that cost people most.
_LEADING: dict[str, str] = {
    "AOTI_RUNTIME_CHECK_INPUTS": "does not check guards, equal sizes, divisibility; "
    "false alarm at a lower bound of 2",
    "PYTHONUNBUFFERED": "without it a crash loses the last printed lines",
    "PYTHONFAULTHANDLER": "the Python stack of a crash by signal",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "not together with compute-sanitizer",
    "CUDA_COREDUMP_GENERATION_FLAGS": "never `skip_abort`: errors pass unseen",
    "CUDA_LOG_FILE": "needs driver 12.9",
    "CUDA_LAUNCH_BLOCKING": "hides races; not together with compute-sanitizer",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "0 switches caching off, too",
    "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER": "does nothing for a package that exists",
    "AOT_INDUCTOR_DEBUG_COMPILE": "adds no input checks (except in 2.6)",
    "TORCHINDUCTOR_NAN_ASSERTS": "Triton launches only; a -inf mask is reported, too",
    "INDUCTOR_PROVENANCE": "kernel to model line, costs nothing at run time",
    "DUMP_AOTI_MINIFIER": "sees the example inputs only",
    "AOTINDUCTOR_REPRO_LEVEL": "nothing without DUMP_AOTI_MINIFIER=1",
    "TORCHINDUCTOR_CACHE_DIR": "an empty one makes the first load of a process slow",
}
# How fast constants are copied while loading: named, not explained.
_COPYING = (
    "AOTI_COPY_USE_PINNED_ASYNC",
    "AOTI_COPY_STAGE_BUFFER_BYTES",
    "AOTI_COPY_STAGE_CPU_THREADS",
    "AOTI_CUDA_COPY_CHUNK_SIZE",
    "AOTI_CUDA_COPY_SLEEP_US",
)
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
    rest = [f for f in table if f.name not in _LEADING and f.name not in _COPYING]
    compiling = [f for f in rest if f.side == "compiling"]
    running = [f for f in rest if f.side != "compiling"]
    copying = [f"`{f.name}` ({_releases(f)})" for f in table if f.name in _COPYING]
    parts = [
        _HEAD.format(oldest=OLDEST, newest=newest) + _rows(table),
        _COMPILING,
        _list(compiling, usual="import"),
        _RUNNING,
        _list(running) + f"- Copying of constants at load, tuned by {', '.join(copying)}.\n",
    ]
    return "\n".join(parts)


def _rows(table: tuple[Flag, ...]) -> str:
    named = {flag.name: flag for flag in table}
    rows = []
    for name, trap in _LEADING.items():
        flag = named[name]
        moment = "compiling" if flag.side == "compiling" else _WHEN[flag.readings[-1].when]
        releases = f" ({_releases(flag)})" if _releases(flag) else ""
        rows.append(f"| `{name}`{releases} | {moment} | {flag.values} | {trap} |")
    return "\n".join(rows) + "\n"


def _list(flags: Iterable[Flag], usual: Moment | None = None) -> str:
    """List variables; what is believed wrongly of several of them is left to the text above."""
    told = [(f, (*f.misconceptions, *_notes(f))) for f in flags]
    counts = Counter(trap for _, traps in told for trap in traps)
    lines = []
    for flag, traps in told:
        moments = dict.fromkeys(_WHEN[r.when] for r in flag.readings if r.when != usual)
        only = "environment only" if usual and flag.attribute is None else ""
        facts = [f for f in (_attribute(flag), only, _releases(flag), *moments) if f]
        head = f"- `{flag.name}`" + (f" ({'; '.join(facts)})" if facts else "")
        own = (trap for trap in traps if counts[trap] == 1)
        values = f" Values: {flag.values}." if flag.values not in ("0, 1", "") else ""
        lines.append(f"{head}: {' '.join((flag.does + values, *own))}")
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
