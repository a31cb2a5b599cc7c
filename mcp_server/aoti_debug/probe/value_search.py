"""The first kernel of a package whose inputs agree with a reference and whose output does not. What
a kernel writes agrees if some value of the reference is the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .choices import Choice
from .describe import is_float
from .graph_run import Document
from .lazy import torch
from .places import Place
from .value_samples import Sample, digest, held_against

_PROBES = 64  # elements by which it is seen whether to compare the others
_SAME, _DIGITS = 16, 1e-3  # different ones of them that are the same, to so many digits
_NEAR = 0.05  # of the largest, in 16 bits; a wider dtype has to be nearer
_PADDED = 16
_WORDS = 8  # of an operator's name, at most
_ROUNDINGS = 20_000  # of its own
LIBRARY = frozenset(
    f"aoti_torch_{device}_{name}_out"
    for device in ("cpu", "cuda", "xpu")
    for name in ("mm", "bmm", "addmm", "baddbmm")
)
_ALIKE = 1.0  # likewise: of the same operator and no further apart, it is that value, and wrong
_OTHER = 2  # neither the node nor its operator is of the launch
_ONLINE = "prepare_softmax_online"  # an operator whose results are all values of the reference
_LOST = -1  # of the launch, read by others, and nowhere in memory: this has to be it
_ALIKE_UNNAMED = 0.5  # likewise, where no operator of the launch is known


@dataclass
class Reference:
    """A value of the reference: which it is, as the program computes it and in float64, the nodes
    that use it, of indices what they choose from, and the operator that it is a part of."""

    what: Document
    own: Sample
    exact: Sample
    users: frozenset[str] = frozenset()
    choice: Choice | None = None
    short: Sample | None = None  # with a precision that a kernel may use as well
    part_of: str | None = None

    @property
    def ops(self) -> tuple[str, ...]:
        return tuple(one for one in (self.what["name"], self.part_of) if one is not None)

    @functools.cached_property
    def digest(self) -> str:
        return digest(self.own.values) if self.own.step == 1 else ""


class Written:
    """What a launch wrote into one of its arguments: the values, and in which memory."""

    def __init__(
        self,
        at: tuple[int, int],
        memory: Place,
        sample: Sample,
        digest: str,
        ops: frozenset[str],
        nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.launch, self.place = at  # of its arguments
        self.memory = memory
        self.sample, self.digest = sample, digest
        self.ops, self.nodes = ops, nodes  # names of those that the launch stands for
        self.fresh = False  # nothing was read of this memory
        self.computed = False  # known to be right of what its kernel read
        self.read = frozenset[str]()  # digests of what its kernel read
        self.moved = False  # each element is one that its kernel read, or zero
        self.summed = False  # a sum, or parts of one, of a value that the launch stands for
        self.tied = False  # agrees, but for indices of elements that are equal up to rounding
        self.agrees: Document | None = None  # with which value of the reference
        # The nearest value of the reference, where it agrees with none: how far, and which it is.
        self.closest: tuple[tuple[int, float], Reference] | None = None
        self.probes = _probes(sample)

    @property
    def alike(self) -> bool:
        """Tell whether the nearest value of the reference is the one that it should be."""
        other, apart = self.strangeness()
        if other == _LOST or _ONLINE in self.ops:
            return True
        named = self.ops or self.nodes
        return apart <= _ALIKE and other < _OTHER if named else apart <= _ALIKE_UNNAMED

    @property
    def like(self) -> Document:
        """Return how it compares with the value of the reference that it is, or is nearest to."""
        if self.agrees is not None or self.closest is None:
            return self.agrees or {}
        return self._held(self.closest[1])

    def _held(self, one: Reference) -> Document:
        return {**one.what, **held_against(self.sample, one.own, one.exact, one.short)}

    def hold(self, one: Reference, apart: float) -> bool:
        """Compare with the value of the reference that it is, or may be; tell whether it agrees."""
        found = self._held(one)
        self.tied = found["verdict"] != "agrees" and (
            one.choice is not None and one.choice.allows(self.sample, one.own)
        )
        if found["verdict"] == "agrees" or self.tied:
            self.agrees, self.closest = found, None
        elif self.closest is None:
            self.closest = (0, apart), one
        return self.agrees is not None

    def hold_within(self, one: Reference) -> None:
        """Hold what is left without padding: products are padded to multiples of 8 or 16."""
        what, own, exact = one.what, one.own, one.exact
        sizes = own.shape[1 - len(self.sample.shape) :]
        count = math.prod(sizes)
        if own.step > 1 or not count or own.values.numel() % count:
            return
        shape = (own.values.numel() // count, *sizes)
        over = [mine - other for mine, other in zip(self.sample.shape, shape)]
        if len(shape) == len(over) and any(over) and all(0 <= one < _PADDED for one in over):
            inner = self.sample.values.reshape(self.sample.shape)[tuple(map(slice, shape))]
            given = Sample(shape, inner.reshape(-1), 1)
            found = {**what, **held_against(given, own, exact)}
            self.agrees = found if found["verdict"] == "agrees" else None

    def strangeness(self) -> tuple[int, float]:
        """Return how little the nearest value of the reference is like it."""
        return self.closest[0] if self.closest is not None else (_OTHER, float("inf"))

    def names(self, node: str, ops: tuple[str, ...], users: frozenset[str]) -> int:
        """Return 0 for the value of a node that the launch stands for, 1 for one of an operator of
        these nodes, else `_OTHER`: also where only nodes of the launch use it, which need not
        write it."""
        if node not in users and users and users <= self.nodes:
            return _OTHER
        return 0 if node in self.nodes else _OTHER if self.ops.isdisjoint(ops) else 1

    def replaces(self, other: Written) -> bool:
        """Tell whether another value is gone: all of it was written over, or its memory was freed
        and is part of a new buffer."""
        gone = self.fresh or self.memory.covers(other.memory)
        return gone and self.memory.overlaps(other.memory)


@functools.lru_cache(maxsize=4096)
def named_in(kernel: str) -> frozenset[str]:
    """Return what may be an operator in the name that Inductor gave a kernel: `_softmax` and `amax`
    in cpp_fused__softmax_amax_3."""
    words = kernel.split("_")
    parts = (words[a:b] for a in range(2, len(words)) for b in range(a + 1, a + _WORDS))
    return frozenset(map("_".join, parts))


def _elements(sample: Sample) -> tuple[int, bool]:
    """Return what two values of the same meaning share."""
    return math.prod(sample.shape), is_float(sample.values)


def _probes(sample: Sample) -> Any:
    values = sample.values
    few = values[_spread(values.numel())] if values.numel() > _PROBES else values
    return few.to(torch.float64)


@functools.lru_cache(maxsize=256)
def _spread(count: int) -> Any:
    """Return places all over so many elements, at no equal distance: that could be a row's."""
    return (torch.arange(_PROBES, dtype=torch.float64) * 0.6180339887498949 % 1 * count).long()


