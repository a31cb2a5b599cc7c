"""Cut the definition of custom operators out of the files that hold them.

A file of the user's is cut to the top-level statements that register an operator of a namespace
and to what those need: imports, constants, functions. Where a name is computed (an f-string, a
loop, a decorator), torch knows the lines that registered it.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any

from . import custom_ops, events
from .lazy import torch
from .python_source import parse

Document = dict[str, Any]

_REGISTERING = frozenset(
    """
    define impl register_fake register_kernel register_autograd impl_abstract _register_fake
    load_inline load_library load register_lowering Library custom_op triton_op
    register_torch_dispatch register_vmap
    """.split()
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_USES = frozenset(
    """
    export aoti_compile_and_package aoti_load_package aot_compile aot_load load_package compile
    """.split()
)
_KEYS = ("CPU", "CUDA", "XPU", "Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_IN_PLACE = re.compile(r"[a-z0-9]_$")
_LINE = re.compile(r"registered at (.{1,4096}?\.py):(\d+)")


def writing_line(target: Any, argument: str) -> int | None:
    """Return the first line of a Python operator that writes to an argument; None where none is
    seen to, by its name."""
    found = [line for line, node in _nodes(target) if _writes(node, argument)]
    return min(found, default=None)


def returning_line(target: Any, argument: str) -> int | None:
    """Return the last line of a Python operator that returns an argument as it is, else a part of
    it; where none does so by its name, the last that returns."""
    returns = [(line, node.value) for line, node in _nodes(target) if isinstance(node, ast.Return)]
    given = [(line, value) for line, value in returns if value is not None]
    whole = [line for line, value in given if _is_name(value, argument)]
    part = [line for line, value in given if _is_name(root_of(value), argument)]
    return max(whole or part or [line for line, _ in returns], default=None)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _nodes(target: Any) -> list[tuple[int, ast.AST]]:
    """Return the statements and expressions of a Python operator, each with its line."""
    function = custom_ops.function_of(target)
    if function is None:
        return []
    try:
        lines, first = inspect.getsourcelines(function)
        tree = parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    nodes = (node for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.expr)))
    return [(first + node.lineno - 1, node) for node in nodes]


def _writes(node: ast.AST, name: str) -> bool:
    """Tell whether a node assigns in place to a name, or calls what does."""
    written: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        written = [one for one in node.targets if isinstance(one, ast.Subscript)]
    elif isinstance(node, ast.AugAssign):
        written = [node.target]
    elif isinstance(node, ast.Call):
        written = [word.value for word in node.keywords if word.arg == "out"]
        called = node.func
        if isinstance(called, ast.Attribute) and _IN_PLACE.search(called.attr):
            written.append(called.value)
    roots = [root_of(one) for one in written]
    return any(_is_name(root, name) for root in roots)


def root_of(node: ast.expr) -> ast.expr:
    """Return what an attribute, an element or the call of a method is of."""
    while True:
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return node


def sources(graph: Any) -> list[Document]:
    """Return for each foreign namespace that the graph uses its source, or why there is none.

    `source` is cut to the operators, `wider` is the whole file up to the first use of a model.
    """
    used = _used_operators(graph)
    namespaces = {str(target).split(".")[0] for target in used}
    groups = [one for one in custom_ops.namespaces() if one["namespace"] in namespaces]
    sites = [one for one in custom_ops.sites if one.op.split("::")[0] in namespaces]
    known = {one["file"] for one in groups}
    for site in sites:  # a fake kernel may be in another file, an operator behind a decorator
        namespace = site.op.split("::")[0]
        for file in {file for file, _ in site.lines} - known:
            known.add(file)
            groups.append({"namespace": namespace, "file": file, "module": None})
    found = []
    for group in groups:
        file = group["file"]
        lines = _lines_of(used, file)
        lines |= {line for one in sites for path, line in one.lines if path == file}
        calls = [one.call for one in sites if one.call and one.file == file]
        source = _source(file, group["namespace"], lines)
        for key in ("source", "wider"):
            if source[key] is not None:
                source[key] += "".join(f"{call}()\n" for call in dict.fromkeys(calls))
        found.append({**group, **source})
    return found


def registered(names: list[str]) -> dict[str, list[str]]:
    """Return what is registered of each operator: overloads, and what has a kernel. Two processes
    in which this is the same define the operator alike, as far as torch can tell."""
    found = {}
    for name in names:
        namespace, _, own = name.partition("::")
        packet = getattr(getattr(torch.ops, namespace), own, None)
        if packet is None:
            continue
        own_names = [getattr(packet, one).name() for one in packet.overloads()]
        entries = [torch._library.simple_registry.singleton.find(one) for one in own_names]
        fake = any(getattr(getattr(one, "fake_impl", None), "kernel", None) for one in entries)
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        keys = [key for key in _KEYS if any(has(one, key) for one in own_names)]
        schemas = [str(getattr(packet, one)._schema) for one in packet.overloads()]
        found[name] = [*sorted(schemas), *keys, *(["fake"] if fake else [])]
    return found


def operators(graph: Any) -> list[str]:
    """Return the foreign operators that the graph uses, as NAMESPACE::NAME."""
    foreign = {group["namespace"] for group in custom_ops.namespaces()}
    names = {str(target._schema.name) for target in _used_operators(graph)}
    return sorted(name for name in names if name.split("::")[0] in foreign)


def _used_operators(graph: Any) -> set[Any]:
    overload = torch._ops.OpOverload
    return {n.target for n in graph.nodes if isinstance(n.target, overload)}


def _lines_of(used: set[Any], file: str | None) -> set[int]:
    """Return the lines of a file in which an operator that is used is defined or registered."""
    found: set[int] = set()
    for target in used:
        dump = str(torch._C._dispatch_dump(target.name()))
        found |= {int(line) for path, line in _LINE.findall(dump) if path == file}
        found |= {line for path, line in custom_ops.places(target).values() if path == file}
    return found


def _source(file: str | None, namespace: str, lines: set[int]) -> Document:
    if file is None or not file.endswith(".py"):
        return {"source": None, "wider": None, "why_not": "it is registered by compiled code"}
    try:
        text = Path(file).read_text("utf-8")
        return {"source": cut(text, namespace, lines), "wider": before_use(text), "why_not": None}
    except (OSError, SyntaxError, ValueError) as error:
        return {"source": None, "wider": None, "why_not": events.said(error)}


def before_use(text: str) -> str:
    """Return a file up to the statement that first exports, compiles or loads a model."""
    lines = text.splitlines()
    kept: list[str] = []
    for statement in parse(text).body:
        plain = not isinstance(statement, (*_DEFINITIONS, ast.ClassDef, ast.Import, ast.ImportFrom))
        calls = [_name(node) for node in ast.walk(statement) if isinstance(node, ast.Call)]
        if plain and any(name in _USES for name in calls) and not _is_main(statement):
            break
        kept += [] if _is_main(statement) else _lines(lines, statement)
    return "\n".join(kept) + "\n"


def cut(text: str, namespace: str, places: Collection[int] = ()) -> str:
    """Return the statements that register operators of `namespace`, or that hold one of the lines
    which did, with what they need."""
    statements = parse(text).body
    binds = [_bound(statement) for statement in statements]
    uses = [_used(statement) for statement in statements]
    kept = {n for n, s in enumerate(statements) if _registers(s, namespace)}
    kept |= {
        n
        for n, s in enumerate(statements)
        if not _is_main(s) and any(_first(s) <= line <= (s.end_lineno or 0) for line in places)
    }
    kept |= {n for n, s in enumerate(statements) if getattr(s, "module", "") == "__future__"}
    while True:
        own = (n for n in kept if not isinstance(statements[n], (ast.Import, ast.ImportFrom)))
        names = set().union(*(binds[n] for n in own))
        needed = set().union(*(uses[n] for n in kept))
        more = {
            n
            for n, statement in enumerate(statements)
            if n not in kept
            and (binds[n] & needed or (uses[n] & names and _is_registration(statement)))
        }
        if not more:
            break
        kept |= more
    lines = text.splitlines()
    return "\n".join("\n".join(_lines(lines, statements[n])) for n in sorted(kept)) + "\n"


def _lines(lines: list[str], statement: ast.stmt) -> list[str]:
    return [*lines[_first(statement) - 1 : statement.end_lineno], ""]


def _first(statement: ast.stmt) -> int:
    """Return the line that a statement begins in, with its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _registers(statement: ast.stmt, namespace: str) -> bool:
    """Tell whether a statement registers something of the namespace, by what it names."""
    if isinstance(statement, ast.ClassDef) or not _is_registration(statement):
        return False
    for node in ast.walk(statement):
        value = node.value if isinstance(node, ast.Constant) else None
        parts = (f"{namespace}::", f"TORCH_LIBRARY({namespace}")
        if isinstance(value, str) and (value == namespace or any(one in value for one in parts)):
            return True
        if isinstance(node, ast.Attribute) and node.attr == namespace:
            return True
    return False


