"""Hold the nesting of a call's arguments against that of the export: a package takes leaves by
position, so that a dict whose keys stand in another order puts values in each other's places.

The server imports it, and calls what needs no torch. Python 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Optional, Union

from .lazy import torch
from .vocabulary import Break, Leaf

Key = Union[int, str]  # a place in a sequence, or a name in a dict or the like
Tree = dict[Key, Any]  # a tree under each key; empty: a leaf
Path = tuple[Key, ...]  # in (args, kwargs)
Names = Sequence[Optional[str]]  # of the export's leaves
PROPERTY = "nesting"
_SHOWN = 300
_LEAVES = 512
MOVED = "the package takes values by position, so they go to each other's places"
SHIFTED = "the package counts tensors only, so every later one moves to another's place"


def of_call(loaded: Any, call: Any, named: Names | None) -> list[Break]:
    """Return what the nesting of a call breaks; looked at once for each kind. `named` are the
    export's names of the leaves, where they are known."""
    kind: Any = str(torch.utils._pytree.tree_structure((call.args, call.kwargs)))
    if not all(isinstance(leaf, torch.Tensor) for leaf in call.flat):
        kind = kind, tuple(map(type, call.flat))
    known: dict[Any, list[Break]] = loaded.nests
    if kind not in known:
        contract, others = loaded.contract, getattr(named, "others", None)
        takes = len(contract.inputs) if contract is not None else None
        if others is None and contract is not None and contract.others == 0:
            others = frozenset()
        given = call.args, call.kwargs
        found: list[Break] | None = []
        if loaded.spec:
            found = breaks(loaded.spec, *given, call.flat, named, takes, others)
        if found is not None and not found and others is not None:
            found = missing(*given, named, others, takes)
        known[kind] = found or []
    return known[kind]


def told(found: Sequence[Break]) -> dict[str, Any]:
    """Return what an event says of them."""
    said = [{k: v for k, v in vars(one).items() if v} for one in found if one.property == PROPERTY]
    return {"nesting": said} if said else {}


def breaks(
    spec: str,
    args: Any,
    kwargs: Any,
    flat: Sequence[Any],
    named: Names | None,
    takes: int | None = None,
    others: frozenset[int] | None = None,
) -> list[Break] | None:
    """Return how a call is nested otherwise than the package's call spec, a JSON text; None where
    each of the tensors that it `takes` comes in its place, so that what else is there does no
    harm. `others` are the places of the export that hold no tensor, where they are known."""
    pytree = torch.utils._pytree
    wanted = pytree.treespec_loads(spec)
    if wanted.num_leaves > _LEAVES or len(flat) > _LEAVES:
        return []
    expected = tree(pytree.tree_unflatten(range(wanted.num_leaves), wanted))
    given = tree((args, kwargs))
    ours, theirs = paths(expected), paths(given)
    tensors = [path for path, leaf in zip(theirs, flat) if isinstance(leaf, torch.Tensor)]
    rest = iter(ours)
    if others is not None:
        if tensors == [path for place, path in enumerate(ours) if place not in others]:
            return None
    elif len(tensors) == takes and all(path in rest for path in tensors):
        return None
    order: tuple[int, ...] | None = None
    if len(ours) == len(theirs) and set(ours) == set(theirs):
        order = tuple(map(theirs.index, ours))
    found = []
    for where, mine, other in differences(expected, given):
        if where == (1,):
            continue  # torch itself orders and compares the names of arguments
        place = next((n for n, path in enumerate(theirs) if path[: len(where)] == where), 0)
        index = sum(isinstance(leaf, torch.Tensor) for leaf in flat[:place])
        name = words(where, argument(where, ours, named))
        reason = MOVED if set(mine) == set(other) else SHIFTED
        about = PROPERTY, listed(mine), listed(other), reason
        found.append(Break(index, name, *about, position=place, order=order))
    return found


