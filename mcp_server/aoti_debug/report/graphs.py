"""Outline whether a CUDA graph can hold a package's calls."""

from __future__ import annotations

from aoti_debug.examine.answers import GraphsAnswer
from aoti_debug.report.text import Outline, Tone, section

TONES: dict[str | None, Tone] = {"fit": "fine", "not fit": "fault", "depends": "doubt"}


def outline_graphs(answer: GraphsAnswer) -> Outline:
    """Outline the verdict, what was tried, what stands against it, what to keep to."""
    count = answer.captures
    return Outline(
        answer.summary or f"no verdict: the run is {answer.status}",
        TONES.get(answer.graphs, "plain"),
        tuple(filter(None, (answer.graphs,))),
        (
            section("Tried here", answer.tried),
            section("Against it", *answer.blockers),
            section("Captures", f"{count}, one for each of the sizes seen" if count else None),
            section("To keep to", *answer.rules),
            section("Guide", answer.guide),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}",
    )
