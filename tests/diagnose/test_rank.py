"""What is put first, what is told once, what is only an aftermath; what a memory checker or a
warning says counts where something is wrong because of it."""

from __future__ import annotations

import io
import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from aoti_debug.api import diagnose_log
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.diagnose.downgrade import is_vendor_kernel
from aoti_debug.diagnose.enrich import enrich
from aoti_debug.diagnose.observations import Candidate, Role
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Evidence
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.checks import CheckReports
from aoti_debug.read.python_traceback import error_lines
from aoti_debug.read.record import (
    GpuException,
    Launches,
    PythonException,
    Record,
    SanitizerError,
    Span,
)
from aoti_debug.read.scan import log_readers, scan_text
from aoti_debug.record.run_seen import NO_RECORD
from aoti_debug.signatures import matcher
from aoti_debug.signatures.signature import signatures
from aoti_debug.vocabulary import Place
from recordings import called, end, events, recorded_bytes

ENVELOPE = (
    "RuntimeError: run_func_( container_handle_) API call failed at "
    "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144"
)
TRACEBACK = """Traceback (most recent call last):
  File "/home/user/serve.py", line 12, in <module>
    model(x)
"""
INDUCTOR = "/v/site-packages/torch/_inductor"
ASSERTED = (
    "/tmp/torchinductor_u/kf/ckf.py:34: unknown: block: [1,3,0], thread: [69,0,0] Assertion "
    "`index out of bounds: 0 <= tmp4 < 1000` failed."
)
ILLEGAL = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
SEGFAULT = (
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f1 (most recent call first):\n"
)


def records(text: str, artifact: str = "stderr.log") -> tuple[Record, ...]:
    return scan_text(text, artifact, [*log_readers(artifact), matcher(artifact)]).records


def read(text: str, ending: Ending | None = None) -> list[Diagnosis]:
    return diagnose(Observations(records(text), ending=ending))


def asserted(*calls: tuple[list[int], int | None]) -> tuple[Diagnosis, tuple[object, ...] | None]:
    """Diagnose a check `0 <= tmp4 < 1000` that fails in the last of calls: the shape of their one
    input, and the largest integer in it where that was read. Return what it finds in the input."""
    lines: list[dict[str, Any]] = []
    for number, (shape, most) in enumerate(calls, 1):
        ids: dict[str, Any] = {"name": "ids", "dtype": "int64", "device": "cuda:0"}
        ids |= {"shape": shape, "stride": [shape[1], 1]}
        if most is not None:
            ids |= {"min": 0, "max": most, "max_at": [0, 0]}
        lines.append({**called(ids), "id": number, "call": number})
        lines.append(end(number, number < len(calls)))
    found = scan_text(ASSERTED, "stderr.log", log_readers("stderr.log")).records
    best = diagnose(Observations(found, events(*lines)))[0]
    put = best.input
    return best, (put.property, put.dim, put.got) if put is not None else None


def test_an_index_is_not_what_calls_before_it_held_as_well() -> None:
    value, size = ("value", None, "5000 at [0, 0]"), ("size", 1, "1024")
    assert asserted(([2, 16], 90), ([2, 16], 5000))[1] == value
    best, found = asserted(([2, 16], 5000), ([2, 16], 5000))
    assert found is None and "5000" not in best.summary
    assert asserted(([2, 16], 5000), ([2, 1024], 5000))[1] == size
    # As calls that return on a GPU are, the first is unread.
    best, found = asserted(([2, 16], None), ([2, 1024], 5000))
    assert (found, best.confidence, "5000" in best.summary) == (size, "likely", False)
    assert asserted(([2, 16], None), ([2, 17], 5000))[1] == value


@pytest.mark.parametrize("ending", [None, Ending(signal="SIGABRT")])
def test_the_first_gpu_message_wins_and_a_signal_is_told_with_it(ending: Ending | None) -> None:
    (best,) = read(f"{ASSERTED}\n{ILLEGAL}\n", ending)
    assert best.category == "index_out_of_bounds"
    assert any("illegal memory access" in text for text in best.misleading)
    assert None not in best.document().values()


def test_an_envelope_alone_is_the_diagnosis_and_not_the_exception_around_it() -> None:
    frame = (
        '  File "/v/site-packages/torch/export/pt2_archive/_package.py", line 733, in __call__\n'
    )
    (best,) = read(f"{TRACEBACK}{frame}{ENVELOPE}\n")
    assert (best.signature, best.confidence) == ("run_call_failed", "possible")
    assert best.source[0].file == "/home/user/serve.py"


