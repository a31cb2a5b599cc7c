"""Error texts from public threads reach their guide in one hop: grep, or a row of the table."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest
from guides.documents import GUIDES, SKILL, guides_of

PACKED = Path(__file__).with_name("public_texts.jsonl.xz").read_bytes()
TEXTS = [json.loads(line) for line in lzma.decompress(PACKED).splitlines()]
BODIES = {
    path.name: " ".join(path.read_text("utf-8").replace("`", "").split())
    for path in GUIDES
    if path.name not in ("environment-variables.md", "examples.md")
}
FEW = 3  # guides that a part may hit and still tell them apart


def fixed_parts(line: str) -> list[str]:
    """Return what a reader would search for, longest first: runs of words, identifiers."""
    words = line.replace("`", "").split()
    runs = {
        " ".join(words[first:last]).strip(".,;()[]")
        for first in range(len(words))
        for last in range(first + 1, len(words) + 1)
    }
    parts = {r for r in runs if len(r) >= (12 if " " in r else 8) and re.search(r"[^\W\d]", r)}
    parts |= set(re.findall(r"[A-Za-z_][\w:]{7,}", line))
    return sorted(parts, key=len, reverse=True)


def grep(text: str) -> set[str]:
    """Return the guides that the longest part of any line hits, if it hits few."""
    best: tuple[int, set[str]] = (0, set())
    for line in text.splitlines():
        for part in fixed_parts(line):
            hit = {name for name, body in BODIES.items() if part in body}
            if 0 < len(hit) <= FEW:
                best = max(best, (len(part), hit), key=lambda found: found[0])
                break
    return best[1]


def look_up(text: str) -> set[str]:
    """Return the guides of the first row of the table one of whose quoted words is in the text."""
    for row in SKILL.read_text("utf-8").splitlines():
        symptom = row.split("|")[1] if row.startswith("| ") else ""
        for quoted in re.findall(r"`([^`]+)`", symptom):
            if any(len(part.strip()) > 6 and part.strip() in text for part in quoted.split("…")):
                return {target.partition("#")[0] for target in guides_of(row)}
    return set()


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: str(case["thread"]))
def test_a_public_text_reaches_its_guide_in_one_hop(case: dict[str, str]) -> None:
    text = case["text"]
    assert case["guide"] in grep(text) | look_up(text)


def test_there_are_enough_texts_of_enough_kinds() -> None:
    assert len(TEXTS) >= 60
    assert len({case["guide"] for case in TEXTS}) >= 12
