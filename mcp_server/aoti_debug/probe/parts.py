"""Operators of a program compiled apart from each other: each alone, and with what one kernel may
compute together with it, on the values that the program gives them. All of them in one compile."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from . import compare, intermediates, standalone
from .describe import is_float
from .graph_run import base, on_cpu
from .lazy import torch

Document = dict[str, Any]

_NUMBERS = ("item", "_local_scalar_dense")
_LITERALS = 64  # numbers that stand in a script
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


def compiled(program: Any, args: Any, settings: Document) -> Any:
    """Return a program as torch.compile compiles it, which takes a tenth of a package."""
    inductor: Any = import_module("torch._inductor")
    module = flat(program)
    numbers = any(base(node) in _NUMBERS for node in module.graph.nodes)
    with torch.no_grad(), _with_numbers() if numbers else contextlib.nullcontext():
        return inductor.compile(module, args, options=intermediates.options(settings))


def _with_numbers() -> Any:
    """Let a compile trace numbers that are read out of tensors."""
    guards, fake = import_module("torch._guards"), import_module("torch._subclasses.fake_tensor")
    shapes = import_module("torch.fx.experimental.symbolic_shapes").ShapeEnv()
    mode = fake.FakeTensorMode(shape_env=shapes, static_shapes=True, allow_non_fake_inputs=True)
    return guards.tracing(guards.TracingContext(mode))


def results(
    groups: list[tuple[list[Any], list[Any]]], values: Document, settings: Document, package: bool
) -> tuple[list[Any], list[Any], Any, tuple[Any, ...]]:
    """Compile groups of nodes with their ends, as a package or as torch.compile does; return what
    that gives and what its exported program gives, that program and the arguments."""
    single, args = intermediates.alone(groups, values)
    exported = torch.export.export(single, args)
    if package:
        model = intermediates.build(compare.unguarded(exported), exported, settings)
    else:
        model = compiled(exported, list(args), settings)
    with torch.no_grad():
        given, right = (standalone.flat_outputs(one(*args)) for one in (model, exported.module()))
    return list(map(on_cpu, given)), list(map(on_cpu, right)), exported, args


def compared(
    parts: list[Part], values: Document, settings: Document, package: bool
) -> list[Document]:
    """Compile the parts; return each `part` with its row and the value that it has `given`."""
    groups = [(part.nodes, [part.node]) for part in parts]
    given, right, *_ = results(groups, values, settings, package)
    found: list[Document] = []
    for part, group, mine, plain in zip(parts, groups, given, right):
        row = compare.outputs([mine], [plain], None)[0]
        if row["verdict"] == "agrees" and part.alone:
            row.update(off_by_element(*intermediates.alone([group], values), mine, plain) or {})
        found.append({"part": part, "row": {"node": part.node.name, **row}, "given": mine})
    return found


def off_by_element(module: Any, args: Any, given: Any, right: Any) -> Document | None:
    """Hold a module of one operator of single elements against float64 by the size of each element:
    a large one beside it makes no difference of a small one harmless, which later operators may
    scale up."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    tag = getattr(torch.Tag, "pointwise", None)
    pointwise = len(nodes) == 1 and tag in getattr(nodes[0].target, "tags", ())
    if not pointwise or not is_float(right):
        return None
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


def reproduce(report: str, exported: Any, args: Any, settings: Document) -> tuple[str, str]:
    """Leave a wrong part beside the report, as a script that needs torch alone and, where its
    inputs are large, a file; return its name and its text."""
    path = Path(report)
    if sum(one.numel() for one in args) <= _LITERALS:
        inputs = ", ".join(map(_literal, args))
    else:
        torch.save(list(args), path.with_name("one_kernel_inputs.pt"))
        inputs = '*torch.load(__file__.replace(".py", "_inputs.pt"))'
    code = "\n    ".join(flat(exported).code.strip().splitlines())
    options = intermediates.options(settings) or None
    text = _SCRIPT.format(code=code, inputs=inputs, settings=settings or None, options=options)
    path.with_name("one_kernel.py").write_text(text)
    return "one_kernel.py", text


def _literal(tensor: Any) -> str:
    """Return Python that makes a tensor with these strides."""
    made = f"torch.tensor({tensor.tolist()}, dtype={tensor.dtype})"
    if not tensor.is_contiguous():
        sizes = f"{tuple(tensor.shape)}, {tensor.stride()}, dtype={tensor.dtype}"
        made = f"torch.empty_strided({sizes}).copy_({made})"
    return made if tensor.device.type == "cpu" else f'{made}.to("{tensor.device}")'


def flat(program: Any) -> Any:
    """Return a program as a module without the nesting of its arguments, which makes its own
    constants: so Inductor writes them into the code here as well."""
    module = compare.unguarded(program)
    module.graph._codegen = torch.fx.graph.CodeGen()
    for node in module.graph.nodes:
        node.meta.pop("unbacked_bindings", None)  # they are of another trace
        value: Any = getattr(module, node.target, None) if node.op == "get_attr" else None
        if intermediates.is_inlined(value):
            about = {"dtype": value.dtype, "device": value.device}
            node.op, node.target = "call_function", torch.tensor
            node.args, node.kwargs = (value.tolist(),), about
    return torch.fx.GraphModule(module, module.graph)


def alone(part: Part, values: Document) -> tuple[Any, tuple[Any, ...]]:
    """Return a part as an exported program of its own, and its arguments."""
    single, args = intermediates.alone([(part.nodes, [part.node])], values)
    return import_module("torch.export").export(single, args), args


_SCRIPT = """\
from math import inf, nan

import torch
from torch import device


class Model(torch.nn.Module):
    {code}


model, inputs = Model(), [{inputs}]
with torch.no_grad():
    program = torch.export.export(model, tuple(inputs))
    package = torch._inductor.aoti_compile_and_package(program, inductor_configs={settings})
    print("eager:        ", model(*inputs))
    print("torch.compile:", torch.compile(model, dynamic=False, options={options})(*inputs))
    print("package:      ", torch._inductor.aoti_load_package(package)(*inputs))
"""
