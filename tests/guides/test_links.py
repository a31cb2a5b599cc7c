from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.signatures.signature import Signature, signatures
from guides.documents import GUIDES, ROOT, SKILL, anchors, links

DOCUMENTS = (SKILL, *GUIDES)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in links(path):
        if link.target.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.target.partition("#")
        target = (path.parent / name).resolve() if name else path
        found = target.is_file() and target.is_relative_to(ROOT)
        if not found or (anchor and anchor not in anchors(target)):
            broken.append(f"{path.name}:{link.line}: {link.target}")
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_headings_have_anchors_of_their_own(path: Path) -> None:
    found = anchors(path)
    assert len(found) == len(set(found))


def test_every_guide_is_two_hops_away() -> None:
    first = _linked(SKILL)
    second = {target for path in first for target in _linked(path)}
    assert first | second >= set(GUIDES)


def _linked(path: Path) -> set[Path]:
    names = (link.target.partition("#")[0] for link in links(path))
    found = {(path.parent / name).resolve() for name in names if name.endswith(".md")}
    return {path for path in found if path.is_file()}


@pytest.mark.parametrize("signature", signatures(), ids=lambda s: s.id)
def test_a_signature_points_to_a_section(signature: Signature) -> None:
    name, _, anchor = signature.guide.partition("#")
    assert ROOT / name in GUIDES
    assert anchor in anchors(ROOT / name)
