"""Stages on a CPU model: what acts shows, and what cannot act says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from aoti_debug.answers import StageAnswer

TARGETS = Path(__file__).parents[1] / "targets"
COMPILE = TARGETS / "compile.py"
CALL = TARGETS / "call.py"
Staged = Callable[..., StageAnswer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="module")
def printed(staged: Staged, folder: Path) -> Callable[[str], StageAnswer]:
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
    assert (answer.status, answer.exit) == ("done", "exit 0")
    assert answer.acted is True
    assert "compiled 1 model" in (answer.why or "")
    assert answer.environment
    assert answer.diagnosis is not None
    assert answer.diagnosis.category == "no_fault"


def test_kernel_names_lists_the_launches(printed) -> None:
    (line,) = [line for line in printed("kernel_names").observed if "launches" in line]
    assert "cpp_fused" in line
    assert "cumsum" in line


def test_values_reads_the_statistics_of_each_kernel(printed) -> None:
    observed = "\n".join(printed("values").observed)
    assert "printer mode 2" in observed
    assert "buf1 after cpp_fused_relu_sum_0 (launch 1): from 8 to 8" in observed


def test_tensors_are_collected_into_the_run(printed, home: Path, folder: Path) -> None:
    answer = printed("tensors")
    saved = [name for name in answer.artifacts if name.startswith("tensors/")]
    assert saved
    assert all((home / "runs" / answer.run / name).stat().st_size for name in saved)
    assert not (folder / "tmp").exists() or not list((folder / "tmp").rglob("*.pt"))


def test_caches_of_inductor_are_not_listed_as_artifacts(printed) -> None:
    assert not any("cache/" in name for name in printed("kernel_names").artifacts)


def test_a_codegen_stage_says_that_it_cannot_act_on_a_built_package(staged, built) -> None:
    answer = staged("kernel_names", CALL, built.directory, "healthy")
    assert answer.acted is False
    assert "only loads a package" in (answer.why or "")


def test_nan_checks_say_that_a_cpu_model_has_none(staged, built, folder: Path) -> None:
    answer = staged("nan", COMPILE, folder / "nan.pt2", cwd=folder)
    assert answer.acted is False
    assert "kernels of a CPU model have none" in (answer.why or "")


def test_the_contract_stage_finds_the_violation_in_the_script_itself(staged, built) -> None:
    answer = staged("contract", CALL, built.directory, "dtype")
    assert answer.acted is True
    assert answer.exit == "exit 1"
    assert answer.diagnosis is not None
    assert answer.diagnosis.category == "contract_dtype"


def test_the_deterministic_stage_needs_a_gpu(staged, built) -> None:
    answer = staged("deterministic", CALL, built.directory, "healthy")
    assert answer.acted is False
    assert "CUDA" in (answer.why or "")


def test_the_minifier_reproduces_a_failing_compile(staged, folder: Path) -> None:
    answer = staged("minifier", COMPILE, folder / "minified.pt2", "rejected", cwd=folder)
    assert answer.acted is True
    observed = "\n".join(answer.observed)
    assert "dump at level 2: a launcher was written" in observed
    assert "minifier search: wrote repro.py" in observed
    assert "it fails in the same way" in observed
    assert any(name.endswith("repro.py") for name in answer.artifacts)
    assert answer.diagnosis is not None
    assert answer.diagnosis.category == "cpp_error"


def test_the_minifier_says_why_a_crash_leaves_it_nothing(staged, folder: Path) -> None:
    answer = staged("minifier", COMPILE, folder / "crashed.pt2", "crashes", cwd=folder)
    first = answer.observed[0]
    assert first.startswith("dump at level 2: no launcher")
    assert "SIGSEGV" in first
    assert "exceptions only" in first
    assert answer.diagnosis is not None
    assert answer.diagnosis.fault is not None
    assert answer.diagnosis.fault.signal == "SIGSEGV"
