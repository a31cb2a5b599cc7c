"""The record of a run, and what follows from it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_debug.model import SourceLine, source_of
from aoti_debug.plain import one_line

if TYPE_CHECKING:
    from aoti_debug.read import event_records as records
    from aoti_debug.read.event_records import Call, Group, Phase
    from aoti_debug.record.counts import CallCounts


@dataclass(frozen=True)
class RunSeen:
    """What the probe saw of a run; empty where it was in no process."""

    processes: tuple[records.Process, ...] = ()
    torches: tuple[records.Torch, ...] = ()
    phases: tuple[Phase, ...] = ()
    calls: tuple[Call, ...] = ()
    packages: tuple[records.PackageSeen, ...] = ()
    notes: tuple[records.Note, ...] = ()
    custom_ops: tuple[records.CustomOps, ...] = ()
    unreadable: int = 0  # lines that are no event, a cut last one included
    counted: tuple[records.Counted, ...] = ()
    call_counts: tuple[CallCounts, ...] = ()
    references: tuple[records.Reference, ...] = ()
    like_rows: tuple[records.RowApart, ...] = ()
    weights: tuple[records.Weights, ...] = ()
    rows: tuple[records.ModelRow, ...] = ()
    returned: tuple[records.Odd, ...] = ()
    ended: tuple[records.Ended, ...] = ()
    handed: tuple[records.Handed, ...] = ()
    held: tuple[records.Held, ...] = ()
    cpp_files: tuple[records.CppFile, ...] = ()
    broken: tuple[Call, ...] = ()  # by a check that was made later
    rejected: bool = False  # the script complains of what calls returned

    @property
    def probed(self) -> bool:
        return self != NO_RECORD

    @property
    def torch(self) -> records.Torch | None:
        return self.torches[0] if self.torches else None

    @property
    def last_call(self) -> Call | None:
        return self.calls[-1] if self.calls else None

    def call_at(self, pid: int, number: int | None) -> Call | None:
        return next((c for c in self.calls if (c.pid, c.call) == (pid, number)), None)

    @property
    def argv(self) -> tuple[str, ...]:
        return self.processes[0].argv if self.processes else ()

    @property
    def unfinished(self) -> Phase | None:
        """Return the innermost phase that began and never ended, of the process that went last."""
        return max(
            (p for p in self.phases if p.ok is None), key=lambda p: p.span.first, default=None
        )

    def of(self, *kinds: str) -> list[Phase]:
        return [phase for phase in self.phases if phase.phase in kinds]

    def of_package(self, call: Call, *kinds: str) -> list[Phase]:
        """Return the phases of these kinds of the package of a call, in its process."""
        own = (call.pid, call.package)
        return [phase for phase in self.of(*kinds) if (phase.pid, phase.details.package) == own]

    @cached_property
    def compiles(self) -> list[Phase]:
        """Return the phases in which a model was lowered: where torch's settings act."""
        return [phase for phase in self.of("lower") if phase.details.flags is not None]

    @property
    def reused(self) -> list[tuple[Phase, records.Reused]]:
        """Return those of them that were given the package of an earlier run."""
        return [(one, one.details.reused) for one in self.compiles if one.details.reused]

    @property
    def touches_aoti(self) -> bool:
        return any(phase.phase != "export" for phase in self.phases)

    @property
    def uses_cuda(self) -> bool:
        devices = [leaf.device for call in self.calls for leaf in call.inputs]
        devices += [leaf.device for call in self.calls for leaf in call.outputs]
        return any((device or "").startswith("cuda") for device in devices)

    @property
    def went_well(self) -> bool:
        return bool(self.calls) and all(phase.ok for phase in self.phases)

    @cached_property
    def call(self) -> Call | None:
        """Return the call in question: unfinished, else failed, else suspicious, else found to
        break something, else the last. Where a script complains of results, no call whose error it
        handled is."""
        on_device = next((call for call in self.calls if call.on_device), None)
        bad = [call for call in self.calls if not call.ok and call not in self.handled]
        return on_device or (
            bad[-1] if bad else self._suspicious or next(iter(self.broken), self.last_call)
        )

    @cached_property
    def handled(self) -> list[Call]:
        """Return the calls that raised in a script that made them again, and complains of what
        others returned."""
        if not self.rejected:
            return []
        again = {(p.pid, p.id) for p in self.of("run") if not p.ok and self.retried(p)}
        return [call for call in self.calls if (call.pid, call.id) in again]

    @property
    def _suspicious(self) -> Call | None:
        """Return the first call that breaks the contract, else whose results the script saw to be
        wrong, else that has odd NaN or Inf; first those that are kept."""
        from aoti_debug.record.outputs import first_odd

        broken = [call for call in self.calls if call.breaks and call not in self.handled]
        far = {(one.pid, one.call) for one in self.references if one.far}
        broken = [call for call in broken if (call.pid, call.call) in far] or broken
        if broken:
            return next((call for call in broken if call.captured is not None), broken[0])
        own = {(one.pid, one.call) for one in self.references if one.far and not one.of_class}
        wrong = (c for c in self.calls if c.captured is not None and (c.pid, c.call) in own)
        if (call := next(wrong, None)) is not None:
            return call
        held = (c for c in self.calls if c.captured is not None and c.holds_nonfinite)
        return first_odd(self, self.calls) or next(held, None)

    @cached_property
    def failure(self) -> Phase | None:
        """Return the phase that was not ended, else the innermost that failed last, but for loads
        after which another did not fail."""
        if self.unfinished is not None:
            return self.unfinished
        failed = [one for one in self.phases if one.ok is False and not self.recovered(one)]
        return _innermost(max(failed, key=lambda p: p.span.last), failed) if failed else None

    def recovered(self, failed: Phase) -> bool:
        """Tell whether a load that failed was followed by one that did not: a script may try."""
        later = (phase for phase in self.of("load") if phase.span.first > failed.span.first)
        return failed.phase == "load" and any(phase.ok for phase in later)

    def made_again(self, failed: Phase) -> bool:
        """Tell whether the call after one that raised returned, in the same process."""
        following = self._following(failed)
        return failed.phase == "run" and following is not None and bool(following.ok)

    def retried(self, failed: Phase) -> bool:
        """Tell whether that call was made while the script handled what the first one raised."""
        following = self._following(failed)
        own = following is not None and (following.pid, following.id) in self._handling
        return own and self.made_again(failed)

    def _following(self, failed: Phase) -> Phase | None:
        return self._next_calls.get((failed.pid, failed.id))

    @cached_property
    def _next_calls(self) -> dict[tuple[int, int], Phase]:
        """Return the call after each one of the same process."""
        found: dict[tuple[int, int], Phase] = {}
        last: dict[int, Phase] = {}
        for one in sorted(self.of("run"), key=lambda one: one.span.first):
            if (before := last.get(one.pid)) is not None:
                found[before.pid, before.id] = one
            last[one.pid] = one
        return found

    @cached_property
    def _handling(self) -> set[tuple[int, int]]:
        return {(call.pid, call.id) for call in self.calls if call.handling}

    @cached_property
    def error(self) -> str:
        """Return the innermost failing phase's exception and what it became, on one line."""
        failed = self.failure
        if failed is None or self.recovered(failed):
            return ""
        said: list[str] = []
        while failed is not None and failed.ok is False:
            said += [f"{failed.error.type}: {failed.error.message}"] if failed.error else []
            outer = (failed.pid, failed.parent)
            failed = self._by_id.get(outer) if failed.parent is not None else None
        return one_line(" ".join(said))

    @cached_property
    def _by_id(self) -> dict[tuple[int, int | None], Phase]:
        return {(phase.pid, phase.id): phase for phase in reversed(self.phases)}

    def caller(self, call: Call | None) -> tuple[str, int] | None:
        phase = self._by_id.get((call.pid, call.id)) if call is not None else None
        return phase.details.caller if phase is not None else None

    def source(self, *calls: Call | None) -> list[SourceLine]:
        return source_of(*map(self.caller, calls))

    def called(self, kind: str) -> tuple[str, int] | None:
        found = [phase.details.caller for phase in self.of(kind) if phase.details.caller]
        return found[-1] if found else None

    @cached_property
    def made(self) -> int:
        return sum(one.others for one in self.call_counts) + sum(g.count for g in self.groups)

    @cached_property
    def groups(self) -> Sequence[Group]:
        """Return the calls by what they have in common, in the order of their first calls."""
        from aoti_debug.record.counts import groups

        return groups(self)

    @cached_property
    def at_once(self) -> tuple[Phase, Phase] | None:
        """Return two calls of one loaded package that overlap in threads."""
        calls = self.of("run")
        each = dict.fromkeys(call.details.instance for call in calls)
        found = (overlapping([c for c in calls if c.details.instance == one]) for one in each)
        return next(filter(None, found), None)


NO_RECORD = RunSeen()


def _innermost(phase: Phase, failed: Sequence[Phase]) -> Phase:
    """An exception ends every phase that it passes through; the first one to fail is meant."""
    inner = [p for p in failed if p.parent == phase.id and p.pid == phase.pid]
    return _innermost(inner[-1], failed) if inner else phase


def overlapping(calls: Sequence[Phase]) -> tuple[Phase, Phase] | None:
    """Return two of these calls, of one process, that ran in different threads at the same time."""
    latest: dict[int, Phase] = {}
    for call in calls:  # in the order in which they began
        before = latest.get(call.pid)
        if (
            before is not None
            and before.details.thread != call.details.thread
            and (before.ok is None or before.span.last > call.span.first)
        ):
            return before, call
        if before is None or before.span.last <= call.span.last or call.ok is None:
            latest[call.pid] = call
    return None
