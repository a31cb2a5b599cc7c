"""Write down an exported program for the minifier: its nodes as text, the value of each node.

Runs once, in a child of the fork server. What is written stays whole if a node ends the process:
the nodes come first, then each value as it is computed, and `progress` names the node under way.
"""

from __future__ import annotations

import json
from collections.abc import Container
from importlib import import_module
from pathlib import Path
from typing import Any

from . import compare, expectations, operator_source, standalone
from .graph_run import Observer, Run
from .lazy import torch
from .vocabulary import places_in

Document = dict[str, Any]

_VALUE_BYTES = 1 << 30  # of all values of one side
_LIBRARIES = ("operator", "math", "torch")


class Unsupported(Exception):
    """A node cannot be written as a line of Python."""


def nodes(order: Document, directory: Path) -> None:
    """Write graph.json: what the program is made of, and the source of its custom operators."""
    program = _loaded(order)
    kinds = {node.name: (spec.kind.name, spec.target) for node, spec in _placeholders(program)}
    described = [_node(node, kinds) for node in program.graph.nodes]
    document = {
        "torch": str(torch.__version__),
        "nodes": described,
        "symbols": expectations.ranges(program),
        "random": compare.random_ops(program),
        "operators": operator_source.sources(program.graph),
        "registered": operator_source.registered(operator_source.operators(program.graph)),
    }
    (directory / "graph.json").write_text(json.dumps(document, default=str))
    folder = directory / "weights"
    folder.mkdir(exist_ok=True)
    with (folder / "values.jsonl").open("w") as index:
        for name, value in _weights(program).items():
            torch.save(value.detach(), folder / f"{name}.pt")
            index.write(json.dumps({"name": name, **_recorded(value)}) + "\n")


def values(order: Document, directory: Path) -> None:
    """Run the program eagerly on one side's inputs; write every node's value before the next."""
    program = _loaded(order)
    inputs = _inputs(program, order)
    folder = directory / order["side"]
    folder.mkdir(exist_ok=True)
    recorder = _Recorder(folder, set(_weights(program)))
    print("step: run", flush=True)  # from here on it has the time of a call
    Run(program.graph_module, recorder)(_arguments(program, inputs))
    (folder / "done").touch()


def _loaded(order: Document) -> Any:
    """Return the program, with its operators and the weights that it was given."""
    options = standalone.arguments("", inputs=False).parse_args(order.get("arguments", []))
    standalone.prepare(options)
    return standalone.load_program(options, order["exported"])


def _inputs(program: Any, order: Document) -> list[Any]:
    """Return the flat inputs: captured ones as called, else those of the export."""
    if order["side"] == "real":
        flat = list(standalone.read_inputs(order["inputs"]).flat)
        wanted = len(standalone.user_inputs(program))
        if len(flat) != wanted:
            raise ValueError(f"the call has {len(flat)} inputs, the program {wanted}")
        return flat
    given = standalone.example(program)
    if given is None:
        raise ValueError("the exported program has no example inputs")
    return given.flat


def _arguments(program: Any, inputs: list[Any]) -> list[Any]:
    weights, left = _weights(program), iter(inputs)
    return [
        next(left) if spec.kind.name == "USER_INPUT" else weights.get(node.name)
        for node, spec in _placeholders(program)
    ]


def _placeholders(program: Any) -> list[tuple[Any, Any]]:
    inputs = [node for node in program.graph.nodes if node.op == "placeholder"]
    return list(zip(inputs, program.graph_signature.input_specs))


def _weights(program: Any) -> Document:
    found = {}
    for node, spec in _placeholders(program):
        if spec.target is not None:
            value = program.state_dict.get(spec.target, program.constants.get(spec.target))
            if value is not None and hasattr(value, "detach"):
                found[node.name] = value
    return found


def _node(node: Any, kinds: Document) -> Document:
    found: Document = {
        "name": node.name,
        "op": node.op,
        "source": _source(node.meta.get("stack_trace") or ""),
        "value": _value(node.meta.get("val")),
    }
    if node.op == "placeholder":
        found["kind"], found["path"] = kinds.get(node.name, ("USER_INPUT", None))
        return found
    try:
        found["args"] = [_tree(value) for value in node.args]
        found["kwargs"] = {key: _tree(value) for key, value in node.kwargs.items()}
        found["target"] = _target(node)
    except Unsupported as error:
        found.update(args=[{"ref": n.name} for n in node.all_input_nodes], unsupported=str(error))
    return found


