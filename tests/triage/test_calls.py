"""Calls of packages compiled for real, right ones and those that break the contract; which one is
repeated, of which model, and against which exported program."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.answers import TriageAnswer

AGREES = "package and exported program: agrees"
TARGETS = Path(__file__).parents[1] / "targets"
CALL, TWO_MODELS = TARGETS / "call.py", TARGETS / "two_models.py"


@pytest.fixture(scope="module")
def call(built, triage_in) -> Callable[[str], TriageAnswer]:
    """Triage each call once; the home is that of the compile, so exported programs are known."""
    found: dict[str, TriageAnswer] = {}

    def triage(case: str) -> TriageAnswer:
        if case not in found:
            found[case] = triage_in(built.home, CALL, built.directory, case)
        return found[case]

    return triage


def best(answer: TriageAnswer) -> Any:
    assert answer.status == "done"
    return answer.diagnosis


def test_a_healthy_model_has_no_fault_and_every_step_says_why_it_was_taken(call) -> None:
    answer = call("healthy")
    found = best(answer)
    assert (found.category, found.phase, answer.also) == ("no_fault", "none", [])
    assert "checked and clean" in found.means
    assert {"first run", "contract", "guards", "compare"} <= {step.name for step in answer.steps}
    assert all(step.why and step.status == "done" for step in answer.steps)


@pytest.mark.parametrize(
    ("case", "property", "expected", "got"),
    [
        ("size", "size", "8", "6"),
        ("segfault", "size", "4096", "16"),
        ("dtype", "dtype", "float32", "float64"),
        ("rank", "rank", "2", "1"),
    ],
)
def test_what_an_input_breaks_is_found(
    call, case: str, property: str, expected: str, got: str
) -> None:
    found = best(call(case))
    category = "contract_dtype" if case == "dtype" else "contract_shape"
    assert (found.category, found.phase, found.confidence) == (category, "run", "proved")
    broken = found.input
    assert (broken.property, broken.expected, broken.got) == (property, expected, got)


def test_garbage_of_another_shape_is_found_though_the_script_ends_well(call) -> None:
    answer = call("size")
    found = best(answer)
    assert answer.steps[0].exit == "exit 0"
    assert (found.input.index, found.input.name, found.input.dim) == (0, "x", 1)
    assert "x" in found.summary
    assert found.fixes
    assert answer.also == [], "it is told once, with the evidence of all checks"
    assert len({evidence.artifact for evidence in found.evidence}) > 1


def test_an_input_that_differs_in_several_ways_is_counted_once(call) -> None:
    assert step(call("stride"), "guards").finding == "1 input is not as declared"


def test_a_segfault_is_explained_by_the_shape_that_caused_it(call) -> None:
    found = best(call("segfault"))
    assert found.fault.signal == "SIGSEGV"
    assert found.source[0].file == str(CALL)


@pytest.mark.parametrize(
    ("case", "value", "bound"),
    [
        ("index", "ids[2, 3] = 5000", "1000: 1000, the size of dimension 0 of table.weight"),
        ("second_table", "item[31] = 500", "500: 500, the size of dimension 0 of items.weight"),
    ],
)
def test_an_index_outside_an_embedding_is_named_with_value_and_place(
    call, case: str, value: str, bound: str
) -> None:
    found = best(call(case))
    outcome = (found.category, found.phase, found.confidence)
    assert outcome == ("index_out_of_bounds", "run", "proved")
    assert found.summary == f"{value} is outside 0 <= index < {bound}"
    assert found.kernel.name.startswith("cpp_fused_embedding")
    assert found.kernel.text
    assert found.source[0].text == "output = model(*inputs())"


@pytest.mark.parametrize("case", ["healthy", "size", "segfault", "index"])
def test_evidence_names_artifacts_that_the_run_left(case: str, call, built) -> None:
    answer = call(case)
    directory = built.home / "runs" / answer.run
    for diagnosis in (best(answer), *answer.also):
        for evidence in diagnosis.evidence:
            if evidence.lines is None:
                continue
            path = directory / evidence.artifact
            lines = path.read_text(errors="replace").splitlines()
            first, last = evidence.lines
            proof = "\n".join(lines[first - 1 : last])
            assert evidence.quote.splitlines()[0][:40] in proof


@pytest.mark.parametrize(("case", "process_runs"), [("healthy", 2), ("segfault", 1)])
def test_an_answer_holds_no_nulls_and_says_what_it_cost(case: str, process_runs: int, call) -> None:
    def values(node: object) -> list[object]:
        if isinstance(node, dict):
            return [v for item in node.values() for v in values(item)]
        if isinstance(node, list):
            return [v for item in node for v in values(item)]
        return [node]

    document = call(case).document()
    assert None not in values(document)
    cost = document["diagnosis"]["cost"]
    assert cost["process_runs"] == process_runs
    assert cost.get("recompiles", 0) == 0
    assert cost["wall_s"] > 0


# A call with a keyword that the model does not know fails before the model runs.
SERVES = """
import sys
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
for number in range(1, 7):
    more = {"other": 1} if str(number) in sys.argv[2:] else {}
    try:
        model(torch.full((4, 16), float(number)), **more)
    except Exception as error:
        print("not served:", type(error).__name__)
