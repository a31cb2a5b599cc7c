"""What the guides may say: only what the tables, the tools and the installed torch know; links lead
somewhere.

What they state of torch is so in the installed torch: texts, names, settings, releases. A heading
of claims.tsv is a guide and a kind (in_torch.py says which); a row below it is words of the guide,
releases, and what is looked for where that is not the words themselves. Releases are `2.10+`,
`2.8-2.9`, `2.6`, or nothing for all: outside of them the claim must not hold. `seen` marks what
only runs of those releases showed. After an upgrade, a row that fails shows what must change.
Another release can be asked without being installed, from a wheel that is unpacked:

    AOTI_DEBUG_UNPACKED=/path/to/torch make test ARGS=tests/guides/test_contents.py

Error texts from public threads reach their guide in one hop: grep, or a row of the table.
"""

from __future__ import annotations

import functools
import json
import lzma
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from aoti_debug.commands.app import with_commands
from aoti_debug.facts.flag import NEWEST, OLDEST, Release, release
from aoti_debug.facts.flags import flags
from aoti_debug.facts.stages import stage_named
from aoti_debug.model import NOT_FAULTS, Confidence, Verdict
from aoti_debug.server import TOOLS
from aoti_debug.signatures.signature import Signature, signatures
from guides.documents import (
    GUIDES,
    ROOT,
    SKILL,
    anchors,
    blocks,
    code_spans,
    guides_of,
    links,
    prose,
    text_of,
)
from guides.written import write_guide
from programs import torch_python

DOCUMENTS = (SKILL, *GUIDES)
each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
each_guide = pytest.mark.parametrize("path", GUIDES, ids=lambda p: p.name)
LOAD = 15_150  # characters of the skill and one guide: 4,000 tokens (o200k) of any of them

# Variables that no table of ours describes: read by other programs, or named as not existing.
ELSEWHERE = set(
    """
    AMD_SERIALIZE_KERNEL AOTI_DEBUG AOT_INDUCTOR_DEBUG ATEN_CPU_CAPABILITY CUDA_COREDUMP_PIPE
    CUDA_ENABLE_USER_TRIGGERED_COREDUMP HIP_VISIBLE_DEVICES LD_LIBRARY_PATH OMP_NUM_THREADS
    TORCHINDUCTOR_CPP_DYNAMIC_THREADS TORCH_COMPILE_DEBUG_DIR
    TORCHDYNAMO_EXTENDED_DEBUG_CPP TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL
    TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED TORCHINDUCTOR_EMULATE_PRECISION_CASTS TORCH_LOGS_OUT
    TORCH_TRACE TORCH_USE_CUDA_DSA TRITON_ALWAYS_COMPILE TRITON_CACHE_DIR TRITON_DUMP_DIR
    TRITON_DUMP_PTXAS_LOG TRITON_INTERPRET TRITON_KERNEL_DUMP TRITON_PTXAS_PATH
    """.split()
)
METADATA = set(
    """
    AOTI_COMPUTE_CAPABILITY AOTI_CPU_ISA AOTI_DEVICE_KEY AOTI_MACHINE AOTI_PLATFORM
    TORCH_LIBRARY AOT_INDUCTOR_X TORCHINDUCTOR_X
    """.split()
)
VARIABLE = re.compile(
    r"\b(?:AOT|AOTI|AOTINDUCTOR|TORCHINDUCTOR|TORCH|PYTORCH|PYTHON|CUDA|TRITON|DUMP|INDUCTOR|ATEN"
    r"|HIP|AMD|OMP|LD)_?[A-Z0-9_]*_[A-Z0-9_]+\b"
)


@each_guide
def test_the_skill_and_a_guide_are_a_small_load(path: Path) -> None:
    assert len(SKILL.read_text("utf-8")) + len(path.read_text("utf-8")) <= LOAD


OTHERS = {"wrong-results.md", "triton-index-out-of-bounds.md"}
CONTENTS_FROM = 100  # lines; a longer guide begins with a line of contents


