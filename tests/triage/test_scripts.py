"""Scripts that fail without a model or before one, or whose model is used rightly and that only
seem to fail: each gets a clear result. Stages on a CPU model: what acts shows, and what cannot
act says so."""

from __future__ import annotations

import os
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.answers import StageAnswer
from aoti_debug.diagnose import diagnose
from aoti_debug.errors import RunDirectoryError, UnknownStage
from aoti_debug.explain.package import modules
from aoti_debug.signatures import signatures
from aoti_debug.triage.source_text import read
from programs import torch_python
from recordings import recall

TARGETS = Path(__file__).parents[1] / "targets"
LOWERING, SERVE, COMPILE, CALL = (
    TARGETS / name for name in ("failing_export.py", "serve.py", "compile.py", "call.py")
)


@pytest.fixture(scope="module")
def python() -> str:
    """Start an interpreter for each script: how it starts and ends is what is looked at."""
    return torch_python()


def test_an_exception_in_lowering_names_the_users_line(
    triage_in, warm_python, tmp_path: Path
) -> None:
    words = tmp_path / "home", LOWERING, "fake_kernel", tmp_path / "package.pt2"
    found = triage_in(*words, python=warm_python).diagnosis
    assert (found.category, found.phase) == ("lowering_error", "lower")
    assert "halve knows no such size" in found.summary
    assert found.source[0].file == str(LOWERING)
    assert found.source[0].text == "return halve(torch.sin(x)) + 1"


def test_a_script_that_hangs_is_ended_and_the_line_told(triaged, written) -> None:
    script = written(
        """
        import threading
        def wait_for_nobody():
            threading.Event().wait()
        wait_for_nobody()
        """
    )
    answer = triaged(script, timeout_s=4)
    found = answer.diagnosis
    assert (found.category, found.phase, found.confidence) == ("hang", "hang", "proved")
    assert (found.source[0].file, found.source[0].line) == (str(script), 4)
    assert "after 4 s" in found.summary
    assert answer.steps[0].exit.startswith("timed out")


def test_output_beyond_the_cap_is_answered_and_what_was_dropped_said(
    triaged, written, home
) -> None:
    answer = triaged(written("print('x' * (80 << 20))"))
    assert (home / "runs" / answer.run / "stdout.log").stat().st_size < 70 << 20
    assert any("of stdout were dropped from its middle" in note for note in answer.notes)
    assert answer.diagnosis.category == "user_code"


SETS_CACHE = """
import os
os.environ["TORCHINDUCTOR_CACHE_DIR"] = __file__ + "/cache"
import torch
torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
"""
SAYS_NOTHING = "import sys\nprint('FATAL: no such table', file=sys.stderr)\nsys.exit(7)\n"


@pytest.mark.parametrize(
    ("source", "category", "phase", "words", "line"),
    [
        ("print('no model here')", "user_code", "none", ["never compiled, loaded or called"], None),
        ("import os\nprint(os.getcwd(\n", "user_code", "none", ["SyntaxError"], 2),
        ("def f():\n    modle\nf()\n", "user_code", "none", ["'modle' is not defined"], 2),
        (SAYS_NOTHING, "user_code", "none", ["exit status 7", "FATAL: no such table"], None),
        (SETS_CACHE, "toolchain", "environment", ["TORCHINDUCTOR_CACHE_DIR", "NotADirectory"], 3),
    ],
    ids=["no AOTI", "syntax", "own error", "exit without a word", "cache directory"],
)
def test_what_a_script_does_itself_is_told_in_its_words_with_its_line(
    triaged, written, source: str, category: str, phase: str, words: list[str], line: int | None
) -> None:
    script = written(source)
    found = triaged(script).diagnosis
    assert (found.category, found.phase) == (category, phase)
    assert all(word in found.summary for word in words), found.summary
    assert line is None or (found.source[0].file, found.source[0].line) == (str(script), line)


