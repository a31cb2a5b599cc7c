"""Which road a named stage takes."""

from __future__ import annotations

from aoti_debug.facts.stages import Stage
from aoti_debug.model import StageAnswer
from aoti_debug.triage.devices import held
from aoti_debug.triage.minifier import run_minifier
from aoti_debug.triage.stage import run_stage
from aoti_debug.triage.work import Work


async def run_named_stage(work: Work, stage: Stage) -> StageAnswer:
    """Run `stage` on the target, alone on the GPUs that the target can see."""
    async with held(work):
        if stage.name == "minifier":
            return await run_minifier(work, stage)
        return await run_stage(work, stage)