def missing(
    args: Any, kwargs: Any, named: Names | None, others: frozenset[int], takes: int | None
) -> list[Break]:
    """Return what is given in the place of a tensor, and where a tensor is one too many; `others`
    are the places that hold no tensor."""
    leaves = torch.utils._pytree.tree_flatten_with_path((args, kwargs))[0]
    if takes is None or len(leaves) != takes + len(others):
        return []
    given = [tuple(map(key_of, path)) for path, _ in leaves]
    found = []
    for place, (_, leaf) in enumerate(leaves):
        tensor = isinstance(leaf, torch.Tensor)
        if tensor != (place in others):
            continue
        word = "None" if leaf is None else f"a {type(leaf).__name__}"
        index = sum(isinstance(one, torch.Tensor) for _, one in leaves[:place])
        name = words(given[place], argument(given[place], given, named))
        wrong = ("no tensor", "a tensor") if tensor else ("a tensor", word)
        found.append(Break(index, name, PROPERTY, *wrong, SHIFTED, position=place))
    return found


def tree(value: Any) -> Tree:
    """Return the keys under which the leaves of a value stand, in order."""
    root: Tree = {}
    for path, _ in torch.utils._pytree.tree_flatten_with_path(value)[0]:
        at = root
        for key in map(key_of, path):
            at = at.setdefault(key, {})
    return root


def key_of(key: Any) -> Key:
    """Return a key of torch's paths: SequenceKey(idx), MappingKey(key) or GetAttrKey(name)."""
    if hasattr(key, "idx"):
        return int(key.idx)
    return str(getattr(key, "key", getattr(key, "name", key)))[:60]


def paths(of: Tree, above: Path = ()) -> list[Path]:
    """Return the paths of the leaves, in order."""
    if not of:
        return [above]
    return [path for key, one in of.items() for path in paths(one, (*above, key))]


def differences(
    expected: Tree, given: Tree, where: Path = ()
) -> Iterator[tuple[Path, list[Key], list[Key]]]:
    """Yield each container whose keys are others, or stand in another order."""
    ours, theirs = list(expected), list(given)
    pairs = list(zip(ours, theirs))
    if by_position(expected, given):
        pairs = pairs if len(ours) == len(theirs) else []
    elif ours != theirs:
        yield where, ours, theirs
        pairs = [(key, key) for key in ours if key in given]
    for mine, other in pairs:
        yield from differences(expected[mine], given[other], (*where, other))


def by_position(expected: Tree, given: Tree) -> bool:
    """Tell whether one of them has no names, and both hold as many leaves: a tuple in the place of
    a list, or of a dict. Leaves by position are the same then."""
    unnamed = any(all(isinstance(key, int) for key in one) for one in (expected, given))
    return unnamed and len(paths(expected)) == len(paths(given))


def words(where: Path, name: str) -> str:
    """Return a path as Python writes it: `batch['mask']`."""
    return name + "".join(f"[{key!r}]" for key in where[2:])


def argument(where: Path, ours: Sequence[Path], named: Names | None) -> str:
    """Return the name of the argument that a path leads into: export names a leaf `batch_mask`."""
    if len(where) < 2:
        return "the call"
    for name, path in zip(named or (), ours):
        below = "".join(f"_{key}" for key in path[2:])
        if path[:2] == where[:2] and name is not None and name.endswith(below):
            return name[: len(name) - len(below)]
    return f"argument {where[1]}" if where[0] == 0 else str(where[1])


def listed(keys: Sequence[Key]) -> str:
    return ", ".join(map(str, keys))[:_SHOWN] if keys else "a tensor"


def held(
    nesting: Sequence[Break],
    leaves: Sequence[Leaf],
    judged: Callable[[Sequence[Leaf]], list[Break]],
) -> list[Break]:
    """Return what a call breaks in its nesting, and what `judged` says of its leaves when each
    stands in its own place; nothing of these where that place is not known."""
    if not nesting:
        return judged(leaves)
    order = nesting[0].order
    order = order if order is not None and sorted(order) == list(range(len(leaves))) else None
    return [*nesting, *(judged(in_order(leaves, order)) if order is not None else [])]


def in_order(leaves: Sequence[Leaf], order: Sequence[int]) -> list[Leaf]:
    """Return leaves in the package's order, under the names of the places that they come to."""
    found: list[Leaf] = []
    count = 0
    for place, at in enumerate(order):
        leaf = leaves[at]
        index = count if leaf.index is not None else None
        count += index is not None
        found.append(replace(leaf, index=index, position=place, name=leaves[place].name))
    return found
