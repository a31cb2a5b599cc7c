"""Which steps a first run calls for: a table of what it showed, and what is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from aoti_debug.diagnose import Ending, Observations
from aoti_debug.model import Category, Confidence, Diagnosis, InputFinding, Kernel, Phase
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.events import Call, CustomOps, Events, Input, Process
from aoti_debug.read.record import Span
from aoti_debug.triage import plan
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.plan import Impossible, Machine, Planned, Run, Skip

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
