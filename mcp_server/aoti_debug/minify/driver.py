"""The road of a minification: the original's signature, slices, the search, the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from aoti_debug.answers import MinifyAnswer
from aoti_debug.minify import reproduction
from aoti_debug.minify.graph import Graph
from aoti_debug.minify.kernel import write_kernel
from aoti_debug.minify.material import Material, ended_well, material_of
from aoti_debug.minify.operators import definitions_for
from aoti_debug.minify.original import original
from aoti_debug.minify.request import MinifyRequest, NothingToMinify, interpreter_name
from aoti_debug.minify.search import Best, Spent, Trials, minimise, simplify
from aoti_debug.minify.slice import Reduction, slices, with_producers, with_users
from aoti_debug.minify.stock import minify_with_torch
from aoti_debug.minify.survey import differ, search_folder, take_survey
from aoti_debug.minify.worker_pool import first, worker_pool
from aoti_debug.minify.write import Writer
from aoti_debug.model import Next
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.executor import this_machine
from aoti_debug.run.files import write_atomically
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.fingerprint import WRONG
from aoti_debug.triage.pipeline import triage
from aoti_debug.triage.probe_arguments import context_arguments, import_paths
from aoti_debug.triage.run_state import RunState
from aoti_debug.triage.spawn import hold_gpus
from aoti_debug.vocabulary import Fingerprint

WIDTH = 4


async def minify(work: RunState, request: MinifyRequest) -> MinifyAnswer:
    """Find a small reproduction that fails in the same way; raise NothingToMinify."""
    if request.engine == "torch":
        async with hold_gpus(work):
            return await minify_with_torch(work)
    material = await _material(work, request)
    async with (
        search_folder(work, material) as (root, cache),
        hold_gpus(work) as devices,
        worker_pool(
            root / "c",
            work.directory.path / "fork-server",
            interpreter_name(request.target),
            request.target.env,
            cache,
            work.stop,
            this_machine(WIDTH, devices),
            material.vec_isa,
        ) as pool,
    ):
        work.say("reading the exported program")
        survey = await take_survey(pool, root, material)
        folders = import_paths(request.target, material.context.folders)
        folders = [] if request.alone else folders
        definitions = await definitions_for(pool, survey.graph, material.context, folders)
        writer = Writer(survey, definitions)
        base = Reduction(
            frozenset(survey.graph.calls()),
            "compare",
            "aoti",
            dynamic=bool(survey.graph.symbols),
            two_sided=differ(survey),
            settings=material.candidate_settings,
        )
        found = await original(work, pool, material, writer, base, compare=request.compare)
        work.done(found.step())
        writing = anyio.Lock()  # candidates side by side may both be better than the best

        async def better(best: Best) -> None:
            async with writing:
                said = "Not confirmed yet: the search continues."
                await reproduction.write(trials, best, said)

        base = replace(base, until=found.until)
        about = work, request, material, pool, devices, writer, found, base
        trials = Trials(*about, better)
        return await _minified(trials)


async def _material(work: RunState, request: MinifyRequest) -> Material:
    trust = ("--trust",) * request.trust
    if request.program is not None:
        context = Captured(modules=request.imports)
        words = () if request.alone else context_arguments(context, request.target)
        return Material(exported=request.program, words=(*trust, *words), context=context)
    directory = work.directory
    if request.run is not None:
        directory = RunDirectory.open(request.run, work.home)
    else:
        work.diagnosis = (await triage(work)).diagnosis
    read = partial(material_of, directory, request.target, work.home, request.imports)
    material = await anyio.to_thread.run_sync(read)
    work.diagnosis = work.diagnosis or material.diagnosis
    if ended_well(material) and not request.compare:
        raise NothingToMinify(
            f"run {directory.id} shows no failure",
            help="Ask for a comparison with eager (--compare) to look for a wrong result.",
        )
    work.notes.extend(material.notes)
    if request.compare and material.expected:
        material = replace(material, expected=(*material.expected, Fingerprint("output", WRONG)))
    return replace(material, words=(*trust, *material.words))


async def _minified(trials: Trials) -> MinifyAnswer:
    work, spent = trials.work, ""
    try:
        await _reduce(trials)
    except Spent as reason:
        spent = str(reason)
    if trials.looked:
        work.notes.append(f"the GPU was checked after each of {trials.looked} failures")
    best = trials.best
    if best is None:
        raise NothingToMinify(
            "no candidate failed like the original: " + (spent or trials.why_none()),
            help=f"The original: {trials.wanted}. Every candidate is kept below "
            f"{trials.workers.root}.",
        )
    seen = await reproduction.confirm(trials, await reproduction.write(trials, best, ""))
    alike = f"{sum(map(trials.wanted.same, seen))} of {len(seen)}"
    alone = f"Run alone in an empty directory, it failed in the same way {alike} times."
    repro, *_ = await reproduction.write(trials, best, alone)
    kernel = await write_kernel(trials, best)
    return _answer(trials, best, repro, seen, spent, kernel)


async def _reduce(trials: Trials) -> None:
    """Search with plain Inductor where the failure shows there too and prove the result with
    AOTInductor; else search with AOTInductor. Where a kernel or a lowered operator is known, its
    likeliest node goes first, alone, with made-up inputs."""
    wanted, survey, material = trials.wanted, trials.writer.survey, trials.material
    text = "\n".join((material.text, trials.original.text))
    hints = slices(survey, material, wanted, text, trials.kernel)
    lowering = wanted.phase == "lower" and bool(wanted.operators)
    known = (trials.kernel is not None or lowering) and wanted.kind != WRONG
    full = trials.base
    fast = replace(full, fidelity="inductor", dynamic=False, two_sided=False)
    bases = (fast, full) if full.until not in ("codegen", "export") else (full,)
    sure = hints[0] if known and hints and len(hints[0]) == 1 else frozenset()
    for sole in (True, False):
        for base in bases:
            trials.base = base
            if sole:
                alike = bool(sure) and await trials.keeps(sure, made_up=True)
            else:
                alike = await _narrow(trials, survey.graph, hints)
            if not alike:
                continue
            await simplify(trials)
            if await trials.prove(full):
                return
            if trials.best is not None:  # AOTInductor may need what uses it, or made it
                bases = (full,)
                near = with_users(survey.graph, trials.best.candidate.keep)
                hints = [near, with_producers(survey.graph, near), *hints]
            trials.best = None


async def _narrow(trials: Trials, graph: Graph, hints: Sequence[frozenset[int]]) -> bool:
    """Try slices, then the whole; make the first that fails alike smaller."""
    wider = [with_producers(graph, part, levels) for levels in (1, 3) for part in hints[:2]]
    choices = [part for part in dict.fromkeys([*hints, *wider]) if part]
    number = await first(choices, trials.keeps, trials.workers.machine)
    start = sorted(choices[number]) if number is not None else graph.calls()
    if number is None and not await trials.keeps(frozenset(start)):
        return False
    if len(start) > 1:
        await minimise(start, trials.keeps, trials.workers.machine)
    return True


def _answer(
    trials: Trials,
    best: Best,
    repro: Path,
    seen: Sequence[Fingerprint],
    spent: str,
    kernel: tuple[Path, str] | None,
) -> MinifyAnswer:
    work, graph, found = trials.work, trials.writer.graph, trials.original
    alike, place = sum(map(trials.wanted.same, seen)), trials.wanted.place
    given = {"run": work.directory.id, "name": reproduction.REPRO}
    read = Next(tool="read_artifact", arguments=given, why="the reproduction itself")
    answer = MinifyAnswer(
        run=work.directory.id,
        status="done",
        diagnosis=work.diagnosis,
        signature=str(trials.wanted),
        source=f"{Path(place.file).name}:{place.line}" if place is not None else None,
        nodes=len(best.candidate.keep),
        nodes_before=len(graph.calls()),
        confirmed=f"{alike} of {len(seen)} runs of the reproduction failed in the same way",
        reproduced=alike == len(seen) or alike >= (1 if found.repeats > 1 else reproduction.TIMES),
        repro=str(repro),
        repro_kernel=str(kernel[0]) if kernel is not None else None,
        candidates=trials.tried,
        ended=spent or "no operator can be left out",
        also_seen=[f"{text} ({count})" for text, count in trials.also.most_common(5)],
        steps=work.steps,
        notes=[
            *work.notes,
            *found.notes,
            *trials.writer.definitions.notes,
            *([kernel[1]] if kernel else []),
        ],
        next=[read],
    )
    script = replace(best.script, text=repro.read_text("utf-8"))
    text = reproduction.report(answer, script, best.outcome.stderr, graph.torch)
    write_atomically(work.directory.path / "report.md", text.encode())
    return answer.model_copy(update={"artifacts": work.artifacts()})
