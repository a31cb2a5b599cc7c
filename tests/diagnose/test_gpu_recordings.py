"""Every triage recorded on a GPU is diagnosed again from its directory alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aoti_debug.diagnose import diagnose
from aoti_debug.model import Diagnosis
from package_archives import unpack
from recall import recall

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "recorded" / "gpu" / "runs.tar.xz"
EXPECTED = json.loads((ROOT / "evals/cases/gpu_expected.json").read_text(encoding="utf-8"))
SCRIPTS = {
    "bad_meta": "custom_op_fake_kernel",
    "embed_oob": "index_out_of_bounds",
    "m_assert": "index_out_of_bounds",
    "m_compile": "user_code",
    "nan": "nan_or_inf",
    "user_triton": "illegal_memory_access",
}
# Its finding comes from the package's own source, and packages are not among the recordings.
NEEDS_PACKAGE = {"cpu_input", "cuda_input", "smaller_input"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("gpu")
    unpack(RUNS, directory)
    return directory


def best(runs: Path, name: str) -> Diagnosis:
    return diagnose(recall(runs / name))[0]


@pytest.mark.parametrize("case", sorted(set(EXPECTED) - NEEDS_PACKAGE))
def test_a_planted_fault_is_found(runs: Path, case: str) -> None:
    found, wanted = best(runs, f"{case}-fault"), EXPECTED[case]
    assert found.category in wanted["categories"], found.summary
    if "phases" in wanted:
        assert found.phase in wanted["phases"]


@pytest.mark.parametrize("case", [c for c, w in EXPECTED.items() if w.get("exception")])
def test_a_gpu_exception_is_proved_by_the_first_run_alone(runs: Path, case: str) -> None:
    observations = recall(runs / f"{case}-fault", steps=False)
    found = diagnose(observations)[0]
    assert found.category in EXPECTED[case]["categories"]
    assert found.confidence == "proved"
    assert found.kernel is not None
    assert found.kernel.line is not None


@pytest.mark.parametrize("case", ["write_while_tuning", "misaligned"])
def test_a_fault_while_tuning_is_told_apart_from_one_at_run_time(runs: Path, case: str) -> None:
    assert best(runs, f"{case}-fault").phase == "autotune"


def test_the_kernel_that_hangs_is_named_with_its_line(runs: Path) -> None:
    found = best(runs, "infinite_loop-fault")
    assert found.kernel is not None
    assert found.kernel.name == "wait_for_flag"
    assert found.kernel.line is not None


@pytest.mark.parametrize("case", ["embedding", "threads"])
def test_a_healthy_twin_has_no_fault(runs: Path, case: str) -> None:
    assert best(runs, f"{case}-healthy").category == "no_fault"


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_a_lab_script_is_diagnosed(runs: Path, script: str) -> None:
    assert best(runs, f"script-{script}").category == SCRIPTS[script]


def test_the_aftermath_of_a_fault_is_not_the_diagnosis(runs: Path) -> None:
    found = best(runs, "embedding-fault")
    assert "CUBLAS" not in found.summary
    assert found.input is not None
    assert found.input.got == "5000 at [3, 5]"
