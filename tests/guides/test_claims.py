"""What the guides state of torch is so in the installed torch: its texts, names and settings.

A row of claims.tsv is guide, kind, words. A row that fails after an upgrade shows what a guide has
to say differently; a row whose words left the guide goes.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from guides.documents import ROOT
from interpreter import torch_python

ROWS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("claims.tsv").read_text("utf-8").splitlines()
]


def parts(words: str) -> list[str]:
    """Return the fixed parts of a text: what varies is written `…`."""
    return [part.strip() for part in words.split("…") if part.strip()]


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[str, str], bool]:
    """Ask the installed torch for all claims at once."""
    asked = sorted({(kind, words) for _, kind, words in ROWS})
    script = Path(__file__).with_name("find_claims.py")
    done = subprocess.run(
        [torch_python(), "-W", "ignore", str(script)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(asked, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize(("guide", "kind", "words"), ROWS, ids=lambda part: part[:40])
def test_a_claim_is_in_its_guide(guide: str, kind: str, words: str) -> None:
    text = " ".join((ROOT / "guides" / guide).read_text("utf-8").split())
    for part in parts(words) if kind == "text" else [words.rpartition(".")[2]]:
        assert " ".join(part.split()) in text


def test_every_claim_holds_for_the_installed_torch(
    verdicts: dict[tuple[str, str], bool],
) -> None:
    wrong = [row for row in ROWS if not verdicts[row[1], row[2]]]
    assert wrong == []


def test_a_false_claim_would_be_seen() -> None:
    false = [
        ("text", "Cannot find constants … in constants_mapp!"),
        ("config", "aot_inductor.nope"),
        ("api", "torch._inductor.aoti_lode_package"),
    ]
    script = Path(__file__).with_name("find_claims.py")
    argv = [torch_python(), "-W", "ignore", str(script)]
    done = subprocess.run(argv, input=json.dumps(false), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [False, False, False]
