"""Say whether a package's calls can be held in a CUDA graph; where there is a GPU, try it."""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread

from aoti_debug.examine.answers import GraphsAnswer
from aoti_debug.examine.launches import model_of
from aoti_debug.examine.process import ExamineRequest, NotExamined, examined, of_run
from aoti_debug.package.graph_capture import Blocker, blockers
from aoti_debug.read.examine_reports import GraphsReport
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.run_state import RunState

GUIDE = "guides/cuda-graphs.md"
RULES = (
    "load with run_single_threaded=True: another runner asks for events, which a capture refuses",
    "copy new inputs into the memory of the captured ones, and replay on one thread at a time",
    "clone outputs that are still needed: the next replay writes to the same memory",
)


async def fitness(state: RunState, request: ExamineRequest) -> GraphsAnswer:
    """Read the package; capture a call where there are inputs."""
    model = await anyio.to_thread.run_sync(model_of, request.call, request.model)
    barred = blockers(model) if model is not None else ()
    report = GraphsReport()
    device = model.device if model is not None else None
    if device == "cuda" and (request.call.inputs or request.call.exported):
        try:
            report, _ = await examined(state, request, "capture_graph", GraphsReport)
        except NotExamined as error:
            state.notes.append(str(error))
    verdict, summary = verdict_of(device, barred, report)
    return GraphsAnswer(
        **of_run(state, request),
        graphs=verdict,
        summary=summary,
        tried=" ".join(filter(None, (report.tried, report.said))) or None,
        blockers=[said(one) for one in barred],
        rules=list(RULES) if device == "cuda" else [],
        captures=await anyio.to_thread.run_sync(captures, request),
        guide=GUIDE,
    )


def verdict_of(
    device: str | None, barred: Sequence[Blocker], report: GraphsReport
) -> tuple[str, str]:
    """Return the verdict and its headline: what a capture gave counts most."""
    worst = next((one for one in barred if one.blocks), None)
    failed = {"refused": "the capture was refused", "wrong": "a replay is wrong"}
    if device != "cuda":
        return "not fit", f"the package is for {device or 'no known device'}, not for a CUDA GPU"
    if report.tried in failed:
        return "not fit", f"{failed[report.tried]}: {worst.what if worst else report.said}"
    if report.tried == "captured":
        return "fit", "a captured call gives with other inputs what a call gives"
    if worst is not None:
        return "not fit", worst.what
    for one in barred:
        if one.kind == "own rules":
            return "depends", one.what
    return "fit", "nothing in the package prevents a capture; none was tried here"


def said(one: Blocker) -> str:
    return f"launch {one.launch}: {one.what}" if one.launch is not None else one.what


def captures(request: ExamineRequest) -> int | None:
    for run in request.uses:
        return len({tuple(one.shape for one in call.inputs) for call in events_of(run.path).calls})
    return None
