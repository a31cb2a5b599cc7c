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
from aoti_debug.minify.kernel import Launched, write_kernel
from aoti_debug.minify.material import Material, ended_well, material_of
from aoti_debug.minify.operators import Definitions, definitions_for
from aoti_debug.minify.original import LOWER_S, Original, original
from aoti_debug.minify.reproduction import Reproduction
from aoti_debug.minify.request import MinifyRequest, NothingToMinify, interpreter_name
from aoti_debug.minify.search import Best, Spent, Trials, minimise, simplify
from aoti_debug.minify.signature import WRONG, Signature
from aoti_debug.minify.slice import Candidate, slices, with_producers, with_users
from aoti_debug.minify.stock import minify_with_torch
from aoti_debug.minify.survey import Survey, differ, place_of, take_survey, why_none
from aoti_debug.minify.worker_pool import WorkerPool, first, worker_pool
from aoti_debug.minify.write import Writer
from aoti_debug.model import Next
from aoti_debug.run.device import Device
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.executor import this_machine
from aoti_debug.signals import in_thread
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.pipeline import triage
from aoti_debug.triage.probe_arguments import context_arguments, import_paths
from aoti_debug.triage.run_state import RunState
from aoti_debug.triage.spawn import hold_gpus, unwell

WIDTH = 4
LEAST_S = 180.0  # for a candidate, which compiles less than the original
TIMES_THE_ORIGINAL = 4.0


async def minify(work: RunState, request: MinifyRequest) -> MinifyAnswer:
    """Find a small reproduction of a failure, and prove that it fails alike.

    Raises:
        NothingToMinify: there is no failure, or nothing of it that could be repeated.
    """
    if request.engine == "torch":
        async with hold_gpus(work):
            return await minify_with_torch(work)
    material = await _material(work, request)
    python = interpreter_name(request.target)
    root = await in_thread(partial(place_of, work, material))
    cache = root.parent / "cache"
    log = work.directory.path / "fork-server"
    env = request.target.env
    async with (
        hold_gpus(work) as devices,
        worker_pool(
            root / "c",
            log,
            python,
            env,
            cache,
            work.stop,
            this_machine(WIDTH, devices),
            material.vec_isa,
        ) as pool,
    ):
        work.say("reading the exported program")
        survey = await take_survey(pool, root, material)
        folders = import_paths(request.target, material.context.folders)
        definitions = await definitions_for(pool, survey.graph, material.context, folders)
        return await _search(work, request, material, pool, survey, definitions, cache, devices)


async def _material(work: RunState, request: MinifyRequest) -> Material:
    home = work.directory.path.parent.parent
    if request.program is not None:
        context = Captured(modules=request.imports)
        words = context_arguments(context, request.target)
        return Material(exported=request.program, words=words, context=context)
    directory = work.directory
    if request.run is not None:
        directory = RunDirectory.open(request.run, home)
    else:
        work.diagnosis = (await triage(work)).diagnosis
    read = partial(material_of, directory, request.target, home, request.imports)
    material = await anyio.to_thread.run_sync(read)
    work.diagnosis = work.diagnosis or material.diagnosis
    if ended_well(material) and not request.compare:
        raise NothingToMinify(
            f"run {directory.id} shows no failure",
            help="Ask for a comparison with eager (--compare) to look for a wrong result.",
        )
    work.notes.extend(material.notes)
    return material


