"""The plain texts that a pattern cannot match without."""

from __future__ import annotations

import re

import pytest
from aoti_debug.signatures import signatures
from aoti_debug.signatures.signature import literals


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
    lines = {line for s in signatures() for m in s.matches for line in m.text.splitlines()}
    for signature in signatures():
        own = {line for m in signature.matches for line in m.text.splitlines()}
        for pattern in signature.patterns:
            for line in own & lines:
                if re.search(pattern, line):
                    assert any(text in line for text in literals(pattern)), (pattern, line)
