"""Explain the kernel of a run from what the run left: its package, its call, its diagnosis."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from aoti_debug.answers import ExplainAnswer
from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.from_exception import lost_cache
from aoti_debug.diagnose.traffic import counted
from aoti_debug.errors import AotiDebugError, UnknownKernel, UnreadableInput
from aoti_debug.explain.code import Code
from aoti_debug.explain.kernel import find_in, is_users
from aoti_debug.explain.package import explain_package, modules
from aoti_debug.explain.values import Found
from aoti_debug.model import Diagnosis, Evidence, Kernel
from aoti_debug.package.documents import line_of_member
from aoti_debug.read.record import DeviceAssert, PythonException
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import read_json, read_source
from aoti_debug.triage.captured_call import captured, with_names
from aoti_debug.triage.observe import observe
from aoti_debug.triage.run_state import DIAGNOSIS
from aoti_debug.triage.source_text import sets
from aoti_debug.vocabulary import Leaf

LINE_LIMIT = 200
STALE = "guides/wrong-results.md#a-package-of-another-version"
SUFFIXES = (".py", ".cpp", ".cu", ".cuh")


def with_text(diagnosis: Diagnosis, observations: Observations, users: Sequence[Path]) -> Diagnosis:
    """Add the text of the kernel's line, the whole path of its file, and the text of the user's
    lines. The places come from logs, so only source files below Inductor's caches, below `users`
    and in the package are read."""
    roots = [*users, *caches(observations)]
    source = [
        line.model_copy(update={"text": line.text or line_of(Path(line.file), line.line, roots)})
        for line in diagnosis.source
    ]
    kernel = located(diagnosis.kernel, roots, observations) if diagnosis.kernel else None
    return diagnosis.model_copy(update={"source": source, "kernel": kernel})


def located(kernel: Kernel, roots: Sequence[Path], observations: Observations) -> Kernel:
    """Return the kernel with the path and text of its line, where the file is still there."""
    if kernel.line is None or kernel.file is None:
        return kernel
    for path in places(kernel.file, observations):
        if text := line_of(path, kernel.line, roots):
            return kernel.model_copy(update={"file": str(path), "text": kernel.text or text})
    if kernel.text is None and observations.package is not None:
        carried = line_of_member(observations.package.path, kernel.file, kernel.line)
        return kernel.model_copy(update={"text": carried[:LINE_LIMIT]}) if carried else kernel
    return kernel


def line_of(path: Path, number: int, roots: Sequence[Path]) -> str | None:
    lines = (text_of(path, roots) or "").splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return line.strip()[:LINE_LIMIT] or None


def text_of(path: Path, roots: Sequence[Path]) -> str | None:
    """Return a source file below one of `roots`; None for any other file."""
    try:
        real = path.resolve(strict=True)
        below = real.suffix in SUFFIXES and any(real.is_relative_to(root) for root in roots)
        return read_source(real) if below else None
    except (OSError, ValueError):
        return None


def caches(observations: Observations) -> Iterator[Path]:
    for compiled in observations.run.compiles:
        cache = compiled.details.cache_dir
        if cache is not None and len(Path(cache).parts) > 2:
            yield Path(cache).resolve()


def places(file: str, observations: Observations) -> Iterator[Path]:
    """Yield where a kernel's file may be. A name without a directory is a file of Inductor's cache,
    which keeps it under two letters of its name."""
    path = Path(file)
    if path.is_absolute():
        yield path
    elif path.name == file:
        for cache in caches(observations):
            yield cache / file[1:3] / file


def explain_run(run: RunDirectory, kernel: str | None, model: str | None = None) -> ExplainAnswer:
    """Explain a kernel of a run's package, by default the one that the run's diagnosis names. Raise
    UnreadableInput where the run captured no package, UnknownKernel where there is no such
    kernel."""
    observations = observe(run.path)
    call = captured(observations, run.path, run.path.parent.parent)
    if call.package is None:
        raise UnreadableInput(
            f"run {run.id} holds no package: {call.why_no_package}",
            help="Give the path of the .pt2 in place of the run, or triage the script again.",
        )
    observations = with_names(observations, call.names)
    asked = kernel or asked_for(run, observations)
    if asked is None:
        raise UnknownKernel(f"run {run.id} names no kernel", help="Name one; `inspect` lists them.")
    folders = folders_of(run)
    wanted = model or (call.call.model if call.call is not None else None)
    answer = explain_package(call.package, asked, wanted, inputs_seen(observations), folders)
    return answer.model_copy(update={"run": run.id, "package": None})


def inputs_seen(observations: Observations) -> tuple[Leaf, ...]:
    call = observations.run.call
    return call.inputs if call is not None else ()


def asked_for(run: RunDirectory, observations: Observations) -> str | DeviceAssert | None:
    """Return the failed assertion of a run, else the kernel of its diagnosis."""
    if (check := observations.first(DeviceAssert)) is not None:
        return check
    diagnosis = read_json(run.path / DIAGNOSIS)
    kernel = diagnosis.get("kernel") if isinstance(diagnosis, dict) else None
    name = kernel.get("name") if isinstance(kernel, dict) else None
    return name if isinstance(name, str) else None


def folders_of(run: RunDirectory) -> list[Path]:
    """Return where the user's modules are: beside the script, and where it ran."""
    if (record := run.read_record()) is None:
        return []
    try:
        words = shlex.split(record.command)
    except ValueError:  # the script has written over the record
        words = []
    found = [Path(word).parent for word in words if word.endswith(".py")]
    own = [folder for folder in found if folder.is_absolute()]
    return [*own, Path(record.cwd)] if record.cwd else own


