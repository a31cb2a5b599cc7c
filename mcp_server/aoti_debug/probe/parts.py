"""Operators of a program compiled apart from each other: each alone, and with what one kernel may
compute together with it, on the values that the program gives them. All of them in one compile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from . import compare, intermediates, standalone
from .describe import is_float
from .graph_run import on_cpu
from .lazy import torch

Document = dict[str, Any]

_ULPS = 64  # of a value, that an operator of single elements may be off by
_FACTOR = 8.0
_DENORMAL = 1.2e-38


@dataclass(frozen=True)
class Part:
    """The nodes that compute the value of `node`: its operator alone, or fused with others."""

    node: Any
    nodes: list[Any]
    alone: bool


def parts_of(nodes: list[Any]) -> list[Part]:
    """Return each of the nodes alone, then each with what it may be fused with."""
    single = [Part(node, intermediates.operator(node), True) for node in nodes]
    whole = [Part(node, intermediates.fused(node), False) for node in nodes]
    return [*single, *(w for s, w in zip(single, whole) if len(w.nodes) > len(s.nodes))]


def entering(parts: list[Part]) -> list[str]:
    names = (name for part in parts for name in intermediates.entering(part.nodes))
    return list(dict.fromkeys(names))


def results(
    groups: list[tuple[list[Any], list[Any]]], values: Document, settings: Document
) -> tuple[list[Any], list[Any], Any, tuple[Any, ...]]:
    """Compile groups of nodes with their ends; return what that gives and what its exported program
    gives, that program and the arguments."""
    single, args = intermediates.alone(groups, values)
    exported = torch.export.export(single, args)
    model = intermediates.build(compare.unguarded(exported), exported, settings)
    with torch.no_grad():
        given, right = (standalone.flat_outputs(one(*args)) for one in (model, exported.module()))
    return list(map(on_cpu, given)), list(map(on_cpu, right)), exported, args


def compared(parts: list[Part], values: Document, settings: Document) -> list[Document]:
    """Compile the parts; return each `part` with its row and the value that it has `given`."""
    groups = [(part.nodes, [part.node]) for part in parts]
    given, right, *_ = results(groups, values, settings)
    found: list[Document] = []
    for part, mine, plain in zip(parts, given, right):
        row = compare.outputs([mine], [plain], None)[0]
        if row["verdict"] == "agrees" and part.alone:
            row.update(_element_by_element(part, values, mine, plain) or {})
        found.append({"part": part, "row": {"node": part.node.name, **row}, "given": mine})
    return found


def _element_by_element(part: Part, values: Document, given: Any, right: Any) -> Document | None:
    """Hold an operator of single elements against float64 by the size of each element: a large one
    beside it makes no difference of a small one harmless, which later operators may scale up."""
    pointwise = getattr(torch.Tag, "pointwise", None) in getattr(part.node.target, "tags", ())
    if not pointwise or not is_float(right):
        return None
    module, args = intermediates.alone([(part.nodes, [part.node])], values)
    wide = [one.double() if one.is_floating_point() else one for one in args]
    try:
        (exact,) = module(*wide)
    except Exception:  # an operator without float64
        return None
    exact = on_cpu(exact)
    if exact.dtype != torch.float64 or exact.shape != right.shape:
        return None
    own, off = ((one.double() - exact).abs() for one in (right, given))
    granted = _FACTOR * own + _ULPS * torch.finfo(right.dtype).eps * exact.abs() + _DENORMAL
    places = (torch.isfinite(exact) & torch.isfinite(right) & ~(off <= granted)).nonzero()
    first = compare.first(places, given, exact)
    return first and {"verdict": "differs", "wrong": len(places), "first_wrong": first}


def reproduce(report: str, exported: Any, args: Any, settings: Document) -> str:
    """Leave a wrong part beside the report: program, inputs and a script of ten lines."""
    path = Path(report)
    torch.export.save(exported, path.with_name("one_kernel.pt2"))
    torch.save(tuple(args), path.with_name("one_kernel_inputs.pt"))
    text = _SCRIPT.format(settings=json.dumps(settings))
    path.with_name("one_kernel.py").write_text(text)
    return "one_kernel.py"


def alone(part: Part, values: Document) -> tuple[Any, tuple[Any, ...]]:
    """Return a part as an exported program of its own, and its arguments."""
    single, args = intermediates.alone([(part.nodes, [part.node])], values)
    return import_module("torch.export").export(single, args), args


_SCRIPT = """\
import json
from pathlib import Path

import torch

here = Path(__file__).parent
program = torch.export.load(here / "one_kernel.pt2")
inputs = torch.load(here / "one_kernel_inputs.pt", weights_only=True)
package = torch._inductor.aoti_compile_and_package(
    program,
    package_path=str(here / "one_kernel_compiled.pt2"),
    inductor_configs=json.loads({settings!r}),
)
print("compiled:", torch._inductor.aoti_load_package(package)(*inputs))
print("eager:   ", program.module()(*inputs))
"""
