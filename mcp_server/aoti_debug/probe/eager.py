"""Run the exported program node by node: its guards, indices, fake kernels and results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from . import custom_ops, events, fakes, indices, standalone

Document = dict[str, Any]
_STACK_CHARACTERS = 2000
_KEPT = 20
_GUARD = "Guard failed: "


class Eager:
    """One run of an exported program on captured inputs, and what it showed."""

    def __init__(self) -> None:
        self.outputs: list[Any] | None = None  # flat, on the CPU
        self.broken: list[str] = []  # guards that do not hold
        self.exception: Document | None = None
        self.where: str | None = None
        self.node: Document | None = None
        self.index: Document | None = None
        self.custom_ops: list[str] = []
        self.mismatches: list[Document] = []


def run(torch: Any, module: Any, inputs: standalone.Inputs) -> Eager:
    """Run the module with its own guards; what raises ends it, a guard that is broken does not."""
    found = Eager()
    found.exception = signature(torch, module, inputs)
    if found.exception is not None:
        found.where = found.exception.pop("where")
        if found.where == "signature":
            return found
    interpreter = _interpreter(torch, module, found)
    try:
        with torch.no_grad():
            result = interpreter.run(*inputs.flat)
            standalone.synchronize(torch)
    except Exception as error:
        found.exception = found.exception or events.describe_error(error)
        found.where = found.where or "model"
        return found
    if found.broken:
        message = f"{_GUARD}{found.broken[0]}"
        found.exception = {"type": "AssertionError", "message": message}
        found.where = "guards"
    flat = import_module("torch.utils._pytree").tree_leaves(result)
    found.outputs = [cpu(torch, leaf) for leaf in flat]
    return found


def cpu(torch: Any, leaf: Any) -> Any:
    return leaf.detach().cpu() if isinstance(leaf, torch.Tensor) else leaf


def signature(torch: Any, module: Any, inputs: standalone.Inputs) -> Document | None:
    """Run the checks that stand before the module: nesting, and bounds in older releases."""
    hooks = list(module._forward_pre_hooks.items())
    if inputs.args is None:
        return None
    for _, hook in hooks:
        try:
            hook(module, inputs.args, inputs.kwargs)
        except TypeError as error:
            if "positional argument" not in str(error):
                return {**events.describe_error(error), "where": "signature"}
        except Exception as error:
            text = str(error)
            bounds = "to be" in text and "input" in text.lower() and "tree spec" not in text
            return {**events.describe_error(error), "where": "guards" if bounds else "signature"}
    return None


@contextlib.contextmanager
def collecting(torch: Any, broken: list[str]) -> Iterator[None]:
    """Have each guard noted that does not hold, where the first alone would be raised."""
    kept = torch._assert

    def note(condition: Any, message: str = "") -> None:
        if not condition and len(broken) < _KEPT:
            text = str(message).removeprefix(_GUARD) if message else "a guard"
            broken.append(text)

    torch._assert = note
    try:
        yield
    finally:
        torch._assert = kept


def _interpreter(torch: Any, module: Any, found: Eager) -> Any:
    interpreter_class: Any = import_module("torch.fx").Interpreter
    symbols: dict[Any, int] = {}
    grouped: dict[Any, Document] = {}
    inputs: list[tuple[Any, Any]] = []  # placeholder, value

    class Watching(interpreter_class):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            if node.op == "call_module" and node.target == "_guards_fn":
                with collecting(torch, found.broken):
                    try:
                        return super().run_node(node)
                    except Exception as error:  # a guard that cannot even be computed
                        found.broken.append(str(error).splitlines()[0][:300])
                        return None
            if node.op != "call_function":
                result = super().run_node(node)
                if node.op == "placeholder":
                    inputs.append((node, result))
                    fakes.learn(torch, node.meta.get("val"), result, symbols)
                return result
            args, kwargs = self.fetch_args_kwargs_from_env(node)
            found.index = indices.outside(torch, node, args, kwargs, inputs)
            if found.index is not None:
                found.node = about(node)
                raise IndexError(indices.message(found.index))
            try:
                result = super().run_node(node)
            except Exception:
                found.node = about(node)
                raise
            if fakes.is_custom(node.target):
                name = str(node.target)
                if name not in found.custom_ops and len(found.custom_ops) < _KEPT:
                    found.custom_ops.append(name)
                for one in fakes.differences(torch, node, (args, kwargs), result, symbols):
                    key = (one["op"], one["output"], one["property"])
                    known = grouped.setdefault(key, one)
                    if known is one and len(found.mismatches) < _KEPT:
                        one["places"] = custom_ops.places(torch, node.target)
                        found.mismatches.append(one)
                    known["count"] = known.get("count", 0) + 1
            return result

    return Watching(module)


def about(node: Any) -> Document:
    """Return a node's name, operator and the user's stack it came from."""
    stack = node.meta.get("stack_trace") or ""
    return {"name": node.name, "op": str(node.target), "stack": stack[-_STACK_CHARACTERS:]}


def guard_texts(module: Any) -> list[str]:
    """Return the text of each guard that the module checks; only newer torch has them."""
    function = getattr(getattr(module, "_guards_fn", None), "forward", None)
    texts = [text for text in _constants(function, 3) if text.startswith(_GUARD)]
    return [text[len(_GUARD) :] for text in texts][:200]


def _constants(function: Any, depth: int) -> Iterator[str]:
    """Yield the strings in the code of a function and of those that it wraps."""
    code = getattr(function, "__code__", None)
    yield from (c for c in getattr(code, "co_consts", ()) if isinstance(c, str))
    for cell in getattr(function, "__closure__", None) or ():
        if depth > 0 and callable(cell.cell_contents):
            yield from _constants(cell.cell_contents, depth - 1)
