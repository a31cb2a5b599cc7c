"""The weights that `load_constants` gave to a package belong to its reproduction, and to the
judgement of a fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import torch


class Gain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(12, 4))

    def forward(self, x):
        scaled = (x @ self.weight).exp()
        return scaled / scaled.sum(-1, keepdim=True)


exported = torch.export.export(Gain().eval(), (torch.ones(3, 12),))
options = {"aot_inductor.package_constants_in_so": False}
path = torch._inductor.aoti_compile_and_package(
    exported, package_path="gain.pt2", inductor_configs=options
)
model = torch._inductor.aoti_load_package(path)
model.load_constants({"weight": torch.full((12, 4), 100.0)}, check_full_update=True)
result = model(torch.ones(3, 12))
assert result.isfinite().all(), result
"""


@dataclass(frozen=True)
class Run:
    folder: Path
    name: str

    def told(self, *words: str) -> dict[str, Any]:
        return told(self.folder, *words)


def told(folder: Path, *words: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "aoti_debug", words[0], "--json", *words[1:]],
        cwd=folder,
        env={**os.environ, "AOTI_DEBUG_HOME": str(folder.parent / "home")},
        capture_output=True,
        text=True,
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


@pytest.fixture(scope="module")
def overflowing(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Triage a script whose loaded weights overflow: those of its export do not."""
    folder = tmp_path_factory.mktemp("weights") / "tree"
    folder.mkdir()
    (folder / "serve.py").write_text(SCRIPT)
    answer = told(folder, "triage", "serve.py", "--python", warm_python)
    assert answer["diagnosis"]["category"] == "nan_or_inf", answer
    return Run(folder, answer["run"])


def test_a_fix_is_judged_with_the_weights_that_it_loads(overflowing: Run) -> None:
    fixed = overflowing.folder / "fixed.py"
    fixed.write_text(SCRIPT.replace("scaled = (x @ self.weight).exp()", STABLE))
    answer = overflowing.told("verify", "fixed.py", "--against", overflowing.name)
    assert answer.get("verdict") == "fixed", answer


STABLE = """\
scaled = x @ self.weight
        scaled = (scaled - scaled.amax(-1, keepdim=True)).exp()"""
