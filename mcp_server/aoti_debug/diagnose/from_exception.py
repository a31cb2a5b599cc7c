"""Candidates from Python exceptions without a signature, and from the code where a log ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aoti_debug.diagnose.calls import is_users, traceback_phase, users_frame
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, Role, headline, hint
from aoti_debug.diagnose.speaker import by_a_neighbour, meaning_of
from aoti_debug.diagnose.wording import Wording, wording_of
from aoti_debug.facts.categories import GPU_FAULTS, MEANINGS, Tier
from aoti_debug.facts.phases import (
    CHECKING_A_CALL,
    FINDING_A_COMPILER,
    phase_of,
    stands_in,
    variable_of_cache,
)
from aoti_debug.model import Category, Confidence, Diagnosis, Fix, Phase, source_of
from aoti_debug.read.record import CodePlace, FaultHandlerDump, PythonException, SaidLine
from aoti_debug.signatures import Match
from aoti_debug.symptom import went_on

CUT = 3  # lines above a traceback whose first frame lost its indent
OF_TORCH = ("RuntimeError", "AcceleratorError", "ImportError", "OSError", "ErrorReport")
BY_PHASE: dict[Phase, Category] = {
    "export": "lowering_error",
    "lower": "lowering_error",
    "autotune": "autotune_error",
    "triton_compile": "triton_error",
    "cpp_compile": "cpp_error",
    "package": "package_corrupt",
    "load": "package_incompatible",
    "constants": "constants_mismatch",
}


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, chain in enumerate(chains(observations.of(PythonException))):
        if (lost := next((e for e in chain if lost_cache(e)), None)) is not None:
            yield from_lost_cache(observations, lost, position)
            continue
        found = [m for m in observations.of(Match) if any(e.span.holds(m.span) for e in chain)]
        if all(plain(match) for match in found):
            exception, phase = telling(observations, chain)
            if not exception.type and observations.ending is None:
                continue  # the log ends before it: its frames tell, and the words below them
            yield from_chain(observations, exception, phase, found, position)


NO_DIRECTORY = tuple(
    "FileNotFoundError PermissionError NotADirectoryError FileExistsError OSError".split()
)
DEFAULTS = {
    "TORCHINDUCTOR_CACHE_DIR": "torchinductor_USER below TMPDIR",
    "TRITON_CACHE_DIR": "triton below TORCHINDUCTOR_CACHE_DIR, or ~/.triton",
    "TMPDIR": "/tmp",
}


def lost_cache(exception: PythonException) -> str | None:
    """Return the variable that names the directory which torch or Triton could not make."""
    if exception.type not in NO_DIRECTORY:
        return None
    return variable_of_cache((f.file, f.function) for f in exception.frames)


def from_lost_cache(
    observations: Observations, exception: PythonException, position: int
) -> Candidate:
    """A directory for caches cannot be made. Any phase comes to it, some by an import alone."""
    variable = lost_cache(exception) or ""
    said = " ".join(exception.message.split())[:200]
    caught = observations.ending is not None and observations.ending.clean
    return Kind(
        "toolchain",
        "environment",
        Tier.SPECIFIC_TEXT,
        "guides/toolchain.md#caches-and-disk-space",
        role="symptom" if caught else "cause",
    ).found(
        f"the directory that {variable} names (unset: {DEFAULTS[variable]}) cannot be "
        f"made or written: {exception.type}: {said}",
        exception.span,
        confidence="possible" if caught else "likely",
        fixes=[
            Fix(
                what=f"set {variable}, before torch is imported, to a directory that this "
                "machine can make and write, or leave it unset",
                why="torch writes generated code there; the model is not involved",
            )
        ],
        order=position,
        setting=variable,
    )


def chains(exceptions: Sequence[PythonException]) -> Iterator[list[PythonException]]:
    """Yield the exceptions that led to each other, in printed order."""
    chain: list[PythonException] = []
    for exception in exceptions:
        chain.append(exception)
        if exception.last:
            yield chain
            chain = []
    if chain:
        yield chain


def plain(match: Match) -> bool:
    """Tell whether a signature says only that it is an ordinary error of the script."""
    return match.signature.category == "user_code" and match.signature.phase == "none"


def telling(
    observations: Observations, chain: Sequence[PythonException]
) -> tuple[PythonException, Phase | None]:
    """Return the exception that began it: the first in which torch has a part, else the first."""
    for exception in chain:
        if (phase := traceback_phase(observations, exception)) is not None:
            return exception, phase
    above = observations.near(CodePlace, chain[0].span, range(-CUT, 0))
    return chain[0], phase_of_places(above) if observations.ending is None else None


def from_chain(
    observations: Observations,
    exception: PythonException,
    phase: Phase | None,
    found: Sequence[Match],
    position: int,
) -> Candidate:
    category, confidence = judge(exception, phase)
    if phase is None and observations.ending is None:
        text = " ".join(f"{exception.type}: {exception.message}".split())
        said = wording_of([text], sure=True) if exception.type.endswith(OF_TORCH) else None
        if said is not None:
            category, confidence, phase = said[1].category, "possible", said[1].phase
        elif (meant := meaning_of(text) or meaning_of(raised_in(exception, text))) is not None:
            (category, phase), confidence = meant, "possible"
        elif (differs := compared(exception)) is not None:
            category, confidence, phase = differs, "possible", "output"
    ending = observations.ending
    caught = ending is not None and (ending.clean or went_on(observations, exception))
    after = ", printed; the script went on" if ending and ending.clean else ", caught"
    message = exception.message.strip().splitlines()
    what = f"{exception.type}: {message[0]}" if message else exception.type
    signature = found[0].signature if found and category == "user_code" else None
    return Kind(
        category,
        phase or "none",
        Tier.EXCEPTION,
        signature.guide if signature else MEANINGS[category].guide,
        role="symptom" if caught or (phase == "run" and category != "lowering_error") else "cause",
    ).found(
        headline(what, after=after if caught else ""),
        exception.span,
        confidence="possible" if caught else confidence,
        signature=signature,
        source=source_of(users_frame(exception.frames)),
        fixes=[Fix(what=fix) for fix in signature.fixes] if signature else [],
        order=position,
    )


# What Python raises of code that is wrong by itself, and the files that Inductor writes.
MISWRITTEN = ("NameError", "UnboundLocalError", "SyntaxError", "IndentationError")
BY_INDUCTOR = re.compile(r"\bc[a-z2-7]{51}\.py$")


def judge(exception: PythonException, phase: Phase | None) -> tuple[Category, Confidence]:
    """Return category and confidence of an exception known only by its stack."""
    if phase is None:
        return "user_code", "likely"
    frames = [(f.file, f.function) for f in exception.frames]
    if phase == "run" and stands_in(frames, CHECKING_A_CALL):
        return "contract_guard", "likely"
    last = exception.frames[-1].file if exception.frames else ""
    if exception.type in MISWRITTEN and BY_INDUCTOR.search(last):
        return "lowering_error", "likely"
    if phase == "run":
        return "host_segfault" if exception.type == "SystemError" else "user_code", "possible"
    if phase == "export" and exception.frames and is_users(exception.frames[-1].file):
        return "user_code", "possible"  # the model's own code raised while it was traced
    if phase == "cpp_compile" and stands_in(frames, FINDING_A_COMPILER):
        return "toolchain", "likely"
    sure = phase in ("export", "lower", "autotune", "triton_compile", "cpp_compile")
    return BY_PHASE.get(phase, "lowering_error"), "likely" if sure else "possible"


COMPARES = re.compile(
    r"(?i)all_?close|\bclose\b|equal|\bshape\b|\bmatch|\b(?:err\w*|diff\w*|delta|tol\w*|max_?abs)\b"
)
NOT_FINITE = re.compile(r"(?i)is_?nan|is_?finite|is_?inf|\bnan\b|not finite|non-?finite")


def compared(exception: PythonException) -> Category | None:
    """Return what a script's own assertion says of a result, by the line that makes it."""
    if exception.type != "AssertionError" or not exception.frames:
        return None
    asserted = f"{exception.frames[-1].text or ''} {exception.message[:300]}"
    if NOT_FINITE.search(asserted):
        return "nan_or_inf"
    return "wrong_result" if COMPARES.search(asserted) else None


