"""The contract that a package states: calls held against it, written for people and for code."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from aoti_debug.answers import PackageDim
from aoti_debug.package.documents import Sizes
from aoti_debug.package.record import CompiledModel, Dim, Input, Wrapper
from aoti_debug.probe import expression, judge, python_source, vocabulary
from aoti_debug.probe.judge import Contract, breaks
from aoti_debug.probe.nesting import held
from aoti_debug.probe.python_source import parse, parse_expression
from aoti_debug.vocabulary import Break, Leaf


def one_line(one: Input) -> str:
    """Return an input as a person would write it: `float32[s0 in 2..64, 10] on cpu, strides …`."""
    dtype = one.dtype or "tensor"
    if one.dims is None:
        return f"{dtype}, sizes not stated"
    text = f"{dtype}[{', '.join(map(size_of, one.dims))}]"
    if one.device:
        text += f" on {one.device}"
    if one.dims:
        text += f", strides ({', '.join(map(stride_of, one.dims))})"
    if one.aligned:
        text += f", aligned to {one.aligned} bytes"
    return text


def size_of(dim: Dim | PackageDim) -> str:
    if dim.size is not None:
        return str(dim.size)
    bounds = f"{'' if dim.low is None else dim.low}..{'' if dim.high is None else dim.high}"
    name = dim.symbol.replace("L", "") if dim.symbol else ""
    return " in ".join(filter(None, (name, bounds if bounds != ".." else ""))) or "any"


def stride_of(dim: Dim | PackageDim) -> str:
    if dim.stride is not None:
        return str(dim.stride)
    return dim.stride_symbol.replace("L", "") if dim.stride_symbol else "any"


_FUNCTION = '''

def check_inputs(*args, **kwargs):
    """Raise ValueError with all in which a call breaks what the model was compiled for."""
    described = []
    tensors = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    for index, x in enumerate(tensors):
        layout = {"shape": tuple(x.shape), "stride": tuple(x.stride())}
        described.append(Leaf(index, dtype=str(x.dtype), device=str(x.device), **layout))
    found = [b for b in breaks(CONTRACT, described) if not b.harmless]
    if found:
        raise ValueError("; ".join(map(_told, found)))


def _told(broken):
    at = "" if broken.dim is None else f" at dim {broken.dim}"
    where = f"input {broken.index} ({broken.name}): " if broken.name else ""
    return f"{where}{broken.property}{at} is {broken.got}, expected {broken.expected}"
'''


def write_check_inputs(contract: Contract) -> str:
    """Return the source of a `check_inputs(*args, **kwargs)` for serving code: plain torch, and
    the very code by which calls are judged here. It allows a size of 1 where the bound of 2 only
    comes from the specialisation at export."""
    found = [*_statements(python_source), *_statements(expression)]
    found += [*_statements(vocabulary, Leaf, Break), *_statements(judge)]
    imports = sorted({s for s in found if s.startswith(("import ", "from "))})
    code = [s for s in found if not s.startswith(("import ", "from "))]
    head = ["from __future__ import annotations", *imports]
    head += ["import torch", "from torch.utils import _pytree"]
    stated = f"CONTRACT = {contract!r}"
    return "\n".join(head) + "\n\n" + "\n\n".join([*code, stated]) + _FUNCTION


def _statements(module: ModuleType, *classes: type) -> list[str]:
    """Return the statements of a module, or imports and these of its classes, without docstrings
    and imports of its neighbours."""
    tree = parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    names = [one.__name__ for one in classes]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return [
        ast.unparse(node)
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and (node.level or node.module == "__future__"))
        and (not names or isinstance(node, ast.ImportFrom) or getattr(node, "name", "") in names)
    ]


def contract(model: CompiledModel | Wrapper) -> Contract:
    """Return the contract that a model's wrapper states."""
    wrapper = model.wrapper if isinstance(model, CompiledModel) else model
    if wrapper is None:
        return Contract((), stated=False)
    stated = any(one.dims is not None for one in wrapper.inputs) or not wrapper.inputs
    return Contract(wrapper.inputs, wrapper.symbols, wrapper.leaves, stated)


def check_call(
    contract: Contract,
    inputs: Sequence[Leaf],
    device_index: int | None = None,
    nesting: Sequence[Break] = (),
) -> list[Break]:
    """Return what is wrong with a call, described by one leaf an argument. The package was loaded
    with `device_index`, if it was named; `nesting` is what the probe found broken of the arguments'
    containers. What only the compiled checks would reject is harmless and comes last. Facts that a
    description lacks are not judged."""
    if not contract.stated and not contract.inputs:  # a package without its source
        return list(nesting)
    return held(nesting, inputs, lambda leaves: breaks(contract, leaves, device_index))


_ASKED = re.compile(r"L((?:\[[\w']{1,100}\]){1,8})\.size\(\)\[(\d{1,3})\]")
_GUARD_LIMIT = 2000
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def takes(sizes: Sizes, shapes: Sequence[tuple[int, ...] | None]) -> bool:
    """Tell whether inputs of these shapes keep all that a program asks; False if unknown."""
    if len(shapes) != len(sizes.inputs):
        return False
    known: dict[str, int] = {}
    given: dict[str, tuple[int, ...]] = {}
    for (name, declared), shape in zip(sizes.inputs, shapes, strict=True):
        if shape is None or len(shape) != len(declared):
            return False
        given[name] = shape
        for wanted, size in zip(declared, shape, strict=True):
            expected = known.setdefault(wanted, size) if isinstance(wanted, str) else wanted
            if expected != size:
                return False
    for name, size in known.items():
        low, high = sizes.bounds.get(name, (None, None))
        if (low is not None and size < low) or (high is not None and size > high):
            return False
    return all(_holds(guard, given) for guard in sizes.guards)


def _holds(guard: str, given: Mapping[str, tuple[int, ...]]) -> bool:
    """Evaluate a guard like `(L['x'].size()[0] % 8) == 0`; False where it asks something else."""

    def asked(match: re.Match[str]) -> str:
        name = "_".join(re.findall(r"\w+", match[1]))
        return str(given[name][int(match[2])])

    try:
        text = _ASKED.sub(asked, guard[: _GUARD_LIMIT + 1])
        return len(text) <= _GUARD_LIMIT and bool(_worth(parse_expression(text)))
    except (SyntaxError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError):
        return False


def _worth(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        found = _worth(node.operand)
        return not found if isinstance(node.op, ast.Not) else -found
    if isinstance(node, ast.BoolOp):
        every = all if isinstance(node.op, ast.And) else any
        return every([_worth(one) for one in node.values])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_worth(node.left), _worth(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _worth(node.left), _worth(node.comparators[0])
        return _OPERATORS[type(node.ops[0])](left, right)
    raise ValueError("more than sizes")