def test_a_chain_is_told_by_the_exception_that_began_it() -> None:
    text = f"""Traceback (most recent call last):
  File "{INDUCTOR}/graph.py", line 5, in run_node
    return lowerings[target](*args)
  File "/home/user/ops.py", line 7, in lower_halve
    raise WeirdError("no such thing")
ops.WeirdError: no such thing

The above exception was the direct cause of the following exception:

{TRACEBACK}BuildFailed: the build failed
"""
    (best,) = read(text)
    assert (best.category, best.phase) == ("lowering_error", "lower")
    assert best.summary == "ops.WeirdError: no such thing"
    assert (best.source[0].file, best.source[0].line) == ("/home/user/ops.py", 7)


CACHE_DIR = f"""  File "/v/site-packages/torch/_dynamo/package.py", line 1264, in cache_dir
    return cache_dir()
  File "{INDUCTOR}/runtime/cache_dir_utils.py", line 20, in cache_dir
    os.makedirs(cache_dir, exist_ok=True)
  File "<frozen os>", line 225, in makedirs
"""
TRITON_CACHE = """  File "/v/site-packages/triton/runtime/cache.py", line 63, in __init__
    os.makedirs(self.cache_dir, exist_ok=True)
  File "/usr/lib/python3.11/os.py", line 225, in makedirs
    mkdir(name, mode)
"""
TEMPORARY = f"""  File "{INDUCTOR}/runtime/cache_dir_utils.py", line 33, in default_cache_dir
    tempfile.gettempdir()
  File "/usr/lib/python3.11/tempfile.py", line 230, in _get_default_tempdir
    raise FileNotFoundError(_errno.ENOENT,
"""
OWN = """  File "/home/user/table.py", line 3, in cache_dir
    os.makedirs(path)
  File "<frozen os>", line 225, in makedirs
"""


@pytest.mark.parametrize(
    ("frames", "raised", "variable"),
    [
        (CACHE_DIR, "FileNotFoundError: [Errno 2] No such file", "TORCHINDUCTOR_CACHE_DIR"),
        (CACHE_DIR, "OSError: [Errno 30] Read-only file system: '/c'", "TORCHINDUCTOR_CACHE_DIR"),
        (CACHE_DIR, "NotADirectoryError: [Errno 20] Not a directory", "TORCHINDUCTOR_CACHE_DIR"),
        (TRITON_CACHE, "PermissionError: [Errno 13] Permission denied: '/c'", "TRITON_CACHE_DIR"),
        (TEMPORARY, "FileNotFoundError: [Errno 2] No usable temporary directory", "TMPDIR"),
        (OWN, "FileNotFoundError: [Errno 2] No such file: 'TORCHINDUCTOR_CACHE_DIR'", None),
        (CACHE_DIR + OWN, "FileNotFoundError: [Errno 2] No such file", None),
        (CACHE_DIR, "RuntimeError: FileNotFoundError", None),
    ],
)
def test_a_cache_directory_that_cannot_be_made_is_told_by_torchs_frames(
    frames: str, raised: str, variable: str | None
) -> None:
    best, *_ = read(f"{TRACEBACK}{frames}{raised}\n")
    if variable is None:
        assert best.phase != "environment"
    else:
        assert (best.category, best.phase) == ("toolchain", "environment")
        assert best.summary.startswith(f"the directory that {variable} names")
        assert best.source == []


def test_a_traceback_that_the_script_survived_is_only_possible() -> None:
    best, *_ = read(f"{TRACEBACK}Oops: no\n", Ending(code=0))
    assert best.confidence == "possible"
    assert "went on" in best.summary


@pytest.mark.parametrize(
    ("file", "function", "phase"),
    [
        ("torch/_inductor/package/package.py", "load_package", "load"),
        ("torch/export/pt2_archive/_package.py", "load_pt2", "load"),
        ("torch/export/pt2_archive/_package.py", "__call__", "run"),
        ("torch/_inductor/cpp_builder.py", "build", "cpp_compile"),
        ("torch/_inductor/graph.py", "codegen", "lower"),
        ("torch/_inductor/select_algorithm.py", "benchmark", "autotune"),
    ],
)
def test_a_fatal_signal_has_the_phase_of_its_stack(file: str, function: str, phase: str) -> None:
    stack = f'  File "/v/site-packages/{file}", line 5 in {function}\n'
    (best,) = read(f'{SEGFAULT}{stack}  File "/home/user/serve.py", line 9 in main\n')
    assert (best.category, best.phase) == ("host_segfault", phase)
    assert best.source[0].line == 9


