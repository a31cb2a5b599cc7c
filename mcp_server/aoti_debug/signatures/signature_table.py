"""Read a table of failure signatures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

from aoti_debug.facts.categories import Tier
from aoti_debug.model import Confidence
from aoti_debug.signatures.signature import (
    Origin,
    Role,
    Sample,
    Signature,
    ToolName,
    unconfirmed,
)

# The words that may follow a head, and the field that each is of.
FLAGS = {
    word: field
    for field, kind in (("role", Role), ("confidence", Confidence), ("next_tool", ToolName))
    for word in get_args(kind)
}
TEXTS = ("summary", "means", "check")
PATTERNS: dict[str, type[str]] = {"pattern": str, "unconfirmed": unconfirmed}
PARTS = " || "  # between the patterns, or the anchors, of one line
_NOTE = re.compile(r"\[([^\]]{0,200})\] ")
RECORDED = "torch 2.13.0, CPU"  # the note of a recorded sample that has none


def signatures_of(table: str) -> Iterator[Signature]:
    """Yield the signatures of a table.

    A head names id, phase, category and tier, then role, confidence and next tool where they are
    not the usual ones. Each line below holds a field's name and its text as it is: `guide` without
    its folder, a sample by its origin with a [note] before it, `unlike` before a neighbour. Several
    patterns or anchors may share a line, with || between them; a blank at an end of one is
    written [ ]. All patterns below `after` begin with its text, up to the next `after`.
    """
    for block in re.split(r"\n(?=\S)", table.strip("\n")):
        head, *lines = block.split("\n")
        yield _signature(head, [line[4:] for line in lines])


def _signature(head: str, lines: list[str]) -> Signature:
    id, phase, category, tier, *flags = head.split()
    known: dict[str, Any] = {FLAGS[word]: word for word in flags}
    lists: dict[str, list[Any]] = defaultdict(list)
    start = ""
    for line in lines:
        key, _, text = line.partition(" ")
        if key in TEXTS:
            known[key] = text
        elif key == "guide":
            known[key] = f"guides/{text}"
        elif key == "after":
            start = text
        elif key in PATTERNS:
            lists["patterns"] += (PATTERNS[key](start + one) for one in text.split(PARTS))
        elif key == "unlike":
            lists["neighbours"].append(_sample(*text.split(" ", 1)))
        elif key == "anchor":
            lists["anchors"] += (one.replace("[ ]", " ") for one in text.split(PARTS))
        elif key == "fix":
            lists["fixes"].append(text)
        else:
            lists["matches"].append(_sample(key, text))
    known |= {name: tuple(texts) for name, texts in lists.items()}
    return Signature(id, phase, category, Tier[tier], **known)  # type: ignore[arg-type]


def _sample(origin: str, text: str) -> Sample:
    if origin not in get_args(Origin):
        raise ValueError(f"{origin} {text[:60]}: no field of a signature begins so")
    note = RECORDED if origin == "recorded" else ""
    if (own := _NOTE.match(text)) is not None:
        note, text = own[1], text[own.end() :]
    return Sample(text, origin, note)  # type: ignore[arg-type]
