"""Find by the source when a fixed script refuses a request, and its tables. Pure."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from aoti_debug.triage.source_text import every
from aoti_debug.verify.corrections import lookups
from aoti_debug.verify.script_source import (
    BUILTIN,
    FUNCTIONS,
    Flows,
    Source,
    assigned,
    called,
    callees,
    ends,
    features,
    loaded,
    name_of,
    own_nodes,
)

TELLING = frozenset(
    """
    print warn warning error critical exception info log write debug reject refuse send_error
    """.split()
)
LIBRARIES = ("torch", "math")
PACKAGE = ("aoti_", "load_package", "aot_load", "AOTIModel")  # what loads one
_MODELS = (*PACKAGE, "export", "nn.")
_TABLES = (ast.Dict, ast.List, ast.Tuple, ast.DictComp, ast.ListComp, ast.Call)
_PLAIN = (ast.Constant, ast.UnaryOp, ast.BinOp, *_TABLES)
_ORDERED = frozenset("Lt LtE Gt GtE In NotIn isin bucketize searchsorted".split())


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition of the fixed script's own under which a request goes no further."""

    text: str
    told: bool  # raised, printed or logged
    special: bool  # it asks which request it is, or for one value, not what kind of value it has
    ordered: bool  # it asks whether a value is within limits
    condition: str = ""  # the source of a function `refused` of one value, and that value's name
    name: str = ""


def refusals(old: Source, new: Source) -> Iterator[Refusal]:
    known = {_shape(node) for node in map(_conditional, old.nodes) if node is not None}
    tells = sum(_tells_itself(node) for node in new.nodes) > sum(map(_tells_itself, old.nodes))
    nodes = list(new.nodes)
    handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler)]
    for function in (node for node in nodes if isinstance(node, (*FUNCTIONS, ast.Module))):
        flows, counters = assigned([function]), _counters(function)
        for node in map(_conditional, own_nodes(function)):
            if node is None or _shape(node) in known:
                continue
            last = node.body[-1]
            told = any(map(_tells, node.body)) or _is_reason(last, function, old)
            if isinstance(last, ast.Raise):
                kind = called(last.exc) if last.exc is not None else ""
                told = all(_told(one, tells) for one in handlers if _catches(one, kind))
            elif not (isinstance(last, (ast.Continue, ast.Return)) or ends(node.body)):
                filters = isinstance(last, ast.Assign) and isinstance(last.value, ast.ListComp)
                if not filters:
                    continue
            used = loaded(node.test) - counters
            parts: list[ast.AST] = [node.test, *(v for n in used for v in flows.get(n, []))]
            parts += [one for n in callees(node.test) for one in new.named.get(n, [])]
            yield Refusal(
                ast.unparse(node.test)[:80],
                told,
                _special(parts, counters),
                any(word in _ORDERED for part in parts for _, word in features(part))
                or bool(lookups(node.test, old)),
                *_condition(node.test, flows, new, _parameters(function) - flows.keys()),
            )


def _conditional(node: ast.AST) -> ast.If | None:
    """Return a condition, as which an assertion counts."""
    if isinstance(node, ast.Assert):
        error = ast.Raise(exc=ast.Name("AssertionError", ast.Load()))
        return ast.If(test=ast.UnaryOp(ast.Not(), node.test), body=[error], orelse=[])
    return node if isinstance(node, ast.If) else None


def tables(source: Source) -> Iterator[str]:
    """Yield the source of a function `table` for each that a script has, with all that it needs."""
    for function in (node for node in source.nodes if isinstance(node, (*FUNCTIONS, ast.Module))):
        flows = assigned([function])
        for value in (values[0] for values in flows.values() if len(values) == 1):
            parts, own, free = _closed(value, flows, source)
            text = [*parts, "def table():", *own, f"    return {ast.unparse(value)}"]
            models = any(word in line for line in text for word in _MODELS)
            if isinstance(value, _TABLES) and not free and not models:
                yield "\n".join(text) + "\n"


def _parameters(function: ast.AST) -> set[str]:
    """Return the names that a function is given, whatever the module has by these names."""
    given = function.args if isinstance(function, FUNCTIONS) else None
    return {node.arg for node in every(given, ast.arg)} if given else set()


