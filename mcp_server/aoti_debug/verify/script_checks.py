"""Hold the checks of a fixed script against those it made before, by its source. Pure."""

from __future__ import annotations

import ast
import contextlib
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from aoti_debug.probe.python_source import parse
from aoti_debug.triage.put_back import put_back
from aoti_debug.triage.source_text import calls_of, every
from aoti_debug.verify.corrections import corrects, reserved
from aoti_debug.verify.script_refusals import PACKAGE, Refusal, refusals, tables
from aoti_debug.verify.script_source import (
    BUILTIN,
    FUNCTIONS,
    JUDGING,
    Definition,
    Flows,
    MadeCheck,
    Source,
    assigned,
    called,
    callees,
    features,
    loaded,
    name_of,
    with_parameters,
)

# What takes a bad value out of sight on its way to a check.
HIDING = frozenset(
    "nan_to_num nanmean nansum nanmedian isnan masked_fill where clamp clip fillna fill_".split()
)
_NUMBER = re.compile(r"Constant\(value=[\d.]+(?:e[+-]?\d+)?\)")
_LEAVING = ("atexit.register", "os._exit")  # past the end that a script comes to
TOLERATED = 1e-2
# What a fix asks of values, or puts in their place, that is not computed.
_REPLACING = frozenset("isfinite isinf NotEq zeros zeros_like full full_like where".split())
_OF_VALUES = frozenset({"max", "min", "amax", "amin", "any", "all", "sum", "mean", "std", "item"})
_CHOOSING = (ast.If, ast.IfExp, ast.ExceptHandler, ast.Slice, ast.comprehension)
_ROWS, _COMPREHENSIONS = frozenset(("cat", "concat", "vstack")), (ast.ListComp, ast.GeneratorExp)
_WALKING = frozenset("items keys values enumerate zip range list iter".split())
_BOUNDING = frozenset("clamp clamp_ clip clip_ minimum maximum remainder fmod Mod".split())
COMPARING = frozenset(
    "allclose equal isclose assert_close assert_allclose assert_array_equal eq sub abs".split()
)


class Diverted(str):
    """A check that is as strict and looks at something else."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """What a fix changed of the checks; `compared`: one compares results with unchanged values."""

    weakened: tuple[str, ...] = ()
    compared: bool = False
    diverted: bool = False  # they only look at something else
    refusals: tuple[Refusal, ...] = ()
    looser: bool = False  # a tolerance is another, and still small
    tables: tuple[str, ...] = ()  # source of those that the script had
    corrects: bool = False  # values by such a table, or a datum by what stands beside it
    reserved: bool = False  # a value that the script had reserved for what is not known is used
    hides: tuple[str, ...] = ()  # what the fix asks of values, or replaces them by
    selects: bool = False  # the fix chooses: by a condition, a handler or a slice of its own
    sleeps: bool = False  # in the fix a thread sleeps, where none did
    numbers: bool = False  # nothing but numbers was changed
    by_value: str = ""  # a condition on values that was none, and does not refuse them
    undoes: bool = False  # results are no longer put back into order by what sorted the inputs


def changes(before: Iterable[str], after: Iterable[str]) -> Changes:
    """Compare the sources of a script before and after a fix, as far as they can be parsed."""
    was, now = [*before], [*after]
    try:
        old, new = (Source([*parsed(texts)]) for texts in (was, now))
        for source in (old, new):
            source.checks = [replace(c, test=_inlined(c.test, source)) for c in source.checks]
        judging = [check for check in old.checks if _judges(check, old)]
        collected = {name for check in judging for name in check.collects}
        rest = [check for check in old.checks if check not in judging]
        checks = [*judging, *(one for one in rest if loaded(one.test) & collected)]
        found = [_weakened(check, old, new) for check in checks]
        weakened = [*filter(None, found), *_replaced(old, new)]
        pairs = zip(checks, found, strict=True)
        compared = any(not weak and _compared(check, old, new) for check, weak in pairs)
        looser = [c for c in checks if any(_looser(c.test, one.test) for one in new.checks)]
        added = features(*new.trees) - features(*old.trees)
        bounds = any(name in _BOUNDING for _, name in added)  # whatever a table has there
        refused, known = tuple(refusals(old, new)), () if bounds else tuple(tables(old))
        said = tuple(dict.fromkeys(weakened))
        hides = tuple(sorted(n for _, n in added if n in HIDING | _REPLACING))
        kept = reserved(old, new)
        more = corrects(old, new) or kept, kept, hides, not _choices(new) <= _choices(old)
        sleeps = not _sleeps(new) <= _sleeps(old)
        numbers = was != now and _without_numbers(old) == _without_numbers(new)
        asked = next(iter(_by_value(new) - _by_value(old)), "")
        last = sleeps, numbers, asked, _undoes(was, now)
        diverted = bool(said) and all(isinstance(one, Diverted) for one in said)
        return Changes(said, compared, diverted, refused, bool(looser), known, *more, *last)
    except (ValueError, RecursionError):
        return Changes(("its source nests too deeply to be compared",))


def _sleeps(source: Source) -> Counter[str]:
    """Count how often each function sleeps, and all of them and the modules together."""
    functions = [node for node in source.nodes if isinstance(node, FUNCTIONS)]
    found = Counter(one.name for one in functions for _ in calls_of(one, "sleep"))
    found[""] = sum(len(calls_of(tree, "sleep")) for tree in source.trees)
    return found


def _without_numbers(source: Source) -> list[str]:
    return [_NUMBER.sub("Constant()", ast.dump(tree)) for tree in source.trees]


def _undoes(before: Sequence[str], after: Sequence[str]) -> bool:
    """Tell whether a fix changes only files that sort results back, and leaves none that does."""
    was, now = parsed(before), parsed(after)
    changed = [tree for text in before if text not in after for tree in parsed([text])]
    wrong = [bool(put_back(tree, was)) for tree in changed]
    return bool(wrong) and all(wrong) and not any(put_back(tree, now) for tree in now)


class _Inlined(ast.NodeTransformer):
    """Puts a module's constant number in the place of its name."""

    def __init__(self, source: Source) -> None:
        self.values = source.values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._number(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self._number(node, node.attr) if isinstance(node.value, ast.Name) else node
        if found is node:
            node.value = self.visit(node.value)
        return found

    def _number(self, node: ast.expr, name: str) -> ast.expr:
        given = self.values.get(name, [])
        value = given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else None
        return given[0] if isinstance(value, float) else node


def _inlined(test: ast.expr, source: Source) -> ast.expr:
    found = _Inlined(source).visit(copy.deepcopy(test))
    return found if isinstance(found, ast.expr) else test


def _choices(source: Source) -> Counter[str]:
    nodes = (node for node in source.nodes if isinstance(node, _CHOOSING))
    return Counter(ast.unparse(getattr(node, "test", node)) for node in nodes)


def _by_value(source: Source) -> Counter[str]:
    """Count the conditions on the values of data, but those under which an error is raised."""
    tests = (
        node.test
        for node in source.nodes
        if isinstance(node, (ast.If, ast.IfExp))
        and not (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise))
    )
    return Counter(ast.unparse(test)[:60] for test in tests if _OF_VALUES & callees(test))