def test_what_was_printed_before_the_stack_of_a_signal_has_its_phase() -> None:
    thrown = "terminate called after throwing an instance of 'std::bad_alloc'\n"
    text = thrown + SEGFAULT.replace("Segmentation fault", "Aborted")
    found = read(f'{text}  File "{INDUCTOR}/cpp_builder.py", line 5 in build\n')
    assert {diagnosis.phase for diagnosis in found} == {"cpp_compile"}


@pytest.mark.parametrize(
    ("line", "category", "phase"),
    [
        ("torch._export.verifier.SpecViolationError: entry a is odd", "lowering_error", "export"),
        ("E0411 torch/_inductor/select_algorithm.py:19] Exception", "autotune_error", "autotune"),
        ("ERROR: the table was not found", "unknown", "none"),
    ],
)
def test_an_unknown_line_that_names_a_module_of_torch_tells_the_phase(
    line: str, category: str, phase: str
) -> None:
    stream = io.BytesIO(f"ERROR in step 3\n{line}\n".encode())
    best = diagnose(Observations(tuple(error_lines(stream, "log"))))[0]
    assert (best.category, best.phase, best.confidence) == (category, phase, "possible")


def test_texts_of_public_threads_keep_their_category_and_phase() -> None:
    path = Path(__file__).parents[2] / "evals" / "scorers" / "log_routing.py"
    scorer = runpy.run_path(str(path))
    cases = scorer["load"](path.parents[1] / "logs" / "known.jsonl.xz")
    answers = [(case, diagnose_log(text=case.text).diagnoses) for case in cases]
    found = scorer["score"]([scorer["Result"](c, d[0] if d else None) for c, d in answers])
    assert found.wrong_but_proved == ()
    assert found.first >= 0.94
    assert found.defensible >= 0.98
    assert found.phase >= 0.91


# Healthy models on an H100, torch 2.11: what was said of them, and the events of one such run.
RECORDED = json.loads(recorded_bytes("healthy", "events.json"))
SAID = {one["model"]: one for one in RECORDED["said"]}
CHECKED = {name: one for name, one in SAID.items() if one["tool"]}
WARNINGS = (
    "W1121 20:01:00.0 101 torch/_inductor/lowering.py:7905] Online softmax is disabled on the fly",
    f"{INDUCTOR}/compile_fx.py:282: UserWarning: TensorFloat32 tensor cores for float32 matrix "
    "multiplication available but not enabled.",
    "/usr/lib/python3.12/copyreg.py:99: FutureWarning: `isinstance(treespec, LeafSpec)` is "
    "deprecated",
)
STEADY = {
    "compare": {"state": "done", "verdict": "agrees"},
    "repeats": {"state": "done", "verdict": "same", "calls": 4},
    "poison": {"state": "done", "verdict": "same", "patterns": ["0xFF", "0x3C"]},
}
DIFFERS: dict[str, object] = {"state": "done", "verdict": "differs", "output": 0, "wrong": 7}
DIFFERS |= {"elements": 49, "at": [3], "first": 1.5, "then": "nan"}


def checks(**changed: object) -> CheckReports:
    return read_reports({"steps": {**STEADY, **changed}}, "steps/02-checks/report.json")


def run(text: str, reports: CheckReports, artifact: str = "stderr.log") -> Observations:
    """Return a run that ended well, with a text that one of its processes left."""
    return Observations(
        records(text, artifact), events(*RECORDED["events"]), Ending(code=0), checks=reports
    )


def judged(reports: CheckReports) -> Diagnosis:
    return diagnose(run("", reports))[0]


def failed(text: str, reports: CheckReports) -> Diagnosis:
    return diagnose(replace(run(text, reports), ending=Ending(code=1)))[0]


def best(name: str, reports: CheckReports) -> Diagnosis:
    tool = SAID[name]["tool"]
    artifact = f"steps/07-{tool}/stdout.log" if tool else "stderr.log"
    return diagnose(run(SAID[name]["text"], reports, artifact))[0]


