"""Write the reproduction and report.md, and prove it with torch alone, several times."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path

from aoti_debug import __version__
from aoti_debug.answers import MinifyAnswer
from aoti_debug.minify.operators import beside
from aoti_debug.minify.request import interpreter_name
from aoti_debug.minify.search import Best, Trials
from aoti_debug.minify.worker_pool import environment, text_of, together
from aoti_debug.minify.write import Script
from aoti_debug.plain import clean, plain
from aoti_debug.report.text import escape_markdown as said
from aoti_debug.report.text import fenced
from aoti_debug.run.files import copy, remove_tree, write_atomically
from aoti_debug.run.files import folder as make_folder
from aoti_debug.triage.fingerprint import HANG, of_reproduction
from aoti_debug.vocabulary import Fingerprint

REPRO = "repro.py"
DATA = "repro_inputs.pt"
TIMES = 2  # besides the proof in the search itself
FLAKY = 4  # as often, where one run of it fails and another ends well
COLLECT_S = 300.0
IMPORTS_S = 30.0  # what a script alone does beyond a candidate: it imports torch
_WRITTEN = count()  # each writing is done anew: the file of an earlier one is gone
FROM_FILE = f'''
def load(name):
    """Return one of the values that are kept beside this file."""
    path = Path(__file__).with_name("{DATA}")
    return torch.load(path, weights_only=True)[name]
'''

Files = tuple[Path, ...]  # a script, and what it reads


def header(signature: Fingerprint, torch: str, confirmed: str, needs: tuple[str, ...]) -> str:
    """Return the docstring of a reproduction: what it must show, with which versions."""
    made = f"Made with torch {torch} by aoti-debug {__version__}. {confirmed}"
    lines = [
        "A reduced reproduction of a failure of AOTInductor.",
        "",
        *textwrap.wrap(quoted(f"It must end with: {signature}"), 92),
        *textwrap.wrap(quoted(made), 92),
        *map(quoted, needs),
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return plain(text).replace("\\", "/").replace('"""', "'''")


async def write(trials: Trials, best: Best, confirmed: str) -> Files:
    """Write a candidate as repro.py into the run's directory, with the values that it loads."""
    writer, candidate, folder = trials.writer, best.candidate.final(), trials.work.directory.path
    definitions = writer.definitions
    head = header(trials.wanted, writer.graph.torch, confirmed, definitions.notes)
    script = writer.write(candidate, head, FROM_FILE)
    (folder / DATA).unlink(missing_ok=True)
    data = [await _collect(trials, script, candidate.sizes)] if script.files else []
    for file in definitions.files:
        copy(file, folder / file.name)
    write_atomically(folder / REPRO, beside(script.text, definitions.files).encode())
    return folder / REPRO, *data, *(folder / file.name for file in definitions.files)


async def _collect(trials: Trials, script: Script, sizes: Mapping[int, int]) -> Path:
    """Put the values that a script loads into one file beside it, no larger than it takes them."""
    values = trials.writer.survey.values
    data = trials.work.directory.path / DATA
    order = {
        "kind": "collect",
        "files": {path: str(values / f"{path}.pt") for path in sorted(script.files)},
        "sizes": {str(size): to for size, to in sizes.items()},
        "to": str(data),
    }
    await trials.workers.do(order, COLLECT_S, number=next(_WRITTEN))
    return data


async def confirm(trials: Trials, found: Files) -> list[Fingerprint]:
    """Run the reproduction by itself, each time in a directory that holds nothing else."""
    seen: list[Fingerprint] = []
    most = TIMES * trials.original.repeats
    while len(seen) < most:
        seen += await alone_twice(trials, found, f"alone-{len(seen) // 2 + 1}")
        alike = sum(map(trials.wanted.same, seen))
        if alike >= TIMES:
            break
        if alike and not all(signature.failed for signature in seen):  # flaky after all
            most = max(most, TIMES * FLAKY)
    return seen


async def alone_twice(trials: Trials, found: Files, name: str) -> list[Fingerprint]:
    """Run a script twice, side by side and each alone; two compiles must not share a cache."""
    workers = trials.workers
    caches = {"a": workers.cache, "b": workers.cache / "second"}
    runs = [partial(_once, trials, found, name + way, cache) for way, cache in caches.items()]
    return await together(runs, workers.machine)


async def _once(trials: Trials, found: Files, name: str, cache: Path) -> Fingerprint:
    """Run a script with what it reads in a directory that holds nothing else."""
    work = trials.work
    directory = work.directory.path / "steps" / name
    empty = directory / "empty"
    make_folder(empty)
    for file in found:
        copy(file, empty / file.name)
    limit = trials.timeout_s
    if trials.wanted.kind == HANG and trials.best is not None:  # as long as its candidate took
        limit = min(limit, 2 * trials.best.outcome.wall_s + IMPORTS_S)  # side by side
    argv = (interpreter_name(work.request.target), str(empty / found[0].name))
    env = environment(work.request.target.env, cache)
    env.pop("PYTHONPATH", None)  # what could bring modules of the user's in
    name = "the reproduction alone"
    ran = await work.run(name, argv, env, directory, cwd=empty, timeout_s=limit)
    texts = text_of(directory / "stdout.log"), text_of(directory / "stderr.log")
    signature = of_reproduction(ran.observations, *texts)
    remove_tree(empty)
    same = trials.wanted.same(signature)
    said = "it fails in the same way" if same else f"it ends with {signature}"
    why = "in an empty directory, with torch alone"
    work.done(work.step(f"reproduction {directory.name}", why, ran, said))
    return signature


LOG_LINES = 60


def report(answer: MinifyAnswer, script: Script, stderr: str, torch: str) -> str:
    """Return the text of an issue: failure, reproduction, diagnosis, environment, log."""
    diagnosis = answer.diagnosis
    parts = [
        f"# AOTInductor: {said(answer.signature or '')}",
        f"Reduced from {answer.nodes_before} operators to {answer.nodes}. {answer.confirmed}.",
        "## Reproduction",
        fenced("python", script.text),
        "It reads `repro_inputs.pt`, which has to be attached."
        if script.files
        else "It needs no other file.",
    ]
    if diagnosis is not None:
        parts += ["## Diagnosis", said(diagnosis.summary)]
    if answer.source:
        parts.append(f"In the original model: {said(answer.source)}.")
    parts += [
        "## Environment",
        f"torch {torch}, {platform.platform()}, {platform.machine()}",
        "## Log",
        fenced("", "\n".join(map(clean, stderr.splitlines()[-LOG_LINES:]))),
    ]
    if answer.also_seen:
        parts += ["## Also seen", "\n".join(f"* {said(text)}" for text in answer.also_seen)]
    return "\n\n".join(parts) + "\n"
