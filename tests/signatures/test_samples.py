"""Every signature is tested by the samples it carries, a message names the one that fails; the
patterns without samples by the public texts of the evals and by the installed torch; and the plain
texts that a pattern cannot match without."""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import aoti_debug.signatures as package
import pytest
from aoti_debug.facts.categories import Tier
from aoti_debug.facts.flag import release
from aoti_debug.model import CATEGORIES, PHASES
from aoti_debug.read.blocks import MultiSearch
from aoti_debug.read.record import Line
from aoti_debug.signatures import Match, Sample, Signature, matcher, signatures, texts_of
from aoti_debug.signatures.signature import ToolName, groups_of, literals, unconfirmed
from aoti_debug.signatures.signature_table import signatures_of
from elftools.elf.elffile import ELFFile
from programs import torch_folder, torch_version

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

ALL = signatures()
BY_ID = {s.id: s for s in ALL}
EACH = pytest.mark.parametrize("signature", ALL, ids=lambda s: s.id)
# Lines of logs in which nothing is wrong.
BENIGN = """\
Collecting torch==2.13.0
Requirement already satisfied: triton in ./venv/lib/python3.11/site-packages (3.6.0)
ERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: 2.6.0, 2.7.1)
Successfully installed torch-2.13.0 triton-3.6.0
/opt/venv/lib/python3.12/site-packages/torch/_inductor/compile_fx.py:322: UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled. Consider setting `torch.set_float32_matmul_precision('high')` for better performance.
/usr/lib/python3.12/copyreg.py:99: FutureWarning: `isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead.
UserWarning: The given NumPy array is not writable, and PyTorch does not support non-writable tensors.
W1121 07:39:20.068000 12918 torch/_export/__init__.py:74] torch._export.aot_compile()/torch._export.aot_load() is being deprecated, please switch to directly calling torch._inductor.aoti_compile_and_package(torch.export.export())/torch._inductor.aoti_load_package() instead.
I1121 05:21:19.617029 1234 torch/_inductor/compile_fx.py:1200] [0/0] Step 3: torchinductor compiling FORWARDS graph 0
V1121 05:21:19.617029 1234 torch/_inductor/graph.py:2300] [0/0] [__output_code] Output code written to: /tmp/torchinductor_user/fx/cfxyz.py
V1121 05:21:19.700000 1234 torch/fx/experimental/symbolic_shapes.py:5500] [0/0] eval Eq(s0, 8) [guard added]
torch._dynamo hit config.recompile_limit (8)
W1121 05:21:20.000000 1234 torch/_dynamo/convert_frame.py:1000] [0/8] torch._dynamo hit config.recompile_limit (8)
AUTOTUNE mm(1024x1024, 1024x1024)
SingleProcess AUTOTUNE benchmarking takes 0.9213 seconds and 0.0000 seconds precompiling for 2 choices
NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>
[rank0]:[W1121 05:21:21.000000000 ProcessGroupNCCL.cpp:1476] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.
NCCL WARN Cuda failure 1 'invalid argument' ignored during shutdown of group 0, retrying
Epoch 3: loss 0.1234, accuracy 97.1, 12.3 it/s
2026-11-21 05:21:21 INFO server started on 0.0.0.0:8000
Loading checkpoint shards: 100%|##########| 4/4 [00:02<00:00,  1.60it/s]
TypeError: forward() missing 1 required positional argument: 'y'
KeyError: 'input_ids'
FileNotFoundError: [Errno 2] No such file or directory: 'config.json'
ModuleNotFoundError: No module named 'transformers'
ValueError: Expected target size [4, 10], got [4, 12]
RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
Traceback (most recent call last):
  File "/home/user/train.py", line 12, in <module>
During handling of the above exception, another exception occurred:
The above exception was the direct cause of the following exception:
g++ -shared -o model.so model.o -lgomp -lcuda -L/usr/local/cuda/lib64
export CUDA_HOME=/usr/local/cuda
-- Found CUDA: /usr/local/cuda (found version "13.0")
AOTI_RUNTIME_CHECK_INPUTS=1 python serve.py
model.pt2 saved, 12.3 MB
LAB compile 39.3s
LAB load 0.1s
LAB ok [(4096, 256)]
[  before_launch - aoti_torch_cpu_addmm_out - buf0  ]:
Number of elements: 128
Mean value: -0.0178562
[ after_launch: triton_poi_fused_add_0 ]
fatal: not a git repository (or any of the parent directories): .git
error: pathspec 'main' did not match any file(s) known to git
npm WARN deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported
""".splitlines()
PROSE = (
    "loading model step batch loss tensor output input data worker epoch time elapsed sec memory "
    "allocated reserved node dataset shard cache hit miss token file error check failed launch "
    "language candidate value result function kernel compile run device version build test"
)
DELETED = str.maketrans("", "", "0123456789abcdef")


