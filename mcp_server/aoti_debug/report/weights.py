"""Outline what an examination of new weights found."""

from __future__ import annotations

from aoti_debug.examine.answers import WeightFinding, WeightsAnswer, WeightStep
from aoti_debug.report.text import Item, Outline, Tone, following, section

TONES: dict[str | None, Tone] = {"right": "fine", "wrong": "fault", "undecided": "doubt"}


def outline_weights(answer: WeightsAnswer) -> Outline:
    """Outline the verdict, the constants that are wrong, the steps, the code that is right."""
    more = answer.findings_count - len(answer.findings)
    return Outline(
        answer.summary or f"no verdict: the run is {answer.status}",
        TONES.get(answer.update, "plain"),
        tuple(filter(None, (answer.update,))),
        (
            section(
                "Constants",
                *map(_finding, answer.findings),
                Item(f"{more} more") if more > 0 else None,
            ),
            section("Steps", *map(_step, answer.sequence)),
            section("Compared with", answer.truth),
            section("Under calls", answer.under_calls),
            section(
                "Tried, right",
                Item("this sequence", quote=answer.safe, whole=True, language="python"),
            )
            if answer.safe
            else section("Tried, right"),
            section("Guide", answer.guide),
            following(answer.next),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}",
    )


def _finding(one: WeightFinding) -> Item:
    fix = f"; {one.fix}" if one.fix else ""
    return Item(f"{one.constant or 'outputs'}: {one.reason}", f"since {one.since}{fix}")


def _step(one: WeightStep) -> Item:
    outputs = f": outputs {one.outputs}" if one.outputs else ""
    wrong = ", ".join(one.wrong[:4]) + (", …" if len(one.wrong) > 4 else "")
    detail = "; ".join(filter(None, (f"not new: {wrong}" if wrong else "", one.said)))
    return Item(f"{one.number}. {one.step}{outputs}", detail)
