"""Why an operator gives a value that is not finite."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from aoti_debug.probe.compare import unguarded  # noqa: E402
from aoti_debug.probe.graph_run import Run, unrolled  # noqa: E402
from aoti_debug.probe.nonfinite_origins import Origins, reason  # noqa: E402
from aoti_debug.probe.observers import Values  # noqa: E402


def test_no_overflow_is_made_up_for_an_operator_whose_computation_is_not_known() -> None:
    x = torch.tensor([[9.0, 9.0]])
    scores = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    found = reason("own.zscore.default", (x,), {}, scores, (0, 0))
    assert found.kind == "other" and found.dtype is None
    assert "NaN of finite values: the largest is 9" in found.text
    known = reason("aten.mul.Tensor", (x * 1e37, x), {}, x * 1e37 * x, (0, 0))
    assert (known.kind, known.dtype) == ("overflow", "float32")


class Banned(torch.nn.Module):  # type: ignore[name-defined]
    """Rows of which one place is banned, by a number in the code or by a buffer."""

    def __init__(self, value: float | None) -> None:
        super().__init__()
        self.value = value
        self.register_buffer("bias", torch.tensor([float("-inf"), 0.0, 0.0]))

    def forward(self, x):
        if self.value is None:
            return x + self.bias
        banned = torch.zeros_like(x)
        banned[:, 0] = self.value
        return x + banned


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export itself
@pytest.mark.parametrize(("value", "by_code"), [(float("-inf"), True), (None, False)])
def test_an_infinity_that_is_a_number_of_the_code_is_meant(value, by_code) -> None:
    program = torch.export.export(Banned(value), (torch.ones(2, 3),))
    module = unguarded(program)
    values = Values()
    origins = Origins(values)
    Run(module, values, origins)([torch.ones(2, 3)])
    found = origins.cause(module.graph)
    assert found is not None
    assert bool(found.get("meant")) is by_code


class Index(torch.nn.Module):  # type: ignore[name-defined]
    """A ratio that is NaN where both are zero, and a second one that the model tests for it."""

    def forward(self, x):
        ratio = x / x
        return (ratio, torch.where(ratio.isnan(), 0.0, x)) if x.shape[0] == 1 else (ratio, x)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export itself
@pytest.mark.parametrize("rows", [1, 2])
def test_a_value_that_the_model_tests_for_nan_is_said_to_be_tested(rows) -> None:
    given = torch.zeros(rows, 3)
    module = unguarded(torch.export.export(Index(), (given,)))
    values = Values()
    origins = Origins(values)
    Run(module, values, origins)([given])
    found = origins.cause(module.graph)
    assert found is not None and found["op"] == "aten.div.Tensor"
    assert found["tested"] is (rows == 1)


class Taps(torch.nn.Module):  # type: ignore[name-defined]
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x):
        total = x
        for tap in range(self.count):
            total = total + x * tap
        return total


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export itself
def test_the_line_of_a_loop_that_makes_most_of_a_long_graph_is_known() -> None:
    long, short = (torch.export.export(Taps(n), (torch.ones(2),)) for n in (120, 40))
    file, line, count, total = unrolled(long) or []
    assert (file, count, total) == (__file__, 240, 240)
    assert "total + x" in Path(file).read_text("utf-8").splitlines()[line - 1]
    assert unrolled(short) is None
