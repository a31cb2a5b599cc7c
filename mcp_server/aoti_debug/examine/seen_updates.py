"""The updates of weights that a watched process was seen to make, as steps that can be played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.errors import UnreadableInput
from aoti_debug.examine.process import SAID
from aoti_debug.probe import update_steps
from aoti_debug.probe.update_steps import OPTIONS, STEPS, Step
from aoti_debug.read.event_records import Call, Phase
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.files import is_regular

GIVING = ("constants", "overwrite")
CHANGES = (*GIVING, "swap", "free")


@dataclass(frozen=True, slots=True)
class SeenUpdate:
    """The steps, the phase of each that is no call, and the file of each that gives weights."""

    steps: tuple[Step, ...]
    files: tuple[Path, ...]
    phases: tuple[Phase | None, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed the weights of one loaded package, and the calls of it, in order."""

    phases: tuple[Phase, ...]
    calls: tuple[Call, ...]
    reused: Phase | None = None  # that gave its user-managed memory to another instance

    @property
    def suspicious(self) -> bool:
        """Tell whether anything was done besides giving all weights to the buffer in use."""
        loads = [one for one in self.phases if one.phase == "constants"]
        if not loads:
            return False
        last = loads[-1].details
        plain = len(loads) == len(self.phases) and all(one.ok for one in loads)
        whole = not (last.rest or last.inactive or last.user_managed or last.ignored)
        return not (plain and whole and (len(loads) == 1 or last.full))


def changes(run: RunSeen) -> Iterator[Changes]:
    """Yield what changed each loaded package's weights up to its last call, the latest last."""
    known = [one for one in run.of(*CHANGES) if one.ok is not None and not one.details.released]
    for key in reversed(dict.fromkeys(map(_key, reversed(known)))):
        own = [one for one in known if _key(one) == key]
        calls = [one for one in run.calls if (one.pid, one.package, one.instance) == key]
        last = calls[-1].span.first if calls and run.made <= len(run.calls) else None
        used = [one for one in own if last is None or one.phase == "overwrite" or _at(one) < last]
        shared = (p for p in known if p.pid == key[0] and key[2] in p.details.shared_with)
        reused = next((p for p in shared if last is None or _at(p) < last), None)
        if any(one.phase == "constants" for one in used):
            yield Changes(tuple(used), tuple(calls), reused)


def _key(one: Phase) -> tuple[int, str | None, int | None]:
    return one.pid, one.details.package, one.details.instance


def _at(one: Phase) -> int:
    return one.span.first


def seen_update(run: RunSeen, directory: Path) -> SeenUpdate:
    """Return the steps of the package that was given weights last; raise UnreadableInput."""
    found = list(changes(run))
    if not found:
        raise UnreadableInput(
            "the run gave no new weights to a package",
            help="Give the sequence: --sequence full, partial, inactive, user-managed or steps.",
        )
    return played(found[-1], directory)


def played(seen: Changes, directory: Path) -> SeenUpdate:
    """Return the steps of the changes, with calls between them; raise UnreadableInput."""
    steps, files, phases, before = list[Step](), list[Path](), list[Phase | None](), 0
    for one in seen.phases[-STEPS // 2 :]:
        if steps and any(before < call.span.first < _at(one) for call in seen.calls):
            steps.append(Step(update_steps.CALL))
            phases.append(None)
        before = _at(one)
        reused = seen.reused if one.phase == "overwrite" else None
        steps.append(_step(one, len(files), spoils=reused is not None))
        phases.append(reused or one)
        if one.phase in GIVING:
            files.append(_file(one, directory))
    return SeenUpdate((*steps, Step(update_steps.CALL)), tuple(files), (*phases, None))


def _step(one: Phase, number: int, *, spoils: bool) -> Step:
    if one.phase == "overwrite":
        values = "other" if spoils else "new"
        return Step(update_steps.OVERWRITE, file=number, values=values)
    if one.phase != "constants":
        return Step(update_steps.SWAP if one.phase == "swap" else update_steps.FREE)
    given = {name: getattr(one.details, name) for name in OPTIONS[update_steps.LOAD]}
    return Step(update_steps.LOAD, file=number, **given)


def _file(one: Phase, directory: Path) -> Path:
    name = one.details.captured
    if name is None or not is_regular(directory / name):
        why = one.details.why_not or "their file is gone"
        raise UnreadableInput(
            f"weights that the run gave were not kept: {why}"[:SAID],
            help="Give the sequence with the file of the new weights.",
        )
    return directory / name
