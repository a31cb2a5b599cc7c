"""Find where a file puts results back into order by the index that sorted the inputs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from aoti_debug.triage.source_text import FUNCTIONS, calls_of, every, name_of

_SORTS = ("argsort", "sort")
_INVERTS = ("argsort", "scatter", "scatter_", "index_copy_", "invert_permutation")
_STORES = ("append", "extend", "insert", "put", "put_nowait", "setdefault", "update", "set_result")
_KEEPS = ("from_numpy", "tensor", "as_tensor", "asarray", "array", "tolist", "to", "long")


def put_back(tree: ast.AST, others: Iterable[ast.AST] = ()) -> list[ast.Name]:
    """Return the index of `result[order]`, by which a function returns a result, where `order` is
    an argsort that its inputs were sorted by, there or in a function of other files, and no inverse
    of it is computed."""
    functions = [function for one in (tree, *others) for function in _functions(one)]
    returned = {(f.name, n) for f in functions for n in _returned(f, _orders(f, set()))}
    return list(_put_back(tree, returned))


def _put_back(tree: ast.AST, returned: set[tuple[str, int]]) -> Iterator[ast.Name]:
    sorting = {name for name, _ in returned}
    for function in (one for one in _functions(tree) if one.name not in sorting):
        orders = _orders(function, returned)
        uses = [use for use in _uses(function) if use.id in orders]
        for name in orders:
            own = [use for use in uses if use.id == name]
            sorts = len(own) > 1 or name in _unpacked(function, returned)
            if own and sorts and not _inverted(function, name) and _ends(function, own[-1]):
                yield own[-1]


def paired(tree: ast.AST) -> list[tuple[ast.Name, str]]:
    """Return the name in `zip(group, results)` where the results were made of `sorted(group)`, and
    the name that these have."""
    return [pair for function in _functions(tree) for pair in _paired(function, tree)]


def _paired(function: ast.AST, tree: ast.AST) -> Iterator[tuple[ast.Name, str]]:
    values = {
        target.id: node.value
        for node in every(function, ast.Assign)
        for target in every(node.targets[0], ast.Name)
    }
    zipped = [call.args for call in calls_of(function, "zip")]
    for name, value in values.items():
        sorts = isinstance(value, ast.Call) and ast.unparse(value.func) == "sorted"
        group = next((one.id for one in _given(value) if sorts), name)
        made = _made_of(name, values)
        for first, *others in zipped:
            pairs = any(isinstance(one, ast.Name) and one.id in made for one in others)
            if isinstance(first, ast.Name) and first.id == group != name and pairs:
                yield from [(first, name)] if not _undone(tree, group) else []


def _given(value: ast.expr) -> list[ast.Name]:
    args = value.args[:1] if isinstance(value, ast.Call) else []
    return [one for one in args if isinstance(one, ast.Name)]


def stored(tree: ast.AST, line: int) -> int | None:
    """Return the line that keeps what a call on `line` returned: in a container or an attribute."""
    around = [f for f in _functions(tree) if f.lineno <= line <= (f.end_lineno or line)]
    made: set[str] = set()
    for node in sorted(every(around[-1] if around else tree, ast.stmt), key=lambda n: n.lineno):
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if value is None:
            continue
        if node.lineno != line and not any(one.id in made for one in every(value, ast.Name)):
            continue
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        keeps = isinstance(value, ast.Call) and name_of(value.func) in _STORES
        if keeps or any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in targets):
            return node.lineno
        made.update(one.id for t in targets if t is not None for one in every(t, ast.Name))
    return None


def _made_of(name: str, values: dict[str, ast.expr]) -> set[str]:
    """Return the names whose values come of that of one."""
    made = {name}
    while True:
        more = {
            one
            for one, value in values.items()
            if any(used.id in made for used in every(value, ast.Name))
        }
        if more <= made:
            return made - {name}
        made |= more


def _undone(tree: ast.AST, group: str) -> bool:
    """Tell whether results may be put back: an inverse is computed, or the group itself sorted."""
    names = [(name_of(c.func), name_of(getattr(c.func, "value", c))) for c in every(tree, ast.Call)]
    return ("sort", group) in names or any(name in _INVERTS for name, _ in names)


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]


def _is_order(value: ast.expr, orders: set[str]) -> bool:
    """Tell whether an expression is the index of a sort, or one of `orders` in another form."""
    if isinstance(value, ast.Name):
        return value.id in orders
    if isinstance(value, ast.Attribute):
        return value.attr == "indices" and _sorts(value.value)
    if isinstance(value, ast.Subscript):
        return _sorts(value.value) and ast.unparse(value.slice) == "1"
    if not isinstance(value, ast.Call):
        return False
    if name_of(value.func) == "argsort":
        return True
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    given = [*value.args[:1], *([inner] if inner is not None else [])]
    return name_of(value.func) in _KEEPS and any(_is_order(one, orders) for one in given)


def _sorts(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and name_of(value.func) in _SORTS


def _orders(function: ast.AST, returned: set[tuple[str, int]]) -> set[str]:
    found = _unpacked(function, returned)
    for node in every(function, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Name) and _is_order(node.value, found):
            found.add(target.id)
        elif isinstance(target, ast.Tuple) and len(target.elts) == 2 and _sorts(node.value):
            found.update(one.id for one in target.elts[1:] if isinstance(one, ast.Name))
    return found


def _unpacked(function: ast.AST, returned: set[tuple[str, int]]) -> set[str]:
    """Return the names that take an order which another function returns."""
    found = set()
    for node in every(function, ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            for place, one in enumerate(target.elts):
                if isinstance(one, ast.Name) and (name_of(value.func), place) in returned:
                    found.add(one.id)
    return found


def _returned(function: ast.AST, orders: set[str]) -> Iterator[int]:
    for node in every(function, ast.Return):
        if isinstance(node.value, ast.Tuple):
            yield from (n for n, one in enumerate(node.value.elts) if _is_order(one, orders))


def _uses(function: ast.AST) -> list[ast.Name]:
    """Return the names that something is indexed by or gone through, in the order of the lines."""
    found = [node.slice for node in every(function, ast.Subscript)]
    found += [node.iter for node in every(function, ast.For)]
    found += [node.iter for node in every(function, ast.comprehension)]
    for call in calls_of(function, "index_select", "gather", "take"):
        found += call.args
    names = [one for node in found for one in every(node, ast.Name)]
    return sorted(names, key=lambda one: (one.lineno, one.col_offset))


def _inverted(function: ast.AST, name: str) -> bool:
    """Tell whether an inverse is computed: by a second argsort, or by writing at the index."""
    for call in calls_of(function, *_INVERTS):
        if any(one.id == name for one in every(call, ast.Name)):
            return True
    targets = [one for node in every(function, ast.Assign) for one in node.targets]
    written = [one.slice for one in targets if isinstance(one, ast.Subscript)]
    return any(isinstance(one, ast.Name) and one.id == name for one in written)


def _ends(function: ast.AST, use: ast.Name) -> bool:
    """Tell whether what is indexed so is returned, be it by a name."""
    values = [node.value for node in every(function, ast.Return) if node.value is not None]
    returned = {one.id for value in values for one in every(value, ast.Name)}
    values += [
        node.value
        for node in every(function, ast.Assign)
        if any(name_of(target) in returned for target in node.targets)
    ]
    return any(use is one for value in values for one in ast.walk(value))