"""

ASSERTS = """
import sys
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
total = float(model(torch.ones(4, 16)).sum())
assert total == 0, "the sum is not zero"
"""


def step(answer: TriageAnswer, name: str) -> Any:
    return next(step for step in answer.steps if step.name == name)


def report(answer: TriageAnswer, home: Path, name: str) -> Any:
    run = home / "runs" / answer.run
    return json.loads((run / step(answer, name).artifact / "report.json").read_bytes())


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("package") / "two.pt2"


@pytest.fixture(scope="module")
def compiling(triaged, package) -> TriageAnswer:
    return triaged(TWO_MODELS, package)


def test_the_replays_load_the_model_that_was_called_and_its_own_program(compiling, home) -> None:
    assert best(compiling).category == "no_fault"
    assert step(compiling, "contract").finding == "nothing found"
    assert step(compiling, "guards").finding == "the exported program takes the call"
    assert step(compiling, "compare").finding.startswith(AGREES)
    declared = report(compiling, home, "guards")["steps"]["guards"]["inputs"]
    assert [(one["name"], one["shape"]) for one in declared] == [("features", [4, 3])]


def test_another_model_of_the_package_has_its_program_from_the_run_that_compiled_it(
    compiling, triaged, package
) -> None:
    found = best(triaged(TWO_MODELS, package, 6))
    assert found.category == "contract_shape"
    assert (found.input.name, found.input.expected, found.input.got) == ("x", "8", "6")


def test_a_failed_call_is_repeated_though_the_script_went_on(
    triage_in, written, built, home
) -> None:
    answer = triage_in(home, written(SERVES), built.directory / "dynamic.pt2", 3)
    assert report(answer, home, "contract")["inputs_file"].endswith("capture/call-failed.pt")
    assert "ValueError" in step(answer, "contract").finding
    assert "capture/call-latest.pt" in answer.artifacts
    assert not any(one.name == "compare" for one in answer.steps)


def test_of_calls_that_failed_alike_the_last_is_repeated_as_it_was(
    triage_in, written, built, home
) -> None:
    answer = triage_in(home, written(SERVES), built.directory / "dynamic.pt2", 2, 4)
    assert report(answer, home, "contract")["inputs_file"].endswith("capture/call-4.pt")
    assert not any("call 2" in note for note in answer.notes)


def test_values_that_a_script_rejects_are_compared_with_the_exported_program(
    triage_in, written, built
) -> None:
    answer = triage_in(built.home, written(ASSERTS), built.directory / "dynamic.pt2")
    assert answer.steps[0].exit == "exit 1"
    assert step(answer, "compare").finding.startswith(AGREES)
    assert step(answer, "guards").status == "done"


def test_a_package_older_than_the_model_that_the_script_exports_is_stale(call) -> None:
    found = best(call("retrained"))
    assert (found.category, found.confidence) == ("constants_mismatch", "proved")
    assert found.summary.startswith("stale package: it holds other weights than the model")
    quotes = "; ".join(one.quote for one in found.evidence)
    assert "fc.weight differs in 256 of 256 values" in quotes
    assert "gives the package's results" in quotes
    assert any("compile the package again" in fix.what for fix in found.fixes)
    assert step(call("retrained"), "bisect").status == "done"


def test_a_package_of_the_very_model_that_the_script_exports_has_no_fault(call) -> None:
    assert best(call("as_exported")).category == "no_fault"


BUILDS_WHERE_MISSING = """
import torch
from pathlib import Path

PACKAGE = Path(__file__).with_name("model.pt2")
torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(6, 5)

    def forward(self, x):
        return torch.exp(-torch.nn.functional.silu(self.inner(x)))


model, x = Model().eval(), torch.ones(3, 6)
if not PACKAGE.exists():
    with torch.no_grad():
        program = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(program, package_path=str(PACKAGE))
torch._inductor.aoti_load_package(str(PACKAGE))(x)
"""


@pytest.mark.parametrize(
    ("old", "new", "stale"), [("silu", "elu", True), ("manual_seed(0)", "manual_seed(1)", False)]
)
def test_a_package_of_an_older_model_is_told_when_it_is_compiled_anew(
    triage_in, warm_python, tmp_path: Path, old: str, new: str, stale: bool
) -> None:
    script, home = tmp_path / "check.py", tmp_path / "home"
    script.write_text(BUILDS_WHERE_MISSING)
    subprocess.run([warm_python, str(script)], check=True)
    script.write_text(BUILDS_WHERE_MISSING.replace(old, new))
    loaded = best(triage_in(home, script))
    assert (loaded.category, loaded.confidence) == ("no_fault", "possible")
    assert "move model.pt2 away" in loaded.next[0].why
    (tmp_path / "model.pt2").unlink()
    compiled = best(triage_in(home, script))
    assert compiled.category == ("wrong_result" if stale else "no_fault")
    if stale:
        assert compiled.confidence == "proved"
        assert "model.pt2 as it was until run r-" in compiled.summary
        assert "aoti_load_package" in compiled.source[0].text
        assert any("silu" in e.quote and "elu" in e.quote for e in compiled.evidence)


TOOLS = {
    "nvidia-smi": """