def test_an_interpreter_without_torch_is_told_as_that(triaged, written, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    bare = tmp_path / "bare" / "bin" / "python"
    answer = triaged(written("import torch\n"), python=str(bare))
    assert any(f"{bare} (python) has no torch; --python" in note for note in answer.notes)
    quotes = [evidence.quote for evidence in answer.diagnosis.evidence]
    assert any("No module named 'torch'" in quote for quote in quotes)


def test_an_unknown_stage_names_those_there_are(staged, written) -> None:
    with pytest.raises(UnknownStage, match="speed") as caught:
        staged("speed", written("pass"))
    assert "baseline" in caught.value.help


REMOVES = """
import os, shutil, sys
shutil.rmtree(os.path.dirname(os.environ["AOTI_DEBUG_EVENTS"]))
sys.exit(4)
"""


def test_a_script_that_removes_what_the_run_wrote_is_answered_with_that_and_its_end(
    written, triaged
) -> None:
    with pytest.raises(RunDirectoryError, match=r"exit 4.* deleted or replaced"):
        triaged(written(REMOVES))


@pytest.fixture(scope="module")
def serve(built, triage_in, warm_python) -> Callable[..., Any]:
    return lambda case, **options: triage_in(
        built.home, SERVE, built.directory, case, **{"python": warm_python, **options}
    )


def line_of(text: str) -> int:
    lines = SERVE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_text_that_a_healthy_script_prints_is_no_fault(serve) -> None:
    found = serve("prints").diagnosis
    assert found.category == "no_fault"
    assert "was printed, but no call failed" in found.misleading[0]


LOADS = "import torch\nopen('damaged.pt2', 'wb').write(b'PK\\3\\4' + bytes(5000))\n"
FAILING = {
    "load": LOADS + "torch._inductor.aoti_load_package('damaged.pt2')",
    "export": """
        import torch
        class Model(torch.nn.Module):
            def forward(self, x):
                return x + 1 if x.sum() > 0 else x
        torch.export.export(Model(), (torch.ones(3),))
        """,
    "caught": LOADS
    + """
try:
    torch._inductor.aoti_load_package('damaged.pt2')
except RuntimeError:
    pass
raise KeyError("nobody knows this word")
""",
    "exit": "import torch\nraise SystemExit(7)",
}


@pytest.mark.parametrize("name", FAILING)
def test_no_message_that_a_failing_script_prints_is_proved_or_outranks_its_real_error(
    name: str, staged, home, written, warm_python
) -> None:
    """Each message that is known, printed in the phase that fails for another reason."""
    script = written(FAILING[name])
    answer = staged("baseline", script, python=warm_python, cwd=script.parent)
    run = home / "runs" / answer.run
    own = answer.diagnosis
    assert own.confidence == "proved" or name != "export"  # its words are in the recorded error
    known = [signature.matches[0].text for signature in signatures() if signature.matches]
    for text in (text for text in known if "zip archive" not in text):  # that is what load raised
        (run / "stdout.log").write_text(f"{text}\n", "utf-8")
        found = diagnose(recall(run, steps=False))[0]
        if name == "exit":
            assert found.confidence != "proved", text
        else:
            assert (found.category, found.phase) == (own.category, own.phase), text


FORGED = """
said="fatal error: cuda.h: No such file or directory"
error='{"type": "RuntimeError", "message": "'$said'"}'
echo '{"pid": 5, "event": "begin", "id": 1, "phase": "load"}' >> "$AOTI_DEBUG_EVENTS"
echo '{"pid": 5, "event": "end", "id": 1, "ok": false, "error": '$error'}' >> "$AOTI_DEBUG_EVENTS"
echo "$said" >&2
exit 1
"""


def test_events_that_a_program_without_the_probe_writes_are_not_believed(
    triaged, home, written
) -> None:
    answer = triaged(None, command=["/bin/sh", str(written(FORGED))])
    assert (home / "runs" / answer.run / "events.jsonl").is_file()
    assert (answer.diagnosis.category, answer.diagnosis.confidence) == ("toolchain", "likely")


PIPED = """
import sys, torch
sys.stderr.write(
    "Traceback (most recent call last):\\n"
    f'  File "{__file__}", line 1, in <module>\\n    go()\\n'
    f'  File "{__file__[:-9]}pipe.py", line 3, in go\\n    open()\\nValueError: closed\\n'
)
sys.exit(1)
"""


def test_a_pipe_in_the_users_tree_is_not_waited_for(triaged, written, warm_python) -> None:
    """Named by a traceback as a file of the script's, and beside the script as its modules are."""
    script = written(PIPED)
    pipe = script.with_name("pipe.py")
    os.mkfifo(pipe)
    assert triaged(script, python=warm_python).diagnosis.source[0].file == str(pipe)
    assert read(pipe, script.parent) is None
    assert [file for file, _ in modules([script.parent])] == [str(script)]


def test_nan_that_the_script_gives_to_the_model_is_the_scripts_own(serve) -> None:
    found = serve("given_nan").diagnosis
    assert found.category == "user_code"
    assert "x of call 1 already holds 1 NaN" in found.summary


def test_nan_that_the_model_makes_is_the_reason_of_an_exception_after_it(serve) -> None:
    answer = serve("nan_raises")
    found = answer.diagnosis
    assert found.category == "nan_or_inf"
    assert any("NaN first appears at log (aten.log.default)" in one.quote for one in found.evidence)
    assert Path(found.source[0].file).name == "models.py"
    assert found.source[0].text == "return torch.log(self.fc(x)).softmax(-1)"
    assert found.fixes
    assert not answer.also  # the exception is its consequence


def test_a_crash_after_the_last_call_is_not_blamed_on_the_model(serve) -> None:
    found = serve("crashes").diagnosis
    assert found.category == "host_segfault"
    assert "after call 1 of the loaded model had returned, not in the model" in found.summary
    assert found.source[0].line == line_of("ctypes.string_at")
    assert [step.tool for step in found.next] == ["verify_fix"]


def test_threads_that_wait_for_each_other_are_shown_where_they_wait(serve, python) -> None:
    found = serve("waits", timeout_s=12.0, python=python).diagnosis
    assert found.category == "hang"
    assert "no call of a loaded model was under way" in found.summary
    assert found.source[0].line == line_of("with other:")


def test_an_exit_status_without_a_word_names_no_line(serve) -> None:
    found = serve("exits").diagnosis
    assert "exit status 3" in found.summary
    assert not found.source


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="module")
def printed(staged, folder) -> Callable[[str], StageAnswer]:
    """Run each codegen stage once; each compiles the small model."""
    found: dict[str, StageAnswer] = {}

    def run(stage: str) -> StageAnswer:
        if stage not in found:
            found[stage] = staged(stage, COMPILE, folder / f"{stage}.pt2", cwd=folder)
        return found[stage]

    return run