@cache
def matches(text: str) -> dict[str, Match]:
    """Match each line of a text against all signatures."""
    reader = matcher("log")
    for number, line in enumerate(text.splitlines(), 1):
        if any(trigger in line for trigger in reader.triggers):
            reader.feed(Line(number, line))
    return {match.signature.id: match for match in reader.finish() if isinstance(match, Match)}


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def texts(signature: Signature) -> Iterator[str]:
    yield signature.summary
    yield from signature.fixes


def test_there_are_enough_each_with_its_own_name():
    assert len(BY_ID) == len(ALL) >= 270
    assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", s.id) for s in ALL)


def test_each_topic_says_what_it_is_about():
    root = Path(package.__path__[0])
    for path in root.glob("*.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path


@EACH
def test_samples_match_and_fill_the_summary(signature: Signature) -> None:
    groups = {name for p in signature.patterns for name in groups_in(p)}
    for sample in signature.matches:
        match = matches(sample.text).get(signature.id)
        assert match is not None, sample.text
        assert signature.summary.format(**dict.fromkeys(groups, "") | match.groups)


def groups_in(pattern: str) -> set[str]:
    return set(compiled(pattern).groupindex) or {"what"}


@EACH
def test_every_pattern_says_one_thing(signature: Signature) -> None:
    for pattern in signature.patterns:
        assert not has_alternatives(pattern), pattern


CHECKED = release("2.13.0")  # the torch in which texts without a sample were looked up
NAMES = ("libtorch_cpu.so", "libtorch_python.so", "libc10.so")
LONG_ENOUGH = 8  # letters of a text that stands in torch for no other reason
_TWO_PARTS = re.compile(rb"[\"'] *\n\s*[fr]{0,2}[\"']")  # of one text, on two lines
TESTS = Path(__file__).parents[1]
PUBLIC = (
    *(TESTS.parent / "evals" / "logs").glob("*.jsonl.xz"),
    TESTS / "guides" / "public_texts.jsonl.xz",
)


def of_torch() -> Iterator[bytes]:
    """Give the path and the text of each source file of the installed torch, and the texts that
    its libraries hold."""
    root = Path(torch_folder())
    for path in root.rglob("*"):
        yield str(path.relative_to(root.parent)).encode()
        if path.suffix in (".py", ".h", ".cpp", ".jinja") and "testing" not in path.parts:
            yield _TWO_PARTS.sub(b"", path.read_bytes())
    for path in (root / "lib" / name for name in NAMES):
        if path.exists():
            with path.open("rb") as library:
                section = ELFFile(library).get_section_by_name(".rodata")
                yield section.data() if section is not None else b""


def public_lines() -> list[str]:
    rows = [row for path in PUBLIC for row in lzma.decompress(path.read_bytes()).splitlines()]
    return [line for row in rows for line in json.loads(row)["text"].splitlines()]


def test_a_pattern_without_a_sample_is_of_the_installed_torch_or_of_a_public_text() -> None:
    bare = {
        pattern: [text for text in literals(pattern) if len(text) >= LONG_ENOUGH]
        for signature in ALL
        for pattern in signature.patterns
        if not isinstance(pattern, unconfirmed)
        and not any(compiled(pattern).search(sample.text) for sample in signature.matches)
    }
    searched = sorted({text for some in bare.values() for text in some})
    search = MultiSearch(text.encode() for text in searched)
    found = {searched[number] for text in of_torch() for number in search.among(text)}
    public = public_lines()
    absent = [
        pattern
        for pattern, some in bare.items()
        if not found.intersection(some)
        and not any(compiled(pattern).search(line) for line in public)
    ]
    # Another torch has other texts; most stay for years.
    allowed = 0 if release(torch_version()) == CHECKED else len(bare) // 4
    assert len(absent) <= allowed, absent


def test_an_unconfirmed_pattern_has_no_sample() -> None:
    for signature in ALL:
        for pattern in signature.patterns:
            sampled = any(compiled(pattern).search(s.text) for s in signature.matches)
            assert not (sampled and isinstance(pattern, unconfirmed)), pattern


def has_alternatives(pattern: str) -> bool:
    """Tell whether a pattern is one of several that a bar joins."""
    depth = 0
    for token in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", pattern):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and depth == 0:
            return True
    return False


def test_a_bar_in_a_group_joins_words_and_not_phrases() -> None:
    for pattern in {p for s in ALL for p in s.patterns}:
        for alternative in alternatives(parser.parse(pattern)):
            assert not any(is_gap(item) for item in alternative[:-1]), pattern


@pytest.mark.parametrize("pattern", ["(?:one .{0,9} two|other)", "x(?:a|b.{1,20}c)"])
def test_a_phrase_with_a_gap_in_a_group_is_seen(pattern: str) -> None:
    tree = parser.parse(pattern)
    assert any(is_gap(item) for one in alternatives(tree) for item in one[:-1])


def alternatives(tree: Any) -> Iterator[list[tuple[object, Any]]]:
    """Give each alternative of each group but of those that say what must not be there."""
    if not isinstance(tree, (list, tuple, SUBPATTERN)):
        return
    if len(tree) == 2 and tree[0] is constants.ASSERT_NOT:
        return
    if len(tree) == 2 and tree[0] is constants.BRANCH:
        yield from map(list, tree[1][1])
    for item in tree:
        yield from alternatives(item)


def is_gap(item: tuple[object, Any]) -> bool:
    """Tell whether a part of a pattern is `.{0,9}`: anything, between two texts."""
    code, value = item
    return code in REPEATS and [code for code, _ in value[2]] == [constants.ANY]


@EACH
def test_what_looks_alike_does_not_match(signature: Signature) -> None:
    for sample in signature.neighbours:
        assert signature.id not in matches(sample.text), sample.text


def test_samples_match_only_the_other_signatures_that_are_written_down(snapshot) -> None:
    found = {
        s.id: sorted({id for sample in s.matches for id in matches(sample.text)} - {s.id})
        for s in ALL
    }
    assert {id: ", ".join(others) for id, others in found.items() if others} == snapshot


def test_the_texts_that_are_searched_for_are_rare() -> None:
    common: list[tuple[str, str]] = []
    for signature in ALL:
        for text in {t for p in signature.patterns for t in texts_of(p, signature.anchors)}:
            # A log with many of them is searched without its digits: what is left must be rare.
            left = text.translate(DELETED).replace(" ", "")
            if len(left) < 3 or text in PROSE or sum(text in line for line in BENIGN) > 2:
                common.append((signature.id, text))
    assert not common


@EACH
def test_words_name_only_groups_that_every_pattern_has(signature: Signature) -> None:
    wanted = {name for text in texts(signature) for name in re.findall(r"\{([a-z_]+)\}", text)}
    for pattern in signature.patterns:
        assert wanted <= groups_in(pattern), pattern


def test_fields_are_of_the_known_vocabulary() -> None:
    for signature in ALL:
        assert signature.phase in PHASES, signature.id
        assert signature.category in CATEGORIES, signature.id
        assert signature.role in ("cause", "symptom", "envelope", "aftermath", "note"), signature.id
        assert signature.confidence in ("proved", "likely", "possible"), signature.id
        assert re.fullmatch(r"guides/[a-z0-9-]+\.md#[a-z0-9-]+", signature.guide), signature.id
        assert signature.next_tool in (None, *get_args(ToolName)), signature.id
        for sample in signature.matches + signature.neighbours:
            assert isinstance(sample, Sample) and sample.text, signature.id
        for text in (signature.summary, signature.means, signature.check):
            assert len(text) <= 420 and text == text.rstrip(), signature.id
        assert len(signature.summary) <= 120 and not signature.summary.endswith("."), signature.id
        if signature.role in ("envelope", "aftermath"):
            assert signature.confidence != "proved", signature.id


def test_ordinary_log_lines_have_no_cause() -> None:
    for line in BENIGN:
        causes = [id for id in matches(line) if BY_ID[id].role == "cause"]
        assert not causes, line


def test_every_repeat_in_a_pattern_is_bounded() -> None:
    for pattern in {p for s in ALL for p in s.patterns}:
        tree = parser.parse(pattern)
        assert not _open(tree), pattern
        assert not _nested(tree), pattern


SUBPATTERN: Any = parser.SubPattern  # typeshed does not know that it can be iterated
REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


def _open(tree: Any) -> bool:
    """Say whether a repeat has no upper bound: from each start in a line of 16 KiB to its end."""
    if not isinstance(tree, (list, tuple, SUBPATTERN)):
        return False
    if len(tree) == 2 and tree[0] in REPEATS:
        return tree[1][1] is constants.MAXREPEAT or _open(tree[1][2])
    return any(_open(item) for item in tree)


def _nested(tree: Any) -> bool:
    """Say whether a long repeat holds nothing but further repeats, as `(a{1,9}){1,99}` does."""
    if isinstance(tree, SUBPATTERN):
        return any(_nested(item) for item in tree)
    if not isinstance(tree, (list, tuple)):
        return False
    if len(tree) == 2 and tree[0] in REPEATS:
        _, high, body = tree[1]
        if high > 9 and not _fixed(body):
            return True
        return _nested(body)
    return any(_nested(item) for item in tree)


def _fixed(body: Any) -> bool:
    """Say whether something in `body` must match exactly one character, whatever repeats."""
    for code, value in body:
        if code is constants.SUBPATTERN and _fixed(value[-1]):
            return True
        if code is constants.BRANCH and all(_fixed(branch) for branch in value[1]):
            return True
        if code not in (*REPEATS, constants.SUBPATTERN, constants.BRANCH, constants.AT):
            return True
    return False


HOSTILE = """
import re, sys
from aoti_debug.signatures import signatures, texts_of
SIZE = 16384
for s in signatures():
    for pattern in s.patterns:
        text = max(texts_of(pattern, s.anchors), key=len)
        fillers = ["a", " ", "(", "'", "0", "::", "/", "_", "\\u2018", text, text[:-3]]
        compiled = re.compile(pattern)
        for filler in filter(None, fillers):
            compiled.search((text + filler * (SIZE // len(filler) + 1))[:SIZE])
print("done")
"""


def test_no_line_makes_a_pattern_run_away() -> None:
    """Lines reach the patterns cut to 16 KiB; all signatures together get through hostile ones."""
    answer = subprocess.run(
        [sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=300
    )
    assert answer.stdout == "done\n", answer.stderr


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("plain text", ["plain text"]),
        (r"foo\.bar\(\)x?", ["foo.bar()"]),
        (r"(?:a|bb)?hello {1,3}wor[lk]d xx\d", ["hello"]),
        (r"ab{0,3}cdef", ["cdef"]),
        ("Cpp(?:CompileError|Failed): x", ["CompileError", "Failed"]),
        (r"(?P<what>NaN or infinite .{0,20}) zz", ["NaN or infinite "]),
        (r"^(?!not this at all).{0,40}but", ["but"]),
        (r"(?:optional words){0,1}it", ["it"]),
        (r"(?i:cuda).{0,9}x", ["x"]),
        ("(?i)whatever", [""]),
        (r"\d{1,3}", [""]),
        ("It's a {x} of", ["It's a {x} of"]),
        (r"[^\]]{1,9}] end", ["] end"]),
    ],
)
def test_the_longest_text_that_is_always_there(pattern: str, expected: list[str]) -> None:
    re.compile(pattern)
    assert literals(pattern) == expected


