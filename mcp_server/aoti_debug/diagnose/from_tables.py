"""Candidates from numbers that a script printed side by side: the reference's and the compiled
model's, as columns of a table or as two labelled lines. The usual words need not be there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.observations import Candidate, evidence
from aoti_debug.facts.categories import MEANINGS, Tier
from aoti_debug.model import Diagnosis
from aoti_debug.read.record import SaidLine

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

REFERENCE = re.compile(
    r"(?i)\b(?:eager\w*|reference|ref|expected|desired|pytorch|torch|original|baseline|python|cpu)\b"
)
COMPILED = re.compile(
    r"(?i)\b(?:compiled?|aoti|aot\w*|inductor|export(?:ed)?|package|pt2|actual|got|c\+\+|cuda|gpu)\b"
)
# Two columns of these differ in a healthy run.
MEASURED = re.compile(
    r"(?i)\b(?:m?s|us|ns|secs?|seconds?|time|times|latency|duration|it/s|tok\w*/s|speed\w*|fps|"
    r"throughput|memory|mem|[kmg]i?b|bytes|size|tflops|gflops|count|params|version)\b|[µμ]s"
)
SIMILARITY = re.compile(r"(?i)\bcos\w*[ _-]{0,2}sim\w*[^\d-]{1,20}(?P<value>-?\d?\.\d{1,20})\b")
NUMBER = re.compile(
    r"(?i)(?<![\w.])[-+]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[-+]?\d{1,3})?(?![\w.])|\bnan\b"
)
LABELLED = re.compile(
    r"^\W{0,8}(?P<label>[A-Za-z][^:=\[\]]{0,60}?)\s{0,20}[:=](?P<numbers>.{1,600})$"
)
SEPARATORS = ("|", "\t", "  ", ",")  # of the cells of a row, the surest first
APART = 0.01  # of the larger one: more than rounding in half precision
ALIKE = 0.99  # a cosine


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield one for a log whose numbers differ."""
    if observations.ending is not None:
        return
    lines = observations.of(SaidLine)
    texts = [line.span.quote for line in lines]
    found = in_columns(texts)
    found = found if found is not None else in_labelled(texts)
    found = found if found is not None else dissimilar(texts)
    if found is not None:
        yield differing(lines[found])


def differing(line: SaidLine) -> Candidate:
    return Candidate(
        Diagnosis(
            phase="output",
            category="wrong_result",
            confidence="possible",
            summary=f"the numbers of the two results differ: {line.span.quote}"[:300],
            evidence=[evidence(line.span)],
            guide=MEANINGS["wrong_result"].guide,
        ),
        role="symptom",
        tier=Tier.EXCEPTION,
        order=2,
    )


def in_columns(texts: Sequence[str]) -> int | None:
    """Return the number of the first row that differs in the columns of both models."""
    for at, head in enumerate(texts):
        cells = cells_of(head)
        one = column(cells, REFERENCE)
        two = column(cells, COMPILED, but=one)
        if one is None or two is None or MEASURED.search(head) or NUMBER.search(head):
            continue
        for number in range(at + 1, len(texts)):
            row = cells_of(texts[number])
            if len(row) != len(cells):
                continue
            if apart(numbers_in(row[one]), numbers_in(row[two])):
                return number
    return None


def cells_of(text: str) -> list[str]:
    row = text.strip().strip("|")
    by = next((separator for separator in SEPARATORS if separator in row), None)
    return [cell.strip() for cell in row.split(by) if cell.strip()] if by else [row]


def column(cells: Sequence[str], words: re.Pattern[str], but: int | None = None) -> int | None:
    return next((n for n, cell in enumerate(cells) if n != but and words.search(cell)), None)


def in_labelled(texts: Sequence[str]) -> int | None:
    """Return the number of the second of two lines, one a model, whose numbers differ."""
    reference: list[float] = []
    for number, text in enumerate(texts):
        found = LABELLED.match(text)
        if found is None or MEASURED.search(text):
            continue
        values = numbers_in(found["numbers"])
        if reference and COMPILED.search(found["label"]) and apart(reference, values):
            return number
        if REFERENCE.search(found["label"]):
            reference = values
    return None


def dissimilar(texts: Sequence[str]) -> int | None:
    """Return the number of a line that says how little two results are alike."""
    for number, text in enumerate(texts):
        found = SIMILARITY.search(text)
        if found is not None and float(found["value"]) < ALIKE:
            return number
    return None


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in NUMBER.findall(text)]


def apart(one: Sequence[float], two: Sequence[float]) -> bool:
    """Tell whether two equally long rows of numbers differ by more than rounding."""
    if len(one) != len(two):
        return False
    return any(
        abs(a - b) > APART * max(abs(a), abs(b)) or (a == a) != (b == b)
        for a, b in zip(one, two, strict=True)
    )
