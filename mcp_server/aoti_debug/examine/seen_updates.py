"""The update of weights that a watched process was seen to make, as steps that can be played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aoti_debug.errors import UnreadableInput
from aoti_debug.examine.process import SAID
from aoti_debug.probe import update_steps
from aoti_debug.probe.update_steps import OPTIONS, STEPS, Step
from aoti_debug.read.event_records import Phase
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.files import is_regular

GIVING = ("constants", "overwrite")
CHANGES = (*GIVING, "swap", "free")


@dataclass(frozen=True, slots=True)
class SeenUpdate:
    """The steps, and the file of weights of each one that gives some, in order."""

    steps: tuple[Step, ...]
    files: tuple[Path, ...]


def seen_update(run: RunSeen, directory: Path) -> SeenUpdate:
    """Return the steps by which the last process that changed weights did so, with calls between
    them. Raise UnreadableInput where it changed none, or its weights were not kept."""
    changes = [one for one in run.of(*CHANGES) if one.ok is not None]
    changes = [one for one in changes if changes and one.pid == changes[-1].pid]
    changes = [one for one in changes if one.details.package == changes[-1].details.package]
    if not any(one.phase == "constants" for one in changes):
        raise UnreadableInput(
            "the run gave no new weights to a package",
            help="Give the sequence: --sequence full, partial, inactive, user-managed or steps.",
        )
    calls = [one.span.first for one in run.calls if one.pid == changes[-1].pid]
    steps, files, before = list[Step](), list[Path](), 0
    for one in changes[-STEPS // 2 :]:
        if any(before < call < one.span.first for call in calls) and steps:
            steps.append(Step(update_steps.CALL))
        before = one.span.first
        steps.append(_step(one, len(files)))
        if one.phase in GIVING:
            files.append(_file(one, directory))
    return SeenUpdate((*steps, Step(update_steps.CALL)), tuple(files))


def _step(one: Phase, number: int) -> Step:
    if one.phase == "overwrite":
        return Step(update_steps.OVERWRITE, file=number)
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
