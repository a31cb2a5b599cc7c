"""Every recorded log is diagnosed as what was wrong, and no aftermath is blamed; every triage
recorded on a GPU is diagnosed again from its directory alone."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import typer
from aoti_debug import api
from aoti_debug.answers import TriageAnswer
from aoti_debug.commands.output import finish
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.diagnose.observations import HEADLINE
from aoti_debug.errors import UnreadableInput
from aoti_debug.model import Cost, DiagnoseAnswer, Diagnosis, Model, Step
from aoti_debug.report.text import SCREEN_COLUMNS
from aoti_debug.tools.fit import answer as tool_answer
from mcp_types import TextContent
from recordings import recall, recorded, recordings, unpack

ROOT = Path(__file__).parents[2]
KNOWN = ROOT / "evals" / "logs" / "known.jsonl.xz"
EMBEDDING = "triton_poi_fused_embedding_mul_unsqueeze_0"
LAYER_NORM = "triton_red_fused_add_mul_native_layer_norm_sin_0"
ADD = "triton_poi_fused_add_0"
OF_THE_LOG = "in a call or while Inductor tuned it"


@dataclass(frozen=True)
class Expected:
    """What a person should read first; `words` stand in the summary or in what it means."""

    category: str
    words: tuple[str, ...] = ()
    kernel: tuple[str, int | None] | None = None  # name and line
    phase: str = "run"
    confidence: str = "likely"
    input: tuple[int, str] | None = None  # index and property
    misleading: tuple[str, ...] = ()
    source: str | None = None  # how the file of the first line ends
    text: str = ""  # how the line of the kernel begins
    fault: Mapping[str, object] = field(default_factory=dict)


def quiet(*words: str) -> Expected:
    return Expected("no_fault", words, phase="none", confidence="possible")


def illegal(*words: str, **known: Any) -> Expected:
    return Expected("illegal_memory_access", words, **known)


def stages(case: str, names: str, expected: Expected) -> dict[tuple[str, str], Expected]:
    return dict.fromkeys(((case, stage) for stage in names.split()), expected)


# A log that ends without an error, though garbage is returned.
SILENT = quiet("nothing in this log")
# A log that ends with a signal and says no more.
CUT_SHORT = Expected("unknown", phase="load", confidence="possible")
FINISHED = quiet("launches came to their end")
UNTOUCHED = quiet("compute-sanitizer found no errors")
COPIED = Expected("performance", ("Input 0", "copied at each call"))
INDEX = Expected("index_out_of_bounds", ("0 <= tmp4 < 1000 does not hold",))
# The GPU is first to speak here, and says only that.
ADDRESS = illegal("GPU kernel", "address")
TUNING = illegal("while Inductor tuned kernels", phase="autotune", misleading=("set_rng_state",))
BEGAN = Expected(
    "host_segfault", ("began and did not end",), ("cpp_fused_add_0", None), confidence="possible"
)
WARP = illegal(
    "Warp Invalid Address Space in kernel scale_rows", OF_THE_LOG, kernel=("scale_rows", 21)
)
ASSERTED = Expected("index_out_of_bounds", ("threadIdx.x<n",), confidence="possible")
RACE = Expected("concurrency", ("race on shared memory",), ("rac", 8))
CUBLAS = ("CUBLAS_STATUS_INTERNAL_ERROR", "is an effect")
NO_REASON = ("run_func_(", "gives no reason")
PLAIN, PRINTED = "base chk det core mini2", "p1 p2 p3"


EXPECTED: dict[tuple[str, str], Expected] = {
    **stages("bad_meta", PLAIN, SILENT),
    **stages("nan", PLAIN, SILENT),
    **stages("static_shape", PLAIN, SILENT),
    **stages("bad_meta", PRINTED, FINISHED),
    **stages("static_shape", PRINTED, FINISHED),
    **stages("nan", "p1 p3", FINISHED),
    **stages("bad_meta", "san", UNTOUCHED),
    **stages("nan", "san", UNTOUCHED),
    ("nan", "p2"): Expected(
        "nan_or_inf",
        ("first NaN", "buf1", "launch 2", "before it held -1.71997 to 2.34265"),
        ("triton_poi_fused_addmm_log_0", None),
        phase="output",
    ),
    **stages("misaligned", f"{PLAIN} {PRINTED} san", COPIED),
    ("static_shape", "chk"): Expected(
        "contract_shape", ("size", "16", "4096"), input=(0, "size"), misleading=NO_REASON
    ),
    ("static_shape", "san"): illegal(
        "read of 16 bytes",
        "131,073 bytes after an allocation of 1,024 bytes",
        kernel=(LAYER_NORM, 38),
        misleading=CUBLAS,
        fault={"access": "read", "size": 16, "distance": 131073, "allocation": 1024}
        | {"block": (8, 0, 0)},
    ),
    **stages("embed_oob", "det mini2", INDEX),
    **stages("embed_oob", "base chk san", replace(INDEX, misleading=(*CUBLAS, "gives no reason"))),
    **stages("embed_oob", f"{PRINTED} core", replace(INDEX, kernel=(EMBEDDING, 34))),
    ("m_assert", "mini3"): replace(
        INDEX,
        misleading=("deserializing the saved file", "is the minifier's own failure"),
        source="cases/common.py",  # and no line of the minifier
    ),
    ("m_compile", "mini3"): Expected(
        "user_code",
        ("custom operator raised in oops at m_compile.py:5", "kernel oops 42"),
        misleading=("We failed to resolve torch.ops.lab5.oops", "is the minifier's own failure"),
    ),
    ("dev_mismatch", "chk"): Expected(
        "contract_device",
        ("device cpu, compiled for cuda",),
        input=(0, "device"),
        misleading=NO_REASON,
    ),
    **stages("dev_mismatch", "det mini2", ADDRESS),
    **stages("dev_mismatch", PRINTED, replace(ADDRESS, kernel=(ADD, None))),
    ("dev_mismatch", "base"): replace(ADDRESS, misleading=CUBLAS),
    ("dev_mismatch", "core"): illegal("Warp Illegal Address", OF_THE_LOG, kernel=(ADD, 24)),
    ("dev_mismatch", "san"): illegal(
        "read of 8 bytes",
        "a host pointer",
        kernel=(ADD, 24),
        misleading=CUBLAS,
        fault={"distance": None, "address": "0x40251500"},  # to nowhere there is no distance
    ),
    ("cpu_pkg", "chk"): Expected(
        "contract_device", ("device cuda, compiled for cpu",), input=(0, "device")
    ),
    **stages("cpu_pkg", "base det core mini2", CUT_SHORT),
    **stages("cpu_pkg", PRINTED, BEGAN),
    ("cpu_pkg", "san"): Expected("host_segfault", ("died",)),
    **stages("user_triton", f"base chk det {PRINTED} mini2", TUNING),
    ("user_triton", "core"): replace(WARP, text="tl.store(o_ptr+row*stride*4096+c"),
    ("user_triton", "core-progress"): WARP,
    ("user_triton", "san"): illegal(
        "scale_rows: invalid write of 16 bytes", kernel=("scale_rows", 21)
    ),
    ("static_libstdcxx", "load-segfault"): Expected("unknown", confidence="possible"),
    ("static_libstdcxx", "cuda-gdb-backtrace"): Expected(
        "host_segfault", ("static copy of the C++ standard library",), phase="load"
    ),
    ("cpu", "ok"): FINISHED,
    ("cpu", "oob"): Expected(
        "index_out_of_bounds",
        ("0 <= tmp2 < 10 does not hold",),
        ("cpp_fused_embedding_mul_0", 24),
    ),
    ("cpu", "dtype"): Expected("contract_dtype", ("float64",), input=(1, "dtype")),
    ("cpu", "dim"): Expected("contract_shape", ("5", "3"), input=(1, "size")),
    ("cpu", "stride"): Expected("contract_stride", input=(1, "stride")),
    ("cpu", "few"): Expected("contract_argument", ("takes 2 tensors and got 1",)),
    ("cpu", "fh-segv"): Expected("host_segfault", ("invalid memory access",)),
    ("cpu", "fh-abrt"): Expected("host_segfault", ("aborted",), confidence="possible"),
    ("cpu", "fh-time"): Expected("hang", ("did not finish",), phase="hang"),
    **{
        ("sanitizer", f"{name}.txt"): expected
        for name, expected in {
            "memcheck-0": illegal("write of 4 bytes", "25 bytes after", kernel=("oob", 5)),
            "memcheck-00": illegal("write of 4 bytes", kernel=("oob", 5)),
            "memcheck-1": Expected("misaligned_address", (), ("mis", 6)),
            "memcheck-5": ASSERTED,
            "memcheck-6": illegal(kernel=("shr", 11)),
            "memcheck-7": illegal(kernel=("frd", 12)),
            "memcheck-8": Expected("kernel_resources", ("argument",), confidence="possible"),
            "memcheck-9": Expected("performance", ("leaked 256 bytes",)),
            "initcheck-2": Expected("wrong_result", ("reads uninitialized memory",), ("uni", 7)),
            "racecheck-3": RACE,
            "racecheck-33": RACE,
            "synccheck-4": Expected("hang", ("barrier",), ("syn", 9)),
            "drv-5": ASSERTED,
            "gdb-5": replace(ASSERTED, words=("ass",)),
        }.items()
    },
}
QUIET = ("no_fault", "unknown")
SPEAKING = sorted(case for case, expected in EXPECTED.items() if expected.category not in QUIET)
SILENT_LOGS = sorted(set(EXPECTED) - set(SPEAKING))


def answer(case: str, stage: str) -> list[Diagnosis]:
    return api.diagnose_log(text=recorded(case, stage)).diagnoses


def test_the_table_names_every_recorded_log() -> None:
    assert set(recordings()) == set(EXPECTED)


@pytest.mark.parametrize(("case", "stage"), sorted(EXPECTED))
def test_a_log_is_diagnosed_as_what_was_wrong(case: str, stage: str) -> None:
    expected = EXPECTED[case, stage]
    best = answer(case, stage)[0]
    for name in ("category", "phase", "confidence"):
        assert getattr(best, name) == getattr(expected, name)
    for word in expected.words:
        assert word in f"{best.summary}; {best.means}"
    if expected.kernel is not None:
        name, line = expected.kernel
        assert best.kernel is not None and best.kernel.name == name
        assert line is None or best.kernel.line == line
        assert (best.kernel.text or "").startswith(expected.text)
    if expected.input is not None:
        assert best.input and (best.input.index, best.input.property) == expected.input
    told = "\n".join(best.misleading)
    for part in expected.misleading:
        assert part in told
    if expected.source is not None:
        assert best.source[0].file.endswith(expected.source)
    assert {name: getattr(best.fault, name) for name in expected.fault} == expected.fault


# Characters of a token of o200k_base in the answers of the recorded cases, where it has fewest.
TEXT_TOKEN, JSON_TOKEN = 2.78, 2.93
SCREEN_LINES, SCREEN_TOKENS, JSON_TOKENS = 25, 900, 1_500
# What is said in words; a name, a path or a place may stand twice.
WORDS = "summary means finding quote why what result experiment notes misleading also_true".split()


def answers() -> Iterator[DiagnoseAnswer]:
    """Yield the answer for each recorded log and each public text."""
    public = lzma.decompress(KNOWN.read_bytes()).splitlines()
    texts = [recorded(*one) for one in recordings()]
    for text in (*texts, *(json.loads(row)["text"] for row in public)):
        yield api.diagnose_log(text=text)


def triages(runs: Path) -> Iterator[TriageAnswer]:
    """Yield the answer for each run that was recorded on a GPU."""
    for record in sorted(runs.glob("*/run.json")):
        kept, folder = json.loads(record.read_bytes()), record.parent
        best, *also = diagnose(recall(folder))
        cost = Cost(process_runs=len(kept["steps"]), wall_s=kept["wall_s"])
        yield TriageAnswer(
            run=kept["run"],
            status="done",
            diagnosis=best.model_copy(update={"run": kept["run"], "cost": cost}),
            also=also,
            steps=[Step.model_validate(step) for step in kept["steps"]],
            artifacts=[str(path.relative_to(folder)) for path in folder.rglob("*.*")],
            notes=kept["notes"],
        )


def words_of(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from words_of(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item, name)
    elif name in WORDS:
        yield str(value)


def printed(answer: Model, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> str:
    with pytest.raises(typer.Exit):
        finish(answer, as_json=as_json, verbose=False)
    return capsys.readouterr().out


def test_answers_are_short(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each recorded log, each run recorded on a GPU and each public text: on a terminal, in a
    pipe, as JSON and from a tool."""
    all_answers: list[DiagnoseAnswer | TriageAnswer] = [*answers(), *triages(runs)]
    assert len(all_answers) > 400
    for answer in all_answers:
        monkeypatch.setenv("COLUMNS", str(SCREEN_COLUMNS))
        text = printed(answer, capsys)
        assert text.count("\n") <= SCREEN_LINES, text
        monkeypatch.delenv("COLUMNS")
        piped = printed(answer, capsys)
        assert max(len(text), len(piped)) <= SCREEN_TOKENS * TEXT_TOKEN, text
        assert not any(line.endswith(" ") for line in piped.splitlines())
        as_json = printed(answer, capsys, as_json=True).rstrip("\n")
        assert len(as_json) <= JSON_TOKENS * JSON_TOKEN, as_json
        [part] = tool_answer(answer).content
        assert isinstance(part, TextContent) and part.text == as_json
        document = json.loads(as_json)
        assert type(answer).model_validate(document)
        said = list(words_of(document))
        assert len(said) == len(set(said)), as_json
        best = answer.diagnosis if isinstance(answer, TriageAnswer) else answer.diagnoses[:1]
        for one in (best,) if isinstance(best, Diagnosis) else best or ():
            assert len(one.summary) <= HEADLINE and one.summary in said


