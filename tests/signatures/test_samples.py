"""Every signature is tested by the samples it carries."""

import importlib
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aoti_debug.signatures as package
import pytest
from aoti_debug.model import CATEGORIES, PHASES
from aoti_debug.read.record import Line
from aoti_debug.signatures import Sample, Signature, matcher, signatures

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

ALL = signatures()
BY_ID = {s.id: s for s in ALL}
EACH = pytest.mark.parametrize("signature", ALL, ids=lambda s: s.id)
BENIGN = (Path(__file__).parent / "benign.txt").read_text(encoding="utf-8").splitlines()
DELETED = str.maketrans("", "", "0123456789abcdef")
TOOLS = {
    "check_environment",
    "diagnose_log",
    "inspect_package",
    "run_stage",
    "triage",
    "explain_kernel",
    "minify",
    "verify_fix",
    "read_artifact",
    "wait_run",
    "cancel_run",
}


def found(text: str, table: tuple[Signature, ...]) -> set[str]:
    reader = matcher("log", table)
    for number, line in enumerate(text.splitlines(), 1):
        if any(trigger in line for trigger in reader.triggers):
            reader.feed(Line(number, line))
    return {match.signature.id for match in reader.finish()}


def texts(signature: Signature) -> Iterator[str]:
    yield signature.summary
    for fix in signature.fixes:
        yield from (text for text in (fix.what, fix.where, fix.why) if text)


def test_every_family_has_signatures_and_there_are_enough():
    assert {s.family for s in ALL} == set("ABCDEFGHIJKLMNOPQ")
    assert len(ALL) >= 130


def test_each_file_holds_the_signature_that_it_is_named_after():
    root = Path(package.__path__[0])
    files = [path for path in root.glob("*/*.py") if path.name != "__init__.py"]
    assert sorted(path.stem for path in files) == [s.id for s in ALL]
    assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", s.id) for s in ALL)


def test_each_topic_says_what_it_is_about():
    root = Path(package.__path__[0])
    topics = [importlib.import_module(f"{package.__name__}.{p.parent.name}")
              for p in root.glob("*/__init__.py")]  # fmt: skip
    assert all(topic.__doc__ for topic in topics)


@EACH
def test_samples_match(signature):
    assert signature.matches
    for sample in signature.matches:
        assert signature.id in found(sample.text, (signature,)), sample.text


@EACH
def test_every_pattern_has_a_sample(signature):
    for pattern in signature.patterns:
        lines = [line for sample in signature.matches for line in sample.text.splitlines()]
        assert any(re.search(pattern, line) for line in lines), pattern


@EACH
def test_neighbours_do_not_match(signature):
    for sample in signature.neighbours:
        assert signature.id not in found(sample.text, (signature,)), sample.text


@EACH
def test_samples_of_signatures_that_are_kept_apart_do_not_match(signature):
    for id in signature.apart_from:
        for sample in BY_ID[id].matches:
            assert signature.id not in found(sample.text, (signature,)), sample.text


@EACH
def test_anchors_are_rare_enough_to_be_a_cheap_test(signature):
    for anchor in signature.anchors:
        assert len(anchor.strip()) >= 3
        # A log is searched without its digits: what is left must still be rare.
        assert len(anchor.translate(DELETED).replace(" ", "")) >= 3, anchor
        assert sum(anchor in line for line in BENIGN) <= 2, anchor


@EACH
def test_words_name_only_groups_that_every_pattern_has(signature):
    wanted = {
        name
        for text in texts(signature)
        for _, name, _, _ in string.Formatter().parse(text)
        if name is not None
    }
    for pattern in signature.patterns:
        assert wanted <= set(re.compile(pattern).groupindex), pattern


