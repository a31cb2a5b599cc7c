"""What the guides state of torch is so in the installed torch: texts, names, settings, releases.

A row of claims.tsv is guide, kind (find_claims.py says which), words of the guide, releases, and
what is looked for where that is not the words themselves. Releases are `2.10+`, `2.8-2.9`, `2.6`,
or nothing for all: outside of them the claim must not hold. `seen` marks what only runs of those
releases showed. After an upgrade, a row that fails shows what a guide has to say differently.
Another release can be asked without being installed, from a wheel that is unpacked:

    AOTI_DEBUG_UNPACKED=/path/to/torch make test ARGS=tests/guides/test_claims.py

Error texts from public threads reach their guide in one hop: grep, or a row of the table.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from aoti_debug.facts.flag import NEWEST, OLDEST, Release, release
from guides.documents import GUIDES, ROOT, SKILL, guides_of, prose
from interpreter import torch_python

FINDER = Path(__file__).with_name("find_claims.py")
UNPACKED = os.environ.get("AOTI_DEBUG_UNPACKED")
# Their releases are rows of the tools' tables, or of the reports that they quote.
ELSEWHERE = ("environment-variables.md", "examples.md")


@dataclass(frozen=True)
class Claim:
    guide: str
    kind: str
    words: str
    releases: str = ""
    source: str = ""

    @property
    def asked(self) -> tuple[str, str]:
        return self.kind, self.source or self.words

    @property
    def bounds(self) -> tuple[Release, Release]:
        since, dash, until = self.releases.rstrip("+").partition("-")
        if not since:
            return OLDEST, NEWEST
        last = until if dash else "" if self.releases.endswith("+") else since
        return release(since), release(last) if last else NEWEST

    def holds_in(self, installed: Release) -> bool:
        since, until = self.bounds
        return since <= installed and (installed <= until or until == NEWEST)


CLAIMS = [
    Claim(*line.split("\t"))
    for line in Path(__file__).with_name("claims.tsv").read_text("utf-8").splitlines()
]


def ask(claims: list[tuple[str, str]]) -> tuple[Release, list[bool | None]]:
    """Return the release of the torch that is asked, and whether it holds what the claims say."""
    argv = [torch_python(), "-W", "ignore", str(FINDER), *([UNPACKED] if UNPACKED else [])]
    done = subprocess.run(
        argv, input=json.dumps(claims), capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    return release(answer["version"]), answer["holds"]


def parts(words: str) -> list[str]:
    """Return the fixed parts of a text: what varies is written `…`."""
    return [part.strip() for part in words.split("…") if part.strip()]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: f"{c.guide}-{c.words[:40]}")
def test_a_claim_is_in_its_guide(claim: Claim) -> None:
    text = " ".join((ROOT / "guides" / claim.guide).read_text("utf-8").split())
    name = not claim.source and claim.kind in ("api", "config")
    for part in [claim.words.rpartition(".")[2]] if name else parts(claim.words):
        assert " ".join(part.split()) in text


def test_every_claim_holds_in_its_releases_and_in_no_other() -> None:
    claims = [claim for claim in CLAIMS if claim.kind != "seen"]
    installed, verdicts = ask([claim.asked for claim in claims])
    wrong = [
        claim
        for claim, verdict in zip(claims, verdicts, strict=True)
        if verdict is not None and verdict != claim.holds_in(installed)
    ]
    assert wrong == []


def test_a_false_claim_would_be_seen() -> None:
    false = [
        ("text", "Cannot find constants … in constants_mapp!"),
        ("config", "aot_inductor.nope"),
        ("api", "torch._inductor.aoti_lode_package"),
        ("_inductor/config.py", "AOTI_NOPE"),
        ("_inductor/nope.py", "import"),
    ]
    _, verdicts = ask(false)
    assert not any(verdicts)


@pytest.mark.parametrize(
    "path", [p for p in GUIDES if p.name not in ELSEWHERE], ids=lambda p: p.name
)
def test_every_release_that_a_guide_states_has_a_claim(path: Path) -> None:
    """A boundary is stated as the first release or as the last one before it."""
    text = re.sub(r"`[^`]*`", "", "\n".join(prose(path)))
    stated = {Release(2, int(n)) for n in re.findall(r"(?<![\d.])2\.(\d\d?)(?![\d^])", text)}
    known = set[Release]()
    for claim in CLAIMS:
        if claim.guide == path.name and claim.releases:
            since, until = claim.bounds
            known |= {since, until, Release(2, since.minor - 1), Release(2, until.minor + 1)}
    assert {r for r in stated if OLDEST <= r <= NEWEST} - known == set()


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
