"""A weight that is not finite: the line that reads it, and the file or line that brought it."""

from __future__ import annotations

from collections.abc import Callable

from aoti_debug.answers import TriageAnswer

SCRIPT = """\
import os, torch; os.chdir(os.path.dirname(__file__))
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.last(h)


state = {f"net.{name}": value for name, value in Model().state_dict().items()}
state["net.last.weight"][0, 3] = float("nan")
torch.save({"model": state}, "best.pt")
held = torch.load("best.pt", weights_only=True)["model"]
model = Model().eval()
model.load_state_dict({name.removeprefix("net."): value for name, value in held.items()})
program = torch.export.export(model, (torch.randn(4, 8),))
package = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))
for _ in range(3):
    package(torch.randn(4, 8))
"""


def test_the_line_that_reads_a_weight_with_nan_and_its_checkpoint_are_named(
    triaged: Callable[..., TriageAnswer], written: Callable[[str], object]
) -> None:
    best = triaged(written(SCRIPT)).diagnosis
    assert best is not None
    assert (best.category, best.confidence) == ("nan_or_inf", "proved"), best.summary
    assert "parameter last.weight holds 1 NaN of 16 elements, first at [0, 3]" in best.summary
    assert "aten.linear.default reads it first" in best.summary
    assert "already in best.pt, read at script.py:18" in best.summary
    assert [line.text for line in best.source] == [
        "return self.last(h)",
        'held = torch.load("best.pt", weights_only=True)["model"]',
    ]
    assert "last.weight in best.pt" in best.fixes[0].what
