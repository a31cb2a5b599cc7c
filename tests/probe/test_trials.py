"""A compile that leaves out a trial of Inductor's: what the probe reports of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

EXPORT = """\
import torch


class Bucket(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.linspace(0, 1, 65))
        self.table = torch.nn.Embedding(64, 16)

    def forward(self, x):
        ids = torch.bucketize(x, self.edges, right=True) - 1
        found = self.table(ids).sum(1)
        x.mul_(0.5)
        return found


good = torch.rand(32, 8) * 0.99
for name, x in (("good", good), ("bad", good + 0.5)):
    torch.export.save(torch.export.export(Bucket(), (x,)), f"{name}.pt2")
"""


def test_the_index_is_named_and_the_package_held_against_the_program(
    run_script: Callable[..., Any], run_step: Callable[..., Any], tmp_path: Path
) -> None:
    run_script(EXPORT, load=False, probe=False)
    settings = '{"triton.autotune_at_compile_time": false}'
    words = ("--settings", settings, "--upper", 64)
    found = run_step("without_trial", "--exported", tmp_path / "good.pt2", *words)
    assert found.ran.code == 0, found.ran.stderr
    report = found.report
    assert (report["state"], report["verdict"], report["outside"]) == ("done", "agrees", "")
    (index,) = report["computed"]
    assert (index["op"], index["inputs"]) == ("aten.embedding.default", ["x"])
    assert index["by"] == ["sub", "bucketize"]
    assert index["stack"][0][2] == "found = self.table(ids).sum(1)"
    outside = run_step("without_trial", "--exported", tmp_path / "bad.pt2", *words).report
    assert "index 64 at" in outside["outside"]
