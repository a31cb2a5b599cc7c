"""Hold the checks of a fixed script against those it made before, by its source. Pure."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# What takes a bad value out of sight on its way to a check.
HIDING = frozenset(
    "nan_to_num nanmean nansum nanmedian isnan masked_fill where clamp clip fillna fill_".split()
)
COMPARING = frozenset(
    "allclose equal isclose assert_close assert_allclose assert_array_equal eq sub abs".split()
)
TELLING = frozenset(
    """
    print warn warning error critical exception info log write debug reject refuse send_error
    """.split()
)
PACKAGE = ("aoti_", "load_package", "aot_load", "AOTIModel")  # what loads one
ENDING = frozenset(("exit", "_exit", "quit", "abort", "fail"))
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LIBRARIES = ("torch", "math")
_BUILTIN = frozenset(dir(builtins))
_ORDERED = frozenset("Lt LtE Gt GtE In NotIn isin bucketize searchsorted".split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition of the fixed script's own under which a request goes no further."""

    text: str
    told: bool  # raised, printed or logged
    special: bool  # it asks which request it is, or for one value, not what kind of value it has
    ordered: bool  # it asks whether a value is within limits
    condition: str = ""  # the source of a function `refused` of one value, and that value's name
    name: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a fix changed of the checks; `compared`: one of them holds results against something
    that is computed as it was before."""

    weakened: tuple[str, ...] = ()
    compared: bool = False
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class _Check:
    test: ast.expr
    around: tuple[str, ...]  # conditions that it stands under
    function: ast.AST  # or the module


@dataclass(slots=True)
class _Source:
    """The parsed files of a script."""

    trees: list[ast.Module]
    named: dict[str, list[Definition]] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)  # of modules
    imported: set[str] = field(default_factory=set)
    checks: list[_Check] = field(default_factory=list)

    @property
    def known(self) -> set[str]:
        return {*self.named, *self.values, *self.imported, *_BUILTIN}

    def __post_init__(self) -> None:
        for tree in self.trees:
            for node in ast.walk(tree):
                if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                    self.named.setdefault(node.name, []).append(node)
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    self.imported |= {(a.asname or a.name).partition(".")[0] for a in node.names}
            for name, values in _assigned(tree.body).items():
                self.values.setdefault(name, []).extend(values)
            self.checks += _checks(tree.body, (), tree)


def changes(before: Iterable[str], after: Iterable[str]) -> Changes:
    """Compare the sources of a script's files before and after a fix; nothing is known of a file
    that is no Python."""
    try:
        old, new = (_Source([ast.parse(text) for text in texts]) for texts in (before, after))
        found = [_weakened(check, old, new) for check in old.checks]
        weakened = [*filter(None, found), *_replaced(old, new)]
        pairs = zip(old.checks, found, strict=True)
        compared = any(not weak and _compared(check, old, new) for check, weak in pairs)
        return Changes(tuple(dict.fromkeys(weakened)), compared, tuple(_refusals(old, new)))
    except (SyntaxError, ValueError, RecursionError):
        return Changes()


def _checks(body: Sequence[ast.stmt], around: tuple[str, ...], within: ast.AST) -> Iterator[_Check]:
    """Yield what a script asserts, and the conditions under which it raises or exits; a model's own
    are part of the model."""
    for node in body:
        if isinstance(node, ast.Assert):
            yield _Check(node.test, around, within)
        elif isinstance(node, ast.If):
            text = ast.unparse(node.test)
            if _ends(node.body):
                yield _Check(node.test, around, within)
            else:
                yield from _checks(node.body, (*around, text), within)
            yield from _checks(node.orelse, (*around, f"not {text}"), within)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if _called(node.value).startswith("assert"):
                yield _Check(node.value, around, within)
        elif isinstance(node, ast.ClassDef):
            if not any("Module" in ast.unparse(base) for base in node.bases):
                yield from _checks(node.body, (), within)
        elif isinstance(node, _FUNCTIONS):
            yield from _checks(node.body, (), node)
        else:
            for part in ("body", "orelse", "finalbody"):
                yield from _checks(getattr(node, part, []), around, within)


def _ends(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    return isinstance(last, ast.Raise) or (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and _called(last.value) in ENDING
    )


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _features(*nodes: ast.AST) -> Counter[tuple[str, str]]:
    """Count what an expression does: operators, numbers, attributes, functions."""
    found: Counter[tuple[str, str]] = Counter()
    for node in (part for one in nodes for part in ast.walk(one)):
        if isinstance(node, ast.Compare):
            found.update(("choice", type(operator).__name__) for operator in node.ops)
        elif isinstance(node, (ast.BoolOp, ast.UnaryOp)) and not isinstance(
            getattr(node, "op", None), (ast.USub, ast.UAdd)
        ):
            found["choice", type(node.op).__name__] += 1
        elif isinstance(node, (ast.IfExp, ast.BinOp)):
            found["choice", type(getattr(node, "op", node)).__name__] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            found["number", repr(node.value)] += 1
        elif isinstance(node, ast.Attribute):
            found["name", node.attr] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found["name", node.func.id] += 1
    return found


def _weaker(before: ast.AST, after: ast.AST) -> bool:
    """Tell whether an expression lacks something, chooses more, or hides values."""
    one, other = _features(before), _features(after)
    added = other - one
    hides = any(kind == "name" and name in HIDING for kind, name in added)
    return bool(one - other) or hides or any(kind == "choice" for kind, _ in added)


def _weakened(check: _Check, old: _Source, new: _Source) -> str:
    """Say what became of a check; nothing where it is made as before."""
    said = ast.unparse(check.test)[:80]
    alike = [one for one in new.checks if not _weaker(check.test, one.test)]
    alike = [one for one in alike if len(one.around) <= len(check.around)]
    if not alike:
        return f"the script's check is another or gone: {said}"
    same = [one for one in alike if ast.unparse(one.test) == ast.unparse(check.test)]
    now = min(same or alike, key=lambda one: _name_of(one.function) != _name_of(check.function))
    for name in sorted(_callees(check.test) & old.named.keys()):
        was, becomes = (_checking(source.named.get(name, [])) for source in (old, new))
        if was and not any(not _weaker(was[0], one) for one in becomes):
            return f"the script's check calls {name}, which is another"
    flows, flown = _assigned([check.function]), _assigned([now.function])
    for name in sorted(_loaded(check.test) & flows.keys() & flown.keys()):
        if _diverted(flows[name], flown[name]):
            return f"the script's check looks at another {name}: {said}"
    return ""


def _name_of(node: ast.AST) -> str:
    return getattr(node, "name", "")


def _checking(found: Sequence[Definition]) -> list[Definition]:
    """Return the functions that judge values, not those that compute them."""
    judging = ("isfinite", "isnan", "all", "any", *COMPARING)
    return [one for one in found if any(("name", name) in _features(one) for name in judging)]


def _diverted(before: Sequence[ast.expr], after: Sequence[ast.expr]) -> bool:
    """Tell whether a name that a check looks at comes from something else now."""
    if len(after) > len(before):
        return True
    pairs = zip(before, after, strict=False)
    return any(_weaker(one, other) or _loaded(one) - _loaded(other) for one, other in pairs)


def _assigned(body: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return the expressions that names are given in a function or module, elements as well."""
    found: dict[str, list[ast.expr]] = {}

    def give(target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            values = value.elts if isinstance(value, ast.Tuple) and same else None
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
        if id(node) in outer or not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            wanted += ast.iter_child_nodes(node)
    return found


def _loaded(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _callees(node: ast.AST) -> set[str]:
    return {_called(one) for one in ast.walk(node) if isinstance(one, ast.Call)}


def _replaced(old: _Source, new: _Source) -> Iterator[str]:
    """Say which functions of a library the fix replaces, and which names of a check it takes."""
    known = {ast.unparse(node) for tree in old.trees for node in ast.walk(tree)}
    for node in (node for tree in new.trees for node in ast.walk(tree)):
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Call) and _called(node) in ("setattr", "patch", "object"):
            targets, value = node.args[:1], ast.Name("patched")
        for target in targets:
            root = target
            while isinstance(root, ast.Attribute):
                root = root.value
            library = isinstance(root, ast.Name) and root.id in new.imported
            whole = root is target and not isinstance(node, ast.Call)
            computed = isinstance(value, (ast.Lambda, ast.Name, ast.Attribute))
            if library and computed and not whole and ast.unparse(node) not in known:
                yield f"the fix replaces {ast.unparse(target)}"
    used = {name for check in old.checks for name in _callees(check.test) | _loaded(check.test)}
    names = {*new.named, *new.values} - {*old.named, *old.values}
    for name in sorted(names & used & {*old.imported, *_BUILTIN, *COMPARING}):
        yield f"the fix gives {name} another meaning"


def _compared(check: _Check, old: _Source, new: _Source) -> bool:
    """Tell whether a check compares, and with something that is computed as before."""
    compares = _callees(check.test) & COMPARING or any(
        isinstance(node, ast.Compare) for node in ast.walk(check.test)
    )
    names = _loaded(check.test) - old.imported - {"abs", "len", "float", "max", "min"}
    flows = _assigned([check.function])
    if not compares or len(names & flows.keys()) < 2:
        return False
    function = next((one for one in new.named.get(_name_of(check.function), [])), new.trees[0])
    for name in names & flows.keys():
        was = _closure(name, check.function, old)
        own = any(word in text for text in was for word in PACKAGE)
        if not own and any("(" in t for t in was) and was == _closure(name, function, new):
            return True
    return False


def _closure(name: str, function: ast.AST, source: _Source) -> set[str]:
    """Return the text of all that a name is computed by; nothing where that is not all known."""
    flows = _assigned([function])
    found: set[str] = set()
    wanted, seen, direct, classes = [name], set[str](), False, list[ast.ClassDef]()
    while wanted:
        one = wanted.pop()
        if one in seen:
            continue
        seen.add(one)
        parts: list[ast.AST] = [*flows.get(one, source.values.get(one, []))]
        for definition in source.named.get(one, []):
            if isinstance(definition, ast.ClassDef):
                classes.append(definition)
                parts += [node for node in definition.body if _name_of(node) == "__init__"]
            elif one not in ("forward", "__call__", "__init__"):
                parts.append(definition)
        for part in parts:
            found.add(ast.unparse(part))
            nodes = [*ast.walk(part)]
            wanted += _loaded(part) | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
            called = [n.func for n in nodes if isinstance(n, ast.Call)]
            plain = {n.id for n in called if isinstance(n, ast.Name)}
            own = {n.attr for n in called if isinstance(n, ast.Attribute) and _is_self(n.value)}
            if (plain - flows.keys() - source.known) | (own - source.known):
                return set()  # what is called is not known
            direct = direct or bool(plain & (flows.keys() | source.values.keys()))
    for definition in classes if direct else []:
        for method in definition.body:
            if isinstance(method, _FUNCTIONS) and method.name in ("forward", "__call__"):
                found.add(ast.unparse(method))
    return found


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _refusals(old: _Source, new: _Source) -> Iterator[Refusal]:
    known = {ast.unparse(n.test) for t in old.trees for n in ast.walk(t) if isinstance(n, ast.If)}
    nodes = [node for tree in new.trees for node in ast.walk(tree)]
    handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler)]
    for function in (node for node in nodes if isinstance(node, (*_FUNCTIONS, ast.Module))):
        flows, counters = _assigned([function]), _counters(function)
        for node in _own(function):
            if not isinstance(node, ast.If) or ast.unparse(node.test) in known:
                continue
            last = node.body[-1]
            told = any(_tells(one) for one in node.body)
            if isinstance(last, ast.Raise):
                kind = _called(last.exc) if last.exc is not None else ""
                told = all(map(_told, (one for one in handlers if _catches(one, kind))))
            elif not (isinstance(last, (ast.Continue, ast.Return)) or _ends(node.body)):
                filters = isinstance(last, ast.Assign) and isinstance(last.value, ast.ListComp)
                if not filters:
                    continue
            used = _loaded(node.test) - counters
            parts: list[ast.AST] = [node.test, *(v for n in used for v in flows.get(n, []))]
            parts += [one for n in _callees(node.test) for one in new.named.get(n, [])]
            yield Refusal(
                ast.unparse(node.test)[:80],
                told,
                _special(parts, counters),
                any(word in _ORDERED for part in parts for _, word in _features(part)),
                *_condition(node.test, flows, new),
            )