def _is_multiple(given: Sample, value: Reference) -> bool:
    """Tell whether a value is a whole number of times another, as a sum is of the mean."""
    if not (is_float(given.values) and is_float(value.exact.values)) or len(given.values) < 2:
        return False
    exact = value.exact.values.to(torch.float64)
    times = (given.values.to(torch.float64) * exact).sum() / (exact * exact).sum()
    if not 0.75 < float(times) < 1e9:
        return False
    scaled = (one._replace(values=one.values * times.round()) for one in (value.own, value.exact))
    return bool(held_against(given, *scaled)["verdict"] == "agrees")


def _near(dtype: Any) -> float:
    """Return how far apart two values may be that are worth comparing element by element."""
    exact = not (dtype.is_floating_point or dtype.is_complex)
    return 0.0 if exact else min(_NEAR, _ROUNDINGS * torch.finfo(dtype).eps)


def _apart(some: Any, probes: Any) -> Any:
    """Return how far rows of probes are from one: the largest difference of what is finite in both,
    relative to the largest value, and the share of what is not and differs."""
    finite = some.isfinite() & probes.isfinite()
    off = torch.where(finite, some - probes, 0.0).abs().amax(1)
    largest = torch.nan_to_num(probes, posinf=0.0, neginf=0.0).abs().max().clamp(min=1e-30)
    same = finite | (some == probes) | (some.isnan() & probes.isnan())
    return off / largest + (~same).to(torch.float64).mean(1)


def _same_in_part(some: Any, probes: Any) -> Any:
    """Tell of rows of probes which have so many in common with one that no other value does."""
    same = ((some - probes).abs() <= _DIGITS * probes.abs()) & (probes != 0)
    kinds = probes.unique(return_inverse=True)[1]
    of_kind = torch.nn.functional.one_hot(kinds).to(torch.float64)
    return (same.to(torch.float64) @ of_kind > 0).sum(1) >= _SAME


