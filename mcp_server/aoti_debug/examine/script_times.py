"""What makes a script slow besides the calls themselves: what it does again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from aoti_debug.examine.answers import SlowReason
from aoti_debug.model import source_of
from aoti_debug.read.event_records import Phase
from aoti_debug.record.run_seen import RunSeen

LEAST = 0.1  # of the time that they take with all calls
MOST_OF, LEAST_S = 0.5, 0.2  # of the time from call to call, which is too short to tell below
ROWS = 20  # recorded calls of one row each
# What is done again, what to do, and how often it must be done at least.
_AGAIN = {
    "load": ("the package is loaded {count} times", "load it once, and keep the model", 2),
    "constants": ("weights are given {count} times", "give them once, when they have changed", 2),
    "lower": (
        "a model with the same weights is compiled {count} times",
        "export it once with dynamic sizes (torch.export.Dim), and compile that",
        3,
    ),
}


def script_reasons(run: RunSeen) -> list[SlowReason]:
    """Return what a script repeats, by what that costs of its calls and of what it repeats."""
    calls = sum(call.seconds or 0.0 for call in run.calls)
    found = (_again(run.of(kind), kind, calls) for kind in _AGAIN)
    reasons = [reason for reason in found if reason is not None and reason.share >= LEAST]
    around = _between(run) if not reasons else None  # what is repeated is between calls as well
    return [*reasons, around] if around is not None else reasons


def row_by_row(run: RunSeen) -> bool:
    """Tell whether a script makes many calls, of which each gives inputs of one row."""
    shapes = [[leaf.shape for leaf in call.inputs if leaf.shape] for call in run.calls]
    return len(shapes) >= ROWS and all(any(one[0] == 1 for one in of) for of in shapes)


def _between(run: RunSeen) -> SlowReason | None:
    """Return the line with most of the time between calls, where that is most of all time."""
    seen = next((one.between for one in run.ended if one.between is not None), None)
    steady = [call.seconds for call in run.calls[1:] if call.seconds]
    if seen is None or not seen.lines or not steady or seen.outside < LEAST_S:
        return None
    share = seen.outside / (seen.outside + seen.calls * median(steady))
    if share < MOST_OF:
        return None
    longest = ", ".join(
        f"line {line} of {Path(file).name} ({seconds / seen.outside:.0%})"
        for file, line, seconds in seen.lines[:2]
    )
    file, line, _ = seen.lines[0]
    return SlowReason(
        what=f"{share:.0%} of the time from call to call passes outside the calls: {longest}",
        cost_s=seen.outside,
        share=share,
        change="do it once before the loop, or leave it out",
        gain=share,
        tried="as the script's own run was seen",
        source=source_of((file, line))[0],
    )


def _again(phases: Sequence[Phase], kind: str, calls: float) -> SlowReason | None:
    repeats, (what, change, least) = list(_repeats(phases)), _AGAIN[kind]
    cost = sum(phase.seconds or 0.0 for phase in repeats)
    if not cost or len(repeats) + 1 < least:
        return None
    spent = calls + sum(phase.seconds or 0.0 for phase in phases)
    return SlowReason(
        what=what.format(count=len(repeats) + 1),
        cost_s=cost,
        share=cost / spent,
        change=change,
        gain=cost / spent,
        tried="as the script's own run was seen",
        source=next(iter(source_of(repeats[-1].details.caller)), None),
    )


def _repeats(phases: Sequence[Phase]) -> Iterator[Phase]:
    """Yield what was done again for a package that it was done for before, by the same line."""
    seen: set[object] = set()
    for phase in phases:
        details = phase.details
        compiled = phase.phase == "lower"
        of = (details.weights,) if compiled else (details.package, details.model)
        what = phase.pid, details.caller, of
        if what in seen and phase.ok and of != (None,):
            yield phase
        seen.add(what)
