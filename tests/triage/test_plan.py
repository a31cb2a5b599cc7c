"""Which steps a first run calls for: a table of what it showed, and what is decided."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.model import Category, Confidence, Diagnosis, InputFinding, Kernel, Phase
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.events import Call, CustomOps, Events, Input, Process, read_events
from aoti_debug.read.record import GpuException, Span
from aoti_debug.triage import plan
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.decision import Impossible, Machine, Planned, Run, Skip
from aoti_debug.triage.findings import checked, in_view_of

SPAN = Span("events.jsonl", 1, 1, "")
FILES = Path("inputs.pt")
KEPT = Captured(package=FILES, inputs=FILES, exported=FILES)
ALONE = Captured(package=FILES, inputs=FILES, why_no_exported="no program")
NOTHING = Captured(why_no_package="no package", why_no_inputs="no inputs", why_no_exported="none")
CPU = Machine(gdb=Path("gdb"))
GPU = Machine(gpu=True, sanitizer=Path("compute-sanitizer"), gdb=Path("gdb"))
BARE_GPU = Machine(gpu=True)
CLEAN, RAISED, CRASHED = Ending(code=0), Ending(code=1), Ending(signal="SIGSEGV")
VALUES = {"contract": Run, "guards": Run, "compare": Run, "repeats": Run, "poison": Run}


def leaf(device: str) -> Input:
    words = dict.fromkeys(
        tuple(
            """
            stride storage_offset storage_bytes alignment minimum maximum min_at max_at
            value type
            """.split()
        )
    )
    return Input(0, 0, "x", "tensor", (4,), dtype="float32", device=device, **words)


def seen(
    ending: Ending, *, ok: bool | None = True, device: str = "cpu", custom: bool = False
) -> Observations:
    """Return a run with one call, which returned, failed or was under way."""
    call = Call(SPAN, 1, 1, 1, "m.pt2", "model", (leaf(device),), (), None, None, 0.1, ok, None)
    process = Process(SPAN, 1, None, ("a.py",), None, None, None)
    ops = (CustomOps(SPAN, 1, ("ops",), ("ops.py",), ("a::b",), ()),) if custom else ()
    return Observations((), Events(processes=(process,), calls=(call,), custom_ops=ops), ending)


def said(
    category: Category,
    *,
    phase: Phase = "run",
    confidence: Confidence = "likely",
    kernel: Kernel | None = None,
    input: InputFinding | None = None,
) -> Diagnosis:
    return Diagnosis(
        phase=phase,
        category=category,
        confidence=confidence,
        summary="",
        kernel=kernel,
        input=input,
    )


@dataclass(frozen=True)
class Row:
    what: str
    seen: Observations
    best: Diagnosis
    captured: Captured
    machine: Machine
    decided: Mapping[str, type[Run | Skip | Impossible]]


def dumped(kernel: str, instruction: str) -> Observations:
    """Return a run whose core dump names a kernel of Triton and what it was at."""
    told = "Warp Illegal Address", kernel, "cabc.py", 23, "tl.store(o + at, v)"
    core = GpuException(SPAN, "cuda-gdb", *told, None, None, None, None, None, instruction)
    return replace(seen(RAISED, ok=False, device="cuda:0"), records=(core,))


def faulted(kernel: str) -> Diagnosis:
    named = Kernel(name=kernel, kind="triton", line=23)
    return said("illegal_memory_access", confidence="proved", kernel=named)


HEALTHY = said("no_fault", phase="none")
X = InputFinding(index=0, name="x", property="size", expected="8", got="6")
LINE = Kernel(name="triton_poi_0", line=12)
FIRST = [
    Row("a healthy call", seen(CLEAN), HEALTHY, KEPT, CPU, VALUES),
    Row(
        "a healthy call on a GPU needs no memory checker",
        seen(CLEAN, device="cuda:0"),
        HEALTHY,
        KEPT,
        GPU,
        VALUES,
    ),
    Row("custom operators", seen(CLEAN, custom=True), HEALTHY, KEPT, CPU, {**VALUES, "fakes": Run}),
    Row(
        "only the package is known",
        seen(CLEAN),
        HEALTHY,
        ALONE,
        CPU,
        {**VALUES, "guards": Impossible, "compare": Impossible},
    ),
    Row("nothing is kept", seen(CLEAN), HEALTHY, NOTHING, CPU, dict.fromkeys(VALUES, Impossible)),
    Row(
        "values that a script rejects",
        seen(RAISED),
        said("user_code", phase="none"),
        KEPT,
        CPU,
        VALUES,
    ),
    Row(
        "a call that failed",
        seen(RAISED, ok=False),
        said("host_segfault"),
        KEPT,
        CPU,
        {"contract": Run, "guards": Run},
    ),
    Row(
        "a compile that failed", seen(RAISED), said("lowering_error", phase="lower"), KEPT, CPU, {}
    ),
    Row(
        "a signal in a call",
        seen(CRASHED, ok=None),
        said("host_segfault"),
        KEPT,
        CPU,
        {"contract": Run, "guards": Run, "native": Run},
    ),
    Row(
        "a signal in a call, and no gdb",
        seen(CRASHED, ok=None),
        said("host_segfault"),
        KEPT,
        Machine(),
        {"contract": Run, "guards": Run, "native": Impossible},
    ),
    Row(
        "a signal after the last call",
        seen(CRASHED),
        said("host_segfault"),
        KEPT,
        CPU,
        {"contract": Run, "guards": Run, "native of the target": Run},
    ),
    Row(
        "a GPU fault",
        seen(RAISED, ok=False, device="cuda:0"),
        said("illegal_memory_access"),
        KEPT,
        GPU,
        {"contract": Run, "guards": Run, "memcheck": Run, "again": Run},
    ),
    Row(
        "a GPU fault of the user's kernel, whose store the core dump shows",
        dumped("late_rows", "@!P0 STG.E.128 desc[UR10][R2.64],R4"),
        faulted("late_rows"),
        KEPT,
        GPU,
        {"contract": Run, "guards": Run, "memcheck": Skip, "again": Skip},
    ),
    Row(
        "a GPU fault of a generated kernel, which its inputs or another may have misled",
        dumped("triton_poi_fused_0", "LDG.E.64 R2,desc[UR4][R2.64]"),
        faulted("triton_poi_fused_0"),
        KEPT,
        GPU,
        {"contract": Run, "guards": Run, "memcheck": Run, "again": Run},
    ),
    Row(
        "a GPU fault of the user's kernel at no access of memory",
        dumped("late_rows", "EXIT"),
        faulted("late_rows"),
        KEPT,
        GPU,
        {"contract": Run, "guards": Run, "memcheck": Run, "again": Run},
    ),
    Row(
        "a GPU fault, and no sanitizer",
        seen(RAISED, ok=False, device="cuda:0"),
        said("illegal_memory_access"),
        KEPT,
        BARE_GPU,
        {"contract": Run, "guards": Run, "memcheck": Impossible, "again": Run},
    ),
    Row(
        "a size that the package proves",
        seen(CLEAN),
        said("contract_shape", confidence="proved", input=X),
        KEPT,
        CPU,
        dict.fromkeys(VALUES, Skip),
    ),
    Row(
        "a stride may do no harm",
        seen(CLEAN),
        said("contract_stride", confidence="proved", input=X),
        KEPT,
        CPU,
        VALUES,
    ),
    Row(
        "an index whose kernel is known",
        seen(RAISED, ok=False),
        said("index_out_of_bounds", confidence="proved", input=X, kernel=LINE),
        KEPT,
        CPU,
        {"contract": Skip, "guards": Skip},
    ),
    Row(
        "an index of which only the operator is known",
        seen(RAISED, ok=False),
        said("index_out_of_bounds", confidence="proved", input=X),
        KEPT,
        CPU,
        {"contract": Run, "guards": Run},
    ),
    Row(
        "too little memory",
        seen(RAISED, ok=False),
        said("out_of_memory"),
        KEPT,
        CPU,
        {"contract": Skip, "guards": Skip},
    ),
    Row(
        "a hang without a kernel",
        seen(Ending(timed_out=True), ok=None),
        said("hang"),
        KEPT,
        GPU,
        {"synccheck": Run},
    ),
    Row("a hang on the CPU", seen(Ending(timed_out=True), ok=None), said("hang"), KEPT, CPU, {}),
]


def decided(steps: list[Planned]) -> dict[str, type[Run | Skip | Impossible]]:
    return {step.key: type(step.decision) for step in steps}


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row.what)
def test_the_first_steps(row: Row) -> None:
    assert row.seen.events is not None
    captured = replace(row.captured, call=row.seen.events.calls[0])
    steps = plan.first_batch(row.seen, row.best, captured, row.machine)
    assert decided(steps) == row.decided
    assert all(step.why for step in steps)
    assert all(step.decision.why for step in steps if not isinstance(step.decision, Run))


@pytest.mark.parametrize(
    ("verdict", "device", "steps"),
    [
        ("same", "cuda:0", {}),
        ("differs", "cuda:0", dict.fromkeys(("memcheck", "initcheck", "racecheck"), Run)),
        ("differs", "cpu", {}),
    ],
)
def test_memory_checkers_run_only_where_values_differ(
    verdict: str, device: str, steps: dict[str, type[Run]]
) -> None:
    repeats = {"steps": {"repeats": {"state": "done", "verdict": verdict}}}
    observations = replace(seen(CLEAN, device=device), checks=read_reports(repeats, "report.json"))
    best = said("wrong_result", phase="output", confidence="proved")
    assert decided(plan.second_batch(observations, best, KEPT, GPU)) == steps


def test_what_may_write_files_is_never_run_beside_the_checks() -> None:
    steps = plan.first_batch(seen(CRASHED), said("host_segfault"), KEPT, CPU)
    target = [s for s in steps if s.of_target]
    assert [step.decision for step in target] == [Run("target")]


CALLS = {
    "state": "done",
    "calls": [
        {
            "pid": 7,
            "call": number,
            "state": "held",
            "index": {
                "op": "aten.index.Tensor",
                "lower": -80,
                "upper": 80,
                "value": 80 + number,
                "at": [4],
                "input": {"index": 0, "name": "stores", "at": [4]},
            },
        }
        for number in (2, 5)
    ],
}
AGREES = {"state": "done", "verdict": "agrees"}
LAYOUT = {"op": "control.gains", "property": "stride", "expected": "[6, 1]", "got": "[1, 6]"}


@pytest.mark.parametrize(
    ("steps", "name", "said"),
    [
        ({"compare": AGREES}, "compare", "package and exported program: agrees"),
        (
            {"calls": CALLS, "compare": AGREES},
            "compare",
            "package and exported program: agrees on call 9, which was repeated; it says nothing "
            "of call 2, 5",
        ),
        (
            {
                "fakes": {"state": "done", "mismatches": [LAYOUT]},
                "contract": {
                    "state": "failed",
                    "error": {
                        "type": "RuntimeError",
                        "message": "expected size 6==6, stride 1==6 at dim=1",
                    },
                },
            },
            "contract",
            "RuntimeError: expected size 6==6, stride 1==6 at dim=1 (no second fault: it is the "
            "result of control.gains, see fakes)",
        ),
    ],
)
def test_a_step_says_what_it_means_beside_the_others(
    steps: dict[str, object], name: str, said: str
) -> None:
    reports = read_reports({"steps": steps}, "report.json")
    report = reports.step(name)  # type: ignore[arg-type]
    assert report is not None
    found = checked(report, Observations()) + in_view_of(report, reports, 9)
    assert found == said


def test_calls_with_an_index_out_of_bounds_are_named_and_negative_ones_said_to_wrap() -> None:
    given = {"index": 0, "name": "stores", "kind": "tensor", "shape": [64], "dtype": "int64"}
    events = [
        {
            "t": 1.0,
            "pid": 7,
            "event": "begin",
            "id": number,
            "phase": "run",
            "name": "call",
            "call": number,
            "package": "/t/m.pt2",
            "inputs": [
                {
                    **given,
                    "min": 0,
                    "min_at": [1],
                    "max_at": [4],
                    "max": 80 + number if number in (2, 5) else 70,
                }
            ],
        }
        for number in range(1, 11)
    ]
    events += [{"t": 2.0, "pid": 7, "event": "end", "id": n, "ok": True} for n in range(1, 11)]
    log = read_events(io.BytesIO(b"".join(json.dumps(e).encode() + b"\n" for e in events)))
    reports = read_reports({"steps": {"calls": CALLS, "compare": AGREES}}, "report.json")
    best = diagnose(Observations((), log, CLEAN, checks=reports))[0]
    assert best.summary == (
        "call 2 of 10: stores[4] = 82 is outside 0 <= index < 80 (negative ones down to -80 wrap "
        "around) in aten.index.Tensor; also stores[4] = 85 in call 5; 2 of 10 calls hold such a "
        "value, perhaps more than one each; calls are numbered from 1"
    )
    assert best.fixes[0].what.startswith("check or clamp stores to 0 <= value < 80 before")