def raised_in(exception: PythonException, text: str) -> str:
    """Return the deepest file of a part that knows the message, before what was said."""
    told = (f"{frame.file[-200:]}: {text}" for frame in reversed(exception.frames))
    return next((one for one in told if meaning_of(one) is not None), "")


WHERE: dict[Phase, str] = {
    "run": "on the GPU",
    "export": "in the export",
    "lower": "while Inductor lowered the graph",
    "autotune": "while kernels were tuned",
    "triton_compile": "while Triton compiled a kernel",
    "cpp_compile": "while generated code was compiled",
    "package": "while the package was written",
    "load": "while the package was loaded",
    "constants": "while constants were loaded",
}


def in_code(observations: Observations) -> Iterator[Candidate]:
    """Yield one for a log whose last words are places: a traceback without end or beginning, an
    error that torch's own log names only by its module."""
    if observations.ending is not None or observations.of(FaultHandlerDump):
        return  # a process that was watched, or that a signal ended, tells its phase itself
    places = observations.of(CodePlace)
    phase = phase_of_places(places)
    lines = [x for x in observations.of(SaidLine) if not by_a_neighbour(x.span.quote)]
    said = wording_of((line.span.quote for line in lines), sure=True) or wording_of(
        "" if by_a_neighbour(line.text) else line.text for line in lines
    )
    if phase is None or phase not in BY_PHASE:
        if said is not None:
            triton = any("triton/" in place.file.replace("\\", "/") for place in places)
            yield as_said(lines[said[0]], said[1], within_triton=triton)
        return
    told = [(p.file, p.function) for p in places]
    searching = phase == "cpp_compile" and stands_in(told, FINDING_A_COMPILER)
    category = "toolchain" if searching else BY_PHASE[phase]
    if said is not None and not searching:
        category, phase = deeper(phase, category, said[1])
        if category == "missing_kernel_binary" and "triton" in lines[said[0]].text.lower():
            phase = "triton_compile"
    role: Role = "envelope" if all(p.told == "type" for p in places) else "symptom"
    words = f"a failure {WHERE[phase]}; the log ends before its message"
    kind = replace(hint(category, phase, Tier.EXCEPTION), role=role)
    yield kind.found(words, places[-1].span, order=1)