async def _search(
    work: RunState,
    request: MinifyRequest,
    material: Material,
    pool: WorkerPool,
    survey: Survey,
    definitions: Definitions,
    cache: Path,
    devices: list[Device],
) -> MinifyAnswer:
    graph = survey.graph
    writer = Writer(graph, survey.example, survey.real, survey.weights.by_name, definitions.text)
    everything = frozenset(graph.calls())
    base = Candidate(
        everything,
        "compare",
        "aoti",
        dynamic=bool(graph.symbols),
        two_sided=differ(survey),
        settings=material.candidate_settings,
    )
    load = reproduction.from_folder(survey.values)
    found = await original(work, pool, material, writer, base, load, request)
    work.done(found.step())
    wanted = found.signature.with_place(material.diagnosis)

    writing = anyio.Lock()  # candidates side by side may both be better than the best

    async def better(best: Best) -> None:
        async with writing:
            await reproduction.write(
                trials,
                reproduction.final(best.candidate),
                work.directory.path,
                survey.values,
                definitions,
                "Not yet confirmed by itself: the search goes on.",
            )

    took = max(found.wall_s, material.wall_s)
    well = partial(unwell, devices, request.target.env)
    limit = min(LOWER_S, max(LEAST_S, TIMES_THE_ORIGINAL * took))
    trials = Trials(
        pool,
        writer,
        wanted,
        replace(base, until=found.until),
        load,
        limit,
        found.repeats,
        request.budget_s,
        request.candidates,
        better,
        work.say,
        well,
    )
    spent = ""
    try:
        await _reduce(trials, survey, material, found, wanted)
    except Spent as reason:
        spent = str(reason)
    if devices and trials.looked:
        work.notes.append(f"the GPU was looked at after each of {trials.looked} failures")
    best = trials.best
    if best is None:
        raise NothingToMinify(
            "no candidate failed like the original: " + (spent or why_none(trials, survey)),
            help=f"The original: {wanted}. Every candidate is kept below {pool.root}.",
        )
    repro, seen = await _proved(work, trials, best, survey, definitions, cache)
    python = interpreter_name(work.request.target)
    name = material.kernel or found.kernel
    kernel = await write_kernel(work, trials, best, name, python, cache)
    return _answer(work, trials, survey, repro, seen, definitions, found, spent, kernel)


async def _reduce(
    trials: Trials, survey: Survey, material: Material, found: Original, wanted: Signature
) -> None:
    """Search with plain Inductor where the failure shows there too, prove it with AOTInductor;
    else search with AOTInductor.

    Where a kernel or the operator of a lowering is known, the likeliest node goes first, with
    values of its inputs made up: the failure hangs on few of them, and those are small.
    """
    text = "\n".join((material.text, found.text))
    sides = [side for side in (survey.real, survey.example) if side is not None]
    kernel = material.kernel or found.kernel
    hints = slices(survey.graph, sides, wanted, text, material.diagnosis, material.launches, kernel)
    lowering = wanted.phase == "lower" and bool(wanted.operators)
    known = (kernel is not None or lowering) and wanted.kind != WRONG
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


async def _proved(
    work: RunState,
    trials: Trials,
    best: Best,
    survey: Survey,
    definitions: Definitions,
    cache: Path,
) -> tuple[Reproduction, list[Signature]]:
    """Write the best candidate for good, run it alone, and say in it what that showed."""
    candidate = reproduction.final(best.candidate)
    folder, python = work.directory.path, interpreter_name(work.request.target)

    async def written(confirmed: str) -> Reproduction:
        return await reproduction.write(
            trials, candidate, folder, survey.values, definitions, confirmed
        )

    repro = await written("")
    seen = await reproduction.confirm(work, repro, trials, python, cache)
    alike = sum(map(trials.wanted.same, seen))
    repro = await written(
        f"Run alone in an empty directory it failed so {alike} times of {len(seen)}."
    )
    return repro, seen


def _answer(
    work: RunState,
    trials: Trials,
    survey: Survey,
    repro: Reproduction,
    seen: Sequence[Signature],
    definitions: Definitions,
    found: Original,
    spent: str,
    kernel: Launched | None,
) -> MinifyAnswer:
    from aoti_debug.minify.reproduction import write_report

    alike = sum(map(trials.wanted.same, seen))
    answer = MinifyAnswer(
        run=work.directory.id,
        status="done",
        diagnosis=work.diagnosis,
        signature=str(trials.wanted),
        source=trials.wanted.source,
        nodes=repro.nodes,
        nodes_before=len(survey.graph.calls()),
        confirmed=f"{alike} of {len(seen)} runs alone failed alike",
        reproduced=alike == len(seen) or alike >= (1 if found.repeats > 1 else reproduction.TIMES),
        repro=str(repro.script),
        repro_kernel=str(kernel.script) if kernel is not None else None,
        candidates=trials.tried,
        ended=spent or "nothing of it can be left out",
        also_seen=[f"{text} ({count})" for text, count in trials.also.most_common(5)],
        steps=work.steps,
        notes=[*work.notes, *found.notes, *definitions.notes, *([kernel.note] if kernel else [])],
        next=[
            Next(
                tool="read_artifact",
                arguments={"run": work.directory.id, "name": "repro.py"},
                why="the reproduction itself",
            ),
        ],
    )
    write_report(work.directory.path, answer, trials, survey.graph)
    return answer.model_copy(update={"artifacts": work.artifacts()})
