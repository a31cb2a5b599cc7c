"""Which steps a first run calls for: a table of what it showed, and what is decided. A patch of
the user's file is proposed where it is certain, and none where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.diagnose.from_operator import from_mismatch
from aoti_debug.explain.out_of_bounds import of_value
from aoti_debug.model import Category, Diagnosis, InputFinding, Kernel, Phase, SourceLine
from aoti_debug.package.documents import Sizes
from aoti_debug.package.record import CompiledModel, CustomOp, Package, Wrapper
from aoti_debug.probe.judge import Dim
from aoti_debug.probe.judge import Input as Declared
from aoti_debug.read import event_records
from aoti_debug.read.check_report import FakesReport, Mismatch, read_reports
from aoti_debug.read.checks import CheckReports
from aoti_debug.read.event_records import Call, CustomOps, Process
from aoti_debug.read.record import GpuException, Span
from aoti_debug.read.typed import take
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage import plan
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.captured_program import compile_of
from aoti_debug.triage.decision import TARGET, Machine, Planned
from aoti_debug.triage.findings import checked, in_view_of
from aoti_debug.triage.package import described
from aoti_debug.triage.proposals import with_patch
from aoti_debug.triage.source_text import built_by
from aoti_debug.verify.patch import apply, read_patch
from aoti_debug.vocabulary import Leaf
from recordings import begin, called, end, events, jsonl

SPAN = Span("events.jsonl", 1, 1, "")
FILES = Path("inputs.pt")
KEPT = Captured(package=FILES, inputs=FILES, exported=FILES)
ALONE = Captured(package=FILES, inputs=FILES, why_no_exported="no program")
NOTHING = Captured(why_no_package="no package", why_no_inputs="no inputs", why_no_exported="none")
CPU = Machine(gdb=Path("gdb"))
GPU = Machine(gpu=True, sanitizer=Path("compute-sanitizer"), gdb=Path("gdb"))
BARE_GPU = Machine(gpu=True)
RUN, SKIP, IMPOSSIBLE = "run", "skipped", "impossible"
CLEAN, RAISED, CRASHED = Ending(code=0), Ending(code=1), Ending(signal="SIGSEGV")
VALUES = {"contract": RUN, "guards": RUN, "compare": RUN, "repeats": RUN, "poison": RUN}


def leaf(device: str) -> Leaf:
    return Leaf(0, 0, "x", "tensor", (4,), dtype="float32", device=device)


def seen(
    ending: Ending, *, ok: bool | None = True, device: str = "cpu", custom: bool = False
) -> Observations:
    """Return a run with one call, which returned, failed or was under way."""
    made = {"pid": 1, "id": 1, "call": 1, "package": "m.pt2", "model": "model", "ok": ok}
    call = take(Call, made, span=SPAN, inputs=(leaf(device),))
    process = take(Process, {"pid": 1, "argv": ["a.py"]}, span=SPAN)
    seen = {"modules": ["ops"], "files": ["ops.py"], "ops": ["a::b"]}
    ops = (take(CustomOps, seen, span=SPAN),) if custom else ()
    return Observations((), RunSeen(processes=(process,), calls=(call,), custom_ops=ops), ending)


def said(category: Category, phase: Phase = "run", **known: Any) -> Diagnosis:
    known = {"confidence": "likely", "summary": "", **known}
    return Diagnosis(phase=phase, category=category, **known)


@dataclass(frozen=True)
class Row:
    what: str
    seen: Observations
    best: Diagnosis
    decided: Mapping[str, str]
    captured: Captured = KEPT
    machine: Machine = CPU


def dumped(kernel: str, instruction: str, *, custom: bool = False) -> Observations:
    """Return a run whose core dump names a kernel of Triton and what it was at."""
    told = "Warp Illegal Address", kernel, "cabc.py", 23, "tl.store(o + at, v)"
    core = GpuException(SPAN, "cuda-gdb", *told, instruction=instruction)
    return replace(seen(RAISED, ok=False, device="cuda:0", custom=custom), records=(core,))


def with_package(found: Observations, *operators: str, rows: int = 4) -> Observations:
    """Add a package that states its input, and which operators the runtime calls for it."""
    x = Declared(0, "x", "float32", "cuda", (Dim(size=rows),))
    wrapper = Wrapper("model.wrapper.cpp", 1, inputs=(x,), leaves=1, checks="environment")
    ops = tuple(CustomOp(name) for name in operators)
    model = CompiledModel("model", "", wrapper=wrapper, custom_ops=ops)
    return replace(found, package=Package(Path("m.pt2"), "prefixed", 1, models=(model,)))


def faulted(kernel: str) -> Diagnosis:
    named = Kernel(name=kernel, kind="triton", line=23)
    return said("illegal_memory_access", confidence="proved", kernel=named)


HEALTHY = said("no_fault", phase="none")
STORE = "@!P0 STG.E.128 desc[UR10][R2.64],R4"
NAMED = "CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS", "late_rows", None, None, None
DRIVER = GpuException(SPAN, "driver", *NAMED)
LATE = dumped("late_rows", STORE, custom=True)
HELD = with_package(LATE, "aten::cumsum")
FITS = Sizes((("x", ("s0",)),), {"s0": (2, 64)}, ("(L['x'].size()[0] % 2) == 0",))
ODD = replace(FITS, guards=("(L['x'].size()[0] % 3) == 0",))
SETTINGS = {"settings": {"assert_indirect_indexing": False}}
UNCHECKED = take(event_records.Phase, {"details": SETTINGS}, span=SPAN)
TOLD = replace(KEPT, sizes=FITS)
X = InputFinding(index=0, name="x", property="size", expected="8", got="6")
LINE = Kernel(name="triton_poi_0", line=12)
LATE_ROWS = faulted("late_rows")
MISALIGNED = LATE_ROWS.model_copy(update={"category": "misaligned_address"})
FAILED, HANGS = seen(RAISED, ok=False), seen(Ending(timed_out=True), ok=None)
CRASHES = seen(CRASHED, ok=None)
RETURNED = seen(RAISED, device="cuda:0", custom=True).run
FAULT = seen(RAISED, ok=False, device="cuda:0")
ILLEGAL, SEGFAULT = said("illegal_memory_access"), said("host_segfault")
PROVED_INDEX = said("index_out_of_bounds", confidence="proved", input=X)
CONTRACT: dict[str, str] = {"contract": RUN, "guards": RUN}
LEFT_OUT: dict[str, str] = {"contract": SKIP, "guards": SKIP}
DUMPED: dict[str, str] = {**LEFT_OUT, "fakes": SKIP, "memcheck": SKIP, "again": SKIP}
CHECKED = {**CONTRACT, "memcheck": RUN, "again": RUN}


def healthy(
    what: str,
    captured: Captured = KEPT,
    machine: Machine = CPU,
    device: str = "cpu",
    custom: bool = False,
    **more: str,
) -> Row:
    found = seen(CLEAN, device=device, custom=custom)
    return Row(what, found, HEALTHY, {**VALUES, **more}, captured, machine)


def fault_of_users_kernel(
    what: str,
    found: Observations = HELD,
    best: Diagnosis = LATE_ROWS,
    captured: Captured = TOLD,
    machine: Machine = GPU,
    **more: str,
) -> Row:
    """Return a row for a fault whose store the core dump shows."""
    return Row(f"such a fault {what}", found, best, {**DUMPED, **more}, captured, machine)


FIRST = [
    healthy("a healthy call"),
    healthy("a healthy call on a GPU needs no memory checker", machine=GPU, device="cuda:0"),
    healthy("custom operators", custom=True, fakes=RUN, writes=RUN),
    healthy(
        "a healthy call that several threads made at the same time",
        replace(KEPT, threads=2, runners=2),
        threads=RUN,
    ),
    healthy("only the package is known", ALONE, guards=IMPOSSIBLE, compare=IMPOSSIBLE),
    Row("nothing is kept", seen(CLEAN), HEALTHY, dict.fromkeys(VALUES, IMPOSSIBLE), NOTHING),
    Row("values that a script rejects", seen(RAISED), said("user_code", phase="none"), VALUES),
    Row("a call that failed", FAILED, SEGFAULT, {**CONTRACT, "redzones": RUN}),
    Row("a compile that failed", seen(RAISED), said("lowering_error", phase="lower"), {}),
    Row("a signal in a call", CRASHES, SEGFAULT, {**CONTRACT, "redzones": RUN, "native": RUN}),
    Row(
        "a signal in a call, and no gdb",
        CRASHES,
        SEGFAULT,
        {**CONTRACT, "redzones": RUN, "native": IMPOSSIBLE},
        machine=Machine(),
    ),
    Row(
        "a signal after the last call",
        seen(CRASHED),
        SEGFAULT,
        {**CONTRACT, "native of the target": RUN},
    ),
    Row("a GPU fault", FAULT, ILLEGAL, CHECKED, machine=GPU),
    fault_of_users_kernel(
        "and nothing more known", LATE, captured=KEPT, contract=RUN, guards=RUN, fakes=RUN
    ),
    fault_of_users_kernel("of a call that keeps all that is asked"),
    fault_of_users_kernel("when the call had returned", replace(HELD, run=RETURNED)),
    fault_of_users_kernel(
        "in a child of a script that ends well",
        replace(HELD, ending=CLEAN, run=RETURNED),
        compare=RUN,
        repeats=RUN,
        poison=RUN,
        writes=RUN,
    ),
    fault_of_users_kernel("on a machine without tools", machine=BARE_GPU),
    fault_of_users_kernel("for a misaligned address", best=MISALIGNED),
    fault_of_users_kernel(
        "of a call that may break a guard", captured=replace(TOLD, sizes=ODD), guards=RUN
    ),
    fault_of_users_kernel(
        "where kernels check no index", captured=replace(TOLD, compiled=UNCHECKED), guards=RUN
    ),
    fault_of_users_kernel(
        "in a model with a custom operator", with_package(LATE, "planted::quarter"), fakes=RUN
    ),
    Row(
        "such a fault, and a size above the largest exported",
        with_package(LATE, rows=3),
        said("contract_shape", input=X),
        {**CONTRACT, "fakes": RUN},
        TOLD,
        GPU,
    ),
    Row(
        "a kernel that only the driver names, without a line",
        replace(HELD, records=(DRIVER,)),
        said("illegal_memory_access", confidence="proved", kernel=Kernel(name="late_rows")),
        dict.fromkeys(DUMPED, RUN),
        TOLD,
        GPU,
    ),
    Row(
        "a GPU fault of a generated kernel, which its inputs or another may have misled",
        with_package(dumped("triton_poi_fused_0", "LDG.E.64 R2,desc[UR4][R2.64]")),
        faulted("triton_poi_fused_0"),
        CHECKED,
        TOLD,
        GPU,
    ),
    Row(
        "a GPU fault of the user's kernel at no access of memory",
        dumped("late_rows", "EXIT"),
        LATE_ROWS,
        CHECKED,
        machine=GPU,
    ),
    Row(
        "a GPU fault, and no sanitizer",
        FAULT,
        ILLEGAL,
        {**CHECKED, "memcheck": IMPOSSIBLE},
        machine=BARE_GPU,
    ),
    Row(
        "a size that the package proves",
        seen(CLEAN),
        said("contract_shape", confidence="proved", input=X),
        dict.fromkeys(VALUES, SKIP),
    ),
    Row(
        "a stride may do no harm",
        seen(CLEAN),
        said("contract_stride", confidence="proved", input=X),
        VALUES,
    ),
    Row(
        "an index whose kernel is known",
        FAILED,
        PROVED_INDEX.model_copy(update={"kernel": LINE}),
        LEFT_OUT,
    ),
    Row("an index of which only the operator is known", FAILED, PROVED_INDEX, CONTRACT),
    Row("too little memory", FAILED, said("out_of_memory"), LEFT_OUT),
    Row("a hang without a kernel", HANGS, said("hang"), {"synccheck": RUN}, machine=GPU),
    Row("a hang on the CPU", HANGS, said("hang"), {}),
]


def decided(steps: list[Planned]) -> dict[str, str]:
    return {step.key: RUN if step.decision.runs else step.decision.how for step in steps}


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row.what)
def test_the_first_steps(row: Row) -> None:
    captured = replace(row.captured, call=row.seen.run.calls[0])
    steps = plan.first_batch(row.seen, row.best, captured, row.machine)
    assert decided(steps) == row.decided
    assert all(step.why for step in steps)
    assert all(step.decision.runs or step.decision.why for step in steps)


@pytest.mark.parametrize(
    ("verdict", "device", "steps"),
    [
        ("same", "cuda:0", {}),
        ("differs", "cuda:0", dict.fromkeys(("memcheck", "initcheck", "racecheck"), RUN)),
        ("differs", "cpu", {}),
    ],
)
def test_memory_checkers_run_only_where_values_differ(
    verdict: str, device: str, steps: dict[str, str]
) -> None:
    repeats = {"steps": {"repeats": {"state": "done", "verdict": verdict}}}
    observations = replace(seen(CLEAN, device=device), checks=read_reports(repeats, "report.json"))
    best = said("wrong_result", phase="output", confidence="proved")
    assert decided(plan.second_batch(observations, best, KEPT, GPU)) == steps


def test_a_package_of_many_inputs_tells_the_first_and_how_many_more_there_are() -> None:
    inputs = tuple(Declared(n, f"x{n}", "float32", "cpu", (Dim(size=4),)) for n in range(8))
    model = CompiledModel("model", "", wrapper=Wrapper("m.cpp", 1, inputs=inputs, leaves=8))
    said = described(Package(Path("m.pt2"), "prefixed", 1, models=(model,)))
    assert said.startswith("m.pt2 takes x0 ") and said.endswith("; and 2 more")


def test_what_may_write_files_is_never_run_beside_the_checks() -> None:
    steps = plan.first_batch(seen(CRASHED), said("host_segfault"), KEPT, CPU)
    target = [s for s in steps if s.of_target]
    assert [step.decision for step in target] == [TARGET]


HELD_INDEX = {
    "op": "aten.index.Tensor",
    "lower": -80,
    "upper": 80,
    "at": [4],
    "input": {"index": 0, "name": "stores", "at": [4]},
}
CALLS = {
    "state": "done",
    "calls": [
        {"pid": 7, "call": n, "state": "held", "index": {**HELD_INDEX, "value": 80 + n}}
        for n in (2, 5)
    ],
}
AGREES = {"state": "done", "verdict": "agrees"}
LAYOUT = {"op": "control.gains", "property": "stride", "expected": "[6, 1]", "got": "[1, 6]"}
STRIDES = "expected size 6==6, stride 1==6 at dim=1"
STRIDE_ERROR = {"type": "RuntimeError", "message": STRIDES}


@pytest.mark.parametrize(
    ("steps", "name", "said"),
    [
        ({"compare": AGREES}, "compare", "package and exported program: agrees"),
        (
            {"calls": CALLS, "compare": AGREES},
            "compare",
            "package and exported program: agrees on call 9, which was repeated; not compared: "
            "call 2, 5",
        ),
        (
            {
                "fakes": {"state": "done", "mismatches": [LAYOUT]},
                "contract": {"state": "failed", "error": STRIDE_ERROR},
            },
            "contract",
            f"RuntimeError: {STRIDES} (caused by control.gains, see fakes)",
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
    given = {"name": "stores", "shape": [64], "dtype": "int64", "min": 0, "max_at": [4]}
    highest = {number: 80 + number if number in (2, 5) else 70 for number in range(1, 11)}
    begun = ({**called({**given, "max": m}), "id": n, "call": n} for n, m in highest.items())
    log = events(*begun, *map(end, highest))
    reports = read_reports({"steps": {"calls": CALLS, "compare": AGREES}}, "report.json")
    best = diagnose(Observations((), log, CLEAN, checks=reports))[0]
    assert best.summary.startswith("stores[4] = 82 is outside 0 <= index < 80 (neg")
    assert best.calls == "call 2 of 10"
    assert best.means is not None
    assert "in aten.index.Tensor" in best.summary
    assert "also stores[4] = 85 in call 5; 2 of 10 calls hold such a value" in best.means
    assert "stores" in best.fixes[0].what and "0 <= value < 80" in best.fixes[0].what


SCRIPT = """\
import torch