@pytest.mark.parametrize(("case", "stage"), SPEAKING)
def test_what_is_told_stands_in_the_log_and_is_no_aftermath(case: str, stage: str) -> None:
    lines = recorded(case, stage).split("\n")
    for diagnosis in answer(case, stage):
        assert diagnosis.evidence
        said = f"{diagnosis.summary}\n{diagnosis.evidence[0].quote}"
        for aftermath in ("CUBLAS_STATUS", "set_rng_state", "destroy CUDA event", "$ rc="):
            assert aftermath not in said
        for evidence in diagnosis.evidence:
            assert evidence.artifact == "log" and evidence.lines is not None
            first, last = evidence.lines
            assert 1 <= first <= last <= len(lines)
            proof = "\n".join(lines[first - 1 : last])
            assert any(quoted[:40] in proof for quoted in evidence.quote.splitlines())


@pytest.mark.parametrize(("case", "stage"), SILENT_LOGS)
def test_a_log_that_shows_nothing_asks_for_a_run(case: str, stage: str) -> None:
    (only,) = answer(case, stage)
    assert [step.tool for step in only.next] == ["triage"]
    assert only.guide


HUNDREDS_OF_TRACEBACKS = """
import resource
from aoti_debug.api import diagnose_log
FRAME = '  File "/v/torch/_inductor/graph.py", line 1, in f\\n    x()\\n'
text = ("Traceback (most recent call last):\\n" + FRAME * 25 + "ValueError: x\\n\\n") * 600
resource.setrlimit(resource.RLIMIT_CPU, (12, 12))
print(diagnose_log(text=text).diagnoses[0].category)
"""


