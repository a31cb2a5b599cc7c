"""Weights that are not finite, as a script reads or sets them."""

from __future__ import annotations

from pathlib import Path

from probe.conftest import run_python

SCRIPT = """\
import torch

model = torch.nn.Linear(2, 2)
state = {"net": {"weight": torch.tensor([[1.0, float("nan")], [0.0, 1.0]]), "bias": torch.ones(2)}}
torch.save(state, "bad.pt")
torch.save(model.state_dict(), "good.pt")
model.load_state_dict(torch.load("good.pt", weights_only=True))
model.load_state_dict(torch.load("bad.pt", weights_only=True)["net"])
model.load_state_dict({"weight": torch.full((2, 2), float("inf")), "bias": torch.full((2,), 3e38)})
"""


def test_the_file_or_the_line_that_brings_them_is_named_once(tmp_path: Path, python: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = run_python(tmp_path, "script.py", python=python)
    found = [event for event in ran.events if event["event"] == "weights"]
    assert [(e["file"], e["caller"][1], e["names"]) for e in found] == [
        ("bad.pt", 8, {"weight": 1}),
        (None, 9, {"weight": 4}),
    ]
