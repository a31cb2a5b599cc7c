"""Containers of a library that a process has not imported."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

from aoti_debug.probe import containers  # noqa: E402

LEAF: dict[str, object] = {"type": None, "context": None, "children_spec": []}


def test_a_container_of_an_unknown_type_holds_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    pytree = torch.utils._pytree
    known = dict(pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE)
    monkeypatch.setattr(pytree, "SERIALIZED_TYPE_TO_PYTHON_TYPE", known)
    output = {"type": "absent.Output", "context": '["logits"]', "children_spec": [LEAF, LEAF]}
    pair = {"type": "builtins.tuple", "context": "null", "children_spec": [LEAF, output]}
    with pytest.raises(NotImplementedError, match=r"absent\.Output"):
        pytree.treespec_loads(json.dumps((1, pair)))
    containers.stand_in()
    spec = pytree.treespec_loads(json.dumps((1, pair)))
    first, found = pytree.tree_unflatten([1, 2, 3], spec)
    assert (first, found.values, found.context) == (1, [2, 3], '["logits"]')
    assert pytree.tree_leaves((first, found)) == [1, 2, 3]
    assert json.loads(pytree.treespec_dumps(spec))[1] == pair