@each_guide
def test_a_long_guide_begins_with_its_contents(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    if len(lines) > CONTENTS_FROM and path.name not in OTHERS:
        titles = [line[3:] for line in prose(path) if line.startswith("## ")]
        assert f"Contents: {' · '.join(titles)}." in " ".join(lines[:25])


def test_the_skill_is_short() -> None:
    assert len(SKILL.read_text("utf-8")) <= 4_450  # 1,200 tokens (o200k)


def test_the_skill_says_when_to_begin_what_an_answer_is_good_for_and_when_to_stop() -> None:
    _, _, text = SKILL.read_text("utf-8").partition("## When to triage")
    section, _, _ = text.partition("\n## ")
    told = " ".join(section.split())
    assert "Skip triage if the source shows the cause, or the error names the line" in told
    assert "**Stop when `verify_fix` says `fixed`**" in told
    rows = {line.split("|")[1] for line in section.splitlines() if line.startswith("| ")}
    answers = {*get_args(Confidence), *NOT_FAULTS - {"false_alarm"}}
    assert {f" `{name}` " for name in answers} <= rows
    assert " a patch marked `fixed` " in rows and "fixed" in get_args(Verdict)


def test_the_guide_on_variables_is_fresh() -> None:
    guide = ROOT / "guides" / "environment-variables.md"
    assert guide.read_text("utf-8") == write_guide(flags(), NEWEST)


@each_document
def test_variables_are_known(path: Path) -> None:
    known = {f.name for f in flags()} | ELSEWHERE | METADATA
    used = set(VARIABLE.findall(path.read_text("utf-8")))
    assert {u for u in used if not u.endswith("_")} - known == set()


@each_document
def test_settings_of_inductor_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    used = set(re.findall(r"\baot_inductor\.[a-z_A-Z0-9]+", text)) - {"aot_inductor.x"}
    torch, existing = _inductor_settings()
    elsewhere = {f.attribute for f in flags() if f.since > release(torch) or f.until}
    assert used - existing - elsewhere - {"aot_inductor.metadata"} == set()


@functools.cache
def _inductor_settings() -> tuple[str, set[str]]:
    """Return the version of torch too."""
    code = (
        "import json, torch, torch._inductor.config as inductor\n"
        "print(json.dumps([torch.__version__, list(inductor.get_config_copy())]))"
    )
    done = subprocess.run([torch_python(), "-c", code], capture_output=True, text=True, check=True)
    version, names = json.loads(done.stdout)
    return version, set(names)


def _command_lines(path: Path) -> list[str]:
    shell = [b.source.replace("\\\n", " ") for b in blocks(path) if b.language == "bash"]
    lines = [line for source in shell for line in source.splitlines()] + code_spans(path)
    return [line.split("#")[0] for line in lines if re.match(r"aoti-debug [a-z]", line)]


@each_document
def test_our_command_lines_are_accepted(path: Path) -> None:
    group: Any = typer.main.get_command(with_commands([]))
    for line in _command_lines(path):
        name, *words = line.split()[1:]
        context = group.commands[name].make_context(name, words)
        if "stage" in context.params:
            stage_named(context.params["stage"])


def test_the_skill_names_every_tool() -> None:
    assert {tool.name for tool in TOOLS} <= set(code_spans(SKILL))


@each_document
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


@each_document
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


# What a guide once said wrongly, or left out, and what it says now.
STATED = (
    ("wrong-results.md", "`.double()`", "program.module().double()"),
    ("constants.md", "clone(memory_format=torch.contiguous_format)", "v.detach().contiguous()"),
    ("input-contracts.md", '**`Dim("b")` and `min=2`**', ""),
    ("toolchain.md", "precompiled headers stay in `/tmp/torchinductor_USER`", ""),
    ("package-and-load.md", "'*_metadata.json'", "wrapper_metadata.json"),
    ("custom-ops.md", "`c10::SymInt` sizes", ""),
    ("lowering-and-cpp.md", "torch._inductor.config.cpp_wrapper = True", ""),
    ("cuda-illegal-memory-access.md", "PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF", ""),
    ("debugging-tools.md", "`python minifier_launcher.py run`", ""),
    ("debugging-tools.md", "`tlparse DIR --inductor-provenance` shows", ""),
    ("environment-variables.md", "0 off, 1 save tensors, 2 print values, 3 print kernel names", ""),
    ("environment-variables.md", "skip_nonrelocated_elf_images,skip_global_memory", ""),
    ("environment-variables.md", "| compiling | 1, 2, 3, 4 | nothing without", ""),
    ("custom-ops.md", "assert len(real) == len(fake)", ""),
    ("cuda-illegal-memory-access.md", "## Walk back from the kernel", ""),
    ("cuda-illegal-memory-access.md", "## Without CUDA tools", ""),
    ("package-and-load.md", "## Loading without Python", ""),
    ("debugging-tools.md", "## The exported program", ""),
    ("wrong-results.md", "## Check order", ""),
    ("examples.md", "## A triage", ""),
    ("examples.md", "## A bug report", ""),
    ("../SKILL.md", "grep -rnF 'the fixed part of the message' guides/", ""),
    ("../README.md", "PyTorch's repository ships a skill of the same name", ""),
)


@pytest.mark.parametrize(("guide", "code", "replaced"), STATED)
def test_a_guide_gives_the_code_that_was_measured_and_not_what_it_replaced(
    guide: str, code: str, replaced: str
) -> None:
    text = text_of(guide)
    assert code in text
    assert not replaced or replaced not in text


IN_TORCH = Path(__file__).with_name("in_torch.py")
UNPACKED = os.environ.get("AOTI_DEBUG_UNPACKED")
# Their releases are rows of the tools' tables, or of the reports that they quote.
SUMMARIES = ("environment-variables.md", "examples.md")


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


def claims_of(text: str) -> Iterator[Claim]:
    heading: list[str] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            yield Claim(*heading, *line.split("\t")[1:])
        else:
            heading = line.split("\t")


CLAIMS = list(claims_of(Path(__file__).with_name("claims.tsv").read_text("utf-8")))


def ask(claims: list[tuple[str, str]]) -> tuple[Release, list[bool | None]]:
    """Return the release of the torch that is asked, and whether it holds what the claims say."""
    folder = [UNPACKED] if UNPACKED else []
    argv = [torch_python(), "-W", "ignore", str(IN_TORCH), "claims", *folder]
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
    text = text_of(claim.guide)
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
    "path", [p for p in GUIDES if p.name not in SUMMARIES], ids=lambda p: p.name
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
    if path.name not in SUMMARIES
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