def _places(names: Sequence[frozenset[str]]) -> dict[str, Any]:
    """Return for each name the places that have it."""
    found: dict[str, list[int]] = {}
    for place, of in enumerate(names):
        for name in of:
            found.setdefault(name, []).append(place)
    return {name: torch.tensor(places) for name, places in found.items()}


class _Group:
    """Written values of one size: their probes, and how far the nearest value so far is from each,
    of those with a name that its launch stands for, and of all."""

    def __init__(self, written: list[Written]) -> None:
        self.written = written
        self.probes = torch.stack([one.probes for one in written])
        self.open = torch.ones(len(written), dtype=torch.bool)
        dtypes = [one.sample.values.dtype for one in written]
        self._near = torch.tensor(list(map(_near, dtypes)), dtype=torch.float64)
        self._nodes = _places([one.nodes for one in written])
        self._names = _places([one.ops | one.nodes for one in written])
        self.named, self.nearest = torch.full((2, len(written)), float("inf"), dtype=torch.float64)

    def worth(
        self, node: str, ops: tuple[str, ...], probes: Any, rounding: float
    ) -> Iterator[tuple[int, float, bool, bool, bool]]:
        """Yield what a value is worth comparing with, since it may be the same, in part, or is
        nearer than any before: how far it is, whether it may be the same, whether in part, and
        whether what was written for its node is not."""
        apart = _apart(self.probes, probes)
        own, same, part = torch.zeros(3, len(self.open), dtype=torch.bool)
        part[self.open] = _same_in_part(self.probes[self.open], probes)
        for name in (node, *ops):
            if name in self._names:
                own[self._names[name]] = True
        if node in self._nodes:
            same[self._nodes[node]] = True
        nearer = torch.where(own, apart < self.named, self.named.isinf() & (apart < self.nearest))
        nearer |= own & (apart == self.named) & (apart >= _ALIKE)  # a kernel writes its last value
        self.named = torch.where(own, torch.minimum(apart, self.named), self.named)
        self.nearest = torch.minimum(apart, self.nearest)
        near = apart <= self._near.clamp(min=rounding)
        lost = not bool((same & near).any())
        for place in (self.open & (nearer | same | near | part)).nonzero().flatten().tolist():
            yield place, float(apart[place]), bool(near[place]), bool(part[place]), lost


class Matching:
    """Hold values of a reference, one after the other, against all that was written."""

    def __init__(self, written: Sequence[Written]) -> None:
        groups: dict[tuple[int, bool], list[Written]] = {}
        for one in written:
            groups.setdefault(_elements(one.sample), []).append(one)
        self._groups = {key: _Group(group) for key, group in groups.items()}
        self._stood = {one.nodes for one in written}  # of each launch
        self._products = [one for one in written if one.computed and one.sample.step == 1]
        self._parts: dict[int, list[Written]] = {}  # of sums, by how many these are
        for one in written:
            shape = one.sample.shape
            if len(shape) > 1 and shape[-1] > 1 and one.sample.step == 1:
                self._parts.setdefault(math.prod(shape[:-1]), []).append(one)

    def offer(self, value: Reference) -> None:
        """Hold one value against what was written."""
        self._in_other_shapes(value)
        what, own = value.what, value.own
        group = self._groups.get(_elements(own))
        if group is None or not own.values.numel():
            return
        ops, probes = value.ops, _probes(value.exact)
        rounded = torch.stack([_probes(one) for one in (own, value.short) if one is not None])
        own_error = float(_apart(rounded, probes).max())
        rounding = min(_NEAR, max(_near(own.values.dtype), 16 * own_error))
        node = what["node"]
        read = any(node not in nodes and nodes & value.users for nodes in self._stood)
        for place, apart, near, part, lost in group.worth(node, ops, probes, rounding):
            one = group.written[place]
            named = one.names(node, ops, value.users if not part else frozenset())
            if named < _OTHER and value.digest in one.read:
                named = _OTHER  # it is what the kernel was given
            order = _LOST if read and lost and not named else named, apart
            level = one.closest is not None and order == one.closest[0] and apart >= _ALIKE
            if one.closest is None or order < one.closest[0] or level:
                one.closest = order, value
            one.summed |= named < _OTHER and _is_multiple(one.sample, value)
            chosen = value.choice is not None and node in one.nodes
            if (near or chosen) and one.hold(value, apart):
                group.open[place] = False

    def _in_other_shapes(self, value: Reference) -> None:
        """Hold one value against what was written with padding, or as parts of a sum."""
        node, ops = value.what["node"], value.ops
        for one in self._products:
            if one.agrees is None and {node, *ops} & (one.nodes | one.ops):
                one.hold_within(value)
        for one in self._parts.get(math.prod(value.own.shape), ()):
            if one.agrees is None and one.names(node, ops, value.users) < _OTHER:
                *shape, count = one.sample.shape
                sums = one.sample.values.reshape(-1, count).sum(1)
                one.summed |= _is_multiple(Sample(tuple(shape), sums, 1), value)


