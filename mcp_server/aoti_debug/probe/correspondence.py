"""Make the inputs of a fixed program of those of the original: it may take them under other names,
in other places and nests, as another dtype, padded, and others beside them, such as a mask.

What becomes of an input is learned from calls that the script makes with both programs. Where the
original keeps a state, the script may give that, or what says when it begins anew, beside its
inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any, NamedTuple

from . import changed, compare, describe, graph_run, standalone
from .lazy import torch
from .sizes import learn, number, numbers
from .state import State

_DIMENSIONS = 4  # of an input that may be given in another order of them

Inputs = standalone.Inputs
Pair = tuple[list[Any], list[Any]]  # flat inputs of a call of the original, and of the fixed script


class Source(NamedTuple):
    """Where an input of the fixed program comes from: it is one of the original's, or made of the
    sizes of one, or of the calls before."""

    form: str  # same, permuted, reshaped; value, size, position; carried
    place: Any = None  # among the original's inputs; None: of no one of them
    inside: Any = None  # the value; the dimension whose size it is; the order; what is Carried
    rest: Any = None  # beyond the sizes of the original's input; None: nothing is

    @property
    def takes(self) -> bool:
        return self.form in ("same", "permuted", "reshaped")


class Carried(NamedTuple):
    """An input that the fixed script gives beside the original's: what it was in the first calls,
    and which result of the call before it is; None: it is none of these."""

    values: tuple[Any, ...]
    result: int | None


class Correspondence:
    """What each input of the fixed program is made of; None of one that is not known. `first`: flat
    inputs of the fixed script's first calls, which may give what a state was before."""

    def __init__(
        self, old: Any, new: Any, pairs: Sequence[Pair], first: Sequence[list[Any]] = ()
    ) -> None:
        self.new = new
        self.before, self.now = standalone.user_inputs(old), standalone.user_inputs(new)
        self.sources = self._learned(pairs, values=True)
        for place, one in enumerate(self.sources):
            if first and one is not None and one.form == "value" and one.place is None:
                self.sources[place] = _learned_one(one, place, [([], flat) for flat in first], True)
        if first and not self.known:
            self.sources = self._carried(first)
        self.by_values = bool(pairs) and self.known
        self.agreed = self.by_values or not pairs
        if not self.known:
            self.sources = self._declared()
        if not self.known:  # a script may draw other values now
            self.sources = self._learned(pairs, values=False)

    @property
    def known(self) -> bool:
        taken = {one.place for one in self.sources if one is not None and one.takes}
        return None not in self.sources and taken == set(range(len(self.before)))

    @property
    def plain(self) -> bool:
        """Tell whether it takes the inputs as the original does."""
        return self.sources == [Source("same", place) for place in range(len(self.before))]

    @property
    def padded(self) -> bool:
        return any(one is not None and one.rest is not None for one in self.sources)

    @property
    def carried(self) -> list[Carried]:
        return [one.inside for one in self.sources if one is not None and one.form == "carried"]

    def shared(self, results: list[Any], before: list[Any] | None) -> list[Any]:
        """Return the results that the original returns too, as it did `before`: those that are
        given to the next call may be results of its own beside them."""
        own = [one.result for one in self.carried if one.result is not None]
        more = len(results) - len(before) if before is not None else len(own)
        for ones in combinations(own, max(0, more)):
            found = [value for place, value in enumerate(results) if place not in ones]
            if before is None or list(map(_kind, found)) == list(map(_kind, before)):
                return found
        return results

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the places of an input before and now where it has the same dimensions."""
        for place, one in enumerate(self.sources):
            if one is not None and one.place is not None and one.form == "same":
                yield one.place, place

    def made(self, inputs: Inputs, number: int = 0, last: Any = None) -> Inputs:
        """Return inputs of the original as the fixed program takes them, in a call of this number
        of a session (from 0); `last` are the results of the call before.

        Raises:
            ValueError: it is not known how.
        """
        if not self.known or len(inputs.flat) != len(self.before):
            raise ValueError(
                f"the fixed program takes {len(self.now)} inputs, the original {len(self.before)}, "
                "and how these are made of those is not known"
            )
        symbols: dict[Any, int] = {}
        values = [node.meta.get("val") for node in self.now]
        given = list(zip(values, self.sources))
        for value, one in given:
            if one is not None and one.form == "same" and one.rest is None:
                learn(value, inputs.flat[one.place], symbols)
        flat = []
        for value, one in given:
            if one is not None and one.form == "carried":
                values, result = one.inside
                own = number > 0 and result is not None
                leaf = last[result] if own else values[min(number, len(values) - 1)]
            else:
                leaf = self._one(one, value, inputs.flat, symbols)
            learn(value, leaf, symbols)
            flat.append(leaf)
        return self.declared(replace(inputs, flat=flat))

    def declared(self, inputs: Inputs) -> Inputs:
        """Return inputs of the fixed program, nested like its own, each in the declared dtype and
        layout, on the declared device."""
        symbols: dict[Any, int] = {}
        flat = []
        for node, leaf in zip(self.now, inputs.flat):
            value = node.meta.get("val")
            learn(value, leaf, symbols)
            flat.append(as_declared(value, leaf, symbols))
        pytree = torch.utils._pytree
        args, kwargs = pytree.tree_unflatten(flat, self.new.call_spec.in_spec)
        return replace(inputs, args=tuple(args), kwargs=dict(kwargs), flat=flat)

    def _one(self, source: Any, value: Any, flat: list[Any], symbols: dict[Any, int]) -> Any:
        like: Any = flat[source.place] if source.place is not None else None
        if not isinstance(value, torch.Tensor):
            size = like.shape[source.inside] if source.form == "size" else source.inside
            return like if source.takes else size
        if source.form == "same" and source.rest is None:
            return like
        if source.form == "permuted":
            return like.permute(source.inside)
        if source.form == "reshaped":
            sizes = [number(size, symbols) for size in value.shape]
            return like.reshape([-1 if size is None else size for size in sizes])
        shape = numbers(value.shape, symbols)
        if shape is None:
            raise ValueError("the size of an input of the fixed program is not known")
        found = torch.full(shape, source.rest or 0, dtype=value.dtype)
        region = found[_region(like, found)]
        region.copy_(_inside(source, like, region))
        return found

    def _learned(self, pairs: Sequence[Pair], *, values: bool) -> list[Source | None]:
        before, now = len(self.before), len(self.now)
        found: list[Source | None] = [None] * now
        if any((len(one), len(other)) != (before, now) for one, other in pairs):
            return found
        free = set(range(before))
        for beside in (False, True):  # what is one of the original's first
            for place in (place for place in range(now) if found[place] is None):
                likes = [one for one in (place, *sorted(free - {place})) if one in free]
                forms = self._beside() if beside else self._taken(likes)
                tried = (_learned_one(form, place, pairs, values) for form in forms)
                found[place] = one = next(filter(None, tried), None)
                free -= {one.place} if one is not None and one.takes else set()
        return found

    def _carried(self, first: Sequence[list[Any]]) -> list[Source | None]:
        """Return the sources with what the first calls give to inputs of which none is known."""
        module = compare.unguarded(self.new)
        with State(module).kept():
            flats = map(graph_run.copied, first[:-1])
            results = [graph_run.outputs_of(module, flat, advances=True) for flat in flats]

        def carried(place: int) -> Source:
            values = tuple(flat[place] for flat in first)
            given = list(map(graph_run.on_cpu, values))
            taken = [n for n, gave in enumerate(zip(*results)) if _carries(gave, given)]
            # What is returned beside the original's results comes after them.
            return Source("carried", None, Carried(values, taken[-1] if taken else None))

        return [carried(n) if one is None else one for n, one in enumerate(self.sources)]

    def _beside(self) -> Iterator[Source]:
        """Yield what an input beside the original's may be made of."""
        yield Source("value")
        for place, node in enumerate(self.before):
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor):
                yield from (Source("size", place, dim) for dim in range(value.dim()))
                yield from (Source(form, place) for form in ("value", "position"))

    def _taken(self, places: Sequence[int]) -> Iterator[Source]:
        yield from (Source("same", place) for place in places)
        for place in places:
            dims = getattr(self.before[place].meta.get("val"), "ndim", 0)
            orders = [*permutations(range(dims))][1:] if dims <= _DIMENSIONS else []
            yield from (Source("permuted", place, order) for order in orders)
        yield from (Source("reshaped", place) for place in places)

    def _declared(self) -> list[Source | None]:
        """Return what the declarations tell: by names where they are the same, else by places where
        each input has as many dimensions and is of the same kind as before."""
        names, others = ([node.name for node in given] for given in (self.before, self.now))
        if sorted(names) == sorted(others):
            return [Source("same", names.index(name)) for name in others]
        kinds, later = (
            [_kind(node.meta.get("val")) for node in given] for given in (self.before, self.now)
        )
        if sorted(kinds) == sorted(later) and (kinds == later or len(set(kinds)) == len(kinds)):
            return [
                Source("same", p if kinds == later else kinds.index(kind))
                for p, kind in enumerate(later)
            ]
        return [None] * len(others)