INNER: tuple[Phase, ...] = ("export", "lower", "autotune", "triton_compile", "cpp_compile")
ANYWHERE: frozenset[Category] = frozenset(
    {"toolchain", "out_of_memory", "custom_op_fake_kernel", "missing_kernel_binary"}
)
LOADING: frozenset[Category] = frozenset(
    {"missing_symbol", "package_incompatible", "package_corrupt", "missing_kernel_binary"}
)


def deeper(phase: Phase, category: Category, said: Wording) -> tuple[Category, Phase]:
    """Let words correct what the frames that are left of a stack tell: the phase may lie deeper,
    and a missing tool or memory fails in any of them."""
    if phase not in INNER:
        return (said.category, phase) if said.category in LOADING else (category, phase)
    if said.category in GPU_FAULTS:  # what a kernel does, no compiler does
        return said.category, "run" if phase in ("export", "lower") else phase
    inner = said.phase in INNER and INNER.index(said.phase) > INNER.index(phase)
    if said.category in ANYWHERE:
        return said.category, said.phase if inner else phase
    if inner and phase in ("export", "lower"):
        return said.category, said.phase
    return category, phase


def as_said(line: SaidLine, said: Wording, *, within_triton: bool) -> Candidate:
    compiled = within_triton and said.category == "toolchain"
    phase: Phase = "triton_compile" if compiled else said.phase
    words = headline("no known failure; by its words: ", line.span.quote)
    return hint(said.category, phase, Tier.STATUS).found(words, line.span, order=1)


NOTHING_KNOWN: tuple[Category, ...] = ("no_fault", "unknown")


def says_little(best: Diagnosis) -> bool:
    """Tell whether a log's diagnosis rests on nothing but where it happened, or that it did."""
    return best.category in (*NOTHING_KNOWN, "user_code") or (
        best.confidence == "possible" and best.kernel is None and best.input is None
    )


def phase_of_places(places: Sequence[CodePlace]) -> Phase | None:
    """Return the phase of the deepest frames; without frames, of what the log and types name."""
    frames = [p for p in places if p.told == "frame"]
    return phase_of((p.file, p.function) for p in frames or places)
