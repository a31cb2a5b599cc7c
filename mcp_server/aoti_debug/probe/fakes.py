"""Hold the result of a custom operator to what its fake kernel promised the compiler."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from .describe import laid_out
from .lazy import torch
from .sizes import numbers
from .vocabulary import is_torchs

_STACK_CHARACTERS = 2000

Document = dict[str, Any]


def is_custom(target: Any) -> bool:
    """Tell an operator of the user's from torch's own."""
    namespace = str(getattr(target, "namespace", "")) or str(getattr(target, "__module__", ""))
    return bool(namespace) and not is_torchs(namespace)


def differences(
    node: Any, given: tuple[Any, Any], result: Any, symbols: dict[Any, int]
) -> list[Document]:
    """Compare one operator's results with the promised ones: shape, stride, dtype, device.

    What only passes on an odd layout, size or dtype of its own inputs is no fault of this operator:
    then it is run again on the same values in the promised layouts, or, where that cannot be, the
    fake kernel is asked again, on inputs as they are.
    """
    found = _compared(node, node.meta.get("val"), result, symbols)
    if found and odd_inputs(node, given, symbols):
        rerun = result_as_promised(node, given, symbols)
        if rerun is not None:
            return _compared(node, node.meta.get("val"), rerun, symbols)
        again = promised_for(node.target, given)
        if again is None:
            return []
        found = _compared(node, again, result, {})
    return found


def kept(promised: Any, result: Any) -> bool:
    """Tell whether results are as a fake kernel promises them for these very inputs."""
    return not any(_broken(promised, result, {}))


def _compared(node: Any, promised: Any, result: Any, symbols: dict[Any, int]) -> list[Document]:
    found: list[Document] = []
    for output, property, wanted, got in _broken(promised, result, symbols):
        one: Document = {"op": str(node.target), "node": node.name, "output": output}
        one.update(property=property, expected=str(wanted), got=str(got))
        one["smaller"] = property == "shape" and math.prod(got) < math.prod(wanted)
        one["stack"] = (node.meta.get("stack_trace") or "")[-_STACK_CHARACTERS:]
        found.append(one)
    return found


def _broken(
    promised: Any, result: Any, symbols: dict[Any, int]
) -> Iterator[tuple[int, str, Any, Any]]:
    """Yield of each output that is not as promised its number, the first property, and both."""
    pytree = torch.utils._pytree
    pairs = zip(pytree.tree_leaves(promised), pytree.tree_leaves(result))
    for output, (fake, real) in enumerate(pairs):
        if not isinstance(fake, torch.Tensor) or not isinstance(real, torch.Tensor):
            continue
        checks = (
            ("shape", numbers(fake.shape, symbols), list(real.shape)),
            ("dtype", str(fake.dtype), str(real.dtype)),
            ("device", fake.device.type, real.device.type),
            ("stride", *strides(fake, real, symbols)),
        )
        for property, wanted, got in checks:
            if wanted is not None and wanted != got and real.numel() > 0:
                yield output, property, wanted, got
                break  # a wrong shape makes the strides differ too


def strides(fake: Any, real: Any, symbols: dict[Any, int]) -> tuple[Any, Any]:
    """Return promised and real strides; those of dimensions of size 1 are never used."""
    wanted = numbers(fake.stride(), symbols)
    got = list(real.stride())
    if wanted is None or len(wanted) != len(got):
        return None, got
    used = [w if n > 1 else g for w, g, n in zip(wanted, got, real.shape)]
    return (wanted, got) if used != got else (None, got)


def _tensors(node: Any, given: tuple[Any, Any]) -> Iterator[tuple[int, Any, Any]]:
    """Yield each tensor argument of a node: its place, what the program says of it, itself."""
    leaves = torch.utils._pytree.tree_leaves
    pairs = zip(leaves((node.args, node.kwargs)), leaves(given))
    for place, (argument, value) in enumerate(pairs):
        promised = getattr(argument, "meta", {}).get("val")
        if isinstance(promised, torch.Tensor) and isinstance(value, torch.Tensor):
            yield place, promised, value


def odd_inputs(node: Any, given: tuple[Any, Any], symbols: dict[Any, int]) -> bool:
    """Tell whether an argument is not what the program says of it: size, stride, dtype, device."""
    return any(
        numbers(promised.shape, symbols) not in (None, list(value.shape))
        or strides(promised, value, symbols)[0] is not None
        or (promised.dtype, promised.device.type) != (value.dtype, value.device.type)
        for _, promised, value in _tensors(node, given)
    )


def result_as_promised(node: Any, given: tuple[Any, Any], symbols: dict[Any, int]) -> Any:
    """Return what an operator gives for its inputs in the layouts that the program promises; None
    where more than a layout is odd, or the operator writes to its inputs."""
    pytree = torch.utils._pytree
    leaves, spec = pytree.tree_flatten(given)
    schema = getattr(node.target, "_schema", None)
    if len(pytree.tree_leaves((node.args, node.kwargs))) != len(leaves):
        return None
    if schema is None or schema.is_mutable:
        return None
    for place, promised, value in _tensors(node, given):
        kind = (numbers(promised.shape, symbols), promised.dtype, promised.device.type)
        wanted = numbers(promised.stride(), symbols)
        if wanted is None or kind != (list(value.shape), value.dtype, value.device.type):
            return None
        if 0 in wanted:  # an expanded tensor cannot be written
            return None
        if strides(promised, value, symbols)[0] is not None:
            leaves[place] = laid_out(value, wanted)
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    try:
        return node.target(*args, **kwargs)
    except Exception:
        return None


def promised_for(target: Any, given: tuple[Any, Any]) -> Any:
    """Return what the fake kernel promises for these very arguments; None when it cannot say."""
    try:
        mode = import_module("torch._subclasses.fake_tensor").FakeTensorMode(
            allow_non_fake_inputs=True
        )
        pytree = torch.utils._pytree

        def fake(leaf: Any) -> Any:
            return mode.from_tensor(leaf) if isinstance(leaf, torch.Tensor) else leaf

        args, kwargs = pytree.tree_map(fake, given)
        with mode:
            return target(*args, **kwargs)
    except Exception:
        return None