def made(texts: Iterable[str]) -> list[MadeCheck]:
    source = Source([*parsed(texts)])
    return [one for one in source.checks if _judges(one, source)]


def parts(test: ast.expr) -> list[ast.expr]:
    """Return the parts of `A or B` and of `not (A and B)`; of anything else none."""
    joined = _joined(test)
    return joined.values if joined is not None else []


def _joined(test: ast.expr) -> ast.BoolOp | None:
    inner = test.operand if isinstance(test, ast.UnaryOp) else test
    return inner if isinstance(inner, ast.BoolOp) else None


def without_others(text: str, kept: Sequence[ast.expr], part: int | None = None) -> str:
    """Return a source without its other checks of results; of those kept only `part`, if given."""
    source, lines = Source([*parsed([text])]), text.encode().split(b"\n")
    replaced: list[tuple[ast.expr, str]] = []
    for check in source.checks:
        test = check.test
        if any(not _weaker(one, test) or _looser(one, test) for one in kept):
            joined = _joined(test)
            if part is not None and joined is not None:
                neutral = "True" if isinstance(joined.op, ast.And) else "False"
                replaced += [(one, neutral) for n, one in enumerate(joined.values) if n != part]
        elif check.holding and (check.holding != "False" or _judges(check, source)):
            replaced.append((test, check.holding))
    for test, word in sorted(replaced, key=lambda one: (one[0].lineno, one[0].col_offset))[::-1]:
        first, last = test.lineno - 1, (test.end_lineno or test.lineno) - 1
        head, tail = lines[first][: test.col_offset], lines[last][test.end_col_offset :]
        lines[first : last + 1] = [head + word.encode() + tail]
    return b"\n".join(lines).decode()


def parsed(texts: Iterable[str]) -> Iterator[ast.Module]:
    for text in texts:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield parse(text)


