"""Which call is repeated, of which model, and against which exported program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.model import Step, TriageAnswer

TWO_MODELS = Path(__file__).parents[1] / "targets" / "two_models.py"
Written = Callable[[str], Path]

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


def step(answer: TriageAnswer, name: str) -> Step:
    return next(step for step in answer.steps if step.name == name)


def report(answer: TriageAnswer, home: Path, name: str) -> dict[str, Any]:
    artifact = step(answer, name).artifact
    assert artifact is not None
    found = json.loads((home / "runs" / answer.run / artifact / "report.json").read_bytes())
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("package") / "two.pt2"


@pytest.fixture(scope="module")
def compiling(triaged: Callable[..., TriageAnswer], package: Path) -> TriageAnswer:
    return triaged(TWO_MODELS, package)


def test_the_replays_load_the_model_that_was_called_and_its_own_program(
    compiling: TriageAnswer, home: Path
) -> None:
    assert compiling.diagnosis is not None
    assert compiling.diagnosis.category == "no_fault"
    assert step(compiling, "contract").finding == "nothing found"
    assert step(compiling, "guards").finding == "the exported program takes the call"
    assert step(compiling, "compare").finding == "package and exported program: agrees"
    declared = report(compiling, home, "guards")["steps"]["guards"]["inputs"]
    assert [(one["name"], one["shape"]) for one in declared] == [("features", [4, 3])]


def test_another_model_of_the_package_has_its_program_from_the_run_that_compiled_it(
    compiling: TriageAnswer, triaged: Callable[..., TriageAnswer], package: Path
) -> None:
    answer = triaged(TWO_MODELS, package, 6)
    assert answer.diagnosis is not None
    assert answer.diagnosis.category == "contract_shape"
    assert answer.diagnosis.input is not None
    found = answer.diagnosis.input
    assert (found.name, found.expected, found.got) == ("x", "8", "6")


def test_a_failed_call_is_repeated_though_the_script_went_on(
    triage_in: Callable[..., TriageAnswer], written: Written, built: Any, home: Path
) -> None:
    answer = triage_in(home, written(SERVES), built.directory / "dynamic.pt2", 3)
    assert report(answer, home, "contract")["inputs_file"].endswith("capture/call-failed.pt")
    assert "ValueError" in (step(answer, "contract").finding or "")
    assert "capture/call-latest.pt" in answer.artifacts
    assert not any(one.name == "compare" for one in answer.steps)


def test_of_calls_that_failed_alike_the_first_is_repeated_and_that_is_said(
    triage_in: Callable[..., TriageAnswer], written: Written, built: Any, home: Path
) -> None:
    answer = triage_in(home, written(SERVES), built.directory / "dynamic.pt2", 2, 4)
    assert report(answer, home, "contract")["inputs_file"].endswith("capture/call-failed.pt")
    assert any("call 4 failed" in note and "call 2" in note for note in answer.notes)


def test_values_that_a_script_rejects_are_compared_with_the_exported_program(
    triage_in: Callable[..., TriageAnswer], written: Written, built: Any
) -> None:
    answer = triage_in(built.home, written(ASSERTS), built.directory / "dynamic.pt2")
    assert answer.steps[0].exit == "exit 1"
    assert step(answer, "compare").finding == "package and exported program: agrees"
    assert step(answer, "guards").status == "done"