def _target(node: Any) -> str:
    if node.op == "output":
        return "output"
    if node.op != "call_function":
        raise Unsupported(f"{node.op} {node.target}")
    if isinstance(node.target, torch._ops.OpOverload):
        return f"torch.ops.{node.target}"
    module = getattr(node.target, "__module__", "") or ""
    module = "operator" if module == "_operator" else module
    name = getattr(node.target, "__name__", "")
    known = import_module(module) if module in _LIBRARIES else None
    if known is None or getattr(known, name, None) is not node.target:
        raise Unsupported(str(node.target))
    return f"{module}.{name}"


def _tree(value: Any) -> Any:
    """Return an argument as JSON: {"ref": node}, {"text": Python}, or a list of such."""
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, (list, tuple)):
        items = [_tree(item) for item in value]
        return {"tuple" if type(value) is tuple else "list": items}
    if value is None or isinstance(value, (bool, int, float, str, complex)):
        return {"text": _text(value)}
    if isinstance(value, torch.device):
        return {"text": f'torch.device("{value}")'}
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return {"text": str(value)}
    raise Unsupported(f"an argument of type {type(value).__name__}")


def _value(value: Any) -> Document | None:
    """Describe what a node gives: a tensor, a number of a symbolic size, or several of them."""
    if isinstance(value, torch.Tensor):
        return {
            "kind": "tensor",
            "shape": [_size(size) for size in value.shape],
            "dtype": str(value.dtype),
            "device": str(value.device),
            "floating": value.is_floating_point(),
        }
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)):
        return {"kind": "number", "size": _size(value)}
    if isinstance(value, (list, tuple)):
        return {"kind": "several", "items": [_value(item) for item in value]}
    return None


def _size(size: Any) -> Any:
    """Return a size that is fixed, or [its expression, what it is in the example]."""
    if isinstance(size, (bool, int, float)):
        return size
    node = getattr(size, "node", None)
    hint = getattr(node, "hint", None)
    return [str(size), hint if isinstance(hint, (bool, int, float)) else None]


def _source(trace: str) -> Document | None:
    """Return the innermost line of a stack that is not torch's own."""
    places = [place for place in places_in(trace) if place.owner != "torch"]
    return vars(places[-1]) if places else None


class _Recorder(Observer):
    """Write each node's value right after it was computed; `progress` names the node under way."""

    def __init__(self, folder: Path, skipped: Container[str]) -> None:
        self._folder, self._skipped = folder, skipped
        self._progress = (folder / "progress").open("a", buffering=1)
        self._index = (folder / "values.jsonl").open("a", buffering=1)
        self._left = _VALUE_BYTES

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        self._progress.write(f"{node.name}\n")

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if isinstance(value, torch.Tensor) and node.name not in self._skipped:
            described = _recorded(value)
            if described["bytes"] <= self._left:
                self._left -= described["bytes"]
                torch.save(value.detach(), self._folder / f"{node.name}.pt")
                self._index.write(json.dumps({"name": node.name, **described}) + "\n")
        elif isinstance(value, (bool, int, float)):
            self._index.write(json.dumps({"name": node.name, "number": value}) + "\n")


def _recorded(tensor: Any) -> Document:
    """Describe a value; a small one in full, as Python writes it."""
    plain = tensor.detach()
    found: Document = {
        "shape": list(plain.shape),
        "stride": list(plain.stride()) if plain.layout == torch.strided else None,
        "contiguous": plain.layout == torch.strided and plain.is_contiguous(),
        "dtype": str(plain.dtype),
        "device": str(plain.device),
        "floating": plain.is_floating_point(),
        "bytes": plain.untyped_storage().nbytes() if plain.layout == torch.strided else 0,
    }
    if plain.layout == torch.strided and plain.device.type != "meta" and plain.numel() <= 64:
        found["text"] = _text(plain.tolist())
    return found


def _text(value: Any) -> str:
    """Write nested lists as Python; NaN and infinity are no literals."""
    if isinstance(value, list):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return f'float("{value}")'
    return repr(value)