def test_no_sample_matches_a_pattern_without_one_of_its_texts() -> None:
    for signature in ALL:
        for pattern in signature.patterns:
            for line in (sample.text for sample in signature.matches):
                if re.search(pattern, line):
                    assert any(text in line for text in literals(pattern)), (pattern, line)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("b.", {"what": "bc"}), ("b(?P<op>c)", {"op": "c"}), ("b(?P<op>x)?", {})],
)
def test_what_stands_for_the_match_of_a_pattern_without_groups(
    pattern: str, expected: dict[str, str]
) -> None:
    found = re.search(pattern, "abc")
    assert found is not None
    assert groups_of(found) == expected


def test_a_table_is_read_to_the_letter() -> None:
    (found,) = signatures_of(
        "x_fails run hang KIND_TEXT symptom proved triage\n"
        "    summary It hangs: {what}\n"
        "    means No call ends.\n"
        "    guide host-crash.md#heap-errors\n"
        "    pattern  two  blanks:[ ] || a|b\n"
        "    unconfirmed other\n"
        "    recorded   two  blanks: here\n"
        "    unlike quoted [a/b#1, a comment] [0] none\n"
    )
    assert (found.tier, found.role, found.confidence) == (Tier.KIND_TEXT, "symptom", "proved")
    assert (found.next_tool, found.guide) == ("triage", "guides/host-crash.md#heap-errors")
    assert found.patterns == (" two  blanks:[ ]", "a|b", "other")
    assert [isinstance(one, unconfirmed) for one in found.patterns] == [False, False, True]
    assert found.matches == (Sample("  two  blanks: here", "recorded", "torch 2.13.0, CPU"),)
    assert found.neighbours == (Sample("[0] none", "quoted", "a/b#1, a comment"),)


@pytest.mark.parametrize("line", ["patern x", "unlike pattern x", "next triage"])
def test_a_line_that_is_no_field_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no field of a signature"):
        list(signatures_of(f"x run hang KIND_TEXT\n    summary It hangs\n    {line}\n"))