def _is_registration(statement: ast.stmt) -> bool:
    """Tell whether a statement calls, or is decorated with, what registers operators."""
    if isinstance(statement, _DEFINITIONS):
        heads: list[ast.expr] = list(statement.decorator_list)
    elif isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)):
        heads = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
        value = statement.value
        if isinstance(value, ast.Constant) and "TORCH_LIBRARY" in str(value.value):
            return True
    elif isinstance(statement, (ast.If, ast.Try, ast.With)):
        return not _is_main(statement) and any(map(_is_registration, statement.body))
    else:
        return False
    return any(_name(head) in _REGISTERING for head in heads)


def _is_main(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement))


def _name(head: ast.expr) -> str:
    head = head.func if isinstance(head, ast.Call) else head
    if isinstance(head, ast.Attribute):
        return head.attr
    return head.id if isinstance(head, ast.Name) else ""


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement binds."""
    found: set[str] = set()
    if isinstance(statement, (*_DEFINITIONS, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return _imported(statement)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.Try, ast.If)):
        if _is_main(statement):
            return found
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= _imported(node)
    return found


def _imported(statement: ast.Import | ast.ImportFrom) -> set[str]:
    return {(one.asname or one.name).split(".")[0] for one in statement.names}


def _used(node: ast.AST, bound: frozenset[str] = frozenset()) -> set[str]:
    """Return the names that are read and are no parameter where they are."""
    if isinstance(node, ast.Name):
        return {node.id} - bound if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, (*_DEFINITIONS, ast.Lambda)):
        bound = bound | {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
    return set().union(*(_used(child, bound) for child in ast.iter_child_nodes(node)))