case "$*" in
  *memory.total*) echo "0, GPU-1, H200, 1000, 900" ;;
  *ecc*) echo "GPU-1, 0" ;;
  *) echo None ;;
esac
""",
    "cuda-gdb": """
cat << 'END'
CUDA Exception: Warp Illegal Address
The exception was triggered at PC 0x7fb2737a9da0  late_rows  (late.py:23)
#0  0x00007fb2737a9dd0 in late_rows<<<(4096,1,1),(128,1,1)>>> () at /t/late.py:23
23\t    tl.store(o_ptr + jump + c, v * 2.0, mask=c < n)
$1 = (void (*)()) 0x7fb2737a9da0 <late_rows+672>
*> 0x7fb2737a9da0 <late_rows+672>:\t@!P0 STG.E.128 desc[UR10][R2.64],R4
END
""",
}

# What a process leaves whose driver has dumped the core of a GPU.
DUMPED = """
import os, sys
from pathlib import Path
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(int(sys.argv[2]), int(sys.argv[3])))
Path(os.environ["CUDA_COREDUMP_FILE"].replace("%p", str(os.getpid()))).write_bytes(b"core")
os.abort()
"""


@pytest.mark.parametrize(
    ("package", "sizes", "taken"),
    [
        ("dynamic", (5, 16), {"first run", "core dump"}),
        ("reshape", (150, 4), {"first run", "core dump", "guards"}),
    ],
)
def test_a_core_dump_with_line_and_access_is_answered_without_a_replay(
    built, written, triage_in, tmp_path: Path, package: str, sizes: Any, taken: set[str]
) -> None:
    for name, text in TOOLS.items():
        (tmp_path / name).write_text("#!/bin/sh" + text)
        (tmp_path / name).chmod(0o755)
    file, env = built.directory / f"{package}.pt2", {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    answer = triage_in(built.home, written(DUMPED), file, *sizes, env=env)
    steps = {step.name: step for step in answer.steps}
    assert {name for name, step in steps.items() if step.status == "done"} == taken
    assert "the package's own source declares" in steps["contract"].finding
    found = best(answer)
    assert (found.kernel.name, found.kernel.line) == ("late_rows", 23)
    if "guards" in taken:
        assert (found.category, found.confidence) == ("contract_guard", "proved")
        assert "but not the reason: guards may not hold" in steps["guards"].why
    else:
        assert (found.category, found.confidence) == ("illegal_memory_access", "proved")
        assert (found.fault.access, found.fault.size) == ("write", 16)
        assert "only repeat the fault" in steps["guards"].finding


MAKES_ONE_AND_LOADS_ANOTHER = """
import sys
import torch

made, loaded, targets = sys.argv[1:]
sys.path.insert(0, targets)
from models import export

program, x = export("dynamic", seed=7), torch.ones(5, 16)
torch._inductor.aoti_compile_and_package(program, package_path=made)
model = torch._inductor.aoti_load_package(loaded)
assert torch.allclose(model(x), program.module()(x)) and made != loaded, "not what it was"
"""


@pytest.mark.parametrize("stale", [True, False])
def test_a_newer_package_that_nothing_loads_tells_why_the_script_rejects_the_values(
    triage_in, written, built, tmp_path: Path, stale: bool
) -> None:
    made = tmp_path / "newer.pt2"
    loaded = built.directory / "dynamic.pt2" if stale else made
    script = written(MAKES_ONE_AND_LOADS_ANOTHER)
    found = best(triage_in(built.home, script, made, loaded, TARGETS))
    assert found.category == ("wrong_result" if stale else "user_code")
    if stale:
        assert found.confidence == "likely"
        assert "the calls ran dynamic.pt2, and newer.pt2, which this run compiled" in found.summary
        assert "aoti_load_package" in found.source[0].text


GIVES_A_DICT = """
import sys
import torch


class Model(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale["factor"] - scale["shift"]


scale = {"factor": torch.tensor(2.0), "shift": torch.tensor(1.0)}
program = torch.export.export(Model(), (torch.ones(4, 8), scale))
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
model = torch._inductor.aoti_load_package(sys.argv[1])
for number in range(40):
    model(torch.full((4, 8), float(number)), scale)
"""


def test_inputs_within_an_argument_are_compared_after_many_calls_too(
    triage_in, written, home, tmp_path: Path
) -> None:
    answer = triage_in(home, written(GIVES_A_DICT), tmp_path / "model.pt2")
    assert report(answer, home, "guards")["inputs_file"].endswith("call-now.bin")
    assert step(answer, "guards").finding == "the exported program takes the call"
    assert step(answer, "compare").finding.startswith(AGREES)
    assert best(answer).confidence == "likely"
