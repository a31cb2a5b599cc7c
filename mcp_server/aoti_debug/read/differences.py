"""Read the differences that a program prints of its results."""

from __future__ import annotations

import re

from aoti_debug.read.blocks import BlockReader
from aoti_debug.read.record import Line, PrintedDifference

_NUMBER = re.compile(
    r"(?i)\b(?:max_)?(?:abs_)?(?:diff(?:s|erences?)?|mismatch|apart|(?<!standard )deviation)\b"
    r"[^\d\n]{0,40}?(\d{1,12}\.\d{1,20}(?:e[-+]?\d{1,3})?|\d(?:\.\d{1,20})?e[-+]?\d{1,3})"
)


class DifferenceReader(BlockReader[PrintedDifference]):
    """Give each number behind a word for a difference."""

    triggers = ("diff", "Diff", "mismatch", "Mismatch", "apart", "deviation")

    def feed(self, line: Line) -> bool:
        if (found := _NUMBER.search(line.text[:2000])) is not None:
            self.found.add(PrintedDifference(self.span(line), float(found[1])))
        return False
