"""What a failure signature is, and how lines are matched against all of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, lru_cache
from typing import Literal

from aoti_debug.facts.categories import MEANINGS, Tier
from aoti_debug.model import Category, Confidence, Phase
from aoti_debug.read.blocks import MultiSearch
from aoti_debug.read.record import QUOTE_LIMIT, Line, Reader, Record, Span

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?(?:<?[=!]|[aimsux]{0,6}:|[aimsux]{1,6}\))"
    r"|\{\d*,?\d*\}\??|[*+?]\??|[^\\\[({*+?|).^$]+(?![{*+?])|.",
    re.DOTALL,
)
_CLASSES = frozenset("dDwWsS")
Choice = list[str]  # texts of which one is there


def literals(pattern: str) -> list[str]:
    """Return the texts, the shortest of them as long as can be; [""] when there are none. Letters
    whose case does not matter, and what a lookaround says, are no plain text."""
    if pattern.startswith("(?i)"):
        return [""]
    return _Parser(_TOKEN.findall(pattern)).alternatives()


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def alternatives(self) -> Choice:
        """Read up to the end of the group: each alternative gives its best texts."""
        found = self._sequence()
        while self._at < len(self._tokens) and self._tokens[self._at] == "|":
            self._at += 1
            found = found + self._sequence()
        return found

    def _sequence(self) -> Choice:
        best: Choice = [""]
        run = ""
        while self._at < len(self._tokens) and self._tokens[self._at] not in ("|", ")"):
            token = self._tokens[self._at]
            self._at += 1
            if token[0] == "(" and token[-1] != ")":
                inner = self.alternatives()
                self._at += 1  # the closing parenthesis
                keep = token[-1] not in "=!" and not ("i" in token and token[1:3] != "?P")
                plain = keep and len(inner) == 1 and self._repeat() is None
                best, run = _better(best, [run]), ""
                if keep and (plain or not self._optional()):
                    best = _better(best, inner)
                self._skip_repeat()
                continue
            text = _plain(token)
            repeat = self._repeat()
            if text is None or repeat is not None:
                run += text if text is not None and repeat in ("+", "+?") else ""
                best, run = _better(best, [run]), ""
                self._skip_repeat()
            else:
                run += text
        return _better(best, [run])

    def _repeat(self) -> str | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        count = token.startswith("{") and len(token) > 2
        return token if count or token.startswith(("*", "+", "?")) else None

    def _optional(self) -> bool:
        repeat = self._repeat()
        return repeat is not None and (repeat[0] in "*?" or repeat.startswith(("{0", "{,")))

    def _skip_repeat(self) -> None:
        if self._repeat() is not None:
            self._at += 1


def _plain(token: str) -> str | None:
    """Return the text that a token stands for; None when that varies."""
    if token[0] == "\\":
        return None if token[1] in _CLASSES else "" if token[1] in "bB" else token[1:]
    if token in ("^", "$"):
        return ""
    if token == "[ ]":
        return " "
    return None if token[0] in "[." or token[:2] == "(?" else token


def _better(one: Choice, two: Choice) -> Choice:
    return two if min(map(len, two)) > min(map(len, one)) else one


Role = Literal["cause", "symptom", "envelope", "aftermath", "note"]
ToolName = Literal[
    "check_environment",
    "diagnose_log",
    "inspect_package",
    "run_stage",
    "triage",
    "explain_kernel",
    "minify",
    "verify_fix",
    "sweep",
    "read_artifact",
    "wait_run",
    "cancel_run",
]
_DIGITS = str.maketrans("", "", "0123456789")
# No message holds the words of so many patterns: of a longer line fewer patterns are tried.
TRIED = 24
SEARCHED = 200_000  # characters
# An error that a person quotes in a sentence; an assertion that failed is quoted by who prints it.
_INLINE = re.compile(r"(?<!Assertion )`([^`]{12,300})`")
PLAIN = 6  # letters of a pattern's own text from which on it is searched without anchors

Origin = Literal["recorded", "quoted", "example"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a log and where it comes from: `recorded` was printed by a run of ours, `quoted`
    stands in a public thread, `example` was written by us in the form that a program prints. `note`
    names the program and its release, or begins with the thread, or says why a neighbour is none.
    """

    text: str
    origin: Origin
    note: str = ""