def _judges(check: MadeCheck, source: Source) -> bool:
    """Tell whether a check looks at results, not at a model's inputs."""
    if JUDGING & callees(check.test):
        return True
    flows = assigned([check.function])
    wanted: list[ast.expr] = [check.test]
    seen: set[str] = set()
    while wanted:
        value = wanted.pop()
        for call in every(value, ast.Call):
            root = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            own = not isinstance(call.func, ast.Attribute) or call.func.attr in source.named
            variable = isinstance(root, ast.Name) and root.id not in source.fixed
            if own and variable:
                return True
        for name in loaded(value) & flows.keys() - seen:
            seen.add(name)
            wanted += flows[name]
    return False


def _weakened(check: MadeCheck, old: Source, new: Source) -> str:
    """Say what became of a check; nothing where it is made as before."""
    said = ast.unparse(check.test)[:80]
    alike = [one for one in new.checks if not _weaker(check.test, one.test)]
    alike = [one for one in alike if len(one.around) <= len(check.around)]
    alike = [one for one in alike if check.does <= one.does]
    if not alike and not any(_looser(check.test, one.test) for one in new.checks):
        return f"the script's check was changed or removed: {said}"
    if not alike:
        return ""
    same = [one for one in alike if ast.unparse(one.test) == ast.unparse(check.test)]
    now = min(same or alike, key=lambda one: name_of(one.function) != name_of(check.function))
    for name in sorted(callees(check.test) & old.named.keys()):
        was, becomes = (_checking(source.named.get(name, [])) for source in (old, new))
        if was and not any(not _weaker(was[0], one) for one in becomes):
            return f"the script's check calls {name}, which was changed"
    flows, flown = assigned([check.function]), assigned([now.function])
    for name in sorted(loaded(check.test) & flows.keys() & flown.keys()):
        given, later = (
            [one for one in known[name] if not _of_package(one, flows, flown)]
            for known in (flows, flown)
        )
        made = {key: values for key, values in flown.items() if key not in flows}
        given = [_renamed(one, flows, made) for one in given]
        made |= {key: _given(new.named[key]) for key in new.named.keys() - old.named.keys()}
        if _diverted(name, given, later, made):
            return Diverted(f"the script's check looks at a different {name}: {said}")
    return ""


def _renamed(value: ast.expr, flows: Flows, made: Flows) -> ast.expr:
    """Return an expression with the new names of variables that are given the same values."""
    found = copy.deepcopy(value)
    for node in every(found, ast.Name):
        was = [*map(ast.unparse, flows.get(node.id, ()))]
        alike = (name for name, values in made.items() if was == [*map(ast.unparse, values)])
        node.id = next(alike, node.id) if was else node.id
    return found


def _given(found: Sequence[Definition]) -> list[ast.expr]:
    """Return what the functions of a name give their own names, and return."""
    nodes = [node for one in found for node in ast.walk(one)]
    values = (node.value for node in nodes if isinstance(node, (ast.Assign, ast.Return)))
    return [value for value in values if value is not None]


def _looser(before: ast.AST, after: ast.AST) -> bool:
    """Tell whether an expression differs in its small numbers alone, which may be a tolerance."""
    one, other = features(before), features(after)
    lost, added = one - other, other - one
    small = all(kind == "number" and float(text) <= TOLERATED for kind, text in (lost + added))
    return small and lost.total() == added.total() > 0


def _weaker(before: ast.AST, *after: ast.AST) -> bool:
    """Tell whether an expression lacks something, chooses or tolerates more, or hides values."""
    return bool(features(before) - features(*after)) or _hides(before, *after)


def _hides(before: ast.AST, *after: ast.AST) -> bool:
    """Tell whether an expression chooses or tolerates more, or hides values."""
    added, judging = features(*after) - features(before), JUDGING & callees(before)
    hides = any(kind == "name" and name in HIDING for kind, name in added)
    hides |= any(k == "number" and judging and float(text) > TOLERATED for k, text in added)
    return hides or any(kind == "choice" for kind, _ in added)


def _checking(found: Sequence[Definition]) -> list[Definition]:
    judging = ("isfinite", "isnan", "all", "any", *COMPARING)
    return [one for one in found if any(("name", name) in features(one) for name in judging)]


def _of_package(value: ast.expr, *flows: Flows) -> bool:
    """Tell whether a value is what a package returns, or the rows of several of its calls."""
    if isinstance(value, ast.Call) and called(value) in _ROWS and value.args:
        rows = value.args[0]
        each = [rows.elt] if isinstance(rows, _COMPREHENSIONS) else getattr(rows, "elts", [])
        return bool(each) and all(_of_package(one, *flows) for one in each)
    name = called(value) if isinstance(value, ast.Call) and value.args else ""
    loads = [ast.unparse(one) for known in flows for one in known.get(name, [])]
    return bool(loads) and all(any(word in text for word in PACKAGE) for text in loads)