@pytest.mark.parametrize("stage", ["kernel_names", "values", "tensors"])
def test_a_codegen_stage_acts_on_a_script_that_compiles(stage: str, printed) -> None:
    answer = printed(stage)
    assert (answer.status, answer.exit, answer.acted) == ("done", "exit 0", True)
    assert "compiled 1 model" in answer.why
    assert answer.environment
    assert answer.diagnosis.category == "no_fault"


def test_kernel_names_lists_the_launches_and_no_caches_of_inductor(printed) -> None:
    answer = printed("kernel_names")
    (line,) = [line for line in answer.observed if "launches" in line]
    assert "cpp_fused" in line
    assert "cumsum" in line
    assert not any("cache/" in name for name in answer.artifacts)


def test_values_reads_the_statistics_of_each_kernel(printed) -> None:
    observed = "\n".join(printed("values").observed)
    assert "printer mode 2" in observed
    assert "buf1 after cpp_fused_relu_sum_0 (launch 1): from 8 to 8" in observed


def test_tensors_are_collected_into_the_run(printed, home, folder) -> None:
    answer = printed("tensors")
    saved = [name for name in answer.artifacts if name.startswith("tensors/")]
    assert saved
    assert all((home / "runs" / answer.run / name).stat().st_size for name in saved)
    assert not (folder / "tmp").exists() or not list((folder / "tmp").rglob("*.pt"))


def test_nan_checks_say_that_a_cpu_model_has_none(staged, folder) -> None:
    answer = staged("nan", COMPILE, folder / "nan.pt2", cwd=folder)
    assert answer.acted is False
    assert "kernels of a CPU model have none" in answer.why


@pytest.mark.parametrize(
    ("stage", "why"), [("kernel_names", "only loads a package"), ("deterministic", "CUDA")]
)
def test_a_stage_says_that_it_cannot_act_on_a_built_package_of_the_cpu(
    staged, built, stage: str, why: str
) -> None:
    answer = staged(stage, CALL, built.directory, "healthy")
    assert answer.acted is False
    assert why in answer.why


def test_the_contract_stage_finds_the_violation_in_the_script_itself(staged, built) -> None:
    answer = staged("contract", CALL, built.directory, "dtype")
    assert (answer.acted, answer.exit) == (True, "exit 1")
    assert answer.diagnosis.category == "contract_dtype"


def test_the_minifier_reproduces_a_failing_compile(staged, folder) -> None:
    answer = staged("minifier", COMPILE, folder / "minified.pt2", "rejected", cwd=folder)
    assert answer.acted is True
    observed = "\n".join(answer.observed)
    assert "dump at level 2: a launcher was written" in observed
    assert "minifier search: wrote repro.py" in observed
    assert "it fails in the same way" in observed
    assert any(name.endswith("repro.py") for name in answer.artifacts)
    assert answer.diagnosis.category == "lowering_error"


def test_the_minifier_says_why_a_crash_leaves_it_nothing(staged, folder) -> None:
    answer = staged("minifier", COMPILE, folder / "crashed.pt2", "crashes", cwd=folder)
    first = answer.observed[0]
    assert first.startswith("dump at level 2: no launcher")
    assert "SIGSEGV" in first
    assert "exceptions only" in first
    assert answer.diagnosis.fault.signal == "SIGSEGV"
