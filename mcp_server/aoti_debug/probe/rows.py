"""Rows of batches. Those that the module of the script is given: did the package get them, and give
the same results? And a row that one call of the package gives other results than another."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import Any, NamedTuple

from . import events, marks
from .lazy import torch

_GIVEN = 1 << 14  # rows
_HELD = 2000  # rows whose results are compared
_WHOLE = 128  # elements of a row that is kept as it is
_SHORTER = 500  # rows of the module that are looked for in longer ones

Caller = Any  # a file and its line
Place = tuple["Batch", int]


class Batch(NamedTuple):
    """Elements of each row of a call's inputs and outputs; no rows where they are not alike."""

    call: int  # of a package; 0: of the module
    kind: Any  # sizes and dtypes of a row
    rows: list[Any]
    results: list[Any]

    def ready(self) -> bool:
        return all(marks.ready(one) for one in (*self.rows, *self.results))


class _State:
    given: dict[bytes, Place] = {}  # noqa: RUF012 - by row: where the package was given it first
    wanted: dict[Caller, list[Batch]] = {}  # noqa: RUF012 - by caller: calls of the module
    kinds: set[Any] = set()  # noqa: RUF012 - of the rows that packages were given
    left = 500  # rows of packages that may be compared
    apart: list[Any] = []  # noqa: RUF012 - the first row of which two calls differ


def taken(call: int, inputs: list[Any]) -> Batch:
    """Take the rows of inputs."""
    if len(_State.given) >= _GIVEN:
        return Batch(call, None, [], [])
    kind = tuple((tuple(one.shape[1:]), str(one.dtype)) for one in inputs)
    return Batch(call, kind, marks.rows(inputs, _WHOLE), [])


def of(batch: Batch, outputs: list[Any]) -> Batch:
    """Take the rows of outputs, where there are as many as of inputs."""
    rows = batch.rows
    if not rows:
        return batch
    found = [one for one in outputs[:4] if one.dim() and one.shape[0] == len(rows[0])]
    return batch._replace(results=[few for one in found for few in marks.rows([one])])


def given(batch: Batch, *, compare: bool) -> None:
    """Note what a call of a package was given and gave; hold it against what others gave for the
    same row, unless they depend on the calls before."""
    _State.kinds.add(batch.kind)
    for number, key in enumerate(marks.keys(batch.rows)):
        was = _State.given.setdefault(key, (batch, number))
        if compare and was[0] is not batch and not _State.apart and _State.left:
            _State.left -= 1
            found = _apart(was, (batch, number))
            if found is not None and found["far"]:
                _State.apart += [was[0].call, was[1], batch.call, number, found["apart"]]


def wanted(caller: Caller, batch: Batch) -> None:
    """Note what a call of the module was given and gave."""
    _State.wanted.setdefault(caller, []).append(batch)


def _apart(one: Place, other: Place) -> dict[str, Any] | None:
    mine, theirs = ([marks.read(few)[n] for few in batch.results] for batch, n in (one, other))
    found = marks.apart(mine, theirs) if mine else None
    if found is None:
        return None
    steps = [torch.finfo(few.dtype).eps for few in mine if few.is_floating_point()]
    rounding = found["apart"] / (found["largest"] * max(steps, default=1.0) or 1.0)
    return {**found, "far": marks.far(found), "rounding": rounding}


def _fits(short: Any, long: Any) -> bool:
    """Tell whether rows of one kind may be those of another without their last elements."""
    pairs = [(one, other) for (one, _), (other, _) in zip(short, long)]
    same = len(short) == len(long) and all(a[1] == b[1] for a, b in zip(short, long))
    return same and all(
        math.prod(other) <= _WHOLE
        and len(one) == len(other)
        and one[1:] == other[1:]
        and one[:1] <= other[:1]
        for one, other in pairs
    )


def _shorter(batches: list[Batch]) -> dict[str, Any]:
    """Look for rows that are shorter than those of packages at the beginning of these. Where most
    are there, say how many are not, and in which inputs they differ from the row most like them."""
    kinds, missing, total = {one.kind for one in batches if one.rows}, Counter[Any](), 0
    known: dict[Any, list[Any]] = {kind: [] for kind in kinds}
    for long in {id(one): one for one, _ in _State.given.values()}.values():
        for kind in (one for one in kinds if _fits(one, long.kind)):
            known[kind] += zip(*map(marks.row_bytes, long.rows))
    for batch in batches:
        for parts in zip(*map(marks.row_bytes, batch.rows)):
            rows = known[batch.kind][:_HELD]
            others = ([n for n, p in enumerate(parts) if not row[n].startswith(p)] for row in rows)
            sizes = [len(one) for one in parts]
            best = min(others, key=lambda found: (len(found), _size(found, sizes)), default=None)
            if best is None or total >= _SHORTER:
                return {}
            total += 1
            missing[tuple(best)] += 1
    right, unlike = missing.pop((), 0), list[int]()
    if 2 * right < total or not total:
        return {}
    for others, count in missing.most_common(1):
        unlike = [*others] if 2 * count > total - right else []
    rows = [total - right, total] if missing else []
    keys = sorted(key for batch in batches for key in marks.keys(batch.rows))
    return {"asked": _digest(keys), "rows": rows, "alike": [0, 0, total], "unlike_inputs": unlike}


def _unlike(missing: list[Place]) -> list[int]:
    """Return the inputs in which most of these rows have what no row of packages has."""
    if not missing:
        return []
    given: dict[int, set[bytes]] = {}
    for batch in {id(one): one for one, _ in _State.given.values()}.values():
        for n, few in enumerate(batch.rows):
            given.setdefault(n, set()).update(marks.row_bytes(few))
    parts = {id(batch): [*zip(*map(marks.row_bytes, batch.rows))] for batch, _ in missing}
    rows = (parts[id(batch)][number] for batch, number in missing)
    unlike = Counter(tuple(n for n, p in enumerate(row) if p not in given[n]) for row in rows)
    places, count = unlike.most_common(1)[0]
    return [*places] if 2 * count > len(missing) and len(places) < len(given) else []


def _size(places: list[int], sizes: list[int]) -> int:
    return sum(sizes[place] for place in places)


def _digest(keys: list[bytes]) -> str:
    return hashlib.sha256(b"".join(keys)).hexdigest()[:16]


def ended() -> None:
    """Say of each caller of the module how many of its rows the package was never given, and how
    many results are the same."""
    full = len(_State.given) >= _GIVEN  # then later rows are not known
    for caller, all_of_them in ({} if full else _State.wanted).items():
        batches = [one for one in all_of_them if one.kind in _State.kinds]
        keys = [(key, (b, n)) for b in batches for n, key in enumerate(marks.keys(b.rows))]
        if not (_State.given and keys):
            if found := _shorter(all_of_them):
                events.emit("reference", caller=caller, **found)
            continue
        missing = sum(key not in _State.given for key, _ in keys)
        held = [_apart(_State.given[key], own) for key, own in keys[:_HELD] if key in _State.given]
        known = [one for one in held if one is not None]
        alike = [sum(not one["far"] for one in known), len(known), len(keys)]
        asked = _digest(sorted(key for key, _ in keys))
        rows = [missing, len(keys)] if missing else []
        unlike = _unlike([place for key, place in keys if key not in _State.given])
        most = max((one["rounding"] for one in known), default=0.0)
        found = {"asked": asked, "rows": rows, "alike": alike, "rounding": most}
        events.emit("reference", caller=caller, **found, unlike_inputs=unlike)
    if _State.apart:
        events.emit("rows", apart=_State.apart)