@pytest.mark.parametrize("name", SAID)
def test_what_was_said_of_a_healthy_model_is_no_fault(name: str) -> None:
    found = best(name, checks())
    assert found.category == "no_fault"
    assert len(found.misleading) == 1  # and not left out
    assert best(name, CheckReports()).category == "no_fault" or not SAID[name]["tool"]


@pytest.mark.parametrize(
    "name", ["timm_mixer", "fcn", "r3d", "inception", "convnext_bf16", "resnet18_fp16"]
)
def test_where_values_differ_the_kernel_that_a_checker_names_is_told_but_no_vendors(
    name: str,
) -> None:
    ours = name in ("timm_mixer", "fcn")
    found = best(name, checks(**{"repeats" if ours else "poison": DIFFERS}))
    if ours:
        assert found.category in ("wrong_result", "concurrency")
        assert found.kernel is not None and found.kernel.name.startswith("triton_")
    else:
        assert (found.category, found.kernel) == ("wrong_result", None)
        assert "uninitialized memory" in found.summary


@pytest.mark.parametrize("name", CHECKED)
def test_in_a_log_a_vendors_kernel_is_a_lead_and_no_more(name: str) -> None:
    observations = run(SAID[name]["text"], CheckReports(), "log")
    found = diagnose(replace(observations, ending=None, run=NO_RECORD))[0]
    kernel = found.kernel.name if found.kernel is not None else None
    assert found.confidence == ("possible" if is_vendor_kernel(kernel) else "likely")


@pytest.mark.parametrize("text", WARNINGS)
def test_a_warning_of_a_healthy_run_is_never_the_headline(text: str) -> None:
    for reports in (checks(), CheckReports()):
        assert diagnose(run(text, reports))[0].category == "no_fault"


@pytest.mark.parametrize(("apart", "category"), [(1e-7, "false_alarm"), (3.05, "contract_stride")])
def test_a_layout_is_harmless_where_the_results_are_near_each_other(
    apart: float, category: str
) -> None:
    stride = {"index": 0, "name": "ids", "property": "stride", "expected": "12", "got": "1"}
    guards = {"state": "done", "differences": [{**stride, "dim": 0}], "passed": True}
    output = {"max_abs_apart": apart, "eager": {"min": -2.6, "max": 2.8}, "dtype": "float32"}
    compared = {"state": "done", "verdict": "agrees", "outputs": [output]}
    assert judged(checks(guards=guards, compare=compared)).category == category


def test_results_that_follow_from_the_calls_before_are_no_fault() -> None:
    assert judged(checks(repeats={**DIFFERS, "stateful": True})).category == "no_fault"


LINE = '  File "/home/u/model.py", line 11, in forward\n    '
DROPOUT, RANDN = "aten.dropout.default", "aten.randn.default"
UNEQUAL = "Traceback (most recent call last):\nAssertionError: differs\n"


def random(*ops: str, line: str = "return self.layers(x)", **known: str) -> dict[str, object]:
    """Return what a comparison says of a model that draws random numbers in a line."""
    return {"state": "done", "verdict": "random", "random": [*ops], "drawn": LINE + line, **known}


@pytest.mark.parametrize(("op", "category"), [(DROPOUT, "wrong_result"), (RANDN, "no_fault")])
def test_of_what_draws_random_numbers_active_dropout_is_told(op: str, category: str) -> None:
    found = judged(checks(compare=random(op)))
    assert found.category == category
    if category == "wrong_result":
        assert (found.source[0].file, found.source[0].line) == ("/home/u/model.py", 11)
        assert "model.eval()" in found.fixes[0].what


@pytest.mark.parametrize(("dropout", "category"), [(0.5, "wrong_result"), (0.0, "false_alarm")])
def test_what_was_left_in_training_mode_is_the_cause_where_it_moves_results(
    dropout: float, category: str
) -> None:
    moved = [{"op": DROPOUT, "apart": dropout}, {"op": RANDN, "apart": 2.0}]
    trials = {"state": "done", "draws": moved}
    best = failed(UNEQUAL, checks(compare=random(DROPOUT, RANDN), trials=trials))
    assert best.category == category and best.because
    assert (RANDN if category == "false_alarm" else DROPOUT) in best.summary


