"""Tell by the source whether a fix takes its values from what the script itself states. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from aoti_debug.verify.script_source import Source, called, features, loaded

# What makes some value of any other, however bad it is.
_MAKING = frozenset(
    """
    clamp clamp_ clip clip_ minimum maximum remainder fmod min max abs where masked_fill setdefault
    randint choice nonzero argmax argmin round floor mode median fill_ full zeros ones
    """.split()
)
# Names of constants that stand for what is not known.
_RESERVED = re.compile(
    r"(^|_)(unk|unknown|oov|pad|padding|other|fallback|default|missing|blank|empty)(_|$)", re.I
)
_BY_MASK = frozenset("where masked_fill fill_ full setdefault".split())
_CHOOSING = frozenset(("Eq", "NotEq", "Is", "IsNot"))
_TABLES = (ast.Dict, ast.List, ast.Tuple, ast.DictComp, ast.ListComp)
_RECORDS = (ast.Dict, ast.Tuple, ast.List, ast.Call)


def corrects(old: Source, new: Source) -> bool:
    before, after = _features(old), _features(new)
    added, lost = after - before, before - after
    if any(name in _MAKING or (kind == "choice" and name not in _CHOOSING) for kind, name in added):
        return False
    if any(kind == "number" for kind, _ in added):
        return added.total() == lost.total() == 1 and _follows(old, new)
    was, now = (sum(len(lookups(tree, old)) for tree in one.trees) for one in (old, new))
    return was < now and not Counter(_special(new)) - Counter(_special(old))


def reserved(old: Source, new: Source) -> bool:
    """Tell whether a fix gives what is not known the value that the script had reserved for it."""
    names = {name for name in old.values if _RESERVED.search(name)}
    reads = (sum(name_of_read(node) in names for node in one.nodes) for one in (old, new))
    before, after = next(reads), next(reads)
    added = _features(new) - _features(old)
    made = (name in _MAKING - _BY_MASK or (kind, name) == ("choice", "Mod") for kind, name in added)
    sums = (node for node in new.nodes if isinstance(node, ast.BinOp))
    changed = any(name_of_read(side) in names for one in sums for side in (one.left, one.right))
    numbers = changed or any(kind == "number" and float(text) != 0 for kind, text in added)
    picked = any((kind, name) == ("choice", "Eq") for kind, name in added)
    was, now = map(_strings, (old, new))
    data = was - now or {text for text in now - was if text in was}  # that the fix takes or repeats
    return after > before and not (any(made) or numbers or picked or data)


def _strings(source: Source) -> Counter[str]:
    """Count the texts of a source that are no docstrings."""
    apart = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    found = (n for n in source.nodes if isinstance(n, ast.Constant) and id(n) not in apart)
    return Counter(node.value for node in found if isinstance(node.value, str))


def name_of_read(node: ast.AST) -> str:
    """Return the name that a node reads, of a variable or an attribute."""
    return called(node) if isinstance(getattr(node, "ctx", None), ast.Load) else ""


def lookups(node: ast.AST, tables: Source) -> list[ast.expr]:
    """Return the keys that are looked up in tables of a script, other than constant ones."""
    top = [one for tree in tables.trees for one in tree.body if isinstance(one, ast.Assign)]
    own = {name for one in top for target in one.targets for name in loaded(target)}
    full = [one for one in top if isinstance(one.value, _TABLES)]
    known = {name for one in full for target in one.targets for name in loaded(target)}
    found: list[ast.expr] = []
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and loaded(one.value) & known:
            found.append(one.slice)
        elif isinstance(one, ast.Call) and called(one) in ("index", "get") and len(one.args) == 1:
            found += one.args if loaded(one.func) & known else []
    return [key for key in found if loaded(key) - own]


def _features(source: Source) -> Counter[tuple[str, str]]:
    asserted = features(*(node for node in source.nodes if isinstance(node, ast.Assert)))
    return features(*source.trees) - asserted


def _special(source: Source) -> Iterator[str]:
    """Yield what asks for one value, swallows an error, or has a value for what is in no table."""
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            if any(isinstance(one, ast.Constant) for one in (node.left, *node.comparators)):
                yield ast.unparse(node)
        elif isinstance(node, ast.ExceptHandler):
            yield "except"
        elif isinstance(node, ast.Call) and called(node) in ("get", "pop") and node.args[1:]:
            yield ast.unparse(node)


def _follows(old: Source, new: Source) -> bool:
    """Tell whether the changed datum is what the script says elsewhere beside the same data."""
    for was, now in zip(old.nodes, new.nodes, strict=False):
        if type(was) is not type(now):
            return False
        if isinstance(now, _RECORDS) and isinstance(was, _RECORDS):
            data, given = _data(was), _data(now)
            other = [key for key in given if given[key] != data.get(key)]
            if len(other) == 1 and len(data) == len(given):
                return _is_said(given, other[0], now, new)
    return False


def _is_said(given: dict[str, object], key: str, record: ast.AST, source: Source) -> bool:
    value = given[key]
    words = {name: word for name, word in given.items() if isinstance(word, str) and name != key}
    for node in source.nodes:
        if node is record or not isinstance(node, _RECORDS):
            continue
        known = _data(node)
        for name, word in words.items():
            another = known.get(name) == word and known.get(key) == value  # another record
            # A table from words to values, or the words in their order.
            if another or known.get(word) == value or known.get(str(value)) == word:
                return True
    return False


def _data(node: ast.AST) -> dict[str, object]:
    """Return the plain values of a record by their keys, names or places."""
    values = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
    pairs = [(str(place), value) for place, value in enumerate(values)]
    if isinstance(node, ast.Dict):
        keys = zip(node.keys, node.values, strict=True)
        pairs = [(str(key.value), one) for key, one in keys if isinstance(key, ast.Constant)]
    elif isinstance(node, ast.Call):
        pairs += [(word.arg or "", word.value) for word in node.keywords]
    return {key: value.value for key, value in pairs if isinstance(value, ast.Constant)}