@EACH
def test_summary_can_be_filled_from_every_sample(signature):
    for sample in signature.matches:
        reader = matcher("log", (signature,))
        for number, line in enumerate(sample.text.splitlines(), 1):
            reader.feed(Line(number, line))
        for match in reader.finish():
            values = dict.fromkeys(_groups(signature), "") | match.groups
            assert signature.summary.format(**values)


def _groups(signature: Signature) -> set[str]:
    return {name for p in signature.patterns for name in re.compile(p).groupindex}


@EACH
def test_fields_are_of_the_known_vocabulary(signature):
    assert signature.family in "ABCDEFGHIJKLMNOPQ"
    assert signature.phase in PHASES
    assert signature.category in CATEGORIES
    assert signature.role in ("cause", "symptom", "envelope", "aftermath")
    assert signature.confidence in ("proved", "likely", "possible")
    assert 0 < signature.weight <= 100
    assert re.fullmatch(r"guides/[a-z0-9-]+\.md#[a-z0-9-]+", signature.guide)
    assert signature.next_tool is None or signature.next_tool in TOOLS
    for version in (signature.since, signature.until):
        assert version is None or re.fullmatch(r"2\.\d{1,2}", version)
    for reference in signature.references:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", reference), reference
    for sample in signature.matches + signature.neighbours:
        assert isinstance(sample, Sample) and sample.origin in ("recorded", "quoted")


@EACH
def test_an_envelope_or_aftermath_is_never_called_proof(signature):
    if signature.role in ("envelope", "aftermath"):
        assert signature.confidence != "proved"


@EACH
def test_words_are_short(signature):
    for text in (signature.summary, signature.means, signature.mistaken_for, signature.check):
        assert len(text) <= 420
        assert not text.endswith(" ")


@pytest.mark.parametrize("line", BENIGN, ids=lambda line: line[:40])
def test_ordinary_log_lines_have_no_cause(line):
    causes = tuple(s for s in ALL if s.role == "cause")
    assert found(line, causes) == set()


@EACH
def test_every_repeat_in_a_pattern_is_bounded(signature):
    for pattern in signature.patterns:
        assert not _open(parser.parse(pattern)), pattern
        assert not _nested(parser.parse(pattern)), pattern


REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


def _open(tree: object) -> bool:
    """Say whether a repeat has no upper bound: from each start in a line of 16 KiB to its end."""
    if not isinstance(tree, (list, tuple, parser.SubPattern)):
        return False
    if len(tree) == 2 and tree[0] in REPEATS:
        return tree[1][1] is constants.MAXREPEAT or _open(tree[1][2])
    return any(_open(item) for item in tree)


def _nested(tree: object) -> bool:
    """Say whether a long repeat holds nothing but further repeats, as `(a{1,9}){1,99}` does."""
    if isinstance(tree, parser.SubPattern):
        return any(_nested(item) for item in tree)
    if not isinstance(tree, (list, tuple)):
        return False
    if len(tree) == 2 and tree[0] in REPEATS:
        _, high, body = tree[1]
        if high > 9 and not _fixed(body):
            return True
        return _nested(body)
    return any(_nested(item) for item in tree)


def _fixed(body: parser.SubPattern) -> bool:
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
from aoti_debug.signatures import signatures
SIZE = 16384
for s in signatures():
    fillers = ["a", " ", "(", "'", "0", "::", "/", "_", "\\u2018"] + list(s.anchors)
    fillers += [line[:80] for m in s.matches for line in m.text.splitlines()]
    fillers += [line[:-3] for m in s.matches for line in m.text.splitlines()]
    for pattern in s.patterns:
        compiled = re.compile(pattern)
        for filler in filter(None, fillers):
            compiled.search((s.anchors[0] + filler * (SIZE // len(filler) + 1))[:SIZE])
print("done")
"""


def test_no_line_makes_a_pattern_run_away():
    """Lines reach the patterns cut to 16 KiB; all signatures together get through hostile ones."""
    answer = subprocess.run(
        [sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=300
    )
    assert answer.stdout == "done\n", answer.stderr
