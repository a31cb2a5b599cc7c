"""What the reference of a failing run tells of sessions, and what it gave in each call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite
from typing import get_args

from aoti_debug.model import Category
from aoti_debug.read.event_records import FAR, Call, Elements, Reference
from aoti_debug.record.run_seen import RunSeen

OF_CONTRACT: frozenset[Category] = frozenset(
    one for one in get_args(Category) if one.startswith("contract_")
)
OF_WEIGHTS: frozenset[Category] = frozenset(("constants_missing", "constants_mismatch"))
# Faults of the package or of what it is given: what the reference gave was right.
REFERENCE_IS_RIGHT = OF_CONTRACT | OF_WEIGHTS | {"wrong_result", "custom_op_fake_kernel"}
CALLS = 3  # of a session that is held out, at most
_LOOKED_AT = 100  # calls of the reference, of one line
_HALF = 3e-2  # of the largest value, in 16 bits
_HALVES = {"float16", "bfloat16"}


@dataclass(frozen=True, slots=True)
class OfReference:
    """Whether calls return what the reference gave for them, and whether it gives that still."""

    calls: int = 0  # of which it is known what it gave
    unlike: int = 0  # the number of the first that is not returned; 0: all are
    alone: int = 0  # of the first call that is compared with no reference now, where others are
    other: int = 0  # of the first for whose inputs the reference gives something else now

    @property
    def met(self) -> bool:
        """Tell whether calls return what the reference gave, and gives still."""
        return bool(self.calls) and not (self.unlike or self.alone or self.other)


def longest(run: RunSeen) -> int:
    """Return how many calls a session has, up to `CALLS`; it begins in the state of the export."""
    most, calls, sessions = 0, 0, 0
    for one in filter(_by_state, run.references):
        begins = not one.changed
        calls, sessions = 1 if begins else calls + 1, sessions + begins
        most = max(most, calls)
    return min(most, CALLS) if sessions > 1 else CALLS


def of_reference(
    before: RunSeen, now: RunSeen, category: Category | None, failing: int | None = None
) -> OfReference:
    """Look, in order, for what the reference gave among what the calls of a fixed script return;
    others may come between. Of a reference without a state this is what it gave in calls that were
    wrong, as far as it is given the same again and gives the same; else for the `failing` call.
    Nothing is known where not all of these were looked at."""
    known = [one for one in before.references if _by_state(one) and one.values]
    alone = _alone(now) if known and not _alone(before) else 0
    if not known and category in (REFERENCE_IS_RIGHT | {"user_code"}):
        told = [o for o in before.references if o.values and not (o.moved or o.written)]
        both = ((one, new) for one in told for new in now.references)
        again = [x for x in both if _given_again(*x) and not _of_operator(*x, category)]
        same = [one for one, new in again if _gives(one, new, now)]
        others = [one for one, _ in again if one not in same]  # others may be given the same
        right = category in REFERENCE_IS_RIGHT
        if others and right:
            return OfReference(other=next((one.call for one in others if one.call), 1))
        known = [one for one in told if one.far and one in same]
        if right and not known:
            known = [o for o in before.references if o.values and o.call == failing is not None]
    if not known or not all(call.values for call in now.calls):
        return OfReference()
    rest = iter(now.calls)
    for one in known:
        if not any(_returned(one, call) for call in rest):
            return OfReference(len(known), one.call or 0, alone)
    return OfReference(len(known), 0, alone)


def given_the_same(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether the package, given other values before, is now given what the reference is."""
    apart = [one for one in before.references if one.other]
    again = all(any(_given_again(one, new) for new in now.references) for one in apart)
    return bool(apart) and again and not any(one.other for one in now.references)


