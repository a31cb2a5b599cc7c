"""Why an operator gives a value that is not finite."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from aoti_debug.probe.nonfinite_origins import reason  # noqa: E402


def test_no_overflow_is_made_up_for_an_operator_whose_computation_is_not_known() -> None:
    x = torch.tensor([[9.0, 9.0]])
    scores = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    found = reason("own.zscore.default", (x,), {}, scores, (0, 0))
    assert found.kind == "other" and found.dtype is None
    assert "NaN of finite values: the largest is 9" in found.text
    known = reason("aten.mul.Tensor", (x * 1e37, x), {}, x * 1e37 * x, (0, 0))
    assert (known.kind, known.dtype) == ("overflow", "float32")