@torch.library.custom_op("user::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return (x * 2.0).t().contiguous().t()


@turned.register_fake
def _(x):
    return torch.empty_like(x)


rows = torch.export.Dim("rows", min=2, max=64)
program = torch.export.export(model, (example,), dynamic_shapes={"x": {0: rows}})
compiled = torch._inductor.aoti_load_package(path)
for x in batches:
    result = compiled(x)
    print(float(result.sum()))
"""
CALL = 18


def call_of(path: Path, text: str, line: int = CALL, inputs: int = 1) -> Observations:
    """Return what the probe tells of a call that a line of a script made."""
    path.write_text(text)
    leaf = {"shape": [9, 8], "stride": [1, 9], "dtype": "float64"}
    leaves = ({**leaf, "name": f"x{n}" if n else "x"} for n in range(inputs))
    return Observations(run=events(called(*leaves, caller=[str(path), line])))


def fault(category: Category, property: str = "", expected: str = "", got: str = "") -> Diagnosis:
    given = {"property": property, "expected": expected, "got": got, "dim": 0}
    found = InputFinding(index=0, name="x", **given) if property else None
    return said(category, confidence="proved", summary="it is so", input=found)


DTYPE = fault("contract_dtype", "dtype", "float32", "float64")
STRIDE = fault("contract_stride", "stride", "8", "1")
OUTSIDE = fault("index_out_of_bounds", "value")
INDEX = OUTSIDE.model_copy(update={"input": of_value(0, "x", 4000, (2,), 16).input})
WRAPS = OUTSIDE.model_copy(update={"input": of_value(0, "x", 83, (23,), 80, lower=-80).input})
TOO_MANY = fault("contract_shape", "size", "<= 64", "80")
BAKED = fault("contract_shape", "size", "4", "9")


def patched(tmp_path: Path, diagnosis: Diagnosis, observations: Observations) -> str:
    """Return the script as the proposal, applied the way that verify does, leaves it."""
    script = tmp_path / "serve.py"
    found = with_patch(diagnosis, observations, tmp_path, script)
    patch = found.fixes[0].patch if found.fixes else None
    if patch is None:
        return ""
    copy = tmp_path.with_name(tmp_path.name + "-copy")
    assert apply(read_patch(patch), tmp_path, copy) == ["serve.py"]
    return (copy / "serve.py").read_text()


@pytest.mark.parametrize(
    ("diagnosis", "line"),
    [
        (DTYPE, "    result = compiled(x.to(torch.float32))"),
        (STRIDE, "    result = compiled(x.contiguous())"),
        (fault("contract_device", "device", "cuda", "cpu"), '    result = compiled(x.to("cuda"))'),
        (INDEX, "    if not bool(((x >= 0) & (x < 16)).all()):"),
        (WRAPS, "    if not bool(((x >= 0) & (x < 80)).all()):"),
        (TOO_MANY, 'rows = torch.export.Dim("rows", min=2, max=80)'),
    ],
)
def test_one_line_is_changed(tmp_path: Path, diagnosis: Diagnosis, line: str) -> None:
    new = patched(tmp_path, diagnosis, call_of(tmp_path / "serve.py", SCRIPT))
    changed = [text for text in new.splitlines() if text not in SCRIPT.splitlines()]
    assert changed[0] == line
    assert len(changed) == (2 if diagnosis in (INDEX, WRAPS) else 1)


@pytest.mark.parametrize(
    "shapes", ["", ", dynamic_shapes=None", ", dynamic_shapes=shapes", ", strict=True"]
)
def test_a_size_that_was_baked_in_is_made_free(tmp_path: Path, shapes: str) -> None:
    text = SCRIPT.replace(', dynamic_shapes={"x": {0: rows}}', shapes)
    text = text.replace("rows = torch", "shapes = None\nrows = torch")
    new = patched(tmp_path, BAKED, call_of(tmp_path / "serve.py", text, CALL + 1))
    assert '{"x": {0: torch.export.Dim.DYNAMIC}}' in new


MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, ids):
        return torch.relu(self.table[ids]) + 1.0


model = Model()
program = torch.export.export(model, (example,))
compiled = torch._inductor.aoti_load_package(path)
compiled(torch.tensor([1, number]))
"""


def test_no_result_is_made_up_for_an_index_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "serve.py"
    source = [SourceLine(file=str(path), line=6, text="")]
    found = INDEX.model_copy(update={"source": source})
    assert patched(tmp_path, found, call_of(path, MODEL, 12)) == ""


def test_weights_are_left_in_the_package_where_one_setting_takes_them_out(tmp_path: Path) -> None:
    options = 'options = {"aot_inductor.package_constants_in_so": False}\n'
    missing, path = fault("constants_missing"), tmp_path / "serve.py"
    new = patched(tmp_path, missing, call_of(path, options + SCRIPT, CALL + 1))
    assert new == options.replace("False", "True") + SCRIPT
    assert patched(tmp_path, missing, call_of(path, 2 * options + SCRIPT, CALL + 2)) == ""


def test_an_operator_is_made_to_keep_its_promise(tmp_path: Path) -> None:
    observations = call_of(tmp_path / "serve.py", SCRIPT)
    wrong = Mismatch(op="user::turned", property="stride", expected="[8, 1]", got="[1, 9]")
    fakes = FakesReport(artifact="report.json", mismatches=[wrong])
    diagnosis = fault("custom_op_fake_kernel")
    found = Observations(run=observations.run, checks=CheckReports(fakes=fakes))
    new = patched(tmp_path, diagnosis, found)
    assert "    return (x * 2.0).t().contiguous().t().contiguous()" in new
    ops = str(tmp_path / "ops.py")
    places = {"real": (ops, 6), "fake": (ops, 11)}
    told = from_mismatch(Mismatch.model_validate({**wrong.model_dump(), "places": places}), "", 0)
    assert [line.line for line in told.diagnosis.source] == [6, 11]
    assert [fix.where for fix in told.diagnosis.fixes] == [f"{ops}:6", f"{ops}:11"]


@pytest.mark.parametrize(
    ("diagnosis", "old", "new"),
    [
        (fault("no_fault"), "", ""),
        # a float that becomes an integer is another value
        (fault("contract_dtype", "dtype", "int64", "float64"), "", ""),
        # what is loaded is not known, or another call stands in the same line
        (DTYPE, "compiled = torch._inductor.aoti_load_package(path)", "compiled = served()"),
        (DTYPE, "compiled(x)", "compiled(x) + compiled(-x)"),
        (DTYPE, "compiled(x)", "compiled(*batch)"),
        (DTYPE, "import torch\n", "import torch as th\n"),
        # the layout that it was exported with is not the plain one
        (fault("contract_stride", "stride", "1", "8"), "", ""),
        # the name is bound inside of the expression
        (INDEX, "compiled(x)", "[compiled(x) for x in parts]"),
        (INDEX, "compiled(x)", "compiled(x + 1)"),
        # two sizes have that bound
        (TOO_MANY, "min=2, max=64)", 'min=2, max=64), torch.export.Dim("n", max=64)'),
        (TOO_MANY, "max=64", "max=LIMIT"),
        (BAKED, "", ""),
        (DTYPE, "    result = compiled(x)", "\tresult = compiled(x"),
    ],
)
def test_what_is_not_certain_is_not_proposed(
    tmp_path: Path, diagnosis: Diagnosis, old: str, new: str
) -> None:
    text = SCRIPT.replace(old, new) if old else SCRIPT
    assert text != SCRIPT or not old
    assert patched(tmp_path, diagnosis, call_of(tmp_path / "serve.py", text)) == ""


def test_a_file_outside_the_tree_is_not_touched(tmp_path: Path) -> None:
    for name in ("library", "own"):
        (tmp_path / name).mkdir()
    observations = call_of(tmp_path / "library" / "serve.py", SCRIPT)
    assert with_patch(DTYPE, observations, tmp_path / "own", None) == DTYPE


def test_inputs_that_cannot_be_told_apart_are_left_alone(tmp_path: Path) -> None:
    assert patched(tmp_path, DTYPE, call_of(tmp_path / "serve.py", SCRIPT, inputs=2)) == ""


BUILD = """\
import torch
from pathlib import Path

PACKAGE = Path(__file__).parent / "made" / "model.pt2"


def build():
    torch._inductor.aoti_compile_and_package(program, package_path=str(PACKAGE))
"""
MAIN = "\n\ndef main():\n    build()\n\n\nif __name__ == '__main__':\n    main()\n"
SERVE = "import torch\n\nmodel = torch._inductor.aoti_load_package('made/model.pt2')\n"
BUILDS = SERVE + "import build\n\nif not build.PACKAGE.exists():\n    build.build()\n"


@pytest.mark.parametrize(
    ("build", "serve", "said"),
    [
        (BUILD + MAIN, SERVE, ": triage build.py (it exports and compiles), then"),
        (BUILD, BUILDS, ", in build(), which serve.py:7 calls: if it does so where"),
        (BUILD, SERVE, ', in build(): `triage --command python -c "import build; build.build()"`'),
        (BUILD.replace("build()", "build(program)"), SERVE, ", in build(): triage a script that"),
        (BUILD.replace("model.pt2", "other.pt2") + MAIN, SERVE, None),
        (BUILD.replace("compile_and", "inspect"), SERVE, None),
        ("def (:\n", SERVE, None),
    ],
)
def test_what_makes_a_package_is_named_with_how_to_keep_its_program(
    tmp_path: Path, build: str, serve: str, said: str | None
) -> None:
    (tmp_path / "build.py").write_text(build)
    (tmp_path / "serve.py").write_text(serve)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "a.py").write_text(BUILD + MAIN)
    found = built_by(tmp_path / "serve.py", Path("/elsewhere/model.pt2"))
    assert (found is not None) == (said is not None)
    if found is not None:
        assert found.why.startswith(f"the package is made by build.py:8{said}")


@pytest.mark.parametrize(("kept", "found"), [(b"the same", True), (b"another!", False)])
def test_the_compile_of_a_package_is_found_where_it_was_copied_from(
    tmp_path: Path, kept: bytes, found: bool
) -> None:
    earlier, copy = tmp_path / "runs" / "r-20260101-0000-abcd", tmp_path / "copy.pt2"
    capture = "capture/package-1.pt2"
    (earlier / "capture").mkdir(parents=True)
    (earlier / capture).write_bytes(kept)
    (earlier / "run.json").write_text("{}")
    copy.write_bytes(b"the same")
    made = {"path": "/build/model.pt2", "bytes": 8, "mtime": 1.0, "captured": capture}
    compiled = begin(1, flags={}, exported_program="capture/exported-1.pt2")
    (earlier / "events.jsonl").write_text(jsonl(compiled, end(1, package=made)))
    log = events(begin(1, "load", package={"path": str(copy), "bytes": 8, "mtime": 9.0}))
    here = tmp_path / "runs" / "r-20260102-0000-abcd"
    found_in = compile_of(log, log.packages[0], "model", here, tmp_path)
    assert (found_in is not None and found_in[1] == earlier) == found
