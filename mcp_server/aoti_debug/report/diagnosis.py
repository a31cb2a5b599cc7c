"""Outline a diagnosis: what, where, why, how it is known, what to do."""

from __future__ import annotations

from aoti_debug.model import Cost, Diagnosis, Evidence, Fault, InputFinding, Kernel, SourceLine
from aoti_debug.report.command import command_line
from aoti_debug.report.outline import Item, Outline, Tone, section, sections
from aoti_debug.report.values import slice_section, values_section

NOT_FAULTS = frozenset({"no_fault", "false_alarm"})


def outline_diagnosis(diagnosis: Diagnosis) -> Outline:
    """Outline one diagnosis in full."""
    return Outline(
        headline=diagnosis.summary,
        tone=tone_of(diagnosis),
        tags=tags_of(diagnosis),
        sections=sections(
            section(
                "Where",
                *(_source(line) for line in diagnosis.source),
                kernel_item(diagnosis.kernel),
                Item(", ".join(diagnosis.ops), "operators") if diagnosis.ops else None,
            ),
            section(
                "Why",
                input_item(diagnosis.input),
                _fault(diagnosis.fault),
                Item(diagnosis.means) if diagnosis.means else None,
            ),
            slice_section(diagnosis.slice),
            values_section(diagnosis.values),
            section("Evidence", *(_evidence(evidence) for evidence in diagnosis.evidence)),
            section("Not the cause", *(Item(text) for text in diagnosis.misleading)),
            section(
                "Fix",
                *(
                    Item(f"{fix.what} ({fix.where})" if fix.where else fix.what, fix.why or "")
                    for fix in diagnosis.fixes
                ),
            ),
            section(
                "Next", *(Item(command_line(step), step.why, code=True) for step in diagnosis.next)
            ),
            section("Guide", Item(diagnosis.guide) if diagnosis.guide else None),
        ),
        foot=_foot(diagnosis),
    )


def brief(diagnosis: Diagnosis) -> Item:
    """Say a diagnosis in one line."""
    return Item(diagnosis.summary, " · ".join(tags_of(diagnosis)))


def tone_of(diagnosis: Diagnosis) -> Tone:
    if diagnosis.category in NOT_FAULTS:
        return "fine"
    return "doubt" if diagnosis.confidence == "possible" else "fault"


def tags_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    tags = [diagnosis.category.replace("_", " "), diagnosis.confidence]
    if diagnosis.phase != "none":
        tags.append(f"in phase {diagnosis.phase.replace('_', ' ')}")
    return tuple(tags)


def _source(line: SourceLine) -> Item:
    return Item(f"{line.file}:{line.line}", "your code", line.text or "")


def kernel_item(kernel: Kernel | None) -> Item | None:
    if kernel is None:
        return None
    text = f"kernel {kernel.name}"
    if kernel.launch is not None:
        text += f", launch {kernel.launch}"
    place = f"{kernel.file}:{kernel.line}" if kernel.file and kernel.line else kernel.file or ""
    detail = ", ".join(part for part in (kernel.kind or "", place) if part)
    return Item(text, detail, kernel.text or "")


def input_item(found: InputFinding | None) -> Item | None:
    if found is None:
        return None
    name = f" {found.name}" if found.name else ""
    dim = f" of dimension {found.dim}" if found.dim is not None else ""
    text = f"input {found.index}{name}: {found.property}{dim}"
    if found.expected is not None:
        text += f" should be {found.expected}"
    if found.got is not None:
        text += f", is {found.got}" if found.expected is not None else f" is {found.got}"
    return Item(text)


def _fault(fault: Fault | None) -> Item | None:
    if fault is None:
        return None
    access = {"assert": "assertion in the kernel"}.get(fault.access or "", fault.access)
    parts = [
        " of ".join(part for part in (access, _bytes(fault.size)) if part),
        f"at {fault.address}" if fault.address else "",
        f"{_bytes(fault.distance)} past the nearest allocation" if fault.distance else "",
        f"which has {_bytes(fault.allocation)}" if fault.allocation else "",
        f"block {_triple(fault.block)}" if fault.block else "",
        f"thread {_triple(fault.thread)}" if fault.thread else "",
        f"ended by {fault.signal}" if fault.signal else "",
    ]
    text = ", ".join(part for part in parts if part)
    return Item(text) if text else None


def _evidence(evidence: Evidence) -> Item:
    place = evidence.artifact
    if evidence.lines is not None:
        first, last = evidence.lines
        place += f":{first}" if first == last else f":{first}-{last}"
    return Item(place, quote=evidence.quote)


def _foot(diagnosis: Diagnosis) -> str:
    parts = [f"run {diagnosis.run}"] if diagnosis.run else []
    if diagnosis.cost is not None:
        parts += _cost(diagnosis.cost)
    return " · ".join(parts)


def _cost(cost: Cost) -> list[str]:
    parts = [_count(cost.process_runs, "process"), _count(cost.recompiles, "recompile")]
    parts.append(f"{cost.wall_s:.1f} s")
    if cost.gpu_s is not None:
        parts.append(f"{cost.gpu_s:.1f} s of GPU")
    return parts


def _count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def _bytes(number: int | None) -> str | None:
    return None if number is None else _count(number, "byte")


def _triple(value: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, value))})"