def _condition(
    test: ast.expr, flows: Flows, source: Source, parameters: set[str]
) -> tuple[str, str]:
    """Return a condition as a function of its one free name, and that name, if there is one."""
    read = {name for name, given in flows.items() if {*map(called, given)} & source.named.keys()}
    own_names = {*_names(test)} & flows.keys()
    # What a function of the script reads may be the one name, or what the test itself names.
    for given in (set[str](), read, own_names):
        parts, own, free = _closed(test, flows, source, given | parameters)
        if len(free) == 1:
            name = free.pop()
            lines = [*parts, f"def refused({name}):", *own, f"    return {ast.unparse(test)}"]
            return "\n".join(lines) + "\n", name
    return "", ""


def _closed(
    test: ast.expr, flows: Flows, source: Source, given: Collection[str] = ()
) -> tuple[list[str], list[str], set[str]]:
    """Return the lines before a function of an expression, those in it, and the free names."""
    parts: list[str] = []
    wanted, seen, free = [*_names(test)], set[str](), set[str]()
    own: list[str] = []
    while wanted:
        name = wanted.pop(0)
        if name in seen or name in BUILTIN:
            continue
        seen.add(name)
        if name in given:
            free.add(name)
            continue
        values = source.values.get(name, [])
        local = flows.get(name, [])
        if name in source.imported:
            parts.insert(0, f"import {name}") if name in LIBRARIES else free.add(name)
        elif len(local) == 1 and not isinstance(local[0], ast.Starred):  # of a loop's elements
            own.insert(0, f"    {name} = {ast.unparse(local[0])}")
            wanted += _names(local[0])
        elif local:
            free.add(name)
        elif name in source.named and isinstance(source.named[name][0], FUNCTIONS):
            function = source.named[name][0]
            parts.append(ast.unparse(function))
            wanted += _names(function)
        elif len(values) == 1 and isinstance(values[0], _PLAIN):
            parts.insert(0, f"{name} = {ast.unparse(values[0])}")
            wanted += _names(values[0])
        else:
            free.add(name)
    return parts, own, free


def _names(node: ast.AST) -> list[str]:
    """Return the names that an expression or a function reads and does not give itself."""
    given = {one.id for one in every(node, ast.Name) if isinstance(one.ctx, ast.Store)}
    return sorted(loaded(node) - given - {one.arg for one in every(node, ast.arg)})


def _is_reason(last: ast.stmt, function: ast.AST, old: Source) -> bool:
    """Tell whether a function returns why something is refused, as it did for other reasons."""
    was = [node for one in old.named.get(name_of(function), []) for node in own_nodes(one)]
    return _is_text(last) and any(map(_is_text, was))


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Return) else None
    constant = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return constant or isinstance(value, ast.JoinedStr)


def _shape(node: ast.If) -> str:
    """Return a condition without the names of its variables, and what is done last under it."""
    test, names = copy.deepcopy(node.test), dict[str, str]()
    for one in every(test, ast.Name):
        one.id = names.setdefault(one.id, f"_{len(names)}")
    return f"{ast.unparse(test)}: {ast.unparse(node.body[-1])}"


def _tells_itself(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called(node).lower() in TELLING


def _tells(node: ast.AST) -> bool:
    return any(name.lower() in TELLING for name in callees(node))


def _told(handler: ast.ExceptHandler, tells: bool) -> bool:
    """Tell whether a handler says what it caught, or keeps it where the fix also `tells` more."""
    if tells and handler.name and any(handler.name in loaded(one) for one in handler.body):
        return True
    again = any(every(one, ast.Raise) for one in handler.body)
    answers = any(node.value is not None for one in handler.body for node in every(one, ast.Return))
    return again or answers or any(map(_tells, handler.body))


def _catches(handler: ast.ExceptHandler, kind: str) -> bool:
    caught = loaded(handler.type) if handler.type is not None else {kind}
    return bool(caught & {kind, "Exception", "BaseException"})


def _counters(function: ast.AST) -> set[str]:
    """Return the names that count requests."""
    found: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            target, name = node.target, called(node.iter)
            if name == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[0]
            if name in ("enumerate", "range") and isinstance(target, ast.Name):
                found.add(target.id)
    return found


def _special(parts: Sequence[ast.AST], counters: set[str]) -> bool:
    """Tell whether a condition asks for a request's number, or whether it is a certain one."""
    names = loaded(parts[0])
    if names & counters or {"equal", "id", "hash"} & {n for p in parts for n in callees(p)}:
        return True
    compares = (node for part in parts for node in every(part, ast.Compare))
    equals = (node for node in compares if isinstance(node.ops[0], ast.Eq))
    sides = (side for node in equals for side in (node.left, *node.comparators))
    return any(isinstance(s, ast.Constant) and s.value not in (0, None, "") for s in sides)
