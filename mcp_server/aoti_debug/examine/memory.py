"""Measure a package's memory in a process of its own, and give every byte an owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio.to_thread
import psutil

from aoti_debug.diagnose.from_cost import holding, said
from aoti_debug.errors import WrongUse
from aoti_debug.examine.answers import MemoryAnswer, MemoryRow
from aoti_debug.examine.launches import launches_of, model_of, origin_of
from aoti_debug.examine.process import (
    ExamineRequest,
    examine_request,
    examined,
    extended,
    of_run,
    with_inputs,
)
from aoti_debug.package.record import CompiledModel
from aoti_debug.plain import few
from aoti_debug.read.examine_reports import Block, Gpu, MemoryReport
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.run_state import RunState

GUIDE = "guides/memory-and-time.md"
RUNNERS = 64
CURVE = 200
MIB = 1 << 20
MANY = 3  # times that something was done again
PAYS = 1.1  # times the rate of one runner
GROWS = 1 << 16  # bytes a call, of half of the calls


@dataclass(frozen=True, slots=True)
class MemoryRequest(ExamineRequest):
    """`runners` are called at the same time."""

    _: KW_ONLY
    runners: int = 1


def memory_request(what: str, *, runners: int = 1, **given: Any) -> MemoryRequest:
    """Resolve what to examine and how many runners are called at once; see `examine_request`."""
    if not 1 <= runners <= RUNNERS:
        raise WrongUse(f"--runners {runners} is not 1 to {RUNNERS}")
    return extended(MemoryRequest, with_inputs(examine_request(what, **given)), runners=runners)


async def measure_memory(state: RunState, request: MemoryRequest) -> MemoryAnswer:
    """Measure, and answer who holds what; raise NotExamined."""
    model = await anyio.to_thread.run_sync(model_of, request.call, request.model)
    words = ["--instances", str(request.runners)]
    report, _ = await examined(state, request, "memory_use", MemoryReport, *words)
    answer = answer_of(state, request, report, model)
    said = [line for one in request.uses for line in grows(events_of(one.path))]
    return answer.model_copy(update={"run_grows": said, "grows": answer.grows or bool(said)})


def answer_of(
    state: RunState, request: MemoryRequest, report: MemoryReport, model: CompiledModel | None
) -> MemoryAnswer:
    peak, rows = report.call.after.top, list(rows_of(report))
    largest = max(rows, key=lambda one: one.bytes)
    rows.append(MemoryRow(owner="not accounted for", bytes=peak - sum(one.bytes for one in rows)))
    grows, growth = growth_said(report)
    part = f"the largest part is {largest.owner}: {mib(largest.bytes)}"
    summary = f"{mib(peak)} at the peak of a call; {part}"
    return MemoryAnswer(
        **of_run(state, request),
        device=report.device,
        summary=summary + (f"; {growth}" if grows else ""),
        peak=peak,
        rows=[one for one in rows if one.bytes],
        blocks=[block_row(one, model) for one in report.blocks.at_most[:12]],
        others=list(others_of(report)),
        curve=thinned([int(one) for one in report.blocks.curve]),
        fits=fits(report),
        together=together(report),
        growth=growth,
        grows=grows,
        lower=list(lower(report)),
        guide=GUIDE,
    )


def rows_of(report: MemoryReport) -> Iterator[MemoryRow]:
    if (gpu := report.call.after.gpu) is not None:
        yield from _on_gpu(report, gpu)
        return
    before, loaded, call = report.before, report.loaded, report.call.before
    yield MemoryRow(owner="Python and torch", bytes=before.resident)
    yield MemoryRow(
        owner="the library, mapped from its file",
        bytes=report.library,
        detail=f"{mib(report.weights)} of weights are in it, if it was compiled with them",
    )
    yield MemoryRow(owner="weights, in memory of their own", bytes=held_weights(report))
    rest = loaded.resident - before.resident - report.library - held_weights(report)
    yield MemoryRow(owner="loading, the rest", bytes=rest)
    yield MemoryRow(owner="inputs", bytes=report.inputs)
    once = call.resident - report.inputs - loaded.resident
    yield MemoryRow(owner="kept by libraries and malloc since the first call", bytes=once)
    yield from _of_call(report)


def held_weights(report: MemoryReport) -> int:
    """Return the bytes of the copy of the weights: nothing where loading took less than that."""
    grown = report.loaded.resident - report.before.resident - report.library
    return report.weights if grown >= report.weights * 0.9 else 0


def _of_call(report: MemoryReport) -> Iterator[MemoryRow]:
    outputs = min(report.outputs, report.blocks.most)
    detail = f"the most at kernel {report.blocks.at_step} of {report.blocks.steps}"
    between = max(0, report.blocks.most - outputs)
    yield MemoryRow(owner="intermediate values of a call", bytes=between, detail=detail)
    yield MemoryRow(owner="outputs", bytes=outputs)


def _on_gpu(report: MemoryReport, gpu: Gpu) -> Iterator[MemoryRow]:
    moments = report.before, report.loaded, report.call.before
    before, loaded, call = (one.gpu or Gpu() for one in moments)
    yield MemoryRow(owner="contexts and other processes", bytes=before.used - before.reserved)
    yield MemoryRow(owner="weights", bytes=report.weights)
    rest = loaded.used - before.used - report.weights - (loaded.reserved - before.reserved)
    yield MemoryRow(owner="kernels and the rest of loading", bytes=rest)
    yield MemoryRow(owner="inputs", bytes=report.inputs)
    yield from _of_call(report)
    workspace = gpu.most - call.allocated - report.blocks.most
    yield MemoryRow(owner="workspaces of library calls", bytes=max(0, workspace))
    kept = call.allocated - report.inputs
    yield MemoryRow(owner="kept by torch since the first call", bytes=kept)
    yield MemoryRow(
        owner="torch's allocator, reserved and not in use", bytes=gpu.reserved - gpu.most
    )
    lazily = (gpu.used - gpu.reserved) - (loaded.used - loaded.reserved)
    yield MemoryRow(owner="kernels loaded in the first call", bytes=lazily)


def block_row(one: Block, model: CompiledModel | None) -> MemoryRow:
    """Return a block of the call with the kernel that fills it and the model's line."""
    launches = launches_of(model)
    at_step = (known for known in launches if known.number == one.step)
    named = (known for known in launches if known.kernel == one.made_by)
    origin = origin_of(next(named, None) or next(at_step, None), model)
    place = origin.source[0] if origin is not None and origin.source else None
    shape = f"{one.dtype}{list(one.shape)}"
    until = f"until kernel {one.freed}" if one.freed else "returned"
    return MemoryRow(
        owner=one.made_by or "allocated, and given to no kernel",
        bytes=one.bytes,
        detail=f"{shape}, from kernel {one.step} {until}, last read by {one.last_by or 'nothing'}",
        line=str(place) if place is not None else None,
    )


