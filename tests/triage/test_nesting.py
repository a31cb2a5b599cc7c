"""Scripts that nest the arguments of a call otherwise than the export did."""

from __future__ import annotations

HEAD = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, batch):
        return batch["query"] * 2.0 - batch["key"]


model, batch = Model().eval(), {"query": torch.randn(4, 8), "key": torch.randn(4, 8)}
program = torch.export.export(model, (batch,))
package = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))
package(batch)
"""
ORDER = """\
turned = dict(reversed(batch.items()))
result = package(turned)
assert torch.allclose(result, model(turned))
"""
NOTHING = """\
result = package({**batch, "query": None})
"""


def test_keys_in_another_order_are_the_cause_of_values_in_each_others_places(
    triaged, written
) -> None:
    best = triaged(written(HEAD + ORDER)).diagnosis
    assert (best.category, best.confidence) == ("contract_argument", "proved"), best.summary
    assert "batch has its keys in the order key, query, exported with query, key" in best.summary
    assert best.calls == "1 of 2 (2)"
    assert best.source[0].text == "result = package(turned)"
    assert [one.result.partition(" ")[0] for one in best.because] == ["differs", "agrees", "agrees"]
    assert "{key: batch[key] for key in ['query', 'key']}" in best.fixes[0].what


def test_none_in_the_place_of_a_tensor_is_named_by_its_key(triaged, written) -> None:
    best = triaged(written(HEAD + NOTHING)).diagnosis
    assert (best.category, best.confidence) == ("contract_argument", "proved"), best.summary
    assert "batch['query'] is None, exported with a tensor" in best.summary