@pytest.mark.parametrize(
    ("line", "layer", "category"),
    [
        ("return F.dropout(h, 0.3, training=True)", "model.Net", "no_fault"),
        ("return F.dropout(h)", "model.Net", "no_fault"),
        ("return F.dropout(h, 0.3, training=self.training)", "model.Net", "wrong_result"),
        ("F.dropout(input, self.p, self.training, True)", "torch.nn.Dropout", "wrong_result"),
        ("return self.attend(x)", "torch.nn.MultiheadAttention", "wrong_result"),
    ],
)
def test_dropout_that_a_line_turns_on_itself_is_by_design(
    line: str, layer: str, category: str
) -> None:
    reports = checks(compare=random(DROPOUT, line=line, layer=layer))
    found = judged(reports)
    assert found.category == category, found.summary
    if category == "no_fault":
        assert found.confidence == "likely"
        assert f"by design ({DROPOUT} at model.py:11)" in (found.means or "")
        assert "values against the exported program" not in (found.means or "")
        best = failed(UNEQUAL, reports)
        assert (best.category, best.confidence) == ("false_alarm", "likely"), best.summary
        assert "training=self.training" in best.fixes[0].what
        assert best.source[0].line == 11


def test_memory_that_is_short_is_told_before_the_size_that_asked_for_it() -> None:
    size = {"index": 0, "name": "points", "property": "size", "dim": 0, "relation": "max"}
    size |= {"bound": 100, "expected": "<= 100", "got": "3000000"}
    reports = checks(guards={"state": "done", "differences": [size]})
    text = (
        "RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 36 bytes."
    )
    assert judged(reports).category == "contract_shape"
    assert failed(text, reports).category == "out_of_memory"


def test_a_write_outside_a_buffer_is_named_before_the_heap_that_it_damages() -> None:
    wrong = {"kernel": "cpp_fused_bmm_0", "argument": "out_ptr0", "bytes": 64, "behind": 24}
    told, untold = (
        failed("corrupted size vs. prev_size", checks(redzones={"state": "done", "overrun": found}))
        for found in (wrong, None)
    )
    assert (told.category, told.confidence) == ("host_segfault", "proved")
    assert "24 bytes past the end of its buffer out_ptr0 of 64" in told.summary
    assert told.kernel is not None and told.kernel.name == "cpp_fused_bmm_0"
    assert (untold.confidence, untold.kernel) == ("likely", None)


def test_an_operator_that_is_wrong_in_two_places_is_told_once() -> None:
    wrong = {"op": "shop.sort_rows.default", "output": 0, "property": "stride", "stack": ""}
    wrong |= {"expected": "[8, 1]", "got": "[1, 4]", "count": 2}
    fakes = {"state": "done", "mismatches": [wrong]}
    differs = {"state": "done", "verdict": "differs", "outputs": []}
    found = diagnose(run("", checks(fakes=fakes, compare=differs)))
    assert [one.category for one in found] == ["custom_op_fake_kernel"]
    assert "at 2 places" in found[0].summary
    words = " ".join(f"{fix.what} {fix.why}" for fix in found[0].fixes)
    assert "reads past" not in words
    assert ".contiguous()" in words
    spared = judged(checks(fakes=fakes))  # no result depends on it
    assert spared.category == "no_fault"
    assert any(str(wrong["op"]) in one for one in spared.also_true)
    assert "make the fake kernel of shop.sort_rows.default promise" in words


REFUSED = """\
W1122 08:06:34.430000 7132 torch/_inductor/ir.py:8256] aten._sparse_addmm.default is missing a \
c-shim implementation, using proxy executor as fallback
[E1122 08:07:19.275644537 shim_common.cpp:1341] Exception in aoti_torch: dtype of values (Float) \
must match dtype of sparse tensor (Double)
Exception raised from set_indices_and_values_unsafe at /pytorch/aten/src/SparseTensorImpl.cpp:84

Error: aoti_torch_cuda_mm_out(buf5, buf4) API call failed at /c/cwnoz.wrapper.cpp, line 1031
"""


def test_a_notice_that_is_no_fault_explains_no_process_that_died() -> None:
    recorded = [dict(event) for event in RECORDED["events"]]
    call = [e for e in recorded if e.get("phase") == "run"][-1]
    for event in recorded:
        if event["event"] == "end" and event["id"] == call["id"]:
            said = {"type": "RuntimeError", "message": "run_func_( ) API call failed, line 144"}
            event.update(ok=False, error=said)
    healthy = run(f"{REFUSED}{TRACEBACK}{ENVELOPE}\n", CheckReports())
    for ending in (Ending(code=1), Ending(signal="SIGABRT")):
        found = diagnose(replace(healthy, run=events(*recorded), ending=ending))
        assert "no_fault" not in {one.category for one in found}
        refusal = "refused what the generated code gave it: dtype of values (Float) must match"
        assert found[0].category == "lowering_error" and refusal in found[0].summary
        assert diagnose(replace(healthy, ending=ending))[0].category != "no_fault"


