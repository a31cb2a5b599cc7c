"""Candidates from what the calls themselves show: threads that share one model, bad outputs."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.observations import Observations
from aoti_debug.model import Diagnosis, Fix
from aoti_debug.read.events import Call, Events, Phase


def candidates(observations: Observations) -> Iterator[Candidate]:
    events = observations.events
    if events is None:
        return
    yield from shared_model(events)
    yield from bad_output(events)


def shared_model(events: Events) -> Iterator[Candidate]:
    """Calls of one model overlap in several threads, and the model was loaded for one."""
    single = {
        phase.details.get("model", "model")
        for phase in events.phases
        if phase.phase == "load" and phase.details.get("run_single_threaded") is True
    }
    pair = overlapping(events)
    if not single or pair is None:
        return
    first, second = pair
    yield Candidate(
        Diagnosis(
            phase="run",
            category="concurrency",
            confidence="likely",
            summary="calls of one loaded model overlap in several threads, and it was loaded with "
            "run_single_threaded=True, which leaves out the locking",
            evidence=[evidence(first.span), evidence(second.span)],
            guide="guides/threads-streams-hangs.md",
            fixes=[
                Fix(
                    what="load the model without run_single_threaded, or give each thread a "
                    "loaded model of its own",
                    why="a model loaded this way may serve one call at a time only",
                )
            ],
        ),
        role="cause",
        weight=65,
    )


def overlapping(events: Events) -> tuple[Phase, Phase] | None:
    """Return two calls of one process that ran in different threads at the same time."""
    calls = [phase for phase in events.phases if phase.phase == "run"]
    latest: dict[int, Phase] = {}
    for call in calls:  # in the order in which they began
        before = latest.get(call.pid)
        if (
            before is not None
            and before.details.get("thread") != call.details.get("thread")
            and (before.ok is None or before.span.last > call.span.first)
        ):
            return before, call
        if before is None or before.span.last <= call.span.last or call.ok is None:
            latest[call.pid] = call
    return None


def bad_output(events: Events) -> Iterator[Candidate]:
    """A call returned NaN or Inf; known only where counting was cheap."""
    call = next((c for c in events.calls if counts(c)), None)
    if call is None:
        return
    yield Candidate(
        Diagnosis(
            phase="output",
            category="nan_or_inf",
            confidence="likely",
            summary=f"call {call.call} returned {counts(call)}",
            evidence=[evidence(call.span)],
            guide="guides/wrong-results.md",
        ),
        role="symptom",
        weight=50,
    )


def counts(call: Call) -> str:
    nan = sum(out.nan or 0 for out in call.outputs)
    inf = sum(out.inf or 0 for out in call.outputs)
    return " and ".join(f"{n} {word}" for n, word in ((nan, "NaN"), (inf, "Inf")) if n)