def _condition(
    test: ast.expr, flows: Mapping[str, Sequence[ast.expr]], source: _Source
) -> tuple[str, str]:
    """Return a condition as a function of the one name that its script does not define, with all
    that it needs, and that name; nothing where there is not one."""
    parts: list[str] = []
    wanted, seen, free = [*_names(test)], set[str](), set[str]()
    own: list[str] = []
    while wanted:
        name = wanted.pop(0)
        if name in seen or name in _BUILTIN:
            continue
        seen.add(name)
        values = source.values.get(name, [])
        local = flows.get(name, [])
        if name in source.imported:
            parts.insert(0, f"import {name}") if name in LIBRARIES else free.add(name)
        elif len(local) == 1 and not _loops(local[0]):
            own.insert(0, f"    {name} = {ast.unparse(local[0])}")
            wanted += _names(local[0])
        elif local:
            free.add(name)
        elif name in source.named and isinstance(source.named[name][0], _FUNCTIONS):
            function = source.named[name][0]
            parts.append(ast.unparse(function))
            wanted += _names(function)
        elif len(values) == 1 and isinstance(values[0], (ast.Constant, ast.UnaryOp, ast.BinOp)):
            parts.insert(0, f"{name} = {ast.unparse(values[0])}")
            wanted += _names(values[0])
        else:
            free.add(name)
    if len(free) != 1:
        return "", ""
    name = free.pop()
    lines = [*parts, f"def refused({name}):", *own, f"    return {ast.unparse(test)}"]
    return "\n".join(lines) + "\n", name


