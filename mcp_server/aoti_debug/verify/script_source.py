"""What a script's source holds: its checks, what names are given, what an expression does. Pure."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aoti_debug.triage.source_text import FUNCTIONS as FUNCTIONS
from aoti_debug.triage.source_text import every
from aoti_debug.triage.source_text import name_of as identifier

ADDING = ("append", "add", "extend")
ENDING = frozenset(("exit", "_exit", "quit", "abort", "fail"))
JUDGING = frozenset(
    "isfinite isnan isinf allclose isclose assert_close assert_allclose equal".split()
)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Flows = Mapping[str, Sequence[ast.expr]]
BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class MadeCheck:
    test: ast.expr
    around: tuple[str, ...]  # conditions that it stands under
    function: ast.AST  # or the module
    does: frozenset[str] = frozenset()  # raise, return, or the functions that it calls
    collects: frozenset[str] = frozenset()  # names of what it adds to
    lines: tuple[int, int] = (0, 0)  # first and last
    ends: bool = True  # by itself, or it looks at results; else by what it collects
    holding: str = ""  # what a test may be where it holds and so ends nothing; "" it ends nothing


@dataclass(slots=True)
class Source:
    """The parsed files of a script."""

    trees: list[ast.Module]
    named: dict[str, list[Definition]] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)  # of modules
    imported: set[str] = field(default_factory=set)
    checks: list[MadeCheck] = field(default_factory=list)

    @property
    def nodes(self) -> Iterator[ast.AST]:
        return (node for tree in self.trees for node in ast.walk(tree))

    @property
    def fixed(self) -> set[str]:
        return {*self.named, *self.imported, *BUILTIN}

    @property
    def known(self) -> set[str]:
        return self.fixed | self.values.keys()

    def __post_init__(self) -> None:
        for tree in self.trees:
            for node in ast.walk(tree):
                if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    self.named.setdefault(node.name, []).append(node)
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    self.imported |= {(a.asname or a.name).partition(".")[0] for a in node.names}
            own = [node for node in tree.body if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
            for name, values in assigned(own).items():
                self.values.setdefault(name, []).extend(values)
            self.checks += _checks(tree.body, (), tree)
        asked = {name for one in self.checks if one.ends for name in loaded(one.test)}
        self.checks = [one for one in self.checks if one.ends or one.collects & asked]


def _checks(
    body: Sequence[ast.stmt], around: tuple[str, ...], within: ast.AST
) -> Iterator[MadeCheck]:
    """Yield the assertions and the conditions of errors and exits, except those of models."""
    for node in body:
        lines = node.lineno, node.end_lineno or node.lineno
        if isinstance(node, ast.Assert):
            yield MadeCheck(node.test, around, within, lines=lines, holding="True")
        elif isinstance(node, ast.If):
            text = ast.unparse(node.test)
            done = _done(node.body)
            alone = bool(JUDGING & callees(node.test)) or ends(node.body)
            if alone or done[1]:
                holding = "False" if ends(node.body) else ""
                yield MadeCheck(node.test, around, within, *done, lines, alone, holding)
            if not ends(node.body):
                yield from _checks(node.body, (*around, text), within)
            yield from _checks(node.orelse, (*around, f"not {text}"), within)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if called(node.value).startswith("assert"):
                yield MadeCheck(node.value, around, within, lines=lines, holding="None")
        elif isinstance(node, ast.ClassDef):
            if not any("Module" in ast.unparse(base) for base in node.bases):
                yield from _checks(node.body, (), within)
        elif isinstance(node, FUNCTIONS):
            yield from _checks(node.body, (), node)
        else:
            for part in ("body", "orelse", "finalbody"):
                yield from _checks(getattr(node, part, []), around, within)


def _done(body: Sequence[ast.stmt]) -> tuple[frozenset[str], frozenset[str]]:
    """Return what is done where a condition holds, and the names of what is added to."""
    does, collects = set[str](), set[str]()
    for node in body:
        if isinstance(node, (ast.Raise, ast.Return, ast.AugAssign)):
            does.add(type(node).__name__)
        if isinstance(node, ast.AugAssign):
            collects |= loaded(node.target)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = called(node.value)
            if name in (*ENDING, *ADDING):
                does.add(name)
            if isinstance(node.value.func, ast.Attribute):
                collects |= loaded(node.value.func.value)
    return frozenset(does), frozenset(collects)


def ends(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Return):
        value = last.value
        return isinstance(value, ast.Constant) and type(value.value) is int and value.value != 0
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(last, ast.Raise) or (isinstance(call, ast.Call) and called(call) in ENDING)


def called(node: ast.AST) -> str:
    return identifier(node.func if isinstance(node, ast.Call) else node)


def features(*nodes: ast.AST) -> Counter[tuple[str, str]]:
    """Count what an expression does: operators, numbers, attributes, functions."""
    found: Counter[tuple[str, str]] = Counter()
    for node in (part for one in nodes for part in ast.walk(one)):
        if isinstance(node, ast.Compare):
            found.update(("choice", type(operator).__name__) for operator in node.ops)
        elif isinstance(node, (ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp)):
            choice = getattr(node, "op", node)
            if not isinstance(choice, (ast.USub, ast.UAdd)):
                found["choice", type(choice).__name__] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            kind = "choice" if isinstance(node.value, bool) else "number"
            found[kind, repr(node.value)] += 1
        elif isinstance(node, ast.Attribute):
            found["name", node.attr] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found["name", node.func.id] += 1
    return found


def assigned(body: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return the expressions that names, their elements and additions get in a body."""
    found: dict[str, list[ast.expr]] = {}

    def give(target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = _values(value, len(target.elts))
            for place, one in enumerate(target.elts):
                give(one, values[place] if values else value)
        while isinstance(target, (ast.Subscript, ast.Starred)):
            target = target.value
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)

    wanted = [*body]
    outer = set(map(id, wanted))
    while wanted:
        node = wanted.pop(0)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                give(target, node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value:
            give(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            give(node.target, ast.Starred(node.iter))
        elif isinstance(node, ast.Call) and called(node) in ADDING and node.args:
            give(getattr(node.func, "value", node.func), node.args[-1])
        if id(node) in outer or not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            wanted += ast.iter_child_nodes(node)
    return found


def with_parameters(function: ast.AST, source: Source) -> Flows:
    """Return what a function's names are given, parameters by way of its callers."""
    found = assigned([function])
    if not isinstance(function, FUNCTIONS):
        return found
    names = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
    passed: dict[str, list[ast.expr]] = {}
    for caller in [*source.trees, *(one for each in source.named.values() for one in each)]:
        every_call = (node for node in own_nodes(caller) if isinstance(node, ast.Call))
        calls = [call for call in every_call if called(call) == function.name]
        for call in calls:
            for name, value in zip(names, call.args, strict=False):
                passed.setdefault(name, []).append(value)
            for word in call.keywords:
                passed.setdefault(word.arg or "", []).append(word.value)
        for name, values in assigned([caller]).items() if calls else ():
            passed.setdefault(name, []).extend(values)
    return {**passed, **found}


def _values(value: ast.expr, count: int) -> Sequence[ast.expr]:
    """Return what each target is given, from a tuple, `zip` or `enumerate`, if that is known."""
    if isinstance(value, ast.Tuple):
        return value.elts if len(value.elts) == count else ()
    items = value.value if isinstance(value, ast.Starred) else None
    if not isinstance(items, ast.Call) or not items.args:
        return ()
    each = [ast.Starred(one, ast.Load()) for one in items.args]
    if called(items) == "enumerate" and count == 2:
        return [ast.Name("enumerate", ast.Load()), each[0]]
    return each if called(items) == "zip" and len(each) == count else ()


def name_of(node: ast.AST) -> str:
    return getattr(node, "name", "")


def loaded(node: ast.AST) -> set[str]:
    return {one.id for one in every(node, ast.Name)}


def callees(node: ast.AST) -> set[str]:
    return {called(one) for one in every(node, ast.Call)}


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    wanted = [*ast.iter_child_nodes(function)]
    while wanted:
        node = wanted.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            wanted += ast.iter_child_nodes(node)