def first_wrong(
    launches: Sequence[Document], written: Sequence[Written], results: Collection[int]
) -> tuple[Written, list[int], list[int]] | None:
    """Return the first value that no reference explains, and that is behind a wrong result, though
    what its kernel read is right; with the launches that wrote what it read and no reference
    explains, such as a partial sum, and those that took it further and cannot be judged either.
    `results` are those of the written values that the package returned. A value that no reference
    has is right where what is computed from it is right."""
    made = _made(written)
    read = _read(launches, written, made)
    readers: dict[int, list[int]] = {}
    for launch, values in enumerate(read):
        for value in values:
            readers.setdefault(value, []).append(launch)
    # What is computed from indices that rounding chose otherwise can be held against nothing.
    loose = {value for value, one in enumerate(written) if one.tied}
    for launch, values in enumerate(read):
        if not loose.isdisjoint(values):
            loose.update(made.get(launch, ()))
    wrong = {v for v, one in enumerate(written) if one.agrees is None and v not in loose}
    passed: set[str] = set()
    taken: set[int] = set()
    for value in sorted(wrong, reverse=True):
        one = written[value]
        if after := readers.get(value):
            rights = [wrong.isdisjoint(made.get(reader, ())) for reader in after]
            right = all(rights) and value not in results
            if any(rights):
                taken.add(value)
        else:  # it stays within the kernel, unless it is a result
            right = value not in results and not wrong.issuperset(made[one.launch])
        if right:
            wrong.discard(value)
            passed.add(launches[one.launch]["kernel"])
    # What is wrong in part may be a partial result, in memory that a later kernel only takes over.
    whole = {v for v in wrong if written[v].alike or wrong.issuperset(made[written[v].launch])}
    # A product that is right of what it read, and wrong all the same, read what is wrong.
    computed = {v for v in wrong if written[v].computed}
    shown = [written[v].launch for v in computed if written[v].strangeness()[0] <= 0]
    whole |= {v for launch in shown for v in read[launch] & wrong}
    # What a library's function gives may be no value of the reference, and right: a product before
    # its bias is added. A kernel that reads it is right, or another such value is.
    kernels = {v: launches[written[v].launch]["kernel"] for v in wrong}
    unsure = {v for v in wrong if kernels[v] in LIBRARY and (v in taken or kernels[v] in passed)}
    partial = {v for v in wrong if written[v].moved or written[v].summed}
    unsure |= computed | {v for v in partial if not written[v].alike}
    for some in (whole - unsure, wrong - unsure, whole, wrong):
        roots = [v for v in some if some.isdisjoint(read[written[v].launch])]
        if roots:
            of_roots = (written[v] for v in roots)
            first = min(of_roots, key=lambda one: (one.launch, one.strangeness()))
            then = {reader for v in made[first.launch] for reader in readers.get(v, ())}
            further = sorted(n for n in then if not wrong.isdisjoint(made.get(n, ())))
            before = {written[v].launch for v in read[first.launch] & wrong - partial}
            return first, sorted(before), [] if first.alike else further
    return None


def _made(written: Sequence[Written]) -> dict[int, list[int]]:
    """Return which of the written values are of which launch."""
    made: dict[int, list[int]] = {}
    for value, one in enumerate(written):
        made.setdefault(one.launch, []).append(value)
    return made


def _read(
    launches: Sequence[Document], written: Sequence[Written], made: dict[int, list[int]]
) -> list[set[int]]:
    """Return, for each launch, which of the written values it read."""
    latest: list[int] = []
    found: list[set[int]] = []
    for number, launch in enumerate(launches):
        spans = [argument["memory"] for argument in launch["arguments"] if argument["read"]]
        found.append({v for v in latest for span in spans if written[v].memory.overlaps(span)})
        for new in made.get(number, []):
            latest = [v for v in latest if not written[new].replaces(written[v])] + [new]
    return found
