"""Scripts in which something true is not the cause, and what is: decided by experiments."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aoti_debug.answers import TriageAnswer
from aoti_debug.model import Diagnosis

HEAD = """\
import sys

import torch
from torch import nn

torch.manual_seed(0)


def compiled(model, args, shapes=None):
    program = torch.export.export(model, args, dynamic_shapes=shapes)
    return torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))


"""
# conv1d's fake kernel bounds the batch by 15; arange in nanoseconds passes 32 bits.
CLOCK = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv1d(1, 4, 3, padding=1)

    def forward(self, start):
        edges = start.unsqueeze(1) + torch.arange(48) * 1_000_000_000
        age = (start.unsqueeze(1) - edges).to(torch.float64).div(1e9).to(torch.float32)
        return self.mix(age.unsqueeze(1)).mean(-1)


model = Model().eval()
batch = torch.export.Dim("batch", min=2, max=256)
package = compiled(model, (torch.arange(4) + 1_790_000_000_000_000_000,), {"start": {0: batch}})
worst = 0.0
for count in (4, 32, 3):
    start = torch.arange(count) + 1_790_000_000_000_000_000
    with torch.no_grad():
        worst = max(worst, float((package(start) - model(start)).abs().max()))
sys.exit(worst > 1e-3)
"""
MASK = """\
class Model(nn.Module):
    def forward(self, x, mask):
        return torch.where(mask, x * 2.0, x - 1.0)


x, mask = torch.randn(4, 8), torch.rand(4, 8) > 0.5
package = compiled(Model(), (x, mask))
result = package(x, mask.to(torch.uint8))
assert torch.equal(result, Model()(x, mask))
"""
TRAINING = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(self.fc(x))


model, x = Model().eval(), torch.randn(16, 8)
package = compiled(model, (x,))
model.train()
with torch.no_grad():
    apart = float((package(x) - model(x)).abs().max())
print("apart", apart)
sys.exit(apart > 1e-3)
"""
WRITES = """\
@torch.library.custom_op("cause::centred", mutates_args=())
def centred(x: torch.Tensor) -> torch.Tensor:
    x.sub_(x.mean())
    return x.abs()


@centred.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def forward(self, x):
        h = x * 3.0
        return torch.ops.cause.centred(h), h + 1.0


model, x = Model(), torch.rand(64) + 1.0
package = compiled(model, (x,))
apart = max(float((a - b).abs().max()) for a, b in zip(package(x), model(x)))
sys.exit(apart > 1e-3)
"""
Triaged = Callable[[str], TriageAnswer]


@pytest.fixture(scope="module")
def python(warm_python: str) -> str:
    return warm_python


@pytest.fixture(scope="module")
def found(triaged: Callable[..., TriageAnswer], written: Callable[[str], object]) -> Triaged:
    known: dict[str, TriageAnswer] = {}

    def triage(source: str) -> TriageAnswer:
        if source not in known:
            known[source] = triaged(written(HEAD + source))
        return known[source]

    return triage


def best(answer: TriageAnswer) -> Diagnosis:
    assert answer.diagnosis is not None
    return answer.diagnosis


def test_wrong_values_within_and_above_a_narrowed_bound_are_searched_for_their_operator(
    found: Triaged,
) -> None:
    cause = best(found(CLOCK))
    assert (cause.category, cause.confidence) == ("wrong_result", "proved")
    assert any("torch.arange(48)" in (line.text or "") for line in cause.source), cause.source
    assert "2**31" in cause.summary
    (bound,) = cause.also_true
    assert "compiled for <= 15" in bound and "exported for 2..256" in bound and "conv" in bound
    assert cause.because


def test_bytes_of_zero_and_one_for_booleans_are_true_and_harmless(found: Triaged) -> None:
    cause = best(found(MASK))
    assert cause.category == "no_fault", cause.summary
    assert any("mask" in one and "dtype" in one for one in cause.also_true)


def test_a_reference_in_training_mode_is_named_with_its_line(found: Triaged) -> None:
    cause = best(found(TRAINING))
    assert cause.category == "user_code", cause.summary
    assert "training mode" in cause.summary and "norm" in cause.summary
    assert cause.source[0].text is not None and "model(x)" in cause.source[0].text


def test_an_undeclared_write_is_proved_by_copies(found: Triaged) -> None:
    cause = best(found(WRITES))
    assert (cause.category, cause.confidence) == ("wrong_result", "proved"), cause.summary
    assert "cause.centred" in cause.summary and "argument x" in cause.summary
    assert cause.because and "copies" in cause.because[0].experiment