def asked_else(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether the reference is given other rows than before, in all that its calls take."""
    was, given = ({one.asked for one in run.references if one.asked} for run in (before, now))
    return bool(was and given) and was.isdisjoint(given)


def read_early(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether a reference that read memory too late agrees in as many calls now."""
    was, given = ([o for o in run.references if o.values] for run in (before, now))
    late = [one for one in was if one.written and one.far]
    right = all(one.paired and not (one.far or one.written) for one in given)
    return bool(late) and right and len(given) >= len(was)


def read_late(before: RunSeen, now: RunSeen) -> int:
    """Return the first call whose reference still reads memory that was written since, and differs
    for it; 0: none."""
    was, late = ([o for o in run.references if o.written and o.far] for run in (before, now))
    calls = {one.call for one in was}
    return next((one.call or 0 for one in late if one.call in calls), 0)


def asked_all(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether the reference is given all rows that it was given."""
    was, given = ({one.asked for one in run.references if one.asked} for run in (before, now))
    return bool(was) and was <= given


def asked_same(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether a reference that agreed is given all of it again, with the same results."""
    was, given = ({o.asked: o.same for o in run.references if o.asked} for run in (before, now))
    return bool(was) and was == given and all(was.values())


def asked_less(before: RunSeen, now: RunSeen) -> int:
    """Return how many fewer rows a reference is given, of which the package gave all results."""
    was, given = (sum(o.same for o in run.references) for run in (before, now))
    return max(0, was - given) if given else 0


def same_results(before: RunSeen, now: RunSeen) -> bool:
    """Tell whether every call returns what it did, as far as its results were looked at."""
    later = {call.call: call.values for call in now.calls}
    pairs = [(one.values, later.get(one.call, ())) for one in before.calls]
    return bool(pairs) and all(was and _same(was, new) for was, new in pairs)


def _same(was: Elements, now: Elements) -> bool:
    return len(was) == len(now) and all(map(_alike, was, now, repeat(FAR)))


def single(before: RunSeen, now: RunSeen) -> int | None:
    """Return the first call of one row that returns something else; 0: none does, None: no such."""
    later = {call.call: call for call in now.calls}
    alone = [call for call in before.calls if call.values and rows_of(call) == 1]
    if not alone:
        return None
    for call in alone:
        new = later.get(call.call)
        if new is None or not _same(call.values, new.values):
            return call.call
    return 0


def rows_of(call: Call) -> int:
    return next((leaf.shape[0] for leaf in call.inputs if leaf.shape), 0)


def shared_memory(before: RunSeen, now: RunSeen) -> int:
    """Return the first call that is newly given memory of a call before it, with other values, in
    an input of which the reference was given others; 0: none."""
    apart = {place for one in before.references for place in one.other}
    if any(apart & {*call.reused} for call in before.calls):
        return 0
    return next((call.call or 0 for call in now.calls if apart & {*call.reused}), 0)


def _given_again(one: Reference, now: Reference) -> bool:
    """Tell whether the reference is given what it was; what was a number may be a tensor now."""
    was, given = set(one.given), set(now.given)
    known = "" not in was | given and bool(was and given) and bool(now.values)
    return known and not now.moved and (was <= given or was >= given)


def _of_operator(one: Reference, now: Reference, category: Category | None) -> bool:
    """Tell whether results have another size since the operator keeps to its fake kernel."""
    sizes = ([len(values) for values in found.values] for found in (one, now))
    return category == "custom_op_fake_kernel" and next(sizes) != next(sizes)


def _gives(one: Reference, now: Reference, run: RunSeen) -> bool:
    """Tell whether each result of the reference is among those that it gives now."""
    kinds = {out.dtype for call in run.calls for out in call.outputs}
    near = _HALF if kinds & _HALVES else FAR
    return all(any(_alike(was, given, near) for given in now.values) for was in one.values)


def _alone(run: RunSeen) -> int:
    """Return the number of the first call without a reference, where other calls have one."""
    beside = {(one.pid, one.call) for one in run.references if one.call is not None}
    if not 0 < len(beside) < _LOOKED_AT:
        return 0
    return next((c.call or 0 for c in run.calls if (c.pid, c.call) not in beside), 0)


def _by_state(one: Reference) -> bool:
    """Tell whether a call of the reference differs from the export by its own state alone."""
    same = one.changed_count == len(one.changed) and set(one.changed) <= set(one.moved)
    return one.paired and bool(one.moved) and same and one.reasons == bool(one.changed)


def _returned(one: Reference, call: Call) -> bool:
    """Tell whether each result of the reference is among those of a call."""
    kinds = [out.dtype for out in call.outputs]
    given = [
        (values, _HALF if kind in _HALVES else FAR)
        for values, kind in zip(call.values, kinds, strict=False)
    ]
    return all(any(_alike(was, now, near) for now, near in given) for was in one.values)


def _alike(was: Sequence[float | str], now: Sequence[float | str], near: float) -> bool:
    largest = max(
        (abs(value) for value in was if isinstance(value, float) and isfinite(value)), default=0.0
    )

    def close(one: float | str, other: float | str) -> bool:
        numbers = isinstance(one, float) and isinstance(other, float)
        return one == other or (numbers and abs(float(one) - float(other)) <= near * largest)

    return len(was) == len(now) and all(map(close, was, now))
