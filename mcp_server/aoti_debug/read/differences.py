"""Read what a program prints of its results: differences, and that they do not fit."""

from __future__ import annotations

import re

from aoti_debug.read.blocks import BlockReader
from aoti_debug.read.record import Line, PrintedDifference, PrintedNaN, PrintedVerdict

_NUMBER = re.compile(
    r"(?i)\b(?:max_)?(?:abs_)?(?:diff(?:s|erences?)?|mismatch|apart|(?<!standard )deviation|gap)\b"
    r"[^\d\n]{0,40}?(\d{1,12}\.\d{1,20}(?:e[-+]?\d{1,3})?|\d(?:\.\d{1,20})?e[-+]?\d{1,3})"
)
_VERDICT = re.compile(
    r"(?<!\b0 )(?<!\bNO )\b(?:FAIL(?:ED|URE)?|MISMATCH(?:ED)?|NOT OK)\b(?!\W{0,3}0\b)"
)
_AGREE = re.compile(  # "agreeing=10/360", "58 of 400 answers differ"
    r"(?i)\b(?:agree(?:s|ing|ment)?|match(?:es|ing)?)\W{1,3}(\d{1,9}) ?(?:/|of) ?(\d{1,9})\b"
    r"|\b(?P<off>[1-9]\d{0,8}) ?(?:/|of) ?\d{1,9} (?:\w{1,20} ){0,2}(?:differ|disagree|mismatch)"
)
_NAN = re.compile(r"(?<![\w.])nan(?![\w.(])")


class DifferenceReader(BlockReader[PrintedDifference | PrintedVerdict | PrintedNaN]):
    """Give each number behind a word for a difference, each line with NaN among its numbers, and
    each with a verdict: in capitals, or a count of results that do not agree."""

    triggers = (
        *("diff", "Diff", "mismatch", "Mismatch", "apart", "deviation", "gap", "agree", "match"),
        *("FAIL", "MISMATCH", "NOT OK", "nan"),
    )

    def feed(self, line: Line) -> bool:
        if (found := _NUMBER.search(line.text[:2000])) is not None:
            self.found.add(PrintedDifference(self.span(line), float(found[1])))
        counts = _AGREE.search(line.text[:2000])
        fails = counts is not None and (counts["off"] or int(counts[1]) < int(counts[2]))
        if fails or _VERDICT.search(line.text[:2000]):
            self.found.add(PrintedVerdict(self.span(line)))
        if _NAN.search(line.text[:2000]):
            self.found.add(PrintedNaN(self.span(line)))
        return False
