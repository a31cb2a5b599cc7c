"""What is known about a run, at any moment."""

from __future__ import annotations

from typing import cast

from aoti_debug.model import StageAnswer, Status, TriageAnswer
from aoti_debug.triage.work import Work


def so_far(work: Work) -> StageAnswer | TriageAnswer:
    """Return the answer of a run that has none of its own yet: it goes on, or was ended."""
    status = cast(Status, work.status)
    if work.kind == "triage":
        return TriageAnswer(
            run=work.directory.id,
            status=status,
            diagnosis=work.diagnosis,
            steps=list(work.steps),
            artifacts=work.artifacts(),
            notes=[*work.notes, *now(work)],
        )
    return StageAnswer(
        run=work.directory.id,
        status=status,
        stage=work.kind,
        diagnosis=work.diagnosis,
        artifacts=work.artifacts(),
        notes=[*work.notes, *now(work)],
    )


def now(work: Work) -> list[str]:
    return [f"now: {work.doing}"] if work.status == "running" else []
