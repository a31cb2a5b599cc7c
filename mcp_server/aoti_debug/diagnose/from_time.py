"""Candidates from times: the script complains of how long calls took, and where that goes."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.observations import Candidate, Kind, Observations, headline
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fix
from aoti_debug.symptom import complains_of_time

GUIDE = "guides/memory-and-time.md#slow-model"


def candidates(observations: Observations) -> Iterator[Candidate]:
    exception = complains_of_time(observations)
    if exception is None:
        return
    timed = observations.timed
    reasons = timed.reasons if timed is not None else []
    said = timed.summary if timed is not None else "the script complains of how long calls took"
    frame = exception.frames[-1] if exception.frames else None
    where = [reason.source for reason in reasons if reason.source is not None]
    yield Kind("performance", "run", Tier.RAISED, GUIDE).found(
        headline(said),
        exception.span,
        confidence="likely" if reasons else "possible",
        means=f"the check: {frame.text}" if frame is not None and frame.text else None,
        source=where[:1] or observations.caller,
        fixes=[Fix(what=reason.change, why=reason.tried or reason.what) for reason in reasons],
    )