class unconfirmed(str):
    """A pattern for a text of a program that was not at hand."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to fail, as it shows in a log.

    A line matches when a pattern (a regular expression, searched; each says one thing) matches it.
    `summary` and `fixes` may use a pattern's named groups as `{name}`; `{what}` is the whole match
    of a pattern without groups. The search is cheap because of the plain text that a pattern
    holds; a pattern whose text is too common is tried only on lines with one of `anchors`.

    `patterns` match a public text of the evals, a text in the installed torch, or else a sample,
    but for those that are `unconfirmed`.

    `role` says what kind of line it is: a cause outranks a symptom (true but not the reason), an
    envelope (says only that something failed), an aftermath (a consequence of an earlier fault)
    and a note (healthy runs print it too). Within a role the better `tier` wins.
    """

    id: str
    phase: Phase
    category: Category
    tier: Tier
    _: KW_ONLY
    role: Role = "cause"
    confidence: Confidence = "likely"
    next_tool: ToolName | None = None
    summary: str
    means: str
    check: str = ""  # the cheapest check that tells it from what looks alike
    fixes: tuple[str, ...] = ()
    guide: str = ""  # guides/NAME.md#anchor; as a rule the category's
    anchors: tuple[str, ...] = ()
    patterns: tuple[str, ...]
    matches: tuple[Sample, ...] = ()
    neighbours: tuple[Sample, ...] = ()  # alike, and must not match

    def __post_init__(self) -> None:
        if not self.guide:
            object.__setattr__(self, "guide", MEANINGS[self.category].guide)


@dataclass(frozen=True, slots=True)
class Match(Record):
    """A signature found in an artifact: where first, and how often."""

    signature: Signature
    groups: dict[str, str] = field(default_factory=dict)
    count: int = 1


@cache
def signatures() -> tuple[Signature, ...]:
    """Load the `TABLE` of every topic, in order of id."""
    import aoti_debug.signatures as package
    from aoti_debug.signatures.signature_table import signatures_of

    found: list[Signature] = []
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not info.name.startswith(f"{package.__name__}.signature"):
            found += signatures_of(importlib.import_module(info.name).TABLE)
    return tuple(sorted(found, key=lambda s: s.id))


class _Table:
    """Signatures with what is needed to find the patterns that a line may match."""

    def __init__(self, table: tuple[Signature, ...]) -> None:
        self.signatures = table
        owners: dict[str, list[int]] = {}
        self._patterns: list[tuple[int, str]] = []  # number of the signature, pattern
        for number, signature in enumerate(table):
            for pattern in signature.patterns:
                for text in texts_of(pattern, signature.anchors):
                    owners.setdefault(text, []).append(len(self._patterns))
                self._patterns.append((number, pattern))
        self.anchors = tuple(owners)
        self._owners = tuple(owners.values())
        self._search = MultiSearch(anchor.encode() for anchor in owners)
        self._compiled: dict[int, re.Pattern[str]] = {}

    def matching(self, text: str) -> dict[int, re.Match[str]]:
        """Return the numbers of the signatures that match a line, each with its first match."""
        hits = self._search.among(text.encode("utf-8", "replace"))
        found: dict[int, re.Match[str]] = {}
        tried = sorted({index for hit in hits for index in self._owners[hit]})
        for index in tried[: max(TRIED, SEARCHED // (len(text) + 1))]:
            number, pattern = self._patterns[index]
            if number in found:
                continue
            if index not in self._compiled:
                self._compiled[index] = re.compile(pattern)
            if match := self._compiled[index].search(text):
                found[number] = match
        return found


def texts_of(pattern: str, anchors: tuple[str, ...]) -> Sequence[str]:
    """Return the texts of which a line that a pattern matches holds one."""
    own = literals(pattern)
    return anchors if anchors and any(map(is_common, own)) else own


def is_common(text: str) -> bool:
    """Tell whether a text is too short to be rare, or a word of ordinary prose."""
    word = text.translate(_DIGITS).strip()
    return len(word) < PLAIN or (word.isalpha() and word.islower())


def groups_of(found: re.Match[str]) -> dict[str, str]:
    """Return the named groups of a match; `what` is all of it where the pattern has none."""
    named = {name: text for name, text in found.groupdict().items() if text is not None}
    return named if found.re.groupindex else {"what": found[0]}


@lru_cache(maxsize=4)
def _table(table: tuple[Signature, ...] | None) -> _Table:
    return _Table(signatures() if table is None else table)


class _Matcher:
    def __init__(self, artifact: str, table: _Table) -> None:
        self._artifact = artifact
        self._table = table
        self._found: dict[int, Match] = {}
        self._counts = Counter[int]()
        self.triggers = table.anchors

    def feed(self, line: Line) -> bool:
        matches = self._table.matching(line.text)
        for quoted in _INLINE.findall(line.text[:2000]):
            matches = self._table.matching(quoted) | matches
        for number, found in matches.items():
            self._counts[number] += 1
            if number not in self._found:
                quote = line.text.strip()[:QUOTE_LIMIT]
                span = Span(self._artifact, line.number, line.number, quote)
                self._found[number] = Match(span, self._table.signatures[number], groups_of(found))
        return False

    def finish(self) -> Iterable[Match]:
        for number in sorted(self._found):
            yield replace(self._found[number], count=self._counts[number])


def matcher(artifact: str, table: Iterable[Signature] | None = None) -> Reader:
    """Return a reader that matches each line of `artifact` against all signatures."""
    return _Matcher(artifact, _table(None if table is None else tuple(table)))
