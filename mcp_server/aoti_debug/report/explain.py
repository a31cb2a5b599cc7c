"""Outline an explained kernel."""

from __future__ import annotations

from aoti_debug.model import ExplainAnswer
from aoti_debug.report.command import command_line
from aoti_debug.report.diagnosis import input_item, kernel_item
from aoti_debug.report.outline import Item, Outline, section, sections
from aoti_debug.report.values import slice_section, values_section


def outline_explained(answer: ExplainAnswer) -> Outline:
    """Outline a kernel: why it failed first, then what it is."""
    users = answer.user_kernel
    return Outline(
        answer.summary,
        "fault" if answer.category else "plain",
        tuple(filter(None, (answer.category, answer.confidence))),
        sections(
            section(
                "Where",
                *(Item(f"{s.file}:{s.line}", "your code", s.text or "") for s in answer.source),
                Item(f"{users.file}:{users.line}", "your kernel", users.text or "")
                if users
                else None,
                kernel_item(answer.kernel),
                Item(", ".join(answer.ops), "operators") if answer.ops else None,
            ),
            section("Why", input_item(answer.input)),
            slice_section(answer.slice),
            values_section(answer.values),
            section("Arguments", *(Item(name, what) for name, what in answer.arguments.items())),
            section("Sizes", *(Item(name, what) for name, what in answer.sizes.items())),
            section("Fed by", *map(Item, answer.chain)),
            section("Checked", *map(Item, answer.checked)),
            section("Not checked", *map(Item, answer.unchecked)),
            section(
                "Code",
                Item(f"of {answer.kernel.name}", quote=answer.code, whole=True)
                if answer.code
                else None,
            ),
            section("Fix", *(Item(fix.what, fix.why or "") for fix in answer.fixes)),
            section(
                "Next", *(Item(command_line(step), step.why, code=True) for step in answer.next)
            ),
            section("Notes", *map(Item, answer.notes)),
        ),
        foot=f"run {answer.run}" if answer.run else answer.package or "",
    )