@pytest.mark.parametrize(
    "text",
    [
        "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
        "RuntimeError: At least one NaN in arg1_1",
        ASSERTED,
    ],
)
def test_a_signal_outside_of_any_phase_proves_no_printed_words(text: str) -> None:
    process = events({"event": "process", "argv": ["serve.py"]})
    for one in diagnose(Observations(records(text), process, Ending(signal="SIGSEGV"))):
        assert one.confidence != "proved" or one.category == "host_segfault"


SPAN = Span("stderr.log", 3, 3, "…")
ASSERT_HELPER = "__assert_fail"
CORE = GpuException(
    SPAN, "cuda-gdb", "Warp Illegal Address", "triton_core", "/k.py", 9, "x", (1, 0, 0), (2, 0, 0)
)
PRINTED = Launches(SPAN, 3, (("cpp_last", 1),), 1, "cpp_last", 4, None)
FRAMES = (
    Place("/home/u/serve.py", 12, "<module>", "model(x)"),
    Place("/site-packages/t.py", 1, "f", None),
)
RAISED = PythonException(SPAN, "RuntimeError", "x", FRAMES, None, True)


def memcheck(
    kernel: str | None, tool: Literal["memcheck", "initcheck"] = "memcheck"
) -> SanitizerError:
    place = ("/k.cu", 7, (0, 0, 0), (3, 0, 0))
    return SanitizerError(
        SPAN, tool, "Invalid read", "read", 4, kernel, None, *place, None, 8, "after", None, 64
    )


def enriched(
    *records: Record, role: Role = "cause", ranked: tuple[Candidate, ...] = (), **known: object
) -> Diagnosis:
    """Enrich a diagnosis that stands for itself with what the records know."""
    fields = {"phase": "run", "category": "illegal_memory_access", "confidence": "likely"}
    diagnosis = Diagnosis.model_validate({**fields, "summary": "s", **known})
    one = Candidate(diagnosis, role, Tier.SPECIFIC_TEXT)
    return enrich(one, (one, *ranked), Observations(records))


@pytest.mark.parametrize(
    ("records", "kernel", "line"),
    [
        ((CORE, memcheck("from_memcheck"), PRINTED), "triton_core", 9),
        ((memcheck("from_memcheck"), PRINTED), "from_memcheck", 7),
        ((memcheck(ASSERT_HELPER), PRINTED), "cpp_last", None),
        ((memcheck("void cutlass::Kernel2<x>(x)", "initcheck"), PRINTED), "cpp_last", None),
        ((PRINTED,), "cpp_last", None),
        ((RAISED,), None, None),
    ],
)
def test_a_kernel_is_named_by_the_core_then_the_checker_then_the_printer(
    records: tuple[Record, ...], kernel: str | None, line: int | None
) -> None:
    found = enriched(*records).kernel
    assert (found and found.name, found and found.line) == (kernel, line)


@pytest.mark.parametrize(
    ("known", "kernel"),
    [
        ({"phase": "lower"}, None),  # what ran before says nothing of a compile
        ({"role": "clean"}, None),
        ({"kernel": {"name": "own", "file": "/a/b.py"}}, "own"),
        ({"kernel": {"name": "b.py", "file": "/a/b.py"}}, "triton_core"),  # its file's name alone
    ],
)
def test_a_kernel_is_added_where_one_ran_and_none_is_known(
    known: dict[str, Any], kernel: str | None
) -> None:
    found = enriched(CORE, **known).kernel
    assert (found and found.name) == kernel


def test_a_fault_keeps_what_is_known_and_takes_the_rest_from_checker_or_core() -> None:
    fault = enriched(memcheck("k"), CORE, fault={"size": 16}).fault
    assert fault and (fault.size, fault.access, fault.distance) == (16, "read", 8)
    of_core = enriched(CORE).fault
    assert of_core and (of_core.block, of_core.access) == ((1, 0, 0), None)
    assert enriched(PRINTED).fault is None


