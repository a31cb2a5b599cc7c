"""Real architectures on the CPU: healthy ones raise no alarm, planted faults are found."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from programs import Triaged, triage_all

ZOO = Path(__file__).parents[2] / "evals" / "zoo"
PLANTED = {
    "bert": ("stride", "bad_id"),
    "position_table": ("dtype", "positions"),
    "vit": ("shape", "nan_weight"),
    "lstm_tagger": ("middle", "bad_id"),
    "cached_decoder": ("dtype", "bad_id"),
    "deep_recommender": ("bad_id", "stride"),
    "two_tower": ("shape", "bad_id"),
    "padded_sequences": ("dtype", "bad_id"),
}
# Two processes at a time have two cores; of a model this small more threads only wait.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
# Compile architectures in one process, write down what a triage must say of each of their faults.
COMPILE = """
import json
import sys
import warnings
from pathlib import Path

zoo, directory, *names = sys.argv[1:]
sys.path.insert(0, zoo)
import architectures
import score
import serve

warnings.simplefilter("ignore")
for name in names:
    package = Path(directory) / f"{name}.pt2"
    serve.compile_package(architectures.CASES[name], package, "cpu")
    expected = score.expected(architectures.CASES[name], "cpu")
    package.with_suffix(".faults").write_text(json.dumps(expected))
    print("compiled", name, flush=True)
"""
FAULTS = [(name, fault) for name, faults in PLANTED.items() for fault in faults]


def of_the_zoo(name: str):
    spec = importlib.util.spec_from_file_location(f"zoo_{name}", ZOO / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


score = of_the_zoo("score")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    """Compile the architectures once, half of them in each of two watched runs side by side."""
    given = os.environ.get("AOTI_DEBUG_TEST_PACKAGES")
    root = Path(given) / "zoo" if given else tmp_path_factory.mktemp("zoo")
    if not (root / "complete").is_file():
        root.mkdir(parents=True, exist_ok=True)
        env = {
            **os.environ,
            "AOTI_DEBUG_HOME": str(root / "home"),
            "TORCHINDUCTOR_CACHE_DIR": str(root / "cache"),
            "TORCHINDUCTOR_VEC_ISA_OK": "1",
            **ONE_THREAD,
            "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",  # compiles faster
            "INDUCTOR_PROVENANCE": "1",  # as in a compile under triage
        }
        script = root / "compile_all.py"
        script.write_text(COMPILE, "utf-8")
        words = ["run", str(script), "--python", warm_python, "--", str(ZOO), str(root)]
        names = list(PLANTED)
        runs = [
            subprocess.Popen(
                [sys.executable, "-m", "aoti_debug", *words, *half],
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for half in (names[::2], names[1::2])
        ]
        said = [run.communicate()[0] for run in runs]
        assert [run.returncode for run in runs] == [0, 0], said
        (root / "complete").touch()
    return root


@pytest.fixture(scope="module")
def triaged(compiled: Path, warm_python: str) -> Mapping[str, Triaged]:
    """Triage every architecture, healthy and with its faults."""
    serve = ZOO / "serve.py"

    def job(name, *more):
        return serve, (name, str(compiled / f"{name}.pt2"), *more), ONE_THREAD

    healthy = {f"{name} healthy": job(name) for name in PLANTED}
    planted = {f"{name} {fault}": job(name, "--fault", fault) for name, fault in FAULTS}
    return triage_all({**healthy, **planted}, compiled / "home", warm_python)


@pytest.mark.parametrize("name", PLANTED)
def test_a_healthy_architecture_raises_no_alarm(triaged: Mapping[str, Triaged], name: str) -> None:
    found = triaged[f"{name} healthy"].best
    assert found.category == "no_fault", found.summary


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_planted_fault_is_found_with_input_and_line(
    triaged: Mapping[str, Triaged], compiled: Path, name: str, fault: str
) -> None:
    found = triaged[f"{name} {fault}"]
    lines = json.loads((compiled / f"{name}.json").read_text())
    expected = json.loads((compiled / f"{name}.faults").read_text())
    ran = {"answer": found.answer.document(), "stderr": "", "wall_s": 0.0}
    row = score.fault(ran, expected[fault], lines, found.directory.parent)
    assert row["outcome"] == "right", row