def _kind(value: Any) -> tuple[int, bool]:
    if not isinstance(value, torch.Tensor):
        return -1, False
    return value.dim(), value.is_floating_point()


def _carries(results: Sequence[Any], given: Sequence[Any]) -> bool:
    """Tell whether each call is given a result of one before it, or begins a session as the first
    does: sessions may take turns."""
    taken = [
        any(compare.agrees([value], [result]) for result in results[:number])
        for number, value in enumerate(given)
    ]
    begins = (compare.agrees([value], [given[0]]) for value in given)
    return any(taken) and all(one or first for one, first in zip(taken, begins))


def _learned_one(source: Source, place: int, pairs: Sequence[Pair], values: bool) -> Source | None:
    """Return a source with its values, where it is that of an input in all pairs of calls."""
    insides, rests = {source.inside}, set[Any]()
    for was, now in pairs:
        like = was[source.place] if source.place is not None else None
        told = _told(source, like, now[place], values)
        if told is None:
            return None
        insides.add(told[0])
        rests.add(told[1])
    insides.discard(None)
    rests.discard(None)
    if len(insides) > 1 or len(rests) > 1:
        return None
    return source._replace(inside=next(iter(insides), None), rest=next(iter(rests), None))


def _told(source: Source, like: Any, now: Any, values: bool) -> tuple[Any, Any] | None:
    """Return the one value of an input, where it has one, and that of what lies beyond the sizes of
    the original's; None where it is not made so. Without `values` what it takes of the original is
    compared by size and kind alone."""
    if not isinstance(now, torch.Tensor):
        if source.form == "size":
            return (None, None) if type(now) is int and now == like.shape[source.inside] else None
        if source.form == "value" and like is None:
            return now, None
        same = source.form == "same" and type(like) is type(now) and like == now
        return (None, None) if same else None
    if not isinstance(like, torch.Tensor) and (like is not None or source.takes):
        return None
    now = now.detach().cpu()
    if like is not None and source.form == "permuted":
        if like.dim() != now.dim() or like.dim() != len(source.inside):
            return None
        like = like.permute(source.inside)
        if like.shape != now.shape:
            return None
    if like is not None and source.form == "reshaped":
        if like.numel() != now.numel() or like.shape == now.shape:
            return None
        like = like.reshape(now.shape)
    region = now[_region(like, now)]
    if (source.takes and region.shape != like.shape) or not region.numel():
        return None
    inside = region.reshape(-1)[0].item() if source.form == "value" else source.inside
    wanted = _inside(source._replace(inside=inside), like, region)
    if source.form == "same" and not values:
        if like.is_floating_point() != now.is_floating_point():
            return None
    elif changed.differ([wanted], [region]):
        return None
    beyond = torch.ones(now.shape, dtype=torch.bool)
    beyond[_region(like, now)] = False
    rest = now[beyond].unique()
    return (inside, rest[0].item() if len(rest) else None) if len(rest) < 2 else None


