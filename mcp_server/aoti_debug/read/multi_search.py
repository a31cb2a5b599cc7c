"""Look for thousands of plain texts at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from ahocorasick_rs import BytesAhoCorasick, Implementation

LONG = 16 << 20  # bytes after which the automaton that is slow to build and fast to run pays


class MultiSearch:
    """Find which of many byte strings stand where. An empty one stands nowhere."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = list(texts)
        self._searched = 0
        self._automaton = self._build(Implementation.ContiguousNFA)

    def begins(self, data: bytes) -> list[int]:
        """Return where in `data` some of the texts begin, in order; not those that overlap."""
        self._count(len(data))
        return [begin for _, begin, _ in self._automaton.find_matches_as_indexes(data)]

    def among(self, data: bytes) -> set[int]:
        """Return the numbers of the texts that are in `data`."""
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return {text for text, _, _ in found}

    def lines(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, frozenset[int]]]:
        """Yield each of `lines` that holds some of the texts, with their numbers."""
        known = list(lines)
        data = b"\n".join(known)
        self._count(len(data))
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        if not found:
            return
        starts = [0, *accumulate(len(line) + 1 for line in known)]
        hits: dict[int, set[int]] = {}
        for text, begin, _ in found:
            hits.setdefault(bisect_right(starts, begin) - 1, set()).add(text)
        for index, texts in hits.items():
            yield known[index], frozenset(texts)

    def _build(self, implementation: Implementation) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._texts, implementation=implementation)

    def _count(self, size: int) -> None:
        before, self._searched = self._searched, self._searched + size
        if before < LONG <= self._searched:
            self._automaton = self._build(Implementation.DFA)