def test_a_log_of_tracebacks_is_read_in_time_that_grows_with_its_length() -> None:
    argv = [sys.executable, "-c", HUNDREDS_OF_TRACEBACKS]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "lowering_error\n"), done.stderr


def test_an_empty_log_has_no_diagnosis_but_a_note() -> None:
    answer = api.diagnose_log(text="")
    assert answer.diagnoses == []
    assert "empty" in answer.notes[0]


def test_nothing_known_of_a_process_that_runs_is_no_diagnosis_of_a_fault() -> None:
    (only,) = diagnose(Observations())
    assert (only.category, only.confidence) == ("no_fault", "possible")


def test_a_log_that_is_no_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\xff\xfe\x00 caf\xe9\n" + recorded("cpu", "dtype").encode() + b"\x80\n")
    best, *_ = api.diagnose_log(path=str(path)).diagnoses
    assert best.category == "contract_dtype"


@pytest.mark.parametrize("kind", ["missing", "directory"])
def test_a_log_that_cannot_be_read_is_an_error_that_names_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path if kind == "directory" else tmp_path / "absent.log"
    with pytest.raises(UnreadableInput, match=path.name):
        api.diagnose_log(path=str(path))


RUNS = ROOT / "tests" / "recorded" / "gpu" / "runs.tar.xz"
OF_GPU_FAULTS = json.loads((ROOT / "evals/cases/gpu_expected.json").read_text(encoding="utf-8"))
OTHERS = {
    "embedding-healthy": "no_fault",
    "threads-healthy": "no_fault",
    "script-bad_meta": "custom_op_fake_kernel",
    "script-embed_oob": "index_out_of_bounds",
    "script-m_assert": "index_out_of_bounds",
    "script-m_compile": "user_code",
    "script-nan": "nan_or_inf",
    "script-user_triton": "illegal_memory_access",
}
ON_A_GPU = {"other_stream_writes", "weights_changed"}  # not recorded
# Its finding comes from the package's own source, and packages are not among the recordings.
NEEDS_PACKAGE = {"cpu_input", "cuda_input", "smaller_input"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("gpu")
    unpack(RUNS, directory)
    return directory


def best(runs: Path, name: str) -> Diagnosis:
    return diagnose(recall(runs / name))[0]


@pytest.mark.parametrize("case", sorted(set(OF_GPU_FAULTS) - NEEDS_PACKAGE - ON_A_GPU))
def test_a_planted_fault_is_found(runs: Path, case: str) -> None:
    found, wanted = best(runs, f"{case}-fault"), OF_GPU_FAULTS[case]
    assert found.category in wanted["categories"], found.summary
    if "phases" in wanted:
        assert found.phase in wanted["phases"]


@pytest.mark.parametrize("case", [c for c, w in OF_GPU_FAULTS.items() if w.get("exception")])
def test_a_gpu_exception_is_proved_by_the_first_run_alone(runs: Path, case: str) -> None:
    found = diagnose(recall(runs / f"{case}-fault", steps=False))[0]
    assert found.category in OF_GPU_FAULTS[case]["categories"]
    assert found.confidence == "proved"
    assert found.kernel is not None and found.kernel.line is not None


@pytest.mark.parametrize("case", ["write_while_tuning", "misaligned"])
def test_a_fault_while_tuning_is_told_apart_from_one_at_run_time(runs: Path, case: str) -> None:
    assert best(runs, f"{case}-fault").phase == "autotune"


def test_the_kernel_that_hangs_is_named_with_its_line(runs: Path) -> None:
    kernel = best(runs, "infinite_loop-fault").kernel
    assert kernel is not None and kernel.line is not None
    assert kernel.name == "wait_for_flag"


@pytest.mark.parametrize("name", OTHERS)
def test_a_healthy_twin_has_no_fault_and_a_lab_script_its_own(runs: Path, name: str) -> None:
    assert best(runs, name).category == OTHERS[name]


def test_the_aftermath_of_a_fault_is_not_the_diagnosis(runs: Path) -> None:
    found = best(runs, "embedding-fault")
    assert "CUBLAS" not in found.summary
    assert found.input is not None and found.input.got == "5000 at [3, 5]"