def _loops(value: ast.expr) -> bool:
    """Tell whether a name is given each element of a value in turn."""
    return isinstance(value, ast.Starred)


def _names(node: ast.AST) -> list[str]:
    """Return the names that an expression or a function reads and does not give itself."""
    given = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _stored(n)}
    given |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return sorted(_loaded(node) - given)


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    wanted = [*ast.iter_child_nodes(function)]
    while wanted:
        node = wanted.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            wanted += ast.iter_child_nodes(node)


def _tells(node: ast.AST) -> bool:
    return any(name.lower() in TELLING for name in _callees(node))


def _told(handler: ast.ExceptHandler) -> bool:
    parts = [node for one in handler.body for node in ast.walk(one)]
    again = any(isinstance(node, ast.Raise) for node in parts)
    answers = any(isinstance(node, ast.Return) and node.value is not None for node in parts)
    return again or answers or any(_tells(one) for one in handler.body)


def _catches(handler: ast.ExceptHandler, kind: str) -> bool:
    caught = _loaded(handler.type) if handler.type is not None else {kind}
    return bool(caught & {kind, "Exception", "BaseException"})


def _counters(function: ast.AST) -> set[str]:
    """Return the names that count requests."""
    found: set[str] = set()
    for node in _own(function):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            target, name = node.target, _called(node.iter)
            if name == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[0]
            if name in ("enumerate", "range") and isinstance(target, ast.Name):
                found.add(target.id)
    return found


def _special(parts: Sequence[ast.AST], counters: set[str]) -> bool:
    """Tell whether a condition asks for a request's number, or whether it is a certain one."""
    names = _loaded(parts[0])
    if names & counters or {"equal", "id", "hash"} & {n for p in parts for n in _callees(p)}:
        return True
    for node in (node for part in parts for node in ast.walk(part)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            sides = (node.left, *node.comparators)
            if any(isinstance(s, ast.Constant) and s.value not in (0, None, "") for s in sides):
                return True
    return False