def _region(like: Any, whole: Any) -> tuple[slice, ...]:
    """Return the part of a tensor that has the sizes of an input."""
    return tuple(map(slice, like.shape[: whole.dim()])) if like is not None else ()


def _inside(source: Source, like: Any, region: Any) -> Any:
    if source.takes:
        return like
    if source.form == "position":
        return torch.arange(region.shape[-1]).expand(region.shape) if region.dim() else region * 0
    value = int(like.shape[source.inside]) if source.form == "size" else source.inside
    return torch.full(region.shape, value)


def as_declared(value: Any, leaf: Any, symbols: dict[Any, int]) -> Any:
    """Return an input in the dtype and layout, and on the device, that a program declares: a
    number as a tensor of it."""
    if isinstance(value, torch.Tensor) and isinstance(leaf, (bool, int, float)):
        leaf = torch.full([1] * value.dim(), leaf)
    if not isinstance(value, torch.Tensor) or not isinstance(leaf, torch.Tensor):
        return leaf
    leaf = leaf.to(value.device, value.dtype)
    if value.layout != torch.strided or leaf.dim() != value.dim():
        return leaf
    wanted = numbers(value.stride(), symbols)
    if wanted is None or list(leaf.stride()) == wanted:
        return leaf
    return describe.laid_out(leaf, wanted)