def others_of(report: MemoryReport) -> Iterator[MemoryRow]:
    """Yield what is not in the peak of a call: more buffers, more runners."""
    if (buffer := report.buffer) is not None:
        added = buffer.filled.used - buffer.before.used
        back = buffer.filled.used - buffer.freed.used
        detail = f"free_inactive_constant_buffer() gives back {mib(back)}"
        yield MemoryRow(owner="inactive buffer, after an update of it", bytes=added, detail=detail)
    if (more := report.instances) is not None:
        loading = more.loaded.used - more.before.used
        detail = f"a package with {more.count} runners, loaded besides; weights are held once"
        yield MemoryRow(owner=f"{more.count} runners, loaded", bytes=loading, detail=detail)
        calling = f"{more.count} calls at the same time"
        yield MemoryRow(owner=calling, bytes=max(0, more.after.top - more.loaded.used))
    if report.folded:
        yield MemoryRow(owner="folded constants", bytes=report.folded, detail="besides the weights")


def fits(report: MemoryReport) -> str | None:
    """Say how many runners can be called at the same time here."""
    each = report.blocks.most + report.inputs
    gpu = report.call.after.gpu
    if gpu is not None:
        held = (report.call.before.gpu or Gpu()).allocated
        each += max(0, gpu.most - held - report.blocks.most)
        free = gpu.total - gpu.used
    else:
        free = psutil.virtual_memory().available
    if not each:
        return None
    count = 1 + max(0, free) // each
    return f"{count:,} runners ({mib(each)} each while it is called, {mib(free)} are free)"