def _diverted(
    name: str, before: Sequence[ast.expr], after: Sequence[ast.expr], made: Flows
) -> bool:
    """Tell whether a checked name now comes from something else than by names in `made`."""
    nothing = ast.Name(name)
    new = [one for one in after if name not in loaded(one) or _weaker(nothing, one)]
    old = [one for one in before if name not in loaded(one) or _weaker(nothing, one)]
    if len(new) > len(old):
        return True
    for one, other in zip(old, new, strict=False):
        parts, names = [other], {name}
        for part in parts:
            more = ((loaded(part) | callees(part)) & made.keys()) - names
            names |= more
            parts += [value for key in sorted(more) for value in made[key]]
        lost = features(one) - features(*parts)
        lacks = any(word not in _WALKING for _, word in lost)
        unread = loaded(one) - {name for part in parts for name in loaded(part)}
        if lacks or _hides(one, *parts) or unread:
            return True
    return False


def _replaced(old: Source, new: Source) -> Iterator[str]:
    """Say which functions of a library the fix replaces, and which names of a check it takes."""
    known = set(map(ast.unparse, old.nodes))
    for node in new.nodes:
        leaves = isinstance(node, ast.Call) and ast.unparse(node.func) in _LEAVING
        if leaves and ast.unparse(node) not in known:
            yield f"the fix ends the process by itself: {ast.unparse(node)[:60]}"
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Call) and called(node) in ("setattr", "patch", "object"):
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
    used = {name for check in old.checks for name in callees(check.test) | loaded(check.test)}
    names = {*new.named, *new.values} - {*old.named, *old.values}
    for name in sorted(names & used & {*old.imported, *BUILTIN, *COMPARING}):
        yield f"the fix redefines {name}"


def _compared(check: MadeCheck, old: Source, new: Source) -> bool:
    """Tell whether a check compares, and with something that is computed as before."""
    compares = callees(check.test) & COMPARING or every(check.test, ast.Compare)
    flows = with_parameters(check.function, old)
    names = _sides(loaded(check.test) & flows.keys(), flows)
    if not compares or len(names) < 2:
        return False
    function = next(iter(new.named.get(name_of(check.function), ())), new.trees[0])
    direct = bool(callees(check.test) & flows.keys())
    closed = {name: _closure(name, flows, old, direct=direct) for name in names}
    of_package = {n for n, texts in closed.items() if any(w in t for w in PACKAGE for t in texts)}
    computed = {n: texts for n, texts in closed.items() if n not in of_package and texts}
    later = with_parameters(function, new)
    same = all(texts == _closure(n, later, new, direct=direct) for n, texts in computed.items())
    return same and any("(" in text for texts in computed.values() for text in texts)


def _sides(names: set[str], flows: Flows) -> set[str]:
    """Return what is compared, where a check asks for errors of it: one, or several."""
    seen: list[set[str]] = []
    while names not in seen:
        seen.append(names)
        apart = {name for name in names if any(_is_error(value) for value in flows[name])}
        apart = apart or (names if len(names) == 1 else set())
        more = {one for name in apart for value in flows[name] for one in loaded(value)}
        more = (more & flows.keys()) | (names - apart)
        names = more or names
    return names


def _is_error(value: ast.expr) -> bool:
    """Tell whether an expression is how far apart two values are."""
    return any(isinstance(node.op, ast.Sub) for node in every(value, ast.BinOp))


def _closure(name: str, flows: Flows, source: Source, *, direct: bool) -> set[str]:
    """Return the text of all that computes a name, if all is known; `direct`: it is called."""
    found: set[str] = set()
    known = source.known
    wanted, seen, classes = [name], set[str](), list[ast.ClassDef]()
    while wanted:
        one = wanted.pop()
        if one in seen:
            continue
        seen.add(one)
        parts: list[ast.AST] = [*flows.get(one, source.values.get(one, []))]
        for definition in source.named.get(one, []):
            if isinstance(definition, ast.ClassDef):
                classes.append(definition)
                parts += [node for node in definition.body if name_of(node) == "__init__"]
            elif one not in ("forward", "__call__", "__init__"):
                parts.append(definition)
        for part in parts:
            found.add(ast.unparse(part))
            wanted += loaded(part) | {node.attr for node in every(part, ast.Attribute)}
            functions = [call.func for call in every(part, ast.Call)]
            plain = {n.id for n in functions if isinstance(n, ast.Name)}
            if plain - flows.keys() - known:  # a method that is not here is a library's
                return set()
            direct = direct or bool(plain & (flows.keys() | source.values.keys()))
    body = (node for one in classes if direct for node in one.body)
    methods = (node for node in body if isinstance(node, FUNCTIONS))
    return found | {ast.unparse(m) for m in methods if m.name in ("forward", "__call__")}