@pytest.mark.parametrize(
    ("known", "place"),
    [
        ({}, ("/home/u/serve.py", 12)),
        ({"source": [{"file": "model.py", "line": 2}]}, ("model.py", 2)),
        ({"role": "clean"}, None),
    ],
)
def test_the_line_is_the_users_last_frame_where_no_line_is_known(
    known: dict[str, Any], place: tuple[str, int] | None
) -> None:
    found = [(line.file, line.line) for line in enriched(RAISED, **known).source]
    assert found == ([place] if place else [])


def test_of_a_kernel_s_lines_those_stay_that_use_the_input_and_not_only_its_device() -> None:
    texts = ("self.embed(ids)", "torch.arange(9, device=ids.device)", "ids.shape[0]", "idsum")
    found = enriched(
        category="contract_device",
        input={"index": 0, "name": "ids", "property": "device", "expected": "cuda", "got": "cpu"},
        source=[{"file": "model.py", "line": n, "text": text} for n, text in enumerate(texts, 1)],
    )
    assert [line.line for line in found.source] == [1, 3]


HANDED_ON = """\
Traceback (most recent call last):
  File "/home/u/convert.py", line 14, in convert
    return model(amount, currency)
RuntimeError: ValueError: no rate for currency 756

At:
  {inside}
  /v/site-packages/torch/_library/custom_ops.py(502): wrapped_fn
  /v/site-packages/torch/export/pt2_archive/_package.py(743): __call__
  /home/u/convert.py(14): convert
"""


@pytest.mark.parametrize(
    ("inside", "places"),
    [
        ("/home/u/rates.py(12): rate", [("/home/u/rates.py", 12), ("/home/u/convert.py", 14)]),
        ("/v/site-packages/torch/_ops.py(882): f", [("/home/u/convert.py", 14)]),
    ],
)
def test_an_operator_that_raised_is_told_with_its_own_line(
    inside: str, places: list[tuple[str, int]]
) -> None:
    found = read(HANDED_ON.format(inside=inside))[0]
    assert [(line.file, line.line) for line in found.source] == places
    assert ("no rate for currency 756" in found.summary) == (len(places) == 2)


@pytest.mark.parametrize(
    ("role", "other", "told"),
    [
        ("cause", "envelope", "gives no reason"),
        ("cause", "aftermath", "is an effect"),
        ("symptom", "note", "also appears in healthy runs"),
        ("cause", "symptom", None),
        ("clean", "printed", "was printed, but no call failed"),
        ("clean", "aftermath", None),
        ("envelope", "note", None),
    ],
)
def test_what_misleads_depends_on_what_the_best_is(
    role: Role, other: Role, told: str | None
) -> None:
    shown = Diagnosis(
        phase="run",
        category="wrong_result",
        confidence="possible",
        summary="other",
        evidence=[Evidence(artifact="stderr.log", quote="words of it")],
    )
    second = Candidate(shown, other, Tier.VAGUE_TEXT, signature=signatures()[0])
    found = enriched(role=role, ranked=(second,)).misleading
    assert [text for text in found if told and told in text] == found
    assert bool(found) == (told is not None)


@pytest.mark.parametrize(
    ("signal", "category"),
    [("SIGSEGV", "concurrency"), ("SIGKILL", "no_fault"), ("a time-out", "no_fault")],
)
def test_a_crash_alone_blames_threads_and_neither_lack_of_memory_nor_of_time(
    signal: str, category: str
) -> None:
    steps = {"steps": {**STEADY, "threads": {"state": "running"}}}
    reports = read_reports(steps, "steps/02-checks/report.json", signal)
    assert judged(reports).category == category


def test_a_log_of_many_failures_costs_no_more_than_its_records() -> None:
    def calls(times: int) -> int:
        """Count the calls of functions that it takes."""
        text = "".join(
            f"{ASSERTED.replace('1000', str(n))}\n"
            f'Traceback (most recent call last):\n  File "a{n}.py", line 3, in f\n'
            f"RuntimeError: expected size {n}\n"
            for n in range(times)
        )
        observations = Observations(scan_text(text, "log").records)
        seen = 0

        def count(_frame: object, event: str, _given: object) -> None:
            nonlocal seen
            seen += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            diagnose(observations)
        finally:
            sys.setprofile(None)
        return seen

    assert calls(160) < 3 * calls(80)