def together(report: MemoryReport) -> str | None:
    """Say whether the answers of calls at the same time mix, and what more runners bring."""
    more = report.instances
    if more is None or not more.many.calls:
        return None
    tried, mixed = (more.many, more.one), more.many.mixed + more.one.mixed
    calls = sum(one.calls for one in tried)
    rates = f"{more.alone.rate:.3g} calls a second from one thread, {more.one.rate:.3g} from "
    rates += f"{more.count} threads with one runner, {more.many.rate:.3g} with {more.count} runners"
    if mixed:
        return f"{mixed} of {calls} outputs are not those of a call alone; {rates}"
    pays = more.many.rate > PAYS * more.one.rate
    advice = f"num_runners={more.count} pays" if pays else "more runners than one bring nothing"
    return f"all {calls} outputs are those of a call alone; {rates}: {advice}"


def growth_said(report: MemoryReport) -> tuple[bool | None, str | None]:
    """Tell whether calls leave memory behind, of the second half of those that were made."""
    held = report.growth.held
    if len(held) < 6:
        return None, None
    place = 2 if report.call.after.gpu is not None else 0
    late = [row[place] for row in held[len(held) // 2 :]]
    each = (late[-1] - late[0]) / (len(late) - 1)
    steps = [after - before for before, after in pairwise(late)]
    grows = each > GROWS and sum(step > 0 for step in steps) > len(steps) / 2
    if not grows:
        return False, f"none in {len(held)} calls"
    blocks = [one for one in report.blocks.forgotten if one.bytes]
    named = f", such as {blocks[0].dtype}{list(blocks[0].shape)}" if blocks else ""
    return True, f"each call leaves {mib(int(each))} behind{named}"


def lower(report: MemoryReport) -> Iterator[str]:
    """Yield what would lower the peak, the most first."""
    copied = held_weights(report)
    if report.device == "cpu" and copied and report.library >= 0.9 * copied and copied > 16 * MIB:
        yield (
            f"the weights are in memory twice, {mib(copied)} each: compile with "
            "aot_inductor.package_constants_in_so=False and load_constants(..., user_managed=True)"
        )
    if report.blocks.most > 2 * max(copied, 16 * MIB):
        yield "call with fewer rows at a time: intermediate values are the most of it"
    gpu = report.call.after.gpu
    if gpu is not None and gpu.reserved - gpu.most > 0.3 * max(gpu.most, 1):
        said = "the allocator holds memory that nothing uses"
        yield f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: {said}"
    if report.buffer is not None and report.buffer.filled.used - report.buffer.before.used > MIB:
        yield "call free_inactive_constant_buffer() after each swap, or the other buffer stays"
    for one in report.buffer.alike if report.buffer is not None else ():
        saved = (len(one.names) - 1) * one.bytes
        yield (
            f"{few(one.names)} hold the same values: {mib(saved)} less, and a shorter load, if the "
            "model uses one tensor for all before the export"
        )


def thinned(curve: list[int]) -> list[int]:
    width = -(-len(curve) // CURVE) or 1
    return [max(curve[at : at + width]) for at in range(0, len(curve), width)]


def mib(size: float) -> str:
    return f"{size / MIB:,.1f} MiB"


def grows(run: RunSeen) -> Iterator[str]:
    """Yield what was done again and again, and what to do instead."""
    yield from map(said, holding(run))
    loads = Counter((one.pid, one.details.package) for one in run.of("load") if one.ok)
    for (_, package), count in loads.items():
        if count >= MANY:
            name = Path(package).name if package else "a package"
            yield (
                f"{name} was loaded {count} times in one process: each model holds its weights as "
                "long as it lives; load it once, with num_runners for several threads"
            )
    updates = [one for one in run.of("constants") if one.ok]
    managed = [one for one in updates if one.details.user_managed]
    if len(managed) >= MANY:
        yield (
            f"{len(managed)} user-managed updates: some releases (2.13) keep the tensors of each "
            "forever; update with copies (user_managed=False)"
        )
    filled = [one for one in updates if one.details.inactive]
    if filled and not run.of("free"):
        yield (
            f"{len(filled)} updates of the inactive buffer, and none was freed: weights are held "
            "twice; call free_inactive_constant_buffer() after the swap"
        )