def with_explanation(
    diagnosis: Diagnosis, observations: Observations, users: Sequence[Path]
) -> Diagnosis:
    """Add what an index out of bounds selects from, its origin, and the line of a user's kernel."""
    found, named = observations.walked, diagnosis
    if (variable := variable_blamed(diagnosis, observations)) is not None:
        place = sets(variable, users)
        return diagnosis.model_copy(update={"source": [place] if place is not None else []})
    if diagnosis.category == "index_out_of_bounds":
        named = with_index(diagnosis, observations)
    elif diagnosis.category not in ("nan_or_inf", "wrong_result") or found is None:
        return with_users_kernel(diagnosis, observations, users)
    named = with_nodes(named, found) if found is not None else named
    return named if named.summary == diagnosis.summary else counted(named, observations)


def variable_blamed(diagnosis: Diagnosis, observations: Observations) -> str | None:
    """Return the variable that names the directory which could not be made, if that is it."""
    if (diagnosis.phase, diagnosis.category) != ("environment", "toolchain"):
        return None
    lines = [e.lines for e in diagnosis.evidence]
    raised = observations.of(PythonException)
    own = (e for e in raised if (e.span.first, e.span.last) in lines)
    return next((found for e in own if (found := lost_cache(e)) is not None), None)


def with_nodes(diagnosis: Diagnosis, found: Found) -> Diagnosis:
    """Say of a diagnosis what was seen to happen in the run of the exported program."""
    if found.category != diagnosis.category and diagnosis.category != "wrong_result":
        return diagnosis
    seen_there = Evidence(artifact=found.artifact, quote=found.summary)
    return diagnosis.model_copy(
        update={
            "category": found.category,
            "summary": found.headline or found.summary,
            "confidence": "proved" if found.decided else "likely",
            "ops": list(dict.fromkeys(op for op in (found.op, *diagnosis.ops) if op)),
            "source": found.source or diagnosis.source,
            "input": found.input or diagnosis.input,
            "values": found.values,
            "fixes": found.fixes or diagnosis.fixes,
            "evidence": [*diagnosis.evidence, seen_there],
            "guide": STALE if found.category == "constants_mismatch" else diagnosis.guide,
        }
    )


def with_index(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Say of an index that left its bounds what the package tells of it."""
    check = next((one for one in observations.of(DeviceAssert) if quoted(diagnosis, one)), None)
    if check is None or observations.package is None:
        return diagnosis
    call = observations.run.call
    model, inputs = call.model if call else None, inputs_seen(observations)
    try:
        found = explain_package(observations.package.path, check, model, inputs)
    except AotiDebugError:
        return diagnosis
    return joined(diagnosis, found) if found.category == "index_out_of_bounds" else diagnosis


def joined(diagnosis: Diagnosis, found: ExplainAnswer) -> Diagnosis:
    """Return the diagnosis with what the package adds to it."""
    sure = found.confidence == "proved"
    kernel, new = diagnosis.kernel, found.kernel
    if kernel is not None:
        text = kernel.text or new.text
        kernel = kernel.model_copy(update={"name": new.name, "launch": new.launch, "text": text})
    # What the call's own values say of an input is kept: it may come from several inputs.
    keeps = diagnosis.input is not None and found.input is None
    return diagnosis.model_copy(
        update={
            "summary": diagnosis.summary if keeps and not sure else found.summary,
            "confidence": "proved" if sure else diagnosis.confidence,
            "kernel": kernel,
            "ops": found.ops or diagnosis.ops,
            "source": found.source or diagnosis.source,
            "input": found.input or diagnosis.input,
            "fixes": diagnosis.fixes if keeps else found.fixes or diagnosis.fixes,
            "slice": found.slice,
        }
    )


def quoted(diagnosis: Diagnosis, check: DeviceAssert) -> bool:
    spans = [(one.artifact, one.lines[0]) for one in diagnosis.evidence if one.lines]
    return (check.span.artifact, check.span.first) in spans


def with_users_kernel(
    diagnosis: Diagnosis, observations: Observations, users: Sequence[Path]
) -> Diagnosis:
    """Name the line of the user's own file where Inductor's copy of their kernel is blamed."""
    kernel = diagnosis.kernel
    if kernel is None or kernel.file is None or not kernel.file.endswith(".py"):
        return diagnosis
    code = generated(kernel.file, observations)
    if code is None or not is_users(code):
        return diagnosis
    place = code.at(kernel.line) if kernel.line is not None else None
    if (found := find_in(code, kernel.name, place, modules(users))) is None:
        return diagnosis
    others = [line for line in diagnosis.source if line != found]
    return diagnosis.model_copy(update={"source": [found, *others]})


def generated(file: str, observations: Observations) -> Code | None:
    roots = list(caches(observations))
    for path in places(file, observations):
        if (text := text_of(path, roots)) is not None:
            return Code("triton", path.name, 1, tuple(text.split("\n")), ())
    return None
