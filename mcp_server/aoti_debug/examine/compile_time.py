"""Where the seconds of a compile went: torch's own spans and the C++ files, put into few phases."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from aoti_debug.examine.answers import TimePart, TimeTable
from aoti_debug.read.event_records import CppFile, Phase
from aoti_debug.read.torch_trace import Part, read_parts
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.files import open_regular
from aoti_debug.triage.environment import TRACE

_FILES = 16  # traces: one for each process
_AOT = "AOTAutograd: trace and decompositions"
# The first pattern that the name of a span holds says which phase its own seconds belong to; a span
# that none fits belongs to the phase of the one around it.
_PHASES: tuple[tuple[str, str], ...] = (
    (r"autotuning|_precompiling|benchmark|StaticAutotuner|coordinate_descent", "autotuning"),
    (r"async_compile|triton_bundler|TritonBundler|reload_kernel|triton_key", "Triton kernels"),
    (r"compile_file", "C++"),
    (r"aoti_compile_fatbin", "GPU binaries"),
    (r"aoti_serialize_constants", "constants"),
    (r"AotCodeCompiler", "C++"),
    (r"Scheduler\.(__init__|fused_nodes|fuse)", "fusion"),
    (
        r"Scheduler\.codegen|GraphLowering\.codegen|Wrapper\w*\.generate|CppWrapper",
        "code generation",
    ),
    (r"GraphLowering\.run", "lowering"),
    (r"_passes|pass\.|fake_tensor_prop|constant_fold", "graph passes"),
    (r"aot_|create_aot_dispatcher", _AOT),
    (r"FxGraph|inductor_codecache|cache", "caches"),
    (r"fx_codegen_and_compile|compile_to_fn|compile_fx|inductor_compile|fw_compiler", "Inductor"),
)
_CPP_WORDS = {
    "wrapper": "C++: the wrapper",
    "kernels": "C++: the kernels",
    "library": "C++: linking",
    "weights": "C++: weights into the library",
    "header": "C++: headers compiled ahead",
    "instruction set": "C++: a test of the CPU's vector instructions",
    "CUDA file": "C++: a CUDA file",
}
_KEPT = "TORCHINDUCTOR_CACHE_DIR on a path that is kept: then they are found there"
_CHANGES = {
    _CPP_WORDS["wrapper"]: "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 (torch 2.8 and later)",
    _CPP_WORDS["instruction set"]: _KEPT,
    _CPP_WORDS["header"]: _KEPT,
    "autotuning": "max_autotune off, or max_autotune_gemm_search_space left at DEFAULT",
    "Triton kernels": "more of TORCHINDUCTOR_COMPILE_THREADS, and a kept TORCHINDUCTOR_CACHE_DIR",
    _CPP_WORDS["kernels"]: "fewer distinct kernels: repeated layers of one shape share theirs",
}
_OF_GRAPH = ("fusion", "code generation", "lowering", "graph passes", _AOT)
_LONG = 0.2  # of a compile
_OUTERMOST = "Inductor"


def compile_tables(run: RunSeen, directories: Iterable[Path]) -> list[TimeTable]:
    """Return a table for each compile of a run; `directories` hold torch's traces."""
    parts: list[Part] = []
    for one in directories:
        for path in sorted((one / TRACE).glob("*.log"))[:_FILES]:
            with contextlib.suppress(OSError), open_regular(path) as stream:
                parts += read_parts(stream)
    return [
        _table(run, phase, [part for part in parts if _inside(part.began, phase)])
        for phase in run.compiles
        if phase.seconds and not phase.details.reused
    ]


def _inside(moment: float, phase: Phase) -> bool:
    began = phase.begun or 0.0
    return began - 0.01 <= moment <= began + (phase.seconds or 0.0)


def _table(run: RunSeen, phase: Phase, parts: Sequence[Part]) -> TimeTable:
    whole = phase.seconds or 0.0
    files = [one for one in run.cpp_files if one.pid == phase.pid and _inside(one.began, phase)]
    seconds: dict[str, float] = {}
    for part in parts:
        for name, took in _of_part(part, _OUTERMOST, files):
            seconds[name] = seconds.get(name, 0.0) + took
    seconds.pop(_OUTERMOST, None)  # it has no name of its own: what the rows leave
    if parts:
        before = min(p.began for p in parts) - (phase.begun or 0.0)
        seconds["preparation of the graph"] = max(0.0, before)
    packing = (p for p in run.of("package") if p.pid == phase.pid)
    seconds["packing"] = sum(p.seconds or 0.0 for p in packing if _inside(p.begun or 0.0, phase))
    details = {_CPP_WORDS[f.what]: " ".join(f.flags[:2]) for f in files}
    table = table_of(whole, [(name, took, details.get(name)) for name, took in seconds.items()])
    faster = [*unrolled_loop(table.rows, phase), *_faster(table.rows, files)]
    return table.model_copy(update={"faster": faster})


def table_of(whole: float, parts: Sequence[tuple[str, float, str | None]]) -> TimeTable:
    """Return the parts of a whole that are not too short to count, the longest first."""
    rows = [
        TimePart(name=name, seconds=took, share=took / whole, detail=detail or None)
        for name, took, detail in sorted(parts, key=lambda part: -part[1])
        if whole and took >= 0.001 * whole
    ]
    named = min(1.0, sum(row.seconds for row in rows) / whole) if whole else 0.0
    return TimeTable(seconds=whole, named=named, rows=rows)


def _of_part(part: Part, around: str, files: Sequence[CppFile]) -> Iterator[tuple[str, float]]:
    phase = next((phase for text, phase in _PHASES if re.search(text, part.name)), around)
    if phase == "C++" and part.name == "compile_file":
        near = min(files, key=lambda one: abs(one.began - part.began), default=None)
        if near is not None and abs(near.began - part.began) < 1.0:
            phase = _CPP_WORDS[near.what]
    yield phase, part.own
    for inner in part.inside:
        yield from _of_part(inner, phase, files)


def unrolled_loop(rows: Sequence[TimePart], phase: Phase) -> Iterator[str]:
    """Say which loop of the model makes the graph long, where that takes long."""
    own = sum(row.share for row in rows if row.name in _OF_GRAPH)
    if phase.details.unrolled is not None and own >= _LONG:
        file, line, count, total = phase.details.unrolled
        said = f"one operation in place of the loop at {Path(file).name}:{line}, which the export "
        said += f"unrolls: it makes {count} of {total} operators, whose "
        yield f"{said}passes and code generation take {own:.0%}"


def _faster(rows: Sequence[TimePart], files: Sequence[CppFile]) -> Iterator[str]:
    """Say which settings take away the parts that are long."""
    flags = next((f for one in files if one.what == "wrapper" for f in one.flags), "-O0")
    long = {row.name: row for row in rows if row.share >= 0.1}
    for name, change in _CHANGES.items():
        row = long.get(name)
        if row is not None and (name != _CPP_WORDS["wrapper"] or flags != "-O0"):
            yield f"{change}: {name} takes {row.seconds:.1f} s, {row.share:.0%}"
